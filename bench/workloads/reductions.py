"""Workloads that reduce: sums, means, indices, and what computes with them again.

In: nothing.  Out: ``ROWS``.

    sum_inner_f32: sum(f32[r, c], axis=1)   distances_f32: sqrt(sum((f32[n, 1, 16] - f32[1, n, 16])**2, axis=2))

Sizes are of elements that are reduced, which results have few of. Reduced dims are the inner one, the outer one, the
middle one, or all.
"""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np

from .operands import flat, matrix, sample
from .row import Build, Function, Operands, Rng, Workload

__all__ = ["ROWS"]

# Peers run the functions with their own module as `np`, whose dtypes are no functions.
_EPSILON, _ZERO, _ONE = np.float32(1e-5), np.float32(0), np.float32(1)
_COORDINATES = 16


def _cube(dtype: str) -> Build:
    """Build one operand of three dims, of which the middle one has 64 points at most."""

    def build(elements: int, rng: Rng) -> Operands:
        middle = min(64, max(1, elements // 4))
        outer = max(1, isqrt(elements // middle))
        return (sample(rng, dtype, (outer, middle, max(1, elements // middle // outer))),)

    return build


def _points(dtype: str) -> Build:
    """Build two sets of points, each apart from all of the other."""

    def build(elements: int, rng: Rng) -> Operands:
        along = min(elements, _COORDINATES)
        count = isqrt(elements // along)
        return sample(rng, dtype, (count, 1, along)), sample(rng, dtype, (1, count, along))

    return build


def _sum_all(x: Any) -> Any:
    return np.sum(x)


def _sum_inner(x: Any) -> Any:
    return np.sum(x, axis=1)


def _sum_outer(x: Any) -> Any:
    return np.sum(x, axis=0)


def _sum_middle(x: Any) -> Any:
    return np.sum(x, axis=1)


def _mean_inner(x: Any) -> Any:
    return np.mean(x, axis=-1)


def _softmax_inner(x: Any) -> Any:
    e = np.exp(x - np.amax(x, axis=-1, keepdims=True))
    return e / np.sum(e, axis=-1, keepdims=True)


def _softmax_outer(x: Any) -> Any:
    e = np.exp(x - np.amax(x, axis=0, keepdims=True))
    return e / np.sum(e, axis=0, keepdims=True)


def _layer_norm(x: Any) -> Any:
    apart = x - np.mean(x, axis=-1, keepdims=True)
    return apart / np.sqrt(np.mean(apart * apart, axis=-1, keepdims=True) + _EPSILON)


def _logsumexp(x: Any) -> Any:
    most = np.amax(x, axis=-1, keepdims=True)
    return np.log(np.sum(np.exp(x - most), axis=-1, keepdims=True)) + most


def _distances(x: Any, y: Any) -> Any:
    return np.sqrt(np.sum((x - y) * (x - y), axis=2))


def _masked_mean(x: Any, mask: Any) -> Any:
    return np.sum(np.where(mask, x, _ZERO), axis=1) / np.sum(np.where(mask, _ONE, _ZERO), axis=1)


def _argmax_all(x: Any) -> Any:
    return np.argmax(x)


def _argmax_inner(x: Any) -> Any:
    return np.argmax(x, axis=-1)


def _argmax_outer(x: Any) -> Any:
    return np.argmax(x, axis=0)


_TYPES = {"f32": "f4", "f64": "f8", "i32": "i4"}
_RESULTS = {"f32": "float32", "f64": "float64", "i32": "int64"}
_SUMS: tuple[tuple[str, Function, str], ...] = (
    ("sum_all", _sum_all, "flat"),
    ("sum_inner", _sum_inner, "matrix"),
    ("sum_outer", _sum_outer, "matrix"),
    ("sum_middle", _sum_middle, "cube"),
)
_FLOATS: tuple[tuple[str, Function, str], ...] = (
    ("mean_inner", _mean_inner, "matrix"),
    ("softmax_inner", _softmax_inner, "matrix"),
    ("layer_norm_inner", _layer_norm, "matrix"),
    ("logsumexp_inner", _logsumexp, "matrix"),
    ("distances", _distances, "points"),
)
_CORE = {"sum_all_f32", "sum_outer_f32", "softmax_inner_f32", "layer_norm_inner_f32"}


def _build(kind: str, dtype: str) -> Build:
    makers = {"flat": flat, "matrix": lambda name: matrix(name, "rc"), "cube": _cube, "points": _points}
    build: Build = makers[kind](dtype)
    return build


def _in_wider(function: Function) -> Function:
    """Return the function that computes floats wider: sums of 32 million elements differ by their order."""

    def of_wider(*operands: Any) -> Any:
        narrow = operands[0].dtype
        wide = np.float64 if narrow == np.float32 else np.longdouble
        return np.asarray(function(*(o.astype(wide) if o.dtype.kind == "f" else o for o in operands))).astype(narrow)

    return of_wider


def _row(name: str, function: Function, build: Build, result: str) -> Workload:
    return Workload(
        name,
        "reduction",
        function,
        build,
        result,
        # A sum from one end has an error that grows with the number of elements; this tells a wrong result.
        ulp=1e5 if result.startswith("float") else 0.0,
        scale=1.0,
        reference=_in_wider(function) if result.startswith("float") else function,
        core=name in _CORE,
        large=True,
    )


ROWS: tuple[Workload, ...] = (
    *(
        _row(f"{name}_{suffix}", function, _build(kind, dtype), _RESULTS[suffix])
        for name, function, kind in _SUMS
        for suffix, dtype in _TYPES.items()
    ),
    *(
        _row(f"{name}_{suffix}", function, _build(kind, _TYPES[suffix]), _RESULTS[suffix])
        for name, function, kind in _FLOATS
        for suffix in ("f32", "f64")
    ),
    _row("softmax_outer_f32", _softmax_outer, _build("matrix", "f4"), "float32"),
    _row("masked_mean_f32", _masked_mean, matrix(("f4", "?"), "rc", "rc"), "float32"),
    *(
        _row(f"{name}_{suffix}", function, _build(kind, _TYPES[suffix]), "int64")
        for name, function, kind in (
            ("argmax_all", _argmax_all, "flat"),
            ("argmax_inner", _argmax_inner, "matrix"),
            ("argmax_outer", _argmax_outer, "matrix"),
        )
        for suffix in ("f32", "i32")
    ),
)
