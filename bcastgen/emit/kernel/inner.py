"""The inner loops of a nest: what each reads, computes and writes, and its variants.

In: a nest, its schedule and the views of its arrays.  Out: :class:`LoopView` values.

    exp(a) * sin(b), staged   ->   kernel: t0, t1, t2 of a, b; kernel_stage_t0: of a; kernel_stage_t1: of b;
                                   kernel_staged: t2 of t0_tile, t1_tile

A value has the same name in all loops, that of the nest's dump: the loop after the stages begins with
``const float t0 = t0_tile[i];`` where the stage's loop has the statement itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import count

from ...core.dtypes import BOOL, F64, I32, DType
from ...core.frozen import replace
from ...loops.analysis.lane_width import is_widened
from ...loops.nest import Let, Load, Nest, Value
from ...loops.schedule.byte_words import ByteWords
from ...loops.schedule.costs import whole_tenths
from ...loops.schedule.function_loops import BlockLoop
from ...loops.schedule.inner_loops import InnerLoop, Schedule, Side
from ...loops.schedule.variants import UNIT, ZERO, Variant
from ..c_text.body import body_lines, stored, test_text, value_text
from ..c_text.names import Namer
from .loop_model import (
    ArrayView,
    BlockLoopView,
    CommonCaseView,
    LoopView,
    RangeTestView,
    SidesView,
    VariantView,
    WidenedView,
    WordsView,
)

__all__ = ["INDEPENDENT", "VECTORS", "inline_loop", "stage_loops"]

# The dtypes of lanes that narrow numbers become, by their bits.
_LANES = {32: I32, 64: F64}
# The macros of the hints on loops.
INDEPENDENT, VECTORS = "BCG_INDEPENDENT", "BCG_VECTORS"


def inline_loop(name: str, scheduled: Schedule, arrays: tuple[ArrayView, ...], fast: bool) -> LoopView:
    """Return the loop that computes all of a nest.

    Parameters
    ----------
    name : the nest's name in C.
    scheduled, arrays : its schedule, and its arrays: operands, then results.
    fast : whether functions take their fast forms.
    """
    nest, loop = scheduled.nest, scheduled.inline
    loads = _loads(nest, arrays)
    return LoopView(
        name,
        arrays,
        len(nest.operands),
        tuple(
            replace(
                view,
                sides=_sides(name, nest, variant, loop, arrays, fast),
                widened=_widened(nest, loop.widened.bits, variant, loads, fast)
                if loop.widened is not None and variant in loop.widened.variants
                else None,
            )
            for view, variant in zip(_variant_views(loop, arrays), loop.variants, strict=True)
        ),
        tuple(body_lines(nest, loads, loop.statements, fast)),
        _stores(nest, arrays),
        cost_tenths_ns=whole_tenths(loop.cost_tenths_ns),
        block_loops=_block_loops(nest, loop, loads, fast),
        words=None if loop.words is None else _words(nest, loop.words, loads, fast),
    )


def _sides(
    name: str, nest: Nest, variant: Variant, loop: InnerLoop, arrays: tuple[ArrayView, ...], fast: bool
) -> SidesView | None:
    """Return the view of a variant's two sides, or None where it has none."""
    sides = next((sides for sides in loop.sides if sides.variant == variant), None)
    if sides is None:
        return None
    loads = _loads(nest, arrays)
    read = {sides.condition, *(value for at in sides.statements for value in nest.body[at].operands)}
    return SidesView(
        frozenset(value.access for value in read if isinstance(value, Load)),
        tuple(body_lines(nest, loads, sides.statements, fast)),
        value_text(sides.condition, loads, BOOL),
        _side(f"{name}_holds", sides.holds, arrays, fast),
        _side(f"{name}_fails", sides.fails, arrays, fast),
    )


def _side(name: str, side: Side, arrays: tuple[ArrayView, ...], fast: bool) -> LoopView:
    """Return the loop of a side, over the arrays that it reads.

    What tells a side is in front of the variant's name, since an operand may be called anything.
    """
    results, loads = arrays[len(side.nest.operands) :], _loads(side.nest, arrays)
    return _loop(name, side.nest, side.loop, arrays, {}, results, _stores(side.nest, arrays), loads, fast)


