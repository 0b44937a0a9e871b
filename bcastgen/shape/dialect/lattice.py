"""Arithmetic on sizes and shapes that may be unknown or invalid; no programs, no types.

In: lattice values, and the message an author gave for the case of failure.  Out: lattice values.

    broadcast([Shape.of(None, 1), Shape.of(3)], "") -> [?, 3]        add(Size(2), Size()) -> ?

Of several errors the first wins, an error before an unknown; a result that 63 bits or the highest rank do not hold is
invalid. The rows of `ops` say which sentence each function follows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from math import prod

from ..types.dim import MAX_EXTENT
from .values import MAX_RANK, UNKNOWN, UNRANKED, ElementType, Shape, Size, Witness

__all__ = [
    "add",
    "any_of",
    "broadcast",
    "broadcastable",
    "concat",
    "divide",
    "elementwise",
    "extent",
    "from_extents",
    "join_elements",
    "join_shapes",
    "join_sizes",
    "multiply",
    "num_elements",
    "rank",
    "same",
    "split",
    "witness",
]


def _first_error(values: Sequence[Size | Shape | ElementType]) -> str | None:
    return next((value.error for value in values if value.error is not None), None)


def _size(value: int, error: str = "") -> Size:
    return Size(value) if 0 <= value <= MAX_EXTENT else Size(error=error)


def _ranked(extents: tuple[int | None, ...]) -> Shape:
    return Shape(extents) if len(extents) <= MAX_RANK else Shape(error="")


def _known(function: Callable[[int, int], Size], a: Size, b: Size) -> Size:
    error = _first_error((a, b))
    if error is not None:
        return Size(error=error)
    if a.value is None or b.value is None:
        return UNKNOWN
    return function(a.value, b.value)


def add(a: Size, b: Size) -> Size:
    """Return the sum; unknown if either is."""
    return _known(lambda x, y: _size(x + y), a, b)


def multiply(a: Size, b: Size) -> Size:
    """Return the product; unknown if either is, even if the other is 0."""
    return _known(lambda x, y: _size(x * y), a, b)


def divide(a: Size, b: Size) -> Size:
    """Return the quotient, rounded down; by 0 it is invalid."""
    return _known(lambda x, y: Size(x // y) if y else Size(error=""), a, b)


def elementwise(function: Callable[[int, int], int], a: Size | Shape, b: Size | Shape) -> Size | Shape:
    """Apply min or max to two sizes, or extent by extent to two shapes, which are invalid together if ranks differ."""
    if isinstance(a, Size) and isinstance(b, Size):
        return _known(lambda x, y: Size(function(x, y)), a, b)
    if not isinstance(a, Shape) or not isinstance(b, Shape):
        raise AssertionError((a, b))
    error = _first_error((a, b))
    if error is not None:
        return Shape(error=error)
    if a.unranked or b.unranked:
        return UNRANKED
    if len(a.extents) != len(b.extents):
        return Shape(error="")
    pairs = zip(a.extents, b.extents, strict=True)
    return Shape(tuple(None if x is None or y is None else function(x, y) for x, y in pairs))


def _columns(shapes: Sequence[Shape]) -> list[list[int | None]]:
    """Return the extents that meet in each dim, aligned on the right; an unranked shape is unknown in all of them."""
    width = max((len(shape.extents) for shape in shapes), default=0)
    return [
        [
            None if shape.unranked else shape.extents[-position] if position <= len(shape.extents) else 1
            for shape in shapes
        ]
        for position in range(width, 0, -1)
    ]


def broadcast(shapes: Sequence[Shape], error: str) -> Shape:
    """Return the shape that shapes broadcast to, by the trait's rule; unranked if one is; invalid if none exists."""
    found = _first_error(shapes)
    if found is not None:
        return Shape(error=found)
    if any(shape.unranked for shape in shapes):
        return UNRANKED
    extents: list[int | None] = []
    for column in _columns(shapes):
        wide = {extent for extent in column if extent not in (None, 1)}
        if len(wide) > 1:
            return Shape(error=error)
        extents.append(wide.pop() if wide else None if None in column else 1)
    return Shape(tuple(extents))


def broadcastable(shapes: Sequence[Shape]) -> bool | None:
    """Tell whether shapes broadcast; None where unknown extents leave it open. An invalid shape does not."""
    if _first_error(shapes) is not None:
        return False
    certain = sum(shape.unranked for shape in shapes) <= 1
    for column in _columns(shapes):
        wide = {extent for extent in column if extent not in (None, 1)}
        if len(wide) > 1:
            return False
        # One unknown extent among ones, or no unknown at all: whatever it proves to be, it meets the others.
        certain = certain and column.count(None) <= (0 if wide else 1)
    return True if certain else None


