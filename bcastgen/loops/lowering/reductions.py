"""Lowering of reductions: nests that combine elements, and the nests that read what these give.

In: a typed expression with reductions.  Out: a :class:`LoopProgram`, whose first results are the reduced values.

    x - mean(x, axis=1)   ->   nest (d0, d1), reducing d1: mean_of_x = mean of x
                               nest (d0, d1): r = subtract(x, mean_of_x)

What a reduction gives is an operand that the run time makes: its extents are those of the dims that are left of its
nest's domain. All checks run before the first nest does. Reductions of values of one domain along the same dims share a
nest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from ...core.errors import BcastgenError, BroadcastError
from ...core.frozen import dataclass, replace
from ...expr.axes import normal_axes
from ...expr.free_extents import free_extents_again
from ...expr.infer import Typed
from ...expr.nodes import Expression
from ...expr.split import Split, split
from ...shape.types.dim import Dim
from ...shape.types.tensor_type import TensorType
from ..guard_program.ir import Check, Const, DomainDim, HasRank, NestGuards, NotNegative, Own, ReducedShape, Step
from ..guards.earlier import without_implied
from ..nest import LoopProgram, Nest, Reducing, Slot
from .columns import Column

__all__ = ["lower_reductions"]

Types = tuple[TensorType, ...]
# Each reduction, by the number of the operand that holds its result for later nests.
ReducedOperands: TypeAlias = Mapping[int, Reducing]
# `LowerFlat` lowers an expression without reductions. It takes the expression, the types of the operands, the declared
# types and the names of the results, and an object for each reduced value: two values may share a nest only if their
# objects are equal.
_Declared: TypeAlias = "tuple[TensorType | None, ...] | None"
LowerFlat: TypeAlias = Callable[[Typed, Types, _Declared, "tuple[str, ...]", "tuple[object, ...]"], LoopProgram]


def lower_reductions(
    typed: Typed,
    operand_types: Types,
    result_types: Types | None,
    result_names: tuple[str, ...],
    flat: LowerFlat,
) -> LoopProgram:
    """Return the nests of an expression with reductions.

    Raises
    ------
    BroadcastError
        If operands do not fit, or an axis is out of range.
    BcastgenError
        If an operand's rank is unknown.
    """
    expression = typed.expression
    if any(type_.unranked for type_ in operand_types):
        raise BcastgenError(
            "reductions do not go together with operands of unknown rank; declare the rank, as in f32[?, ?]"
        )
    parts = split(expression)
    bound = {dim.symbol for type_ in operand_types for dim in type_.dims}
    types, reduced = _reduced(parts, typed, operand_types, bound, flat)
    count, whole = len(parts.reductions), parts.expression
    free = free_extents_again(whole.results, expression, parts.views, bound)
    given: tuple[TensorType | None, ...] = (None,) * len(expression.results) if result_types is None else result_types
    program = flat(
        Typed(replace(whole, free_extents=free), (*typed.limits, *(None,) * count)),
        (*operand_types, *types),
        (*(None,) * count, *given),
        (*(f"{one.name}_values" for one in reduced), *result_names),
        tuple((depth, one.axes) for depth, one in zip(parts.depths, reduced, strict=True)),
    )
    # A slot counts extents as the expression does, and results from the first that the caller gets: reduced values are
    # in front of these.
    slots = tuple(
        Slot(
            expression.free_extents.index(free[slot.number]),
            slot.result - count if slot.result is not None and slot.result >= count else None,
            slot.dim,
            slot.open,
        )
        for slot in program.slots
    )
    return _combined(replace(program, slots=slots, extents=expression.free_extents), tuple(reduced))


def _reduced(
    parts: Split, typed: Typed, operand_types: Types, bound: set[str | None], flat: LowerFlat
) -> tuple[list[TensorType], list[Reducing]]:
    """Return the type of each reduced value, and how it is made, in order."""
    given = len(operand_types)
    types: list[TensorType] = []
    reduced: list[Reducing] = []
    for at, node in enumerate(parts.reductions):
        # The operands that stand for later reductions are left out.
        whole = parts.expression
        value = (whole.results[at],)
        free = free_extents_again(value, typed.expression, parts.views, bound)
        part = Expression(whole.operands[: given + at], value, free)
        limits = (*typed.limits, *(None,) * at)
        name = whole.operands[given + at].name
        nest = flat(Typed(part, limits), (*operand_types, *types), None, (f"{name}_values",), ()).nests[-1]
        dims = nest.domain.dims
        axes = normal_axes(node, len(dims))
        left = tuple(
            Dim(1) if dim in axes else _without_name(extent, bound)
            for dim, extent in enumerate(dims)
            if node.keepdims or dim not in axes
        )
        types.append(TensorType(node.dtype, left))
        needs_elements = node.op.identity is None and not node.initial
        ddof = node.ddof if node.op.divides else None
        reduced.append(Reducing(node.op, name, at, given + at, axes, node.keepdims, ddof, needs_elements))
    return types, reduced


def _without_name(dim: Dim, bound: set[str | None]) -> Dim:
    """Return a dim without its name if no operand's type binds the name, so that only the caller gives the extent."""
    return dim if dim.is_static or dim.symbol in bound else Dim.within(None, dim.range)


