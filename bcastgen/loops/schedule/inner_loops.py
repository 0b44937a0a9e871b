"""The schedule of a nest as a value, which prints each decision and the reason for it.

In: the decisions of `schedule`.  Out: a :class:`Schedule`, and its lines of text.

    unit: operands (unit, unit), results unit
    common case: t0 = exp(a) takes its short form in blocks of 256 points where ...
"""

from __future__ import annotations

from ...core.dtypes import F16
from ...core.frozen import dataclass
from ..analysis.lane_width import is_widened
from ..nest import Let, Load, Nest, Value
from .byte_words import ByteWords
from .common_cases import BlockTest, CommonCase
from .costs import nanoseconds
from .function_loops import AHEAD, BLOCK, GROUP, BlockLoop
from .outer_loops import PLANNED, SQUARE, WALKS, OuterLoops
from .shared_rows import SharedPass
from .threads import Threads
from .variants import Variant
from .widened_reads import WidenedReads

__all__ = ["InnerLoop", "Schedule", "Side", "Sides"]


@dataclass(frozen=True, slots=True)
class InnerLoop:
    """One inner loop of a nest, in one or several variants.

    Attributes
    ----------
    reads : operands, then values of stages, in the order of its arrays.
    statements : the statements of the nest's body that it computes.
    gives : the values it writes: those of the nest's results, or of one stage.
    variants : its variants, one for each combination of stride classes that is compiled.
    cost_tenths_ns : the cost of a point.
    blocks : the loops over blocks of points that it consists of; empty for one loop over all points.
    words : how it computes a word of bytes at a time, or None.
    widened : how it reads numbers that are narrower than its lanes, or None.
    sides : of the variants along which the condition of a selection is one value, the loops for either value.
    """

    reads: tuple[Load | Let, ...]
    statements: frozenset[int]
    gives: tuple[Value, ...]
    variants: tuple[Variant, ...]
    cost_tenths_ns: float
    blocks: tuple[BlockLoop, ...] = ()
    words: ByteWords | None = None
    widened: WidenedReads | None = None
    sides: tuple[Sides, ...] = ()


@dataclass(frozen=True, slots=True)
class Side:
    """The nest as it is where a condition is decided, whose values have the same numbers, and its loop."""

    nest: Nest
    loop: InnerLoop


@dataclass(frozen=True, slots=True)
class Sides:
    """The two loops of a variant along which a condition is one value: one for each outcome.

    Attributes
    ----------
    variant : the variant.
    condition : the value that decides, once for each row.
    statements : the statements of the nest's body that it is computed by.
    holds, fails : what runs where the condition holds, and where it does not.
    """

    variant: Variant
    condition: Value
    statements: frozenset[int]
    holds: Side
    fails: Side


@dataclass(frozen=True, slots=True)
class Schedule:
    """The inner loops of one nest.

    Attributes
    ----------
    nest : the nest whose loops they are.
    inline : the loop that computes everything.
    stages, staged : a loop for each stage, and the loop that reads the stages' tiles; empty and None without stages.
    run_time : whether the run time plans the loops, and picks between `inline` and `staged` for each call.
    f16_blocks : whether 16-bit floats are converted a block at a time outside the loops, which compute with f32.
    light : whether memory or the divider bounds the loops' time, so that 512-bit vectors gain nothing on most cores.
    walk : how its points are walked, see `WALKS`.
    block_points : the points of the last dim, or of a plan's innermost one, that are walked at a time: those of a tile
        where standalone C has stages, those of a square's side, or those that a thread takes; 0 for whole rows.
    dims : in standalone C of known rank, the dims that have a loop; others have one point.
    copies : whether its only result is its only operand as it is, which the run time may copy without an inner loop.
    asks_late : whether the run time looks at its elements after the reductions that their condition reads, and not
        before all loops.
    in_place : in standalone C, for each result the numbers of the operands that it may be itself.
    alignment, aligned : in standalone C, the bytes to which callers promise that rows of arrays are aligned, and these
        arrays, by their place among operands and results.
    threads : in standalone C, the loop that threads share, or None.
    outer : in standalone C, what is done about the loops around an inner loop that has variants.
    shared_pass : the nest's part in a pass over memory that nests share, or None.
    direct : for each reduction that the run time makes, the number of the operand whose elements it combines where they
        are in memory, without an inner loop; None if the loop computes what is combined.
    """

    nest: Nest
    inline: InnerLoop
    stages: tuple[InnerLoop, ...] = ()
    staged: InnerLoop | None = None
    run_time: bool = False
    f16_blocks: bool = False
    light: bool = False
    walk: str = PLANNED
    block_points: int = 0
    dims: tuple[int, ...] = ()
    copies: bool = False
    asks_late: bool = False
    in_place: tuple[tuple[int, ...], ...] = ()
    alignment: int = 0
    aligned: tuple[int, ...] = ()
    threads: Threads | None = None
    outer: OuterLoops = OuterLoops()
    shared_pass: SharedPass | None = None
    direct: tuple[int | None, ...] = ()

    @property
    def loops(self) -> tuple[InnerLoop, ...]:
        """Every loop that there is: where standalone C has stages, none computes everything."""
        if self.staged is None:
            return (self.inline,)
        return (*((self.inline,) if self.run_time else ()), *self.stages, self.staged)

    def __str__(self) -> str:
        return self.shown("schedule")

    def shown(self, title: str) -> str:
        """Return the text: the title, then one line for each decision, with its reason."""
        return "\n".join((title, *(f"  {line}" for line in _lines(self))))


