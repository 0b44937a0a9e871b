"""Scheduling: makes every decision about the inner loops of a nest; the emitter of C only reads them.

In: a nest.  Out: a :class:`Schedule`.

    exp(a) * sin(b)  ->  one loop that computes everything, in variants; stages t0 of a and t1 of b, and a loop that
                         reads both; for each loop, whether it goes by blocks of points, and which forms it takes
"""

from __future__ import annotations

from ...core.dtypes import BOOL, F16
from ...core.frozen import replace
from ..nest import Let, Load, Nest, Value
from .byte_words import byte_words
from .costs import costs_of
from .function_loops import block_loops
from .inner_loops import InnerLoop, Schedule
from .outer_loops import NONE, PLAIN, SHARED, TILES, OuterLoops, outer_loops
from .staging import Stage, Staging, hoisted, stage
from .unswitching import masks, two_sided
from .variants import (
    ANY,
    DENSE,
    MAX_VARIANTS,
    UNIT,
    ZERO,
    Variant,
    classes_of,
    named,
    planned,
    shown_by_types,
    specialised,
    usual_count,
)
from .widened_reads import widened_reads

__all__ = ["nested_loops", "one_variant", "plain_loops", "schedule"]

# Up to this cost a point, 256-bit vectors are as fast as 512-bit ones in a cache, and 2 to 6% faster outside. Divisions
# and square roots do not count: with 512 bits an Intel core runs more slowly, and its divider with it (by a tenth). The
# second number is for elements of 64 bits, on which an op costs twice as much.
_LIGHT_TENTHS_NS, _LIGHT_TENTHS_NS_64 = 1.5, 2.0
# Bytes for all tiles of a nest, which standalone C keeps on its stack.
_TILE_BYTES = 16 * 1024


def schedule(nest: Nest, variants: int | None = None, fast: bool = False) -> Schedule:
    """Return the schedule of a nest whose loops the run time plans.

    Parameters
    ----------
    nest : the nest.
    variants : how many variants to make beside the one in which every array moves; None for as many as pay.
    fast : whether functions take their fast forms.
    """
    costs = costs_of(nest) if nest.results else ()
    total = sum(costs)
    f16 = any(access.dtype is F16 for access in (*nest.operands, *nest.results))
    light = _is_light(nest, costs)
    if not nest.results:
        return Schedule(nest, _whole(nest, (), total), run_time=True, light=light)
    possible = tuple(classes_of(access, ranked=False) for access in nest.operands)
    staging = stage(nest, costs)
    decisive = masks(nest, possible)
    # With stages, what types show to be stationary needs no variant: its expensive part is in a stage.
    shown = shown_by_types(nest) if staging is None else ()
    count = variants
    if count is None:
        count = usual_count(total, possible, staging is not None, bool(decisive), bool(shown))
    made = planned(tuple(access.name for access in nest.operands), possible, count, decisive, shown)
    inline = replace(_whole(nest, made, total, costs, fast), sides=two_sided(nest, made, decisive, fast))
    if staging is None:
        copies = len(nest.operands) == 1 and nest.stores == (Load(0),) and not nest.reduced
        return Schedule(nest, inline, run_time=True, f16_blocks=f16, light=light, copies=copies)
    stages = tuple(
        _part(nest, part, (Let(part.value),), (_unit(len(part.reads)),), costs, fast) for part in staging.stages
    )
    possible = tuple(possible[read.access] if isinstance(read, Load) else (UNIT, ZERO) for read in staging.reads)
    count = usual_count(staging.cost_tenths_ns, possible) if variants is None else variants
    made = planned(_read_names(nest, staging.reads), possible, count)
    staged = _part(nest, staging, nest.stores, made, costs, fast)
    return Schedule(nest, inline, stages, staged, run_time=True, f16_blocks=f16, light=light)


def one_variant(scheduled: Schedule, is_staged: bool, stationary: int, fast: bool = False) -> Schedule:
    """Return a schedule in which one loop has one variant: that of a pattern which calls turned out to have.

    Parameters
    ----------
    scheduled : the schedule of the nest, which the run time plans.
    is_staged : whether it is the loop after the stages, or the one that computes everything.
    stationary : the arrays that are one value along the loop, a bit for each that it reads.
    fast : whether functions take their fast forms.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> made = from_text("(f32[*] a, f32[*] b, f32[*] c, f32[*] d) -> a*b + c*d").compilation.schedules[0]
    >>> print(one_variant(made, False, 0b1010).inline.variants[0])
    zero_b_d: operands (unit, zero, unit, zero), results unit
    """
    nest, loop = scheduled.nest, scheduled.staged if is_staged else scheduled.inline
    assert loop is not None
    names = _read_names(nest, loop.reads)
    classes = tuple(ZERO if stationary >> at & 1 else UNIT for at in range(len(names)))
    variants = named(names, (classes,))
    if is_staged:
        return replace(scheduled, staged=replace(loop, variants=variants))
    found = masks(nest, tuple(classes_of(access, ranked=False) for access in nest.operands))
    words, widened = (None, None) if loop.blocks else (byte_words(nest, variants), widened_reads(nest, variants))
    sides = two_sided(nest, variants, found, fast)
    loop = replace(loop, variants=variants, words=words, widened=widened, sides=sides)
    return replace(scheduled, inline=loop)


