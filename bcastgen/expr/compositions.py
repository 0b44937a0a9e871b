"""Functions of NumPy that are several ops, as NumPy composes them: dtypes, rounding and special values are its own.

In: traced values and numbers.  Out: a traced value.

    isclose(a, b)  ->  less_equal(absolute(a - b), 1e-8 + 1e-5 * absolute(b)) & isfinite(b) | (a == b)

Text and ``bcastgen.<name>`` know those of :data:`COMPOSITIONS`, and :data:`NUMPY_FUNCTIONS` says which of NumPy's
functions is which; the function itself is the key, since other functions may have its name.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..core.errors import TraceError
from ..ops.row import Op
from ..ops.table import OPS
from . import refusals
from .constants import constant_from
from .nodes import NO_NOTES, Notes
from .views import Collapse, MoveAxes, NewAxes, SwapAxes

__all__ = [
    "COMPOSITIONS",
    "NUMPY_FUNCTIONS",
    "WITH_NUMBERS",
    "apart_from",
    "chosen",
    "clipped",
    "in_dtype_of",
    "ones_like",
    "rounded",
]

# The stand-in of an array, of `trace.Tracer`, which calls what is here.
Tracer = Any


_ARRAY = Notes(makes_array=True)


def _applied(op: Op, values: tuple[Any, ...], notes: Notes = NO_NOTES) -> Any:
    traced = next((value for value in values if hasattr(value, "applied")), None)
    if traced is None:
        raise TraceError(f"{op.name} of numbers alone; compute it outside the kernel")
    return traced.applied(op, values, notes)


def _is_number(value: Any) -> bool:
    """Whether a value is one of Python's numbers; a stand-in may not be asked for its kind."""
    return not hasattr(value, "applied") and isinstance(value, (bool, int, float))


def _number(value: Any) -> Any:
    """Return a number from outside as NumPy's array of it."""
    made = constant_from(value)
    if made is None:
        raise TraceError(refusals.value(value))
    return np.asarray(value)


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Choose x where the condition is true, else y."""
    if x is None or y is None:
        raise TraceError("numpy.where with a condition only has a shape that depends on values; give it three operands")
    return _applied(OPS["where"], (condition, x, y))


def chosen(mask: Any, x: Any, other: Any, name: str) -> Any:
    """Choose as `where` does; typing checks the dtype of the mask, the `where=` of a reduction of this name."""
    return _applied(OPS["where"], (mask, x, other), Notes(mask=name))


def both(mask: Any, other: Any, name: str) -> Any:
    """Return where both are true; typing checks the dtype of the mask, the `where=` of a reduction of this name."""
    return _applied(OPS["logical_and"], (mask, other), Notes(mask=name))


def apart_from(x: Any, mean: Any) -> Any:
    """Return a value minus its mean; typing refuses a complex mean of real values."""
    return _applied(OPS["subtract"], (x, mean), Notes(deviation=True))


def initial_of(like: Any, value: Any, name: str) -> Any:
    """Return the initial value of a reduction of this name, in the dtype of what it is combined with."""
    return _applied(OPS["full_like"], (like, value), Notes(initial=name))


def in_dtype_of(like: Any, value: Any) -> Any:
    """Return the value, converted to the dtype of `like`; nothing else of `like` is used."""
    return _applied(OPS["full_like"], (like, value), Notes(dtype_only=True))


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> Any:
    """Choose the first value whose condition is true, else the default."""
    if len(condlist) != len(choicelist) or not len(condlist):
        raise TraceError(
            f"numpy.select has {len(condlist)} conditions and {len(choicelist)} choices; give as many of both"
        )
    # The conditions exclude each other, so cases may be sorted: values with a dtype first, which Python numbers adopt.
    cases, left = [], None
    for condition, choice in zip(condlist, choicelist, strict=True):
        cases.append((condition if left is None else np.logical_and(left, condition), choice))
        other = np.logical_not(condition)
        left = other if left is None else np.logical_and(left, other)
    cases.append((left, default))
    cases.sort(key=lambda case: _is_number(case[1]))
    (_, chosen), *others = cases
    for condition, choice in others:
        chosen = where(condition, choice, chosen)
    return chosen if others else where(left, default, chosen)


def piecewise(x: Tracer, condlist: Any, funclist: Sequence[Any]) -> Any:
    """Apply the function whose condition is the last that is true, in x's dtype; a last function is for the rest."""
    conditions = [condlist] if hasattr(condlist, "applied") else list(condlist)
    if len(funclist) not in (len(conditions), len(conditions) + 1):
        raise TraceError(f"numpy.piecewise has {len(conditions)} conditions and {len(funclist)} functions")
    *functions, rest = (*funclist, 0) if len(funclist) == len(conditions) else funclist
    chosen = full_like(x, rest(x) if callable(rest) else rest)
    for condition, function in zip(conditions, functions, strict=True):
        chosen = where(condition, full_like(x, function(x) if callable(function) else function), chosen)
    return chosen


