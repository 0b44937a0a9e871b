"""How the shapes of one op's values fit: operands meet, and its result has the type that is declared.

In: an op's values and their types.  Out: whether something of the result is left to run time, or a located error.

    (tensor<?xf32>, tensor<4xf32>) -> tensor<?xf32>   nothing is left
    (tensor<?xf32>, tensor<?xf32>) -> tensor<4xf32>   the result's extent is
    (tensor<2xf32>, tensor<3xf32>) -> tensor<3xf32>   BroadcastError

A program repeats few combinations of types many times, so verdicts are kept.
"""

from __future__ import annotations

from functools import lru_cache

from ...core.errors import BroadcastError, result_rank_mismatch
from ...shape.inference.broadcast import broadcast
from ...shape.inference.verify import decide_result
from ...shape.types.tensor_type import TensorType
from ..ir import Value

__all__ = ["fits", "tensor_of"]


def tensor_of(value: Value) -> TensorType:
    """Return the type of a value that was found to be a tensor."""
    assert value.type.tensor is not None
    return value.type.tensor


def fits(operands: tuple[Value, ...], result: Value, rank_expansion: bool) -> bool:
    """Verify that operands broadcast to a result of its type.

    Returns
    -------
    bool
        True if their types prove all that the result's type says, False if run time has to check some of it.

    Raises
    ------
    BroadcastError
        If no extents fit. TOSA 1.0 wants equal ranks; `rank_expansion` lifts that.
    """
    types = tuple(map(tensor_of, operands))
    try:
        return _is_proved(types, tensor_of(result), rank_expansion)
    except BroadcastError:
        # Again, for the names of these values.
        return _prove(types, tensor_of(result), rank_expansion, tuple(map(str, operands)), str(result))


@lru_cache(maxsize=4096)
def _is_proved(types: tuple[TensorType, ...], result: TensorType, rank_expansion: bool) -> bool:
    return _prove(types, result, rank_expansion, tuple(map(str, range(len(types)))), "r")


def _prove(
    types: tuple[TensorType, ...], result: TensorType, rank_expansion: bool, names: tuple[str, ...], result_name: str
) -> bool:
    if not rank_expansion:
        _have_one_rank(types, names)
        rank = next((type_.rank for type_ in types if type_.rank is not None), result.rank)
        # An operand of unknown rank has the others' rank, so it cannot give the result a higher one.
        if result.rank is not None and result.rank != rank:
            raise result_rank_mismatch(result_name, result.rank, rank or 0)
    # A value that stands there twice is one operand to broadcasting.
    uses = list(dict(zip(names, types, strict=True)).items())
    decisions = decide_result(broadcast(uses), result_name, result)
    return all(decision.fate == "proved" for decision in decisions)


def _have_one_rank(types: tuple[TensorType, ...], names: tuple[str, ...]) -> None:
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
