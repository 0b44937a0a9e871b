"""Reads ops of other dialects, and constants, as operations of shape programs.

In: an operation of the text, and its reader.  Out: operations of the program.

    %e = tensor.dim %t, %d : tensor<?x3xf32>        -> %e = shape.dim %t, %d
    %u = tensor.cast %c : tensor<2xindex> to tensor<?xindex>
        -> %u = shape.const_shape ... : tensor<?xindex> if %c is a constant, since programs print so; else
           %u = shape.to_extent_tensor %c
"""

from __future__ import annotations

from collections.abc import Callable

from ...core.errors import ParseError
from ...shape.dialect.arithmetic import COMPARISONS
from ...shape.dialect.ir import Operation, Value
from ...shape.dialect.types import INDEX, SHAPE, extents_type
from .. import ir
from ..index_dialect import AS_ARITH, CONSTANTS
from .affine import Expression, parse_map
from .reader import Reader
from .values import settings

__all__ = ["SPELLINGS"]


def _read_constant(reader: Reader, operation: ir.Operation) -> None:
    """Read a constant; of an extent tensor that only casts use, read only its value."""
    name, given = operation.name, settings(operation)
    if any(isinstance(value, tuple) for _, value in given):
        name, given = "shape.const_shape", tuple(("shape", value) for _, value in given)
    if name in CONSTANTS:
        name = "arith.constant"
    for value in operation.results[:1]:
        reader.constants[value] = given[0][1] if given else ()
    if not any(value in reader.only_cast for value in operation.results):
        reader.add_as(name, operation, reader.operands(operation), given)
        return
    results = tuple(Value(value.name, reader.type(value.type, operation.location)) for value in operation.results)
    reader.verified(Operation(name, reader.operands(operation), results, given), operation)
    reader.scope.update(zip(operation.results, results, strict=True))


def _read_cmpi(reader: Reader, operation: ir.Operation) -> None:
    """Read a comparison, whose predicate is a number in MLIR's generic form."""
    names = tuple(COMPARISONS)
    given = tuple(
        (name, names[value] if type(value) is int and 0 <= value < len(names) else value)
        for name, value in settings(operation)
    )
    reader.add_as(operation.name, operation, reader.operands(operation), given)


def _read_index(reader: Reader, operation: ir.Operation) -> None:
    """Read an op of the index dialect as arith's."""
    reader.add_as(AS_ARITH[operation.name], operation, reader.operands(operation), settings(operation))


def _read_index_cmp(reader: Reader, operation: ir.Operation) -> None:
    """Read a comparison of the index dialect, whose predicate is an attribute of its own: #index<cmp_predicate slt>."""
    predicate = operation.attributes.get("pred")
    name = str(predicate.body).rpartition(" ")[2] if isinstance(predicate, ir.DialectAttribute) else str(predicate)
    reader.add_as("arith.cmpi", operation, reader.operands(operation), (("predicate", name),))


def _read_cast(reader: Reader, operation: ir.Operation) -> None:
    """Read a cast from one extent tensor to another: the same extents, or the run ends."""
    (operand,) = _take(reader, operation, 1)
    given, wanted = operand.type, reader.type(operation.results[0].type, operation.location)
    if {given.kind, wanted.kind} != {"extents"}:
        text = f"'tensor.cast' from {given} to {wanted} is no op of a shape program; use the value as it is before"
        raise reader.error(text, operation.location)
    if None not in (given.length, wanted.length) and given.length != wanted.length:
        text = f"'tensor.cast' from {given} to {wanted} cannot be; make the lengths equal, or one of them ?"
        raise reader.error(text, operation.location)
    constant = reader.constants.get(operation.operands[0])
    if isinstance(constant, tuple) and operation.operands[0] in reader.only_cast:
        reader.add_as("shape.const_shape", operation, (), (("shape", constant),))
    else:
        reader.add_as("shape.to_extent_tensor", operation, (operand,))


def _read_dim(reader: Reader, operation: ir.Operation) -> None:
    """Read an extent of a tensor; for an extent tensor it is the number of its extents."""
    operand, dim = _take(reader, operation, 2)
    if operand.type.kind != "extents":
        reader.add_as("shape.dim", operation, (operand, dim))
    elif reader.constants.get(operation.operands[1]) == 0:
        reader.add_as("shape.rank", operation, (operand,))
    else:
        text = (
            f"'tensor.dim' of the extent tensor '{operand.name}' asks for a dim that is not a constant 0, its only one"
        )
        raise reader.error(text, operation.location)


def _read_extract(reader: Reader, operation: ir.Operation) -> None:
    """Read one element of an extent tensor."""
    reader.add_as("shape.get_extent", operation, _take(reader, operation, 2))


