"""Arrays of standalone C: which result may be an operand itself, and which rows callers promise to be aligned.

In: a program, how nests share loops; a nest's schedule.  Out: numbers of operands, for each result; the schedule again.

    (f32[?,?] a, f32[?] b) -> a + b   ->   the result may be a, whose dims are its own, and not b
"""

from __future__ import annotations

from ...core.frozen import replace
from ..array_dims import own_dims
from ..nest import Access, Load, LoopProgram, Nest
from .inner_loops import InnerLoop, Schedule
from .shared_loops import LoopGroup, Sharing
from .variants import UNIT

__all__ = ["in_place", "with_aligned_rows"]


def in_place(program: LoopProgram, at: int, sharing: Sharing | None = None) -> tuple[tuple[int, ...], ...]:
    """Return for each result of a nest the numbers of the operands that it may be itself.

    An operand is none if it is read after this nest has written; nor if the C types differ, since compilers assume that
    objects of two types do not share memory; nor if, by the types, only one of the two moves along some dim; nor if one
    of the maps that it is read through is not the result's. Where nests share loops, it is none if any of them reads
    an element after it is written.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> in_place(from_text("(f32[?,?] a, f32[?] b) -> a + b").compilation.program, 0)
    ((0,),)
    """
    nest = program.nests[at]
    if sharing is not None:
        return _in_place_shared(program, sharing, at)
    later = {access.number for after in program.nests[at + 1 :] for access in after.operands}
    excluded = later | set(program.guards.constants)
    reads: dict[int, list[Access]] = {}
    for access in nest.operands:
        if access.number not in excluded:
            reads.setdefault(access.number, []).append(access)
    return tuple(
        tuple(number for number, through in reads.items() if _is_same(nest, result, through)) for result in nest.results
    )


def _is_same(nest: Nest, result: Access, through: list[Access]) -> bool:
    """Whether an operand, read through these maps, has the result's C type and strides."""
    first = through[0]
    if first.dtype.c_in_memory != result.dtype.c_in_memory or not all(access.is_aligned for access in through):
        return False
    if nest.domain.open:
        return True
    pairs = zip(own_dims(nest, first, False), own_dims(nest, result, True), strict=True)
    ranks = len(first.map.indices), len(result.map.indices)
    return ranks[0] == ranks[1] and all((own is None) == (other is None) for own, other in pairs)


def _in_place_shared(program: LoopProgram, sharing: Sharing, at: int) -> tuple[tuple[int, ...], ...]:
    """Return for each result of a nest that shares loops the operands that it may be itself."""
    nest = program.nests[at]
    if nest.reduced or not nest.results:
        return ((),) * len(nest.results)
    excluded = {one.operand for one in program.reduced} | set(program.guards.constants)
    numbers = sorted({access.number for access in nest.operands} - excluded)
    group = next(group for group in sharing.groups if any(member.nest == at for member in group.members))
    return tuple(
        tuple(
            number
            for number in numbers
            if _reads(nest, number)[0].dtype.c_in_memory == result.dtype.c_in_memory
            and _is_read_before(program, sharing, group, at, number)
        )
        for result in nest.results
    )


def _is_read_before(program: LoopProgram, sharing: Sharing, group: LoopGroup, at: int, number: int) -> bool:
    """Whether no element of an operand is read after a nest of shared loops has written a result in its place."""
    place = next(place for place, member in enumerate(group.members) if member.nest == at)
    later = sharing.groups[sharing.groups.index(group) + 1 :]
    after = [member.nest for member in group.members[place + 1 :]] + [m.nest for one in later for m in one.members]
    if any(_reads(program.nests[nest], number) for nest in after):
        return False
    rank = len(program.nests[at].domain.dims)
    if any(_dims(access) != list(range(rank)) for access in _reads(program.nests[at], number)):
        return False
    # In an earlier nest of the loops, an element is read at the point at which it is written, or before.
    return all(
        [_dims(access).index(dim) if dim in _dims(access) else -1 for dim in member.dims]
        == list(group.members[place].dims)
        for member in group.members[:place]
        for access in _reads(program.nests[member.nest], number)
    )


def _reads(nest: Nest, number: int) -> list[Access]:
    return [access for access in nest.operands if access.number == number]


def _dims(access: Access) -> list[int | None]:
    return [index.dim for index in access.map.indices]


def with_aligned_rows(scheduled: Schedule, alignment: int, constants: frozenset[int], dense: bool) -> Schedule:
    """Return a schedule with the arrays whose rows callers promise to be aligned, and the loops that rely on it.

    An array has aligned rows if callers pass it, and the nest accesses it through one map, along its own last dim; if
    arrays are `dense`, each that has dims begins at an aligned address. A loop relies on it where it begins at such
    places: at rows, or at multiples of `block_points` whose bytes are multiples of the alignment.
    """
    nest = scheduled.nest
    count = len(nest.operands)
    numbers = [access.number for access in nest.operands]
    aligned = []
    for place, access in enumerate((*nest.operands, *nest.results)):
        is_result, rank = place >= count, len(access.map.indices)
        if not is_result and access.number in constants:
            continue
        once = is_result or numbers.count(access.number) == 1
        if rank and (dense or (once and own_dims(nest, access, is_result)[-1:] == (rank - 1,))):
            aligned.append(place)
    made = replace(scheduled, alignment=alignment, aligned=tuple(aligned))
    if dense:
        return made
    staged = None if made.staged is None else _relying(made, made.staged, True)
    stages = tuple(_relying(made, one, False) for one in made.stages)
    return replace(made, inline=_relying(made, made.inline, True), stages=stages, staged=staged)


def _relying(scheduled: Schedule, loop: InnerLoop, stores: bool) -> InnerLoop:
    """Return a loop whose variants name the arrays that they take to be aligned; `stores` if it writes the results."""
    operands, results = scheduled.nest.operands, scheduled.nest.results
    places = [read.access if isinstance(read, Load) else -1 for read in loop.reads]
    places += [len(operands) + at for at in range(len(results)) if stores]
    steps = [scheduled.block_points * access.dtype.bytes for access in (*operands, *results)]
    own = [
        at for at, place in enumerate(places) if place in scheduled.aligned and steps[place] % scheduled.alignment == 0
    ]
    variants = (
        replace(one, aligned=tuple(at for at in own if one.classes(len(places))[at] == UNIT)) for one in loop.variants
    )
    return replace(loop, variants=tuple(variants))
