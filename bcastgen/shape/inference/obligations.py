"""Everything that a broadcast asks of its operands, decided or not.

In: the dims of operands, and which meet.  Out: candidates: constraints, each with its clauses and the ways to break it.

    a: f32[n>=2], b: f32[?], entered with arrays of any type
        a.rank = 1; b.rank = 1; a.0 >= 2; a.0 in {1, d0}; b.0 in {1, d0}

Ranks come first, since dims mean nothing in arrays of other ranks; the rest goes in operand, then dim order.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence

from ...core.frozen import dataclass, field
from ..constraints import (
    AtLeast,
    AtMost,
    Computed,
    Constraint,
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
from ..types.dim import Dim
from ..types.facts import MAX_EXTENT, Facts, Range
from .dim_uses import AlignedDims, DimUse, Symbols, domain_index
from .entailment import Alternative, Atom, Clause
from .name_places import name_places
from .operand_use import OperandDim, Use

__all__ = ["Candidate", "Problem", "candidates", "rank_candidates", "same_extent"]

_ONE = Range(1, 1)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A constraint that the semantics ask for.

    Attributes
    ----------
    constraint : the constraint.
    clauses : what it says, for proofs; empty for a constraint on a rank.
    broken : the ways to break it; empty if it is never proved from other candidates.
    dim_use : the dim it is about, if it is about one.
    trusted : whether the caller vouches for it.
    meets : whether it is about meeting other operands in the domain.
    """

    constraint: Constraint
    clauses: tuple[Clause, ...] = ()
    broken: tuple[Alternative, ...] = ()
    dim_use: DimUse | None = None
    trusted: bool = False
    meets: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """All that is known before anything is decided: the dims of each use, symbols, their facts, which dims meet.

    `homes` has the places of symbols in all of the kernel's operands, also in those that have no use here.
    """

    uses: tuple[Use, ...]
    dim_uses: Sequence[Sequence[DimUse]]
    symbols: Symbols
    facts: Facts
    domain_dims: Mapping[int, AlignedDims]
    dims: tuple[Dim, ...]
    unranked: bool
    homes: Symbols = field(default_factory=dict)

    def domain_index(self, position: int) -> int:
        """Return the number of the domain's dim at a position; see `dim_uses.domain_index`."""
        return domain_index(position, len(self.dims), self.unranked)

    def extent(self, position: int) -> int | None:
        """Return the domain's extent at a position if types tell it."""
        return self.dims[-position].extent if position <= len(self.dims) else None


def rank_candidates(uses: Sequence[Use], entry: bool, rank_expansion: bool) -> list[Candidate]:
    """Return the constraints on ranks; without rank expansion also that ranks are equal, as declared ranks are."""
    real = {use.name: use for use in uses if not use.is_target_shape}
    found: list[Constraint] = []
    for name, use in real.items() if entry else ():
        if use.type.rank is not None:
            found.append(RankIs(name, use.type.rank))
        elif use.type.dims:
            found.append(RankAtLeast(name, len(use.type.dims)))
    if not rank_expansion:
        # Operands of rank 0 are scalars, and operands with positions are aligned already.
        bound = [name for name, use in real.items() if use.type.rank != 0 and use.positions is None]
        first = next((name for name in bound if not real[name].type.unranked), bound[0] if bound else "")
        found += (SameRank(name, first) for name in bound if name != first)
    return [Candidate(constraint) for constraint in found]


def candidates(problem: Problem, entry: bool) -> list[Candidate]:
    """Return all constraints on extents; one that two uses of an operand share occurs once."""
    found: dict[Constraint, Candidate] = {}
    for use, dim_uses in zip(problem.uses, problem.dim_uses, strict=True):
        for own in use.dropped if entry and not use.is_target_shape else ():
            constraint = ExtentIs(use.name, own, 1)
            found.setdefault(constraint, Candidate(constraint))
        # A constraint on all dims of an unranked operand covers the dims that its type knows.
        is_whole = any(dim_use.front and dim_use.stretch_mode == "numpy" for dim_use in dim_uses)
        for dim_use in dim_uses:
            if dim_use.front:
                continue
            declared = () if dim_use.is_target_shape else _declared(dim_use, problem, entry)
            for candidate in (*declared, *_target(dim_use, problem), *_meeting(dim_use, problem, is_whole)):
                found.setdefault(candidate.constraint, candidate)
        if use.type.unranked:
            candidate = _front(use, dim_uses)
            found.setdefault(candidate.constraint, candidate)
    return list(found.values())


