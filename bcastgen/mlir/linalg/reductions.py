"""Prints a nest that reduces: a linalg.generic whose results have maps without the dims that are combined.

In: a nest.  Out: lines, and the names of what its reductions give.

    sum of a*b over d1   ->   %init = linalg.fill ins(%c0.0_f32 : f32) outs(...)
                              linalg.generic {indexing_maps = [..., affine_map<(d0, d1) -> (d0)>],
                                              iterator_types = ["parallel", "reduction"]} ins(%a, %b) outs(%init)

Elements are combined in the order of the loops that linalg is lowered to, so the last bits of sums of floats are not
those of the kernel's C. A mean is a sum, and a division of what it gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from ...core.dtypes import DType
from ...core.frozen import dataclass, replace
from ...loops.nest import Access, Let, Load, Nest, Reducing, Statement, Value
from ...ops.table import OPS
from .block import TextBlock
from .body import write_body
from .generic import Generic
from .shapes import Extent, Shapes
from .types import declared_type, signless, tensor_type

__all__ = ["write_reduction"]


def write_reduction(nest: Nest, shapes: Shapes) -> dict[str, str]:
    """Write a nest that reduces; return the value of each operand of later nests that it gives."""
    block = shapes.block
    domain = shapes.domain(nest)
    # Constants and tensors in front come first: the region knows the names of what is there before it.
    filled = [_outs(nest, one, access, domain, shapes) for one, access in zip(nest.reduced, nest.results, strict=True)]
    generic = Generic(nest, shapes, range(len(nest.operands)))
    if not generic.covers:
        # No operand's map has every extent: a tensor that is not read gives them.
        type_ = tensor_type(tuple(dim.extent for dim in nest.domain.dims), signless(nest.results[0].dtype))
        generic.span(_empty(block, type_, domain, shapes), type_, signless(nest.results[0].dtype))
    whole = _Combined(nest, generic, filled)
    values = whole.values()
    made = block.name(nest.reduced[0].name if len(values) == 1 else "reduced")
    generic.finish(made if len(values) == 1 else f"{made}:{len(values)}", nest.iterators, values)
    found = {}
    for at, (one, access) in enumerate(zip(nest.reduced, nest.results, strict=True)):
        number = whole.first[at] + one.op.gives_index
        value = made if len(values) == 1 else f"{made}#{number}"
        if one.ddof is not None:
            value = _divided(value, one, access.dtype, domain, shapes)
        found[one.name] = value
    return found


@dataclass(frozen=True, slots=True)
class _Out:
    """A tensor that is combined into: its value, its type, its elements', and its dims of the domain."""

    value: str
    type: str
    element: str
    dims: tuple[int | None, ...]


def _outs(nest: Nest, one: Reducing, access: Access, domain: Sequence[Extent], shapes: Shapes) -> list[_Out]:
    """Write the tensors that a reduction begins with: of its value, and of an index."""
    rank = len(domain)
    dims = tuple(None if dim in one.axes else dim for dim in one.sources(rank))
    start = one.op.neutral(access.dtype)
    starts: list[tuple[float, str]] = [(start, signless(access.dtype))]
    starts += [(0, "i64")] * one.op.gives_index
    block, found = shapes.block, []
    for value, element in starts:
        type_ = tensor_type(tuple(1 if dim is None else nest.domain.dims[dim].extent for dim in dims), element)
        empty = _empty(block, type_, [1 if dim is None else domain[dim] for dim in dims], shapes)
        constant = block.constant(value, element)
        name = block.name(f"{one.name}_init")
        block.line(f"{name} = linalg.fill ins({constant} : {element}) outs({empty} : {type_}) -> {type_}")
        found.append(_Out(name, type_, element, dims))
    return found


class _Combined:
    """The region of a reducing generic: the nest's values, each combined with what there is so far.

    `before` has what there is so far of each tensor; `first` is the number of each reduction's first one.
    """

    def __init__(self, nest: Nest, generic: Generic, filled: Sequence[Sequence[_Out]]) -> None:
        self.nest, self.generic = nest, generic
        self.before: list[str] = []
        self.first: list[int] = []
        for outs in filled:
            self.first.append(len(self.before))
            self.before += [generic.write_to(one.value, one.type, one.element, "so_far", one.dims) for one in outs]

    def values(self) -> list[str]:
        """Write the body; return the values that are yielded."""
        nest, loads = self.nest, dict(self.generic.loads)
        body, stores = list(nest.body), list(nest.stores)
        for at, (one, access) in enumerate(zip(nest.reduced, nest.results, strict=True)):
            if one.op.gives_index:
                continue
            # What there is so far is one more operand; the op that combines is a statement like others.
            so_far = len(nest.operands) + at
            loads[so_far] = self.before[self.first[at]]
            operands: tuple[Value, ...] = (Load(so_far), stores[at])
            stores[at] = Let(len(body))
            body.append(Statement(OPS[one.op.combines], operands, (access.dtype,) * 2, (), access.dtype))
        given = write_body(self.generic.region, replace(nest, body=tuple(body), stores=tuple(stores)), loads)
        found: list[str] = []
        for at, (one, access) in enumerate(zip(nest.reduced, nest.results, strict=True)):
            is_index = one.op.gives_index
            found += self._index(one, access.dtype, given[at], self.first[at]) if is_index else [given[at]]
        return found

    def _index(self, one: Reducing, dtype: DType, value: str, first: int) -> list[str]:
        """Write the choice of the better value and its index."""
        region, best, place = self.generic.region, self.before[first], self.before[first + 1]
        is_least, type_ = one.op.is_least, signless(dtype)
        if dtype.is_float:
            better = region.op("better", f"arith.cmpf {'olt' if is_least else 'ogt'}, {value}, {best} : {type_}")
            nan = region.op("nan", f"arith.cmpf uno, {value}, {value} : {type_}")
            was = region.op("was", f"arith.cmpf ord, {best}, {best} : {type_}")
            first_nan = region.op("first_nan", f"arith.andi {nan}, {was} : i1")
            better = region.op("better", f"arith.ori {better}, {first_nan} : i1")
        else:
            sign = "s" if dtype.kind == "signed" else "u"
            better = region.op("better", f"arith.cmpi {sign}{'lt' if is_least else 'gt'}, {value}, {best} : {type_}")
        number = ""
        for axis in one.axes:
            index = region.op(f"i{axis}", f"linalg.index {axis} : index")
            extent = self.generic.shapes.domain(self.nest)[axis]
            if number:
                scaled = region.op("rows", f"arith.muli {number}, {self._extent(extent)} : index")
                index = region.op("at", f"arith.addi {scaled}, {index} : index")
            number = index
        number = number or region.constant(0, "index")
        here = region.op("here", f"arith.index_cast {number} : index to i64")
        return [
            region.op("best", f"arith.select {better}, {value}, {best} : {type_}"),
            region.op("place", f"arith.select {better}, {here}, {place} : i64"),
        ]

    def _extent(self, extent: Extent) -> str:
        return extent if isinstance(extent, str) else self.generic.region.constant(extent, "index")


