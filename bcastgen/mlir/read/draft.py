"""An operation while it is being read, as far as the text has been read.

In: a name and its place.  Out: a :class:`Draft`, to which each step of a form adds.

    tosa.add %a, %b : ...   ->   Draft("tosa.add", 0, [("%a", 11), ("%b", 15)], ...)
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..ir import Attribute, Block, Type

__all__ = ["Draft"]


@dataclass(slots=True)
class Draft:
    """An operation that is being read.

    Attributes
    ----------
    name : with the dialect.
    start : the offset of its name.
    operands : names (with their ``%``) and offsets of the values it uses.
    operand_types, result_types : as the text has them.
    """

    name: str
    start: int
    operands: list[tuple[str, int]] = field(default_factory=list)
    operand_types: list[Type] = field(default_factory=list)
    result_types: list[Type] = field(default_factory=list)
    attributes: dict[str, Attribute] = field(default_factory=dict)
    regions: list[Block] = field(default_factory=list)
