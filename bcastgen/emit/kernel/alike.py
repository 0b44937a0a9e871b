"""Which checks of a nest are told once, in a loop over its arrays, since they are the same for each.

In: what a domain function does, step by step; the arrays of a nest.  Out: what the loops need to know.

    a.rank = 2; b.rank = 2; meet(a); meet(b)   ->   for each operand: rank = 2; for each operand, each dim: meet
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .checks import Step
from .loop_model import ArrayView

if TYPE_CHECKING:
    from .model import NestView

__all__ = ["all_alike", "in_a_row"]


def all_alike(operands: Sequence[str], rank: int, nest: NestView) -> bool:
    """Whether every dim of operands of a domain's rank meets the others', and no more is asked of any.

    Parameters
    ----------
    operands : C names of the kernel's first ones.
    rank : of the domain.
    nest : what its domain function does.
    """
    extents, setters = (" = ".join(f"{name}[{dim}]" for dim in range(rank)) for name in ("extents", "from"))
    asked = [
        Step(*pair)
        for at, name in enumerate(operands)
        for pair in (
            (f"{name}->rank != {rank}", f"BCG_RANK, {at}, -1, -1, {rank}, {name}->rank"),
            (f"{name}->extents == NULL", f"BCG_NULL_EXTENTS, {at}, -1, -1, 0, {name}->rank"),
        )
    ]
    met = [Step(meet=f"bcg_meet({name}, {at}, 0, {rank}, {rank}") for at, name in enumerate(operands)]
    rest = nest.steps[len(met) :]
    return (
        (list(nest.guards), list(nest.steps[: len(met)])) == (asked, met)
        and nest.starts == ((f"{extents} = 1;",), (f"{setters} = -1;",))
        and not any(step.meet or step.widen or "->" in step.condition + step.facts for step in rest)
    )


def in_a_row(arrays: Sequence[ArrayView]) -> bool:
    """Whether the arrays of a nest are the kernel's first ones, in order, so that a place is a position.

    They are told one by one where they are few, or of different ranks.
    """
    ranks = {array.rank for array in arrays}
    positions = [array.position for array in arrays]
    return positions == list(range(len(arrays))) and len(arrays) > 2 and len(ranks) == 1 and not ranks & {None, 0}
