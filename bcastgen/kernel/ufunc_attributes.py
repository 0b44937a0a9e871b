"""What a kernel says of itself in the words of NumPy's ufuncs: `nin`, `nout`, `types`, its signature for `inspect`.

In: a kernel.  Out: a base class of kernels, with these attributes and the calls that only ufuncs know.

    bcastgen.add.types      ['??->?', 'bb->b', ...]
    inspect.signature(bcastgen.add)
        (a, b, out=None, *, where=True, casting='same_kind', order='K', dtype=None, subok=True, signature=None)

Type checkers know a kernel's calls by its function's, with `out` and the keywords of ufuncs:

    @bg.jit
    def norm(x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]: ...

    norm(x, y)   ->   NDArray[np.float64]          norm(x, y, out=z)   ->   the type of z
"""

from __future__ import annotations

from inspect import Parameter, Signature
from typing import TYPE_CHECKING, Any, Generic, NoReturn, overload

import numpy as np

from ..core.dtypes import DTYPES, DType
from ..core.errors import BcastgenError
from ..core.forks import undivided
from ..expr.nodes import Apply, Expression, topological
from ..ops.row import Op
from ..pipeline.options import OPTIONS
from ..runtime.toolchain import cpu_features

if TYPE_CHECKING:
    from types import EllipsisType

    from typing_extensions import ParamSpec, TypeVar

    # A kernel of which nothing is said takes and gives anything.
    P = ParamSpec("P", default=...)
    R_co = TypeVar("R_co", default=Any, covariant=True)
    Out = TypeVar("Out")
else:
    from typing import ParamSpec, TypeVar

    P = ParamSpec("P")
    R_co = TypeVar("R_co", covariant=True)

__all__ = ["P", "R_co", "UfuncAttributes"]


# What ufuncs have beside calls.
_METHODS = ("accumulate", "at", "outer", "reduce", "reduceat")


class _SignatureOf:
    """A kernel's signature for `inspect`; the class itself has the one of its constructor."""

    def __get__(self, kernel: Any, _owner: object = None) -> Signature | None:
        return None if kernel is None else _signature_of(kernel)


