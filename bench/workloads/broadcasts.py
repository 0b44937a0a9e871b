"""Workloads whose operands broadcast.

Outer, bias, column, layer norm, mixed ranks, pairwise, narrow inner dims, and sub-expressions over fewer points than
the result has.

In: nothing.  Out: ``ROWS``.

    bias_f32: f32[r, c] + f32[c]   narrow3_row_f32: f32[n, 3] + f32[3]   separable_f32: exp(f32[r, 1]) * sin(f32[1, c])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .operands import inner_extents, matrix
from .row import Build, Function, Workload

__all__ = ["ROWS"]

_EPSILON, _NEVER = np.float32(1e-5), np.float32(-1e9)


def _add(a: Any, b: Any) -> Any:
    return a + b


def _subtract(a: Any, b: Any) -> Any:
    return a - b


def _multiply(a: Any, b: Any) -> Any:
    return a * b


def _affine(a: Any, b: Any, c: Any) -> Any:
    return a * b + c


def _square_difference(a: Any, b: Any) -> Any:
    return (a - b) * (a - b)


def _layer_norm(x: Any, mean: Any, rstd: Any, gain: Any, bias: Any) -> Any:
    return (x - mean) * rstd * gain + bias


def _clamped(x: Any, low: Any, high: Any) -> Any:
    return np.minimum(np.maximum(x, low), high)


def _masked_scores(scores: Any, mask: Any, bias: Any) -> Any:
    return np.where(mask, scores + bias, _NEVER)


def _pairwise2(x1: Any, y1: Any, x2: Any, y2: Any) -> Any:
    return np.sqrt((x1 - x2) * (x1 - x2) + (y1 - y2) * (y1 - y2))


def _pairwise3(x1: Any, y1: Any, z1: Any, x2: Any, y2: Any, z2: Any) -> Any:
    return np.sqrt((x1 - x2) * (x1 - x2) + (y1 - y2) * (y1 - y2) + (z1 - z2) * (z1 - z2))


def _row(name: str, function: Function, build: Build, **more: Any) -> Workload:
    result = {"f32": "float32", "f64": "float64"}[name.rpartition("_")[2]]
    return Workload(name, "broadcast", function, build, result, **more)


def _chosen_product(mask: Any, a: Any, b: Any, c: Any) -> Any:
    return np.where(mask, a, b * c)


_BROADCAST = (
    _row("outer_f32", _multiply, matrix("f4", "r1", "1c"), ufunc="multiply"),
    _row("outer_f64", _multiply, matrix("f8", "r1", "1c"), ufunc="multiply", core=True, large=True),
    _row("bias_f32", _add, matrix("f4", "rc", "c"), ufunc="add", core=True, large=True),
    _row("bias_f64", _add, matrix("f8", "rc", "c"), ufunc="add"),
    _row("column_f32", _multiply, matrix("f4", "rc", "r1"), ufunc="multiply", core=True, large=True),
    _row("column_f64", _multiply, matrix("f8", "rc", "r1"), ufunc="multiply"),
    _row("scalar_f32", _multiply, matrix("f4", "rc", ""), ufunc="multiply"),
    _row("row_column_f32", _affine, matrix("f4", "rc", "r1", "c"), scale=16.0),
    _row("clamp_rows_f32", _clamped, matrix("f4", "rc", "r1", "r1")),
    _row("layer_norm_f32", _layer_norm, matrix("f4", "rc", "r1", "r1", "c", "c"), scale=100.0, core=True, large=True),
    _row("layer_norm_f64", _layer_norm, matrix("f8", "rc", "r1", "r1", "c", "c"), scale=100.0),
    _row("pairwise_f64", _pairwise2, matrix("f8", "r1", "r1", "1c", "1c"), core=True, large=True),
    _row("pairwise_f32", _pairwise2, matrix("f4", "r1", "r1", "1c", "1c")),
    _row("pairwise3_f32", _pairwise3, matrix("f4", "r1", "r1", "r1", "1c", "1c", "1c")),
    _row("pairwise3_f64", _pairwise3, matrix("f8", "r1", "r1", "r1", "1c", "1c", "1c")),
    _row("unswitched_mask_f32", _chosen_product, matrix(("?", "f4", "f4", "f4"), "r1", "rc", "rc", "rc")),
    # Channels of images, heads of attention, a batch of matrices.
    _row(
        "channels_f32",
        _affine,
        inner_extents("f4", {"c": 16, "h": 14, "w": 14}, "nchw", "c11", "c11"),
        scale=16.0,
    ),
    _row(
        "attention_f32",
        _masked_scores,
        inner_extents(("f4", "?", "f4"), {"h": 4, "q": 32, "k": 32}, "nhqk", "n1qk", "h1k"),
    ),
    _row("batch_bias_f32", _add, inner_extents("f4", {"r": 8, "c": 128}, "nrc", "n1c"), ufunc="add"),
    _row("pairs_of_vectors_f32", _square_difference, inner_extents("f4", {"m": 32, "k": 16}, "n1k", "mk"), scale=64.0),
    _row(
        "five_dims_f32",
        _affine,
        inner_extents("f4", {"p": 8, "q": 8, "s": 16, "k": 11}, "n1q1k", "1pqs1", "np1sk"),
        scale=16.0,
    ),
    # Mixed broadcasts of four dims with short inner ones.
    *(
        _row(
            f"four_dims_{inner}_f32",
            _affine,
            inner_extents("f4", {"p": 24, "q": 8, "k": inner}, "n1qk", "p1k", "1pq1"),
            scale=16.0,
            core=inner == 23,
            large=inner in (23, 56),
        )
        for inner in (23, 37, 56)
    ),
    _row(
        "four_dims_28_f64",
        _affine,
        inner_extents("f8", {"p": 28, "q": 28, "k": 28}, "np1k", "1qk", "n1q1"),
        scale=16.0,
    ),
)

# ---- narrow inner dims -------------------------------------------------------------------------------------------


def _colour(x: Any, mean: Any, deviation: Any) -> Any:
    return (x - mean) / deviation


def _narrow(extent: int) -> tuple[Workload, ...]:
    def row(name: str, function: Function, dtype: str, *masks: str, **more: Any) -> Workload:
        build = inner_extents({"f32": "f4", "f64": "f8"}[dtype], {"k": extent}, *masks)
        result = {"f32": "float32", "f64": "float64"}[dtype]
        return Workload(f"narrow{extent}_{name}_{dtype}", "narrow", function, build, result, **more)

    return (
        row("row", _add, "f32", "nk", "k", ufunc="add", core=extent == 3, large=extent == 3),
        row("column", _multiply, "f32", "nk", "n1", ufunc="multiply", core=extent == 3, large=extent == 3),
        row("outer", _multiply, "f32", "n1", "1k", ufunc="multiply"),
        row("affine", _affine, "f64", "nk", "k", "n1", scale=16.0),
    )


_NARROW = (
    *(row for extent in (2, 3, 4, 5) for row in _narrow(extent)),
    Workload("narrow3_colour_f32", "narrow", _colour, inner_extents("f4", {"k": 3}, "nk", "k", "k"), "float32"),
    Workload(
        "narrow33_f32",
        "narrow",
        _affine,
        inner_extents("f4", {"p": 3, "q": 3}, "npq", "pq", "n11"),
        "float32",
        scale=16.0,
    ),
    Workload(
        "narrow4_column_f64",
        "narrow",
        _subtract,
        inner_extents("f8", {"k": 4}, "nk", "n1"),
        "float64",
        ufunc="subtract",
    ),
    Workload(
        "narrow3_pairs_f32",
        "narrow",
        _square_difference,
        inner_extents("f4", {"m": 16, "k": 3}, "n1k", "mk"),
        "float32",
        scale=64.0,
    ),
)

# ---- sub-expressions over fewer points ---------------------------------------------------------------------------


def _separable(a: Any, b: Any) -> Any:
    return np.exp(a) * np.sin(b)


def _softmax(x: Any, largest: Any, total: Any) -> Any:
    return np.exp(x - largest) / total


def _log_softmax(x: Any, largest: Any, total: Any) -> Any:
    return x - largest - np.log(total * total)


def _layer_norm_variance(x: Any, mean: Any, variance: Any, gain: Any, bias: Any) -> Any:
    return (x - mean) / np.sqrt(variance * variance + _EPSILON) * gain + bias


def _gaussian(y: Any, x: Any) -> Any:
    return np.exp(-(y * y)) * np.exp(-(x * x))


def _norms(xx: Any, yy: Any, xy: Any) -> Any:
    return np.sqrt(np.abs(xx)) + np.sqrt(np.abs(yy)) - xy


def _temperature(x: Any, t: Any) -> Any:
    return x * np.exp(-t)


def _rotation(x: Any, y: Any, angle: Any) -> Any:
    return x * np.cos(angle) - y * np.sin(angle)


def _encoding(position: Any, rate: Any) -> Any:
    return np.sin(position * np.exp(-rate))


_SMALL_DOMAIN = (
    ("separable_f32", _separable, matrix("f4", "r1", "1c"), 24, 0.0, True),
    ("separable_f64", _separable, matrix("f8", "r1", "1c"), 24, 0.0, False),
    ("softmax_f32", _softmax, matrix("f4", "rc", "r1", "r1"), 16, 0.0, True),
    ("log_softmax_f32", _log_softmax, matrix("f4", "rc", "r1", "r1"), 16, 16.0, False),
    ("layer_norm_var_f32", _layer_norm_variance, matrix("f4", "rc", "r1", "r1", "c", "c"), 8, 4e3, True),
    ("gaussian_f32", _gaussian, matrix("f4", "r1", "1c"), 24, 0.0, False),
    ("gaussian_f64", _gaussian, matrix("f8", "r1", "1c"), 24, 0.0, False),
    ("norms_f64", _norms, matrix("f8", "r1", "1c", "rc"), 2, 8.0, False),
    ("temperature_f32", _temperature, matrix("f4", "rc", "r1"), 16, 0.0, True),
    ("rotation_f32", _rotation, matrix("f4", "rc", "rc", "c"), 16, 8.0, False),
    ("encoding_f32", _encoding, matrix("f4", "r1", "1c"), 16, 256.0, False),
)

ROWS: tuple[Workload, ...] = (
    *_BROADCAST,
    *_NARROW,
    *(
        Workload(
            name,
            "small-domain",
            function,
            build,
            {"f32": "float32", "f64": "float64"}[name[-3:]],
            ulp=ulp,
            scale=scale,
            core=core,
            large=name in ("separable_f32", "softmax_f32"),
        )
        for name, function, build, ulp, scale, core in _SMALL_DOMAIN
    ),
)