def same(shapes: Sequence[Shape]) -> bool | None:
    """Tell whether shapes are equal; None where unknown extents leave it open. Invalid ones equal each other."""
    if any(shape.is_invalid for shape in shapes):
        return all(shape.is_invalid for shape in shapes)
    ranked = [shape for shape in shapes if not shape.unranked]
    if any(len(a.extents) != len(b.extents) for a, b in pairwise(ranked)):
        return False
    columns = list(zip(*(shape.extents for shape in ranked), strict=True))
    if any(len(set(column) - {None}) > 1 for column in columns):
        return False
    known = len(ranked) == len(shapes) and all(None not in column for column in columns)
    return True if known or len(shapes) == 1 else None


def witness(verdict: bool | None, shapes: Sequence[Shape], error: str) -> Witness:
    """Return the witness for a verdict on shapes; it fails if one of them is invalid, with the message of the first."""
    found = _first_error(shapes)
    if found is not None:
        return Witness(False, found or error)
    return Witness(verdict, error if verdict is False else "")


def concat(a: Shape, b: Shape) -> Shape:
    """Return the extents of one, then of the other."""
    error = _first_error((a, b))
    if error is not None:
        return Shape(error=error)
    return UNRANKED if a.unranked or b.unranked else _ranked(a.extents + b.extents)


def any_of(shapes: Sequence[Shape]) -> Shape:
    """Return the first known extent of each dim, or the first shape of all if ranks or known extents differ."""
    error = _first_error(shapes)
    if error is not None:
        return Shape(error=error)
    ranked = [shape.extents for shape in shapes if not shape.unranked]
    if len({len(extents) for extents in ranked}) > 1:
        return shapes[0]
    if not ranked:
        return UNRANKED
    columns = list(zip(*ranked, strict=True))
    if any(len(set(column) - {None}) > 1 for column in columns):
        return shapes[0]
    return Shape(tuple(next((extent for extent in column if extent is not None), None) for column in columns))


def join_sizes(a: Size, b: Size, error: str) -> Size:
    """Return the more specific of two sizes, or invalid if they contradict each other."""
    found = _first_error((a, b))
    if found is not None:
        return Size(error=found)
    if a.value is None or b.value is None or a == b:
        return b if a.value is None else a
    return Size(error=error)


def join_shapes(a: Shape, b: Shape, error: str) -> Shape:
    """Return what both shapes say, extent by extent, or invalid if they contradict each other."""
    found = _first_error((a, b))
    if found is not None:
        return Shape(error=found)
    if a.unranked or b.unranked:
        return b if a.unranked else a
    if len(a.extents) != len(b.extents):
        return Shape(error=error)
    if any(x != y and x is not None and y is not None for x, y in zip(a.extents, b.extents, strict=True)):
        return Shape(error=error)
    return Shape(tuple(y if x is None else x for x, y in zip(a.extents, b.extents, strict=True)))


def join_elements(a: ElementType, b: ElementType, error: str) -> ElementType:
    """Return the more specific of two element types, or invalid if they differ."""
    found = _first_error((a, b))
    if found is not None:
        return ElementType(error=found)
    if a.dtype is None or b.dtype is None or a == b:
        return b if a.dtype is None else a
    return ElementType(error=error)


def rank(shape: Shape) -> Size:
    """Return the number of extents."""
    return Size(shape.rank, shape.error)


def num_elements(shape: Shape) -> Size:
    """Return the product of the extents; unknown if one is, even if another is 0."""
    if shape.is_invalid or shape.unranked:
        return Size(error=shape.error)
    known = [extent for extent in shape.extents if extent is not None]
    return _size(prod(known)) if len(known) == len(shape.extents) else UNKNOWN


def extent(shape: Shape, dim: int | None) -> Size:
    """Return one extent; invalid if there is no such dim."""
    if shape.is_invalid or (dim is not None and dim < 0):
        return Size(error=shape.error or "")
    if shape.unranked or dim is None:
        return UNKNOWN
    return Size(shape.extents[dim]) if dim < len(shape.extents) else Size(error="")


def from_extents(extents: Sequence[Size]) -> Shape:
    """Return the shape of these extents."""
    error = _first_error(extents)
    return Shape(error=error) if error is not None else _ranked(tuple(size.value for size in extents))


def split(shape: Shape, index: int | None) -> tuple[Shape, Shape]:
    """Return the extents before an index, negative from the back, and the rest; unranked if the place is not known."""
    if shape.is_invalid:
        return shape, shape
    if shape.unranked or index is None:
        return UNRANKED, UNRANKED
    count = len(shape.extents)
    if not -count <= index <= count:
        return Shape(error=""), Shape(error="")
    at = index + count if index < 0 else index
    return Shape(shape.extents[:at]), Shape(shape.extents[at:])