def _words(nest: Nest, words: ByteWords, loads: tuple[str, ...], fast: bool) -> WordsView:
    return WordsView(
        words.bits,
        tuple(body_lines(nest, loads, words.statements, fast)),
        tuple(value_text(value, loads, access.dtype) for access, value in zip(nest.results, words.stores, strict=True)),
        tuple(_bytes(access.dtype, words.bits) for access in nest.operands),
    )


def _widened(nest: Nest, bits: int, variant: Variant, loads: tuple[str, ...], fast: bool) -> WidenedView:
    """Return the view of a variant that widens the narrow numbers that it reads."""
    lane = _LANES[bits]
    narrow = [at for at, access in enumerate(nest.operands) if is_widened(access.dtype, bits)]
    moving = tuple(at for at in narrow if variant.operands[at] == UNIT)
    known, body = [], set(range(len(nest.body)))
    for at, statement in enumerate(nest.body):
        for value in statement.operands:
            # A cast to the lanes' own dtype is what the function that widens has done.
            if isinstance(value, Load) and value.access in narrow and statement.dtype is lane:
                known.append((f"t{at}", value.access))
                body.remove(at)
    read = {value.access for at in body for value in nest.body[at].operands if isinstance(value, Load)}
    known += [(f"lane{at}", at) for at in narrow if at in read]
    named = tuple(f"lane{at}" if at in narrow else name for at, name in enumerate(loads))
    return WidenedView(
        bits,
        lane.c,
        f"bcg_repeat_{lane}",
        tuple((at, f"bcg_widen_{nest.operands[at].dtype}_{lane}") for at in moving),
        tuple(known),
        tuple((at, loads[at]) for at in narrow if at not in moving),
        tuple(body_lines(nest, named, frozenset(body), fast)),
    )


