"""The ranges of integers: the numbers that an op's result lies between, from the ranges of its operands.

In: a range for each operand, the least and the largest number.  Out: the result's, or None where nothing is known.

    multiply((-2, 3), (0, 10))   ->   (-20, 30)

Numbers here have no width: the caller has to check that a result fits its dtype, since it wraps otherwise. Rows name
these functions (:class:`.facts.IntegerFacts`).
"""

from __future__ import annotations

from collections.abc import Callable

__all__ = ["Range", "range_of"]

Range = tuple[int, int]


def range_of(name: str) -> Callable[..., Range | None] | None:
    """Return the function that a row names, or None where it names none.

    Examples
    --------
    >>> range_of("bitwise_and")((-5, 9), (0, 7))
    (0, 7)
    """
    function: Callable[..., Range | None] | None = globals()[name] if name else None
    return function


def _corners(function: Callable[[int, int], int]) -> Callable[..., Range]:
    """Return the range of a function that is monotonic in each operand."""

    def range_of(x: Range, y: Range) -> Range:
        values = [function(one, other) for one in x for other in y]
        return min(values), max(values)

    return range_of


multiply = _corners(lambda x, y: x * y)


def add(x: Range, y: Range) -> Range:
    return x[0] + y[0], x[1] + y[1]


def subtract(x: Range, y: Range) -> Range:
    return x[0] - y[1], x[1] - y[0]


def negative(x: Range) -> Range:
    return -x[1], -x[0]


def square(x: Range) -> Range:
    low, high = sorted(map(abs, x))
    return (0 if x[0] <= 0 <= x[1] else low * low), high * high


def absolute(x: Range) -> Range:
    low, high = sorted(map(abs, x))
    return (0 if x[0] <= 0 <= x[1] else low), high


def sign(x: Range) -> Range:
    return (x[0] > 0) - (x[0] < 0), (x[1] > 0) - (x[1] < 0)


def bitwise_and(x: Range, y: Range) -> Range:
    positive = [high for low, high in (x, y) if low >= 0]
    return (0, min(positive)) if positive else bitwise_or(x, y)


def bitwise_or(x: Range, y: Range) -> Range:
    """Return the range of the bits of both operands; with a negative operand the result may be negative."""
    bits = max((value if value >= 0 else ~value).bit_length() for value in (*x, *y))
    return (0 if min(x[0], y[0]) >= 0 else -(1 << bits)), (1 << bits) - 1


def floor_divide(x: Range, y: Range) -> Range:
    if y[0] > 0:
        return _corners(lambda value, by: value // by)(x, y)
    # A quotient by 0 is 0, and one by -1 is the negative.
    most = max(map(abs, x))
    return -most, most


def remainder(x: Range, y: Range) -> Range:
    """Return the range of a remainder, which has the sign of the divisor; by 0 it is 0."""
    if y[0] >= 0 and x[0] >= 0:
        return 0, max(0, min(x[1], y[1] - 1))
    return min(0, y[0] + 1), max(0, y[1] - 1)


def right_shift(x: Range, y: Range) -> Range:
    """Return the range of a right shift; a count outside of the width leaves only the sign."""
    if y[0] == y[1] >= 0:
        return x[0] >> y[0], x[1] >> y[0]
    return min(x[0], 0 if x[0] >= 0 else -1, x[0] >> 64), max(x[1], x[1] >> 64)


def left_shift(x: Range, y: Range) -> Range | None:
    return (x[0] << y[0], x[1] << y[0]) if 0 <= y[0] == y[1] < 64 else None


def minimum(x: Range, y: Range) -> Range:
    return min(x[0], y[0]), min(x[1], y[1])


def maximum(x: Range, y: Range) -> Range:
    return max(x[0], y[0]), max(x[1], y[1])


def same(x: Range) -> Range:
    return x


def clip(x: Range, low: Range, high: Range) -> Range:
    return minimum(maximum(x, low), high)


def where(_: Range, x: Range, y: Range) -> Range:
    return min(x[0], y[0]), max(x[1], y[1])


bitwise_xor = bitwise_or
