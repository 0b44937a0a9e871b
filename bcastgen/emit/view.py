"""What a template shows: names, types and lines, all decided.

In: a scheduled loop program.  Out: a :class:`KernelView`; templates only lay it out.

    Access a : tensor<?x?xf32>, (d0, d1) -> (d0|0, d1|0)   ->   ArrayView(name="a", c="float", load="a0", ...)
"""

from __future__ import annotations

from dataclasses import dataclass

from ..errors import statuses
from ..loops.nest import Access, LoopProgram, Nest
from ..loops.schedule import UNIT, ZERO, Schedule, Variant
from ..shape.constraints import (
    ExtentIs,
    RankAtLeast,
    RankIs,
    ResultExtent,
    ResultRank,
    ResultRankAtLeast,
    ResultSame,
    SameExtent,
    Stretches,
    StretchesAll,
)
from .names import Namer, comment_text
from .scalar import body_lines, demand_lines, storage_type, value_text

__all__ = ["ArrayView", "CheckView", "DimView", "KernelView", "NestView", "VariantView", "kernel_view"]


@dataclass(frozen=True, slots=True)
class CheckView:
    """One entry check: `condition` holds if it fails; `facts` are the arguments of the diagnostic."""

    comment: str
    condition: str
    facts: str


@dataclass(frozen=True, slots=True)
class DimView:
    """One domain dim as an array sees it: its own dim (None: it does not move), and what is chosen at run time.

    `stride` names the effective stride and `row` the address at the loop's index; `selects` if the stride may prove 0.
    """

    domain: int
    own: int | None
    selects: bool
    stride: str
    row: str


@dataclass(frozen=True, slots=True)
class ArrayView:
    """An operand or result in one nest; `place` counts the nest's arrays, `position` the kernel's.

    `pointer` is the C expression of its descriptor's address, `member` what goes in front of a field of it.
    """

    name: str
    position: int
    place: int
    pointer: str
    member: str
    c: str
    bytes: int
    is_bool: bool
    is_result: bool
    load: str
    step: str
    dims: tuple[DimView, ...]
    checks: tuple[CheckView, ...]


@dataclass(frozen=True, slots=True)
class VariantView:
    """One inner loop: what each array does along it, and the strides (array's place, bytes) that pick it."""

    name: str
    kinds: tuple[str, ...]
    strides: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class NestView:
    """One nest: arrays are its operands, then its results."""

    name: str
    rank: int | None
    lower_rank: int
    extents: tuple[int, ...]
    setters: tuple[int, ...]
    arrays: tuple[ArrayView, ...]
    operand_count: int
    result_checks: tuple[CheckView, ...]
    variants: tuple[VariantView, ...]
    body: tuple[str, ...]
    stores: tuple[str, ...]
    demand_body: tuple[str, ...]
    demand: str
    demand_arrays: tuple[ArrayView, ...]


@dataclass(frozen=True, slots=True)
class KernelView:
    """The whole kernel: parameters are the operands, then the results."""

    name: str
    banner: str
    operands: tuple[str, ...]
    results: tuple[str, ...]
    result_ranks: tuple[int | None, ...]
    nests: tuple[NestView, ...]
    statuses: tuple[tuple[str, int], ...]

    @property
    def arrays(self) -> tuple[str, ...]:
        """Every parameter's name."""
        return (*self.operands, *self.results)

    @property
    def read(self) -> frozenset[str]:
        """The operands that some nest reads."""
        return frozenset(array.name for nest in self.nests for array in nest.arrays if not array.is_result)


def kernel_view(
    name: str, program: LoopProgram, schedules: tuple[Schedule, ...], banner: str, separate: bool = False
) -> KernelView:
    """Decide every name and line of a kernel.

    Parameters
    ----------
    name : of the kernel.
    program, schedules : the nests, and the inner loops of each.
    banner : the comment the file starts with.
    separate : whether arrays come as parameters of their own (`a->rank`) or in two tables (`operands[0].rank`).
    """
    namer = Namer()
    c_name = namer.take(name)
    operands = tuple(namer.take(operand) for operand, _ in program.operands)
    results = tuple(namer.take(result) for result, _ in program.results)
    nests = tuple(
        _nest_view(nest, scheduled, c_name if len(program.nests) == 1 else f"{c_name}_{at}", operands, results, separate)
        for at, (nest, scheduled) in enumerate(zip(program.nests, schedules, strict=True))
    )
    ranks = {
        access.position: view.rank for view, nest in zip(nests, program.nests, strict=True) for access in nest.results
    }
    return KernelView(
        c_name,
        comment_text(banner),
        operands,
        results,
        tuple(ranks[at] for at in range(len(results))),
        nests,
        tuple((status, value) for value, (status, _) in statuses().items()),
    )


