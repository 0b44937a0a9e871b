"""The types of a shape program's values, and their MLIR text.

In: text.  Out: a :class:`Type`; it prints back.

    parse_type("tensor<?xindex>") -> Type("extents")        parse_type("f32[?, 3]") -> tensor<?x3xf32>
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, TypeAlias, get_args

from ...core.errors import ParseError
from ...core.frozen import dataclass
from ..types.tensor_type import TensorType
from ..types.tensor_type import parse_type as parse_tensor_type
from .values import UNKNOWN, UNRANKED, ElementType, LatticeValue, Shape, Size, ValueShape, Witness

__all__ = [
    "ELEMENT_TYPE",
    "EXTENTS",
    "I1",
    "INDEX",
    "KINDS",
    "SHAPE",
    "SIZE",
    "VALUE_SHAPE",
    "WITNESS",
    "Kind",
    "Type",
    "extents_type",
    "parse_type",
]

Kind: TypeAlias = Literal["shape", "size", "value_shape", "witness", "element_type", "index", "i1", "extents", "tensor"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_FALLIBLE = ("shape", "size", "value_shape", "element_type")
_DIALECT = ("shape", "size", "value_shape", "witness", "element_type")
_UNKNOWN: dict[Kind, LatticeValue] = {
    "shape": UNRANKED,
    "size": UNKNOWN,
    "value_shape": ValueShape(),
    "witness": Witness(),
    "element_type": ElementType(),
    "index": None,
    "i1": None,
    "extents": None,
}
_EXTENT_TENSOR = re.compile(r"tensor\s*<\s*(\?|\d+)\s*x\s*index\s*>")


@dataclass(frozen=True, slots=True)
class Type:
    """The type of one value.

    Attributes
    ----------
    kind : which type it is; ``"extents"`` is a tensor of index, ``"tensor"`` that of a kernel's operand.
    length : the number of extents of an extent tensor, or None if that is unknown.
    tensor : the type of a tensor; None for the other kinds.
    """

    kind: Kind
    length: int | None = None
    tensor: TensorType | None = None

    @property
    def can_fail(self) -> bool:
        """True if a value of it can be invalid."""
        return self.kind in _FALLIBLE

    def unknown(self) -> LatticeValue:
        """Return the value of which only this type is known."""
        if self.kind == "tensor":
            return _tensor_shape(self.tensor)
        if self.kind == "extents" and self.length is not None:
            return (None,) * self.length
        return _UNKNOWN[self.kind]

    def invalid(self, error: str) -> LatticeValue:
        """Return the invalid value of this type with a message, or the unknown one if none can be invalid."""
        match self.kind:
            case "shape":
                return Shape(error=error)
            case "size":
                return Size(error=error)
            case "value_shape":
                return ValueShape(None, Shape(error=error))
            case "element_type":
                return ElementType(error=error)
        return self.unknown()

    def __str__(self) -> str:
        if self.kind in _DIALECT:
            return f"!shape.{self.kind}"
        if self.kind == "extents":
            return f"tensor<{'?' if self.length is None else self.length}xindex>"
        return self.kind if self.tensor is None else self.tensor.mlir


SHAPE, SIZE, VALUE_SHAPE, WITNESS = Type("shape"), Type("size"), Type("value_shape"), Type("witness")
ELEMENT_TYPE, INDEX, I1, EXTENTS = Type("element_type"), Type("index"), Type("i1"), Type("extents")


def extents_type(length: int | None) -> Type:
    """Return the type of an extent tensor of so many extents."""
    return Type("extents", length)


@cache
def parse_type(text: str) -> Type:
    """Return the type that a text names.

    Raises
    ------
    ParseError
        If it names none.

    Examples
    --------
    >>> [str(parse_type(text)) for text in ("!shape.shape", "index", "tensor<2xindex>", "f32[?, 3]")]
    ['!shape.shape', 'index', 'tensor<2xindex>', 'tensor<?x3xf32>']
    """
    word = text.strip().removeprefix("!shape.")
    if word in KINDS and word not in ("extents", "tensor"):
        return Type(word)
    extents = _EXTENT_TENSOR.fullmatch(text.strip())
    if extents is not None:
        return Type("extents", None if extents[1] == "?" else int(extents[1]))
    if text.lstrip().startswith("!"):
        raise ParseError(f"{text!r} is no type of the shape dialect; use one of !shape.{', !shape.'.join(_DIALECT)}")
    tensor = parse_tensor_type(text)
    said = next((dim for dim in tensor.dims if not dim.is_plain or dim.symbol is not None), None)
    if said is not None:
        raise ParseError(
            f"'{tensor}' says {said} of a dim, which the type of a program's operand does not hold; write ? there, and "
            "give names and facts where the program is evaluated"
        )
    return Type("tensor", None, tensor)


def _tensor_shape(tensor: TensorType | None) -> Shape:
    if tensor is None or tensor.unranked:
        return UNRANKED
    return Shape(tuple(dim.extent for dim in tensor.dims))
