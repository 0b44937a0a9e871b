"""Indexing maps: from a point of the iteration domain to an element of an operand.

In: the domain's rank and an operand's dims.  Out: an :class:`AffineMap`, which prints and can be evaluated.

    domain (d0, d1), operand f32[?]    ->  (d0, d1) -> (d1|0)
    domain (d0, d1), operand f32[4, 1] ->  (d0, d1) -> (d0, 0)

``d0|0`` means "d0, or 0 if the operand's extent turns out to be 1": the run time decides, and generated C then uses a
stride of 0. Maps align on the right, as broadcasting does; a domain of unknown rank is written ``(..., d0, d1)`` with
its known dims.
"""

from __future__ import annotations

from ..core.frozen import dataclass
from ..shape.inference.operand_use import Use
from ..shape.types.dim import Dim

__all__ = ["AffineMap", "Index", "identity_map", "use_map"]


@dataclass(frozen=True, slots=True)
class Index:
    """One coordinate of an operand: a domain dim, or 0 for `dim=None`; `stretches` if its extent may prove to be 1."""

    dim: int | None
    stretches: bool = False

    def __str__(self) -> str:
        if self.dim is None:
            return "0"
        return f"d{self.dim}|0" if self.stretches else f"d{self.dim}"


@dataclass(frozen=True, slots=True)
class AffineMap:
    """An indexing map.

    Attributes
    ----------
    domain_rank : number of known domain dims; in an open domain these are the innermost ones.
    indices : one coordinate for each of the operand's known dims.
    open : whether the operand may have any number of further dims in front.
    front_stretches : whether those further dims may stretch; a result's never do.
    open_domain : whether the domain may have any number of further dims in front.
    """

    domain_rank: int
    indices: tuple[Index, ...]
    open: bool = False
    front_stretches: bool = True
    open_domain: bool = False

    def evaluate(self, point: tuple[int, ...], extents: tuple[int, ...]) -> tuple[int, ...]:
        """Return the index of the element that a point of the domain reads in an operand of these extents.

        Examples
        --------
        >>> AffineMap(2, (Index(1, stretches=True),)).evaluate((5, 3), (4,))
        (3,)
        >>> AffineMap(2, (Index(1, stretches=True),)).evaluate((5, 3), (1,))
        (0,)
        """
        leading = len(extents) - len(self.indices)
        # Dims that the type does not show align on the right, so some may lie in known dims of the domain.
        front = point[len(point) - len(extents) :][:leading]
        read = [0 if extent == 1 else at for extent, at in zip(extents[:leading], front, strict=True)]
        trailing = point[len(point) - self.domain_rank :]
        for index, extent in zip(self.indices, extents[leading:], strict=True):
            stretched = index.dim is None or (index.stretches and extent == 1)
            read.append(0 if stretched or index.dim is None else trailing[index.dim])
        return tuple(read)

    def __str__(self) -> str:
        domain = [f"d{dim}" for dim in range(self.domain_rank)]
        indices = [str(index) for index in self.indices]
        if self.open_domain:
            domain = ["...", *domain]
        if self.open:
            indices = ["...|0" if self.front_stretches else "...", *indices]
        return f"({', '.join(domain)}) -> ({', '.join(indices)})"


def identity_map(rank: int, open: bool = False) -> AffineMap:
    """Return the map of a result: dim i of the result is dim i of the domain."""
    return AffineMap(rank, tuple(Index(dim) for dim in range(rank)), open, False, open)


def use_map(
    use: Use, domain: tuple[Dim, ...], open_domain: bool, stretching: frozenset[tuple[int, int]], front_stretches: bool
) -> AffineMap:
    """Return the map through which an operand is read.

    Parameters
    ----------
    use : the operand, and the positions of its dims in the domain.
    domain : the inferred result dims.
    open_domain : whether the domain may have further dims in front.
    stretching : (own dim, position) of each dim of the operand that stretches if its extent proves to be 1.
    front_stretches : whether the front dims of an unranked operand may stretch.
    """
    placed = {
        own: Index(None)
        if dim.is_one and not domain[-position].is_one
        else Index(len(domain) - position, (own, position) in stretching)
        for position, own, dim in use.aligned
    }
    dropped = dict.fromkeys(use.dropped, Index(None))
    # Dims of an operand of unknown rank are numbered from the end (-1 is the last), so sorting keeps their order.
    indices = tuple(index for _, index in sorted((placed | dropped).items()))
    return AffineMap(len(domain), indices, use.type.unranked, front_stretches, open_domain)
