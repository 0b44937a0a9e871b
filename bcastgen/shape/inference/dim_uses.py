"""The dims of all uses, and what each says of the domain's dim at its position.

In: uses and rules.  Out: dim_uses, and for each position the one that sets the extent.

    a: f32[n>=2, 1], b: f32[?, m]  ->  position 2: a.0 (n>=2) sets it, b.0 (?);  position 1: b.1 (m), a.1 (1)

A dim sets the domain's dim if it cannot be a 1 that stretches: the domain then has its extent in every legal call.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeAlias

from ...core.errors import BroadcastError
from ...core.frozen import dataclass, field
from ..types.dim import DYNAMIC, Dim
from ..types.facts import ANY_EXTENT, Facts, Range
from .operand_use import OperandDim, Target, Use
from .stretch_rules import Rules, StretchMode

__all__ = [
    "AlignedDims",
    "DimUse",
    "Symbols",
    "dim_uses_of",
    "domain_dims_of",
    "domain_index",
    "first_occurrences",
    "symbol_facts",
]

# Symbol -> where it occurs first: operand, its dim.
Symbols: TypeAlias = Mapping[str, OperandDim]


@dataclass(frozen=True, slots=True)
class DimUse:
    """One dim of a use, and what it says of the domain.

    Attributes
    ----------
    name, own : the use and its own dim.
    position : where the dim lies in the domain, counted from the end.
    dim, stretch_mode, target : the dim, how it takes part, and what it is explicitly broadcast to.
    place : the array dim that has this extent; for a shape without an array, the first occurrence of its symbol.
    is_target_shape : whether the use is the shape of an explicit broadcast, which has no array.
    front : whether it is one of the dims that an operand of unknown rank may have in front.
    """

    name: str
    own: int
    position: int
    dim: Dim
    stretch_mode: StretchMode
    target: Target
    place: OperandDim
    is_target_shape: bool = False
    front: bool = False

    @property
    def node(self) -> Hashable:
        """The node that facts have for the extent; a known extent without an array is its own node."""
        extent = self.dim.extent
        return Range(extent, extent) if self.is_target_shape and extent is not None else self.place

    @property
    def is_silent(self) -> bool:
        """True for a 1 that stretches, which says nothing of the domain."""
        return self.dim.is_one and self.stretch_mode == "numpy"

    @property
    def is_aside(self) -> bool:
        """True for a dim that an explicit broadcast may stretch to a known target, which meets the others instead."""
        known = self.target is not None and not (isinstance(self.target, Dim) and self.target.value is None)
        return known and self.stretch_mode == "numpy"

    @property
    def key(self) -> Hashable:
        """What the dim says: an extent, a symbol, or a place; two dims that say the same have equal keys."""
        return self.place if self.dim.value is None else self.dim.value


@dataclass(frozen=True, slots=True)
class AlignedDims:
    """The dims that meet in a dim of the domain, and the one that sets it, if any."""

    position: int
    dim_uses: tuple[DimUse, ...]
    setter: DimUse | None = None
    keys: frozenset[Hashable] = field(default=frozenset())

    @property
    def live(self) -> tuple[DimUse, ...]:
        """The dims that say something of the domain's extent."""
        return tuple(dim_use for dim_use in self.dim_uses if not dim_use.is_silent)

    @property
    def is_contested(self) -> bool:
        """True if different things are said."""
        return len(self.keys) > 1


def domain_index(position: int, rank: int, unranked: bool) -> int:
    """Return the number of the domain's dim at a position from the end; negative where its rank is not known."""
    return -position if unranked else rank - position


def first_occurrences(uses: Sequence[Use], rules: Rules, homes: Symbols) -> dict[str, OperandDim]:
    """Return the first occurrence of each symbol, preferring dims that are checked; `homes` are in operands not in use.

    Raises
    ------
    BroadcastError
        For a symbol in a shape without an array that no operand has.
    """
    symbols: dict[str, OperandDim] = {}
    vouched: dict[str, OperandDim] = {}
    for use in uses:
        for _, own, dim in () if use.is_target_shape else use.aligned:
            if dim.symbol is not None:
                home = vouched if rules.stretch_mode(dim) == "trusted" else symbols
                home.setdefault(dim.symbol, (use.name, own))
    symbols = {**symbols, **{symbol: place for symbol, place in vouched.items() if symbol not in symbols}}
    for use in uses:
        for _, own, dim in use.aligned if use.is_target_shape else ():
            if dim.symbol is not None and dim.symbol in homes:
                symbols.setdefault(dim.symbol, homes[dim.symbol])
            if dim.symbol is not None and dim.symbol not in symbols:
                why = f"an explicit broadcast is to {dim}, which no operand's type names"
                cure = "name a dim of an operand so, or write its extent"
                raise BroadcastError(f"{why}; {cure}", operand=use.name, dim=own)
    return symbols


