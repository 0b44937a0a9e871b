"""The lattice value of a result that comes from one of two branches: it promises what both of them promise.

In: the lattice values of either branch.  Out: the most specific one of which both are instances.

    either([2, 3], [2, 4]) -> [2, ?]        either([2], [invalid]) -> [2], as invalid is an instance of each
"""

from __future__ import annotations

from collections.abc import Sequence

from ..types.extent_expr import Extent
from .values import ElementType, LatticeValue, Shape, Size, ValueShape, Witness, instance_of

__all__ = ["either"]


def either(a: LatticeValue, b: LatticeValue) -> LatticeValue:
    """Return what two values of one type have in common.

    Examples
    --------
    >>> str(either(Shape.of(2, 3), Shape.of(2, 4))), either((1, 2), (1, 3)), either(4, 5)
    ('[2, ?]', (1, None), None)
    """
    match a, b:
        case _ if a == b:
            return a
        case Shape(), Shape():
            return _shapes(a, b)
        case ValueShape(), ValueShape():
            return ValueShape(None, _shapes(a.shape, b.shape))
        case tuple(), tuple() if len(a) == len(b):
            return _extents(a, b)
        case (Size(), Size()) | (Witness(), Witness()) | (ElementType(), ElementType()):
            # Two valid sizes that differ have nothing in common: a name admits a number, which is not its extent.
            admits = [y for x, y in ((a, b), (b, a)) if (x.is_invalid if isinstance(x, Size) else instance_of(x, y))]
            unknown: dict[type, LatticeValue] = {Size: Size(), Witness: Witness(), ElementType: ElementType()}
            return admits[0] if admits else unknown[type(a)]
    return None


def _extents(a: Sequence[Extent | None], b: Sequence[Extent | None]) -> tuple[Extent | None, ...]:
    # A name admits a number, but that number is not the name's extent.
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))


def _shapes(a: Shape, b: Shape) -> Shape:
    if a.is_invalid or b.is_invalid:
        return b if a.is_invalid else a
    if a.unranked or b.unranked or len(a.extents) != len(b.extents):
        return Shape(unranked=True)
    return Shape(_extents(a.extents, b.extents))
