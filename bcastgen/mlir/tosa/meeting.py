"""Checks the shapes of one TOSA op: its operands broadcast, and its result has the declared type.

In: an op's values and their types.  Out: whether the types prove the result's type, or an error.

    (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>   proved
    (tensor<?xf32>, tensor<?xf32>) -> tensor<4xf32>   not proved: run time checks the result's extent
    (tensor<2xf32>, tensor<3xf32>) -> tensor<3xf32>   BroadcastError

A program repeats few combinations of types many times, so answers are cached.
"""

from __future__ import annotations

from functools import lru_cache

from ...core.errors import BroadcastError, result_rank_mismatch
from ...shape.decision import Decision
from ...shape.inference.broadcast import BroadcastInfo, broadcast
from ...shape.inference.verify import decide_result
from ...shape.types.dim import Dim
from ...shape.types.tensor_type import TensorType
from ..ir import Value

__all__ = ["decide", "fits", "spanned", "tensor_of"]


def tensor_of(value: Value) -> TensorType:
    """Return the type of a value that is known to be a tensor."""
    assert value.type.tensor is not None
    return value.type.tensor


def fits(operands: tuple[Value, ...], result: Value, rank_expansion: bool) -> bool:
    """Verify that operands broadcast to a result of its type.

    Returns
    -------
    bool
        True if the operands' types prove the result's type, False if run time has to check a part of it.

    Raises
    ------
    BroadcastError
        If no extents fit, or ranks differ, as TOSA 1.0 does not allow; `rank_expansion` allows it.
    """
    types = tuple(map(tensor_of, operands))
    try:
        return _is_proved(types, tensor_of(result), rank_expansion)
    except BroadcastError:
        # Repeat it with the names of these values, for the message.
        return _prove(types, tensor_of(result), rank_expansion, tuple(map(str, operands)), str(result))


@lru_cache(maxsize=4096)
def _is_proved(types: tuple[TensorType, ...], result: TensorType, rank_expansion: bool) -> bool:
    return _prove(types, result, rank_expansion, tuple(map(str, range(len(types)))), "r")


def _prove(
    types: tuple[TensorType, ...], result: TensorType, rank_expansion: bool, names: tuple[str, ...], result_name: str
) -> bool:
    decisions = decide(types, result, rank_expansion, names, result_name)[1]
    return all(decision.fate == "proved" for decision in decisions)


def decide(
    types: tuple[TensorType, ...], result: TensorType, rank_expansion: bool, names: tuple[str, ...], result_name: str
) -> tuple[BroadcastInfo, tuple[Decision, ...]]:
    """Return what operands of these types span, and the fate of everything that the result's type asks.

    Raises
    ------
    BroadcastError
        As :func:`fits`, with these names.
    """
    if not rank_expansion:
        _check_equal_ranks(types, names)
        rank = next((type_.rank for type_ in types if type_.rank is not None), result.rank)
        # An operand of unknown rank has the others' rank, so it cannot give the result a higher one.
        if result.rank is not None and result.rank != rank:
            raise result_rank_mismatch(result_name, result.rank, rank or 0)
    # A value used twice is one operand to broadcasting.
    info = broadcast(list(dict(zip(names, types, strict=True)).items()))
    return info, decide_result(info, result_name, result)


def spanned(
    operands: tuple[Value, ...], types: tuple[TensorType, ...], result: Value, rank_expansion: bool
) -> TensorType:
    """Return the type that operands span together; `types` may know more than the types of their values.

    Raises
    ------
    BroadcastError
        As :func:`fits`.
    """
    places = tuple(str(operands.index(value)) for value in operands)
    try:
        return _spanned(types, tensor_of(result), rank_expansion, places)
    except BroadcastError:
        decide(types, tensor_of(result), rank_expansion, tuple(map(str, operands)), str(result))
        raise


@lru_cache(maxsize=4096)
def _spanned(
    types: tuple[TensorType, ...], result: TensorType, rank_expansion: bool, places: tuple[str, ...]
) -> TensorType:
    info = decide(types, result, rank_expansion, places, "r")[0]
    return TensorType(result.dtype, tuple(Dim(dim.extent) for dim in info.dims), info.unranked)


def _check_equal_ranks(types: tuple[TensorType, ...], names: tuple[str, ...]) -> None:
    known = [(name, type_.rank) for name, type_ in zip(names, types, strict=True) if type_.rank is not None]
    for name, rank in known[1:]:
        if rank != known[0][1]:
            raise BroadcastError(
                f"operand '{name}' has rank {rank}, expected {known[0][1]} (from '{known[0][0]}'); TOSA wants equal "
                "ranks: insert a tosa.reshape, or allow rank expansion",
                operand=name,
                expected=known[0][1],
                actual=rank,
                against=known[0][0],
            )
