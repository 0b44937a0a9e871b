"""Threads by OpenMP: which loop of a nest they share, and from how many points on.

In: a nest's view.  Out: a :class:`Threads`.

    nest (d0, d1) of a + b * 2  ->  the loop over d0, `#pragma omp parallel for if (d0 * d1 > 131072)`

No thread reads what another one writes, so results are those of one thread. Where the loop is that over points, it goes
by blocks of these, each of which is an inner loop; and in a nest of any rank, whose loops are found at run time, too.
"""

from __future__ import annotations

from math import prod

from ...core.frozen import dataclass
from ..kernel.model import NestView

__all__ = ["BLOCK", "OPENMP_FLAGS", "SENTENCE", "Threads", "threads"]

OPENMP_FLAGS = ("-fopenmp",)
# Points of a block.
BLOCK = 4096
# What it takes to begin and end, in tenths of a nanosecond of one thread; a point takes at least so many, from memory.
_WORTH, _LEAST_COST = 200_000, 2
# Iterations that are enough for several threads.
_ENOUGH = 8

SENTENCE = "Compiled with -fopenmp, threads share large loops; results are the same."


@dataclass(frozen=True, slots=True)
class Threads:
    """What threads share.

    Attributes
    ----------
    dim : the loop's, in a ranked nest.
    blocks : whether it goes by blocks of points.
    points : the number beyond which it pays.
    condition : C that says whether it does, of the nest's extents; none where these are known to be enough.
    """

    dim: int
    blocks: bool
    points: int
    condition: str


def threads(nest: NestView) -> Threads | None:
    """Return what the threads of a nest share; nothing, where it never pays."""
    points = 1 << (_WORTH // max(nest.inline.cost_tenths_ns, _LEAST_COST)).bit_length()
    if nest.rank is None:
        return Threads(0, True, points, "")
    if nest.rank == 0:
        return None
    extents = nest.extents
    known = prod(extent for extent in extents if extent is not None)
    if None not in extents and known <= points:
        return None
    many = [dim for dim, extent in enumerate(extents) if extent is None or extent >= _ENOUGH]
    dim = many[0] if many else 0
    terms = [f"d{at}" for at, extent in enumerate(extents) if extent != 1]
    condition = f"{' * '.join(terms)} > {points}" if None in extents else ""
    return Threads(dim, dim == nest.rank - 1 and len(nest.variants) > 1, points, condition)
