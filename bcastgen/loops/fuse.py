"""Fusion: which results share a nest, and where what is claimed of values that are not stored is checked.

In: what each result, and each claimed value, is made of.  Out: groups of their positions, in order.

    (a + b, a * b, a)            ->  results (0, 1), results (2,)
    (a * b + c), claim of a * b  ->  claim (0,), results (0,)

Results that read the same operands through the same maps have the same domain, so one nest computes them with their
common values once. One that reads fewer operands may be smaller, as NumPy's would be, and is not widened to the others'
domain. A claim is checked where results have its value's domain; the others, which may stop a call, come first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..shape.use import Use
from .uses import Reads, Spanned

__all__ = ["Group", "groups_of"]


@dataclass(slots=True)
class Group:
    """The positions of results, and of claims, that have one domain: that of these uses, of a rank if views give it."""

    rank: int | None
    uses: tuple[Use, ...]
    results: list[int] = field(default_factory=list)
    claims: list[int] = field(default_factory=list)


def groups_of(results: Sequence[Reads], claims: Sequence[Spanned] = ()) -> tuple[Group, ...]:
    """Return what shares a nest: claims without a result first, each lot in the order of its first member."""
    groups: dict[tuple[int | None, frozenset[Use]], Group] = {}
    for position, read in enumerate(results):
        key = (read.rank, frozenset(read.all_uses))
        groups.setdefault(key, Group(read.rank, read.all_uses)).results.append(position)
    for position, spanned in enumerate(claims):
        key = (spanned.rank, frozenset(spanned.all_uses))
        groups.setdefault(key, Group(spanned.rank, spanned.all_uses)).claims.append(position)
    return tuple(sorted(groups.values(), key=lambda group: bool(group.results)))
