"""Reads ``tosa.reshape`` where it only equalises ranks: it adds or drops dims of extent 1 and keeps the others' order.

In: a value, and the types before and after.  Out: the value under views, without a copy.

    tensor<3x4xf32> -> tensor<1x3x4xf32>     x[None]
    tensor<1x1x4xf32> -> tensor<4xf32>       x[0, 0]
    tensor<3x4xf32> -> tensor<12xf32>        ParseError: no element-wise kernel moves elements
"""

from __future__ import annotations

from ...core.errors import BroadcastError, ParseError
from ...expr.build import Builder
from ...expr.nodes import Node
from ...expr.views import Collapse, NewAxes
from ...shape.types.tensor_type import TensorType
from ..ir import Dense, Operation
from .elements import check_supported, element_of
from .meeting import tensor_of

__all__ = ["reshaped", "types_of_move"]


def reshaped(builder: Builder, node: Node, operation: Operation, target: Dense | None) -> tuple[Node, bool]:
    """Return a reshaped value, and whether types prove its new type.

    Parameters
    ----------
    builder : builds the expression.
    node : the value.
    operation : the ``tosa.reshape``.
    target : the new shape, if it is a constant; None if only the type gives it.

    Raises
    ------
    ParseError
        If it does more than add or drop dims of extent 1.
    BroadcastError
        If the shape and the result's type contradict each other.
    """
    before, after = types_of_move(operation)
    _check_target(after, _extents(operation, target))
    kept_before = [number for number, dim in enumerate(before.dims) if not dim.is_one]
    kept_after = [number for number, dim in enumerate(after.dims) if not dim.is_one]
    proved = _check_kept(operation, before, after, kept_before, kept_after)
    if len(kept_before) < len(before.dims):
        dropped = tuple(number for number, dim in enumerate(before.dims) if dim.is_one)
        node = builder.remap(node, Collapse(dropped))
    if len(kept_after) < len(after.dims):
        node = builder.remap(node, NewAxes(tuple("new" if dim.is_one else "dim" for dim in after.dims)))
    return node, proved


def types_of_move(operation: Operation) -> tuple[TensorType, TensorType]:
    """Return the types of an op's operand and result, which have ranks, and the same elements.

    Raises
    ------
    ParseError
        If they have not.
    """
    operand, result = operation.operands[0], operation.results[0]
    check_supported(operand)
    check_supported(result)
    before, after = tensor_of(operand), tensor_of(result)
    if before.unranked or after.unranked:
        raise ParseError("of a tensor of unknown rank; give it a rank by tensor.cast")
    if element_of(operand) is not element_of(result):
        raise ParseError(f"from {operand.type} to {result.type} changes the element type")
    return before, after


def _extents(operation: Operation, target: Dense | None) -> list[int] | None:
    """Return the target shape; LLVM 19 has it as an attribute."""
    if target is not None:
        if target.is_splat:  # all extents are one number
            return [int(target.values.item())] * len(tensor_of(operation.results[0]).dims)
        return [int(extent) for extent in target.values]
    said = operation.attributes.get("new_shape")
    if said is None:
        return None
    if not isinstance(said, tuple) or not all(isinstance(extent, int) for extent in said):
        raise ParseError("has an attribute 'new_shape' that is no array of extents; write array<i64: 1, 3>")
    return list(said)


def _check_target(after: TensorType, extents: list[int] | None) -> None:
    if extents is None:
        return
    if len(extents) != len(after.dims):
        raise BroadcastError(f"the shape has {len(extents)} extents, the result rank {len(after.dims)}")
    for dim, (extent, said) in enumerate(zip(extents, after.dims, strict=True)):
        if extent >= 0 and said.is_static and extent != said.extent:
            raise BroadcastError(f"result dim {dim} has extent {said.extent}, expected {extent} (from the shape)")


def _check_kept(
    operation: Operation, before: TensorType, after: TensorType, kept_before: list[int], kept_after: list[int]
) -> bool:
    pairs = [(before.dims[x].extent, after.dims[y].extent) for x, y in zip(kept_before, kept_after, strict=False)]
    # Two unknown extents could trade factors with each other, or an unknown one with a known one that differs.
    alike = all(x == y or None in (x, y) for x, y in pairs) and sum(None in pair for pair in pairs) <= 1
    if len(kept_before) != len(kept_after) or not alike:
        raise ParseError(
            f"from {operation.operands[0].type} to {operation.results[0].type} does more than add or drop dims of "
            "extent 1, which no element-wise kernel does; reshape outside of it"
        )
    return all(x == y or y is None for x, y in pairs)
