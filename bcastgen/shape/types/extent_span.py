"""Bounds on extents that are computed from names, and what they decide: whether two are equal, or one is less.

In: extents (extent_expr.py).  Out: a :class:`Span`, or a verdict: True for all extents of the names, False for none of
them, None where it is open.

    2*n + 1 -> 1 more than a multiple of 2, so never 4        n + 1 is less than n + 2

Each term is bounded on its own, so a span may be wider than the numbers that occur.
"""

from __future__ import annotations

from itertools import product
from math import gcd, prod

from ...core.frozen import dataclass
from .extent_expr import Atom, Extent, Name, subtract

__all__ = ["Span", "is_at_most", "is_less", "is_same", "span"]


@dataclass(frozen=True, slots=True)
class Span:
    """Where an extent lies: from `low` to `high`, `rest` more than a multiple of `step`; `step` is 0 for one number.

    Examples
    --------
    >>> from bcastgen.shape.types.facts import Range
    >>> from bcastgen.shape.types.extent_expr import add, multiply, named
    >>> span(add(multiply(named("n", Range(1, 8)), 4), 1)), span(7)
    (Span(low=5, high=33, step=4, rest=1), Span(low=7, high=7, step=0, rest=7))
    """

    low: int
    high: int
    step: int = 1
    rest: int = 0

    @staticmethod
    def of(low: int, high: int, step: int, rest: int) -> Span:
        """Return the span with both ends moved inwards to numbers that it has."""
        if low == high or step == 0:
            return Span(low, high, 0, low)
        low, high = low + (rest - low) % step, high - (high - rest) % step
        return Span(low, high, step, rest % step) if low < high else Span(low, low, 0, low)

    @property
    def divisor(self) -> int:
        """The greatest common divisor of `step` and `rest`, which divides all numbers in it; 0 if there is only 0."""
        return gcd(self.step, self.rest)

    def has(self, number: int) -> bool:
        """Tell whether a number is in it."""
        return self.low <= number <= self.high and (
            number == self.rest if self.step == 0 else (number - self.rest) % self.step == 0
        )

    def contains(self, other: Span) -> bool:
        """Tell whether all numbers of another span are in it."""
        ends = self.has(other.low) and self.has(other.high)
        return ends and (other.step == 0 or (self.step > 0 and other.step % self.step == 0))


def span(extent: Extent) -> Span:
    """Return the bounds on an extent that follow from the ranges of its names, term by term."""
    if isinstance(extent, int):
        return Span(extent, extent, 0, extent)
    low = high = step = rest = 0
    for factors, coefficient in extent.terms:
        one = _term_span([_atom_span(atom) for atom in factors], coefficient)
        low, high, step, rest = low + one.low, high + one.high, gcd(step, one.step), rest + one.rest
    return Span.of(low, high, step, rest)


def _term_span(spans: list[Span], coefficient: int) -> Span:
    if len(spans) == 1:
        step, rest = abs(coefficient) * spans[0].step, coefficient * spans[0].rest
    else:
        step, rest = abs(coefficient) * prod(one.divisor for one in spans), 0
    ends = [coefficient * prod(corner) for corner in product(*((one.low, one.high) for one in spans))]
    return Span.of(min(ends), max(ends), step, rest)


def _atom_span(atom: Atom) -> Span:
    if isinstance(atom, Name):
        return Span.of(atom.range.low, atom.range.high, atom.range.step, 0)
    spans = [span(operand) for operand in atom.operands]
    if atom.is_quotient:
        ends = [x // y for x in (spans[0].low, spans[0].high) for y in (spans[1].low, spans[1].high)]
        return Span.of(min(ends), max(ends), 1, 0)
    lows, highs = [one.low for one in spans], [one.high for one in spans]
    low = max(lows) if atom.kind == "max" else min(lows)
    high = min(highs) if atom.kind == "min" else max(highs)
    step, rest = 0, spans[0].rest
    for one in spans:
        step = gcd(step, one.step, one.rest - rest)
    return Span.of(low, high, step, rest)


def is_same(a: Extent, b: Extent) -> bool | None:
    """Tell whether two extents are equal for all extents of their names, or for none; None otherwise."""
    if a == b:
        return True
    if isinstance(a, int) and isinstance(b, int):
        return False
    difference = subtract(a, b)
    return None if difference is None or span(difference).has(0) else False


def is_less(a: Extent, b: Extent) -> bool | None:
    """Tell whether an extent is less than another for all extents of their names, or for none; None otherwise."""
    difference = subtract(b, a)
    if difference is None:
        return None
    where = span(difference)
    return True if where.low > 0 else False if where.high <= 0 else None


def is_at_most(a: Extent, b: Extent) -> bool | None:
    """Tell whether an extent is at most another for all extents of their names, or for none; None otherwise."""
    less = is_less(b, a)
    return None if less is None else not less