def full_like(a: Any, fill_value: Any, dtype: Any = None) -> Any:
    """Fill a's shape with a value, in a's dtype or another one."""
    like = a if dtype is None else a.astype(dtype)
    return _applied(OPS["full_like"], (like, fill_value))


def zeros_like(a: Any, dtype: Any = None) -> Any:
    """Zeros of a's shape, in its dtype or another one."""
    return full_like(a, 0, dtype)


def ones_like(a: Any, dtype: Any = None) -> Any:
    """Ones of a's shape, in its dtype or another one."""
    return full_like(a, 1, dtype)


def real(val: Any) -> Any:
    """Real part."""
    return _applied(OPS["real"], (val,))


def imag(val: Any) -> Any:
    """Imaginary part."""
    return _applied(OPS["imag"], (val,))


def angle(z: Any, deg: bool = False) -> Any:
    """Argument of a complex number, in radians or degrees."""
    radians = _applied(OPS["angle"], (z,))
    return radians if not deg else radians * (180 / math.pi)


def fix(x: Any) -> Any:
    """Whole part, rounded towards 0."""
    return _applied(OPS["trunc"], (x,))


def sinc(x: Any) -> Any:
    """sin(pi x) / (pi x); 1 at 0."""
    angle = math.pi * x
    divisor = where(angle, angle, 1.0)
    return where(angle, np.sin(divisor) / divisor, 1.0)


def i0(x: Any) -> Any:
    """Modified Bessel function of the first kind, order 0."""
    return _applied(OPS["i0"], (x,))


def isposinf(x: Any) -> Any:
    """Is positive infinity."""
    return np.logical_and(np.isinf(x), np.logical_not(np.signbit(x)))


def isneginf(x: Any) -> Any:
    """Is negative infinity."""
    return np.logical_and(np.isinf(x), np.signbit(x))


def isclose(a: Any, b: Any, rtol: Any = 1e-05, atol: Any = 1e-08, equal_nan: bool = False) -> Any:
    """Is as close to b as rtol times its magnitude plus atol; infinities equal only themselves."""
    # NumPy makes a float of b, with the dtype that it has beside a Python float.
    y = (
        float(b)
        if _is_number(b)
        else _applied(OPS["multiply"], (b, 1.0))
        if hasattr(b, "applied")
        else _number(b) * 1.0
    )
    close = np.less_equal(abs(a - y), atol + rtol * abs(y)) & np.isfinite(y) | (a == y)
    return close | (np.isnan(a) & np.isnan(y)) if equal_nan else close


