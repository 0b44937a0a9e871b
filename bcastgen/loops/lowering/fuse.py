"""Fusion: which results share a nest, and where what is asked of values that are not stored is checked.

In: what each result, and each such value, is made of.  Out: groups of their positions, in order.

    (a + b, a * b, a)            ->  results (0, 1), results (2,)
    (a * b + c), claim of a * b  ->  claim (0,), results (0,)

Results of one domain share a nest, which computes their common values once. They have one domain if they read the same
operands through the same maps, or if types show that their domains have the same extents: known ones, or those of the
same dims of operands. One that reads fewer operands may else be smaller, as NumPy's would be, and is not widened to the
others' domain. A claim is checked where results have its value's domain; the others, which may stop a call, come first.
What meets in a value that is then broadcast explicitly has a group, too: nothing else shows how it met.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from ...core.errors import BroadcastError
from ...shape.inference.broadcast import broadcast
from ...shape.inference.operand_use import Place, Use
from .uses import Reads, Spanned

__all__ = ["Group", "groups_of"]


@dataclass(slots=True)
class Group:
    """The positions of results, and of claims, that have one domain: that of these uses, of a rank if views give it.

    `is_broadcast` if it is also that of a value that is broadcast explicitly.
    """

    rank: int | None
    uses: tuple[Use, ...]
    results: list[int] = field(default_factory=list)
    claims: list[int] = field(default_factory=list)
    is_broadcast: bool = False


# What a domain is known by: its extents, known or an operand's, or else what spans it.
_Key: TypeAlias = tuple[int | Place, ...] | tuple[int | None, frozenset[Use]]


def groups_of(
    results: Sequence[Reads], claims: Sequence[Spanned] = (), broadcast_values: Sequence[Spanned] = ()
) -> tuple[Group, ...]:
    """Return what shares a nest: what has no result comes first, each lot in the order of its first member."""
    groups: dict[_Key, Group] = {}
    met = [spanned for spanned in broadcast_values if len(spanned.all_uses) > 1]
    alone = len(results) + len(claims) + len(met) == 1
    for position, read in enumerate(results):
        by_uses = alone or bool(read.slots)
        _group(groups, read.rank, read.all_uses, by_uses).results.append(position)
    for position, spanned in enumerate(claims):
        _group(groups, spanned.rank, spanned.all_uses, alone).claims.append(position)
    for spanned in met:
        _group(groups, spanned.rank, spanned.all_uses, alone).is_broadcast = True
    return tuple(sorted(groups.values(), key=lambda group: bool(group.results)))


def _group(groups: dict[_Key, Group], rank: int | None, uses: tuple[Use, ...], by_uses: bool) -> Group:
    """Return the group of the domain of these uses, which are now its own, too."""
    extents = None if by_uses else _extents(rank, uses)
    group = groups.setdefault((rank, frozenset(uses)) if extents is None else extents, Group(rank, ()))
    group.rank = rank if group.rank is None else group.rank
    group.uses = tuple(dict.fromkeys((*group.uses, *uses)))
    return group


def _extents(rank: int | None, uses: tuple[Use, ...]) -> tuple[int | Place, ...] | None:
    """Return the extents of a domain, known or an operand's; None where they differ from call to call."""
    if not uses or any(use.is_target_shape or use.targets is not None or use.type.unranked for use in uses):
        return None
    try:
        info = broadcast(uses)
    except BroadcastError:
        return None  # told where the nest is made
    found: list[int | Place] = []
    for dim, place in zip(info.dims, info.places, strict=True):
        extent = dim.extent if dim.extent is not None else place
        if extent is None:
            return None
        found.append(extent)
    return (*(1,) * ((rank or 0) - len(found)), *found)
