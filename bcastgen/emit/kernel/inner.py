"""The inner loops of a nest: what each reads, computes and writes, and its variants.

In: a nest, its schedule and the views of its arrays.  Out: :class:`LoopView` values.

    exp(a) * sin(b), staged   ->   kernel: t0, t1, t2 of a, b; kernel_stage_t0: of a; kernel_stage_t1: of b;
                                   kernel_staged: t2 of t0_tile, t1_tile

A value has one name in all of them, that of the nest's dump: a loop behind the stages begins with
``const float t0 = t0_tile[i];`` where the others have the statement itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import count

from ...core.dtypes import DType
from ...loops.nest import Let, Load, Nest, Value
from ...loops.schedule.byte_words import words_of
from ...loops.schedule.function_loops import Part, parts_of
from ...loops.schedule.staging import Stage, Staging, costs_of, tenths
from ...loops.schedule.variants import ANY, UNIT, ZERO, Schedule, Variant
from ..c_text.body import body_lines, rare_of, stored, value_text
from ..c_text.names import Namer
from .loop_model import ArrayView, LoopView, PartView, RareView, VariantView, WordsView

__all__ = ["inline_loop", "stage_loops"]


def inline_loop(
    name: str, nest: Nest, scheduled: Schedule, arrays: tuple[ArrayView, ...], fast: bool, blocks: bool
) -> LoopView:
    """Return the loop that computes all of a nest.

    Parameters
    ----------
    name : of the nest in C.
    nest, scheduled, arrays : the nest, its inner loops, and its arrays: operands, then results.
    fast : whether functions take their fast forms.
    blocks : whether it may go by blocks of points: near forms serve those in which no element is rare, and functions
        that wait for each other have loops of their own.
    """
    statements = frozenset(range(len(nest.body)))
    loads = _loads(nest, arrays)
    reads = tuple(map(Load, range(len(nest.operands))))
    return LoopView(
        name,
        arrays,
        len(nest.operands),
        _variant_views(scheduled.variants, arrays, len(nest.operands)),
        tuple(body_lines(nest, loads, statements, fast)),
        _stores(nest, loads),
        cost=tenths(scheduled.cost),
        widest=_widest(nest),
        parts=_parts(nest, loads, statements, nest.stores, reads, fast, len(scheduled.variants)) if blocks else (),
        words=_words(nest, loads, fast) if blocks else None,
    )


def _words(nest: Nest, loads: tuple[str, ...], fast: bool) -> WordsView | None:
    words = words_of(nest)
    if words is None:
        return None
    return WordsView(
        words.bits,
        tuple(body_lines(nest, loads, words.statements, fast)),
        tuple(value_text(value, loads, access.dtype) for access, value in zip(nest.results, words.stores, strict=True)),
        tuple(_bytes(access.dtype, words.bits) for access in nest.operands),
        words.turned,
    )


def _bytes(dtype: DType, bits: int) -> tuple[str, tuple[str, ...]]:
    """Return the C type of a byte's value in so many bits, and that value for each byte of a word `{}`."""
    # Signed in any case: what becomes a float is converted as such.
    own = f"int{bits}_t"
    if dtype.kind == "unsigned":
        shifted = ("{}", *(f"({{}} >> {8 * at})" for at in range(1, bits // 8)))
        return own, tuple(f"({own})({word} & 0xff)" for word in shifted)
    return own, tuple(f"({own})(({own})({{}} << {bits - 8 - 8 * at}) >> {bits - 8})" for at in range(bits // 8))


def _widest(nest: Nest) -> int:
    accesses, lets = (*nest.operands, *nest.results), nest.body
    dtypes = (*(access.dtype for access in accesses), *(let.dtype for let in lets))
    return max((dtype.computed_in.bytes for dtype in dtypes), default=1)


def stage_loops(
    name: str,
    nest: Nest,
    scheduled: Schedule,
    arrays: tuple[ArrayView, ...],
    fast: bool,
    namer: Namer,
    separate: bool = False,
) -> tuple[tuple[LoopView, ...], LoopView | None]:
    """Return the loops that compute stages, and the one behind them; none where a nest has no staged form.

    With `separate`, of C that stands alone, a stage reads operands of any strides.
    """
    staging = scheduled.staging
    if staging is None:
        return (), None
    tiles = {stage.value: _tile_view(nest, stage, len(arrays) + at, namer) for at, stage in enumerate(staging.stages)}
    loads = _loads(nest, arrays)
    stages = tuple(
        _loop(
            f"{name}_stage_t{stage.value}",
            nest,
            stage,
            arrays,
            tiles,
            (replace(tiles[stage.value], is_result=True),),
            loads,
            fast,
            separate,
        )
        for stage in staging.stages
    )
    results = arrays[len(nest.operands) :]
    count = len(scheduled.staged)
    staged = _loop(f"{name}_staged", nest, staging, arrays, tiles, results, loads, fast, separate, count)
    return stages, replace(
        staged,
        variants=_variant_views(scheduled.staged, staged.arrays, staged.operand_count),
        stores=_stores(nest, loads),
    )


def _loop(
    name: str,
    nest: Nest,
    part: Stage | Staging,
    arrays: tuple[ArrayView, ...],
    tiles: dict[int, ArrayView],
    results: tuple[ArrayView, ...],
    loads: tuple[str, ...],
    fast: bool,
    separate: bool,
    variant_count: int = 1,
) -> LoopView:
    """Return the loop of a stage, or the one behind the stages, with the variant in which every array moves."""
    read = [arrays[value.access] if isinstance(value, Load) else tiles[value.index] for value in part.reads]
    own = tuple(replace(array, place=at) for at, array in enumerate((*read, *results)))
    unit = Variant(UNIT, (UNIT,) * len(read), UNIT)
    kinds = tuple(ANY if isinstance(value, Load) else UNIT for value in part.reads)
    variants = (unit, Variant(ANY, kinds, UNIT)) if separate else (unit,)
    values = (Let(part.value),) if isinstance(part, Stage) else nest.stores
    return LoopView(
        name,
        own,
        len(read),
        _variant_views(variants, own, len(read)),
        tuple(body_lines(nest, loads, part.statements, fast)),
        tuple(result.load for result in results),
        tuple(array.place for array in read),
        tenths(part.cost),
        parts=() if separate else _parts(nest, loads, part.statements, values, part.reads, fast, variant_count),
    )


def _parts(
    nest: Nest,
    loads: tuple[str, ...],
    statements: frozenset[int],
    values: tuple[Value, ...],
    reads: Sequence[Value],
    fast: bool,
    variant_count: int,
) -> tuple[PartView, ...]:
    """Return the loops over blocks of points that a loop consists of; none where one serves them all.

    `reads` are what its arrays hold, in order.
    """
    numbers = count()
    views = []
    for part in parts_of(nest, statements, values, costs_of(nest)):
        rare = _rare(nest, loads, part, reads, fast, variant_count, numbers)
        view = PartView(
            _places(reads, part.reads),
            _known(nest, reads, part.reads),
            tuple(body_lines(nest, loads, part.statements, fast)),
            tuple(_tile_of(nest, at) for at in part.gives),
            rare,
            _is_in_pairs(nest, part.statements, rare is not None),
        )
        views.append(view)
    return () if len(views) == 1 and views[0].rare is None and not views[0].pairs else tuple(views)


def _is_in_pairs(nest: Nest, statements: frozenset[int], near: bool) -> bool:
    """Whether a part has one function, and two of it side by side are faster; two loops take the compiler longer."""
    functions = [row for row in map(nest.body.__getitem__, sorted(statements)) if row.op.ulp or row.op.definition]
    if len(functions) != 1:
        return False
    (row,) = functions
    return row.op.in_pairs(row.operand_dtypes, row.constant) and (near or not row.op.scalar)


def _places(reads: Sequence[Value], values: Collection[Value]) -> frozenset[int]:
    """Return the arrays that hold values, of those whose values are `reads`."""
    return frozenset(at for at, value in enumerate(reads) if value in values)


def _known(nest: Nest, reads: Sequence[Value], values: Iterable[Value]) -> tuple[tuple[str, str], ...]:
    """Return those of the values that stand in tiles of earlier parts."""
    found = {value.index for value in values if isinstance(value, Let) and value not in reads}
    return tuple(_tile_of(nest, at) for at in sorted(found))


def _tile_of(nest: Nest, at: int) -> tuple[str, str]:
    """Return C type and name of a value that stands in a tile between two parts."""
    return nest.body[at].dtype.c, f"t{at}"


def _loads(nest: Nest, arrays: tuple[ArrayView, ...]) -> tuple[str, ...]:
    return tuple(array.load for array in arrays[: len(nest.operands)])


def _stores(nest: Nest, loads: tuple[str, ...]) -> tuple[str, ...]:
    pairs = zip(nest.results, nest.stores, strict=True)
    return tuple(stored(value_text(value, loads, access.dtype), access.dtype) for access, value in pairs)


def _rare(
    nest: Nest,
    loads: tuple[str, ...],
    part: Part,
    reads: Sequence[Value],
    fast: bool,
    variant_count: int,
    numbers: Iterator[int],
) -> RareView | None:
    rare = rare_of(nest, loads, part.statements, fast, variant_count)
    if rare is None:
        return None
    own = rare.values.intersection(part.reads)
    near = body_lines(nest, loads, part.statements, fast, rare.near)
    excesses = tuple((next(numbers), excess) for excess in rare.excesses)
    return RareView(rare.body, excesses, _places(reads, own), _known(nest, reads, own), tuple(near))


def _tile_view(nest: Nest, stage: Stage, place: int, namer: Namer) -> ArrayView:
    """Return a tile: its elements are values as C computes with them, so that none is converted on the way."""
    dtype = nest.body[stage.value].dtype.computed_in
    name = namer.take(f"t{stage.value}_tile")
    return ArrayView(
        name=name,
        owner=name,
        position=-1,
        place=place,
        pointer="",
        member="",
        rank=None,
        c=dtype.c,
        value_c=dtype.c,
        loaded="{}",
        bytes=dtype.bytes,
        is_result=False,
        load=f"t{stage.value}",
        step="",
        map_name="",
        dims=(),
        mapped=False,
    )


def _variant_views(
    variants: tuple[Variant, ...], arrays: tuple[ArrayView, ...], operand_count: int
) -> tuple[VariantView, ...]:
    views: dict[str, VariantView] = {}
    for variant in variants:
        kinds = (*variant.operands, *((variant.results,) * (len(arrays) - operand_count)))
        strides = tuple(
            (array.place, 0 if kind == ZERO else array.bytes)
            for array, kind in zip(arrays, kinds, strict=True)
            if kind in (UNIT, ZERO)
        )
        name = _variant_name(variant, arrays)
        # Operands a, b and a_b: two variants would be called zero_a_b.
        name = name if name not in views else f"{name}_{len(views)}"
        views[name] = VariantView(name, kinds, strides)
    return tuple(views.values())


def _variant_name(variant: Variant, arrays: tuple[ArrayView, ...]) -> str:
    if ZERO not in variant.operands:
        return variant.name
    return "_".join((ZERO, *(a.name for a, kind in zip(arrays, variant.operands, strict=False) if kind == ZERO)))
