"""The verifier of schedules: checks that the loops of a schedule compute what their nest stores.

In: a schedule.  Out: nothing, or the error that names what is wrong.

    staged: loop of {t1} reads b   ->   t1 needs t0, which the loop neither reads nor computes
"""

from __future__ import annotations

from collections.abc import Iterable

from ...core.errors import BcastgenError
from ..analysis.demands import demanding_statements
from ..nest import Let, Load, Nest, Value
from ..verify import verify
from .inner_loops import InnerLoop, Schedule
from .outer_loops import BLOCKS, NONE, PLANNED, ROWS, TILES, WALKS
from .shared_loops import Sharing
from .variants import UNIT

__all__ = ["verify_program", "verify_schedule"]


def verify_schedule(scheduled: Schedule) -> None:
    """Verify that each loop has its values, that its variants fit its arrays, and that decisions name what there is.

    Raises
    ------
    BcastgenError
        For the first fault found.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> verify_schedule(from_text("(f32[*] a, f32[*] b) -> exp(a) * sin(b)").compilation.schedules[0])
    """
    nest, staged = scheduled.nest, scheduled.staged
    if not scheduled.inline.variants:
        _require(not nest.results, "a nest with results has no inner loop")
        return
    _verify_loop(nest, scheduled.inline, nest.stores, "the loop")
    for number, stage in enumerate(scheduled.stages):
        _verify_loop(nest, stage, stage.gives, f"stage {number}")
    _require(bool(scheduled.stages) == (staged is not None), "stages without a loop that reads them, or the reverse")
    if staged is not None:
        tiles = {value for stage in scheduled.stages for value in stage.gives}
        read = {value for value in staged.reads if isinstance(value, Let)}
        _require(read <= tiles, "the loop after the stages reads a tile that none of them gives")
        _verify_loop(nest, staged, nest.stores, "the loop after the stages")
    for sides in scheduled.inline.sides:
        _require(sides.variant in scheduled.inline.variants, "two sides are of no variant of the loop")
        for side in (sides.holds, sides.fails):
            verify(side.nest)
            _verify_loop(side.nest, side.loop, side.nest.stores, f"a side of {sides.variant.name}")
    _verify_decisions(scheduled)


def _verify_loop(nest: Nest, loop: InnerLoop, stored: Iterable[Value], name: str) -> None:
    names = [variant.name for variant in loop.variants]
    _require(len(set(names)) == len(names), f"{name} has two variants of one name: {', '.join(names)}")
    for variant in loop.variants:
        count = len(variant.operands)
        _require(count == len(loop.reads), f"{name} reads {len(loop.reads)} arrays, its variant {variant.name} {count}")
    _require(tuple(loop.gives) == tuple(stored), f"{name} does not give what is stored")
    _verify_values(nest, loop.reads, loop.statements, loop.gives, name)
    tiles: set[Value] = set()
    for number, block in enumerate(loop.blocks, 1):
        own = f"{name}, block loop {number},"
        given: tuple[Value, ...] = tuple(map(Let, block.gives))
        _require(set(block.reads) <= {*loop.reads, *tiles}, f"{own} reads what neither the loop nor an earlier one has")
        is_last = number == len(loop.blocks)
        _verify_values(nest, block.reads, block.statements, (*given, *(loop.gives if is_last else ())), own)
        tiles |= set(given)
    if loop.words is not None:
        _require(set(loop.words.variants) <= set(loop.variants), f"{name} has words in a variant that it has not")
    if loop.widened is not None:
        served = set(loop.widened.variants)
        _require(served <= set(loop.variants), f"{name} widens what it reads in a variant that it has not")
        _require(not loop.blocks, f"{name} widens what it reads, and goes by blocks")
        _require(loop.words is None or served.isdisjoint(loop.words.variants), f"{name} has words that are widened")


def _verify_values(
    nest: Nest, reads: Iterable[Value], statements: frozenset[int], gives: Iterable[Value], name: str
) -> None:
    """Verify that statements read only what is read, what is computed before them, and constants."""
    known = {value for value in reads if isinstance(value, Load | Let)}
    for at in sorted(statements):
        for value in nest.body[at].operands:
            known_here = not isinstance(value, Load | Let) or value in known
            _require(known_here, f"{name} computes t{at} from {nest.show(value)}, which it neither reads nor computes")
        known.add(Let(at))
    for value in gives:
        known_here = not isinstance(value, Load | Let) or value in known
        _require(known_here, f"{name} gives {nest.show(value)}, which it neither reads nor computes")


