"""What each dim of each use says of the domain's dim at its position.

In: uses and rules.  Out: claims, and for each position the one that sets the extent.

    a: f32[n>=2, 1], b: f32[?, m]  ->  position 2: a.0 (n>=2) sets it, b.0 (?);  position 1: b.1 (m), a.1 (1)

A dim sets the domain's if it cannot be a 1 that stretches: then the domain's extent is its own in every legal call.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import field
from typing import TypeAlias

from ...core.errors import BroadcastError
from ...core.frozen import dataclass
from ..types.dim import DYNAMIC, Dim
from ..types.facts import ANY_EXTENT, Facts, Range
from .operand_use import Place, Target, Use
from .stretch_rules import Rules, Way

__all__ = ["Claim", "Meeting", "Symbols", "claims_of", "first_occurrences", "meetings_of", "symbol_facts"]

# Symbol -> where it occurs first: operand, its dim.
Symbols: TypeAlias = Mapping[str, Place]


@dataclass(frozen=True, slots=True)
class Claim:
    """What one dim says.

    Attributes
    ----------
    name, own : the use and its own dim.
    position : where the dim lies in the domain, counted from the end.
    dim, way, target : the dim, how it takes part, and what it is explicitly broadcast to.
    place : the array dim that has this extent: of a shape without an array, where its symbol occurs first.
    phantom : whether there is no array.
    front : whether it is one of the dims that an operand of unknown rank may have in front.
    """

    name: str
    own: int
    position: int
    dim: Dim
    way: Way
    target: Target
    place: Place
    phantom: bool = False
    front: bool = False

    @property
    def node(self) -> Hashable:
        """What facts call the extent; of a known one that no array has, itself."""
        extent = self.dim.extent
        return Range(extent, extent) if self.phantom and extent is not None else self.place

    @property
    def is_silent(self) -> bool:
        """True for a 1 that stretches, which says nothing of the domain."""
        return self.dim.is_one and self.way == "numpy"

    @property
    def is_aside(self) -> bool:
        """True for a dim that an explicit broadcast makes its target of: it is the target that meets the others."""
        known = self.target is not None and not (isinstance(self.target, Dim) and self.target.value is None)
        return known and self.way == "numpy"

    @property
    def key(self) -> Hashable:
        """What the claim says, the same for two that say the same: an extent, a symbol, or a place."""
        return self.place if self.dim.value is None else self.dim.value


@dataclass(frozen=True, slots=True)
class Meeting:
    """The claims that lie in a dim of the domain, and the one that sets it, if any; those `aside` do not meet there."""

    position: int
    claims: tuple[Claim, ...]
    setter: Claim | None = None
    keys: frozenset[Hashable] = field(default=frozenset())
    aside: tuple[Claim, ...] = ()

    @property
    def live(self) -> tuple[Claim, ...]:
        """The claims that say something of the domain's extent."""
        return tuple(claim for claim in self.claims if not claim.is_silent)

    @property
    def is_contested(self) -> bool:
        """True if different things are said."""
        return len(self.keys) > 1


def first_occurrences(uses: Sequence[Use], rules: Rules, homes: Symbols) -> dict[str, Place]:
    """Return where each symbol occurs first, by preference where it is checked; `homes` are of operands not in use.

    Raises
    ------
    BroadcastError
        For a symbol in a shape without an array that no operand has.
    """
    symbols: dict[str, Place] = {}
    vouched: dict[str, Place] = {}
    for use in uses:
        for _, own, dim in () if use.phantom else use.aligned:
            if dim.symbol is not None:
                home = vouched if rules.way(dim) == "trusted" else symbols
                home.setdefault(dim.symbol, (use.name, own))
    symbols = {**symbols, **{symbol: place for symbol, place in vouched.items() if symbol not in symbols}}
    for use in uses:
        for _, own, dim in use.aligned if use.phantom else ():
            if dim.symbol is not None and dim.symbol in homes:
                symbols.setdefault(dim.symbol, homes[dim.symbol])
            if dim.symbol is not None and dim.symbol not in symbols:
                why = f"the shape '{use.name}' dim {own} is {dim}, which no operand's type names"
                cure = "name a dim of an operand so, or write its extent"
                raise BroadcastError(f"{why}; {cure}", operand=use.name, dim=own)
    return symbols


def claims_of(uses: Sequence[Use], rules: Rules, symbols: Symbols, rank: int) -> list[list[Claim]]:
    """Return the claims of each use, outermost dim first; the front of an operand of unknown rank comes last."""
    rows = []
    for use in uses:
        row = []
        for position, own, dim in use.aligned:
            target = use.target(own)
            place = symbols[dim.symbol] if use.phantom and dim.symbol is not None else (use.name, own)
            way = rules.way(dim, target is not None)
            row.append(Claim(use.name, own, position, dim, way, target, place, use.phantom))
        if use.type.unranked:
            # One position more than anybody knows stands for all further ones.
            for position in range(len(use.type.dims) + 1, rank + 2):
                place = (use.name, -position)
                row.append(Claim(use.name, -position, position, DYNAMIC, rules.way(DYNAMIC), None, place, front=True))
        rows.append(row)
    return rows


def symbol_facts(claims: Sequence[Sequence[Claim]], symbols: Symbols) -> Facts:
    """Return what is declared of extents, each symbol's occurrences being one extent.

    Raises
    ------
    BroadcastError
        If a symbol has facts in two places that no extent has both.
    """
    facts = Facts()
    told: dict[str, Claim] = {}
    for claim in (claim for row in claims for claim in row if not claim.dim.is_static):
        range_, symbol = claim.dim.range, claim.dim.symbol
        node: Hashable = symbol or claim.node
        more = facts.within(node, range_)
        if symbol is not None and more is not None:
            more = more.meet(symbol, claim.node)
        if more is None:
            first = told[symbol or ""]
            raise BroadcastError(
                f"operand '{claim.name}' dim {claim.own} is {claim.dim}, and '{first.name}' dim {first.own} is "
                f"{first.dim}: no extent is both; widen one of them, or give one another name",
                operand=claim.name,
                dim=claim.own,
                against=first.name,
            )
        facts = more
        if symbol is not None and range_ != ANY_EXTENT:
            told.setdefault(symbol, claim)
    return facts


def meetings_of(claims: Sequence[Sequence[Claim]], facts: Facts, rank: int) -> list[Meeting]:
    """Return what meets at each position, from 1, with the claim that sets the domain's extent."""
    by_position: dict[int, list[Claim]] = {position: [] for position in range(1, rank + 1)}
    for claim in (claim for row in claims for claim in row):
        by_position.setdefault(claim.position, []).append(claim)
    found = []
    for position, met in sorted(by_position.items()):
        here = tuple(claim for claim in met if not claim.is_aside)
        setters = sorted((claim for claim in here if _sets(claim, facts)), key=_preference)
        keys = frozenset(claim.key for claim in here if not claim.is_silent)
        aside = tuple(claim for claim in met if claim.is_aside)
        found.append(Meeting(position, here, setters[0] if setters else None, keys, aside))
    return found


def _sets(claim: Claim, facts: Facts) -> bool:
    # What an operand of unknown rank has in front may not be there.
    if claim.front or claim.way != "numpy":
        return not claim.front
    return claim.dim.extent != 1 if claim.dim.is_static else not facts.can_be(claim.node, 1)


def _preference(claim: Claim) -> int:
    """Known extents first; what the caller only vouches for last, so that the check, if any, is against an array."""
    return 0 if claim.dim.is_static else 2 if claim.way == "trusted" else 1