def _read_rank(reader: Reader, operation: ir.Operation) -> None:
    """Read the rank of a tensor."""
    (operand,) = _take(reader, operation, 1)
    rank = operand.type.tensor.rank if operand.type.tensor is not None else None
    shape = reader.insert("shape.shape_of", operation, (operand,), extents_type(rank))
    reader.add_as("shape.rank", operation, (shape,))


def _read_elements(reader: Reader, operation: ir.Operation) -> None:
    """Read an extent tensor of indices; a run ends where one is negative."""
    operands = _take(reader, operation, None)
    wanted = reader.type(operation.results[0].type, operation.location)
    if wanted != extents_type(len(operands)):
        text = f"'tensor.from_elements' of {len(operands)} elements has type {wanted}, expected "
        raise reader.error(f"{text}{extents_type(len(operands))}", operation.location)
    shape = reader.insert("shape.from_extents", operation, operands, SHAPE)
    reader.add_as("shape.to_extent_tensor", operation, (shape,))


# The op of arith for each operator; `mod` is the remainder of `floordiv`, computed by three of them.
_AFFINE = {"+": "arith.addi", "-": "arith.subi", "*": "arith.muli", "floordiv": "arith.floordivsi"}
_AFFINE |= {"ceildiv": "arith.ceildivsi", "affine.min": "arith.minsi", "affine.max": "arith.maxsi"}


def _read_affine(reader: Reader, operation: ir.Operation) -> None:
    """Read the application of a map to indices as ops of arith."""
    operands = _take(reader, operation, None)
    text = operation.attributes.get("map")
    if not isinstance(text, ir.DialectAttribute) or text.name != "affine_map":
        raise reader.error(f"'{operation.name}' has no attribute map, an affine_map<...>", operation.location)
    try:
        map_ = parse_map(text.body or "")
    except ParseError as error:
        raise reader.error(str(error), operation.location) from None
    given, wanted = len(operands), len(map_.inputs)
    if given != wanted or (operation.name == "affine.apply" and len(map_.results) != 1):
        counts = f"{given} operands for a map of {wanted} dims and symbols, and {len(map_.results)} results"
        raise reader.error(f"'{operation.name}' has {counts}; apply has 1 result", operation.location)
    values = dict(zip(map_.inputs, operands, strict=True))
    first, *others = [_affine(reader, operation, expression, values) for expression in map_.results]
    for other in others:
        first = reader.insert(_AFFINE[operation.name], operation, (first, other), INDEX)
    if first.type != reader.type(operation.results[0].type, operation.location):
        raise reader.error(f"'{operation.name}' computes {first.type}s", operation.location)
    reader.scope[operation.results[0]] = first


def _affine(reader: Reader, place: ir.Operation, expression: Expression, values: dict[str, Value]) -> Value:
    """Add the ops that compute an expression, and return its value."""
    if isinstance(expression, str):
        return values[expression]
    if isinstance(expression, int):
        return reader.insert("arith.constant", place, (), INDEX, (("value", expression),))
    operator, *sides = expression
    left, right = (_affine(reader, place, side, values) for side in sides)
    if operator != "mod":
        return reader.insert(_AFFINE[operator], place, (left, right), INDEX)
    quotient = reader.insert(_AFFINE["floordiv"], place, (left, right), INDEX)
    product = reader.insert(_AFFINE["*"], place, (quotient, right), INDEX)
    return reader.insert(_AFFINE["-"], place, (left, product), INDEX)


def _take(reader: Reader, operation: ir.Operation, count: int | None) -> tuple[Value, ...]:
    """Return the operands of an operation; raise unless it has `count` of them (None: any number) and one result."""
    given, results = len(operation.operands), len(operation.results)
    if count not in (None, given) or results != 1:
        text = f"'{operation.name}' has {given} operands and {results} results, expected {count or 'any'} and 1"
        raise reader.error(text, operation.location)
    return reader.operands(operation)


SPELLINGS: dict[str, Callable[[Reader, ir.Operation], None]] = {
    **dict.fromkeys(AS_ARITH, _read_index),
    **dict.fromkeys(CONSTANTS, _read_constant),
    **dict.fromkeys(("affine.apply", "affine.max", "affine.min"), _read_affine),
    "arith.cmpi": _read_cmpi,
    "arith.constant": _read_constant,
    "index.cmp": _read_index_cmp,
    "shape.const_shape": _read_constant,
    "tensor.cast": _read_cast,
    "tensor.dim": _read_dim,
    "tensor.extract": _read_extract,
    "tensor.from_elements": _read_elements,
    "tensor.rank": _read_rank,
}
