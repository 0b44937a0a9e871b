"""Makes the view that templates print from a scheduled loop program: decides every name, type and line of the C.

In: a loop program and its schedules.  Out: a :class:`KernelView`; templates only lay it out.

    Access a : tensor<?x?xf32>, (d0, d1) -> (d0|0, d1|0)   ->   ArrayView(name="a", c="float", load="a0", ...)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...core.errors import statuses
from ...core.frozen import replace
from ...loops.array_dims import may_be_one, own_dims
from ...loops.guard_program.code import guard_numbers
from ...loops.guard_program.ir import NestGuards
from ...loops.guard_program.without_given import without_given
from ...loops.nest import Access, LoopProgram, Nest, Reducing
from ...loops.schedule.inner_loops import Schedule
from ...loops.schedule.program_schedule import ProgramSchedule
from ..c_text.body import demand_lines, demand_status, loaded
from ..c_text.names import Namer, kernel_identifiers, kernel_prefix, number_constants
from ..c_text.references import names
from .alike import all_alike
from .constants import constant_views
from .half_blocks import in_floats
from .inner import inline_loop, stage_loops
from .loop_model import ArrayView, DimView, data_check
from .model import ConstantView, KernelView, NestView, OverlapView, ReductionView, ResultView
from .print_guards import Members, entry_steps, meeting_steps, result_steps, starts
from .print_ties import ties_of

if TYPE_CHECKING:
    import numpy as np

__all__ = ["kernel_view", "words_of"]


def kernel_view(
    name: str,
    program: LoopProgram,
    schedule: ProgramSchedule,
    banner: str,
    separate: bool = False,
    constants: Sequence[np.ndarray[Any, Any]] = (),
    identifiers: tuple[str, str, str] | None = None,
    taken: set[str] | None = None,
) -> KernelView:
    """Decide every name and line of a kernel.

    Parameters
    ----------
    name : the kernel's name.
    program, schedule : the nests, and the loops of each.
    banner : the comment that the file starts with.
    separate : whether arrays come as parameters of their own (`a->rank`) or in two tables (`operands[0].rank`).
    constants : the values of the program's constant arrays, if they are part of the C.
    identifiers : in a module of C, the module's prefix, the kernel's prefix, and the name of its function.
    taken : if the numbers of a diagnostic get constants, the names that these may not have; theirs are added.
    """
    # Without `separate`, callers find the function in a table, so only its prefix matters.
    stem, function = kernel_identifiers(name) if separate else (kernel_prefix(name),) * 2
    module, prefix, function = identifiers or (stem, stem, function)
    namer = Namer(module, words_of(program))
    operands = tuple(namer.take(operand) for operand, _ in program.operands)
    results = tuple(namer.take(result) for result, _ in program.results)
    rest = program.guards.named[len(operands) + len(results) :]
    numbers = () if taken is None else number_constants(prefix, (*operands, *results, *rest), taken)
    # Functions that check arrays take descriptors of operands, so each result has such a descriptor, too.
    views = tuple(namer.take(f"{result}_array") for result in results) if separate else ()
    extents = {at: namer.take(f"{operands[at]}_array") for at in program.extents} if separate else {}
    members = Members(
        operands,
        results,
        separate,
        program.guards.constants,
        numbers,
        tuple(f"&{view}" for view in views),
        extents,
    )
    nests = tuple(
        _nest_view(
            program,
            at,
            schedule.nests[at],
            prefix if len(program.nests) == 1 else f"{prefix}_{at}",
            members,
            namer,
            schedule.fast,
        )
        for at in range(len(program.nests))
    )
    ranks = {access.number: v.rank for v, nest in zip(nests, program.nests, strict=True) for access in nest.results}
    given_count = len(operands) + len(results)
    given = (*(operand for operand, _ in program.operands), *(result for result, _ in program.results))
    return KernelView(
        prefix,
        module,
        function,
        banner,
        operands,
        tuple(
            ResultView(
                result,
                ranks[at],
                namer.take(f"{result}_extents"),
                namer.take(f"{result}_rank"),
                views[at] if separate else result,
                members.pointer(at, True),
            )
            for at, result in enumerate(results)
        ),
        tuple((name, c) for name, c in zip(given, (*operands, *results), strict=True) if name != c),
        nests,
        _overlaps_across(nests),
        tuple((status, value, sentence) for value, (status, sentence) in statuses().items()),
        ties_of(program.guards, nests, members) if separate else (),
        schedule.aligned,
        users=tuple(dict.fromkeys(part for nest in program.nests for row in nest.body for part in row.op.prelude)),
        claims=tuple((given_count + c.number, c.name) for nest in program.nests for c in nest.claims),
        constants=_constants(prefix, program, operands, nests, constants, namer),
        constant_count=program.constants if separate else 0,
        shown=(*given, *rest),
        numbers=numbers,
        extents=program.extents,
        extent_arrays=tuple((operands[at], local) for at, local in extents.items()),
        reduced=tuple(one for nest in nests for one in nest.reductions),
        in_place=_in_place(schedule, operands, results) if separate else (),
        guards=() if separate else tuple(guard_numbers(program.guards, are_arrays=True)),
        guards_text="" if separate else str(program.guards),
    )


def _in_place(
    schedule: ProgramSchedule, operands: tuple[str, ...], results: tuple[str, ...]
) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the name of each result that is stored, with those of the operands that it may be itself."""
    found = {
        result.number: tuple(operands[number] for number in numbers)
        for scheduled in schedule.nests
        if not scheduled.nest.reduced
        for result, numbers in zip(scheduled.nest.results, scheduled.in_place, strict=True)
    }
    return tuple((results[number], found[number]) for number in sorted(found))


