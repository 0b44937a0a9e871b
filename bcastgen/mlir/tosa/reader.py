"""Reads one TOSA op: verifies it, then expresses it in rows of our table.

In: an operation, its row, and the function's values so far.  Out: the node of its result.

    tosa.maximum {nan_mode = IGNORE} (a, b)   ->  fmax(a, b)
    tosa.mul (a : i8, b : i8, shift) -> i32   ->  multiply(cast(a, i32), cast(b, i32))
    tosa.clamp {min_val = 0, max_val = 6} x   ->  clip(x, 0, 6)

Sources: the TOSA 1.0 specification, and what MLIR's own verifier and lowering accept.
"""

from __future__ import annotations

from typing import Protocol

from ...core.dtype_rows import row_of
from ...core.dtypes import DType
from ...core.errors import BroadcastError, DTypeError, ParseError
from ...expr.build import Builder
from ...expr.nodes import Constant, Node
from ...expr.views import Collapse
from ...ops.table import OPS
from ..ir import Dense, Operation, Value
from ..options import ReadOptions
from .attributes import clamp_bounds, flag, keyword, number, unary_zero_points
from .elements import check_elements, check_supported, element_of
from .meeting import fits, tensor_of
from .table import TosaOp

__all__ = ["check_counts", "check_form", "constant_of", "read_tosa"]

_I8, _I32 = row_of("i8"), row_of("i32")


class FunctionReader(Protocol):
    """The function that an op is in, as far as reading the op needs it."""

    builder: Builder
    nodes: dict[Value, Node]
    dense: dict[Value, Dense]
    options: ReadOptions

    def value(self, value: Value, beside: tuple[Value, ...] = ()) -> Node:
        """Return the node of a value."""

    def number(self, value: Value) -> Constant:
        """Return the one number of a constant tensor."""


def constant_of(operation: Operation) -> Dense:
    """Return the tensor of ``tosa.const`` (``values``, or ``value`` before LLVM 20) or ``tosa.const_shape``.

    Raises
    ------
    ParseError
        If the attribute is missing, or the result has another type.
    """
    found = operation.attributes.get("values", operation.attributes.get("value"))
    if not isinstance(found, Dense):
        raise ParseError("needs the attribute values = dense<...> : tensor<...>")
    check_counts(operation, (0,))
    result = operation.results[0]
    if operation.name == "tosa.const" and found.type != result.type:
        raise ParseError(f"holds values of type {found.type}, but '{result}' is of type {result.type}")
    if operation.name == "tosa.const_shape" and (found.values.ndim > 1 or found.values.dtype.kind not in "iu"):
        raise ParseError(f"holds values of type {found.type}, expected extents: dense<[1, 3]> : tensor<2xindex>")
    return found


def check_counts(operation: Operation, operands: tuple[int, ...], last: tuple[str, ...] = ()) -> None:
    """Refuse an operation unless it has one of these numbers of operands, one result, and no region.

    Raises
    ------
    ParseError
        If a number is wrong; the message names both numbers, and `last` names the last operands.
    """
    count = len(operation.operands)
    if count not in operands:
        wanted = f"{operands[-1]} ({', '.join(last)} last)" if last else " or ".join(map(str, operands))
        raise ParseError(f"has {count} operands, expected {wanted}")
    if len(operation.results) != 1:
        raise ParseError(f"has {len(operation.results)} results, expected 1")
    if operation.regions:
        raise ParseError("has a region, expected none")


def check_form(operation: Operation, row: TosaOp) -> None:
    """Refuse an operation whose operands, results, regions or attributes are not those of its row.

    Raises
    ------
    DTypeError, ParseError
        If it has others; the message says which.
    """
    check_counts(operation, (row.arity, row.arity + len(row.extra)), row.extra)
    for value in (*operation.operands, *operation.results):
        check_supported(value)
    for name in operation.attributes:
        if name not in row.attributes and "." not in name:
            known = f"it has {', '.join(row.attributes)}" if row.attributes else "it has none"
            raise ParseError(f"attribute '{name}' is unknown; {known}")


def read_tosa(operation: Operation, row: TosaOp, function: FunctionReader) -> bool:
    """Verify an op and add the node of its result to the function.

    Returns
    -------
    bool
        True if types prove the result's type, False if run time has to check a part of it.

    Raises
    ------
    BroadcastError, DTypeError, ParseError
        If the op is wrong; the message has no location yet.
    """
    check_form(operation, row)
    check_elements(operation, row, function.options.strict_types)
    operands, result = operation.operands[: row.arity], operation.results[0]
    proved = fits(operands, result, function.options.rank_expansion)
    nodes = tuple(function.value(value, operands) for value in operands)
    special = _SPECIAL.get(row.name)
    function.nodes[result] = _plain(row, nodes, function) if special is None else special(operation, nodes, function)
    return proved


def _apply(function: FunctionReader, name: str, *nodes: Node) -> Node:
    return function.builder.apply(OPS[name], nodes)


def _cast(function: FunctionReader, name: str, node: Node, target: DType) -> Node:
    return function.builder.apply(OPS[name], (node,), (("dtype", target),))


