"""Verifies ``"test.broadcastable"``, an op that has only the Broadcastable trait.

In: an operation.  Out: the constraints left to run time, or an error at its location in the text.

    %0 = "test.broadcastable"(%a, %b) : (tensor<?xf32>, tensor<4xf32>) -> tensor<4xf32>    %a.0 in {1, 4}
    %0 = "test.broadcastable"(%a, %b) : (tensor<3xf32>, tensor<2xf32>) -> tensor<?xf32>
        -> m.mlir:3:8: error: 'test.broadcastable' op operand '%b' dim 0 has extent 2, expected 1 or 3 (from '%a')

The trait expands operands of lower rank; element types may be any that bcastgen supports.
"""

from __future__ import annotations

from ..core.errors import BcastgenError, BroadcastError
from ..shape.constraints import Constraint
from ..shape.inference.broadcast import Mode, broadcast
from ..shape.inference.verify import verify_result
from ..shape.types.tensor_type import TensorType
from .ir import Operation, Source, Value
from .tosa.elements import check_supported

__all__ = ["verify_broadcastable"]


def verify_broadcastable(operation: Operation, source: Source, mode: Mode = "sound") -> tuple[Constraint, ...]:
    """Check that the operands of an operation broadcast to its result, as the trait requires.

    Parameters
    ----------
    operation : has the operands and the result.
    source : the text it is in.
    mode : ``"sound"`` or ``"document"``, see :func:`~..shape.inference.broadcast.broadcast`.

    Returns
    -------
    tuple of Constraint
        The checks left to run time; none for an operation without operands.

    Raises
    ------
    BroadcastError
        If the number of results is not one, a value is no tensor, or shapes do not fit.
    DTypeError
        If an element type is not supported.

    Examples
    --------
    >>> from bcastgen.mlir.read.parser import parse_module
    >>> text = '''func.func @f(%a: tensor<?xf32>, %b: tensor<4xf32>) -> tensor<4xf32> {
    ...   %0 = "test.broadcastable"(%a, %b) : (tensor<?xf32>, tensor<4xf32>) -> tensor<4xf32>
    ...   return %0 : tensor<4xf32>
    ... }'''
    >>> module = parse_module(text)
    >>> body = module.functions[0].body
    >>> [str(constraint) for constraint in verify_broadcastable(body.operations[0], module.source)]
    ['%a.0 in {1, 4}']
    """
    try:
        return _verified(operation, mode)
    except BcastgenError as error:
        raise source.locate(error, operation.location, f"'{operation.name}' op") from None


def _verified(operation: Operation, mode: Mode) -> tuple[Constraint, ...]:
    if len(operation.results) != 1:
        raise BroadcastError(f"has {len(operation.results)} results, expected 1")
    result = operation.results[0]
    # A value used twice is one operand to broadcasting.
    operands = {str(value): _tensor(value, "operand") for value in operation.operands}
    declared = _tensor(result, "result")
    if not operands:
        return ()
    info = broadcast(list(operands.items()), mode)
    return (*info.constraints, *verify_result(info, str(result), declared))


def _tensor(value: Value, role: str) -> TensorType:
    if not value.type.text.startswith("tensor<"):
        raise BroadcastError(f"{role} '{value}' has type {value.type}, expected a tensor", operand=str(value))
    check_supported(value)
    assert value.type.tensor is not None
    return value.type.tensor
