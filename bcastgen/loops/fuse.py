"""Fusion: which results share a nest.

In: what each result reads.  Out: groups of result positions, in order.

    (a + b, a * b, a)  ->  ((0, 1), (2,))

Results that read the same operands through the same maps have the same domain, so one nest computes them with their
common values once. One that reads fewer operands may be smaller, as NumPy's would be, and is not widened to the others'
domain.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..shape.use import Use
from .uses import Reads

__all__ = ["group_results"]


def group_results(reads: Sequence[Reads]) -> tuple[tuple[int, ...], ...]:
    """Return the positions of results that share a nest."""
    groups: dict[tuple[int | None, frozenset[Use]], list[int]] = {}
    for position, read in enumerate(reads):
        groups.setdefault((read.rank, frozenset(read.all_uses)), []).append(position)
    return tuple(map(tuple, groups.values()))
