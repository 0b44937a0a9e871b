"""The schedule of a program: that of each nest, and what nests do together.

In: the nests of a kernel.  Out: a :class:`ProgramSchedule`, for the run time or for a form of standalone C.

    x - max(x, axis=1, keepdims=True)   ->   two nests, and a pass over the rows (d0) that they share
"""

from __future__ import annotations

from ...core.frozen import dataclass, replace
from ..nest import Let, Load, LoopProgram, Nest, Reducing, Value
from ..rewrites import pipeline
from .function_calls import MOST_INLINED, function_calls
from .inner_loops import Schedule
from .schedule import nested_loops, plain_loops, schedule
from .shared_loops import Sharing, shared_loops
from .shared_rows import SharedPass, saved_value, shared_lines, shared_rows
from .threads import Threads, threads

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
    """

    nests: tuple[Schedule, ...]
    sharing: Sharing | None = None
    notes: tuple[str, ...] = ()
    function_calls: int = 0

    @property
    def light(self) -> bool:
        """Whether memory bounds the loops of every nest, so that the widest vectors gain nothing."""
        return all(one.light for one in self.nests)

    def __str__(self) -> str:
        several = len(self.nests) > 1
        texts = (one.shown(f"schedule of nest {at}" if several else "schedule") for at, one in enumerate(self.nests))
        return "\n".join((*texts, *self.notes, *_function_lines(self.function_calls)))


def compiles_functions_once(*programs: ProgramSchedule) -> bool:
    """Whether the functions of a file with these programs are compiled once, and not with each loop that calls them."""
    return sum(one.function_calls for one in programs) > MOST_INLINED


def _function_lines(calls: int) -> tuple[str, ...]:
    """Return the line that says how loops call functions; none where no loop does."""
    where = f"{calls} call{'s' if calls > 1 else ''} in all loops"
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
    made = [replace(schedule(nest, variants, fast), direct=_direct(nest)) for nest in program.nests]
    if not program.reduced:
        return _finished(ProgramSchedule(tuple(made)))
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
    return _finished(ProgramSchedule(tuple(made), notes=tuple(shared_lines(nests, computed))))


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
) -> ProgramSchedule:
    """Return the schedule of a kernel in standalone C: nested loops where the rank is known.

    Parameters
    ----------
    program : the nests.
    variants : how many specialised variants to make beside `any`; 0 for one plain loop, None for as many as pay.
    dense : whether arrays are dense and of known extents, so that one variant serves every call.
    openmp : whether threads may share loops.
    vector_bytes : the size of the target's vectors; 0 if loops say nothing of it.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> program = from_text("(f32[3] a, f32[] b) -> a * b").compilation.program
    >>> print(standalone_schedule(program, dense=True, vector_bytes=16))
    schedule
      dense: operands (unit, zero), results unit, 4 values a vector
    """
    sharing = shared_loops(program) if program.reduced else None
    if sharing is not None or dense:
        marked = sharing is None and variants != 0
        made = tuple(plain_loops(nest, dense, marked, vector_bytes) for nest in program.nests)
    else:
        made = tuple(nested_loops(nest, variants, not nest.domain.open, vector_bytes, openmp) for nest in program.nests)
    if openmp:
        dims = _every_loop(program) if sharing is None else _opened_first(program, sharing)
        made = tuple(replace(one, threads=_threads(one, dims.get(at, ()))) for at, one in enumerate(made))
    notes = () if sharing is None else tuple(sharing.describe(program).split("\n"))
    return _finished(ProgramSchedule(made, sharing, notes))


def _finished(made: ProgramSchedule) -> ProgramSchedule:
    """Return a schedule with its function calls counted, after verifying that of each nest."""
    return replace(made, function_calls=function_calls(tuple(map(verified, made.nests))))


def verified(made: Schedule) -> Schedule:
    """Return the schedule of a nest, verified wherever nests are: under BCASTGEN_DEBUG and in tests."""
    if pipeline.verifies():
        from .verify import verify_schedule  # noqa: PLC0415 - only BCASTGEN_DEBUG needs it

        verify_schedule(made)
    return made


def _every_loop(program: LoopProgram) -> dict[int, tuple[int, ...]]:
    """Return the dims of each nest."""
    return {at: tuple(range(len(nest.domain.dims))) for at, nest in enumerate(program.nests) if nest.results}


def _opened_first(program: LoopProgram, sharing: Sharing) -> dict[int, tuple[int, ...]]:
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
            nest = program.nests[member.nest]
            if not nest.reduced:
                found[member.nest] = tuple(at for at, dim in enumerate(nest.domain.dims) if dim.extent != 1)[:1]
    return found


def _threads(scheduled: Schedule, dims: tuple[int, ...]) -> Threads | None:
    """Return the loop of a nest that threads share; not a staged nest's innermost one, whose blocks share a tile."""
    nest, inline = scheduled.nest, scheduled.inline
    if not inline.variants:
        return None
    found = threads(nest, inline.cost_tenths_ns, dims, len(inline.variants) > 1, scheduled.staged is None)
    is_tiled = found is not None and scheduled.staged is not None and found.dim == len(nest.domain.dims) - 1
    return None if is_tiled else found