_WALKS = ("each line above is a loop, by how it walks the arrays; what none serves is copied into a tile",)


def _lines(scheduled: Schedule) -> list[str]:
    """Return a line for each decision of a schedule, with its reason."""
    nest, inline, staged = scheduled.nest, scheduled.inline, scheduled.staged
    if not inline.variants:
        return ["nothing is computed"]
    lines = _loop_lines(nest, inline, _WALKS if scheduled.run_time else ())
    if staged is not None:
        if scheduled.run_time:
            whole = nanoseconds(inline.cost_tenths_ns)
            lines.append(f"stages: in calls where that is less work than all of it for each point ({whole} a point),")
            lines.append("each of these values is computed first, once for each point of its own operands, in a tile:")
        else:
            lines.append("staged, because outer dims only repeat what depends on the last dim alone,")
            lines.append(f"for {scheduled.block_points} points of it at a time:")
        for stage in scheduled.stages:
            given = _given(nest, stage)
            lines.append(
                f"  {given} from {_reads(nest, stage)}, into {given}_tile: {nanoseconds(stage.cost_tenths_ns)}"
            )
            lines += [f"    {line}" for line in _block_lines(nest, stage.blocks)]
        cost = nanoseconds(staged.cost_tenths_ns)
        lines.append(f"then from {_reads(nest, staged)}: {cost} a point")
        lines += [f"  {line}" for line in _loop_lines(nest, staged)]
    if scheduled.f16_blocks:
        labels = (*nest.labels, *(access.name for access in nest.results))
        accesses = zip(labels, (*nest.operands, *nest.results), strict=True)
        names = ", ".join(label for label, access in accesses if access.dtype is F16)
        why = "since gcc would convert them one by one inside"
        lines.append(f"f16 of {names}: converted {BLOCK} at a time outside the loops, {why}")
    lines += _run_time_lines(scheduled)
    lines += _outer_lines(nest, scheduled.outer)
    if not scheduled.run_time:
        lines += _standalone_lines(scheduled)
    if scheduled.threads is not None:
        lines.append(str(scheduled.threads))
    if scheduled.light:
        enough = "if all nests are light, vectors of 256 bits are enough on most cores"
        lines.append(f"light: memory, or the divider, decides; {enough}")
    return lines


def _run_time_lines(scheduled: Schedule) -> list[str]:
    """Return the lines about what the run time does without an inner loop, or not again."""
    nest, lines = scheduled.nest, []
    for one, operand in zip(nest.reduced, scheduled.direct, strict=False):
        if operand is not None:
            lines.append(f"{one.name} combines the elements of {nest.labels[operand]} where they are, without a loop")
    if scheduled.shared_pass is not None and scheduled.shared_pass.saved is not None:
        given, name = _given(nest, scheduled.stages[0]), scheduled.shared_pass.saved.name
        lines.append(
            f"saved: the pass that nests share keeps {given}, which {name} combined, and does not compute it again"
        )
    if scheduled.asks_late:
        lines.append("elements are looked at after the reductions that their condition reads")
    if scheduled.copies:
        lines.append("copies: the result is the operand as it is")
    return lines


def _loop_lines(nest: Nest, loop: InnerLoop, behind_variants: tuple[str, ...] = ()) -> list[str]:
    lines = [*(str(variant) for variant in loop.variants), *behind_variants]
    for sides in loop.sides:
        condition = nest.show(sides.condition)
        reads = [_reads(nest, side.loop) or "nothing" for side in (sides.holds, sides.fails)]
        lines.append(f"{sides.variant.name}: a row reads {reads[0]} if {condition} holds, else {reads[1]}")
    lines += _block_lines(nest, loop.blocks) + ([] if loop.words is None else _word_lines(loop.words))
    return lines + ([] if loop.widened is None else _widened_lines(nest, loop.widened))


