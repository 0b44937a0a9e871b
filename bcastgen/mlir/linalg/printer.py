"""Prints loop nests in MLIR's linalg, arith, math, tensor and cf dialects: one function, which mlir-opt verifies.

In: a loop program.  Out: a func.func on tensors, with one linalg.generic for each nest.

    nest (d0), a : f32[?] at (d0|0), b : f32[4] at (d0)  ->  func.func @f(%a: tensor<?xf32>, %b: tensor<4xf32>) ... {
                                                               cf.assert ..., "a.0 in {1, 4} does not hold"
                                                               linalg.generic ... ins(%b) outs(...) { ... }

An operand whose dims cannot stretch is read through its indexing map. If a dim may turn out to have extent 1 at run
time, the body reads the operand at 0 or at the loop's index, without a copy. The nests' checks come first, as
assertions with the constraints' own text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ...core.errors import BroadcastError, statuses
from ...loops.nest import LoopProgram, Nest
from .block import TextBlock, dense, quoted, symbol
from .body import demanded_reads, write_body, write_demands
from .generic import Generic, typed
from .reductions import write_reduction
from .shapes import Extent, Shapes
from .sizes import SizesProgram, write_sizes
from .types import declared_type, facts_text, signless, tensor_type
from .versions import Version, versions_of

if TYPE_CHECKING:
    import numpy as np

    from ...shape.types.tensor_type import TensorType

__all__ = ["linalg_text"]


def linalg_text(
    program: LoopProgram,
    name: str,
    constants: Sequence[np.ndarray[Any, Any]] = (),
    versions: int = 0,
    sizes: SizesProgram | None = None,
) -> str:
    """Return the text of a function that computes a loop program.

    Parameters
    ----------
    program : every operand and result needs a rank.
    name : the function's name.
    constants : the values of the last operands, which are constants of the program that no caller gives.
    versions : how many versions with plain maps a nest has at most; see :mod:`.versions`.
    sizes : the shape functions of the program's ops, which give the free extents that stand for their results'.

    Returns
    -------
    str
        One func.func. Integers are signless, as in arith, and vectors are tensors. A free extent is that of an operand
        whose elements are not read.

    Raises
    ------
    BroadcastError
        If a rank is not known.
    BcastgenError
        If the dialects cannot express an op.

    Examples
    --------
    >>> import bcastgen as bg
    >>> text = linalg_text(bg.from_text("(f32[?, 4] a) -> a * 2").compilation.program, "double")
    >>> text.splitlines()[0]
    'func.func @double(%a: tensor<?x4xf32>) -> tensor<?x4xf32> {'
    """
    for operand, type_ in (*program.operands, *program.results):
        if type_.unranked:
            raise BroadcastError(f"'{operand}' is {type_}, but linalg needs ranks; declare them", operand=operand)
    block, given = TextBlock(2), len(program.operands) - len(constants) - len(program.reduced)
    values = [block.name(operand) for operand, _ in program.operands[:given]]
    computed = {slot for slots in sizes.slots for slot in slots} if sizes is not None else set()
    heads = [
        f"{value}: {declared_type(type_)}{facts_text(type_)}"
        for value, (operand, type_) in zip(values, program.operands, strict=False)
        if operand not in computed
    ]
    for (operand, type_), elements in zip(program.operands[given : given + len(constants)], constants, strict=True):
        assert type_.dtype is not None
        literal = dense(elements, signless(type_.dtype))
        values.append(block.op(operand, f"arith.constant {literal} : {declared_type(type_)}"))
    values += [f"%{operand}" for operand, _ in program.operands[len(values) :]]
    shapes = Shapes(block, program, tuple(values))
    if sizes is not None:
        shapes.given = _written_sizes(shapes, sizes)
    for nest in program.nests:
        shapes.check(nest)
    stored: dict[int, str] = {}
    for nest in program.nests:
        if nest.reduced:
            shapes.values.update(write_reduction(nest, shapes))
        elif nest.results:
            stored.update(_write_nest(nest, shapes, versions))
    results = program.results[len(program.reduced) :]
    types = [declared_type(type_) for _, type_ in results]
    said = [facts_text(type_) for _, type_ in results]
    plain = len(types) == 1 and not said[0]
    arrow = types[0] if plain else f"({', '.join(map(''.join, zip(types, said, strict=True)))})"
    block.line(f"return {typed([stored[at] for at in sorted(stored)], types)}")
    return "\n".join((f"func.func {symbol(name)}({', '.join(heads)}) -> {arrow} {{", *block.lines, "}", ""))


def _written_sizes(shapes: Shapes, sizes: SizesProgram) -> dict[str, Extent]:
    """Write the shape functions; return the extents of the operands that stand for those of their results."""
    operands = zip(sizes.program.operands, shapes.program.operands, strict=False)
    given = [_size_operand(shapes, value.type.kind, name, type_) for value, (name, type_) in operands]
    found = write_sizes(shapes.block, sizes.program, given)
    pairs = zip(sizes.slots, found, strict=True)
    return {name: extent for slots, extents in pairs for name, extent in zip(slots, extents, strict=True)}


def _size_operand(shapes: Shapes, kind: str, name: str, type_: TensorType) -> Any:
    """Return what a shape function takes of an operand: its extents, or its values."""
    if kind == "shape":
        return tuple(shapes.extent(name, dim) for dim in range(len(type_.dims)))
    count = 1 if kind == "index" else type_.dims[0].extent if len(type_.dims) == 1 else None
    if kind not in ("index", "extents") or count is None or type_.dtype is None:
        raise BroadcastError(
            f"linalg needs to know how many values of '{name}' decide extents; declare it as i64[] or i64[2]",
            operand=name,
        )
    read = [_value(shapes, name, type_, at) for at in range(count)]
    return read[0] if kind == "index" else tuple(read)


def _value(shapes: Shapes, name: str, type_: TensorType, at: int) -> str:
    """Write the read of an integer that decides an extent, as an index."""
    assert type_.dtype is not None
    if not type_.dtype.is_integer:
        raise BroadcastError(f"operand '{name}' is {type_}, expected integers: its values decide extents", operand=name)
    block, element, signed = shapes.block, signless(type_.dtype), type_.dtype.kind == "signed"
    where = f"[{shapes.index(at)}]" if type_.dims else "[]"
    read = block.op(f"{name}_value", f"tensor.extract {shapes.values[name]}{where} : {declared_type(type_)}")
    value = block.op(f"{name}_index", f"arith.index_cast{'' if signed else 'ui'} {read} : {element} to index")
    if type_.dims or not signed:
        holds = block.op("holds", f"arith.cmpi sge, {value}, {shapes.index(0)} : index")
        block.once(f"cf.assert {holds}, {quoted(f'a value of {name} is below 0, or has more than 63 bits')}")
    return value


def _write_nest(nest: Nest, shapes: Shapes, versions: int) -> dict[int, str]:
    """Write the linalg.generic of a nest, or its versions; return the values of its results, by result index."""
    block, static = shapes.block, tuple(dim.extent for dim in nest.domain.dims)
    elements = [signless(access.dtype) for access in nest.results]
    types = [tensor_type(static, element) for element in elements]
    empty = [_empty(type_, static, nest, shapes) for type_ in types]
    _assert_demands(nest, shapes, empty[0], types[0])
    stretching = any(index.stretches for access in nest.operands for index in access.map.indices)
    parts = _write_versions(nest, shapes, empty, types, versions_of(nest, shapes, versions) if stretching else ())
    stored = {}
    for part, type_, access in zip(parts, types, nest.results, strict=True):
        # A declared type may know more or fewer extents than the domain.
        declared = declared_type(access.type)
        cast = f"tensor.cast {part} : {type_} to {declared}"
        stored[access.number] = part if declared == type_ else block.op(access.name, cast)
    return stored


def _write_versions(
    nest: Nest, shapes: Shapes, empty: list[str], types: list[str], versions: tuple[Version, ...]
) -> list[str]:
    """Write the code that computes a nest: its versions under their tests, then the form for any call."""
    if not versions or versions[0].test is None:
        return _write_generic(nest, shapes, empty, types, versions[0] if versions else None)
    block, version = shapes.block, versions[0]
    made, parts = _named_parts(nest, block, types)
    block.line(f"{made} = scf.if {version.test} -> ({', '.join(types)}) {{")
    for at, closing in enumerate(("} else {", "}")):
        inside = block.inside()
        within = shapes.within(inside)
        if at == 0:
            yielded = _write_generic(nest, within, empty, types, version)
        else:
            yielded = _write_versions(nest, within, empty, types, versions[1:])
        inside.line(f"scf.yield {typed(yielded, types)}")
        block.extend(inside.lines)
        block.line(closing)
    return parts


def _named_parts(nest: Nest, block: TextBlock, types: list[str]) -> tuple[str, list[str]]:
    """Return the text that names the results of one operation, and the name of each result."""
    made = block.name(nest.results[0].name if len(types) == 1 else "results")
    if len(types) == 1:
        return made, [made]
    return f"{made}:{len(types)}", [f"{made}#{at}" for at in range(len(types))]


def _write_generic(
    nest: Nest, shapes: Shapes, empty: list[str], types: list[str], version: Version | None
) -> list[str]:
    """Write one linalg.generic that computes a nest; return the values of its results."""
    generic = Generic(nest, shapes, range(len(nest.operands)), version)
    for value, type_, access in zip(empty, types, nest.results, strict=True):
        generic.write_to(value, type_, signless(access.dtype), f"out_{access.name}")
    values = write_body(generic.region, nest, generic.loads)
    made, parts = _named_parts(nest, shapes.block, types)
    generic.finish(made, nest.iterators, values)
    return parts


def _empty(type_: str, static: tuple[int | None, ...], nest: Nest, shapes: Shapes) -> str:
    """Write the empty tensor that a result is stored to."""
    extents = shapes.domain(nest)
    dynamic = [shapes.index(extent) for extent, known in zip(extents, static, strict=True) if known is None]
    name = shapes.block.name("empty")
    shapes.block.line(f"{name} = tensor.empty({', '.join(dynamic)}) : {type_}")
    return name


def _assert_demands(nest: Nest, shapes: Shapes, like: str, type_: str) -> None:
    """Assert that the nest is defined for every element; `like` is a tensor of the domain's extents."""
    reads = demanded_reads(nest)
    if reads is None:
        return
    block = shapes.block
    true = block.op("true", "arith.constant dense<true> : tensor<i1>")
    generic = Generic(nest, shapes, reads)
    generic.span(like, type_, signless(nest.results[0].dtype))
    before = generic.write_to(true, "tensor<i1>", "i1", "before", ())
    holds = write_demands(generic.region, nest, generic.loads)
    made = block.name("every")
    kinds = ["reduction"] * len(nest.domain.dims)
    generic.finish(made, kinds, [generic.region.op("so_far", f"arith.andi {before}, {holds} : i1")])
    message = next(sentence for row, sentence in statuses().values() if row == "DOMAIN")
    block.line(f"cf.assert {block.op('holds', f'tensor.extract {made}[] : tensor<i1>')}, {quoted(message)}")
