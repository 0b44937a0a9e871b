"""Which constraints types leave undecided: exactly those that some run-time extents would break.

In: everything that is asked of the operands.  Out: each constraint's fate.

    a: f32[?, 4], b: f32[5, 1], domain [5, 4] -> a.0 in {1, 5} is checked, the rest is proved
    a: f32[?], b: f32[1], domain [?]          -> nothing is checked: b stretches whatever a is
    a: f32[n>=2], b: f32[?], domain [n]       -> a.0 in {1, d0} is proved: n>=2 sets d0; b.0 in {1, d0} is checked

An operand says one of four things of a dim of the domain: nothing (it has a 1 there, or no such dim), a known extent, a
named one, or an unknown one of its own. If two operands say different things, the dim is contested, and each operand
of unknown extent needs a check there. This suffices while each extent meets others in one dim only. Where extents are
tied (by facts, a symbol or an operand in two dims, an explicit broadcast), a constraint is checked unless the others
imply it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from ...core.frozen import dataclass
from ..constraints import (
    AtLeast,
    AtMost,
    Computed,
    Equals,
    EqualsAll,
    EqualsExtent,
    ExtentIs,
    Fits,
    MultipleOf,
    RankAtLeast,
    RankIs,
    SameExtent,
    SameRank,
    Stretches,
    StretchesAll,
)
from ..decision import Decision
from ..types.dim import Dim
from ..types.facts import Facts, Range
from .dim_uses import AlignedDims, DimUse
from .entailment import Atom, Clause, Work, breakable, with_nodes
from .obligations import Candidate, Problem

__all__ = ["Axioms", "Proofs", "axioms", "decide", "stretching", "tied"]

_ONE = Range(1, 1)
_GAVE_UP = "whether what else is checked implies it takes too long to tell"


@dataclass(frozen=True, slots=True)
class Axioms:
    """What holds without a check: clauses that define the domain's extents, and facts on operands."""

    facts: Facts
    clauses: tuple[Clause, ...]


@dataclass(frozen=True, slots=True)
class Proofs:
    """What proofs start from: axioms, the clauses of all candidates, and the facts that follow from both.

    All proofs draw on one budget, `work`.
    """

    axioms: Axioms
    asked: tuple[Clause, ...]
    closure: Facts
    work: Work


def tied(dim_uses: Sequence[Sequence[DimUse]], domain_dims: Sequence[AlignedDims]) -> frozenset[int]:
    """Return the positions where extents are tied (module docstring), so that constraints there need proofs."""
    flat = [dim_use for row in dim_uses for dim_use in row]
    spread = Counter(
        key for key, _ in {(dim_use.key, dim_use.position) for dim_use in flat if dim_use.dim.extent is None}
    )
    # The extents that others are explicitly broadcast to.
    aims = {dim_use.target.value if isinstance(dim_use.target, Dim) else dim_use.target for dim_use in flat} - {None}
    found = {
        dim_use.position
        for dim_use in flat
        if dim_use.target is not None
        or dim_use.stretch_mode != "numpy"
        or (dim_use.dim.extent is None and (not dim_use.dim.is_plain or spread[dim_use.key] > 1))
        or not aims.isdisjoint((dim_use.dim.symbol, dim_use.place))
    }
    if found and any(dim_use.front for dim_use in flat):
        return frozenset(domain_dim.position for domain_dim in domain_dims)
    return frozenset(found)


def axioms(problem: Problem, assumed: Facts) -> Axioms:
    """Return clauses that define each dim of the domain: as its setter, or an operand that is not 1 there, or 1."""
    facts = assumed
    clauses: list[Clause] = []
    for domain_dim in problem.domain_dims.values():
        position = domain_dim.position
        if domain_dim.setter is not None:
            clauses.append(((Atom("same", position, domain_dim.setter.node),),))
            continue
        nodes = list(dict.fromkeys(dim_use.node for dim_use in domain_dim.dim_uses if not dim_use.is_silent))
        ones = tuple(Atom("same", node, _ONE) for node in (position, *nodes))
        some = [(Atom("same", position, node), Atom("differ", node, _ONE)) for node in nodes]
        clauses.append((*some, ones))
    for dim_use in (dim_use for row in problem.dim_uses for dim_use in row if dim_use.dim.extent is not None):
        facts = facts.equals(dim_use.node, dim_use.dim.extent or 0) or facts
    return Axioms(facts, tuple(clauses))


def decide(
    found: Sequence[Candidate], problem: Problem, ties: frozenset[int], proofs: Proofs | None = None
) -> tuple[Decision, ...]:
    """Return the fate of each candidate.

    Parameters
    ----------
    found : all candidates, in order.
    problem : what is known of the operands.
    ties : the positions that :func:`tied` returned.
    proofs : needed if there are any ties.
    """
    proved = {at for at, candidate in enumerate(found) if _is_obvious(candidate, problem, ties)}
    open_: frozenset[int] = frozenset()
    if proofs is not None:
        implied, open_ = _implied(found, proved, ties, proofs)
        proved |= implied
    return tuple(
        Decision(candidate.constraint, "proved")
        if at in proved
        else Decision(candidate.constraint, "trusted", "the caller vouches for it")
        if candidate.trusted
        else Decision(candidate.constraint, "checked", _GAVE_UP if at in open_ else _why_checked(candidate))
        for at, candidate in enumerate(found)
    )


