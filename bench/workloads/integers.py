"""Workloads on integers and bools, and on operands of several dtypes.

In: nothing.  Out: ``ROWS``.

    blend_u8: (a * w + b * (255 - w)) >> 8      less_f32: a < b      promote_i16_f32: i16 * f32
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .operands import flat, inner_extents, matrix
from .row import Build, Function, Workload

__all__ = ["ROWS"]

_BYTE, _HALF, _SCALE = np.float32(1 / 255), np.float32(0.5), np.float32(0.037)
_STEP, _LOW, _HIGH, _THOUSAND = np.float32(31), np.float32(-128), np.float32(127), np.float32(1000)
_ON, _OFF = np.uint8(255), np.uint8(0)


def _row(name: str, kind: str, function: Function, build: Build, result: str, **more: Any) -> Workload:
    return Workload(name, kind, function, build, result, **more)


# ---- integers ----------------------------------------------------------------------------------------------------


def _add(a: Any, b: Any) -> Any:
    return a + b


def _multiply(a: Any, b: Any) -> Any:
    return a * b


def _blend_u8(a: Any, b: Any, alpha: Any) -> Any:
    w = alpha.astype(np.uint16)
    return ((a.astype(np.uint16) * w + b.astype(np.uint16) * (255 - w)) >> 8).astype(np.uint8)


def _average_u8(a: Any, b: Any) -> Any:
    return (a & b) + ((a ^ b) >> 1)


def _saturated_u8(a: Any, b: Any) -> Any:
    return np.minimum(a.astype(np.uint16) + b.astype(np.uint16), 255).astype(np.uint8)


def _distance_u8(a: Any, b: Any) -> Any:
    return np.maximum(a, b) - np.minimum(a, b)


def _luma_u8(r: Any, g: Any, b: Any) -> Any:
    return ((r.astype(np.uint16) * 77 + g.astype(np.uint16) * 150 + b.astype(np.uint16) * 29) >> 8).astype(np.uint8)


def _threshold_u8(x: Any) -> Any:
    return np.where(x > 128, _ON, _OFF)


def _normalise_u8(x: Any) -> Any:
    return x * _BYTE - _HALF


def _clip_i32(x: Any) -> Any:
    return np.clip(x, -1_000_000, 1_000_000)


def _mix_i32(a: Any, b: Any) -> Any:
    return (a * b + a) ^ (b >> 3)


def _hash_u32(x: Any) -> Any:
    x = (x ^ (x >> 16)) * 73244475
    x = (x ^ (x >> 16)) * 73244475
    return x ^ (x >> 16)


def _filter_i16(a: Any, b: Any, c: Any) -> Any:
    # Nothing overflows: Numba would have it in 64 bits.
    return (a >> 2) + (b >> 1) + (c >> 2)


def _floor_divide(a: Any) -> Any:
    return a // 7


def _remainder(a: Any) -> Any:
    return a % 1000


def _absolute(a: Any) -> Any:
    return np.abs(a)


_INTEGER = (
    _row("blend_u8", "integer", _blend_u8, flat("u1", "u1", "u1"), "uint8", core=True, large=True),
    _row("average_u8", "integer", _average_u8, flat("u1", "u1"), "uint8", core=True),
    _row("add_u8", "integer", _add, flat("u1", "u1"), "uint8", ufunc="add"),
    _row("saturated_u8", "integer", _saturated_u8, flat("u1", "u1"), "uint8"),
    _row("distance_u8", "integer", _distance_u8, flat("u1", "u1"), "uint8"),
    _row("luma_u8", "integer", _luma_u8, flat("u1", "u1", "u1"), "uint8"),
    _row("threshold_u8", "integer", _threshold_u8, flat("u1"), "uint8"),
    _row("normalise_u8", "integer", _normalise_u8, flat("u1"), "float32", scale=1.0, core=True),
    _row("add_i16", "integer", _add, flat("i2", "i2"), "int16", ufunc="add"),
    _row("multiply_i16", "integer", _multiply, flat("i2", "i2"), "int16", ufunc="multiply"),
    _row("filter_i16", "integer", _filter_i16, flat("i2", "i2", "i2"), "int16", core=True),
    _row("add_i32", "integer", _add, flat("i4", "i4"), "int32", ufunc="add"),
    _row("clip_i32", "integer", _clip_i32, flat("i4"), "int32", core=True, large=True),
    _row("mix_i32", "integer", _mix_i32, flat("i4", "i4"), "int32", core=True),
    _row("absolute_i32", "integer", _absolute, flat("i4"), "int32", ufunc="absolute"),
    _row("divide_by_7_i32", "integer", _floor_divide, flat("i4"), "int32"),
    _row("remainder_1000_i32", "integer", _remainder, flat("i4"), "int32"),
    _row("hash_u32", "integer", _hash_u32, flat("u4"), "uint32"),
    _row("add_i64", "integer", _add, flat("i8", "i8"), "int64", ufunc="add"),
    _row("multiply_i64", "integer", _multiply, flat("i8", "i8"), "int64", ufunc="multiply"),
    _row("mix_i64", "integer", _mix_i32, flat("i8", "i8"), "int64"),
    _row("bias_i16", "integer", _add, matrix("i2", "rc", "c"), "int16", ufunc="add"),
    _row("column_i32", "integer", _multiply, matrix("i4", "rc", "r1"), "int32", ufunc="multiply"),
)

# ---- bools -------------------------------------------------------------------------------------------------------


def _less(a: Any, b: Any) -> Any:
    return a < b


def _equal(a: Any, b: Any) -> Any:
    return a == b


def _between(x: Any, low: Any, high: Any) -> Any:
    return (x >= low) & (x < high)


def _where(mask: Any, a: Any, b: Any) -> Any:
    return np.where(mask, a, b)


def _where_less(a: Any, b: Any) -> Any:
    return np.where(a < b, a, b * b)


def _masks(a: Any, b: Any, c: Any) -> Any:
    return (a & b) | ~c


def _is_nan(x: Any) -> Any:
    return np.isnan(x)


def _is_finite(x: Any) -> Any:
    return np.isfinite(x)


def _replaced(x: Any) -> Any:
    return np.where(np.isnan(x), _HALF, x)


def _outside(x: Any) -> Any:
    return (x < -1) | (x > 1)


_BOOL = (
    _row("less_f32", "bool", _less, flat("f4", "f4"), "bool", ufunc="less", core=True, large=True),
    _row("less_f64", "bool", _less, flat("f8", "f8"), "bool", ufunc="less"),
    _row("equal_u8", "bool", _equal, flat("u1", "u1"), "bool", ufunc="equal"),
    _row("less_i16", "bool", _less, flat("i2", "i2"), "bool", ufunc="less"),
    _row("equal_i64", "bool", _equal, flat("i8", "i8"), "bool", ufunc="equal"),
    _row("causal_i32", "bool", _less, matrix("i4", "r1", "1c"), "bool", ufunc="less"),
    _row("between_f32", "bool", _between, flat("f4", "f4", "f4"), "bool", core=True),
    _row("outside_f64", "bool", _outside, flat("f8"), "bool"),
    _row("where_f32", "bool", _where, flat("?", "f4", "f4"), "float32", core=True, large=True),
    _row("where_f64", "bool", _where, flat("?", "f8", "f8"), "float64"),
    _row("where_u8", "bool", _where, flat("?", "u1", "u1"), "uint8"),
    _row("where_i16", "bool", _where, flat("?", "i2", "i2"), "int16"),
    _row("where_rows_f32", "bool", _where, matrix(("?", "f4", "f4"), "rc", "rc", "r1"), "float32"),
    _row("where_less_f32", "bool", _where_less, flat("f4", "f4"), "float32"),
    _row("masks_bool", "bool", _masks, flat("?", "?", "?"), "bool", core=True),
    _row("isnan_f32", "bool", _is_nan, flat("f4"), "bool", ufunc="isnan"),
    _row("isfinite_f64", "bool", _is_finite, flat("f8"), "bool", ufunc="isfinite"),
    _row("replace_nan_f32", "bool", _replaced, flat("f4"), "float32"),
)

# ---- several dtypes ----------------------------------------------------------------------------------------------


def _dequantised(x: Any, zero: Any) -> Any:
    return (x.astype(np.float32) - zero.astype(np.float32)) * _SCALE


def _quantised(x: Any) -> Any:
    return np.minimum(np.maximum(np.rint(x * _STEP), _LOW), _HIGH).astype(np.int8)


def _cast_i32(x: Any) -> Any:
    return (x * _THOUSAND).astype(np.int32)


def _masked_product(x: Any, mask: Any) -> Any:
    return x * mask


def _widened(a: Any, b: Any) -> Any:
    return a.astype(np.int32) * b.astype(np.int32)


def _image(x: Any, mean: Any, deviation: Any) -> Any:
    return (x * _BYTE - mean) / deviation


_MIXED = (
    _row("f32_and_f64", "mixed", _add, flat("f4", "f8"), "float64", ufunc="add", core=True),
    _row("i32_and_f32", "mixed", _multiply, flat("i4", "f4"), "float64", ufunc="multiply", core=True),
    _row("i16_and_f32", "mixed", _multiply, flat("i2", "f4"), "float32", ufunc="multiply"),
    _row("u8_and_f32", "mixed", _multiply, flat("u1", "f4"), "float32", ufunc="multiply", core=True),
    _row("u8_and_i16", "mixed", _add, flat("u1", "i2"), "int16", ufunc="add"),
    _row("i32_and_i64", "mixed", _add, flat("i4", "i8"), "int64", ufunc="add"),
    _row("i64_and_f64", "mixed", _multiply, flat("i8", "f8"), "float64", ufunc="multiply"),
    _row("mask_and_f32", "mixed", _masked_product, flat("f4", "?"), "float32", ufunc="multiply"),
    _row("widened_i16", "mixed", _widened, flat("i2", "i2"), "int32"),
    _row("dequantised_i8", "mixed", _dequantised, matrix("i1", "rc", "r1"), "float32", scale=10.0, core=True),
    _row("quantised_f32", "mixed", _quantised, flat("f4"), "int8"),
    _row("cast_i32", "mixed", _cast_i32, flat("f4"), "int32"),
    _row(
        "image_u8", "mixed", _image, inner_extents(("u1", "f4", "f4"), {"k": 3}, "nk", "k", "k"), "float32", scale=64.0
    ),
    _row("add_f16", "mixed", _add, flat("f2", "f2"), "float16", ufunc="add"),
    _row("f16_and_f32", "mixed", _multiply, flat("f2", "f4"), "float32", ufunc="multiply"),
)

ROWS: tuple[Workload, ...] = (*_INTEGER, *_BOOL, *_MIXED)