def _nest_view(
    nest: Nest,
    scheduled: Schedule,
    name: str,
    operands: tuple[str, ...],
    results: tuple[str, ...],
    separate: bool,
) -> NestView:
    namer = Namer()
    for taken in (*operands, *results):
        namer.take(taken)
    members = _Members(operands, results, separate)
    entry, declared = _checks(nest, members)
    arrays = tuple(
        _array_view(access, place, place >= len(nest.operands), members, namer, entry)
        for place, access in enumerate((*nest.operands, *nest.results))
    )
    read = tuple(array.load for array in arrays)
    positions = {access.name: access.position for access in nest.operands}
    demand_body, demand, demanded = demand_lines(nest, read)
    return NestView(
        name=name,
        rank=None if nest.domain.open else len(nest.domain.dims),
        lower_rank=len(nest.domain.dims),
        extents=tuple(1 if dim.extent is None else dim.extent for dim in nest.domain.dims),
        setters=tuple(positions.get(setter or "", -1) for setter in nest.domain.setters),
        arrays=arrays,
        operand_count=len(nest.operands),
        result_checks=declared,
        variants=tuple(_variant_view(variant, arrays, len(nest.operands)) for variant in scheduled.variants),
        body=tuple(body_lines(nest, read)),
        stores=tuple(
            value_text(value, read, access.dtype) for access, value in zip(nest.results, nest.stores, strict=True)
        ),
        demand_body=tuple(demand_body),
        demand=demand,
        demand_arrays=tuple(array for array in arrays[: len(nest.operands)] if array.place in demanded),
    )


@dataclass(frozen=True, slots=True)
class _Members:
    """How generated C reaches a descriptor: `operands[0].rank` or `a->rank`."""

    operands: tuple[str, ...]
    results: tuple[str, ...]
    separate: bool

    def pointer(self, position: int, is_result: bool = False) -> str:
        """Return the address of an operand's or result's descriptor."""
        names, table = (self.results, "results") if is_result else (self.operands, "operands")
        return names[position] if self.separate else f"&{table}[{position}]"

    def member(self, position: int, is_result: bool = False) -> str:
        """Return what goes in front of a field."""
        names, table = (self.results, "results") if is_result else (self.operands, "operands")
        return f"{names[position]}->" if self.separate else f"{table}[{position}]."

    def dim(self, position: int, dim: int) -> str:
        """Return the number of an operand's dim, counted from the end where it is negative."""
        return str(dim) if dim >= 0 else f"{self.member(position)}rank - {-dim}"

    def extent(self, position: int, dim: int) -> str:
        """Return an operand's extent."""
        return f"{self.member(position)}extents[{self.dim(position, dim)}]"


def _array_view(
    access: Access,
    place: int,
    is_result: bool,
    members: _Members,
    namer: Namer,
    entry: tuple[tuple[int, CheckView], ...],
) -> ArrayView:
    name = (members.results if is_result else members.operands)[access.position]
    first = access.map.domain_rank - len(access.map.indices)
    indices = [(None, False)] * first + [
        (None if index.dim is None else own, index.stretches) for own, index in enumerate(access.map.indices)
    ]
    last = len(indices) - 1
    return ArrayView(
        name=name,
        position=access.position + (len(members.operands) if is_result else 0),
        place=place,
        pointer=members.pointer(access.position, is_result),
        member=members.member(access.position, is_result),
        c=storage_type(access.dtype),
        bytes=access.dtype.bytes,
        is_bool=access.dtype.kind == "bool",
        is_result=is_result,
        load=namer.take(f"{name}0"),
        step=namer.take(f"{name}_step"),
        dims=tuple(
            DimView(
                at, own, selects, namer.take(f"{name}_d{at}"), namer.take(f"{name}_row" if at == last - 1 else f"{name}_at{at}")
            )
            for at, (own, selects) in enumerate(indices)
        ),
        checks=() if is_result else tuple(check for position, check in entry if position == access.position),
    )


