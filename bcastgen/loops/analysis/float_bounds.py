"""The bounds of floats in a nest: between which numbers each value lies, and whether it may be NaN.

In: a nest.  Out: for each statement its :class:`Bounds`; those of what is no f32 or f64 say nothing.

    x : u8;  t0 = cast(x) : f32;  t1 = multiply(t0, 1.2)   ->   t0 in [0, 255], t1 in [0, 306.00003], both numbers

Rounding is monotonic: what lies between two numbers lies between them when all are rounded. Bounds go one float further
all the same, unless that were across 0, so that a compiler may contract products and sums. Beyond the largest float
nothing is known of what is computed: infinities give NaN.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

import numpy as np

from ...core.dtypes import F32, F64, DType
from ...core.frozen import dataclass
from ...expr.nodes import Constant
from ..nest import Let, Nest, Value
from .integer_ranges import Range, ranges_of, whole

__all__ = ["Bounds", "bounds_of", "clamped"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the largest number that a value may be, and whether it is one: never NaN."""

    low: float
    high: float
    is_number: bool

    @property
    def is_finite(self) -> bool:
        """Whether it is never infinite or NaN."""
        return self.is_number and math.isfinite(self.low) and math.isfinite(self.high)


UNKNOWN = Bounds(-math.inf, math.inf, False)


def _around(values: list[float], dtype: DType) -> Bounds:
    """Return the bounds of numbers that lie between exact values, rounded."""
    low, high = min(values), max(values)
    made = dtype.np.type
    with np.errstate(over="ignore"):
        least, most = np.nextafter(made(low), made(-np.inf)), np.nextafter(made(high), made(np.inf))
    return Bounds(
        max(float(least), 0.0) if low >= 0 else float(least), min(float(most), 0.0) if high <= 0 else float(most), True
    )


def _corners(function: Callable[[float, float], float]) -> Callable[[DType, Bounds, Bounds], Bounds]:
    """For functions of finite numbers that are monotonic in each."""

    def bounds(dtype: DType, x: Bounds, y: Bounds) -> Bounds:
        if not (x.is_finite and y.is_finite):
            return UNKNOWN
        values = [function(one, other) for one in (x.low, x.high) for other in (y.low, y.high)]
        return _around(values, dtype) if all(map(math.isfinite, values)) else UNKNOWN

    return bounds


def _divide(dtype: DType, x: Bounds, y: Bounds) -> Bounds:
    return UNKNOWN if y.low <= 0 <= y.high else _corners(lambda value, by: value / by)(dtype, x, y)


def _absolute(_: DType, x: Bounds) -> Bounds:
    low, high = sorted((abs(x.low), abs(x.high)))
    return Bounds(0.0 if x.low <= 0 <= x.high else low, high, x.is_number)


def _square(dtype: DType, x: Bounds) -> Bounds:
    size = _absolute(dtype, x)
    return _corners(lambda value, by: value * by)(dtype, size, size)


def _square_root(dtype: DType, x: Bounds) -> Bounds:
    if not (x.is_finite and x.low >= 0):
        return UNKNOWN
    return _around([math.sqrt(x.low), math.sqrt(x.high)], dtype)


def _whole(function: Callable[[float], float]) -> Callable[[DType, Bounds], Bounds]:
    """For rounding to whole numbers, which every float of that size is, or has a neighbour in its dtype."""

    def rounded(value: float) -> float:
        return function(value) if math.isfinite(value) else value

    return lambda _, x: Bounds(float(rounded(x.low)), float(rounded(x.high)), x.is_number)


def clamped(x: Bounds, low: float, high: float) -> Bounds:
    """Return bounds raised to a number, then lowered to one."""
    return Bounds(min(max(x.low, low), high), min(max(x.high, low), high), x.is_number)


def _clip(_: DType, x: Bounds, low: Bounds, high: Bounds) -> Bounds:
    least, most = max(x.low, low.low), max(x.high, low.high)
    return Bounds(min(least, high.low), min(most, high.high), all(one.is_number for one in (x, low, high)))


def _minimum(_: DType, x: Bounds, y: Bounds) -> Bounds:
    return Bounds(min(x.low, y.low), min(x.high, y.high), x.is_number and y.is_number)


def _maximum(_: DType, x: Bounds, y: Bounds) -> Bounds:
    return Bounds(max(x.low, y.low), max(x.high, y.high), x.is_number and y.is_number)


def _either(_: DType, x: Bounds, y: Bounds) -> Bounds:
    return Bounds(min(x.low, y.low), max(x.high, y.high), x.is_number and y.is_number)


# The rows whose bounds are known, for f32 and f64; any other row may give any number, or NaN.
_BOUNDS: Mapping[str, Callable[..., Bounds]] = {
    "add": _corners(lambda x, y: x + y),
    "subtract": _corners(lambda x, y: x - y),
    "multiply": _corners(lambda x, y: x * y),
    "divide": _divide,
    "square": _square,
    "sqrt": _square_root,
    "absolute": _absolute,
    "negative": lambda _, x: Bounds(-x.high, -x.low, x.is_number),
    "positive": lambda _, x: x,
    "minimum": _minimum,
    "maximum": _maximum,
    "clip": _clip,
    "floor": _whole(math.floor),
    "ceil": _whole(math.ceil),
    "trunc": _whole(math.trunc),
    "rint": _whole(round),
}


def bounds_of(nest: Nest) -> list[Bounds]:
    """Return the bounds of each statement's value.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> for bounds in bounds_of(from_text("(u8[?] x) -> x.astype(f32) * 2.0").compilation.program.nests[0]):
    ...     print(bounds)
    Bounds(low=0.0, high=255.0, is_number=True)
    Bounds(low=0.0, high=510.0000305175781, is_number=True)
    """
    found: list[Bounds] = []
    ranges = ranges_of(nest)

    def of(value: Value, dtype: DType) -> Bounds:
        match value:
            case Constant():
                number = float(value.value)
                return Bounds(number, number, True) if number == number else UNKNOWN
            case Let():
                return found[value.index]
        return UNKNOWN

    for statement in nest.body:
        name, dtype = statement.op.name, statement.dtype
        pairs = list(zip(statement.operands, statement.operand_dtypes, strict=True))
        bounds = UNKNOWN
        if dtype not in (F32, F64) or statement.op.definition is not None:
            pass
        elif name == "cast":
            ((value, source),) = pairs
            if source.is_float:
                bounds = _converted(of(value, source), source, dtype)
            else:
                bounds = _of_integer((ranges[value.index] if isinstance(value, Let) else None) or whole(source), dtype)
        elif name == "where":
            bounds = _either(dtype, *(of(*pair) for pair in pairs[1:]))
        elif name in _BOUNDS and all(one is dtype for _, one in pairs):
            bounds = _BOUNDS[name](dtype, *(of(*pair) for pair in pairs))
        found.append(bounds)
    return found


def _of_integer(range_: Range, dtype: DType) -> Bounds:
    low, high = (float(dtype.np.type(end)) for end in range_)
    if (low, high) == range_:
        return Bounds(low, high, True)
    return _around([low, high], dtype)


def _converted(x: Bounds, source: DType, dtype: DType) -> Bounds:
    """Return the bounds of a float in another dtype: beyond the largest one it is an infinity, and no NaN."""
    if source not in (F32, F64) or source is dtype or dtype is F64:
        return x
    return _around([x.low, x.high], dtype) if x.is_finite else UNKNOWN
