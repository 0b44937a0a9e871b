"""Ops with shape functions: the indexing maps that users write, and the op that is applied element by element.

In: the text of one map an operand.  Out: for each operand, where each of its dims lies in the result.

    "(d0, d1) -> (d1, d0|0, 0)"   ->   result of rank 2; MapDim(1), MapDim(0, stretches=True), MapDim(None)

`d1` has the extent of the result's dim 1; `d0|0` has that of dim 0, or 1, and then stretches; `0` has extent 1. An
operand of which only the shape function reads the values has the type that it has there in place of a map: ``"index"``
for an integer, ``"tensor<?xindex>"`` for a list of integers, ``"!shape.value_shape"`` for an array of integers.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence

from ..core.errors import ParseError
from ..core.frozen import dataclass
from .row import Op

__all__ = ["MapDim", "element_operands", "plain_op", "read_maps", "value_types"]

_MAP = re.compile(r"\s*\(([\w\s,]*)\)\s*->\s*\(([\w\s,|]*)\)\s*")
_STRETCHED = re.compile(r"(\w+)\s*\|\s*0")

_VALUES = re.compile(r"\s*(index|tensor\s*<\s*(\?|\d+)\s*x\s*index\s*>|!shape\.value_shape)\s*")

# By name: an op, and the same op without its shape function. It is kept, since expressions compare ops by identity.
_plain: dict[str, tuple[Op, Op]] = {}


def plain_op(op: Op) -> Op:
    """Return the op without its shape function, which computes one element of the result; always the same object."""
    known, made = _plain.get(op.name, (None, None))
    if known is not op or made is None:
        assert op.definition is not None
        assert op.definition.maps is not None
        names = element_operands(op.definition.operands, op.definition.maps)
        plain = dataclasses.replace(op.definition, operands=names, shape=None, maps=None, bound=None)
        made = dataclasses.replace(op, arity=len(names), definition=plain)
        _plain[op.name] = (op, made)
    return made


def value_types(maps: Sequence[str]) -> tuple[str | None, ...]:
    """Return for each operand the type that its values have in the shape function; None for one that has a map.

    Examples
    --------
    >>> value_types(["(d0, d1) -> (d0)", "index"])
    (None, 'index')
    """
    return tuple("".join(text.split()) if isinstance(text, str) and _VALUES.fullmatch(text) else None for text in maps)


def element_operands(operands: Sequence[str], maps: Sequence[str]) -> tuple[str, ...]:
    """Return the names of the operands that have maps, from whose elements those of the result are computed."""
    return tuple(name for name, type_ in zip(operands, value_types(maps), strict=True) if type_ is None)


@dataclass(frozen=True, slots=True)
class MapDim:
    """The place of an operand's dim: which dim of the result it is, None if its extent is 1 and no dim is it.

    `stretches` says that its extent may be 1 whatever the result's is.
    """

    at: int | None
    stretches: bool = False


def read_maps(name: str, maps: Sequence[str], arity: int) -> tuple[int, tuple[tuple[MapDim, ...], ...]]:
    """Return the rank of the result, and for each operand the place of each of its dims; none for values.

    Raises
    ------
    ParseError
        If there is not one map per operand, the maps are not all from the same dims, or a map has a dim twice.

    Examples
    --------
    >>> read_maps("outer", ["(d0, d1) -> (d0)", "(d0, d1) -> (d1|0)"], 2)
    (2, ((MapDim(at=0, stretches=False),), (MapDim(at=1, stretches=True),)))
    """
    if not isinstance(maps, (list, tuple)) or len(maps) != arity:
        raise ParseError(f"{name}: maps has to hold one indexing map for each of the {arity} operands")
    found = [None if type_ else _read_map(name, text) for text, type_ in zip(maps, value_types(maps), strict=True)]
    sides = {one[0] for one in found if one is not None}
    if not sides:
        raise ParseError(f"{name}: no operand has a map; give one to each operand that c= names")
    if len(sides) != 1:
        raise ParseError(f"{name}: the maps are from different dims; write the result's dims in each, (d0, d1) -> ...")
    return len(sides.pop()), tuple(() if one is None else one[1] for one in found)


def _read_map(name: str, text: str) -> tuple[tuple[str, ...], tuple[MapDim, ...]]:
    matched = _MAP.fullmatch(text) if isinstance(text, str) else None
    if isinstance(text, str) and re.search(r"\w\s+(mod|floordiv|ceildiv)\s|[-+*]\s*\w", text):
        raise ParseError(
            f"{name}: {text!r} computes with dims; a map is a projection, and reads an operand at dims of the result. "
            "Give the result a dim for each part, as (d0, d1) -> (d0), and reshape it"
        )
    if text == "!shape.element_type":
        raise ParseError(
            f"{name}: {text!r} is no operand's; a shape function takes an operand's element type as a parameter: "
            "a_type for an operand a"
        )
    if matched is None:
        raise ParseError(f"{name}: {text!r} is no indexing map; write it as (d0, d1) -> (d1, d0|0)")
    dims, read = (tuple(part.strip() for part in side.split(",") if part.strip()) for side in matched.groups())
    places = tuple(_place(dims, part) for part in read)
    at = [place.at for place in places if place is not None and place.at is not None]
    if None in places or len(set(dims)) < len(dims) or len(set(at)) < len(at):
        raise ParseError(
            f"{name}: {text!r} is no projection; each dim of the operand is another dim of the result, "
            "d|0 where it stretches, or 0"
        )
    return dims, tuple(place for place in places if place is not None)


def _place(dims: tuple[str, ...], part: str) -> MapDim | None:
    if part == "0":
        return MapDim(None)
    stretched = _STRETCHED.fullmatch(part)
    dim = stretched[1] if stretched else part
    return MapDim(dims.index(dim), stretched is not None) if dim in dims else None
