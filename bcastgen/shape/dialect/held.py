"""The contents of a value_shape: its integers as extents, and other shapes given to it.

In: lattice values.  Out: lattice values, or `Failed` for one that the result's type cannot express.

    as_shape(ValueShape([2, 3])) -> [2, 3]        with_shape((?, [2, ?]), [?, 3]) -> (?, [2, 3])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..types.dim import MAX_EXTENT
from .ir import Operation
from .lattice import join_shapes
from .row import Failed
from .values import MAX_RANK, UNRANKED, Shape, ValueShape

__all__ = ["as_shape", "certain", "value_of", "with_shape"]


def as_shape(value: ValueShape | Shape) -> Shape:
    """Return the extents that a value holds; an extent tensor is given as its shape already."""
    if isinstance(value, Shape):
        return value
    if value.shape.error is not None:
        return value.shape
    if value.value is None:
        return _unknown(value.shape)
    array = np.asarray(value.value)
    if array.ndim != 1 or array.dtype.kind not in "iu" or array.size > MAX_RANK:
        return Shape(error="")
    if not all(0 <= extent <= MAX_EXTENT for extent in array.tolist()):
        return Shape(error="")
    return Shape(tuple(map(int, array)))


def _unknown(shape: Shape) -> Shape:
    """Return the extents that an unknown value of a shape holds."""
    if shape.unranked:
        return UNRANKED
    if shape.rank != 1:
        return Shape(error="")
    count = shape.extents[0]
    if not isinstance(count, int):
        return UNRANKED
    return Shape((None,) * count) if count <= MAX_RANK else Shape(error="")


def value_of(operation: Operation, value: ValueShape) -> Shape | Failed:
    """Return the value as the result's type has it: the integers of an extent tensor, the shape of another tensor."""
    type_ = operation.results[0].type
    if type_.kind == "extents":
        return as_shape(value)
    own = type_.unknown()
    assert isinstance(own, Shape)
    both = join_shapes(value.shape, own, "")
    return Failed(both.error) if both.error is not None else both


def certain(operation: Operation, operands: tuple[Any, ...]) -> bool:
    """Tell whether no run can fail: the value is known, or is an extent tensor."""
    (value,) = operands
    return not isinstance(value, ValueShape) or value.value is not None


def with_shape(value: ValueShape | Shape, shape: Shape) -> ValueShape:
    """Return a value with the shape that its own and another one say together."""
    own = value.shape if isinstance(value, ValueShape) else value
    both = join_shapes(own, shape, "")
    known = value.value if isinstance(value, ValueShape) and not both.is_invalid else None
    return ValueShape(known, both)
