"""Names of extents in a program's operands: those of texts, hidden ones for other extents, one meaning for each name.

In: texts of types, values of operands.  Out: values whose extents are computed from names, and back.

    f32[n<=64, 4] -> [n<=64, 4]        an operand %a of which [?, 2] is known -> [%a.0, 2], which prints as [?, 2]

An extent without a name is still the same extent wherever a program uses it, so it gets a name that no text can spell;
results show it as ``?`` again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from ...core.errors import BroadcastError
from ...core.frozen import replace
from ..types.dim import MAX_EXTENT, Dim
from ..types.extent_expr import Extent, ExtentExpr, Name, multiply, named, names_of, subtract
from ..types.extent_ops import substitute
from ..types.extent_span import span
from ..types.extent_text import parse_extents
from ..types.facts import ANY_EXTENT, Range
from ..types.tensor_type import TensorType, parse_type
from .arithmetic import LOWEST
from .ir import Value
from .values import UNRANKED, LatticeValue, Shape, Size, ValueShape

__all__ = ["name_unknown", "named_shape", "shown", "with_one_meaning"]

_Change = Callable[[int, "Extent | None"], "Extent | None"]
_ANY_INDEX = Range(LOWEST, MAX_EXTENT)


def named_shape(operand: str, given: str | TensorType) -> Shape:
    """Return the shape that a type, or a text of extents computed from names, promises of an operand.

    Raises
    ------
    BroadcastError
        If the text says what a shape cannot: how a dim stretches, names in a shape of unknown rank, an extent that is
        never 0 or more. A text that is no shape raises `ParseError`.

    Examples
    --------
    >>> print(named_shape("a", "[n<=64, 2*n, ?, ?%8, 4]"), named_shape("a", "f32[n]"))
    [n<=64, 2*n, ?, ?%8, 4] [n]
    """
    # A text that begins with its extents: with neither an element type nor a *.
    is_shape = isinstance(given, str) and re.match(r"\s*\[\s*[^*\s]", given)
    type_ = None if is_shape else parse_type(given)
    dims = parse_extents(given) if isinstance(given, str) and type_ is None else type_.dims if type_ is not None else ()
    said = next((dim for dim in dims if isinstance(dim, Dim) and _is_said_to_stretch(dim)), None)
    if said is not None:
        raise BroadcastError(
            f"'{given}' says {said} of a dim, and how a dim stretches is no fact of a shape; write {said.erased}"
        )
    if type_ is None or not type_.unranked:
        return Shape(tuple(_extent(operand, at, dim) for at, dim in enumerate(dims)))
    said = next((dim for dim in type_.dims if not dim.is_static and str(dim) != "?"), None)
    if said is not None:
        raise BroadcastError(f"'{type_}' says {said} of a dim, and a shape of unknown rank has no dims; write [*]")
    # A shape cannot say that unknown dims precede known ones, so it is unranked.
    return UNRANKED


def _is_said_to_stretch(dim: Dim) -> bool:
    return dim.broadcast is False or dim.stretches or dim.trusted


def _extent(operand: str, at: int, dim: Dim | Extent) -> Extent | None:
    if not isinstance(dim, Dim):
        if span(dim).high < 0:
            raise BroadcastError(f"dim {at} is {dim}, which is less than 0 for all extents; write one that may be more")
        return dim
    if dim.extent is not None:
        return dim.extent
    if dim.symbol is not None:
        return named(dim.symbol, dim.range)
    return None if dim.range == ANY_EXTENT else named(f"{operand}.{at}", dim.range, is_shown=False)


def _changed(value: LatticeValue, change: _Change) -> LatticeValue:
    """Return a value with `change` applied to each of its extents; an index or a size has one, number 0."""
    match value:
        case bool():
            made: LatticeValue = value
        case int() | ExtentExpr():
            made = change(0, value)
        case Size() if not value.is_invalid:
            made = Size(change(0, value.value))
        case Shape():
            made = _changed_shape(value, change)
        case ValueShape() if value.value is None:
            made = ValueShape(None, _changed_shape(value.shape, change))
        case tuple():
            made = tuple(change(at, extent) for at, extent in enumerate(value))
        case _:
            made = value
    return made


def _changed_shape(shape: Shape, change: _Change) -> Shape:
    extents = tuple(change(at, extent) for at, extent in enumerate(shape.extents))
    return replace(shape, extents=extents) if extents else shape


def name_unknown(operand: Value, value: LatticeValue) -> LatticeValue:
    """Return the value of an operand or argument with a name for each extent of which nothing is known."""
    if operand.type.kind == "index":
        return named(f"{operand.name}.", _ANY_INDEX, is_shown=False) if value is None else value

    def change(at: int, extent: Extent | None) -> Extent | None:
        return named(f"{operand.name}.{at}", is_shown=False) if extent is None else extent

    return _changed(value, change)


def shown(value: LatticeValue) -> LatticeValue:
    """Return a value as users see it: an extent that nobody has named is unknown, unless a range was given for it."""

    def change(_: int, extent: Extent | None) -> Extent | None:
        if not isinstance(extent, ExtentExpr) or extent.is_shown:
            return extent
        given = extent.name is not None and extent.name.range not in (ANY_EXTENT, _ANY_INDEX)
        return extent if given else None

    return _changed(value, change)


def with_one_meaning(operands: Sequence[Value], values: Sequence[LatticeValue]) -> tuple[LatticeValue, ...]:
    """Return the values of operands with the ranges of each name met, so that a name means the same in all of them.

    An expression of a name has to be an extent, which restricts the name: n - 1 needs n >= 1, and 8*m must fit 63 bits.

    Raises
    ------
    BroadcastError
        If the operands contradict each other about a name.
    """
    if not any(map(_has_names, values)):
        return tuple(values)
    names: dict[str, Name] = {}
    for operand, value in zip(operands, values, strict=True):
        for name, range_ in _said(value):
            known = names.setdefault(name.text, name)
            both = None if range_ is None else known.range.meet(range_)
            if both is None:
                raise BroadcastError(
                    f"operand '{operand.name}' is {value}, where {known} says something else of {name.text}; "
                    "widen one of them, or choose another name",
                    operand=operand.name,
                )
            names[name.text] = Name(name.text, both, known.is_shown)
    meant = {text: named(text, name.range, name.is_shown) for text, name in names.items()}
    return tuple(_changed(value, lambda _, extent: substitute(extent, meant)) for value in values)


def _has_names(value: LatticeValue) -> bool:
    shape = value.shape if isinstance(value, ValueShape) else value
    extents = shape.extents if isinstance(shape, Shape) else shape if isinstance(shape, tuple) else ()
    return any(isinstance(extent, ExtentExpr) for extent in (*extents, shape, getattr(shape, "value", None)))


def _said(value: LatticeValue) -> list[tuple[Name, Range | None]]:
    """Return the names in a value's extents, each with the range that they imply, or None if that is empty."""
    found: list[tuple[Name, Range | None]] = []

    def look(_: int, extent: Extent | None) -> Extent | None:
        if isinstance(extent, ExtentExpr):
            found.extend((name, name.range) for name in names_of(extent).values())
            if not isinstance(value, ExtentExpr):
                found.extend(_said_by(extent))
        return extent

    _changed(value, look)
    return found


def _said_by(extent: ExtentExpr) -> Iterator[tuple[Name, Range | None]]:
    """Yield the ranges that names have to lie in for an expression to be an extent."""
    for factors, count in extent.terms:
        if len(factors) != 1 or not isinstance(factors[0], Name):
            continue
        others = subtract(extent, multiply(ExtentExpr(((factors, 1),)), count))
        if others is None:
            continue
        # 0 <= count * name + others <= MAX_EXTENT
        where = span(others)
        low, high = (-where.high, MAX_EXTENT - where.low) if count > 0 else (where.low - MAX_EXTENT, where.high)
        low, high = -(-low // abs(count)), high // abs(count)
        yield factors[0], Range.of(max(low, 0), min(high, MAX_EXTENT))
