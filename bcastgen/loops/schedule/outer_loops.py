"""The loops around the inner ones of a ranked nest in standalone C, where its loops have variants.

In: a nest, and whether threads share its loops.  Out: an :class:`OuterLoops`.

    (f32[?,?] a, f32[?,?] b) -> a + b     ->   d0 joins d1, in calls where all arrays are adjacent
    (u8[?,3] image, f32[3] mean) -> ...   ->   a loop over d0 around 3 points that compilers write out
    (f32[n,m] a, f32[m,n] b) -> a.T + b   ->   squares of d0 and d1, so that lines of `a` are read whole

What is decided here changes the order of points, never a value: points of a nest do not depend on each other.
"""

from __future__ import annotations

from ...core.frozen import dataclass
from ..array_dims import own_dims
from ..nest import Nest
from .threads import THREAD_BLOCK, Threads

__all__ = [
    "BLOCKS",
    "NONE",
    "PLAIN",
    "PLANNED",
    "ROWS",
    "SHARED",
    "SQUARE",
    "TILES",
    "WALKS",
    "OuterLoops",
    "outer_loops",
    "walk_of",
]

# How the points of a nest are walked, and what is said of it where no other decision says it.
PLANNED, PLAIN, ROWS, BLOCKS, TILES = "planned", "plain", "rows", "blocks", "tiles"
SHARED, NONE = "shared", "none"
WALKS = {
    PLANNED: "planned: a call orders and joins dims by the first result's strides, and goes along the innermost",
    PLAIN: "plain: one loop in another, with the computation of a point in the innermost",
    ROWS: "rows: loops around a call of the inner loop for each row",
    BLOCKS: "",
    TILES: "",
    SHARED: "",
    NONE: "none: there are no points",
}
# The points of a square's side. Measured with floats: 16 and 64 take an eighth and a half longer.
SQUARE = 32
# Rows of up to so many points are written out, where a point costs no more than this; others are worth a call.
_SHORT, _SHORT_TENTHS_NS = 8, 20.0


@dataclass(frozen=True, slots=True)
class OuterLoops:
    """What is done about the loops around the last dim's.

    Attributes
    ----------
    joined : the dims that become part of the last one if every array continues from one row to the next, innermost
        first; each only if those before it have.
    short : the extent of the last dim, where a loop over the rows has so few points written out; else 0.
    square : the dim that goes with the last one in squares, or None.
    read_once : with `short` rows, the operands that are the same in each row, and are read before the loop over rows.
    """

    joined: tuple[int, ...] = ()
    short: int = 0
    square: int | None = None
    read_once: tuple[int, ...] = ()


def outer_loops(nest: Nest, cost: float, shared: bool) -> OuterLoops:
    """Return what is done about the outer loops of a nest.

    Parameters
    ----------
    nest : one of known rank.
    cost : of a point, in tenths of a nanosecond.
    shared : whether threads share its loops, which then take blocks of points and not of rows.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> outer_loops(from_text("(f32[?,4,?] a) -> -a").compilation.program.nests[0], 1.0, shared=False)
    OuterLoops(joined=(1, 0), short=0, square=None, read_once=())
    """
    last = len(nest.domain.dims) - 1
    if last < 1:
        return OuterLoops()
    arrays = [(access, False) for access in nest.operands] + [(access, True) for access in nest.results]
    owns = [own_dims(nest, access, is_result) for access, is_result in arrays]
    joined: list[int] = []
    for dim in range(last - 1, -1, -1):
        if nest.domain.dims[dim].extent == 1:
            continue
        if not all(_joins(own[dim], own[last]) for own in owns):
            break
        joined.append(dim)
    extent = nest.domain.dims[last].extent
    square = _square(owns, last)
    is_short = not (joined or shared) and square is None and cost <= _SHORT_TENTHS_NS
    short = extent if is_short and extent is not None and 1 < extent <= _SHORT else 0
    once = (at for at, own in enumerate(owns[: len(nest.operands)]) if own[last - 1] is None)
    return OuterLoops(tuple(joined), short, square, tuple(once) if short else ())


def walk_of(
    is_ranked: bool, is_called: bool, tile_points: int, outer: OuterLoops, threads: Threads | None
) -> tuple[str, int]:
    """Return how the points of a nest in standalone C are walked, and how many of the last dim's at a time.

    Parameters
    ----------
    is_ranked : whether the rank of its domain is known.
    is_called : whether its inner loop is a function, for which it needs variants and a dim.
    tile_points : the points of a tile, if it has stages.
    outer, threads : what is decided of its outer loops, and which loop threads share.

    Returns
    -------
    walk, points
        One of `WALKS`, and 0 points if rows are whole.
    """
    in_blocks = THREAD_BLOCK if threads is not None and threads.blocks else 0
    if not is_ranked:
        return PLANNED, in_blocks
    if tile_points:
        return TILES, tile_points
    if not is_called:
        return PLAIN, 0
    if outer.square is not None:
        return BLOCKS, SQUARE
    return (BLOCKS, in_blocks) if in_blocks else (ROWS, 0)


def _joins(outer: int | None, inner: int | None) -> bool:
    """Whether an array moves along both of two dims, the outer one first, or along neither."""
    return outer == inner if outer is None or inner is None else outer < inner


def _square(owns: list[tuple[int | None, ...]], last: int) -> int | None:
    """Return the dim along which an array is adjacent that moves along the last dim, too, or None."""
    for own in owns:
        moved = {at: dim for dim, at in enumerate(own) if at is not None}
        if own[last] is not None and moved and (inner := moved[max(moved)]) != last:
            return inner
    return None
