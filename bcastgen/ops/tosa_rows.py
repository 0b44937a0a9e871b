"""The rows of the table of ops that TOSA has and NumPy has not.

In: nothing.  Out: :data:`TOSA_ROWS`, which :mod:`.table` joins to its table.

    tosa_cast(2.5) to i8 -> 2            truncate_divide(-7, 2) -> -3        clz(u8 1) -> 7

Their meaning is the TOSA specification's (1.0). Cases it leaves open are defined as NumPy's
rows define it: integers wrap, x / 0 is 0, a shift count outside [0, width) shifts everything out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtypes import C64, F32, I32, DType, dtype
from . import dtype_rules as rules
from .casts import cast_c, cast_reference, truncated_c
from .facts import IntegerFacts, Mlir
from .row import Op, Param
from .rows.bits import SHIFT_UNSIGNED, by_count

__all__ = ["TOSA_ROWS"]

Array = np.ndarray[Any, Any]

# ---- C ------------------------------------------------------------------------------------------------------------


def _cast_c(operands: tuple[DType, ...], result: DType) -> str:
    source = operands[0]
    if source.is_complex and result.is_integer:
        own = _cast_c((source.part,), result).replace("{f}", "f" if source is C64 else "")
        return own.replace("{0}", "{0}.re")
    if not (source.is_float and result.is_integer):
        return cast_c(operands, result)
    if source.is_small_float:
        return _cast_c((F32,), result).replace("{f}", "f").replace("{0}", cast_c(operands, F32))
    whole = truncated_c("rint{f}({0})", source, result)
    return cast_c((I32,), result).replace("{0}", whole) if result.is_storage else whole


def _negate_c(operands: tuple[DType, ...], result: DType) -> str:
    if result.bits >= 32:
        return "({T})(({W}){1} + ({W}){2} - ({W}){0})"
    if result.kind == "signed":
        name = result.numpy.upper()
        return f"({{T}})bcg_saturate_i32({{1}} + {{2}} - {{0}}, {name}_MIN, {name}_MAX)"
    # A number is written as an unsigned one, and the sum is one of ints.
    total = "(int32_t){1} + (int32_t){2} - (int32_t){0}"
    return f"({{T}})bcg_saturate_i32({total}, 0, {result.numpy.upper()}_MAX)"


def _clz_c(operands: tuple[DType, ...], result: DType) -> str:
    if result.bits == 64:
        return "bcg_clz_u64((uint64_t){0})" if result.kind == "signed" else "({T})bcg_clz_u64((uint64_t){0})"
    padding = f" - {32 - result.bits}" * (result.bits < 32)
    return f"({{T}})(bcg_clz_u32((uint{{bits}}_t){{0}}){padding})"


# ---- references -----------------------------------------------------------------------------------------------------


def _as(x: Any, loop: Any) -> Array:
    """Give an operand a dtype; a Python int that does not fit raises."""
    return np.asarray(x, loop) if isinstance(x, int) else np.asarray(x).astype(loop)


def _integers(*operands: Any) -> list[Array]:
    """Give operands the dtype they promote to, bools i8."""
    loop = np.result_type(*operands)
    return [_as(x, np.int8 if loop.kind == "b" else loop) for x in operands]


def _unsigned(x: Array) -> Array:
    return x.astype(f"u{x.dtype.itemsize}")


def _cast(x: Any, target: DType) -> Any:
    x = np.asarray(x)
    if target.is_integer and x.dtype.kind not in "biu":
        x = x.real if x.dtype.kind == "c" else x
        # To NumPy, bf16 is no float.
        x = x.astype(np.float32) if dtype(x.dtype).is_added else x
        x = np.rint(x) if x.dtype.kind == "f" else x
        if target.is_storage:
            x = np.where(x == x, x, 0).clip(target.min, target.max)
    return cast_reference(x, target)


def _negate(x: Any, in_zero: Any, out_zero: Any) -> Any:
    x, in_zero, out_zero = _integers(x, in_zero, out_zero)
    if x.dtype.itemsize > 2:
        return in_zero + out_zero - x
    limits = np.iinfo(x.dtype)
    wide = in_zero.astype(np.int64) + out_zero.astype(np.int64) - x.astype(np.int64)
    return wide.clip(limits.min, limits.max).astype(x.dtype)


def _wrapped_i32(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


def _multiply_shift(x: Any, y: Any, shift: Any) -> Any:
    def exact(x: Any, y: Any, shift: Any) -> int:
        product, places = int(x) * int(y), int(shift)
        if places > 63:
            return -1 if product < 0 else 0
        return _wrapped_i32(product if places <= 0 else (product + (1 << (places - 1))) >> places)

    given = _as(x, np.int32), _as(y, np.int32), _as(shift, np.int8)
    return np.asarray(np.frompyfunc(exact, 3, 1)(*given)).astype(np.int32)


def _rounding_right_shift(x: Any, n: Any) -> Any:
    x, n = _integers(x, n)
    width = 8 * x.dtype.itemsize
    inside = (n > 0) & (n < width)
    half = np.right_shift(x, np.where(inside, n, 1) - np.ones_like(n)) & np.ones_like(x)
    return np.right_shift(x, n) + np.where(inside, half, 0).astype(x.dtype)


def _truncate_divide(x: Any, y: Any) -> Any:
    x, y = _integers(x, y)
    floor = np.floor_divide(x, y)
    inexact = (y != 0) & (np.remainder(x, y) != 0)
    return floor + (inexact & ((x < 0) != (y < 0))).astype(x.dtype)


def _logical_right_shift(x: Any, n: Any) -> Any:
    x, n = _integers(x, n)
    # As an unsigned count, a negative one is too large.
    return np.right_shift(_unsigned(x), _unsigned(n)).astype(x.dtype)


def _clz(x: Any) -> Any:
    (x,) = _integers(x)
    bits = _unsigned(x)
    places: list[Array] = [bits >> np.asarray(place, bits.dtype) == 0 for place in range(8 * x.dtype.itemsize)]
    return sum(place.astype(x.dtype) for place in places)


TOSA_ROWS: tuple[Op, ...] = (
    Op(
        "tosa_cast",
        1,
        rules.by_parameter,
        _cast_c,
        "Conversion to `dtype` as in TOSA: floats to the nearest integer, halves to even, NaN is 0, others saturate; "
        "integers wrap.",
        reference=_cast,
        params=(Param("dtype", "the dtype to convert to"),),
        mlir=Mlir("@tosa_cast_lines"),
    ),
    Op(
        "tosa_negate",
        3,
        rules.integers,
        _negate_c,
        "Second + third - first, as TOSA negates with zero points: 8 and 16 bits saturate, others wrap.",
        reference=_negate,
        mlir=Mlir("@tosa_negate"),
    ),
    Op(
        "tosa_multiply_shift",
        3,
        rules.by_signatures("tosa_multiply_shift", "i32,i32,i8->i32", 3),
        "bcg_multiply_shift_i32({0}, {1}, {2})",
        "Product of the first two over 2 to the third, as TOSA multiplies i32: halves round up; no shift for a third "
        "<= 0, only the sign for one > 63; the result wraps.",
        reference=_multiply_shift,
        mlir=Mlir({"signed": "@MULTIPLY_SHIFT"}),
    ),
    Op(
        "rounding_right_shift",
        2,
        rules.shift,
        {
            "signed": "({T})({1} <= 0 || {1} >= {bits} ? {0} >> ({1} == 0 ? 0 : {bits} - 1)"
            " : ({0} >> {1}) + (({0} >> ({1} - 1)) & 1))",
            "unsigned": "({T})({1} == 0 ? {0} : {1} >= {bits} ? 0 : ({0} >> {1}) + (({0} >> ({1} - 1)) & 1))",
        },
        "right_shift, rounded to the nearest with halves up; a count outside [0, width) leaves only the sign.",
        reference=_rounding_right_shift,
        integers=IntegerFacts(demanded="right"),
        mlir=Mlir({"signed": "@ROUNDING_RIGHT_SHIFT", "unsigned": "@ROUNDING_RIGHT_SHIFT_UNSIGNED"}),
    ),
    Op(
        "truncate_divide",
        2,
        rules.shift,
        {"signed": "({T})bcg_truncate_divide_{h}({0}, {1})", "unsigned": "({T})bcg_floor_divide_{h}({0}, {1})"},
        "Quotient of integers rounded towards 0; x / 0 is 0 and INT_MIN / -1 is INT_MIN.",
        reference=_truncate_divide,
        cost_tenths_ns=20.0,
        mlir=Mlir({"signed": "@TRUNCATE_DIVIDE", "unsigned": "@DIVIDE_UNSIGNED"}),
    ),
    Op(
        "logical_right_shift",
        2,
        rules.shift,
        {
            "signed": "({T})(({1} < 0 || {1} >= {bits}) ? 0 : (uint{bits}_t){0} >> {1})",
            "unsigned": SHIFT_UNSIGNED,
        },
        "Shift towards the low bits, filling with zeros; a count outside [0, width) gives 0.",
        reference=_logical_right_shift,
        forms=by_count("({T})((uint{bits}_t){0} >> {1})"),
        integers=IntegerFacts(demanded="right"),
        mlir=Mlir({"integer": "@LOGICAL_RIGHT_SHIFT"}),
    ),
    Op(
        "clz",
        1,
        rules.integers,
        _clz_c,
        "Number of zero bits above the highest one; the width for 0.",
        reference=_clz,
        mlir=Mlir({"integer": "math.ctlz {0} : {t}"}),
    ),
)
