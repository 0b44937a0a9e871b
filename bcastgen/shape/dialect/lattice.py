"""Arithmetic on sizes and shapes that may be unknown or invalid; no programs, no types.

In: lattice values, and the message an author gave for the case of failure.  Out: lattice values.

    broadcast([Shape.of(None, 1), Shape.of(3)], "") -> [?, 3]        add(Size(2), Size()) -> ?
    broadcast([Shape.of(n, 1), Shape.of(m)], "") -> [n, m]           add(Size(n), Size(m)) -> n + m

The first of several errors wins, and an error wins over an unknown. A result that exceeds 63 bits or the highest rank
is invalid. The rows of `ops` say which sentence each function follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from itertools import combinations, pairwise
from typing import Any

from ..types import extent_expr, extent_ops
from ..types.dim import MAX_EXTENT
from ..types.extent_expr import Extent, ExtentExpr
from ..types.extent_span import is_same, span
from .values import MAX_RANK, UNKNOWN, UNRANKED, ElementType, Shape, Size, Witness

__all__ = [
    "add",
    "any_of",
    "broadcast",
    "broadcastable",
    "concat",
    "counts",
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


def _size(extent: Extent | None) -> Size:
    """Return a computed extent as a size; it is invalid if the ranges of its names put it out of range."""
    if isinstance(extent, int):
        return Size(extent) if 0 <= extent <= MAX_EXTENT else Size(error="")
    if extent is None:
        return UNKNOWN
    where = span(extent)
    return Size(extent) if where.high >= 0 and where.low <= MAX_EXTENT else Size(error="")


def _ranked(extents: tuple[Extent | None, ...]) -> Shape:
    return Shape(extents) if len(extents) <= MAX_RANK else Shape(error="")


def _computed(function: Callable[[Extent | None, Extent | None], Extent | None], a: Size, b: Size) -> Size:
    error = _first_error((a, b))
    return Size(error=error) if error is not None else _size(function(a.value, b.value))


def _is_unnamed(extent: Extent | None) -> bool:
    return isinstance(extent, ExtentExpr) and not extent.is_shown


def _product(a: Extent | None, b: Extent | None) -> Extent | None:
    """Return the product; 0 times an extent that nobody has named is unknown, as 0 times an unknown size is."""
    if (a == 0 and _is_unnamed(b)) or (b == 0 and _is_unnamed(a)):
        return None
    return extent_expr.multiply(a, b)


def add(a: Size, b: Size) -> Size:
    """Return the sum; unknown if either is."""
    return _computed(extent_expr.add, a, b)


def multiply(a: Size, b: Size) -> Size:
    """Return the product; unknown if either is, even if the other is 0."""
    return _computed(_product, a, b)


def divide(a: Size, b: Size) -> Size:
    """Return the quotient, rounded down; by 0 it is invalid."""
    if b.value == 0 and a.value is not None and not a.is_invalid:
        return Size(error="")
    return _computed(extent_ops.floor_divide, a, b)


def elementwise(function: Callable[[Any, Any], Extent | None], a: Size | Shape, b: Size | Shape) -> Size | Shape:
    """Apply min or max to two sizes, or extent by extent to two shapes, which are invalid together if ranks differ."""
    if isinstance(a, Size) and isinstance(b, Size):
        return _computed(lambda x, y: None if x is None or y is None else function(x, y), a, b)
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


def _columns(shapes: Sequence[Shape]) -> list[list[Extent | None]]:
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
    extents: list[Extent | None] = []
    for column in _columns(shapes):
        wide = _wide(column)
        if len(wide) > 1 and _differ(wide):
            return Shape(error=error)
        # An extent that is certainly not 1 is the result, whatever the unknown ones are.
        open_ = [extent for extent in column if extent != 1]
        if wide or None in open_:
            extents.append(next((extent for extent in wide if isinstance(extent, int)), wide[0] if wide else None))
        else:
            extents.append(extent_ops.broadcast(extent for extent in open_ if extent is not None) if open_ else 1)
    return Shape(tuple(extents))


def _wide(column: Sequence[Extent | None]) -> list[Extent]:
    """Return the different extents of a column that are certainly not 1."""
    stated = dict.fromkeys(extent for extent in column if extent is not None and extent != 1)
    return [extent for extent in stated if isinstance(extent, int) or is_same(extent, 1) is False]


def _differ(extents: Iterable[Extent]) -> bool:
    """Tell whether two extents certainly differ."""
    return any(is_same(a, b) is False for a, b in combinations(extents, 2))


def broadcastable(shapes: Sequence[Shape]) -> bool | None:
    """Tell whether shapes broadcast; None where unknown extents leave it open. An invalid shape does not."""
    if _first_error(shapes) is not None:
        return False
    certain = sum(shape.unranked for shape in shapes) <= 1
    for column in _columns(shapes):
        if _differ(_wide(column)):
            return False
        # One extent among ones, known or not: whatever it proves to be, it meets the others.
        stated = {extent for extent in column if extent is not None and extent != 1}
        certain = certain and column.count(None) + len(stated) <= 1
    return True if certain else None


def same(shapes: Sequence[Shape]) -> bool | None:
    """Tell whether shapes are equal; None where unknown extents leave it open. Invalid ones equal each other."""
    if any(shape.is_invalid for shape in shapes):
        return all(shape.is_invalid for shape in shapes)
    ranked = [shape for shape in shapes if not shape.unranked]
    if any(len(a.extents) != len(b.extents) for a, b in pairwise(ranked)):
        return False
    columns = list(zip(*(shape.extents for shape in ranked), strict=True))
    if any(_differ(dict.fromkeys(extent for extent in column if extent is not None)) for column in columns):
        return False
    known = len(ranked) == len(shapes) and all(None not in column and len(set(column)) == 1 for column in columns)
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
    """Return for each dim the first known extent, else the first expression; the first shape if shapes conflict."""
    error = _first_error(shapes)
    if error is not None:
        return Shape(error=error)
    ranked = [shape.extents for shape in shapes if not shape.unranked]
    if len({len(extents) for extents in ranked}) > 1:
        return shapes[0]
    if not ranked:
        return UNRANKED
    columns = list(zip(*ranked, strict=True))
    if any(_differ(dict.fromkeys(extent for extent in column if extent is not None)) for column in columns):
        return shapes[0]
    return Shape(tuple(reduce(_more_specific, column) for column in columns))


def _more_specific(a: Extent | None, b: Extent | None) -> Extent | None:
    """Return the more specific extent: a number before an expression of names before None; the first of two alike."""
    said = sorted((a, b), key=lambda extent: 0 if isinstance(extent, int) else 1 if extent is not None else 2)
    return said[0]


def join_sizes(a: Size, b: Size, error: str) -> Size:
    """Return the more specific of two sizes, or invalid if they contradict each other."""
    found = _first_error((a, b))
    if found is not None:
        return Size(error=found)
    if a.value is not None and b.value is not None and is_same(a.value, b.value) is False:
        return Size(error=error)
    return Size(_more_specific(a.value, b.value))


def join_shapes(a: Shape, b: Shape, error: str) -> Shape:
    """Return what both shapes say, extent by extent, or invalid if they contradict each other."""
    found = _first_error((a, b))
    if found is not None:
        return Shape(error=found)
    if a.unranked or b.unranked:
        return b if a.unranked else a
    if len(a.extents) != len(b.extents):
        return Shape(error=error)
    pairs = list(zip(a.extents, b.extents, strict=True))
    if any(x is not None and y is not None and is_same(x, y) is False for x, y in pairs):
        return Shape(error=error)
    return Shape(tuple(_more_specific(x, y) for x, y in pairs))


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
    if 0 in shape.extents and any(map(_is_unnamed, shape.extents)):
        return UNKNOWN
    product: Extent | None = 1
    for one in shape.extents:
        product = extent_expr.multiply(product, one)
    return _size(product)


def counts(shape: Shape) -> bool:
    """Tell whether the product of the extents of a valid shape is certain to be a size."""
    count = num_elements(shape)
    return count.value is not None and span(count.value).high <= MAX_EXTENT


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
