"""Converts types and attributes of the text to those of shape programs.

In: types and attributes of the text.  Out: types and attributes of :mod:`...shape.dialect`.

    index -> INDEX        tensor<2xindex> -> extents_type(2)        {value = 3 : index} -> (("value", 3),)
"""

from __future__ import annotations

from typing import TypeAlias

from ...core.errors import ParseError
from ...shape.dialect.ir import Attribute
from ...shape.dialect.types import Type, parse_type
from ...shape.dialect.values import MAX_RANK
from .. import ir

__all__ = ["Settings", "program_type", "settings"]

Settings: TypeAlias = tuple[tuple[str, Attribute], ...]


def program_type(type_: ir.Type) -> Type | None:
    """Return a type of the text as a type of shape programs, or None if they have no such type."""
    if type_.tensor is not None:
        return Type("tensor", None, type_.tensor) if type_.tensor.container == "tensor" else None
    # parse_type also takes shorthands of ours, which MLIR does not have.
    if type_.text not in ("index", "i1") and not type_.text.startswith(("!shape.", "tensor<")):
        return None
    try:
        return parse_type(type_.text)
    except ParseError:
        return None


def settings(operation: ir.Operation) -> Settings:
    """Return an operation's attributes without those that change nothing: other dialects' ones, and overflow flags."""
    return tuple(
        (name, _attribute(value))
        for name, value in operation.attributes.items()
        if "." not in name and not (name == "overflowFlags" and operation.name.startswith("arith."))
    )


def _attribute(value: ir.Attribute) -> Attribute:
    """Return an attribute as programs have it; the text of one that they do not have, which the op's row refuses."""
    match value:
        case bool() | int() | str():
            return value
        case ir.Number(bool() | int() as number, type_):
            return bool(number) if type_ is not None and type_.text == "i1" else number
        case ir.Keyword(name):
            return name
        case ir.Dense():
            return _extents(value)
        case tuple() if all(isinstance(_attribute(item), int) for item in value):
            return tuple(item for item in map(_attribute, value) if isinstance(item, int))
    return str(value)


def _extents(value: ir.Dense) -> Attribute:
    known = program_type(value.type)
    if known is None or known.kind != "extents" or known.length is None:
        return str(value.type)
    if value.is_splat:
        # One extent more than a shape may have is enough for a refusal.
        return (int(value.values),) * min(known.length, MAX_RANK + 1)
    return tuple(map(int, value.values))
