"""Threads by OpenMP: which loop of a nest threads share, and from how many points.

In: a nest's view.  Out: a :class:`Threads`.

    nest (d0, d1) of a + b * 2  ->  the loop over d0, `#pragma omp parallel for if (d0 * d1 > 131072)`

No thread reads an element that another one writes, so results do not depend on threads. If the shared loop is the inner
one, threads take blocks of points; so they do in a nest of any rank, whose loops are found at run time.
"""

from __future__ import annotations

from math import prod

from ...core.frozen import dataclass
from ..kernel.model import NestView

__all__ = ["BLOCK", "SENTENCE", "Threads", "threads"]

# The points of a block.
BLOCK = 4096
# A parallel loop takes this long to start and end; from memory, a point takes at least this long.
_START_TENTHS_NS, _MIN_POINT_TENTHS_NS = 200_000, 2
# A loop of this many iterations is enough for several threads.
_MIN_ITERATIONS = 8

SENTENCE = "Compiled with -fopenmp, large loops are divided among threads; results are the same."


@dataclass(frozen=True, slots=True)
class Threads:
    """The loop that threads share.

    Attributes
    ----------
    dim : the loop's dim, in a ranked nest.
    blocks : whether the loop is over blocks of points.
    points : the number of points beyond which threads pay.
    condition : a C condition on the nest's extents for that; empty if they are known to suffice.
    """

    dim: int
    blocks: bool
    points: int
    condition: str


def threads(nest: NestView) -> Threads | None:
    """Return the loop of a nest that threads share; None if threads never pay."""
    points = 1 << (_START_TENTHS_NS // max(nest.inline.cost_tenths_ns, _MIN_POINT_TENTHS_NS)).bit_length()
    if nest.rank is None:
        return Threads(0, True, points, "")
    if nest.rank == 0:
        return None
    extents = nest.extents
    known = prod(extent for extent in extents if extent is not None)
    if None not in extents and known <= points:
        return None
    many = [dim for dim, extent in enumerate(extents) if extent is None or extent >= _MIN_ITERATIONS]
    dim = many[0] if many else 0
    terms = [f"d{at}" for at, extent in enumerate(extents) if extent != 1]
    condition = f"{' * '.join(terms)} > {points}" if None in extents else ""
    return Threads(dim, dim == nest.rank - 1 and len(nest.variants) > 1, points, condition)
