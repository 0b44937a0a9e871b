"""A use: an operand as one indexing map sees it.

In: an operand's name and type, and where its dims lie in the domain.  Out: a :class:`Use`, aligned by position.

    a: f32[?, 4] as it is         -> a.0 at position 2, a.1 at position 1
    a: f32[?, 4] transposed       -> a.0 at position 1, a.1 at position 2
    a: f32[?] broadcast to [n, 8] -> a.0 at position 2, which has to be 1 or n

Positions count from the domain's end, 1 is the innermost. One operand may have several uses under the same name: they
share the constraints of its type, and each has the constraints of its positions.
"""

from __future__ import annotations

from typing import TypeAlias

from ...core.errors import BroadcastError
from ...core.frozen import dataclass
from ..types.dim import Dim
from ..types.tensor_type import TensorType

__all__ = ["OperandDim", "Target", "Use"]

# An operand's name and the number of its dim.
OperandDim: TypeAlias = tuple[str, int]
# The target of a dim's explicit broadcast: an extent or a symbol, another operand's dim, or None without a target.
Target: TypeAlias = Dim | OperandDim | None


@dataclass(frozen=True, slots=True)
class Use:
    """An operand as one indexing map sees it.

    Attributes
    ----------
    name : the operand's name.
    type : its type.
    positions : for each own dim its position in the domain, counted from the end, from 1, or None if it is dropped and
        only has to have extent 1; None in place of them all aligns on the right.
    targets : for each own dim what it is explicitly broadcast to, so that its extent must be 1 or exactly that; None if
        the operand is not broadcast explicitly.
    shape_only : only the shape matters, no element is read.
    is_target_shape : a shape without an array, such as the one that `broadcast_in_dim` is given: it takes part in
        inference, but is not checked.

    Raises
    ------
    BroadcastError
        If there is not one position or target for each dim, two dims share a position, an operand of unknown rank is
        permuted, or a target shape has an extent that is neither known nor named.

    Examples
    --------
    >>> from bcastgen.shape.types.tensor_type import parse_type
    >>> [(position, own, str(dim)) for position, own, dim in Use("a", parse_type("f32[n, 4]"), (1, 2)).aligned]
    [(1, 0, 'n'), (2, 1, '4')]
    """

    name: str
    type: TensorType
    positions: tuple[int | None, ...] | None = None
    targets: tuple[Target, ...] | None = None
    shape_only: bool = False
    is_target_shape: bool = False

    def __post_init__(self) -> None:
        fault = self._fault()
        if fault is not None:
            raise BroadcastError(f"operand '{self.name}' of type {self.type} {fault}", operand=self.name)

    def _fault(self) -> str | None:
        count = len(self.type.dims)
        for what, row in (("positions", self.positions), ("targets", self.targets)):
            if row is not None and len(row) != count:
                return f"has {len(row)} {what}, expected {count}; give one a dim"
        if self.positions is not None and self.type.unranked:
            return "has no known rank, so its dims cannot be permuted; declare its rank"
        placed = [position for position in self.positions or () if position is not None]
        if len(set(placed)) < len(placed) or min(placed, default=1) < 1:
            return f"has positions {self.positions}, expected different ones of 1 or more"
        if self.is_target_shape and (self.type.unranked or any(dim.value is None for dim in self.type.dims)):
            return "is a shape without an array, so each extent has to be known; write extents or symbols of operands"
        return None

    @property
    def aligned(self) -> tuple[tuple[int, int, Dim], ...]:
        """Each dim that is not dropped, outermost of the operand first: its position in the domain, own number, dim."""
        if self.positions is None:
            return self.type.aligned
        return tuple(
            (position, own, dim)
            for position, (own, dim) in zip(self.positions, enumerate(self.type.dims), strict=True)
            if position is not None
        )

    @property
    def dropped(self) -> tuple[int, ...]:
        """The numbers of the dims that are dropped."""
        return tuple(own for own, position in enumerate(self.positions or ()) if position is None)

    @property
    def span(self) -> int:
        """The least rank of a domain that holds all dims."""
        return max((position for position, _, _ in self.aligned), default=0)

    def target(self, own: int) -> Target:
        """Return what an own dim is explicitly broadcast to."""
        return None if self.targets is None else self.targets[own]