def _bytes(dtype: DType, bits: int) -> tuple[str, tuple[str, ...]]:
    """Return the C type that holds a byte's value in so many bits, and the C of that value for each byte of `{}`."""
    # The type is always signed, since conversions to float are from signed integers.
    own = f"int{bits}_t"
    if dtype.kind == "unsigned":
        shifted = ("{}", *(f"({{}} >> {8 * at})" for at in range(1, bits // 8)))
        return own, tuple(f"({own})({word} & 0xff)" for word in shifted)
    return own, tuple(f"({own})(({own})({{}} << {bits - 8 - 8 * at}) >> {bits - 8})" for at in range(bits // 8))


def stage_loops(
    name: str, scheduled: Schedule, arrays: tuple[ArrayView, ...], fast: bool, namer: Namer
) -> tuple[tuple[LoopView, ...], LoopView | None]:
    """Return the loops that compute stages, and the loop after them; () and None if a nest has no staged form."""
    nest, staged = scheduled.nest, scheduled.staged
    if staged is None:
        return (), None
    tiles: dict[int, ArrayView] = {}
    for at, stage in enumerate(scheduled.stages):
        tiles[_value_of(stage)] = _tile_view(nest, _value_of(stage), len(arrays) + at, namer)
    loads = _loads(nest, arrays)
    stages = []
    for stage in scheduled.stages:
        tile = replace(tiles[_value_of(stage)], is_result=True)
        stages.append(
            _loop(f"{name}_stage_{tile.load}", nest, stage, arrays, tiles, (tile,), (tile.load,), loads, fast)
        )
    results = arrays[len(nest.operands) :]
    last = _loop(f"{name}_staged", nest, staged, arrays, tiles, results, _stores(nest, arrays), loads, fast)
    return tuple(stages), last


def _value_of(stage: InnerLoop) -> int:
    """Return the index of the statement whose value a stage computes."""
    (value,) = stage.gives
    assert isinstance(value, Let)
    return value.index


def _loop(
    name: str,
    nest: Nest,
    loop: InnerLoop,
    arrays: tuple[ArrayView, ...],
    tiles: dict[int, ArrayView],
    results: tuple[ArrayView, ...],
    stores: tuple[str, ...],
    loads: tuple[str, ...],
    fast: bool,
) -> LoopView:
    """Return the loop of a stage, or the loop after the stages."""
    read = [arrays[value.access] if isinstance(value, Load) else tiles[value.index] for value in loop.reads]
    own = tuple(replace(array, nest_index=at) for at, array in enumerate((*read, *results)))
    return LoopView(
        name,
        own,
        len(read),
        _variant_views(loop, own),
        tuple(body_lines(nest, loads, loop.statements, fast)),
        stores,
        tuple(array.nest_index for array in read),
        whole_tenths(loop.cost_tenths_ns),
        block_loops=_block_loops(nest, loop, loads, fast),
    )


def _block_loops(nest: Nest, loop: InnerLoop, loads: tuple[str, ...], fast: bool) -> tuple[BlockLoopView, ...]:
    numbers = count()
    return tuple(
        BlockLoopView(
            _places(loop.reads, block.reads),
            _known(nest, loop.reads, block.reads),
            tuple(body_lines(nest, loads, block.statements, fast)),
            tuple(_tile_of(nest, at) for at in block.gives),
            _common_case(nest, loop, block, loads, fast, numbers),
            frozenset(variant.name for variant in loop.variants if block.in_pairs(variant)),
            block.prefetches,
            _places(loop.reads, block.prefetched),
        )
        for block in loop.blocks
    )


def _common_case(
    nest: Nest, loop: InnerLoop, block: BlockLoop, loads: tuple[str, ...], fast: bool, numbers: Iterator[int]
) -> CommonCaseView | None:
    """Return the view of a block's common case, or None; `numbers` counts the tests of a loop."""
    case = block.common_case
    if case is None:
        return None
    own = case.reads.intersection(block.reads)
    limits: dict[tuple[str, str], list[str]] = {}
    for test in case.tests:
        limits.setdefault((test.c, test_text(nest, test, loads)), []).append(test.limit)
    return CommonCaseView(
        tuple(body_lines(nest, loads, case.statements, fast, case.short)),
        tuple(RangeTestView(next(numbers), *number, tuple(most)) for number, most in limits.items()),
        _places(loop.reads, own),
        _known(nest, loop.reads, own),
        tuple(body_lines(nest, loads, block.statements, fast, case.short)),
    )


def _places(reads: Sequence[Value], values: Collection[Value]) -> frozenset[int]:
    """Return the places in `reads` of the values that are among `values`."""
    return frozenset(at for at, value in enumerate(reads) if value in values)


def _known(nest: Nest, reads: Sequence[Value], values: Iterable[Value]) -> tuple[tuple[str, str], ...]:
    """Return C type and name of those values that are in tiles of earlier loops."""
    found = {value.index for value in values if isinstance(value, Let) and value not in reads}
    return tuple(_tile_of(nest, at) for at in sorted(found))


def _tile_of(nest: Nest, at: int) -> tuple[str, str]:
    """Return C type and name of a value that is in a tile between two loops."""
    return nest.body[at].dtype.c, f"t{at}"


def _loads(nest: Nest, arrays: tuple[ArrayView, ...]) -> tuple[str, ...]:
    return tuple(array.load for array in arrays[: len(nest.operands)])


def _stores(nest: Nest, arrays: tuple[ArrayView, ...]) -> tuple[str, ...]:
    loads, results = _loads(nest, arrays), arrays[len(nest.operands) :]
    texts = (value_text(value, loads, access.dtype) for access, value in zip(nest.results, nest.stores, strict=True))
    return tuple(
        text if array.is_widened else stored(text, access.dtype)
        for access, array, text in zip(nest.results, results, texts, strict=True)
    )


def _tile_view(nest: Nest, value: int, nest_index: int, namer: Namer) -> ArrayView:
    """Return the view of a tile, whose elements are values as C computes with them, so that none is converted."""
    dtype = nest.body[value].dtype.computed_in
    name = namer.take(f"t{value}_tile")
    return ArrayView(
        name=name,
        owner=name,
        number=-1,
        nest_index=nest_index,
        pointer="",
        member="",
        rank=None,
        c=dtype.c,
        value_c=dtype.c,
        loaded="{}",
        bytes=dtype.bytes,
        is_result=False,
        load=f"t{value}",
        step="",
        map_name="",
        dims=(),
        mapped=False,
    )


def _variant_views(loop: InnerLoop, arrays: tuple[ArrayView, ...]) -> tuple[VariantView, ...]:
    views = []
    for variant in loop.variants:
        kinds = variant.classes(len(arrays))
        strides = tuple(
            (array.nest_index, 0 if kind == ZERO else array.bytes)
            for array, kind in zip(arrays, kinds, strict=True)
            if kind in (UNIT, ZERO)
        )
        in_words = loop.words is not None and variant in loop.words.variants
        hint = f"{VECTORS}({variant.lanes})" if variant.lanes else INDEPENDENT
        views.append(
            VariantView(variant.name, kinds, strides, hint if variant.hinted else "", in_words, aligned=variant.aligned)
        )
    return tuple(views)
