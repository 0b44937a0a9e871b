"""Drops checks of a nest that the checks of earlier nests imply: what a claim proves reaches the nests behind it.

In: a program with guards.  Out: the same program with fewer checks.

    check-only nest: %mid.0 = 5 = d0; nest 1: r.0 = 5 = d0   ->   nest 1 does not compare r.0

All checks of a nest, and of those before it, run before its loops, and the first that fails ends the call. A check is
dropped only if a chain of facts leads to it without it, among them one of an earlier nest; `listing` gives this chain
as the reason. Checks that their own nest implies are left to inference, which decides in which order they are asked.
"""

from __future__ import annotations

from ...core.frozen import replace
from ...shape.constraints import Constraint, RankAtLeast, RankIs, SameRank
from ...shape.decision import Decision
from ..guard_program.ir import Check
from ..nest import LoopProgram
from .build import build_guards
from .chains import chain_of
from .premises import GuardFacts

__all__ = ["without_implied"]

# Dims mean nothing in arrays of other ranks, so each nest asks for the ranks that its steps rely on.
_RANKS = (RankIs, RankAtLeast, SameRank)
# With more nests than this, the search costs more than it can gain.
_MOST_NESTS = 8


def without_implied(program: LoopProgram) -> LoopProgram:
    """Return a program without the checks that earlier nests' checks imply.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> kernel = from_text("(f32[?] a, f32[?] b) -> (a, a + b)")
    >>> print(without_implied(kernel.compilation.program).guards.nests[1].results)
    (Overflow(subject=3, size=4),)
    """
    if not 1 < len(program.nests) <= _MOST_NESTS:
        return program
    for at in range(1, len(program.nests)):
        for constraint in _asked(program, at):
            fewer = _without(program, at, constraint)
            if _is_implied(fewer, at, constraint):
                program = fewer
    return program


def _asked(program: LoopProgram, at: int) -> list[Constraint]:
    """Return the constraints to try: those on reduced values come first, since no caller gives their shapes."""
    reduced_operands = {program.guards.named[one.operand] for one in program.guards.reduced}
    every = program.nests[at].domain.constraints
    found: list[Constraint] = [one for one in reversed(every) if not isinstance(one, _RANKS)]
    of_made = [one for one in found if getattr(one, "operand", None) in reduced_operands]
    return [*of_made, *(one for one in found if one not in of_made)] if _may_profit(program, at) else of_made


def _may_profit(program: LoopProgram, at: int) -> bool:
    """Whether implied checks are likely: an earlier nest compares declared extents, or reads all operands of this one.

    The search takes milliseconds, which a kernel of several unrelated results should not cost.
    """
    own, before = set(program.guards.nests[at].operands), program.guards.nests[:at]
    declared = any(isinstance(step, Check) for guards in before for step in guards.results)
    return declared or any(own <= set(guards.operands) for guards in before)


def _without(program: LoopProgram, at: int, constraint: Constraint) -> LoopProgram:
    nest = program.nests[at]
    decisions = tuple(
        Decision(constraint, "proved") if one.constraint == constraint and one.fate == "checked" else one
        for one in nest.domain.decisions
    )
    nest = replace(nest, domain=replace(nest.domain, decisions=decisions))
    nests = (*program.nests[:at], nest, *program.nests[at + 1 :])
    guards = build_guards(program.operands, program.results, program.claims, nests, program.guards.constants)
    return replace(program, nests=nests, guards=replace(guards, reduced=program.guards.reduced))


def _is_implied(program: LoopProgram, at: int, constraint: Constraint) -> bool:
    """Whether the guards that are left imply a constraint of a nest, with the help of an earlier nest."""
    facts = GuardFacts(program)
    chain = chain_of(facts, at, constraint, is_short=False)
    if chain is None or program.guards.reduced:
        # What a reduction gives is made by an earlier nest.
        return chain is not None
    chain = chain_of(facts, at, constraint)
    return chain is not None and any(one.nest < at for one in chain.premises)