def nan_to_num(x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """Replace NaN and infinities: by 0 and the largest numbers of the dtype, or by what is given."""
    if copy is not True:
        raise TraceError("numpy.nan_to_num: copy=False writes into x; leave it out, and pass out=x at the call")
    value = _applied(OPS["nan_to_num"], (x,))
    for at, test in ((posinf, isposinf), (neginf, isneginf)):
        value = value if at is None else where(test(x), full_like(x, at), value)
    # isnan would take complex numbers, too, of which NumPy replaces each part on its own; fabs refuses them.
    return value if _is_number(nan) and nan == 0 else where(np.isnan(np.fabs(x)), full_like(x, nan), value)


def broadcast_to(array: Any, shape: Any) -> Tracer:
    """Return the value broadcast to a shape, or to that of an operand."""
    return array.broadcast(shape)


def transpose(a: Tracer, axes: Any = None) -> Tracer:
    """Return the value with its dims in another order, reversed by default."""
    return a.transpose(axes)


def astype(x: Any, dtype: Any, /, *, copy: bool = True) -> Any:
    """Convert to a dtype; a kernel allocates its results, so there is nothing to copy."""
    return x.astype(dtype)


def copied(a: Any, order: str = "K", subok: bool = False) -> Any:
    """Return the value itself, as an array where it is a number: a result is a new array anyway."""
    return a[...]


def clipped(a: Any, a_min: Any = None, a_max: Any = None, min: Any = None, max: Any = None) -> Any:
    """Limit a value to an interval; None leaves a side open."""
    if not (a_min is None and a_max is None) and not (min is None and max is None):
        raise TraceError("numpy.clip with min= or max= beside a_min or a_max; give each bound once")
    low, high = (a_min if min is None else min), (a_max if max is None else max)
    if low is not None and high is not None:
        return _applied(OPS["clip"], (a, low, high))
    if low is not None:
        return _applied(OPS["maximum"], (a, low), _ARRAY)
    if high is not None:
        return _applied(OPS["minimum"], (a, high), _ARRAY)
    return _applied(OPS["positive"], (a,), _ARRAY)


def rounded(a: Any, decimals: int = 0) -> Tracer:
    """Round to a number of decimals, ties to even."""
    if not hasattr(decimals, "__index__"):
        raise TraceError(f"round: decimals is no integer of 32 bits ({type(decimals).__name__}); write round(x, 2)")
    return a.applied(OPS["round"], (a,), Notes(decimals=count) if (count := operator.index(decimals)) else NO_NOTES)


def swapaxes(a: Tracer, axis1: int, axis2: int) -> Tracer:
    """Return the value with two dims in each other's place."""
    return a.viewed(SwapAxes((operator.index(axis1), operator.index(axis2))))


def moveaxis(a: Tracer, source: Any, destination: Any) -> Tracer:
    """Return the value with some dims moved, the others in their order."""
    return a.viewed(MoveAxes(_integers(source), _integers(destination)))


def matrix_transpose(x: Tracer) -> Tracer:
    """Return the value with its last two dims in each other's place."""
    return swapaxes(x, -1, -2)


def expand_dims(a: Tracer, axis: Any) -> Tracer:
    """Return the value with new dims of extent 1."""
    axes = _integers(axis)
    if len(set(axes)) != len(axes) or len({one < 0 for one in axes}) > 1:
        raise TraceError(
            f"numpy.expand_dims with axis={axis!r}: in a kernel the axes count from one end, each once; write "
            "x[:, None] instead"
        )
    if axes and axes[0] < 0:
        inner = ["new" if -place in axes else "dim" for place in range(-min(axes), 0, -1)]
        return a.viewed(NewAxes(("rest", *inner)))
    return a.viewed(NewAxes(tuple("new" if place in axes else "dim" for place in range(max(axes, default=-1) + 1))))


def squeeze(a: Tracer, axis: Any = None) -> Tracer:
    """Return the value without some dims, whose extents are 1: each call checks them."""
    if axis is None:
        raise TraceError("numpy.squeeze without axis= has a rank that depends on extents; name the dims to drop")
    return a.viewed(Collapse(_integers(axis), checked=True))


def _integers(axes: Any) -> tuple[int, ...]:
    return tuple(map(operator.index, axes)) if isinstance(axes, (tuple, list)) else (operator.index(axes),)


def isreal(x: Any) -> Any:
    """Is without an imaginary part other than 0."""
    return imag(x) == 0


def iscomplex(x: Any) -> Any:
    """Has an imaginary part other than 0."""
    return imag(x) != 0


def isin(
    element: Any, test_elements: Any, assume_unique: bool = False, invert: bool = False, *, kind: Any = None
) -> Any:
    """Is equal to one of these numbers."""
    if hasattr(test_elements, "applied"):
        raise TraceError("numpy.isin: the elements are known at the call only; write (x[..., None] == y).any(axis=-1)")
    numbers = _numbers("isin", test_elements)
    found = full_like(element, False, dtype=bool)
    for number in numbers:
        found = found | (element == number)
    return ~found if invert else found


def polyval(p: Any, x: Any) -> Any:
    """Evaluate a polynomial, by its coefficients from the highest power down."""
    if hasattr(p, "applied"):
        raise TraceError("numpy.polyval: the coefficients are known at the call only; write (p2 * x + p1) * x + p0")
    x = copied(x)
    y = zeros_like(x)
    for number in _numbers("polyval", p):
        y = y * x + number
    return y


_MOST_NUMBERS = 64


def _numbers(name: str, values: Any) -> tuple[Any, ...]:
    """Return numbers from outside as NumPy's, in the dtype that NumPy gives all of them."""
    try:
        array = np.asarray(values)
    except (TypeError, ValueError) as error:
        raise TraceError(f"numpy.{name}: what it is given is no array of numbers: {error}") from None
    if array.size > _MOST_NUMBERS:
        raise TraceError(
            f"numpy.{name} with {array.size} numbers: a kernel holds up to {_MOST_NUMBERS}; call it outside, and pass "
            "its result as an operand"
        )
    return tuple(_number(value) for value in array.ravel())


# The functions that text and the package know by name: how many operands each takes, before arguments that are numbers.
COMPOSITIONS: dict[str, tuple[int, Callable[..., Any]]] = {
    "fix": (1, fix),
    "sinc": (1, sinc),
    "isposinf": (1, isposinf),
    "isneginf": (1, isneginf),
    "isreal": (1, isreal),
    "iscomplex": (1, iscomplex),
    "isclose": (2, isclose),
    "zeros_like": (1, zeros_like),
    "ones_like": (1, ones_like),
    "around": (1, rounded),
}
# The same for ops of the table whose NumPy functions take further numbers.
WITH_NUMBERS: dict[str, tuple[int, Callable[..., Any]]] = {"round": (1, rounded), "nan_to_num": (1, nan_to_num)}


NUMPY_FUNCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {
    np.where: where,
    np.select: select,
    np.piecewise: piecewise,
    np.clip: clipped,
    np.round: rounded,
    np.around: rounded,
    np.fix: fix,
    np.real: real,
    np.imag: imag,
    np.angle: angle,
    np.sinc: sinc,
    np.i0: i0,
    np.isposinf: isposinf,
    np.isneginf: isneginf,
    np.isreal: isreal,
    np.iscomplex: iscomplex,
    np.isclose: isclose,
    np.nan_to_num: nan_to_num,
    np.isin: isin,
    np.polyval: polyval,
    np.astype: astype,
    np.copy: copied,
    np.full_like: full_like,
    np.zeros_like: zeros_like,
    np.ones_like: ones_like,
    np.transpose: transpose,
    np.matrix_transpose: matrix_transpose,
    np.swapaxes: swapaxes,
    np.moveaxis: moveaxis,
    np.expand_dims: expand_dims,
    np.squeeze: squeeze,
    np.broadcast_to: broadcast_to,
    np.ndim: lambda a: a.ndim,
    np.shape: lambda a: a.shape,
    np.size: lambda a: a.size,
}