def _constants(
    prefix: str,
    program: LoopProgram,
    operands: tuple[str, ...],
    nests: tuple[NestView, ...],
    values: Sequence[np.ndarray[Any, Any]],
    namer: Namer,
) -> tuple[ConstantView, ...]:
    """Return the constants that are part of the C, and that a nest reads."""
    own = sorted(program.guards.constants)
    given = [(at, one, program.operands[at][1].dtype) for at, one in zip(own, values, strict=False)]
    rows = [(at, one, dtype) for at, one, dtype in given if dtype is not None]
    shown = [name for name, _ in program.operands]
    read = frozenset(array.owner for nest in nests for array in nest.operands)
    return constant_views(prefix, operands, shown, rows, namer, read)


def words_of(program: LoopProgram) -> frozenset[str]:
    """Return the identifiers in the C of the ops that a program uses."""
    rows = [statement for nest in program.nests for statement in nest.body]
    texts = [s.op.c_for(s.operand_dtypes, s.dtype, constant=s.constant) for s in rows]
    texts += [s.op.demand_for(s.operand_dtypes) or "" for s in rows]
    return names(" ".join(texts))


def _nest_view(
    program: LoopProgram,
    place: int,
    scheduled: Schedule,
    name: str,
    members: Members,
    kernel_namer: Namer,
    fast: bool,
) -> NestView:
    """Return the view of one nest: with names in C, and with loops and checks as C text."""
    nest, namer = program.nests[place], kernel_namer.within()
    arrays = tuple(
        _array_view(nest, access, at, at >= len(nest.operands), members, namer)
        for at, access in enumerate((*nest.operands, *nest.results))
    )
    if scheduled.aligned:
        arrays = tuple(
            replace(one, alignment=scheduled.alignment) if at in scheduled.aligned else one
            for at, one in enumerate(arrays)
        )
    read = tuple(array.load for array in arrays)
    demand_body, demand, demanded = demand_lines(nest, read)
    # The runtime converts f16 by the block, so the loops have floats in their place.
    own = in_floats(nest, arrays) if scheduled.f16_blocks else arrays
    stages, staged = stage_loops(name, scheduled, own, fast, namer)
    view = NestView(
        name=name,
        rank=None if nest.domain.open else len(nest.domain.dims),
        least_rank=len(nest.domain.dims),
        extents=tuple(dim.extent for dim in nest.domain.dims),
        inline=inline_loop(name, scheduled, own, fast),
        stages=stages,
        staged=staged,
        overlaps=tuple(_overlap_views(scheduled, arrays, namer)) if members.separate else (),
        demand_body=tuple(demand_body),
        demand=demand,
        demand_status=demand_status(nest),
        demand_arrays=tuple(array for array in arrays[: len(nest.operands)] if array.nest_index in demanded),
        asks_late=scheduled.asks_late,
        claims=tuple(claim.name for claim in nest.claims),
        reductions=tuple(
            _reduction_view(one, access, direct)
            for one, access, direct in zip(
                nest.reduced, nest.results, scheduled.direct or (None,) * len(nest.reduced), strict=False
            )
        ),
        shared_pass=scheduled.shared_pass,
        walk=scheduled.walk,
        block_points=scheduled.block_points,
        threads=scheduled.threads,
        outer=scheduled.outer,
        copies=scheduled.copies,
    )
    return _guarded(view, program, place, members) if members.separate else view


def _guarded(view: NestView, program: LoopProgram, place: int, members: Members) -> NestView:
    """Return the view of a nest with the parts of its domain function."""
    guards = program.guards.nests[place]
    if program.reduced:
        guards = without_given(guards, frozenset(one.operand for one in program.reduced))
    asked = entry_steps(guards, members)
    steps = (*meeting_steps(guards, members), *result_steps(guards, program.guards, members))
    return replace(
        view,
        guards=asked,
        starts=starts(guards, members),
        steps=tuple(step for step in steps if step not in asked),
        shapes=_shapes(guards, members),
        ranks=tuple(map(members.member, guards.spanning)),
        alike=view.in_a_row and all_alike(len(view.whole_arrays) - len(view.results), guards),
    )


