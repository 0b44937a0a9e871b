"""The bounds of floats: what an op's result lies between, whether it may be NaN, and what it is a multiple of.

In: f32 or f64, and :class:`Bounds` for each operand.  Out: the result's, from those of its operands.

    multiply(F32, Bounds(0, 255, True), Bounds(1.2, 1.2, True))   ->   Bounds(0, 306.00003, True)

Rounding is monotonic: a value between two numbers is still between them when all three are rounded. Bounds are widened
by one float, but never across 0, since a compiler may contract products and sums. If a bound exceeds the largest float,
the result is unknown, since infinities give NaN. Rows name these functions (:class:`.facts.FloatFacts`).
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ..core.dtypes import DType
from ..core.frozen import dataclass

__all__ = ["UNKNOWN", "Bounds", "around", "bounds_function", "grain_of"]


@dataclass(frozen=True, slots=True)
class Bounds:
    """The least and the largest number that a value may be, and whether it is surely a number, not NaN.

    It is a multiple of `grain`, a power of two, which is 0 where none is known.
    """

    low: float
    high: float
    is_number: bool
    grain: float = 0.0

    @property
    def is_finite(self) -> bool:
        """Whether it is never infinite or NaN."""
        return self.is_number and math.isfinite(self.low) and math.isfinite(self.high)


_MOST_GRAIN = 2.0**60

UNKNOWN = Bounds(-math.inf, math.inf, False)


def around(values: list[float], dtype: DType, grain: float = 0.0) -> Bounds:
    """Return the bounds of numbers that are rounded to a dtype and lie, before that, between exact values."""
    low, high = min(values), max(values)
    made = dtype.np.type
    with np.errstate(over="ignore"):
        least, most = np.nextafter(made(low), made(-np.inf)), np.nextafter(made(high), made(np.inf))
    # A rounded number is still a multiple of the grain: the digits that it keeps count for more, or it keeps all.
    return Bounds(
        max(float(least), 0.0) if low >= 0 else float(least),
        min(float(most), 0.0) if high <= 0 else float(most),
        True,
        grain,
    )


def grain_of(number: float) -> float:
    """Return the largest power of two, up to 2**60, that divides a finite number.

    Examples
    --------
    >>> grain_of(1.5), grain_of(20.0), grain_of(0.0) == 2.0**60
    (0.5, 4.0, True)
    """
    top, bottom = number.as_integer_ratio()
    return min((top & -top) / bottom, _MOST_GRAIN) if top else _MOST_GRAIN


_Two = Callable[[float, float], float]


def _corners(function: _Two, grain: _Two = lambda _x, _y: 0.0) -> Callable[[DType, Bounds, Bounds], Bounds]:
    """Return the bounds of a function of two finite numbers that is monotonic in each, and of the result's grain."""

    def bounds(dtype: DType, x: Bounds, y: Bounds) -> Bounds:
        if not (x.is_finite and y.is_finite):
            return UNKNOWN
        values = [function(one, other) for one in (x.low, x.high) for other in (y.low, y.high)]
        made = grain(x.grain, y.grain)
        return around(values, dtype, made) if all(map(math.isfinite, values)) else UNKNOWN

    return bounds


def divide(dtype: DType, x: Bounds, y: Bounds) -> Bounds:
    if y.low <= 0 <= y.high:
        return UNKNOWN
    # By a power of two a quotient is exact.
    by_power = y.low == y.high and math.frexp(y.low)[0] in (0.5, -0.5)
    grain = x.grain / abs(y.low) if by_power else 0.0
    return _corners(lambda value, by: value / by, lambda _x, _y: grain)(dtype, x, y)


def absolute(_: DType, x: Bounds) -> Bounds:
    low, high = sorted((abs(x.low), abs(x.high)))
    return Bounds(0.0 if x.low <= 0 <= x.high else low, high, x.is_number, x.grain)


def square(dtype: DType, x: Bounds) -> Bounds:
    size = absolute(dtype, x)
    return multiply(dtype, size, size)


def square_root(dtype: DType, x: Bounds) -> Bounds:
    if not (x.is_finite and x.low >= 0):
        return UNKNOWN
    return around([math.sqrt(x.low), math.sqrt(x.high)], dtype)


def _whole(function: Callable[[float], float]) -> Callable[[DType, Bounds], Bounds]:
    """Return the bounds of a function that rounds to whole numbers, whose results are exact in the dtype."""

    def rounded(value: float) -> float:
        return function(value) if math.isfinite(value) else value

    return lambda _, x: Bounds(float(rounded(x.low)), float(rounded(x.high)), x.is_number, max(x.grain, 1.0))


def clip(_: DType, x: Bounds, low: Bounds, high: Bounds) -> Bounds:
    least, most, grain = max(x.low, low.low), max(x.high, low.high), min(x.grain, low.grain, high.grain)
    return Bounds(min(least, high.low), min(most, high.high), all(one.is_number for one in (x, low, high)), grain)


def minimum(_: DType, x: Bounds, y: Bounds) -> Bounds:
    return Bounds(min(x.low, y.low), min(x.high, y.high), x.is_number and y.is_number, min(x.grain, y.grain))


def maximum(_: DType, x: Bounds, y: Bounds) -> Bounds:
    return Bounds(max(x.low, y.low), max(x.high, y.high), x.is_number and y.is_number, min(x.grain, y.grain))


def either(_: DType, x: Bounds, y: Bounds) -> Bounds:
    return Bounds(min(x.low, y.low), max(x.high, y.high), x.is_number and y.is_number, min(x.grain, y.grain))


def negative(_: DType, x: Bounds) -> Bounds:
    return Bounds(-x.high, -x.low, x.is_number, x.grain)


def same(_: DType, x: Bounds) -> Bounds:
    return x


add, subtract = _corners(lambda x, y: x + y, min), _corners(lambda x, y: x - y, min)
multiply = _corners(lambda x, y: x * y, lambda x, y: x * y)
floor, ceil, trunc, rint = _whole(math.floor), _whole(math.ceil), _whole(math.trunc), _whole(round)


def bounds_function(name: str) -> Callable[..., Bounds] | None:
    """Return the function that a row names, or None where it names none."""
    function: Callable[..., Bounds] | None = globals()[name] if name else None
    return function
