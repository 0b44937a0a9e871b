"""`vectorize`: kernels of functions of scalars, with branches and loops, read from their source.

In: a function of numbers.  Out: a kernel that computes it for each element.

    @bg.vectorize                        @bg.vectorize(["float64(float64, float64)"], target="parallel")
    def clamp(x, low): ...               def rel_diff(x, y): ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import isfunction
from typing import TYPE_CHECKING, Any, overload

import numpy as np

from ..core.errors import BcastgenError, TraceError
from ..core.options import check_name, check_switch, whole
from ..core.source_lines import with_short_tracebacks
from ..expr.nodes import Expression
from ..expr.source.numba_signatures import NumbaSignature, read_signatures
from ..expr.source.reader import read
from ..kernel.kernel import Kernel
from ..kernel.signature_kernel import SignatureKernel
from ..pipeline.options import Options, options_for
from ..runtime.settings import check_threads
from .functions import specialized
from .parameters import Parameters

if TYPE_CHECKING:
    from .op_types import Elementwise, Vectorizing

__all__ = ["vectorize"]

# Options of Numba's decorator that change no result here, and the values that they may have; None for any.
_NUMBA: Mapping[str, tuple[object, ...] | None] = {
    "nopython": (True,),
    "cache": None,
    "identity": None,
    "forceobj": (False,),
    "boundscheck": None,
    "writable_args": ((),),
}
_MOST_ITERATIONS = 10_000


@overload
def vectorize(
    function: Callable[..., tuple[Any, ...]],
    target: str = "cpu",
    *,
    static: str | tuple[str, ...] = (),
    max_iterations: int | None = None,
    name: str | None = None,
    math: str = "accurate",
    threads: int | None = None,
    background: bool | None = None,
    fastmath: bool = False,
    **numba: object,
) -> Kernel: ...
@overload
def vectorize(
    function: Callable[..., complex],
    target: str = "cpu",
    *,
    static: str | tuple[str, ...] = (),
    max_iterations: int | None = None,
    name: str | None = None,
    math: str = "accurate",
    threads: int | None = None,
    background: bool | None = None,
    fastmath: bool = False,
    **numba: object,
) -> Elementwise: ...
@overload
def vectorize(
    function: object = None,
    target: str = "cpu",
    *,
    static: str | tuple[str, ...] = (),
    max_iterations: int | None = None,
    name: str | None = None,
    math: str = "accurate",
    threads: int | None = None,
    background: bool | None = None,
    fastmath: bool = False,
    **numba: object,
) -> Vectorizing: ...
@with_short_tracebacks
def vectorize(
    function: Any = None,
    target: str = "cpu",
    *,
    static: str | tuple[str, ...] = (),
    max_iterations: int | None = None,
    name: str | None = None,
    math: str = "accurate",
    threads: int | None = None,
    background: bool | None = None,
    fastmath: bool = False,
    **numba: object,
) -> Any:
    """Compile a function of scalars, with branches and loops, to a kernel; usable as a decorator, as Numba's is.

    The function's source is read, here, once: ``if``, ``elif`` and ``else``, conditional expressions, ``and``, ``or``,
    ``not``, chained comparisons, early ``return``, ``for`` over what is known, ``while`` with a bound, ``break``,
    ``continue``, assignments, tuples, Python's ``min max abs round int float bool pow divmod sum any all``, functions
    of ``math`` and NumPy, and calls of kernels and of other functions, which are read, too. Everything else is an error
    that shows the line.

    All branches are computed, and selections take one for each element; loops are unrolled. Nothing raises or traps for
    an element: ``x / 0`` is inf, an integer ``x // 0`` is 0, ``math.sqrt(-1.0)`` is nan, ``int(nan)`` is 0. (Only an
    integer to a negative power is an error, as in NumPy, and a ``while`` of too many rounds, for elements that come to
    them.)

    Operands are NumPy's scalars, so that integers wrap and ``float32`` stays ``float32``. Python numbers are weak, and
    two branches of Python numbers are. Branches of different dtypes have the one that NumPy promotes them to; Numba
    does so, too, though it takes literals for int64 and float64. Functions of ``math`` keep floats, and compute
    integers in float64. ``and`` and ``or`` give one of their operands, as in Python. Numbers of closures and globals
    are read here, too, and stay.

    Parameters
    ----------
    function : takes numbers and returns a number or a tuple of numbers. Or Numba's signatures, in text or as its
        objects: the kernel then computes in their dtypes only, in the first one that operands convert to without loss.
    target : ``"cpu"`` or ``"parallel"``: threads share large calls either way.
    static : names of parameters that are Python values and not operands; each combination of values is a kernel of its
        own. They may decide how often loops run.
    max_iterations : how many rounds a ``while`` makes at most whose condition depends on elements. An element that
        would go on ends the call with a DomainError. To keep the values of its last round, write
        ``for _ in range(100): if not condition: break``, which is also computed once only.
    name, math, threads, background : as for :func:`bcastgen.jit`.
    fastmath : as ``math="fast"``.
    **numba : options of Numba's that change no result here: ``nopython``, ``cache``, ``identity``.

    Returns
    -------
    Kernel
        Called with arrays and numbers, which broadcast.

    Raises
    ------
    TraceError
        If the source is not to be found, or has what cannot be read; shows the file, the line and the place.
    ParseError
        If a signature cannot be read.

    Examples
    --------
    >>> import numpy as np
    >>> import bcastgen as bg
    >>> @bg.vectorize
    ... def collatz(n, steps=3):
    ...     for _ in range(3):
    ...         if n % 2 == 0:
    ...             n = n // 2
    ...         elif n > 1:
    ...             n = 3 * n + 1
    ...     return n + 0 * steps
    >>> collatz(np.arange(6))
    array([ 0,  1,  1, 16,  1,  4])
    """
    if not isinstance(target, str) or target not in ("cpu", "parallel"):
        raise BcastgenError(f"target={target!r} is not available; it is 'cpu' or 'parallel'")
    for option, value in numba.items():
        if option not in _NUMBA:
            raise TypeError(f"vectorize() got an unexpected keyword argument {option!r}")
        allowed = _NUMBA[option]
        if allowed is not None and (isinstance(value, np.ndarray) or value not in allowed):
            raise BcastgenError(f"{option}={value!r} is Numba's, and not available here; leave it out")
    if max_iterations is not None and not 0 < (whole(max_iterations) or 0) <= _MOST_ITERATIONS:
        raise BcastgenError(f"max_iterations={max_iterations!r}; give a number of rounds from 1 to {_MOST_ITERATIONS}")
    check_threads(threads)
    check_switch("fastmath", fastmath)
    if name is not None:
        check_name(name)
    options = options_for(math="fast" if fastmath else math)
    made = _Maker(static, max_iterations, name, options, threads, background)
    if isfunction(function):
        return made.kernel(function, None)
    if callable(function) and not hasattr(function, "return_type"):
        raise TraceError(
            f"{function!r} is no function written in Python, so that there is no source to read; write one that calls "
            "what is to be read, as in lambda x: obj.method(x)"
        )
    return with_short_tracebacks(lambda decorated: made.kernel(decorated, function))


class _Maker:
    """The options of one decorator, and what makes kernels by them."""

    def __init__(
        self,
        static: str | tuple[str, ...],
        max_iterations: int | None,
        name: str | None,
        options: Options,
        threads: int | None,
        background: bool | None,
    ) -> None:
        self.static, self.max_iterations, self.name = static, max_iterations, name
        self.options, self.threads, self.background = options, threads, background

    def kernel(self, function: Callable[..., Any], signatures: Any) -> Any:
        """Return the kernel of a function."""
        parameters = Parameters(function, self.static)
        several = [one for one in parameters.all if one.kind is one.VAR_POSITIONAL]
        if several:
            raise TraceError(f"parameter '{several[0]}': a function of scalars has a name for every operand")
        label = str(self.name or function.__name__)
        label = label if label.isidentifier() else "kernel"

        def make(names: tuple[str, ...], defaults: tuple[object, ...], given: Mapping[str, object]) -> Kernel:
            declared = () if signatures in (None, (), []) else read_signatures(signatures, len(names))
            expression = read(function, names, given, self.max_iterations)
            return self._finished(function, expression, declared, label, names, defaults)

        return specialized(function, label, parameters, make)

    def _finished(
        self,
        function: Callable[..., Any],
        expression: Expression,
        signatures: tuple[NumbaSignature, ...],
        label: str,
        names: tuple[str, ...],
        defaults: tuple[object, ...],
    ) -> Kernel:
        given = (label, names, len(expression.results), defaults, None, self.options)
        kernel = (
            SignatureKernel(expression, *given, signatures=signatures) if signatures else Kernel(expression, *given)
        )
        kernel.threads = self.threads
        if self.background is not None:
            kernel.background = self.background
        kernel.__doc__ = function.__doc__
        kernel.__module__ = function.__module__
        kernel.__wrapped__ = function
        return kernel