def _reduction_view(one: Reducing, access: Access, direct: int | None) -> ReductionView:
    dims = sum(1 << dim for dim in one.axes)
    return ReductionView(
        f"BCG_STEP_{one.op.step}",
        f"BCG_KIND_{access.dtype.kind.upper()}",
        int(one.keepdims),
        -1 if one.ddof is None else one.ddof,
        one.value,
        -1 if direct is None else direct,
        f"UINT64_C({dims:#x})",
        f"{one.name} = {one.op.name} over {list(one.axes)}",
    )


def _shapes(guards: NestGuards, members: Members) -> tuple[tuple[str, str], ...]:
    """Return the names and members of the operands that a nest's extents come from, in order; no constants."""
    return tuple((members.operands[at], members.member(at)) for at in guards.operands if not members.is_constant(at))


def _array_view(
    nest: Nest, access: Access, nest_index: int, is_result: bool, members: Members, namer: Namer
) -> ArrayView:
    """Return the view of an operand or result: how C reaches its elements, and its stride along each dim."""
    owner = (members.results if is_result else members.operands)[access.number]
    again = any(other.number == access.number for other in nest.operands[:nest_index]) and not is_result
    name = namer.take(f"{owner}_again") if again else owner
    last = access.map.domain_rank - 1
    dims = []
    for at, own in enumerate(own_dims(nest, access, is_result)):
        if own is None:
            dims.append(DimView(at, None, False, "", "", ""))
            continue
        extent = (nest.domain.dims[at] if is_result else access.type.dims[own]).extent
        reason = f"{access.name}.{own} is 1 or d{at}" if access.map.indices[own].stretches else ""
        row = f"{name}_row" if at == last - 1 else f"{name}_at{at}"
        selects = extent is None and may_be_one(nest, access, own, is_result)
        dims.append(DimView(at, own, selects, reason, namer.take(f"{name}_d{at}"), namer.take(row)))
    number = access.number + (len(members.operands) if is_result else 0)
    return ArrayView(
        name=name,
        owner=owner,
        number=number,
        spelled_number=members.number(number),
        checked=data_check(access.dtype),
        nest_index=nest_index,
        pointer=members.pointer(access.number, is_result),
        member=members.member(access.number, is_result),
        rank=None if access.type.unranked or (nest.domain.open and is_result) else len(access.map.indices),
        c=access.dtype.c_in_memory,
        value_c=access.dtype.c,
        loaded=loaded("{}", access.dtype),
        bytes=access.dtype.bytes,
        is_result=is_result,
        load=namer.take(f"{name}0"),
        step=namer.take(f"{name}_step"),
        map_name=namer.take(f"{name}_dims"),
        dims=tuple(dims),
        mapped=not access.is_aligned,
        is_constant=not is_result and members.is_constant(access.number),
    )


def _overlap_views(scheduled: Schedule, arrays: tuple[ArrayView, ...], namer: Namer) -> Iterator[OverlapView]:
    """Yield the overlap check of each result and each array before it, which says how one array is told from two."""
    count = len(scheduled.nest.operands)
    for result, numbers in zip(arrays[count:], scheduled.in_place, strict=True):
        before = {array.number: array for array in reversed(arrays[: result.nest_index]) if not array.is_constant}
        for other in sorted(before.values(), key=lambda array: array.nest_index):
            flag = namer.take(f"{result.name}_is_{other.name}")
            may_be = not other.is_result and other.number in numbers
            yield OverlapView(result, other, flag, _same(scheduled.nest, result, other) if may_be else "")


def _same(nest: Nest, result: ArrayView, other: ArrayView) -> str:
    """Return the C of whether a result and an operand are the same array."""
    if nest.domain.open:
        return f"bcg_same({result.pointer}, {other.pointer})"
    strides = zip(result.strides, other.strides, strict=True)
    return " && ".join((f"{result.member}data == {other.member}data", *(f"{x} == {y}" for x, y in strides)))


def _overlaps_across(nests: tuple[NestView, ...]) -> tuple[OverlapView, ...]:
    """Return the pairs of a result and an array that another nest reads or writes, each once."""
    found: dict[tuple[int, int], OverlapView] = {}
    for nest in nests:
        own = {array.number for array in nest.arrays}
        for other_nest in nests:
            for result in nest.results:
                for other in other_nest.arrays:
                    pair = (min(result.number, other.number), max(result.number, other.number))
                    if other.number not in own and not other.is_constant:
                        found.setdefault(pair, OverlapView(result, other, "", ""))
    return tuple(found.values())
