"""Infers the domain that uses span, and decides the fate of every constraint on them.

In: uses and rules.  Out: a :class:`Solution`, or an error if no extents satisfy the constraints.

    a: f32[n>=2, 4], b: f32[?, 1] -> [n>=2, 4], a.0 >= 2 checked, a.0 in {1, d0} proved, b.0 in {1, d0} checked, ...
    a: f32[n>=8], b: f32[?<=4]    -> [n>=8], b.0 in {1, d0} checked: b stretches, or the call is refused
    a: f32[n>=8], b: f32[m<=4!]   -> BroadcastError("operand 'b' dim 0 is <=4, expected >=8 (from 'a') ...")
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from ...core.errors import rank_mismatch
from ...core.frozen import dataclass
from ..decision import Decision
from ..types.dim import Dim
from ..types.facts import Facts, Range
from .contradictions import check_extents, check_targets, refuted
from .decide import Axioms, Proofs, axioms, decide, stretching, tied
from .dim_uses import AlignedDims, DimUse, dim_uses_of, domain_dims_of, first_occurrences, symbol_facts
from .entailment import Clause, Work, known, possible
from .obligations import Candidate, Problem, candidates, rank_candidates
from .operand_use import OperandDim, Use
from .stretch_rules import Rules

__all__ = ["Solution", "check_ranks", "solve"]


@dataclass(frozen=True, slots=True)
class Solution:
    """What is known of the operands and the domain, the fate of each constraint, and which dims may stretch.

    `clauses` has all constraints, and the axioms on the domain's extents.
    """

    problem: Problem
    decisions: tuple[Decision, ...]
    stretching: frozenset[tuple[str, int, int]]
    facts: Facts
    clauses: tuple[Clause, ...]


def check_ranks(uses: Sequence[Use]) -> None:
    """Raise where types have different ranks; for kernels without rank expansion.

    Types of rank 0 are scalars, which go with any rank. Uses with positions are aligned already.
    """
    bound = [use for use in uses if use.type.rank != 0 and use.positions is None and not use.is_target_shape]
    ranks = [use.type.rank for use in bound if use.type.rank is not None]
    for use in bound:
        if ranks and (len(use.type.dims) > ranks[0] or use.type.rank not in (None, ranks[0])):
            raise rank_mismatch(use.name, len(use.type.dims), ranks[0])


# Each declared result of a call repeats the inference for the same operands.
@lru_cache(maxsize=256)
def solve(uses: tuple[Use, ...], rules: Rules, entry: bool, homes: tuple[tuple[str, OperandDim], ...] = ()) -> Solution:
    """Infer the domain and decide all constraints; `homes` has the places of symbols that no use has.

    Raises
    ------
    BroadcastError
        If no extents satisfy all constraints.
    """
    rank = max(use.span for use in uses)
    symbols = first_occurrences(uses, rules, dict(homes))
    dim_uses = dim_uses_of(uses, rules, symbols, rank)
    facts = symbol_facts(dim_uses)
    domain_dims = {domain_dim.position: domain_dim for domain_dim in domain_dims_of(dim_uses, facts, rank)}
    check_targets(dim_uses)
    check_extents(dim_uses)
    unranked = any(use.type.unranked for use in uses)
    dims, places = _dims(domain_dims, facts, rank), dict(homes)
    problem = Problem(uses, dim_uses, symbols, facts, domain_dims, dims, unranked, places)
    found = candidates(problem, entry)
    ranks = rank_candidates(uses, entry, rules.rank_expansion)
    ties = tied(dim_uses, tuple(domain_dims.values()))
    if not ties:
        asked = (*axioms(problem, Facts()).clauses, *_clauses(found))
        return Solution(problem, decide([*ranks, *found], problem, ties), stretching(problem, ties), facts, asked)
    given = axioms(problem, Facts() if entry else _declared(dim_uses, facts))
    work = Work()
    closure = _closure(found, problem, given, work)
    dims = _dims(domain_dims, closure, rank)
    problem = Problem(uses, dim_uses, symbols, facts, domain_dims, dims, unranked, places)
    found = candidates(problem, entry)
    proofs = Proofs(given, tuple(_clauses(found)), closure, work)
    decisions = decide([*ranks, *found], problem, ties, proofs)
    clauses = (*given.clauses, *proofs.asked)
    return Solution(problem, decisions, stretching(problem, ties, proofs), closure, clauses)


def _declared(dim_uses: Sequence[Sequence[DimUse]], facts: Facts) -> Facts:
    """Return the ranges that types declare, without the equality of symbols, which is a constraint of its own."""
    declared = Facts()
    for dim_use in (dim_use for row in dim_uses for dim_use in row if dim_use.dim.extent is None):
        declared = declared.within(dim_use.node, facts.range(dim_use.node)) or declared
    return declared


def _dim(domain_dim: AlignedDims, facts: Facts, position: int) -> Dim:
    """Return the domain's dim with what is known of it."""
    setter = domain_dim.setter
    if setter is not None and setter.dim.is_static:
        return Dim(setter.dim.extent)
    if setter is not None:
        return _open(setter.dim.symbol, facts.range(setter.node))
    live = domain_dim.live
    if not live:
        return Dim(1)
    range_ = facts.range(live[0].node)
    if all(facts.same(dim_use.node, live[0].node) for dim_use in live[1:]):
        return _open(live[0].dim.symbol, range_)
    for dim_use in live[1:]:
        range_ = range_.hull(facts.range(dim_use.node))
    return _open(None, facts.range(position).meet(range_) or range_)


def _open(symbol: str | None, range_: Range) -> Dim:
    """Return a dim of unknown extent; it stays unknown if checks leave it one extent, since they have to compare it."""
    return Dim.within(symbol, range_ if symbol is not None or range_.only is None else Range(range_.low))


def _dims(domain_dims: Mapping[int, AlignedDims], facts: Facts, rank: int) -> tuple[Dim, ...]:
    return tuple(_dim(domain_dims[position], facts, position) for position in range(rank, 0, -1))


def _closure(found: Sequence[Candidate], problem: Problem, given: Axioms, work: Work) -> Facts:
    """Return the facts that follow from all candidates, or raise for the first that contradicts those before it."""
    clauses = [*given.clauses, *_clauses(found)]
    reached = known(given.facts, clauses, work)
    if reached is not None and possible(*reached, work):
        return reached[0]
    # Find the first candidate that contradicts those before it; only the message depends on it.
    work = Work()
    for count in range(1, len(found)):
        if not possible(given.facts, [*given.clauses, *_clauses(found[:count])], work):
            break
    else:
        count = len(found)
    before = known(given.facts, [*given.clauses, *_clauses(found[: count - 1])], work)
    raise refuted(found[count - 1], problem, given.facts if before is None else before[0])


def _clauses(found: Sequence[Candidate]) -> Iterator[Clause]:
    return (clause for candidate in found for clause in candidate.clauses)
