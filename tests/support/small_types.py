"""All types of small ranks and extents, and the arrays that they stand for, for tests that enumerate both.

In: ranks and extents; a type.  Out: types; the shapes of its arrays; the types that know one extent less.

    instances(f32[2, ?], extents=(0, 1, 2), leading=0)   ->   (2, 0), (2, 1), (2, 2)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from functools import cache

import numpy as np

from bcastgen.shape.types.dim import Dim
from bcastgen.shape.types.tensor_type import TensorType

Extents = tuple[int, ...]
ANY = None


@cache
def numpy_shape(*shapes: Extents) -> Extents | None:
    """Return NumPy's verdict: the broadcast shape, or None."""
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def types(ranks: Iterable[int], values: Iterable[int | str | None], unranked: bool = False) -> list[TensorType]:
    """Return every type of these ranks (numbers of known dims) whose dims have these values."""
    dims = [Dim(value) for value in values]
    return [TensorType(None, row, unranked) for rank in ranks for row in itertools.product(dims, repeat=rank)]


@cache
def instances(type_: TensorType, extents: Extents, leading: int = 2) -> list[Extents]:
    """Return the shapes a type stands for: unknown extents among those given, up to some unknown leading dims."""
    choices = [extents if dim.extent is None else (dim.extent,) for dim in type_.dims]
    fronts = range(leading + 1) if type_.unranked else range(1)
    return [shape for front in fronts for shape in itertools.product(*[extents] * front, *choices)]


def erasures(type_: TensorType) -> Iterator[TensorType]:
    """Yield every type that knows one extent less."""
    for index, dim in enumerate(type_.dims):
        if dim.is_static:
            yield TensorType(None, (*type_.dims[:index], Dim(), *type_.dims[index + 1 :]), type_.unranked)
