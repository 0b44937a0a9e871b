"""Costs: estimates of how long each statement of a nest takes, from the rows of ops.

In: a nest.  Out: one number for each statement, in tenths of a nanosecond a point.

    t0 = exp(a) : f32; t1 = add(t0, b) : f32   ->   (3.0, 0.4)
"""

from __future__ import annotations

from ..nest import Nest
from ..rewrites.strength_reduction import without_division

__all__ = ["costs_of", "nanoseconds", "total", "whole_tenths"]


def costs_of(nest: Nest) -> tuple[float, ...]:
    """Return the cost of each statement of a nest's body, in tenths of a nanosecond a point."""
    return tuple(s.op.cost_for(s.operand_dtypes, s.dtype, s.constant) for s in map(without_division, nest.body))


def total(costs: tuple[float, ...], statements: frozenset[int]) -> float:
    """Return the sum of some statements' costs; always added in one order, as sums of floats depend on it."""
    return sum(costs[at] for at in sorted(statements))


def whole_tenths(cost: float) -> int:
    """Return a cost as a whole number of tenths of a nanosecond, at least one."""
    return max(1, round(cost))


def nanoseconds(cost: float) -> str:
    """Return a cost as text, in nanoseconds."""
    return f"{cost / 10:.2f} ns"