def _plain(row: TosaOp, nodes: tuple[Node, ...], function: FunctionReader) -> Node:
    return _apply(function, row.row, *nodes)


# ---- ops with attributes, or with operands that do not broadcast


def _clamp(operation: Operation, nodes: tuple[Node, ...], function: FunctionReader) -> Node:
    dtype = element_of(operation.operands[0])
    low, high = (
        function.builder.keep(Constant(_of_dtype(bound, dtype), dtype)) for bound in clamp_bounds(operation, dtype)
    )
    if keyword(operation, "nan_mode", "PROPAGATE") == "IGNORE" and dtype.is_float:
        return _apply(function, "fmin", _apply(function, "fmax", nodes[0], low), high)
    return _apply(function, "clip", nodes[0], low, high)


def _of_dtype(value: float, dtype: DType) -> int | float:
    return float(value) if dtype.is_float else int(value)


def _extremum(operation: Operation, nodes: tuple[Node, ...], function: FunctionReader) -> Node:
    is_max = operation.name == "tosa.maximum"
    if keyword(operation, "nan_mode", "PROPAGATE") == "IGNORE":
        return _apply(function, "fmax" if is_max else "fmin", *nodes)
    return _apply(function, "maximum" if is_max else "minimum", *nodes)


def _arithmetic_right_shift(operation: Operation, nodes: tuple[Node, ...], function: FunctionReader) -> Node:
    return _apply(function, "rounding_right_shift" if flag(operation, "round") else "right_shift", *nodes)


def _to_element(operation: Operation, nodes: tuple[Node, ...], function: FunctionReader) -> Node:
    source, target = element_of(operation.operands[0]), element_of(operation.results[0])
    node = nodes[0]
    if flag(operation, "input_unsigned", False) and source.kind == "signed":
        unsigned = row_of(f"u{source.bits}")
        node = _cast(function, "cast", node, unsigned)
    return _cast(function, "tosa_cast", node, target)


def _mul(operation: Operation, nodes: tuple[Node, ...], function: FunctionReader) -> Node:
    source, target = element_of(operation.operands[0]), element_of(operation.results[0])
    if source is not target:
        nodes = tuple(_cast(function, "cast", node, target) for node in nodes)
    shift = _shift(operation, function)
    if isinstance(shift, Constant):
        if shift.value == 0:
            return _apply(function, "multiply", *nodes)
        if source is not _I32:
            raise ParseError(f"has a shift other than 0 with elements of {source.mlir}; only i32 is shifted")
    if source is not _I32:
        # The shift has to be 0, so the operand is not read.
        return _apply(function, "multiply", *nodes)
    return _apply(function, "tosa_multiply_shift", *nodes, shift)


def _shift(operation: Operation, function: FunctionReader) -> Node:
    if len(operation.operands) == 3:
        return _single(operation.operands[2], "shift", _I8, function)
    found = number(operation, "shift")
    if found is not None and not isinstance(found.value, int):
        raise ParseError(f"attribute 'shift' is {found.value}, expected an integer from 0 to 63")
    if found is None:
        raise ParseError("has 2 operands, expected 3 (shift last), or the attribute shift as before LLVM 20")
    amount = int(found.value)
    if not _I8.min <= amount <= _I8.max:
        raise ParseError(f"attribute 'shift' is {amount}, expected 0 to 63")
    return function.builder.keep(Constant(amount, _I8))


def _negate(operation: Operation, nodes: tuple[Node, ...], function: FunctionReader) -> Node:
    dtype = element_of(operation.operands[0])
    if len(operation.operands) == 3:
        points = [
            _single(value, name, dtype, function)
            for value, name in zip(operation.operands[1:], ("input1_zp", "output_zp"), strict=True)
        ]
    else:
        points = [
            function.builder.keep(Constant(_of_dtype(point, dtype), dtype))
            for point in unary_zero_points(operation.attributes)
        ]
    if dtype is not _I8:
        for point, name in zip(points, ("input1", "output"), strict=True):
            if isinstance(point, Constant) and point.value != 0:
                raise ParseError(f"has a zero point of {name} other than 0; only i8 elements have one")
    if dtype.is_float:
        return _apply(function, "negative", *nodes)
    return _apply(function, "tosa_negate", *nodes, *points)


def _single(value: Value, name: str, dtype: DType, function: FunctionReader) -> Node:
    """Return the one element of a ``tensor<1x...>`` that takes no part in broadcasting."""
    type_ = tensor_of(value)
    if element_of(value) is not dtype:
        raise DTypeError(f"{name} '{value}' has element type {element_of(value).mlir}, expected {dtype.mlir}")
    if type_.unranked or [dim.extent for dim in type_.dims] != [1]:
        raise BroadcastError(f"{name} '{value}' is of type {value.type}, expected tensor<1x{dtype.mlir}>: one element")
    if value in function.dense:
        return function.number(value)
    return function.builder.remap(function.nodes[value], Collapse((0,)))


_SPECIAL = {
    "arithmetic_right_shift": _arithmetic_right_shift,
    "cast": _to_element,
    "clamp": _clamp,
    "maximum": _extremum,
    "minimum": _extremum,
    "mul": _mul,
    "negate": _negate,
}
