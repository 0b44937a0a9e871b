"""The public functions: from Python functions, text and ops to kernels.

In: a function, an expression, a signature, an op.  Out: a :class:`Kernel`.

    @bg.jit                              bg.from_text("a*b + exp(c)")
    def gelu(x): ...                     bg.add
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from inspect import Parameter, signature
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ..core.errors import BcastgenError, DTypeError, ParseError, TraceError
from ..core.forks import undivided
from ..expr.build import Builder
from ..expr.free_extents import has_views
from ..expr.nodes import Expression
from ..expr.trace import trace
from ..kernel.kernel import Kernel
from ..ops.row import Op
from ..pipeline.options import OPTIONS, Options, options_for
from ..runtime.settings import check_threads

if TYPE_CHECKING:
    from ..shape.inference.stretch_rules import Dynamic as DynamicMode
    from ..shape.types.tensor_type import Signature, TensorType

__all__ = ["check_names", "from_text", "jit", "op_kernel"]

_OPERAND_NAMES = ("a", "b", "c", "d")


@overload
def jit(
    function: Callable[..., Any],
    /,
    *,
    signature: str | Signature | Sequence[TensorType | str] | None = None,
    name: str | None = None,
    dynamic: DynamicMode = "numpy",
    rank_expansion: bool = True,
    stretch: bool = True,
    math: str = "accurate",
    threads: int | None = None,
    background: bool | None = None,
    scalars: bool = True,
    errors: str = "ignore",
) -> Kernel: ...
@overload
def jit(
    function: None = None,
    /,
    *,
    signature: str | Signature | Sequence[TensorType | str] | None = None,
    name: str | None = None,
    dynamic: DynamicMode = "numpy",
    rank_expansion: bool = True,
    stretch: bool = True,
    math: str = "accurate",
    threads: int | None = None,
    background: bool | None = None,
    scalars: bool = True,
    errors: str = "ignore",
) -> Callable[[Callable[..., Any]], Kernel]: ...
def jit(
    function: Callable[..., Any] | None = None,
    /,
    *,
    signature: str | Signature | Sequence[TensorType | str] | None = None,
    name: str | None = None,
    dynamic: DynamicMode = "numpy",
    rank_expansion: bool = True,
    stretch: bool = True,
    math: str = "accurate",
    threads: int | None = None,
    background: bool | None = None,
    scalars: bool = True,
    errors: str = "ignore",
) -> Kernel | Callable[[Callable[..., Any]], Kernel]:
    """Compile an element-wise function of arrays; usable as a decorator.

    The function is run once, here, on stand-ins to learn its expression: operators, NumPy's element-wise functions,
    ``.astype``, ``bcastgen`` kernels and other jitted functions. Its source is not needed. Each tuple of operand dtypes
    is compiled at the first call with it; ranks, shapes and layouts never compile again.

    Everything else that the function reads is read once, in this run, and stays as it was: numbers of closures and
    globals, random numbers, the time. A stand-in is no array and no number: ``isinstance(x, numpy.ndarray)``,
    ``numpy.isscalar(x)`` and ``x is None`` are False, and the kernel holds only that side of a branch. Branches on
    values, in-place operators (``x += y``) and operations that NumPy would compute otherwise are refused.

    Parameters
    ----------
    function : takes arrays by position or name and returns an array or a tuple of arrays.
    signature : declared types, as in ``"(f32[?, 4] x, f32[4] b) -> f32[?, 4]"``, or the operands' as a list; checked at
        each call. Dims may carry facts (:class:`bcastgen.Dim`): ``f32[n>=2, m%8]``.
    name : of the kernel; the function's by default.
    dynamic : how dims of unknown extent broadcast. ``"numpy"``: an extent that proves to be 1 stretches; ``"strict"``:
        it has the result's extent, and others may stretch to it (seed 004); ``"trusted"``: the same, and nobody checks:
        a wrong shape is then undefined behaviour, except where the environment sets BCASTGEN_DEBUG.
    rank_expansion : whether operands may have fewer dims than the result; scalars always may.
    stretch : whether an extent of 1 meets any other. Dims declared as ``bcast`` always do.
    math : ``"accurate"``: functions keep the bound of the op's row, and ``+ - * / sqrt`` give NumPy's bits; ``"fast"``:
        functions may be off by 4 ULP, and a product that is added to may be rounded once with the sum.
    threads : how many threads a call may take; None: as :func:`bcastgen.get_num_threads` says. ``kernel.threads`` is
        the same and may be set. Small calls take one; results do not depend on it.
    background : whether NumPy answers calls while their binary is compiled in a thread; None: if the environment sets
        BCASTGEN_BACKGROUND. Arithmetic has the same bits; functions of f64 are NumPy's own then. Calls that a kernel
        refuses, and those of ops defined at run time, wait for the compiler, as ``kernel.wait()`` does.
    scalars : whether results without dims are NumPy scalars, as those of ufuncs are; they are arrays otherwise.
        ``kernel.scalars`` is the same and may be set, and ``out=...`` gives arrays in one call.
    errors : ``"ignore"``: floating-point errors are not looked at; ``"numpy"``: a call reports them as
        ``numpy.errstate`` says. ``kernel.errors`` is the same and may be set. docs/ufuncs.md: which ops are exact.

    Returns
    -------
    Kernel
        Called as ``kernel(x, b, out=None)``, and with the keywords of NumPy's ufuncs: `where`, `casting`, `order`,
        `dtype`, `signature`, `subok`.

    Raises
    ------
    TraceError
        If the function's parameters are not arrays by position, or its body does something no expression can hold.
    ParseError
        If the signature cannot be read.
    BcastgenError
        For an option that is not available.

    Examples
    --------
    >>> import numpy as np
    >>> @jit
    ... def axpy(alpha, x, y):
    ...     return alpha * x + y
    >>> axpy(2.0, np.arange(3.0), np.ones((2, 1)))
    array([[1., 3., 5.],
           [1., 3., 5.]])
    """
    options = options_for(dynamic=dynamic, rank_expansion=rank_expansion, stretch=stretch, math=math)
    calls = _checked_calls(threads, scalars, errors)
    if function is None:
        return lambda decorated: _called(_jitted(decorated, signature, name, options, background), *calls)
    return _called(_jitted(function, signature, name, options, background), *calls)


def _jitted(
    function: Callable[..., Any],
    signature: str | Signature | Sequence[TensorType | str] | None,
    name: str | None,
    options: Options,
    background: bool | None,
) -> Kernel:
    names, defaults = _parameters(function)
    declared = None if signature is None else _named(signature, names)
    label = str(name or getattr(function, "__name__", "kernel"))
    kernel = _kernel_of(
        trace(function, names), label if label.isidentifier() else "kernel", defaults, declared, options
    )
    if background is not None:
        kernel.background = background
    kernel.__doc__ = function.__doc__
    kernel.__module__ = getattr(function, "__module__", __name__)
    kernel.__wrapped__ = function
    return kernel


def _kernel_of(
    expression: Expression,
    name: str,
    defaults: tuple[object, ...],
    signature: Signature | None,
    options: Options,
) -> Kernel:
    """Return the kernel of an expression; if no operand determines some result extent, calls have to give it."""
    kind: type[Kernel] = Kernel
    if has_views(expression.results):
        with undivided:
            from ..kernel.caller_extents import SizedKernel, with_slots  # noqa: PLC0415 - most kernels have no views

        expression, signature = with_slots(expression, signature)
        kind = SizedKernel if expression.free_extents else Kernel
        if expression.sizings:
            with undivided:
                from ..kernel.op_sized_kernel import OpSizedKernel  # noqa: PLC0415 - most kernels have no such ops

            kind = OpSizedKernel
    names = tuple(operand.name for operand in expression.operands)
    if expression.free_extents and defaults:
        raise BcastgenError(f"{name}(): operands with default values and extents of the caller's do not go together")
    return kind(expression, name, names, len(expression.results), defaults, signature, options)


def check_names(names: tuple[str, ...], error: type[BcastgenError]) -> None:
    """Refuse an operand named ``out``, the argument that takes the results' arrays."""
    if "out" in names:
        raise error("no operand can be called 'out', which a call's out= is; give it another name")


