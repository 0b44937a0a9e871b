"""Guards without those of operands that the kernel makes itself, as reductions do.

In: the guards of a nest, and the numbers of these operands.  Out: the guards that are left.

    %2.rank = 2; %2.0 = 1; meet %1.0 at d0, without 2   ->   meet %1.0 at d0
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet

from ...core.frozen import replace
from .ir import (
    Calc,
    Check,
    Const,
    Define,
    HasDomainRank,
    HasRank,
    Meet,
    MeetFront,
    NestGuards,
    NotNegative,
    Own,
    Step,
    Term,
    Widen,
)

__all__ = ["without_given"]


def without_given(guards: NestGuards, given: AbstractSet[int]) -> NestGuards:
    """Return guards that ask nothing which holds of these operands anyway, and list them only where they are read."""
    entry = tuple(step for step in guards.entry if not _holds_of(step, given))
    left = replace(guards, entry=entry, steps=tuple(step for step in guards.steps if not _holds_of(step, given)))
    read = {operand for step in left.all_steps for operand in _operands_of(step)}
    return replace(left, operands=tuple(at for at in guards.operands if at not in given or at in read))


def _holds_of(step: Step, given: AbstractSet[int]) -> bool:
    """Whether a step asks for a rank, a sign, or an extent of 1 of one of these operands, which was made with it."""
    match step:
        case HasRank(operand=at) | NotNegative(term=Own(operand=at)):
            return at in given
        case Check(test="eq", actual=Own(operand=at), expected=Const(1)):
            return at in given
    return False


def _operands_of(step: Step) -> frozenset[int]:
    """Return the operands whose shapes a step reads."""
    match step:
        case HasRank(operand=at) | HasDomainRank(operand=at) | MeetFront(operand=at):
            return frozenset({at})
        case NotNegative(term=term) | Define(term=term) | Meet(term=term) | Widen(term=term):
            return _named_by(term)
        case Check(actual=actual, expected=expected):
            return _named_by(actual) | _named_by(expected)
    return frozenset()


def _named_by(term: Term) -> frozenset[int]:
    match term:
        case Own(operand=at):
            return frozenset({at})
        case Calc(places=places):
            return frozenset(own.operand for _, own in places)
    return frozenset()
