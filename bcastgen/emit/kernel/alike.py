"""Finds guards that are the same for each array of a nest, so that C writes them once, in a loop over the arrays.

In: the guards of a nest; its arrays.  Out: whether such loops will do.

    a.rank = 2; b.rank = 2; meet(a); meet(b)   ->   for each operand: rank = 2; for each operand, each dim: meet
"""

from __future__ import annotations

from collections.abc import Sequence

from ...loops.guard_program.ir import Calc, Check, DomainDim, HasRank, Meet, NestGuards, Own
from .loop_model import ArrayView

__all__ = ["all_alike", "in_a_row"]


def all_alike(operands: int, nest: NestGuards) -> bool:
    """Whether the nest's operands are the kernel's first, every dim of them meets the others', and no more is checked.

    Parameters
    ----------
    operands : the number of operands.
    nest : the nest's guards.
    """
    rank = nest.least_rank
    ranks = tuple(HasRank(at, rank, True) for at in range(operands))
    meets = [(Own(at, dim), dim, True) for at in range(operands) for dim in range(rank)]
    return (
        nest.entry == ranks
        and not nest.defines
        and [(s.term, s.at, s.aligned) for s in nest.steps if isinstance(s, Meet)] == meets
        and len(nest.steps) == len(meets)
        and not any(
            isinstance(s, Check) and (isinstance(s.expected, (Own, Calc)) or isinstance(s.against, DomainDim))
            for s in nest.results
        )
    )


def in_a_row(arrays: Sequence[ArrayView]) -> bool:
    """Whether the arrays of a nest are the kernel's first ones, in order, so that their indices are their numbers.

    False for few arrays, or arrays of different ranks or checks, which C handles one by one.
    """
    ranks = {array.rank for array in arrays}
    checks = {array.checked for array in arrays}
    numbers = [array.number for array in arrays]
    if len(arrays) <= 2 or len(ranks) > 1 or len(checks) > 1:
        return False
    return numbers == list(range(len(arrays))) and not ranks & {None, 0}
