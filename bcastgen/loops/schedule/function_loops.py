"""Chains: bodies cut in parts where one function waits for another.

In: a nest, statements of its body, and what they give.  Out: a :class:`Part` for each loop, in order; one, or several.

    r = x * tanh(log1p(exp(x)))   ->   t0 = exp(x); t1 = log1p(t0); t2 = tanh(t1), t3 = x * t2

A function is a long chain of sums and products. Within one, and with several beside each other, a CPU looks far enough
ahead to work at the next points meanwhile; with two or three behind one another it does not, and a loop takes up to
half again as long as one loop for each. So functions that wait for each other get loops of their own, over blocks of
points whose values stand in tiles. What is cheap and made of operands alone is computed again where it is needed.
"""

from __future__ import annotations

from ...core.frozen import dataclass
from ..nest import Let, Load, Nest, Value
from .staging import reads_of, statements_of

__all__ = ["BLOCK", "GROUP", "Part", "parts_of"]

# Points of a block: short enough for the first cache, long enough for what a loop costs to begin.
BLOCK = 256
# Points of a group whose halves are computed side by side: few, as out of a cache both are to be one stream of memory.
GROUP = 64
# A function: tenths of a nanosecond of a 32-bit element (see Op.cost).
_FUNCTION = 2.5
# Tiles of 8-byte values in 8 KiB, beside the 16 KiB of the plan's own.
_MAX_TILES = 4


@dataclass(frozen=True, slots=True)
class Part:
    """One of the loops.

    Attributes
    ----------
    reads : operands, and values that stand in tiles: of stages, or of earlier parts.
    statements : of the nest's body, that it computes.
    gives : the statements whose values later parts read.
    """

    reads: tuple[Load | Let, ...]
    statements: frozenset[int]
    gives: tuple[int, ...]


def parts_of(
    nest: Nest, statements: frozenset[int], values: tuple[Value, ...], costs: tuple[float, ...]
) -> tuple[Part, ...]:
    """Cut a loop in parts.

    Parameters
    ----------
    nest, statements, values : what the loop computes, of which body, and the values it gives.
    costs : of the body's statements, in tenths of a nanosecond.
    """
    depths = _depths(nest, statements, costs)
    last = max(depths.values(), default=0)
    whole = (Part(reads_of(nest, values, statements, _others(nest, statements)), statements, ()),)
    if last < 2:
        return whole
    # What functions give to statements behind further ones, or to the last loop, which alone writes results.
    crossing = {
        value.index
        for at in statements
        for value in nest.body[at].operands
        if isinstance(value, Let) and 0 < depths.get(value.index, 0) < depths[at]
    }
    crossing |= {value.index for value in values if isinstance(value, Let) and 0 < depths.get(value.index, 0) < last}
    if len(crossing) > _MAX_TILES:
        return whole
    parts = []
    for depth in range(1, last + 1):
        gives = tuple(sorted(at for at in crossing if depths[at] == depth))
        wanted = tuple(map(Let, gives)) if depth < last else values
        tiles = _others(nest, statements) | {at for at in crossing if depths[at] < depth}
        own = statements_of(nest, wanted, tiles)
        parts.append(Part(reads_of(nest, wanted, own, tiles), own, gives))
    return tuple(parts)


def _others(nest: Nest, statements: frozenset[int]) -> frozenset[int]:
    """The statements that a loop does not compute: it has their values from elsewhere."""
    return frozenset(range(len(nest.body))) - statements


def _depths(nest: Nest, statements: frozenset[int], costs: tuple[float, ...]) -> dict[int, int]:
    """Return how many functions each statement waits for, itself included."""
    depths: dict[int, int] = {}
    for at in sorted(statements):
        statement = nest.body[at]
        waits = [depths.get(value.index, 0) for value in statement.operands if isinstance(value, Let)]
        bits = max(dtype.computed_in.bits for dtype in (*statement.operand_dtypes, statement.dtype))
        is_function = statement.op.ulp > 0 and costs[at] >= _FUNCTION * bits / 32
        depths[at] = max(waits, default=0) + is_function
    return depths