def _declared(dim_use: DimUse, problem: Problem, entry: bool) -> Iterator[Candidate]:
    """Yield what the type says of the extent: a number; its symbol; where that occurs first, its value and range."""
    name, own, node, trusted = dim_use.name, dim_use.own, dim_use.node, dim_use.stretch_mode == "trusted"
    if dim_use.dim.extent is not None:
        if entry:
            yield Candidate(ExtentIs(name, own, dim_use.dim.extent), dim_use=dim_use)
        return
    symbol = dim_use.dim.symbol
    if symbol is not None and problem.symbols[symbol] != (name, own):
        first = problem.symbols[symbol]
        broken = ((Atom("differ", node, first),),)
        same = same_extent((name, own), first, symbol)
        yield Candidate(same, (((Atom("same", node, first),),),), broken, dim_use, trusted)
        return
    implied = dim_use.dim.implied
    if entry and dim_use.dim.is_computed:
        places = name_places(symbol or "", {**problem.symbols, **problem.homes}, name, own)
        computed = Computed(name, own, symbol or "", places)
        yield Candidate(computed, (((Atom("within", node, implied),),),), (), dim_use, trusted)
    range_ = problem.facts.range(node) if entry else implied
    if range_ == implied:
        return
    rows: list[tuple[Constraint, Range, Alternative]] = []
    low, high, step = range_.low, range_.high, range_.step
    if range_.only is not None:
        rows.append((ExtentIs(name, own, low), range_, (Atom("differ", node, range_),)))
    else:
        if low > implied.low:
            rows.append((AtLeast(name, own, low), Range(low), (Atom("within", node, Range(0, low - 1)),)))
        if high < min(MAX_EXTENT, implied.high) // step * step:
            rows.append((AtMost(name, own, high), Range(0, high), (Atom("within", node, Range(high + 1)),)))
        if implied.step % step:
            multiples = Range(0, MAX_EXTENT // step * step, step)
            rows.append((MultipleOf(name, own, step), multiples, (Atom("indivisible", node, step),)))
    for constraint, said, broken_by in rows:
        yield Candidate(constraint, (((Atom("within", node, said),),),), (broken_by,), dim_use, trusted)


def same_extent(place: OperandDim, first: OperandDim, symbol: str) -> SameExtent:
    """Return the constraint on a dim of a symbol that occurs first elsewhere, be it in this broadcast or in another."""
    return SameExtent(*place, *first, symbol)


def _target(dim_use: DimUse, problem: Problem) -> Iterator[Candidate]:
    """Yield what an explicit broadcast asks: an extent of 1, or exactly the one that the dim is broadcast to."""
    target, trusted = _known_target(dim_use, problem), dim_use.stretch_mode == "trusted"
    domain_dim, own = problem.domain_index(dim_use.position), dim_use.dim.extent if dim_use.is_target_shape else None
    if target is None or own in (1, target):
        return
    stretches = dim_use.stretch_mode == "numpy"
    symbol = (dim_use.target.symbol if isinstance(dim_use.target, Dim) else None) or ""
    if isinstance(target, int):
        says = (_one_or if stretches else _equal)(dim_use.node, Range(target, target))
        fits: Constraint = Stretches(*dim_use.place, domain_dim, target)
        if target == 1 or not stretches:
            fits = Equals(*dim_use.place, domain_dim, target)
    elif own is not None:
        # No array has this known extent, so the other array's dim is checked against it.
        says = _equal(target, Range(own, own))
        fits = ExtentIs(*target, own)
    elif stretches:
        says, fits = _one_or(dim_use.node, target), Fits(*dim_use.place, *target, symbol)
    else:
        says, fits = _equal(dim_use.node, target), EqualsExtent(*dim_use.place, *target, symbol)
    if target != dim_use.node:
        yield Candidate(fits, *says, dim_use=dim_use, trusted=trusted)


def _known_target(dim_use: DimUse, problem: Problem) -> OperandDim | int | None:
    """Return what a dim is broadcast to: an extent that types know, or else its place; None if to nothing."""
    match dim_use.target:
        case None | Dim(value=None):
            return None
        case Dim(value=int(extent)):
            return extent
        case Dim(value=str(symbol)):
            return problem.symbols[symbol]
        case place:
            dims = {other.place: other.dim for row in problem.dim_uses for other in row if not other.is_target_shape}
            assert isinstance(place, tuple)
            known = dims[place].extent if place in dims else None
            return place if known is None else known


def _one_or(node: Hashable, other: Hashable) -> tuple[tuple[Clause, ...], tuple[Alternative, ...]]:
    says = ((Atom("same", node, _ONE),), (Atom("same", node, other),))
    return (says,), ((Atom("differ", node, _ONE), Atom("differ", node, other)),)


def _equal(node: Hashable, other: Hashable) -> tuple[tuple[Clause, ...], tuple[Alternative, ...]]:
    return (((Atom("same", node, other),),),), ((Atom("differ", node, other),),)


def _meeting(dim_use: DimUse, problem: Problem, is_whole: bool) -> Iterator[Candidate]:
    """Yield what meeting the other operands asks: 1 or the domain's extent, or exactly the domain's extent."""
    if dim_use.is_aside:
        return
    place, extent = dim_use.place, problem.extent(dim_use.position)
    domain_dim = problem.domain_index(dim_use.position)
    setter = problem.domain_dims[dim_use.position].setter
    sets = setter is not None and setter.place == dim_use.place
    stretches = dim_use.dim.is_static or sets or problem.facts.can_be(dim_use.node, 1)
    loose = dim_use.stretch_mode == "numpy" and stretches
    if (is_whole and loose and not sets) or (dim_use.is_target_shape and dim_use.dim.is_static):
        return
    if loose:
        said = _one_or(dim_use.node, dim_use.position)
        yield Candidate(Stretches(*place, domain_dim, extent), *said, dim_use=dim_use, meets=True)
        return
    says = _equal(dim_use.node, dim_use.position)
    yield Candidate(Equals(*place, domain_dim, extent), *says, dim_use, dim_use.stretch_mode == "trusted", True)


def _front(use: Use, dim_uses: Sequence[DimUse]) -> Candidate:
    """Return the constraint on an unranked operand's dims in front and, if these may stretch, on all dims that may."""
    front = [dim_use for dim_use in dim_uses if dim_use.front]
    if front[0].stretch_mode != "numpy":
        clauses = tuple(clause for dim_use in front for clause in _one_or(dim_use.node, dim_use.position)[0])
        return Candidate(EqualsAll(use.name, len(use.type.dims)), clauses, trusted=front[0].stretch_mode == "trusted")
    loose = [dim_use for dim_use in dim_uses if dim_use.stretch_mode == "numpy"]
    clauses = tuple(clause for dim_use in loose for clause in _one_or(dim_use.node, dim_use.position)[0])
    return Candidate(
        StretchesAll(use.name),
        clauses,
        tuple(row for dim_use in loose for row in _one_or(dim_use.node, dim_use.position)[1]),
    )
