"""Canonical forms of types and maps: dims of extent 1 that are always read at 0 are left out.

In: an operand's type and its map.  Out: both without these dims.

    1x5 through (d0, d1) -> (0, d1)  ->  5 through (d0, d1) -> (d1)

linalg's pass for this form is fold-unit-extent-dims. The array keeps its dims: only the printed access changes, not the
arguments of a call.
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
        # The type and the map need not know the same dims: one of unknown rank has its known dims only.
        return type_, map_
    kept = [at for at, index in enumerate(map_.indices) if index.dim is not None]
    dims = tuple(type_.dims[at] for at in kept)
    indices = tuple(map_.indices[at] for at in kept)
    folded = AffineMap(map_.domain_rank, indices, map_.open, map_.front_stretches, map_.open_domain)
    return TensorType(type_.dtype, dims, type_.unranked), folded
