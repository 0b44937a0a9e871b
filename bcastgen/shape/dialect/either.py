"""What is known of a value that comes from one of two branches: what both of them promise.

In: the lattice values of either branch.  Out: the most specific one of which both are instances.

    either([2, 3], [2, 4]) -> [2, ?]        either([2], [invalid]) -> [2], as invalid is an instance of each
"""

from __future__ import annotations

from .values import ElementType, LatticeValue, Shape, Size, ValueShape, Witness, instance_of

__all__ = ["either"]


def either(a: LatticeValue, b: LatticeValue) -> LatticeValue:
    """Return what two values of one type have in common.

    Examples
    --------
    >>> str(either(Shape.of(2, 3), Shape.of(2, 4))), either((1, 2), (1, 3)), either(4, 5)
    ('[2, ?]', (1, None), None)
    """
    if instance_of(a, b):
        return b
    if instance_of(b, a):
        return a
    match a, b:
        case Shape(), Shape():
            return _shapes(a, b)
        case ValueShape(), ValueShape():
            return ValueShape(None, _shapes(a.shape, b.shape))
        case tuple(), tuple() if len(a) == len(b):
            return _extents(a, b)
    # Of what has no parts nothing is known but its type.
    unknown: dict[type, LatticeValue] = {Size: Size(), Witness: Witness(), ElementType: ElementType()}
    return unknown.get(type(a))


def _extents(a: tuple[int | None, ...], b: tuple[int | None, ...]) -> tuple[int | None, ...]:
    return tuple(x if x == y else None for x, y in zip(a, b, strict=True))


def _shapes(a: Shape, b: Shape) -> Shape:
    if a.is_invalid or b.is_invalid:
        return b if a.is_invalid else a
    if a.unranked or b.unranked or len(a.extents) != len(b.extents):
        return Shape(unranked=True)
    return Shape(_extents(a.extents, b.extents))
