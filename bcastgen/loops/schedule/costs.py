"""Costs: about how long each statement of a nest takes, as the rows of ops say.

In: a nest.  Out: tenths of a nanosecond a point, one number a statement.

    t0 = exp(a) : f32; t1 = add(t0, b) : f32   ->   (3.0, 0.4)
"""

from __future__ import annotations

from ..nest import Nest
from ..rewrites.strength_reduction import without_division

__all__ = ["costs_of", "nanoseconds", "total", "whole_tenths"]


def costs_of(nest: Nest) -> tuple[float, ...]:
    """Return what each statement of a nest's body costs a point, in tenths of a nanosecond."""
    return tuple(s.op.cost_for(s.operand_dtypes, s.dtype, s.constant) for s in map(without_division, nest.body))


def total(costs: tuple[float, ...], statements: frozenset[int]) -> float:
    """Return what some statements cost together; always in one order, as floats are added."""
    return sum(costs[at] for at in sorted(statements))


def whole_tenths(cost: float) -> int:
    """Return a cost as a whole number of tenths of a nanosecond, at least one."""
    return max(1, round(cost))


def nanoseconds(cost: float) -> str:
    """Spell a cost."""
    return f"{cost / 10:.2f} ns"
