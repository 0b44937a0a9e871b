"""Function loops: bodies cut into one loop for each function that waits for another function's value.

In: a nest, statements of its body, and the values they give.  Out: a :class:`BlockLoop` for each loop, in order.

    r = x * tanh(log1p(exp(x)))   ->   t0 = exp(x); t1 = log1p(t0); t2 = tanh(t1), t3 = x * t2

A function is a long chain of sums and products. With one function in a loop, or several independent ones, a CPU looks
far enough ahead to work on the next points meanwhile. With two or three functions in a dependent chain it does not, and
the loop takes up to half again as long as one loop for each function. So functions that wait for each other get loops
of their own, over blocks of points whose values are kept in tiles. Cheap statements that depend on no function are
computed again in each loop that needs them.

Where a loop has one function with a long chain, two points are computed side by side: a pair.
"""

from __future__ import annotations

from ...core.frozen import dataclass, replace
from ..nest import Let, Load, Nest, Value
from .common_cases import CommonCase, common_case
from .staging import reads_of, statements_of
from .variants import Variant

__all__ = ["AHEAD", "BLOCK", "GROUP", "BlockLoop", "block_loops", "function_loops"]

# Points of a block: few enough for the L1 cache, enough to pay for the start of a loop.
BLOCK = 256
# Points of a group whose halves are computed side by side: few, so that memory is still read as one stream.
GROUP = 64
# A loop with a test prefetches what is so many points ahead, which is what the test after the next one reads; and it
# does so before each so many bytes of its widest operand: with fewer, loops over f32 are too short.
AHEAD, _PREFETCHED_BYTES = 2 * BLOCK, 1024
# The least cost of a function, in tenths of a nanosecond of a 32-bit element (see Op.cost_tenths_ns).
_FUNCTION_TENTHS_NS = 2.5
# Four tiles of 8-byte values take 8 KiB, beside the 16 KiB of the plan's own tiles.
_MAX_TILES = 4


@dataclass(frozen=True, slots=True)
class BlockLoop:
    """One loop over a block of points.

    Attributes
    ----------
    reads : operands, and values that stages or earlier loops keep in tiles.
    statements : the statements of the nest's body that it computes.
    gives : the statements whose values later loops read.
    common_case : the test for blocks in which its functions take their short forms, or None.
    pairs : whether points are computed two at a time, one from each half of a group.
    prefetches : before each so many points, as many of the operands' are prefetched, `AHEAD` points ahead; 0: none.
    prefetched : these operands, which are those it reads: tiles are in the first cache.
    """

    reads: tuple[Load | Let, ...]
    statements: frozenset[int]
    gives: tuple[int, ...]
    common_case: CommonCase | None = None
    pairs: bool = False
    prefetches: int = 0
    prefetched: tuple[Load, ...] = ()

    def in_pairs(self, variant: Variant) -> bool:
        """Whether points go in pairs in a variant of the loop: not where an operand is one value along it."""
        return self.pairs and variant.moves


def block_loops(
    nest: Nest,
    statements: frozenset[int],
    values: tuple[Value, ...],
    costs: tuple[float, ...],
    fast: bool,
    variants: int,
) -> tuple[BlockLoop, ...]:
    """Return the loops over blocks that a loop consists of; none where a plain loop over all points does as well.

    Parameters
    ----------
    nest, statements, values : the nest, the statements of its body that the loop computes, and the values it gives.
    costs : the costs of the body's statements, in tenths of a nanosecond.
    fast : whether functions take their fast forms.
    variants : the number of variants in which the loop is compiled.
    """
    found = []
    for loop in function_loops(nest, statements, values, costs):
        case = common_case(nest, loop.statements, fast, variants)
        pairs = _is_in_pairs(nest, loop.statements, case is not None)
        read = () if case is None or pairs else tuple(read for read in loop.reads if isinstance(read, Load))
        ahead = _prefetched_points(nest, read)
        found.append(replace(loop, common_case=case, pairs=pairs, prefetches=ahead, prefetched=read))
    is_plain = len(found) == 1 and found[0].common_case is None and not found[0].pairs
    return () if is_plain else tuple(found)


def _prefetched_points(nest: Nest, read: tuple[Load, ...]) -> int:
    """Return before how many points, each time, as many points of these operands are prefetched.

    The test of a block reads all of it before anything is computed, and memory would then rest. In pairs, points are
    read as they are computed.
    """
    widest = max((nest.operands[one.access].dtype.bytes for one in read), default=0)
    return min(BLOCK, _PREFETCHED_BYTES // widest) if widest else 0


def _is_in_pairs(nest: Nest, statements: frozenset[int], short: bool) -> bool:
    """Whether a loop has exactly one function, which is faster in pairs; pairs take the compiler longer."""
    functions = [row for row in map(nest.body.__getitem__, sorted(statements)) if row.op.ulp or row.op.definition]
    if len(functions) != 1:
        return False
    (row,) = functions
    return row.op.in_pairs(row.operand_dtypes, row.constant) and (short or not row.op.is_scalar(row.operand_dtypes))


def function_loops(
    nest: Nest, statements: frozenset[int], values: tuple[Value, ...], costs: tuple[float, ...]
) -> tuple[BlockLoop, ...]:
    """Return the loops of a body cut where one function waits for another; a single loop where none does."""
    depths = _depths(nest, statements, costs)
    last = max(depths.values(), default=0)
    whole = (BlockLoop(reads_of(nest, values, statements, _others(nest, statements)), statements, ()),)
    if last < 2:
        return whole
    # Values that statements of a greater depth read, or that the last loop stores; only the last one writes results.
    crossing = {
        value.index
        for at in statements
        for value in nest.body[at].operands
        if isinstance(value, Let) and 0 < depths.get(value.index, 0) < depths[at]
    }
    crossing |= {value.index for value in values if isinstance(value, Let) and 0 < depths.get(value.index, 0) < last}
    if len(crossing) > _MAX_TILES:
        return whole
    loops = []
    for depth in range(1, last + 1):
        gives = tuple(sorted(at for at in crossing if depths[at] == depth))
        wanted = tuple(map(Let, gives)) if depth < last else values
        tiles = _others(nest, statements) | {at for at in crossing if depths[at] < depth}
        own = statements_of(nest, wanted, tiles)
        loops.append(BlockLoop(reads_of(nest, wanted, own, tiles), own, gives))
    return tuple(loops)


def _others(nest: Nest, statements: frozenset[int]) -> frozenset[int]:
    """Return the statements that a loop does not compute: it reads their values from tiles."""
    return frozenset(range(len(nest.body))) - statements


def _depths(nest: Nest, statements: frozenset[int], costs: tuple[float, ...]) -> dict[int, int]:
    """Return the depth of each statement: the functions in the longest chain that ends in it, itself included."""
    depths: dict[int, int] = {}
    for at in sorted(statements):
        statement = nest.body[at]
        waits = [depths.get(value.index, 0) for value in statement.operands if isinstance(value, Let)]
        bits = max(dtype.computed_in.bits for dtype in (*statement.operand_dtypes, statement.dtype))
        is_function = statement.op.ulp > 0 and costs[at] >= _FUNCTION_TENTHS_NS * bits / 32
        depths[at] = max(waits, default=0) + is_function
    return depths
