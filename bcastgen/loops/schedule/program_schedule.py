"""The schedule of a program: that of each nest, and what nests do together.

In: the nests of a kernel.  Out: a :class:`ProgramSchedule`, for the run time or for a form of standalone C.

    x - max(x, axis=1, keepdims=True)   ->   two nests, and a pass over the rows (d0) that they share
"""

from __future__ import annotations

from collections.abc import Sequence

from ...core.frozen import dataclass, replace
from ..analysis.demands import demands_reduced
from ..nest import Let, Load, LoopProgram, Nest, Reducing, Value
from ..rewrites import pipeline
from .function_calls import MOST_INLINED, function_calls
from .inner_loops import Schedule
from .outer_loops import walk_of
from .schedule import nested_loops, plain_loops, schedule
from .shared_loops import Sharing, shared_loops
from .shared_rows import SharedPass, saved_value, shared_lines, shared_rows
from .threads import Threads, threads
from .variants import DENSE

__all__ = ["ProgramSchedule", "compiles_functions_once", "run_time_schedule", "standalone_schedule", "verified"]


@dataclass(frozen=True, slots=True)
class ProgramSchedule:
    """The schedule of a program.

    Attributes
    ----------
    nests : the schedule of each nest.
    sharing : in standalone C with reductions, the outer loops that nests share; else None.
    notes : lines about what nests do together.
    function_calls : how many calls of mathematical functions there are in all variants of all loops.
    fast : whether functions take their fast forms.
    aligned : whether the dims of every operand align with the results' on the right, so that the run time lets a result
        be an operand itself.
    restrict : in standalone C over dense arrays, whether no result may be an operand itself, which C then says.
    """

    nests: tuple[Schedule, ...]
    sharing: Sharing | None = None
    notes: tuple[str, ...] = ()
    function_calls: int = 0
    fast: bool = False
    aligned: bool = False
    restrict: bool = False

    @property
    def light(self) -> bool:
        """Whether memory bounds the loops of every nest, so that the widest vectors gain nothing."""
        return all(one.light for one in self.nests)

    def __str__(self) -> str:
        several = len(self.nests) > 1
        texts = (one.shown(f"schedule of nest {at}" if several else "schedule") for at, one in enumerate(self.nests))
        return "\n".join((*texts, *self.notes, *_function_lines(self)))


def compiles_functions_once(*programs: ProgramSchedule) -> bool:
    """Whether the functions of a file with these programs are compiled once, and not with each loop that calls them."""
    return sum(one.function_calls for one in programs) > MOST_INLINED


def _function_lines(made: ProgramSchedule) -> tuple[str, ...]:
    """Return the line that says how loops call functions; none where no loop does."""
    calls = made.function_calls
    where = f"{calls} call{'s' if calls > 1 else ''} in all loops{', of fast forms' if made.fast else ''}"
    if calls > MOST_INLINED:
        return (f"functions: {where}, more than {MOST_INLINED}: compiled once, for whole vectors",)
    return (f"functions: {where}, few enough to be inlined",) if calls else ()


def run_time_schedule(program: LoopProgram, variants: int | None = None, fast: bool = False) -> ProgramSchedule:
    """Return the schedule of a kernel whose loops the run time plans.

    Parameters
    ----------
    program : the nests.
    variants : how many variants to make beside the one in which every array moves; None for as many as pay.
    fast : whether functions take their fast forms.
    """
    made = [
        replace(schedule(nest, variants, fast), direct=_direct(nest), asks_late=demands_reduced(program, nest))
        for nest in program.nests
    ]
    if not program.reduced:
        aligned = all(access.is_aligned for nest in program.nests for access in nest.operands)
        return _finished(ProgramSchedule(tuple(made), fast=fast, aligned=aligned))
    # Nests that only check run before all others.
    computed = [at for at, nest in enumerate(program.nests) if nest.results]
    nests = [program.nests[at] for at in computed]
    for run in shared_rows(nests):
        for own, rows in enumerate(run.rows):
            at = computed[run.first + own]
            saved = None
            if len(made[at].stages) == 1 and not made[at].f16_blocks:
                (value,) = made[at].stages[0].gives
                saved = saved_value(nests, run, run.first + own, value) if isinstance(value, Let) else None
            count = len(run.rows) if own == 0 else 0
            made[at] = replace(made[at], shared_pass=SharedPass(rows, count, saved))
    return _finished(ProgramSchedule(tuple(made), notes=tuple(shared_lines(nests, computed)), fast=fast))


def _direct(nest: Nest) -> tuple[int | None, ...]:
    """Return for each reduction of a nest the operand whose elements it combines where they are, or None."""
    return tuple(_combined_in_place(nest, one, store) for one, store in zip(nest.reduced, nest.stores, strict=False))


def _combined_in_place(nest: Nest, one: Reducing, value: Value) -> int | None:
    """Return the operand whose elements in memory are the value itself; None if there is none.

    A bool in memory may be any byte, so a loop has to read it first; a sum needs no loop, as it tests each byte for 0.
    """
    if not isinstance(value, Load):
        return None
    return None if nest.operands[value.access].dtype.kind == "bool" and one.op.step != "ADD" else value.access