class UfuncAttributes(Generic[P, R_co]):
    """The attributes of kernels that NumPy's ufuncs have, too, for a function that takes P and gives R_co."""

    __slots__ = ()
    _op: Op | None

    __signature__ = _SignatureOf()

    if TYPE_CHECKING:

        @overload
        def __call__(self, *operands: P.args, **named: P.kwargs) -> R_co: ...
        @overload
        def __call__(self, *operands: Any, out: EllipsisType | None, **keywords: Any) -> R_co: ...
        @overload
        def __call__(self, *operands: Any, out: Out, **keywords: Any) -> Out: ...
        @overload
        def __call__(self, *operands: Any, where: Any, **keywords: Any) -> R_co: ...
        @overload
        def __call__(self, *operands: Any, dtype: Any, **keywords: Any) -> R_co: ...
        @overload
        def __call__(self, *operands: Any, casting: str, **keywords: Any) -> R_co: ...
        @overload
        def __call__(self, *operands: Any, order: str, **keywords: Any) -> R_co: ...
        @overload
        def __call__(self, *operands: Any, extents: Any, **keywords: Any) -> R_co: ...
        def __call__(self, *operands: Any, **keywords: Any) -> Any:
            """Call the kernel."""

    if not TYPE_CHECKING:
        # A checker would take any attribute for one of kernels.
        def __getattr__(self, name: str) -> NoReturn:
            if name in _METHODS:
                cure = f"call numpy.{self.ufunc.__name__}.{name}" if self.ufunc is not None else "call NumPy's ufunc"
                raise AttributeError(
                    f"kernels have no method {name!r}: {cure}, or write x.sum(), x.max() and the like inside a kernel"
                )
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    def _call_as_ufunc(self, args: tuple[Any, ...], by_name: dict[str, Any]) -> Any:
        """Make a call with the arguments and operands that only ufuncs of NumPy take."""
        with undivided:
            from .ufunc_call import call  # noqa: PLC0415 - most calls have no such arguments
        return call(self, args, by_name)

    @property
    def op(self: Any) -> Op | None:
        """The op that the kernel is, if it is one op by itself; a call of such a kernel may give outs by position."""
        op: Op | None = self._op
        return op

    @op.setter
    def op(self: Any, op: Op) -> None:
        self._op = op
        self._outs_by_position = True

    @property
    def ufunc(self: Any) -> np.ufunc | None:
        """NumPy's ufunc that the kernel computes, if it is a kernel of one: `bcastgen.add` is of `numpy.add`."""
        if self._op is None:
            # divmod, modf and frexp are several ops.
            name = self._name if self._outs_by_position else None
        else:
            name = None if self._op.definition is not None else self._op.name
        found = None if name is None else getattr(np, name, None)
        return found if isinstance(found, np.ufunc) else None

    @property
    def errors(self: Any) -> str:
        """What calls do about floating-point errors: ``"ignore"`` or ``"numpy"``; see :func:`bcastgen.jit`."""
        return "numpy" if self._reports_errors or self._observed else "ignore"

    @errors.setter
    def errors(self: Any, errors: str) -> None:
        OPTIONS["errors"].check(errors)
        reports = errors == "numpy"
        exact = reports and _raises_exactly(self.expression)
        self._reports_errors, self._observed = exact, reports and not exact

    @property
    def nin(self: Any) -> int:
        """The number of operands that a call gives."""
        return len(self._positional_operands)

    @property
    def nout(self: Any) -> int:
        """The number of results."""
        return len(self.results)

    @property
    def nargs(self) -> int:
        """The number of operands and results."""
        return self.nin + self.nout

    @property
    def types(self) -> list[str]:
        """The loops for operands of one dtype, as ``"dd->d"``: what operands are converted to, and the results' dtypes.

        Calls may mix dtypes. Those of ml_dtypes, which have no letter in NumPy, are left out.

        Examples
        --------
        >>> import bcastgen as bg
        >>> bg.sqrt.types, bg.jit(lambda x, y: x / y < 1).types[:2]
        (['e->e', 'f->f', 'd->d', 'F->F', 'D->D'], ['??->?', 'bb->?'])
        """
        rows = (_loop(self, row) for row in DTYPES if not row.is_added)
        return list(dict.fromkeys(row for row in rows if row is not None))

    @property
    def ntypes(self) -> int:
        """The number of loops in `types`."""
        return len(self.types)

    @property
    def _stretches_to_outs(self: Any) -> bool:
        """Whether results stretch to outs that are larger, as NumPy's do: not where types or options say otherwise."""
        options = self._options
        return self._signature is None and options.stretch and options.rank_expansion and options.dynamic == "numpy"


def _raises_exactly(expression: Expression) -> bool:
    """Whether the C raises the floating-point exceptions that NumPy would; else values have to tell.

    With SVE, gcc's vectors have lanes without elements, which compute on zeros: their exceptions tell nothing.
    """
    if "sve" in cpu_features().split():
        return False
    return all(node.op.ieee for node in topological(expression.roots) if isinstance(node, Apply))


def _loop(kernel: Any, row: DType) -> str | None:
    with undivided:
        from .ufunc_loops import loop_types  # noqa: PLC0415 - calls do not ask for it
    try:
        loops, results = loop_types(kernel, (row,) * kernel.nin)
    except BcastgenError:
        return None
    if any(one.is_added for one in (*loops, *results)):
        return None
    return "".join(loop.np.char for loop in loops) + "->" + "".join(result.np.char for result in results)


def _signature_of(kernel: Any) -> Signature:
    """Return the parameters of a kernel's calls."""
    with undivided:
        from .ufunc_keywords import KEYWORDS  # noqa: PLC0415 - calls do not ask for it
    names, plain = kernel._positional_operands, Parameter.POSITIONAL_OR_KEYWORD
    values = kernel._defaults[: len(kernel._defaults) - len(kernel._constants)]
    first = len(names) - len(values)
    operands = [
        Parameter(name, plain, default=values[at - first] if at >= first else Parameter.empty)
        for at, name in enumerate(names)
    ]
    outs = (None,) * kernel.nout if kernel.nout > 1 else None
    out = Parameter("out", plain if kernel._outs_by_position else Parameter.KEYWORD_ONLY, default=outs)
    keywords = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=value) for name, value in KEYWORDS.items() if name not in names
    ]
    extents = [Parameter("extents", Parameter.KEYWORD_ONLY, default=None)] if kernel.operands != names else []
    return Signature([*operands, out, *extents, *keywords])
