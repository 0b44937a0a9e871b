"""Builders of operands: a number of result elements and a seeded generator -> arrays.

In: dtypes and masks of dims.  Out: a function that builds.

    matrix("f4", "rc", "c")(32768, rng) -> f32[128, 256], f32[256]
"""

from __future__ import annotations

from collections.abc import Mapping
from math import isqrt
from types import MappingProxyType

import numpy as np

from .row import Array, Build, Operands, Rng

__all__ = ["NUMPY_DTYPES", "flat", "given", "inner_extents", "matrix", "rows", "sample"]

# Short names of dtypes -> NumPy's, as the ``result`` of a row has them.
NUMPY_DTYPES: Mapping[str, str] = MappingProxyType({"f32": "float32", "f64": "float64"})


def sample(rng: Rng, dtype: str, shape: tuple[int, ...], low: float = -4.0, high: float = 4.0) -> Array:
    """Return values inside (low, high); integers from their whole range, bools evenly."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return rng.random(shape, dtype=np.float32) < 0.5
    if kind.kind != "f":
        info = np.iinfo(kind)
        integers: Array = rng.integers(info.min, info.max, shape, dtype=kind.type, endpoint=True)
        return integers
    values: Array = rng.random(shape, dtype=np.float32 if kind.itemsize <= 4 else np.float64)
    values *= high - low
    values += low
    # An end of the interval may be where the function is infinite.
    ends = (np.nextafter(values.dtype.type(end), values.dtype.type(low + high) / 2) for end in (low, high))
    np.clip(values, *ends, out=values)
    return values.astype(kind, copy=False)


def rows(elements: int) -> tuple[int, int]:
    """Return extents of the most square matrix: powers of two stay powers of two."""
    count = 1 << (elements.bit_length() - 1) // 2 if elements & (elements - 1) == 0 else isqrt(elements)
    return count, elements // count


def flat(*dtypes: str, low: float = -4.0, high: float = 4.0) -> Build:
    """Build vectors of these dtypes."""
    return lambda n, rng: tuple(sample(rng, dtype, (n,), low, high) for dtype in dtypes)


def given(extents: Mapping[str, int], dtypes: str | tuple[str, ...], masks: tuple[str, ...], rng: Rng) -> Operands:
    """Return operands whose dims a mask names, such as ``"r1"``; one dtype for all, or one each."""
    known = {"1": 1, **extents}
    each = (dtypes,) * len(masks) if isinstance(dtypes, str) else dtypes
    return tuple(sample(rng, dtype, tuple(known[dim] for dim in mask)) for dtype, mask in zip(each, masks, strict=True))


def matrix(dtypes: str | tuple[str, ...], *masks: str) -> Build:
    """Build operands over [r, c]; a mask such as ``"r1"`` names the dims, ``"c"`` is a vector, ``""`` of rank 0."""

    def build(n: int, rng: Rng) -> Operands:
        r, c = rows(n)
        return given({"r": r, "c": c}, dtypes, masks, rng)

    return build


def inner_extents(dtypes: str | tuple[str, ...], inner: Mapping[str, int], *masks: str) -> Build:
    """Build operands whose inner extents are fixed; ``n``, the outermost one, takes up the elements.

    Where there are fewer elements than inner points, the inner extents become smaller, evenly.
    """

    def build(n: int, rng: Rng) -> Operands:
        extents = dict(inner)
        while np.prod(list(extents.values())) > n:
            largest = max(extents, key=lambda dim: extents[dim])
            extents[largest] -= 1
        points = int(np.prod(list(extents.values())))
        return given({"n": max(1, n // points), **extents}, dtypes, masks, rng)

    return build
