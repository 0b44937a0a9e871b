"""Converts what callers give for the operands of a program to lattice values.

In: ints, tuples, arrays, texts of types, lattice values, functions.  Out: lattice values of the operands' types.

    (3, None) for !shape.shape -> Shape.of(3, None)     an array for tensor<?x3xf32> -> its shape     None -> unknown
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...core.dtypes import DType, dtype
from ...core.errors import BroadcastError
from ..types.tensor_type import TensorType
from .extent_names import name_unknown, named_shape, with_one_meaning
from .ir import PlainProgram, Value
from .lattice import join_shapes
from .types import Kind
from .values import ElementType, LatticeValue, Shape, Size, ValueShape, Witness, show

__all__ = ["coerce", "coerce_all"]

_CLASSES: dict[str, Any] = {
    "shape": Shape,
    "size": Size,
    "value_shape": ValueShape,
    "witness": Witness,
    "element_type": ElementType,
    "tensor": Shape,
}
# The kinds of operands that may be given as the text of a type.
_OF_TYPES = ("shape", "value_shape", "extents", "tensor")


def coerce_all(program: PlainProgram, operands: Sequence[Any], running: bool) -> tuple[LatticeValue, ...]:
    """Return the lattice values of a program's operands.

    Parameters
    ----------
    program : says which operands there are.
    operands : what the caller gave.
    running : call functions that were given for an operand, now that the program runs; else their result is unknown.

    Raises
    ------
    BroadcastError
        If there are more or fewer than the program has, or one is not of its type.
    """
    if len(operands) != len(program.operands):
        names = ", ".join(f"{value}: {value.type}" for value in program.operands) or "nothing"
        raise BroadcastError(f"program '{program.name}' got {len(operands)} operands, expected {names}")
    values = [coerce(value, given, running) for value, given in zip(program.operands, operands, strict=True)]
    if not running:
        values = [name_unknown(value, given) for value, given in zip(program.operands, values, strict=True)]
    return with_one_meaning(program.operands, values)


def coerce(operand: Value, given: Any, running: bool = False) -> LatticeValue:
    """Return the lattice value of one operand."""
    if callable(given) and operand.type.kind in ("value_shape", "tensor"):
        given = given() if running else None
    if given is None:
        return operand.type.unknown()
    if operand.type.kind in _OF_TYPES and isinstance(given, (str, TensorType)):
        given = _type_shape(operand, given)
    wanted = _CLASSES.get(operand.type.kind)
    # A tensor may be given as a value_shape, and a value_shape as a shape.
    if operand.type.kind == "tensor" and isinstance(given, ValueShape):
        given = given.shape
    if operand.type.kind == "value_shape" and isinstance(given, Shape):
        given = ValueShape(None, given)
    if wanted is not None and isinstance(given, wanted):
        return _conforming(operand, given)
    return _conforming(operand, _convert(operand, given))


def _convert(operand: Value, given: Any) -> LatticeValue:
    try:
        value: LatticeValue = _CONVERTERS[operand.type.kind](given)
        return value
    except BroadcastError as error:
        raise BroadcastError(f"operand '{operand.name}': {error}", operand=operand.name) from None
    except TypeError:
        raise _unsuitable(operand, given) from None


def _shape(given: Any) -> Shape:
    return given if isinstance(given, Shape) else Shape(tuple(given))


def _tensor(given: Any) -> Shape:
    # A tuple gives the extents: a shape program never asks for the elements of a tensor.
    return Shape(given if isinstance(given, tuple) else np.shape(given))


def _bool(given: Any) -> bool:
    if not isinstance(given, (bool, np.bool_)):
        raise TypeError
    return bool(given)


def _index(given: Any) -> int:
    value = operator.index(given)
    if isinstance(given, bool) or not -(2**63) <= value < 2**63:
        raise TypeError
    return value


_CONVERTERS: dict[Kind, Callable[[Any], Any]] = {
    "shape": _shape,
    "size": Size,
    "value_shape": lambda given: ValueShape(np.asarray(given)),
    "witness": lambda given: Witness(_bool(given)),
    "element_type": lambda given: ElementType(given if isinstance(given, DType) else dtype(given)),
    "index": _index,
    "i1": _bool,
    "extents": _shape,
    "tensor": _tensor,
}


def _type_shape(operand: Value, given: str | TensorType) -> Shape:
    if isinstance(given, str) and re.fullmatch(r"\s*\[\s*invalid\s*\]\s*", given):
        return Shape(error="")
    try:
        return named_shape(operand.name, given)
    except BroadcastError as error:
        raise BroadcastError(f"operand '{operand.name}': {error}", operand=operand.name) from None


def _conforming(operand: Value, value: LatticeValue) -> LatticeValue:
    """Return what a value and its operand's type say together, if that type says more than its kind."""
    own = operand.type.unknown()
    if operand.type.kind == "extents" and isinstance(value, Shape):
        own = Shape(own) if isinstance(own, tuple) else Shape(unranked=True)
    elif operand.type.kind != "tensor" or not isinstance(value, Shape) or not isinstance(own, Shape):
        return value
    if value.is_invalid:
        raise _unsuitable(operand, value)
    both = join_shapes(value, own, "")
    if both.is_invalid:
        raise _unsuitable(operand, value)
    if operand.type.kind != "extents":
        return both
    return None if both.unranked else both.extents


def _unsuitable(operand: Value, given: Any) -> BroadcastError:
    shown = show(given) if isinstance(given, Shape) else repr(given)
    return BroadcastError(
        f"operand '{operand.name}' is {shown}, expected a value of type {operand.type}, or None where it is unknown",
        operand=operand.name,
    )