def standalone_schedule(
    program: LoopProgram,
    variants: int | None = None,
    dense: bool = False,
    openmp: bool = False,
    vector_bytes: int = 0,
    fast: bool = False,
    alignment: int = 0,
) -> ProgramSchedule:
    """Return the schedule of a kernel in standalone C: nested loops where the rank is known.

    Parameters
    ----------
    program : the nests.
    variants : how many specialised variants to make beside `any`; 0 for one plain loop, None for as many as pay.
    dense : whether arrays are dense and of known extents, so that one variant serves every call.
    openmp : whether threads may share loops.
    vector_bytes : the size of the target's vectors; 0 if loops say nothing of it.
    fast : whether functions take their fast forms.
    alignment : what callers promise of rows, in bytes; 0 for nothing.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> program = from_text("(f32[3] a, f32[] b) -> a * b").compilation.program
    >>> print(standalone_schedule(program, dense=True, vector_bytes=16))
    schedule
      dense: operands (unit, zero), results unit, 4 values a vector
      plain: one loop in another, with the computation of a point in the innermost
      in place: r may be a itself
    """
    from .arrays import in_place, with_aligned_rows  # noqa: PLC0415 - only standalone C needs it

    sharing = shared_loops(program) if program.reduced else None
    if sharing is not None or dense:
        marked = sharing is None and variants != 0
        made = tuple(plain_loops(nest, dense, marked, vector_bytes, sharing is not None) for nest in program.nests)
    else:
        made = tuple(nested_loops(nest, variants, not nest.domain.open, vector_bytes, openmp) for nest in program.nests)
    if openmp:
        dims = _every_loop(program) if sharing is None else _opened_first(program, sharing, made)
        made = tuple(replace(one, threads=_threads(one, dims.get(at, ()))) for at, one in enumerate(made))
    made = tuple(replace(one, in_place=in_place(program, at, sharing)) for at, one in enumerate(made))
    restrict = dense and not any(numbers for one in made for numbers in one.in_place)
    if dense:
        made = tuple(_hinted(one, restrict) for one in made)
    elif sharing is None:
        made = tuple(map(_walked, made))
    if alignment:
        made = tuple(with_aligned_rows(one, alignment, program.guards.constants, dense) for one in made)
    notes = [] if sharing is None else sharing.describe(program).split("\n")
    notes += ["no result may be an operand itself, so results are `restrict`"] if restrict else []
    return _finished(ProgramSchedule(made, sharing, tuple(notes), fast=fast, restrict=restrict))


def _walked(scheduled: Schedule) -> Schedule:
    """Return the schedule of a nest with the way in which its points are walked."""
    nest, outer = scheduled.nest, scheduled.outer
    is_called = len(scheduled.inline.variants) > 1 and len(nest.domain.dims) > 0
    walk, points = walk_of(not nest.domain.open, is_called, scheduled.block_points, outer, scheduled.threads)
    return replace(scheduled, walk=walk, block_points=points)


def _hinted(scheduled: Schedule, restrict: bool) -> Schedule:
    """Return the schedule of a nest over dense arrays with hints on its loop only where they tell compilers something.

    Where results are `restrict`, iterations are known to be independent; a parallel loop has no room for a hint.
    """
    loop, threads = scheduled.inline, scheduled.threads
    is_parallel = threads is not None and scheduled.dims[-1:] == (threads.dim,)
    variants = (replace(one, hinted=one.name == DENSE and not restrict and not is_parallel) for one in loop.variants)
    return replace(scheduled, inline=replace(loop, variants=tuple(variants)))


def _finished(made: ProgramSchedule) -> ProgramSchedule:
    """Return a schedule with its function calls counted, verified wherever nests are: in tests, too."""
    if pipeline.verifies():
        from .verify import verify_program  # noqa: PLC0415 - only BCASTGEN_DEBUG needs it

        verify_program(made.nests, made.sharing, made.restrict)
    return replace(made, function_calls=function_calls(made.nests))


def verified(made: Schedule) -> Schedule:
    """Return the schedule of a nest, verified wherever nests are: under BCASTGEN_DEBUG and in tests."""
    if pipeline.verifies():
        from .verify import verify_schedule  # noqa: PLC0415 - only BCASTGEN_DEBUG needs it

        verify_schedule(made)
    return made


def _every_loop(program: LoopProgram) -> dict[int, tuple[int, ...]]:
    """Return the dims of each nest."""
    return {at: tuple(range(len(nest.domain.dims))) for at, nest in enumerate(program.nests) if nest.results}


def _opened_first(program: LoopProgram, sharing: Sharing, made: Sequence[Schedule]) -> dict[int, tuple[int, ...]]:
    """Return the loops that threads may share, by nest: a group's outermost loop is that of its first nest.

    In a group without shared loops, it is the outermost loop of each nest that stores; a nest that combines values into
    a variable runs in one thread.
    """
    found = {}
    for group in sharing.groups:
        if group.depth:
            found[group.members[0].nest] = group.members[0].dims[:1]
            continue
        for member in group.members:
            if not program.nests[member.nest].reduced:
                found[member.nest] = made[member.nest].dims[:1]
    return found


def _threads(scheduled: Schedule, dims: tuple[int, ...]) -> Threads | None:
    """Return the loop of a nest that threads share; not a staged nest's innermost one, whose blocks share a tile."""
    nest, inline = scheduled.nest, scheduled.inline
    if not inline.variants:
        return None
    found = threads(nest, inline.cost_tenths_ns, dims, len(inline.variants) > 1, scheduled.staged is None)
    is_tiled = found is not None and scheduled.staged is not None and found.dim == len(nest.domain.dims) - 1
    return None if is_tiled else found