def _outer_lines(nest: Nest, outer: OuterLoops) -> list[str]:
    """Return the lines about loops around the inner ones."""
    last, lines = len(nest.domain.dims) - 1, []
    if outer.joined:
        names = ", then ".join(f"d{dim}" for dim in outer.joined)
        lines.append(f"{names} joins d{last} in calls where every array continues from one row to the next")
    if outer.short:
        rows = f"in calls where all rows are adjacent, one loop over d{last - 1}"
        once = f", and reads {', '.join(nest.labels[at] for at in outer.read_once)} once" if outer.read_once else ""
        lines.append(f"short rows: {rows} has the {outer.short} points of d{last} written out{once}")
    if outer.square is not None:
        square = f"{SQUARE} by {SQUARE} points of d{outer.square} and d{last}"
        lines.append(f"squares of {square}, as an array is adjacent along d{outer.square}")
    return lines


def _standalone_lines(scheduled: Schedule) -> list[str]:
    """Return the lines about how points are walked, what callers may do with arrays, and what they promise of them."""
    nest, lines = scheduled.nest, [said] if (said := WALKS[scheduled.walk]) else []
    names = {access.number: access.name for access in nest.operands}
    for result, numbers in zip(nest.results, scheduled.in_place, strict=False):
        if numbers:
            lines.append(f"in place: {result.name} may be {' or '.join(names[number] for number in numbers)} itself")
    if scheduled.aligned:
        arrays = (*nest.operands, *nest.results)
        shown = ", ".join(dict.fromkeys(arrays[at].name for at in scheduled.aligned))
        lines.append(f"aligned to {scheduled.alignment} bytes, as callers promise: rows of {shown}")
    return lines


def _given(nest: Nest, loop: InnerLoop) -> str:
    return ", ".join(map(nest.show, loop.gives))


def _reads(nest: Nest, loop: InnerLoop | BlockLoop) -> str:
    return ", ".join(map(nest.show, loop.reads))


def _block_lines(nest: Nest, blocks: tuple[BlockLoop, ...]) -> list[str]:
    """Return the lines about loops over blocks."""
    lines = []
    if len(blocks) > 1:
        lines.append(f"in blocks of {BLOCK} points, a loop for each function that waits for another one's value:")
    for number, loop in enumerate(blocks, 1):
        indent = "  " if len(blocks) > 1 else ""
        if indent:
            made = ", ".join(f"t{at}" for at in sorted(loop.statements))
            kept = f", {' and '.join(nest.show(Let(at)) for at in loop.gives)} kept in a tile" if loop.gives else ""
            lines.append(f"  loop {number}: {made} from {_reads(nest, loop)}{kept}")
            indent = "    "
        if loop.common_case is not None:
            lines += [f"{indent}{line}" for line in _case_lines(nest, loop.common_case)]
        if loop.prefetches:
            what = f"the operands' memory {AHEAD} points ahead, for the tests; where the C finds AVX-512 and no SSE4A"
            lines.append(f"{indent}prefetch: before each {loop.prefetches} points, {what}")
        if loop.pairs:
            pair = f"points i and i + {GROUP // 2} are computed side by side, as each is one long chain"
            lines.append(f"{indent}pairs: where every operand moves, {pair}")
    return lines


def _case_lines(nest: Nest, case: CommonCase) -> list[str]:
    short = ", ".join(f"t{at} = {nest.spell(nest.body[at])}" for at in sorted(case.short))
    tests = "; ".join(_test_text(nest, test) for test in case.tests)
    takes = "takes its short form" if len(case.short) == 1 else "take their short forms"
    return [f"common case: {short} {takes} in blocks of {BLOCK} points where", f"  {tests}"]


def _test_text(nest: Nest, test: BlockTest) -> str:
    return test.says.format(*map(nest.show, nest.body[test.statement].operands))


def _word_lines(words: ByteWords) -> list[str]:
    served = ", ".join(variant.name for variant in words.variants)
    how = f"{words.bits // 8} bytes are computed with as one word, each in the word's {words.bits} bits;"
    return [f"byte words in {served}: {how}", "  widening vectors of bytes would take shuffles"]


def _widened_lines(nest: Nest, widened: WidenedReads) -> list[str]:
    served = ", ".join(variant.name for variant in widened.variants)
    names = ", ".join(
        label for label, one in zip(nest.labels, nest.operands, strict=False) if is_widened(one.dtype, widened.bits)
    )
    how = f"a vector of {names} becomes lanes of {widened.bits} bits as it is read, where the C finds AVX2;"
    return [f"widened reads in {served}: {how}", "  gcc would load longer vectors and take them apart by shuffles"]
