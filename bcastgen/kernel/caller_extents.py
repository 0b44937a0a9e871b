"""Kernels that take from the caller those result extents that no operand determines.

In: a kernel with slots, and a call.  Out: the same call with one operand of rank 1, without data, for each slot.

    kernel = bg.jit(lambda x: bg.broadcast_in_dim(x, (None, "k"), (0,)))
    kernel(x, extents={"k": 5})        kernel(x, out=np.empty((3, 5)))

The shape of ``broadcast a : ? x ? -> ? x ? x ?`` has to come from a target shape, or from an array of it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..core.dtypes import dtype
from ..core.errors import ArgumentError, BroadcastError
from ..core.forks import undivided
from ..core.frozen import replace
from ..expr.free_extents import free_extent_names
from ..expr.nodes import Expression, Operand
from ..expr.trace import inline, is_tracer
from ..runtime.slow_path import bind, call_bound, clean_operand, without_strict
from ..runtime.strict import plain
from ..shape.types.dim import DYNAMIC, MAX_EXTENT, as_extent
from ..shape.types.tensor_type import Signature, TensorType
from .kernel import Kernel

if TYPE_CHECKING:
    from ..loops.lowering.columns import Column
    from ..shape.inference.operand_use import OperandDim

__all__ = ["SizedKernel", "checked_extents", "with_slots"]

Shapes: TypeAlias = dict[str, tuple[int, ...]]
# For each name, the extents (numbers or operands' dims) that share a column with it, in order.
Beside: TypeAlias = "dict[str, tuple[int | OperandDim, ...]]"


def with_slots(expression: Expression, signature: Signature | None) -> tuple[Expression, Signature | None]:
    """Return an expression and its signature, each with one more operand for every extent that the caller gives."""
    types = () if signature is None else signature.operands
    bound = {dim.symbol for _, type_ in types for dim in type_.dims}
    count = len(expression.operands)
    taken = {operand.name for operand in expression.operands}
    added: list[Operand] = []
    for at, name in enumerate(free_extent_names(expression.results, bound)):
        label = name or f"extent_{at}"
        while label in taken:
            label += "_"
        taken.add(label)
        added.append(Operand(count + at, label))
    if not added:
        return expression, signature
    operands = (*expression.operands, *added)
    numbers = tuple(range(count, len(operands)))
    sized = replace(expression, operands=operands, free_extents=numbers)
    if signature is None:
        return sized, None
    named = tuple((operand.name, TensorType(dtype("u8"), (DYNAMIC,))) for operand in added)
    return sized, Signature((*signature.operands, *named), signature.results, None)


class SizedKernel(Kernel):
    """A kernel some of whose result extents the caller gives, by ``out=`` or by ``extents=``; see :class:`Kernel`.

    ``extents`` is a dict from the names of dims to their extents. If an operand determines such an extent, too, both
    have to agree. A call raises BroadcastError if neither the operands nor the caller determine an extent of a result.

    The kernel's last operands are *slots*, one for each of these extents: each has rank 1, and only its extent counts.
    """

    def _call_sized(self, args: tuple[Any, ...], by_name: dict[str, Any]) -> Any:
        """Complete a call that the extension cannot complete, and make it."""
        named = {name: value for name, value in by_name.items() if name not in ("out", "extents")}
        if any(map(is_tracer, (*args, *named.values()))):
            return self._inlined(args, named)
        self._refuse_slots(args, named)
        out = by_name.get("out")
        return call_bound(self, args, {**named, **self._given(args, named, out, by_name.get("extents")), "out": out})

    def _refuse_slots(self, args: tuple[Any, ...], named: Iterable[str]) -> None:
        """Refuse arguments for slots: the caller gives their extents."""
        count = len(self.operands) - len(self.slots)
        if len(args) > count:
            given = f"{len(args)} {'was' if len(args) == 1 else 'were'} given"
            raise ArgumentError(f"{self._name}() takes {count} positional argument{'s' * (count != 1)} but {given}")
        unexpected = next((name for name in self.slots if name in named), None)
        if unexpected is not None:
            raise ArgumentError(f"{self._name}() got an unexpected keyword argument '{unexpected}'")

    def _inlined(self, args: tuple[Any, ...], by_name: dict[str, Any]) -> Any:
        """Inline the expression into the function that is being traced, whose caller then gives the extents."""
        values = bind(self, args, {**by_name, **dict.fromkeys(self.slots, _empty(1))})
        count = len(self.operands) - len(self.slots)
        own = replace(self.expression, operands=self.expression.operands[:count], free_extents=())
        return inline(own, values[:count])

    def _result_shape(self, shapes: tuple[object, ...], extents: Any = None) -> Any:
        """Return the results' shapes for operands of these shapes and the caller's extents."""
        with undivided:
            from .sizing import shapes_of, sized  # noqa: PLC0415 - calls size results themselves
        given = checked_extents(self._name, extents)
        names = self.operands[: len(self.operands) - len(self.slots)]
        known = shapes_of(self, names, shapes)
        found = self._complete(dict(zip(names, known, strict=True)), given)
        return sized(self, (*known, *((found[name],) for name in self.slots)), without_strict(shapes)[1])

    def _guard_code(self, ranks: bytes, given: bytes) -> bytes | None:
        """Return the guards as numbers; None if an extent of a result is left undetermined."""
        with undivided:
            from ..loops.guard_program.code import guard_code  # noqa: PLC0415 - calls size results themselves
            from ..loops.guard_program.ir import Const, Own  # noqa: PLC0415 - calls size results themselves
        program = self._sizing((*ranks, *(1 for _ in given)))
        names = self.slots
        beside = _beside(names, {name for name, flag in zip(names, given, strict=True) if flag}, program.columns)
        if any(slot.open and not given[slot.number] and names[slot.number] not in beside for slot in program.slots):
            return None
        number = {name: at for at, name in enumerate(self.operands)}
        terms = {
            at: [
                Const(item) if isinstance(item, int) else Own(number[item[0]], item[1])
                for item in beside.get(name, (1,))
            ]
            for at, name in enumerate(names)
            if not given[at]
        }
        return guard_code(program.guards, terms)

    @property
    def slots(self) -> tuple[str, ...]:
        """Names of the operands that stand for an extent."""
        return tuple(self.operands[at] for at in self.expression.free_extents)

    def _given(
        self, args: tuple[Any, ...], by_name: dict[str, Any], out: Any, extents: Mapping[str, int] | None
    ) -> dict[str, Any]:
        given = dict(checked_extents(self._name, extents))
        outs = out if isinstance(out, tuple) else (None if out is ... else out,) * (len(self.results) == 1)
        values = bind(self, args, {**by_name, **dict.fromkeys(self.slots, _empty(1))})
        clean = [clean_operand(name, plain(value)) for name, value in zip(self.operands, values, strict=True)]
        shapes = dict(zip(self.operands, map(np.shape, clean), strict=True))  # type: ignore[arg-type]
        found = self._complete({name: shapes[name] for name in self.operands if name not in self.slots}, given, outs)
        return {name: _empty(found[name]) for name in self.slots}

    def _complete(self, shapes: Shapes, given: Mapping[str, int], outs: tuple[Any, ...] = ()) -> dict[str, int]:
        """Return the extent of each slot: the given one, that of an out, or that of the dims in its column.

        Raises
        ------
        BroadcastError
            If `given` has an unknown name, or nothing determines a slot.
        """
        names, given = self.slots, dict(given)
        unknown = [name for name in given if name not in names]
        if unknown:
            raise BroadcastError(f"{self._name}(): extents has no {unknown[0]!r}; its names are {', '.join(names)}")
        program = self._sizing((*map(len, shapes.values()), *(1 for _ in names)))
        found = _inferred(names, given, program.columns, shapes)
        for slot in program.slots:
            target = None if slot.result is None or slot.result >= len(outs) else outs[slot.result]
            if target is not None and slot.dim < np.ndim(target):
                given.setdefault(names[slot.number], np.shape(target)[slot.dim])
        for slot in program.slots:
            name = names[slot.number]
            if slot.open and name not in found and name not in given:
                result = None if slot.result is None else self.results[slot.result]
                dim = (
                    f"dim {slot.dim} of a value that is reduced"
                    if result is None
                    else f"result '{result}' dim {slot.dim}"
                )
                raise BroadcastError(
                    f"{self._name}(): {dim} has an extent that no operand determines; pass extents={{{name!r}: ...}}"
                    f"{'' if result is None else ', or out='}",
                    operand=result,
                    dim=slot.dim,
                )
        found = _inferred(names, given, program.columns, shapes)
        return {name: int(given.get(name, found.get(name, 1))) for name in names}


def _inferred(
    names: tuple[str, ...], given: Mapping[str, int], columns: Iterable[Column], shapes: Shapes
) -> dict[str, int]:
    """Return the extents of names that the caller leaves out: the first extent in their columns that is not 1, else 1.

    If two such extents differ, the kernel refuses the call.
    """
    found: dict[str, int] = {}
    for name, items in _beside(names, given, columns).items():
        extents: list[int] = []
        for item in items:
            if isinstance(item, int):
                extents.append(item)
            elif item[0] in given:
                extents.append(given[item[0]])
            else:
                extents += shapes[item[0]][item[1] : item[1] + 1]
        if extents:
            found[name] = next((extent for extent in extents if extent != 1), 1)
    return found


def _beside(names: tuple[str, ...], given: Container[str], columns: Iterable[Column]) -> Beside:
    """Return, for names that the caller leaves out, the items that share a column with them.

    Names that the caller leaves out are joined if they share a column, and get the items of all their columns.
    """
    found: Beside = {}
    for name in names:
        if name in given or name in found:
            continue
        joined, met = {name}, [column for column in columns if (name, 0) in column]
        items: list[int | OperandDim] = []
        for column in met:
            for item in column:
                if isinstance(item, int) or item[0] not in names or item[0] in given:
                    items.append(item)
                elif item[0] not in joined:
                    joined.add(item[0])
                    met += [other for other in columns if item in other and other not in met]
        if items:
            found.update(dict.fromkeys(joined, tuple(items)))
    return found


def checked_extents(kernel: str, extents: Mapping[str, int] | None) -> Mapping[str, int]:
    """Return the extents that a caller gives, {} for None; raise BroadcastError for a non-dict or a bad extent."""
    if extents is not None and not isinstance(extents, Mapping):
        raise BroadcastError(f"{kernel}(): extents is {extents!r}, expected a dict from names to integers")
    found: dict[str, int] = {}
    for name, given in (extents or {}).items():
        extent = as_extent(given)
        if extent is None:
            raise BroadcastError(
                f"{kernel}(): extents gives {name!r} as {given!r}, expected an integer from 0 to {MAX_EXTENT}"
            )
        found[name] = extent
    return found


def _empty(extent: int) -> np.ndarray[Any, Any]:
    """Return an array of rank 1 and this extent, which is a view of a single element."""
    return np.broadcast_to(np.uint8(0), (extent,))
