"""A kernel's operands as users describe them: names of results, values of constants.

In: names, values, types of a signature.  Out: names and arrays.

    result_names(2, ("a", "b")) -> ("r0", "r1")
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.errors import BroadcastError
from ..core.forks import undivided
from ..expr.nodes import Expression, has_views

if TYPE_CHECKING:
    from ..shape.types.tensor_type import Signature

__all__ = ["constant_row", "constant_values", "depends_on_ranks", "result_names"]


def result_names(count: int, taken: tuple[str, ...]) -> tuple[str, ...]:
    """Return the results' names: r, or r0, r1, ..., made to differ from the operands' names."""
    stem = "r"
    while stem in taken or any(f"{stem}{at}" in taken for at in range(count)):
        stem += "_"
    return (stem,) if count == 1 else tuple(f"{stem}{at}" for at in range(count))


def depends_on_ranks(expression: Expression | Callable[[], Expression], signature: Signature | None) -> bool:
    """Whether a kernel's maps depend on ranks that only a call gives, so that it has a binary per tuple of ranks."""
    if not isinstance(expression, Expression) or not has_views(expression.results):
        return False
    return signature is None or any(type_.unranked for _, type_ in signature.operands)


def constant_values(
    name: str, values: tuple[object, ...], signature: Signature | None
) -> tuple[np.ndarray[Any, Any], ...]:
    """Return read-only copies of constant arrays; raise BroadcastError if a shape is not the signature's."""
    types = [] if signature is None else signature.operands[len(signature.operands) - len(values) :]
    if len(types) != len(values):
        raise BroadcastError(f"{name}() has {len(values)} constants; a signature has to give their types")
    with undivided:
        from ..runtime.slow_path import clean_operand  # noqa: PLC0415 - few kernels have constant arrays
    made = []
    for (label, type_), value in zip(types, values, strict=True):
        array = np.array(clean_operand(str(label), np.asarray(value)), order="C", copy=True)
        if type_.unranked or tuple(dim.extent for dim in type_.dims) != array.shape:
            raise BroadcastError(f"constant '{label}' of {name}() has shape {array.shape}, declared {type_}")
        array.setflags(write=False)
        made.append(array)
    return tuple(made)


def constant_row(name: str, value: np.ndarray[Any, Any]) -> str:
    """Return a line that shows a constant array."""
    return f"{name} : {value.dtype}{list(value.shape)} {np.array2string(value.ravel(), 1000, threshold=16)}"