def dim_uses_of(uses: Sequence[Use], rules: Rules, symbols: Symbols, rank: int) -> list[list[DimUse]]:
    """Return the dims of each use, outermost dim first; the front of an operand of unknown rank comes last."""
    rows = []
    for use in uses:
        row = []
        for position, own, dim in use.aligned:
            target = use.target(own)
            place = symbols[dim.symbol] if use.is_target_shape and dim.symbol is not None else (use.name, own)
            stretch_mode = rules.stretch_mode(dim, target is not None)
            row.append(DimUse(use.name, own, position, dim, stretch_mode, target, place, use.is_target_shape))
        if use.type.unranked:
            # One position beyond all known ones stands for every further one.
            for position in range(len(use.type.dims) + 1, rank + 2):
                place = (use.name, -position)
                row.append(
                    DimUse(use.name, -position, position, DYNAMIC, rules.stretch_mode(DYNAMIC), None, place, front=True)
                )
        rows.append(row)
    return rows


def symbol_facts(dim_uses: Sequence[Sequence[DimUse]]) -> Facts:
    """Return the declared facts on extents, with all occurrences of a symbol as one extent.

    Raises
    ------
    BroadcastError
        If the facts on a symbol in two places contradict each other.
    """
    facts = Facts()
    declared: dict[str, DimUse] = {}
    for dim_use in (dim_use for row in dim_uses for dim_use in row if not dim_use.dim.is_static):
        range_, symbol = dim_use.dim.range, dim_use.dim.symbol
        node: Hashable = symbol or dim_use.node
        more = facts.within(node, range_)
        if symbol is not None and more is not None:
            more = more.meet(symbol, dim_use.node)
        if more is None:
            first = declared[symbol or ""]
            raise BroadcastError(
                f"operand '{dim_use.name}' dim {dim_use.own} is {dim_use.dim}, and '{first.name}' dim {first.own} is "
                f"{first.dim}: no extent is both; widen one of them, or give one another name",
                operand=dim_use.name,
                dim=dim_use.own,
                against=first.name,
            )
        facts = more
        if symbol is not None and range_ != ANY_EXTENT:
            declared.setdefault(symbol, dim_use)
    return facts


def domain_dims_of(dim_uses: Sequence[Sequence[DimUse]], facts: Facts, rank: int) -> list[AlignedDims]:
    """Return the dims that meet at each position, counted from 1, with the one that sets the domain's extent."""
    by_position: dict[int, list[DimUse]] = {position: [] for position in range(1, rank + 1)}
    for dim_use in (dim_use for row in dim_uses for dim_use in row):
        by_position.setdefault(dim_use.position, []).append(dim_use)
    found = []
    for position, met in sorted(by_position.items()):
        here = tuple(dim_use for dim_use in met if not dim_use.is_aside)
        setters = sorted((dim_use for dim_use in here if _sets(dim_use, facts)), key=_preference)
        keys = frozenset(dim_use.key for dim_use in here if not dim_use.is_silent)
        found.append(AlignedDims(position, here, setters[0] if setters else None, keys))
    return found


def _sets(dim_use: DimUse, facts: Facts) -> bool:
    # A dim in front of an unranked operand's known ones may not exist.
    if dim_use.front or dim_use.stretch_mode != "numpy":
        return not dim_use.front
    return dim_use.dim.extent != 1 if dim_use.dim.is_static else not facts.can_be(dim_use.node, 1)


def _preference(dim_use: DimUse) -> int:
    """Return the order of setters: known extents first; last, dims that the caller only vouches for."""
    return 0 if dim_use.dim.is_static else 2 if dim_use.stretch_mode == "trusted" else 1
