"""Reads ``tosa.transpose``: a view, as in NumPy.

In: a value, and its dims in another order.  Out: the value under the view, without a copy.

    tosa.transpose %a {perms = array<i32: 1, 0>} : (tensor<3x4xf32>) -> tensor<4x3xf32>     transpose(a, (1, 0))

Source: TRANSPOSE of the TOSA 1.0 specification: dim i of the result is dim perms[i] of the operand.
"""

from __future__ import annotations

from ...core.errors import BroadcastError, ParseError
from ...expr.build import Builder
from ...expr.nodes import Node
from ...expr.views import Transpose
from ...shape.types.tensor_type import TensorType
from ..ir import Dense, Operation, Type
from .meeting import tensor_of
from .reshape import types_of_move

__all__ = ["dense_transposed", "permutation", "transposed"]


def transposed(builder: Builder, node: Node, operation: Operation) -> tuple[Node, bool]:
    """Return a transposed value, and whether types prove its new type.

    Raises
    ------
    ParseError
        If an operand's rank is not known, or its elements have another type than the result's.
    BroadcastError
        If the operand's type and the result's contradict each other.
    """
    operand, result = operation.operands[0], operation.results[0]
    order, before, after = permutation(operation), tensor_of(operand), tensor_of(result)
    proved = True
    for dim, (source, said) in enumerate(zip(order, after.dims, strict=True)):
        known = before.dims[source].extent
        if None not in (known, said.extent) and known != said.extent:
            raise BroadcastError(
                f"result dim {dim} has extent {said.extent}, expected {known} (from '{operand}' dim {source})",
                operand=str(result),
                dim=dim,
                expected=known,
                actual=said.extent,
            )
        proved = proved and (known == said.extent or said.extent is None)
    return builder.remap(node, Transpose(order)), proved


def dense_transposed(operation: Operation, dense: Dense) -> Dense:
    """Return a constant tensor with its dims in the order of a transpose.

    Raises
    ------
    ParseError
        As :func:`permutation`.
    BroadcastError
        If the result's type has other extents.
    """
    order, result = permutation(operation), operation.results[0]
    assert dense.type.tensor is not None
    moved = TensorType(dense.type.tensor.dtype, tuple(dense.type.tensor.dims[dim] for dim in order))
    for own, said in zip(moved.dims, tensor_of(result).dims, strict=True):
        if said.extent not in (None, own.extent):
            raise BroadcastError(f"a constant of type {dense.type} has no shape {result.type} in this order of dims")
    return Dense(Type(moved.mlir, moved), dense.values if dense.is_splat else dense.values.transpose(order))


def permutation(operation: Operation) -> tuple[int, ...]:
    """Return for each dim of a transpose's result the operand's dim that it is.

    Raises
    ------
    ParseError
        If the attribute is missing, or does not name each dim of both tensors once.
    """
    before, after = types_of_move(operation)
    order = operation.attributes.get("perms")
    rank = len(before.dims)
    if not isinstance(order, tuple) or sorted(order, key=str) != sorted(range(rank), key=str):
        raise ParseError(f"needs the attribute perms = array<i32: ...> that names each dim from 0 to {rank - 1} once")
    if len(after.dims) != rank:
        raise ParseError(f"from {operation.operands[0].type} to {operation.results[0].type} changes the rank")
    return order