def _empty(block: TextBlock, type_: str, extents: Sequence[Extent], shapes: Shapes) -> str:
    """Write an empty tensor; the extents that its type does not know are values."""
    dynamic = [
        shapes.index(extent) for extent, shown in zip(extents, type_[7:].split("x"), strict=False) if shown == "?"
    ]
    name = block.name("empty")
    block.line(f"{name} = tensor.empty({', '.join(dynamic)}) : {type_}")
    return name


def _divided(total: str, one: Reducing, dtype: DType, domain: Sequence[Extent], shapes: Shapes) -> str:
    """Write the division of totals by the number of elements; return the value."""
    block = shapes.block
    type_ = declared_type(shapes.program.operands[one.operand][1])
    rank = len(shapes.program.operands[one.operand][1].dims)
    count = _count([domain[axis] for axis in one.axes], one.ddof or 0, block)
    map_ = f"affine_map<({', '.join(f'd{at}' for at in range(rank))}) -> ({', '.join(f'd{at}' for at in range(rank))})>"
    element = signless(dtype)
    extents = [shapes.extent(one.name, at) for at in range(rank)]
    empty = _empty(block, type_, extents, shapes)
    name = block.name(one.name)
    region = block.inside()
    held, unread = region.name("total"), region.name("unread")
    kinds = ", ".join(['"parallel"'] * rank)
    block.line(f"{name} = linalg.generic {{indexing_maps = [{map_}, {map_}], iterator_types = [{kinds}]}}")
    block.line(f"    ins({total} : {type_}) outs({empty} : {type_}) {{")
    block.line(f"^bb0({held}: {element}, {unread}: {element}):")
    region.line(f"linalg.yield {_quotient(held, count, dtype, region)} : {element}")
    block.extend(region.lines)
    block.line(f"}} -> {type_}")
    return name


def _count(extents: Sequence[Extent], less: int, block: TextBlock) -> str:
    """Return how many elements are combined, less some, as an f64."""
    if all(isinstance(extent, int) for extent in extents):
        return block.constant(float(max(prod(int(extent) for extent in extents) - less, 0)), "f64")
    number = ""
    for extent in extents:
        value = extent if isinstance(extent, str) else block.constant(extent, "index")
        number = block.op("count", f"arith.muli {number}, {value} : index") if number else value
    if less:
        fewer = block.op("fewer", f"arith.subi {number}, {block.constant(less, 'index')} : index")
        number = block.op("count", f"arith.maxsi {fewer}, {block.constant(0, 'index')} : index")
    whole = block.op("count_i64", f"arith.index_cast {number} : index to i64")
    return block.op("count_f64", f"arith.sitofp {whole} : i64 to f64")


def _quotient(total: str, count: str, dtype: DType, region: TextBlock) -> str:
    """Write the division of a total in f64; a complex one by a complex number, as NumPy does, by Smith's algorithm."""
    if not dtype.is_complex:
        quotient = region.op("quotient", f"arith.divf {_wide(total, dtype, region)}, {count} : f64")
        return _narrowed(quotient, dtype, region)
    zero, one = region.constant(0.0, "f64"), region.constant(1.0, "f64")
    scale = region.op("scale", f"arith.divf {one}, {count} : f64")
    re, im = (
        _wide(region.op(name, f"complex.{name} {total} : {signless(dtype)}"), dtype.part, region)
        for name in ("re", "im")
    )
    parts: list[str] = []
    for kind, part, other in (("addf", re, im), ("subf", im, re)):
        none = region.op("none", f"arith.mulf {other}, {zero} : f64")
        joined = region.op("joined", f"arith.{kind} {part}, {none} : f64")
        parts.append(_narrowed(region.op("quotient", f"arith.mulf {joined}, {scale} : f64"), dtype.part, region))
    return region.op("mean", f"complex.create {', '.join(parts)} : {signless(dtype)}")


def _wide(value: str, dtype: DType, region: TextBlock) -> str:
    return value if dtype.bytes == 8 else region.op("wide", f"arith.extf {value} : {signless(dtype)} to f64")


def _narrowed(value: str, dtype: DType, region: TextBlock) -> str:
    return value if dtype.bytes == 8 else region.op("mean", f"arith.truncf {value} : f64 to {signless(dtype)}")
