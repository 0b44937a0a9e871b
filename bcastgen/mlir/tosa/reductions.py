"""Reads and prints TOSA's reductions: ops that combine the elements along one dim.

In: an operation and its row; or a reduction and the value it is of.  Out: the node of its result; or a value.

    tosa.reduce_max {axis = 1 : i32, nan_mode = IGNORE} x   ->   max(where(isnan(x), -inf, x), axis=1, keepdims)
    tosa.argmax {axis = 0 : i32} x : -> i32                 ->   cast(argmax(x, axis=0), i32)

Each reduces one dim, whose extent is 1 afterwards; `argmax` drops it.
"""

from __future__ import annotations

import math

from ...core.dtypes import I32, I64, DType
from ...core.errors import BcastgenError, BroadcastError, DTypeError, ParseError
from ...expr.nodes import Constant, Reduce
from ...ops.rows.reductions import REDUCTIONS
from ...ops.table import OPS
from ...shape.types.dim import Dim
from ...shape.types.tensor_type import TensorType
from ..ir import Operation, Value
from .attributes import keyword, number
from .elements import check_strict, element_of
from .meeting import tensor_of
from .reader import FunctionReader, check_form
from .table import TOSA_REDUCTIONS, TosaOp
from .values import FunctionPrinter, Tensor

__all__ = ["print_reduction", "read_reduction", "reduced_dims"]


def read_reduction(operation: Operation, row: TosaOp, function: FunctionReader) -> bool:
    """Verify a reduction and add the node of its result to the function.

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
    operand, result = operation.operands[0], operation.results[0]
    axis, reduced = _axis(operation), REDUCTIONS[row.row]
    _check_elements(row, operand, result, function.options.strict_types)
    proved = _check_dims(operation, axis, drops=reduced.gives_index)
    node, dtype = function.value(operand), element_of(operand)
    if keyword(operation, "nan_mode", "PROPAGATE") == "IGNORE" and dtype.is_float:
        lowest = math.inf if reduced.is_least else -math.inf
        least = function.builder.keep(Constant(lowest, dtype))
        node = function.builder.apply(OPS["where"], (function.builder.apply(OPS["isnan"], (node,)), least, node))
    made = function.builder.reduce(Reduce(reduced, node, (axis,), not reduced.gives_index), node)
    target = element_of(result)
    if reduced.types(dtype)[2] is not target:
        made = function.builder.apply(OPS["cast"], (made,), (("dtype", target),))
    function.nodes[result] = made
    return proved


def _axis(operation: Operation) -> int:
    found, type_ = number(operation, "axis"), tensor_of(operation.operands[0])
    if found is None or not isinstance(found.value, int) or isinstance(found.value, bool):
        raise ParseError("needs the attribute axis, the number of a dim: {axis = 0 : i32}")
    if type_.unranked:
        raise ParseError("of a tensor of unknown rank; give it a rank by tensor.cast")
    if not 0 <= found.value < len(type_.dims):
        raise BroadcastError(
            f"axis {found.value} is out of range: operand '{operation.operands[0]}' has rank {len(type_.dims)}",
            operand=str(operation.operands[0]),
        )
    return found.value


def _check_elements(row: TosaOp, operand: Value, result: Value, strict: bool) -> None:
    first, last = element_of(operand), element_of(result)
    if first.kind not in row.kinds or first.is_storage:
        raise DTypeError(f"operand '{operand}' has element type {first.mlir}, for which it is not defined")
    wanted = _results(row, first)
    if last not in wanted:
        shown = " or ".join(dtype.mlir for dtype in wanted)
        raise DTypeError(f"result '{result}' has element type {last.mlir}, expected {shown}")
    if strict:
        check_strict(row, (operand,), result)


def _results(row: TosaOp, first: DType) -> tuple[DType, ...]:
    if REDUCTIONS[row.row].gives_index:
        return I32, I64
    return (first,)


def reduced_dims(type_: TensorType, axis: int, drops: bool) -> tuple[Dim, ...]:
    """Return the dims that are left of a type's."""
    dims = ((Dim(1) if at == axis else dim) for at, dim in enumerate(type_.dims) if at != axis or not drops)
    return tuple(dims)


def _check_dims(operation: Operation, axis: int, drops: bool) -> bool:
    """Verify the result's dims; return whether types prove them."""
    operand, result = operation.operands[0], operation.results[0]
    said, wanted = tensor_of(result), reduced_dims(tensor_of(operand), axis, drops)
    if said.unranked:
        return True
    if len(said.dims) != len(wanted):
        raise BroadcastError(
            f"result '{result}' has rank {len(said.dims)}, expected {len(wanted)}", operand=str(result)
        )
    for at, (own, dim) in enumerate(zip(said.dims, wanted, strict=True)):
        if own.extent is not None and dim.extent is not None and own.extent != dim.extent:
            raise BroadcastError(
                f"result '{result}' dim {at} has extent {own.extent}, expected {dim.extent} (from '{operand}')",
                operand=str(result),
                dim=at,
                expected=dim.extent,
                actual=own.extent,
            )
    return all(own.extent in (None, dim.extent) for own, dim in zip(said.dims, wanted, strict=True))


# ---- printing


def print_reduction(text: FunctionPrinter, node: Reduce, value: Tensor, dtype: DType) -> Tensor:
    """Write a reduction, one op for each dim; return its value.

    Raises
    ------
    BcastgenError
        If TOSA has no op for it.
    """
    row = next((one for one in TOSA_REDUCTIONS if one.row == node.op.name), None)
    source, rank = value.type.dtype, len(value.type.dims)
    axes = tuple(range(rank)) if node.axes is None else tuple(sorted(axis % rank for axis in node.axes))
    if row is None or source is None or source.kind not in row.kinds:
        raise BcastgenError(
            f"reduction '{node.op.name}' of {source} has no TOSA op; print linalg, or leave it to the kernel's C"
        )
    if node.op.gives_index:
        if len(axes) != 1:
            raise BcastgenError(f"tosa.{row.name} is of one dim, and this one is of {len(axes)}; give axis=")
        index = TensorType(I32, reduced_dims(value.type, axes[0], True))
        made = _line(text, row.name, value, axes[0], index)
        wide = TensorType(dtype, index.dims)
        made = text.line(f"tosa.cast {made.name} : ({index.mlir}) -> {wide.mlir}", wide)
        return text.reshaped(made, reduced_dims(value.type, axes[0], False)) if node.keepdims else made
    for axis in axes:
        type_ = TensorType(source, reduced_dims(value.type, axis, False))
        value = _line(text, row.name, value, axis, type_)
    if node.keepdims:
        return value
    return text.reshaped(value, tuple(dim for at, dim in enumerate(value.type.dims) if at not in axes))


def _line(text: FunctionPrinter, name: str, value: Tensor, axis: int, type_: TensorType) -> Tensor:
    return text.line(f"tosa.{name} {value.name} {{axis = {axis} : i32}} : ({value.type.mlir}) -> {type_.mlir}", type_)