def _parameters(function: Callable[..., Any]) -> tuple[tuple[str, ...], tuple[object, ...]]:
    if isinstance(function, np.ufunc):
        return _OPERAND_NAMES[: function.nin], ()
    try:
        parameters = signature(function).parameters.values()
    except (TypeError, ValueError) as error:
        raise TraceError(f"the parameters of {function!r} cannot be read ({error}); wrap it in a lambda") from None
    for parameter in parameters:
        if parameter.kind not in (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD):
            raise TraceError(f"parameter '{parameter}' is not positional; every operand has a place and a name")
    names = tuple(parameter.name for parameter in parameters)
    if not names:
        raise TraceError(f"{getattr(function, '__name__', 'the function')} takes no operands; give it at least one")
    check_names(names, TraceError)
    for parameter in parameters:
        if parameter.default is None:
            raise TraceError(
                f"parameter '{parameter}' is an array, as every one is, and never None: the function is run once, on "
                "stand-ins; leave the default out, and make a kernel for each case"
            )
    return names, tuple(p.default for p in parameters if p.default is not Parameter.empty)


def _named(text: str | Signature | Sequence[TensorType | str], names: tuple[str, ...]) -> Signature:
    """Give a signature the function's parameter names, which it may leave out but not contradict."""
    with undivided:
        from ..shape.types.tensor_type import Signature, parse_signature, parse_type  # noqa: PLC0415 - most kernels have no signature

    if not isinstance(text, (str, Signature)):
        text = Signature(tuple((None, parse_type(type_)) for type_ in text))
    signature = parse_signature(text)
    if signature.expression is not None:
        raise ParseError("a signature for a function ends in a type, not in an expression")
    if len(signature.operands) != len(names):
        raise ParseError(f"the signature has {len(signature.operands)} operands, the function {len(names)}")
    for (declared, _), name in zip(signature.operands, names, strict=True):
        if declared is not None and declared != name:
            raise ParseError(f"the signature names '{declared}' where the function has '{name}'")
    types = (type_ for _, type_ in signature.operands)
    return Signature(tuple(zip(names, types, strict=True)), signature.results, None)