def nested_loops(
    nest: Nest, variants: int | None = None, ranked: bool = False, vector_bytes: int = 0, shared: bool = False
) -> Schedule:
    """Return the schedule of a nest in standalone C; its last variant, `any`, serves every call.

    Parameters
    ----------
    nest : the nest.
    variants : how many specialised variants to make beside `any`; 0 for one plain loop, None for as many as pay.
    ranked : True if the innermost loop is the domain's last dim, as in nested loops; False if the plan picks the dim.
    vector_bytes : the size of the target's vectors; 0 if loops say nothing of it.
    shared : whether threads may share loops.
    """
    if not nest.results:
        return Schedule(nest, _whole(nest, (), 0.0))
    costs = costs_of(nest)
    total = sum(costs)
    count = len(nest.operands)
    # Without dims there is no loop that could have variants; nor is there if the innermost one has one point.
    dims = nest.domain.dims
    no_loop = dims[-1].extent == 1 if ranked and dims else not (dims or nest.domain.open)
    limit = 0 if no_loop else MAX_VARIANTS - 1 if variants is None else variants
    possible = tuple(classes_of(access, ranked) for access in nest.operands)
    plain = Variant(ANY, (ANY,) * count, ANY)
    staging = hoisted(nest, costs) if ranked and limit else None
    if staging is None:
        names = tuple(access.name for access in nest.operands)
        whole = _whole(nest, (*specialised(names, possible, limit), plain), total)
        outer = outer_loops(nest, total, shared) if ranked and len(whole.variants) > 1 else OuterLoops()
        return Schedule(nest, _with_lanes(nest, whole, vector_bytes), outer=outer)
    behind = _read_classes(possible, staging.reads)
    last = Variant(ANY, _any_strides(staging.reads), ANY)
    made = (*specialised(_read_names(nest, staging.reads), behind, limit), last)
    stages = tuple(
        InnerLoop(
            part.reads,
            part.statements,
            (Let(part.value),),
            # An operand whose type proves it stationary is no row of elements, so its class is not `unit`.
            (
                Variant(UNIT, tuple(classes[0] for classes in _read_classes(possible, part.reads)), UNIT),
                Variant(ANY, _any_strides(part.reads), UNIT),
            ),
            part.cost_tenths_ns,
        )
        for part in staging.stages
    )
    staged = InnerLoop(staging.reads, staging.statements, nest.stores, made, staging.cost_tenths_ns)
    bytes_a_point = sum(nest.body[part.value].dtype.computed_in.bytes for part in staging.stages)
    return Schedule(
        nest,
        _whole(nest, (plain,), total),
        tuple(_with_lanes(nest, part, vector_bytes) for part in stages),
        _with_lanes(nest, staged, vector_bytes),
        walk=TILES,
        block_points=1 << ((_TILE_BYTES // bytes_a_point).bit_length() - 1),
    )


def plain_loops(nest: Nest, dense: bool, marked: bool, vector_bytes: int = 0, shared: bool = False) -> Schedule:
    """Return the schedule of a nest in standalone C whose loops are written out, in one variant.

    Parameters
    ----------
    nest : the nest.
    dense : whether types say the stride of each array.
    marked : whether the innermost loop says that its iterations are independent, and how many a vector holds.
    vector_bytes : the size of the target's vectors; 0 if loops say nothing of it.
    shared : whether nests share loops.
    """
    if not nest.results:
        return Schedule(nest, _whole(nest, (), 0.0))
    plain = Variant(ANY, (ANY,) * len(nest.operands), ANY)
    if dense and marked:
        plain = Variant(DENSE, tuple(classes_of(access, ranked=True)[0] for access in nest.operands), UNIT)
    loop = _with_lanes(nest, _whole(nest, (plain,), sum(costs_of(nest))), vector_bytes)
    dims = tuple(at for at, dim in enumerate(nest.domain.dims) if dim.extent != 1)
    # A reduction of no elements has a value.
    walk = NONE if nest.domain.is_empty and not nest.reduced else SHARED if shared else PLAIN
    return Schedule(nest, loop, walk=walk, dims=dims)


def _with_lanes(nest: Nest, loop: InnerLoop, vector_bytes: int) -> InnerLoop:
    """Return a loop whose variants over adjacent elements say how many of its widest values a vector holds."""
    if not vector_bytes:
        return loop
    lanes = max(vector_bytes // _widest(nest, loop), 1)
    adjacent = (one if ANY in (*one.operands, one.results) else replace(one, lanes=lanes) for one in loop.variants)
    return replace(loop, variants=tuple(adjacent))


def _widest(nest: Nest, loop: InnerLoop) -> int:
    """Return the bytes of the largest value that a loop reads, computes or writes."""
    values = (*loop.reads, *loop.gives, *map(Let, loop.statements))
    dtypes = [nest.operands[value.access].dtype for value in values if isinstance(value, Load)]
    dtypes += [nest.body[value.index].dtype for value in values if isinstance(value, Let)]
    dtypes += [access.dtype for access in nest.results] if loop.gives == nest.stores else []
    return max((dtype.computed_in.bytes for dtype in dtypes), default=1)


def _whole(
    nest: Nest, variants: tuple[Variant, ...], cost: float, costs: tuple[float, ...] | None = None, fast: bool = False
) -> InnerLoop:
    """Return the loop that computes all of a nest; if `costs` are given, in blocks or words where these pay."""
    statements, reads = frozenset(range(len(nest.body))), tuple(map(Load, range(len(nest.operands))))
    if costs is None:
        return InnerLoop(reads, statements, nest.stores, variants, cost)
    blocks = block_loops(nest, statements, nest.stores, costs, fast, len(variants))
    words, widened = (None, None) if blocks else (byte_words(nest, variants), widened_reads(nest, variants))
    return InnerLoop(reads, statements, nest.stores, variants, cost, blocks, words, widened)


def _part(
    nest: Nest,
    part: Stage | Staging,
    gives: tuple[Value, ...],
    variants: tuple[Variant, ...],
    costs: tuple[float, ...],
    fast: bool,
) -> InnerLoop:
    """Return the loop of a stage, or the one that reads the stages' tiles."""
    blocks = block_loops(nest, part.statements, gives, costs, fast, len(variants))
    return InnerLoop(part.reads, part.statements, gives, variants, part.cost_tenths_ns, blocks)


def _unit(count: int) -> Variant:
    return Variant(UNIT, (UNIT,) * count, UNIT)


def _read_classes(possible: tuple[tuple[str, ...], ...], reads: tuple[Load | Let, ...]) -> tuple[tuple[str, ...], ...]:
    """Return the possible stride classes of each read: those of its operand, or `unit` for a tile."""
    return tuple(possible[read.access] if isinstance(read, Load) else (UNIT,) for read in reads)


def _any_strides(reads: tuple[Load | Let, ...]) -> tuple[str, ...]:
    """Return the stride class of each read where operands have any strides: `any`, or `unit` for a tile."""
    return tuple(ANY if isinstance(read, Load) else UNIT for read in reads)


def _read_names(nest: Nest, reads: tuple[Load | Let, ...]) -> tuple[str, ...]:
    """Return the name of each operand, or tile, that a loop reads."""
    return tuple(nest.operands[read.access].name if isinstance(read, Load) else f"t{read.index}_tile" for read in reads)


def _is_light(nest: Nest, costs: tuple[float, ...]) -> bool:
    """Whether memory or the divider bounds the time of a nest's loops, so that 512-bit vectors gain nothing.

    This is so if there are few other ops, and no conversions, selects or 16-bit floats.
    A bool in memory is a byte, and gcc makes no 256-bit vectors of bytes and doubles together. For a select gcc
    compares twice and computes under masks, which takes half as long in 512 bits if another thread shares the core.
    """
    elements = {access.dtype for access in (*nest.operands, *nest.results)}
    values = {dtype for statement in nest.body for dtype in (*statement.operand_dtypes, statement.dtype)} - {BOOL}
    alike = len({(dtype.bits, dtype.kind in ("float", "complex")) for dtype in elements | values}) <= 1
    selects = any(statement.op.selects for statement in nest.body)
    others = sum(
        cost
        for cost, statement in zip(costs, nest.body, strict=False)
        if statement.dtype.kind != "float" or not statement.op.floats.in_divider
    )
    halves = any(dtype.is_float16 for dtype in elements | values)
    most = _LIGHT_TENTHS_NS_64 if any(dtype.bits == 64 for dtype in elements | values) else _LIGHT_TENTHS_NS
    return others <= most and alike and not selects and not halves
