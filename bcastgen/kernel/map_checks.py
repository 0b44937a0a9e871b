"""The checks that an op's indexing maps make of its operands' extents, and their messages.

In: an op that is applied, with a shape function and maps.  Out: a check for each dim of an operand.

    maps=["(d0, d1) -> (d0)", ...]  ->  operand 'a' of outer_less dim 0 is not d0 of its result
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..core.errors import BroadcastError
from ..core.frozen import dataclass
from ..expr.nodes import Sizing
from ..ops.maps import MapDim, read_maps

__all__ = ["Asked", "above_bound", "asked_of", "comparisons_of", "other_rank"]


@dataclass(frozen=True, slots=True)
class Asked:
    """A check of one dim of an op's operand: it has the extent that its map says (`place`), a result dim's or 1."""

    sizing: Sizing
    operand: int
    dim: int
    place: MapDim

    def __str__(self) -> str:
        if self.place.at is None:
            return f"{self.named} dim {self.dim} is not 1, as its map says"
        wanted = f"is neither 1 nor d{self.place.at}" if self.place.stretches else f"is not d{self.place.at}"
        return f"{self.named} dim {self.dim} {wanted} of its result"

    @property
    def compared(self) -> str:
        """The beginning of a message, which both extents follow."""
        places = [f"d{self.place.at} of its result"] if self.place.at is not None else []
        wanted = " or ".join(["1"] * (self.place.at is None or self.place.stretches) + places)
        return f"{self.named} dim {self.dim}, by its map {wanted}, has extent"

    @property
    def named(self) -> str:
        """The operand, as messages call it."""
        return f"operand '{self.name}' of {self.sizing.op.name}"

    @property
    def name(self) -> str:
        """The operand's name."""
        assert self.sizing.op.definition is not None
        return self.sizing.op.definition.operands[self.operand]

    def violation(self, shapes: Sequence[Sequence[int]], result: Sequence[int]) -> BroadcastError | None:
        """Return the error with both extents, for these shapes of the op's operands and result; None if they agree."""
        actual, at, stretches = shapes[self.operand][self.dim], self.place.at, self.place.stretches
        expected = 1 if at is None else result[at]
        if actual == expected or (stretches and actual == 1):
            return None
        origin = "" if at is None else f", d{at} of its result"
        cure = f"; it does not stretch, unless its map says d{at}|0" if actual == 1 else ""
        says = (
            f"{self.named} dim {self.dim} has extent {actual}, expected {'1 or ' * stretches}{expected}{origin}{cure}"
        )
        return BroadcastError(says, operand=self.name, dim=self.dim, expected=expected, actual=actual)


def other_rank(op_name: str, rank: int) -> str:
    """Return the message for a result whose rank is not that of the op's maps."""
    return f"the shape function of {op_name} gives another rank than its maps, {rank}"


def above_bound(op_name: str, dim: int) -> str:
    """Return the message of a result that exceeds its bound."""
    return f"the shape function of {op_name} gives dim {dim} of the result an extent above its bound"


def comparisons_of(sizing: Sizing) -> Iterator[tuple[str, str]]:
    """Yield the messages of an op's checks, each with what is said before both extents."""
    name = sizing.op.name
    yield other_rank(name, len(sizing.extents)), f"the shape function of {name} gives the rank"
    yield from ((str(asked), asked.compared) for asked in asked_of(sizing))
    definition = sizing.op.definition
    assert definition is not None
    for dim in range(len(sizing.extents)) if definition.bound is not None else ():
        says = f"the shape function of {name} exceeds its bound: dim {dim} of the result has extent"
        yield above_bound(name, dim), says


def asked_of(sizing: Sizing) -> Iterator[Asked]:
    """Yield the checks that an op's maps make of its operands' extents, in order."""
    assert sizing.op.definition is not None and sizing.op.definition.maps is not None
    _, maps = read_maps(sizing.op.name, sizing.op.definition.maps, sizing.op.arity)
    for operand, places in enumerate(maps):
        for dim, place in enumerate(places):
            yield Asked(sizing, operand, dim, place)
