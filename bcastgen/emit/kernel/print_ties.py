"""Prints the guards between nests: dims of results and type assertions that share a symbol but not a domain function.

In: a guard program and the views of its nests.  Out: :class:`TieView` values.

    nest 0: %0 is f32[k]; nest 1: r is f32[k]   ->   r's dim 0 against the extents that nest 0 has written
"""

from __future__ import annotations

from ...loops.guard_program.ir import DomainDim, GuardProgram
from .model import NestView, TiedDimView, TieView
from .print_guards import Members

__all__ = ["ties_of"]


def ties_of(guards: GuardProgram, nests: tuple[NestView, ...], members: Members) -> tuple[TieView, ...]:
    """Return the pairs of dims of different nests that share a symbol and that only the run time can compare."""
    found = []
    for tie in guards.ties:
        assert isinstance(tie.actual, DomainDim)
        assert isinstance(tie.expected, DomainDim)
        assert isinstance(tie.against, int)
        pairs = ((tie.subject, tie.actual), (tie.against, tie.expected))
        checked, against = (_place(guards, nests, members.number(number), number, dim) for number, dim in pairs)
        found.append(TieView(checked, against, tie.symbol))
    return tuple(found)


def _place(guards: GuardProgram, nests: tuple[NestView, ...], spelled: str, number: int, dim: DomainDim) -> TiedDimView:
    result = number - guards.operands
    return TiedDimView(spelled, result if result < len(guards.stored) else -1, dim.at, nests[dim.nest].name)