def _verify_decisions(scheduled: Schedule) -> None:
    rank, threads, shared = len(scheduled.nest.domain.dims), scheduled.threads, scheduled.shared_pass
    is_standalone = not scheduled.run_time
    _require(threads is None or is_standalone, "the run time shares loops among threads itself")
    _require(threads is None or scheduled.nest.domain.open or 0 <= threads.dim < rank, "threads share a loop of no dim")
    _verify_walk(scheduled)
    _verify_arrays(scheduled)
    if shared is not None:
        _require(set(shared.rows) <= set(range(rank)), f"the rows {shared.rows} are no dims of the nest")
        _require(shared.saved is None or len(scheduled.stages) == 1, "saved values are those of no stage")


def verify_program(nests: tuple[Schedule, ...], sharing: Sharing | None, restrict: bool) -> None:
    """Verify the schedule of each nest, and that what nests do together leaves none out and reads what there is.

    Raises
    ------
    BcastgenError
        For the first fault found.
    """
    for at, one in enumerate(nests):
        verify_schedule(one)
        later = {access.number for after in nests[at + 1 :] for access in after.nest.operands}
        free = sharing is not None or later.isdisjoint(number for numbers in one.in_place for number in numbers)
        _require(free, f"a result of nest {at} may be an operand that a later nest reads")
        _require(not (restrict and any(one.in_place)), "a result that is `restrict` may be an operand")
    if sharing is not None:
        _verify_sharing(nests, sharing)


def _verify_sharing(nests: tuple[Schedule, ...], sharing: Sharing) -> None:
    members = [member for group in sharing.groups for member in group.members]
    computed = [at for at, one in enumerate(nests) if one.nest.results]
    _require(sorted(member.nest for member in members) == computed, "a nest is in no shared loops, or in several")
    for member in members:
        own, dims = nests[member.nest], range(len(nests[member.nest].nest.domain.dims))
        _require(set(member.dims) <= set(dims), f"nest {member.nest} shares a loop over no dim of its own")
        read = sharing.in_memory.intersection(access.number for access in own.nest.operands)
        _require(member.from_memory <= read, f"nest {member.nest} reads from memory what is not there")
    asked = (*sharing.asks, *(at for group in sharing.groups for at in group.asks))
    asking = [at for at in computed if demanding_statements(nests[at].nest)]
    _require(sorted(asked) == asking, "elements of a nest are never looked at, or twice")


def _verify_walk(scheduled: Schedule) -> None:
    nest, walk, points = scheduled.nest, scheduled.walk, scheduled.block_points
    _require(walk in WALKS, f"there is no walk {walk!r}")
    is_tiled = bool(scheduled.stages) and not scheduled.run_time
    _require(is_tiled == (walk == TILES) and (not is_tiled or points > 0), "tiles are of no size")
    _require(walk != BLOCKS or points > 0, "blocks are of no size")
    _require(walk != NONE or nest.domain.is_empty, "a nest with points has no loops")
    _require(walk != ROWS or len(scheduled.inline.variants) > 1, "rows are those of a loop without variants")
    _require(walk != PLANNED or scheduled.run_time or nest.domain.open, "a nest of known rank has a plan")
    outside = (dim for at, dim in enumerate(nest.domain.dims) if at not in scheduled.dims)
    is_dense = scheduled.dims == () or all(dim.extent == 1 for dim in outside)
    _require(is_dense, "a dim of several points has no loop")
    _require(not scheduled.copies or (nest.stores == (Load(0),) and not nest.reduced), "what is computed is no copy")


def _verify_arrays(scheduled: Schedule) -> None:
    """Verify that results may be only operands of their C types, and that loops rely only on what callers promise."""
    nest = scheduled.nest
    for result, numbers in zip(nest.results, scheduled.in_place, strict=False):
        c = {access.number: access.dtype.c_in_memory for access in nest.operands}
        is_alike = all(c.get(number) == result.dtype.c_in_memory for number in numbers)
        _require(is_alike, f"{result.name} may be an array of another type")
    _require(
        all(at < len(nest.operands) + len(nest.results) for at in scheduled.aligned), "what is aligned is no array"
    )
    for loop in scheduled.loops:
        for variant in loop.variants:
            own = variant.classes(len(loop.reads) + len(nest.results))
            is_row = all(own[at] == UNIT for at in variant.aligned)
            _require(is_row and (not variant.aligned or scheduled.alignment > 0), f"{variant.name} aligns no rows")
    for block in scheduled.inline.blocks:
        _require(set(block.prefetched) <= set(block.reads), "a loop prefetches what it does not read")


def _require(holds: bool, fault: str) -> None:
    if not holds:
        raise BcastgenError(f"schedule: {fault}")