def _variant_view(variant: Variant, arrays: tuple[ArrayView, ...], operand_count: int) -> VariantView:
    kinds = (*variant.operands, *((variant.results,) * (len(arrays) - operand_count)))
    strides = tuple(
        (array.place, 0 if kind == ZERO else array.bytes)
        for array, kind in zip(arrays, kinds, strict=True)
        if kind in (UNIT, ZERO)
    )
    return VariantView(variant.name, kinds, strides)


def _result_dim(dim: int) -> str:
    return str(dim) if dim >= 0 else f"rank - {-dim}"


def _domain_extent(dim: int) -> str:
    return f"extents[{dim}]" if dim >= 0 else f"extents[rank - {-dim}]"


def _checks(
    nest: Nest, members: _Members
) -> tuple[tuple[tuple[int, CheckView], ...], tuple[CheckView, ...]]:
    """Split what the domain's constraints ask for: checks of operands at entry, and of the inferred extents after."""
    entry: list[tuple[int, CheckView]] = []
    declared: list[CheckView] = []
    positions = {access.name: access.position for access in nest.operands}
    results = {access.name: len(members.operands) + access.position for access in nest.results}
    for constraint in nest.domain.constraints:
        match constraint:
            case RankIs(operand=name, rank=rank) | RankAtLeast(operand=name, rank=rank):
                at = positions[name]
                actual = f"{members.member(at)}rank"
                comparison = "!=" if isinstance(constraint, RankIs) else "<"
                facts = f"BCG_RANK, {at}, -1, -1, {rank}, {actual}"
                entry.append((at, CheckView(str(constraint), f"{actual} {comparison} {rank}", facts)))
            case ExtentIs(operand=name, dim=dim, extent=extent):
                at = positions[name]
                actual = members.extent(at, dim)
                facts = f"BCG_EXTENT, {at}, {members.dim(at, dim)}, -1, {extent}, {actual}"
                entry.append((at, CheckView(str(constraint), f"{actual} != {extent}", facts)))
            case SameExtent(operand=name, dim=dim, other=other, other_dim=other_dim):
                at, against = positions[name], positions[other]
                actual, expected = members.extent(at, dim), members.extent(against, other_dim)
                facts = f"BCG_EXTENT, {at}, {members.dim(at, dim)}, {against}, {expected}, {actual}"
                entry.append((at, CheckView(str(constraint), f"{actual} != {expected}", facts)))
            case ResultRank(result=name, rank=rank) | ResultRankAtLeast(result=name, rank=rank):
                comparison = "!=" if isinstance(constraint, ResultRank) else "<"
                facts = f"BCG_RESULT_RANK, {results[name]}, -1, -1, {rank}, rank"
                declared.append(CheckView(str(constraint), f"rank {comparison} {rank}", facts))
            case ResultExtent(result=name, dim=dim, domain_dim=domain_dim, extent=int(extent)):
                met = _domain_extent(domain_dim)
                facts = f"BCG_RESULT, {results[name]}, {_result_dim(dim)}, -1, {met}, {extent}"
                declared.append(CheckView(str(constraint), f"{met} != {extent}", facts))
            case ResultSame(result=name, dim=dim, domain_dim=domain_dim, other=other, other_dim=other_dim):
                met, against = _domain_extent(domain_dim), positions.get(other, -1)
                same = members.extent(against, other_dim) if against >= 0 else _domain_extent(other_dim)
                facts = f"BCG_RESULT, {results[name]}, {_result_dim(dim)}, {against}, {same}, {met}"
                declared.append(CheckView(str(constraint), f"{met} != {same}", facts))
            case Stretches() | StretchesAll():
                # What the meeting of the operands checks, in the nest's domain function.
                pass
            case _:
                raise AssertionError(f"no check is rendered for {constraint!r}")
    return tuple(entry), tuple(declared)
