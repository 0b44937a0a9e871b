"""Ties symbols of declared types across nests: one symbol is one extent, whichever nests read its operands.

In: a kernel's operands and its nests.  Out: the nests, some of which now look at the shape of another nest's operand.

    (f32[n] a, f32[n] b) -> a + 1, b * 2   ->  the second nest checks b.0 = a.0 (n)

The first nest checks the declared type of an operand that no result reads.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...core.frozen import replace
from ...shape.constraints import (
    OF_RESULTS,
    AtLeast,
    AtMost,
    Computed,
    Constraint,
    EqualsExtent,
    ExtentIs,
    Fits,
    MultipleOf,
    RankAtLeast,
    RankIs,
    ResultComputed,
    ResultSame,
    SameExtent,
    Stretches,
)
from ...shape.decision import Decision
from ...shape.inference.broadcast import broadcast
from ...shape.inference.obligations import same_extent
from ...shape.inference.operand_use import OperandDim, Use
from ...shape.inference.stretch_rules import Rules
from ...shape.types.tensor_type import TensorType
from ..affine import AffineMap
from ..nest import Access, Nest

__all__ = ["first_places", "tie"]

Operands = Sequence[tuple[str, TensorType]]
Homes = dict[str, OperandDim]
# Constraints on operands that do not depend on the domain the operands meet in.
_ALONE = (ExtentIs, SameExtent, AtLeast, AtMost, MultipleOf, Computed, Fits, EqualsExtent)


def tie(
    nests: tuple[Nest, ...], operands: Operands, rules: Rules, constants: frozenset[str], homes: Homes
) -> tuple[Nest, ...]:
    """Return the nests with the constraints that tie their operands' symbols to each other.

    Parameters
    ----------
    nests, operands : of the kernel.
    rules : how dims meet.
    constants : the names of the kernel's own arrays, whose shapes are not checked.
    homes : the place of each name that a computed extent may have: an operand's dim, or an extent the caller gives.
    """
    read = {access.name for nest in nests for access in (*nest.operands, *nest.shapes)}
    # A symbol is bound where it occurs first, whichever nest reads that operand.
    first = first_places(operands)
    tied = tuple(_tied(nest, operands, first) for nest in nests)
    unread = [operand for operand in operands if operand[0] not in read | constants]
    return _once((_with_declared(tied[0], operands, unread, first, rules, homes), *tied[1:]))


def _with_declared(nest: Nest, operands: Operands, unread: Operands, first: Homes, rules: Rules, homes: Homes) -> Nest:
    """Return a nest that also checks the declared types of the operands that no nest reads."""
    decisions: list[Decision] = []
    for name, type_ in unread:
        declared = broadcast([Use(name, type_)], entry=True, rules=rules, homes=tuple(homes.items())).decisions
        places = {place: first[symbol] for symbol, place in first_places([(name, type_)]).items()}
        decisions += (
            _at_first(d, places) for d in declared if isinstance(d.constraint, (RankIs, RankAtLeast, *_ALONE))
        )
        symbols = {place: type_.dims[place[1]].symbol or "" for place in places}
        decisions += (_same(place, home, symbols[place]) for place, home in places.items() if place != home)
    known = {access.name for access in (*nest.operands, *nest.shapes)}
    names = {name for name, type_ in unread if type_.dims or not type_.unranked}
    names |= {d.constraint.other for d in decisions if isinstance(d.constraint, SameExtent)}
    names |= {d.constraint.operand for d in decisions if not isinstance(d.constraint, OF_RESULTS)}
    names |= {name for d in decisions for name in _bound_by(d.constraint)}
    asked = set(nest.domain.decisions)
    return _looking_at(nest, names - known, operands, [d for d in decisions if d not in asked])


def _once(nests: tuple[Nest, ...]) -> tuple[Nest, ...]:
    """Keep each domain-independent check only in the first nest that has it: a failure there ends the call."""
    asked: set[Constraint] = set()
    found: list[Nest] = []
    for nest in nests:
        decisions = tuple(
            Decision(decision.constraint, "proved")
            if decision.fate == "checked" and decision.constraint in asked
            else decision
            for decision in nest.domain.decisions
        )
        asked.update(c for c in nest.domain.constraints if isinstance(c, _ALONE))
        found.append(_without_idle(replace(nest, domain=replace(nest.domain, decisions=decisions))))
    return tuple(found)


def _without_idle(nest: Nest) -> Nest:
    """Drop the operands that take no part in the domain and that no check compares with any more."""
    asked = {c.operand for c in nest.domain.constraints if not isinstance(c, OF_RESULTS)}
    asked |= {c.other for c in nest.domain.constraints if isinstance(c, (SameExtent, ResultSame, Fits, EqualsExtent))}
    asked |= {name for c in nest.domain.constraints for name in _bound_by(c)}
    asked |= {name for places in nest.domain.unknown_places for name, _ in places}
    asked |= {source[0] for source in nest.domain.sources if source is not None}
    shapes = tuple(a for a in nest.shapes if not a.stands_by or a.name in asked)
    return replace(nest, shapes=shapes)


def first_places(operands: Operands) -> Homes:
    """Return the place where each symbol occurs first, whichever nest reads that operand."""
    places: Homes = {}
    for name, type_ in operands:
        for _, own, dim in type_.aligned:
            if dim.symbol is not None:
                places.setdefault(dim.symbol, (name, own))
    return places


def _tied(nest: Nest, operands: Operands, first: Homes) -> Nest:
    own = {access.name for access in (*nest.operands, *nest.shapes)}
    mine = first_places([(name, type_) for name, type_ in operands if name in own])
    decisions = [_same(place, first[symbol], symbol) for symbol, place in mine.items() if first[symbol] != place]
    homes = {place: first[symbol] for symbol, place in mine.items()}
    own_decisions = tuple(_at_first(decision, homes) for decision in nest.domain.decisions)
    nest = replace(nest, domain=replace(nest.domain, decisions=own_decisions))
    known = {name for name, _ in operands}
    others = {d.constraint.other for d in decisions if isinstance(d.constraint, SameExtent)}
    others |= {name for c in nest.domain.constraints for name in _compared(c) if name in known}
    others |= {name for places in nest.domain.unknown_places for name, _ in places}
    others |= {source[0] for source in nest.domain.sources if source is not None}
    return _looking_at(nest, others - own, operands, decisions)


def _at_first(decision: Decision, homes: dict[OperandDim, OperandDim]) -> Decision:
    """Move a bound on a symbol's extent to the place where it occurs first; other places are compared with that one.

    An explicit broadcast to a symbol is one to the extent that the symbol has there.
    """
    c = decision.constraint
    if isinstance(c, (Fits, EqualsExtent)) and c.symbol and (c.other, c.other_dim) in homes:
        other, dim = homes[c.other, c.other_dim]
        return replace(decision, constraint=replace(c, other=other, other_dim=dim))
    if isinstance(c, (AtLeast, AtMost, MultipleOf, Computed)) and (c.operand, c.dim) in homes:
        operand, dim = homes[c.operand, c.dim]
        return replace(decision, constraint=replace(c, operand=operand, dim=dim))
    return decision


def _same(place: OperandDim, first: OperandDim, symbol: str) -> Decision:
    return Decision(same_extent(place, first, symbol), "checked", f"{symbol} is bound in another nest")


def _compared(constraint: Constraint) -> tuple[str, ...]:
    """Return the operands that a constraint names and that may belong to another nest."""
    match constraint:
        case Fits() | EqualsExtent():
            return (constraint.operand, constraint.other)
        case Stretches() | ExtentIs():
            return (constraint.operand,)
        case ResultSame():
            return (constraint.other,)
        case Computed():
            return (constraint.operand, *_bound_by(constraint))
    return _bound_by(constraint)


def _bound_by(constraint: Constraint) -> tuple[str, ...]:
    """Return the operands that bind the names of a computed extent."""
    places = constraint.places if isinstance(constraint, (Computed, ResultComputed)) else ()
    return tuple(operand for _, operand, _ in places)


def _looking_at(nest: Nest, names: set[str], operands: Operands, decisions: list[Decision]) -> Nest:
    """Return a nest with these decisions, and with the shapes of further operands, which take no part in its domain."""
    added = [
        Access(
            at,
            name,
            type_,
            AffineMap(len(nest.domain.dims), (), open_domain=nest.domain.open),
            (None,) * len(type_.dims),
        )
        for at, (name, type_) in enumerate(operands)
        if name in names
    ]
    if not added and not decisions:
        return nest
    domain = replace(nest.domain, decisions=(*nest.domain.decisions, *decisions))
    return replace(nest, domain=domain, shapes=(*nest.shapes, *added))
