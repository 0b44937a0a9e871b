"""Checks the element types of one TOSA op: that the op supports each, and that they fit together.

In: an operation and its row.  Out: nothing, or an error that names the value and its element type.

    tosa.add(f32, i8) -> f32     DTypeError: operand '%b' has element type i8, expected f32 (that of '%a'); ...
    tosa.exp(i32) -> i32         DTypeError: ... is not defined for i32
"""

from __future__ import annotations

import re

from ...core.dtypes import BOOL, DTYPES, I32, DType
from ...core.errors import DTypeError
from ...ops.dtype_rules import compare
from ...ops.table import OPS
from ...shape.types.dim import check_rank
from ..ir import Operation, Type, Value
from .meeting import tensor_of
from .table import TosaOp

__all__ = ["check_elements", "check_strict", "check_supported", "element_of"]

_SHAPED = re.compile(r"(?:tensor|vector|memref)<(?:(?:\?|\d+|\*)x)*(.*)>", re.DOTALL)
_CURE = "insert a tosa.cast"


def element_of(value: Value) -> DType:
    """Return the dtype of a value's elements."""
    dtype = tensor_of(value).dtype
    assert dtype is not None
    return dtype


def check_supported(value: Value) -> None:
    """Refuse a value that is no tensor, or whose element type is not in the table of dtypes.

    Raises
    ------
    DTypeError
        If it is no such tensor; the message names the element type and those that are supported.
    BroadcastError
        If it has more dims than arrays may have.
    """
    type_ = value.type.tensor
    if type_ is None or type_.container != "tensor":
        raise DTypeError(f"'{value}': {_unsupported(value.type)}")
    check_rank(f"'{value}'", len(type_.dims), str(value))


def _unsupported(type_: Type) -> str:
    shaped = _SHAPED.fullmatch(type_.text)
    if shaped is None or type_.tensor is not None or not type_.text.startswith("tensor<"):
        return f"type {type_} is no tensor; TOSA's element-wise ops take tensors"
    supported = ", ".join(row.mlir for row in DTYPES)
    return f"element type {shaped[1]} is not supported; use one of {supported}"


def check_elements(operation: Operation, row: TosaOp, strict: bool) -> None:
    """Refuse element types that an op does not support.

    Parameters
    ----------
    operation : its operands and its result are supported tensors.
    row : the op's row.
    strict : refuse also types that have a meaning but are not in the specification's table.

    Raises
    ------
    DTypeError
        If the op is not defined for an element type, or the types do not fit together.
    """
    operands, result = operation.operands[: row.arity], operation.results[0]
    if row.name == "select" and element_of(operands[0]) is not BOOL:
        raise DTypeError(f"operand '{operands[0]}' has element type {element_of(operands[0]).mlir}, expected i1")
    alike = operands[1:] if row.name == "select" else operands
    first = element_of(alike[0])
    for value in alike[1:]:
        if element_of(value) is not first:
            raise DTypeError(
                f"operand '{value}' has element type {element_of(value).mlir}, expected {first.mlir} (that of "
                f"'{alike[0]}'); {_CURE}"
            )
    if first.kind not in row.kinds or (first.is_storage and row.name not in ("cast", "select")):
        raise DTypeError(f"operand '{alike[0]}' has element type {first.mlir}, for which it is not defined; {_CURE}")
    _check_result(row, first, result)
    if strict:
        check_strict(row, operands, result)


def _check_result(row: TosaOp, first: DType, result: Value) -> None:
    """Refuse a result whose element type does not follow from that of the first operand."""
    actual = element_of(result)
    if row.name == "cast":
        if actual.is_complex:
            raise DTypeError(f"result '{result}' has element type {actual.mlir}, for which it is not defined")
        return
    if OPS[row.row].rule is compare:
        expected: tuple[DType, ...] = (BOOL,)
    elif row.name == "mul" and first.kind == "signed" and first.bits < 32:
        expected = (first, I32)
    else:
        expected = (first,)
    if actual not in expected:
        wanted = " or ".join(dtype.mlir for dtype in expected)
        raise DTypeError(f"result '{result}' has element type {actual.mlir}, expected {wanted}; {_CURE}")


def check_strict(row: TosaOp, operands: tuple[Value, ...], result: Value) -> None:
    """Refuse element types that the specification's table does not have.

    Raises
    ------
    DTypeError
        If it has not; the message lists those that it has.
    """
    given = tuple(element_of(value).mlir for value in operands)
    if (given, element_of(result).mlir) in row.strict:
        return
    table = "; ".join(f"{', '.join(left)} -> {right}" for left, right in row.strict)
    raise DTypeError(
        f"({', '.join(given)}) -> {element_of(result).mlir} is not in the specification's table; there are {table}"
    )