def _implied(
    found: Sequence[Candidate], proved: set[int], ties: frozenset[int], proofs: Proofs
) -> tuple[set[int], frozenset[int]]:
    """Return the candidates that others imply, and those for which the budget was too small.

    The last candidate is tried first, and declared facts after all others.
    """
    kept = [at for at in range(len(found)) if at not in proved]
    doubtful = [at for at in kept if found[at].broken and not found[at].trusted and _is_tied(found[at], ties)]
    given, work = proofs.axioms, proofs.work
    implied: set[int] = set()
    open_: set[int] = set()
    axioms, said = with_nodes(given.clauses), {at: with_nodes(found[at].clauses) for at in kept}
    for at in sorted(doubtful, key=lambda at: (_order(found[at]), -at)):
        work.begin()
        if work.is_over():
            open_.add(at)
            continue
        others = (clause for other in said if other != at for clause in said[other])
        if not breakable(given.facts, (*axioms, *others), found[at].broken, work):
            del said[at]
            implied.add(at)
        elif work.gave_up:
            open_.add(at)
    return implied, frozenset(open_)


def _is_tied(candidate: Candidate, ties: frozenset[int]) -> bool:
    return candidate.dim_use is None or candidate.dim_use.position in ties


def _order(candidate: Candidate) -> int:
    match candidate.constraint:
        case AtLeast() | AtMost() | MultipleOf() | ExtentIs():
            return 3
        case SameExtent():
            return 2
        case Fits() | EqualsExtent():
            return 1
        case _:
            return 0


def _is_obvious(candidate: Candidate, problem: Problem, ties: frozenset[int]) -> bool:
    """Tell whether a candidate is proved without a search."""
    match candidate.constraint:
        case SameRank(operand=operand, other=other):
            ranks = {use.name: use.type.rank for use in problem.uses}
            return None not in (ranks[operand], ranks[other])
        case StretchesAll(operand=operand) | EqualsAll(operand=operand):
            return not _front_matters(operand, problem)
        case Stretches() | Equals() if candidate.dim_use is not None and candidate.meets:
            return _is_met(candidate.dim_use, problem, ties)
        case _:
            return False


def _is_met(dim_use: DimUse, problem: Problem, ties: frozenset[int]) -> bool:
    domain_dim = problem.domain_dims[dim_use.position]
    if dim_use.dim.is_static or (domain_dim.setter is not None and domain_dim.setter.place == dim_use.place):
        return True
    if dim_use.position in ties:
        return False
    first = next(other for other in domain_dim.dim_uses if other.key == dim_use.key)
    return not domain_dim.is_contested or first.place != dim_use.place


def _front_matters(operand: str, problem: Problem) -> bool:
    if len({use.name for use in problem.uses if use.type.unranked}) > 1:
        return True
    own = {
        dim_use.position
        for row in problem.dim_uses
        for dim_use in row
        if dim_use.name == operand and not dim_use.dim.is_static
    }
    return any(domain_dim.is_contested for position, domain_dim in problem.domain_dims.items() if position in own)


def _why_checked(candidate: Candidate) -> str:
    match candidate.constraint:
        case RankIs() | RankAtLeast() | SameRank():
            return "a caller may pass an array of any rank"
        case ExtentIs() | AtLeast() | AtMost() | MultipleOf() | Computed():
            return "its type declares it"
        case SameExtent(symbol=symbol):
            return f"{symbol} is bound where it occurs first"
        case _:
            return "types leave it open"


def stretching(problem: Problem, ties: frozenset[int], proofs: Proofs | None = None) -> frozenset[tuple[str, int, int]]:
    """Return the dims (operand, own dim, position) of unknown extent that stretch if it proves to be 1 at run time.

    These are more dims than constraints name: if a symbol occurs twice in a domain dim, only the first occurrence is
    checked, but both stretch.
    """
    found = set()
    said = [] if proofs is None else with_nodes((*proofs.axioms.clauses, *proofs.asked))
    for dim_use in (dim_use for row in problem.dim_uses for dim_use in row):
        if dim_use.front or dim_use.is_target_shape or dim_use.dim.is_static or dim_use.stretch_mode != "numpy":
            continue
        stretches = dim_use.is_aside or problem.domain_dims[dim_use.position].is_contested
        if proofs is not None and dim_use.position in ties:
            one = (Atom("same", dim_use.node, _ONE), Atom("differ", dim_use.position, _ONE))
            stretches = breakable(proofs.axioms.facts, said, (one,), proofs.work)
        if stretches:
            found.add((dim_use.name, dim_use.own, dim_use.position))
    return frozenset(found)
