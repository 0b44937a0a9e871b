"""Random arrays of every layout that a call can meet.

In: a seeded generator and a shape.  Out: an array of this shape: in C or F order, permuted, strided, reversed, a view
of a larger one, or with dims of stride 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["random_array", "random_operand_shape", "random_shape"]

Array = NDArray[Any]

_EXTENTS = (1, 2, 3, 4, 5, 7, 8, 16, 23, 33, 64, 65, 130)


def random_shape(rng: np.random.Generator, most: int = 40_000) -> tuple[int, ...]:
    """Return the shape of a domain of at most so many points; now and then one dim is long, or has extent 0."""
    rank = int(rng.integers(0, 5))
    shape: list[int] = []
    points = 1
    for _ in range(rank):
        extent = int(rng.choice(_EXTENTS)) if rng.random() < 0.9 else int(rng.integers(300, 3000))
        extent = min(extent, max(1, most // points))
        shape.append(extent)
        points *= extent
    if shape and rng.random() < 0.02:
        shape[int(rng.integers(rank))] = 0
    rng.shuffle(shape)
    return tuple(shape)


def random_operand_shape(rng: np.random.Generator, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return a shape that broadcasts to another one: with dims of extent 1, or fewer dims."""
    kept = shape[int(rng.integers(0, len(shape) + 1)) if rng.random() < 0.3 else 0 :]
    return tuple(1 if rng.random() < 0.25 else extent for extent in kept)


def random_array(
    rng: np.random.Generator, shape: tuple[int, ...], dtype: str, writable: bool = False, low: int = -9
) -> Array:
    """Return an array of this shape and dtype in a random layout; a writable one has no two elements in one place."""
    order = rng.permutation(len(shape)) if rng.random() < 0.5 else np.arange(len(shape))
    steps = [int(rng.choice((1, 1, 1, 2, 3, 5))) if rng.random() < 0.4 else 1 for _ in shape]
    held = tuple(shape[at] * steps[at] + int(rng.integers(0, 3)) * (rng.random() < 0.3) for at in order)
    values: Array = rng.integers(0 if dtype[0] in "ub?" else low, 10, held).astype(dtype)
    array = values.transpose(np.argsort(order))
    array = array[(*(slice(0, n * step, step) for n, step in zip(shape, steps, strict=True)), ...)]
    array = array[(*(slice(None, None, -1 if rng.random() < 0.15 else 1) for _ in shape), ...)]
    if not writable and rng.random() < 0.1 and shape:
        # One row for all: the other elements are what it says.
        at = int(rng.integers(len(shape)))
        one = array[tuple(slice(0, 1) if dim == at and n else slice(None) for dim, n in enumerate(shape))]
        array = np.broadcast_to(one, shape)
    assert array.shape == shape
    return array
