"""Threads: which loop of a nest in standalone C threads share by OpenMP, and from how many points on.

In: a nest, the loops that may be shared, and the cost of a point.  Out: a :class:`Threads`, or None.

    nest (d0, d1) of a + b * 2   ->   blocks of points of d1, for all of d0, where there are more than 131072 points

No thread reads an element that another one writes, so results do not depend on threads. Where the inner loop is a
function, threads share all loops, and take blocks of points of the last dim; so they do in a nest of any rank, whose
loops are found at run time.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...core.frozen import dataclass
from ..nest import Nest
from .costs import whole_tenths

__all__ = ["THREAD_BLOCK", "Threads", "threads"]

# The points that a thread takes at a time from an inner loop.
THREAD_BLOCK = 4096
# A parallel loop takes this long to start and end; from memory, a point takes at least this long.
_START_TENTHS_NS, _MIN_POINT_TENTHS_NS = 200_000, 2
# A loop of this many iterations is enough for several threads.
_MIN_ITERATIONS = 8


@dataclass(frozen=True, slots=True)
class Threads:
    """The loop that threads share.

    Attributes
    ----------
    dim : the loop's dim, in a ranked nest; the outermost one of the plan in a nest of any rank.
    blocks : whether threads take blocks of `THREAD_BLOCK` points of it.
    points : the number of points beyond which threads pay.
    asks : whether a call compares its points with that; if not, types show that there are more.
    loops : how many loops they share, of which `dim` is the last; they are directly within each other.
    """

    dim: int
    blocks: bool
    points: int
    asks: bool
    loops: int = 1

    def __str__(self) -> str:
        what = f"blocks of {THREAD_BLOCK} points of d{self.dim}" if self.blocks else f"the loop over d{self.dim}"
        what += f", in all {self.loops} loops" if self.loops > 1 else ""
        when = "in calls of" if self.asks else "since there are"
        return f"threads share {what}, {when} more than {self.points} points"


def threads(nest: Nest, cost: float, dims: Sequence[int], in_blocks: bool, in_one: bool = False) -> Threads | None:
    """Return the loop of a nest that threads share; None if threads never pay.

    Parameters
    ----------
    nest : the nest.
    cost : of a point, in tenths of a nanosecond.
    dims : the dims of the loops that may be shared, outermost first.
    in_blocks : whether the innermost loop is a function's, which can be called for a block.
    in_one : whether all loops are directly within each other, so that threads can share all of them.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> nest = from_text("(f32[?, 4] a) -> a * 2").compilation.program.nests[0]
    >>> print(threads(nest, 1.0, (0, 1), in_blocks=True))
    threads share the loop over d0, in calls of more than 131072 points
    """
    points = 1 << (_START_TENTHS_NS // max(whole_tenths(cost), _MIN_POINT_TENTHS_NS)).bit_length()
    if nest.domain.open:
        return Threads(0, True, points, True)
    extents = [dim.extent for dim in nest.domain.dims]
    asks = None in extents
    if not dims or 0 in extents or (not asks and prod(extent or 1 for extent in extents) <= points):
        return None
    if in_blocks and in_one:
        return Threads(len(extents) - 1, True, points, asks, len(extents))
    many = (dim for dim in dims if (extent := extents[dim]) is None or extent >= _MIN_ITERATIONS)
    dim = next(many, dims[0])
    return Threads(dim, in_blocks and dim == len(extents) - 1, points, asks)