def from_text(
    text: str,
    name: str = "kernel",
    variants: int | None = None,
    *,
    dynamic: DynamicMode = "numpy",
    rank_expansion: bool = True,
    stretch: bool = True,
    math: str = "accurate",
    threads: int | None = None,
    scalars: bool = True,
    errors: str = "ignore",
) -> Kernel:
    """Return the kernel of an expression, or of a signature that ends in one.

    Parameters
    ----------
    text : ``"a*b + c"``, or with types ``"(f32[?,?] a, f32[?,?] b) -> a + b*2"``.
    name : of the kernel, in messages and in C.
    variants : number of specialised inner loops; 0 for the one plain nest, None for the usual number.
    dynamic, rank_expansion, stretch : how dims meet, as for :func:`jit`.
    math, threads, scalars, errors : as for :func:`jit`.

    Raises
    ------
    ParseError
        If the text cannot be read; names the column.

    Examples
    --------
    >>> from_text("(f32[?] a, f32[?] b) -> a + b*2")(np.float32([1, 2]), np.float32([3]))
    array([7., 8.], dtype=float32)
    """
    with undivided:
        from ..expr.text import parse  # noqa: PLC0415 - most kernels come from functions

    if not isinstance(text, str):
        raise ParseError(f"an expression is text, not {type(text).__name__}")
    if not isinstance(name, str):
        raise BcastgenError(f"name={name!r} is no name; give text")
    calls = _checked_calls(threads, scalars, errors)
    options = options_for(variants=variants, dynamic=dynamic, rank_expansion=rank_expansion, stretch=stretch, math=math)
    if "->" not in text:
        expression = parse(text)
        names = tuple(operand.name for operand in expression.operands)
        check_names(names, ParseError)
        if not names:
            raise ParseError(f"{text!r} has no operands; name at least one array")
        return _called(_kernel_of(expression, name, (), None, options), *calls)
    with undivided:
        from ..shape.types.tensor_type import Signature, parse_signature  # noqa: PLC0415 - most kernels have no signature

    signature = parse_signature(text)
    if signature.expression is None:
        raise ParseError("a signature alone computes nothing; end it in an expression: (f32[?] a) -> a + 1")
    names = tuple(declared or _letter(at) for at, (declared, _) in enumerate(signature.operands))
    check_names(names, ParseError)
    expression = parse(signature.expression, names)
    declared_types = Signature(
        tuple((label, type_) for label, (_, type_) in zip(names, signature.operands, strict=True)), None, None
    )
    return _called(_kernel_of(expression, name, (), declared_types, options), *calls)


def _checked_calls(threads: int | None, scalars: bool, errors: str) -> tuple[int | None, bool, str]:
    """Return the options that concern calls, each checked."""
    check_threads(threads)
    OPTIONS["errors"].check(errors)
    return threads, bool(scalars), errors


def _called(kernel: Kernel, threads: int | None, scalars: bool, errors: str) -> Kernel:
    """Return the kernel, to be called with these options."""
    kernel.threads, kernel.scalars, kernel.errors = threads, scalars, errors
    return kernel


def _letter(at: int) -> str:
    return chr(ord("a") + at) if at < 26 else f"operand{at}"


def op_kernel(op: Op) -> Kernel:
    """Return an op as a ready kernel.

    Raises
    ------
    DTypeError
        For an op with static parameters, which have no place in a call.
    """
    if op.params:
        raise DTypeError(f"{op.name} has static parameters, which have no place in a call")
    names = _OPERAND_NAMES[: op.arity] if op.definition is None else op.definition.operands
    builder = Builder(names)
    result = builder.call(op, tuple(builder.operands))
    expression: Expression = builder.finish((result,))
    kernel = (
        _kernel_of(expression, op.name, (), None, Options(op.name))
        if expression.sizings
        else (Kernel(expression, op.name, names))
    )
    kernel.op = op
    kernel.__doc__ = op.doc
    return kernel
