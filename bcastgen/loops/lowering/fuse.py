"""Fusion: which results share a nest, and which nest checks the claims on values that are not stored.

In: the uses of each result and of each such value.  Out: groups of their positions, in order.

    (a + b, a * b, a)            ->  results (0, 1), results (2,)
    (a * b + c), claim of a * b  ->  claim (0,), results (0,)

Results with the same domain share a nest, which computes their common values once. Two results have the same domain if
they read the same operands through the same maps, or if types show that their domains have the same extents: known
ones, or those of the same dims of operands. Otherwise a result that reads fewer operands may be smaller, as in NumPy,
and is not widened to the others' domain. A claim is checked in the nest of the results that have its value's domain.
Claims without such a nest get nests of their own, which come first, because they may stop a call. Operands that meet in
a value which is then broadcast explicitly get a group too: no other domain shows how they met.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from ...core.errors import BroadcastError
from ...shape.inference.broadcast import broadcast
from ...shape.inference.operand_use import OperandDim, Use
from .uses import Reads, Spanned

__all__ = ["DomainGroup", "groups_of"]


class DomainGroup:
    """The positions of the results and claims that have one domain: that of `uses`, of rank `rank` if views give it.

    `is_broadcast` is True if a value that is broadcast explicitly has this domain too.
    """

    # Not a dataclass, whose functions would take longer to compile than most kernels to lower.
    __slots__ = ("claims", "is_broadcast", "rank", "results", "uses")

    def __init__(self, rank: int | None) -> None:
        self.rank = rank
        self.uses: tuple[Use, ...] = ()
        self.results: list[int] = []
        self.claims: list[int] = []
        self.is_broadcast = False


# The key of a domain: its extents (known ones or operands' dims), or else its rank and the uses that span it.
_Key: TypeAlias = tuple[int | OperandDim, ...] | tuple[int | None, frozenset[Use]]


def groups_of(
    results: Sequence[Reads],
    claims: Sequence[Spanned] = (),
    broadcast_values: Sequence[Spanned] = (),
    apart: Sequence[object] = (),
) -> tuple[DomainGroup, ...]:
    """Return the groups that share a nest: groups without results first, then by the order of their first members.

    `apart` has an object for each of the first results: two of these share a nest only if their objects are equal.
    They come before the groups without results.
    """
    groups: dict[object, DomainGroup] = {}
    met = [spanned for spanned in broadcast_values if len(spanned.all_uses) > 1]
    alone = len(results) + len(claims) + len(met) == 1
    for position, read in enumerate(results):
        by_uses = alone or bool(read.slots)
        kept = apart[position] if position < len(apart) else None
        _group(groups, read.rank, read.all_uses, by_uses, kept).results.append(position)
    for position, spanned in enumerate(claims):
        _group(groups, spanned.rank, spanned.all_uses, alone).claims.append(position)
    for spanned in met:
        _group(groups, spanned.rank, spanned.all_uses, alone).is_broadcast = True

    def order(group: DomainGroup) -> int:
        # Claims may be on what the first results give.
        return 1 if not group.results else 0 if group.results[0] < len(apart) else 2

    return tuple(sorted(groups.values(), key=order))


def _group(
    groups: dict[object, DomainGroup], rank: int | None, uses: tuple[Use, ...], by_uses: bool, apart: object = None
) -> DomainGroup:
    """Return the group that has the domain of these uses, made if there is none; the uses are added to it."""
    extents = None if by_uses else _extents(rank, uses)
    key: _Key = (rank, frozenset(uses)) if extents is None else extents
    group = groups.setdefault((apart, key), DomainGroup(rank))
    group.rank = rank if group.rank is None else group.rank
    group.uses = tuple(dict.fromkeys((*group.uses, *uses)))
    return group


def _extents(rank: int | None, uses: tuple[Use, ...]) -> tuple[int | OperandDim, ...] | None:
    """Return a domain's extents, known ones or operands' dims; None if the dim that sets one differs between calls."""
    if not uses or any(use.is_target_shape or use.targets is not None or use.type.unranked for use in uses):
        return None
    try:
        info = broadcast(uses)
    except BroadcastError:
        return None  # The error is raised when the nest is made.
    found: list[int | OperandDim] = []
    for dim, place in zip(info.dims, info.places, strict=True):
        extent = dim.extent if dim.extent is not None else place
        if extent is None:
            return None
        found.append(extent)
    return (*(1,) * ((rank or 0) - len(found)), *found)