def _combined(program: LoopProgram, reduced: tuple[Reducing, ...]) -> LoopProgram:
    """Return a program that knows which results it reduces, without checks of the reduced values' shapes."""
    stored = program.guards.stored
    shapes = tuple(ReducedShape(one.operand, stored[one.value], one.axes, one.keepdims) for one in reduced)
    program = without_implied(replace(program, guards=replace(program.guards, reduced=shapes)))
    by_number = {one.value: one for one in reduced}
    reduced_operands = {one.operand: one for one in reduced}
    nests: list[Nest] = []
    guards: list[NestGuards] = []
    for at, (nest, guards_of_nest) in enumerate(zip(program.nests, program.guards.nests, strict=True)):
        own = tuple(by_number[access.number] for access in nest.results if access.number in by_number)
        nests.append(replace(nest, reduced=own))
        guards.append(
            replace(
                guards_of_nest,
                entry=tuple(step for step in guards_of_nest.entry if not _is_of(step, reduced_operands)),
                steps=tuple(step for step in guards_of_nest.steps if not _is_of(step, reduced_operands)),
                results=(*guards_of_nest.results, *_not_empty(program, at, own, reduced_operands)),
            )
        )
    checked = replace(program.guards, nests=tuple(guards))
    columns = _columns_of_operands(program, reduced_operands)
    return replace(program, nests=tuple(nests), guards=checked, columns=columns, reduced=reduced)


def _is_of(step: Step, reduced_operands: ReducedOperands) -> bool:
    """Whether a step checks the rank of a reduction's result, or the sign of its extents: the kernel makes both."""
    match step:
        case HasRank(operand=operand) | NotNegative(term=Own(operand=operand)):
            return operand in reduced_operands
    return False


def _not_empty(
    program: LoopProgram, at: int, own: tuple[Reducing, ...], reduced_operands: ReducedOperands
) -> list[Check]:
    """Return the checks that reduced dims are not empty, for reductions that have no value of no elements."""
    nest = program.nests[at]
    needed = dict.fromkeys(dim for one in own if one.needs_elements for dim in one.axes)
    found: list[Check] = []
    for dim in needed:
        extent = nest.domain.dims[dim].extent
        if extent is not None and extent > 0:
            continue
        first = next(one for one in own if one.needs_elements and dim in one.axes)
        if nest.domain.dims[dim].range.high < 1:
            raise BroadcastError(
                f"{first.op.name} of no elements has no value, and types say that dim {dim} of what it combines has "
                "none; declare another extent, or give min or max initial="
            )
        found += _has_elements(program, at, dim, first, reduced_operands)
    return found


def _has_elements(
    program: LoopProgram, at: int, dim: int, reducing: Reducing, reduced_operands: ReducedOperands
) -> list[Check]:
    """Return the checks that a reduced dim of a nest is not empty; they name arrays that the caller gave.

    An operand that does not stretch along the dim has its extent, so one such operand is enough. If all may stretch,
    any of them may have the extent 0, so each is checked.
    """
    readers = list(dict.fromkeys(_read_along(program, reduced_operands, at, dim)))
    rigid = [reader for reader in readers if not reader.stretches]
    checked_readers = rigid[:1] or readers
    text = f"d{dim} >= 1 ({reducing.op.name})"
    if len(checked_readers) <= 1:
        number, own = (
            (checked_readers[0].number, checked_readers[0].dim) if checked_readers else (reducing.operand, dim)
        )
        return [Check("ge", DomainDim(at, dim), Const(1), "EMPTY", number, own, -1, text)]
    texts = (f"{one.name}.{one.dim} >= 1 ({reducing.op.name})" for one in checked_readers)
    return [
        Check("ge", Own(one.number, one.dim), Const(1), "EMPTY", one.number, one.dim, -1, says)
        for one, says in zip(checked_readers, texts, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class _Reader:
    """A dim of an array that no reduction gives, and whether it stretches along its dim of a domain."""

    number: int
    dim: int
    stretches: bool
    name: str


def _read_along(program: LoopProgram, reduced_operands: ReducedOperands, at: int, dim: int) -> Iterator[_Reader]:
    """Yield the dims of arrays that lie in a dim of a nest's domain, directly or by way of reduced values."""
    nest = program.nests[at]
    for access in (*nest.operands, *nest.shapes):
        for own, index in enumerate(access.map.indices):
            if index.dim != dim:
                continue
            if access.number not in reduced_operands:
                yield _Reader(access.number, own, index.stretches, access.name)
                continue
            for one in _behind(program, reduced_operands, access.number, own):
                yield replace(one, stretches=one.stretches or index.stretches)


def _behind(program: LoopProgram, reduced_operands: ReducedOperands, number: int, own: int) -> Iterator[_Reader]:
    """Yield the dims that a dim of a reduced value has its extent from; none if the dim itself was reduced."""
    one = reduced_operands[number]
    source = program.guards.stored[one.value]
    dim = one.sources(len(program.nests[source].domain.dims))[own]
    if dim not in one.axes:
        yield from _read_along(program, reduced_operands, source, dim)


def _columns_of_operands(program: LoopProgram, reduced_operands: ReducedOperands) -> tuple[Column, ...]:
    """Return the columns of a program, with operands in place of reduced values."""
    numbers = {name: number for number, (name, _) in enumerate(program.operands)}
    columns = []
    for column in program.columns:
        items: list[int | tuple[str, int]] = []
        for item in column:
            if isinstance(item, tuple) and numbers[item[0]] in reduced_operands:
                behind = _behind(program, reduced_operands, numbers[item[0]], item[1])
                items += [(one.name, one.dim) for one in behind if one.number not in program.extents]
                known = program.operands[numbers[item[0]]][1].dims[item[1]].extent
                items += [known] if known is not None else []
            else:
                items.append(item)
        columns.append(tuple(dict.fromkeys(items)))
    return tuple(columns)
