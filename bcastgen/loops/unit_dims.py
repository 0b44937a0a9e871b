"""Canonical forms: what a map says without the dims that say nothing.

In: an operand's type and its map.  Out: both without the dims of extent 1 that stand still.

    1x5 through (d0, d1) -> (0, d1)  ->  5 through (d0, d1) -> (d1)

Seed 004 asks for this form; linalg's pass of today is fold-unit-extent-dims. The array keeps its dims: this is how an
access reads, not what is passed.
"""

from __future__ import annotations

from ..shape.types.tensor_type import TensorType
from .affine import AffineMap

__all__ = ["fold_unit_dims"]


def fold_unit_dims(type_: TensorType, map_: AffineMap) -> tuple[TensorType, AffineMap]:
    """Return a type and its map without the unit dims that the map reads at 0.

    Examples
    --------
    >>> from bcastgen.loops.affine import Index
    >>> from bcastgen.shape.types.tensor_type import parse_type
    >>> folded = fold_unit_dims(parse_type("f32[1, 5]"), AffineMap(2, (Index(None), Index(1))))
    >>> print(*folded)
    f32[5] (d0, d1) -> (d1)
    """
    if len(type_.dims) != len(map_.indices):
        # Of unknown rank: the type says less, or more, than the map of what is known of the domain.
        return type_, map_
    kept = [at for at, index in enumerate(map_.indices) if index.dim is not None]
    dims = tuple(type_.dims[at] for at in kept)
    indices = tuple(map_.indices[at] for at in kept)
    folded = AffineMap(map_.domain_rank, indices, map_.open, map_.front_stretches, map_.open_domain)
    return TensorType(type_.dtype, dims, type_.unranked), folded
