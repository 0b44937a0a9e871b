"""The C and the reference values of casts.

In: a source and a target dtype.  Out: a C template, and NumPy values converted as it does.

    cast_c((F32,), dtype("u8"))                   -> "(uint8_t)(int32_t)bcg_from_zero_f32({0}, 255.0f)"
    cast_reference(np.float32(300.7), dtype("i8")) -> 127
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..core.dtypes import BOOL, F32, F64, I32, DType, dtype

__all__ = ["cast_c", "cast_reference", "truncated_c"]


def cast_c(operands: tuple[DType, ...], result: DType) -> str:
    """Return the C of NumPy's cast; cases that NumPy leaves to the machine are defined."""
    source = operands[0]
    if source.is_complex:
        return _of_complex(source, result)
    if result.is_complex:
        return f"bcg_make_{result}({_real_cast(source, result.part)}, 0)"
    return _real_cast(source, result)


def _real_cast(source: DType, result: DType) -> str:
    if source.is_storage or result.is_storage:
        return _of_storage(source, result) if source.is_storage else _to_storage(source, result)
    if result is BOOL:
        return "({0} != 0)"
    if source is BOOL and result.is_float:
        # gcc does not vectorise a conversion here.
        return f"({{0}} ? 1.0{_suffix(result)} : 0.0{_suffix(result)})"
    if result.is_float16:
        return _to_half(source)
    if not (source.is_float and result.is_integer):
        # Without AVX-512 no instruction does so for a vector.
        splits = source.is_integer and source.bits == 64 and result is F64
        return f"bcg_{source}_to_f64({{0}})" if splits else f"({result.c}){{0}}"
    return truncated_c("{0}", source, result)


def _of_storage(source: DType, result: DType) -> str:
    """Return the C of a storage type's cast: its value as a float or a byte, and the cast of that."""
    if result is source:
        return "{0}"
    if source.is_small_float:
        value, wide = _small_call("bcg_{}_to_f32", source, "{0}"), F32
    else:
        wide = dtype("i8" if source.kind == "signed" else "u8")
        mask = f"{source.max}u" if source.kind == "unsigned" else f"{1 << (source.bits - 1)}u"
        value = f"bcg_low_{source.kind}({{0}}, {mask})"
    return value if result is wide else _real_cast(wide, result).replace("{0}", value)


def _to_storage(source: DType, result: DType) -> str:
    """Return the C of a cast to a storage type: by rounding once, or by keeping the low bits of an integer."""
    if result.is_small_float:
        value = _real_cast(BOOL, F32) if source is BOOL else _to_half(source)
        return _small_call("bcg_f32_to_{}", result, value)
    value = truncated_c("{0}", source, I32) if source.is_float else "{0}"
    return f"bcg_low_unsigned((uint32_t){value}, {(1 << result.bits) - 1}u)"


def _small_call(name: str, row: DType, value: str) -> str:
    """Return the call of a small float's helper, with the format as constants."""
    small = row.small
    assert small is not None
    if small.is_scale:
        return f"{name.format('scale')}({value})"
    codes = ", ".join(f"0x{code:02x}u" for code in (small.sign, small.largest, small.overflow, small.nan))
    return f"{name.format('small')}({value}, {small.mantissa}, {small.bias}, {codes})"


def _of_complex(source: DType, result: DType) -> str:
    """Return the C of a complex number's cast: to real numbers it drops the imaginary part, as NumPy does."""
    if result is BOOL:
        return f"bcg_is_true_{source}({{0}})"
    if result.is_complex:
        return "{0}" if result is source else f"bcg_{source}_to_{result}({{0}})"
    return cast_c((source.part,), result).replace("{0}", "{0}.re")


def truncated_c(x: str, source: DType, result: DType) -> str:
    """Return the C of a float's whole part as an integer: NaN is 0, and numbers out of range saturate.

    Examples
    --------
    >>> from bcastgen.core.dtypes import I64
    >>> truncated_c("x", F32, I64)
    'bcg_truncate_i64_f32(x, -0x1p63f, 0x1.fffffep62f, 0x7fffffffff)'
    """
    suffix, digits = _suffix(source), 24 if source.computed_in is F32 else 53
    # These last bits of the largest integer are 0 in the largest float that is in range.
    rest = (1 << max(result.max.bit_length() - digits, 0)) - 1
    least = "-0.0" if result.kind == "unsigned" else f"-0x1p{result.bits - 1}"
    wide = ("u" if result.kind == "unsigned" and result.bits >= 32 else "i") + str(max(result.bits, 32))
    ends = f"{least}{suffix}, {_digits(result.max - rest)}{suffix}"
    if result.kind == "unsigned" and result.bits < 32:
        # NaN becomes the lower end, which is 0.
        return f"({result.c})(int32_t)bcg_from_zero_{source.computed_in}({x}, {result.max}.0{suffix})"
    call = f"bcg_truncate_{wide}_{source.computed_in}({x}, {ends}, {hex(rest) if rest else 0})"
    return call if result.bits >= 32 else f"({result.c}){call}"


def _digits(value: int) -> str:
    """Spell a whole number as a float, in decimal where that is short."""
    return f"{value}.0" if value < 1 << 32 else re.sub(r"0*p\+", "p", float(value).hex())


def _suffix(dtype: DType) -> str:
    return "f" if dtype.computed_in is F32 else ""


def _to_half(source: DType) -> str:
    """Return the C of the f32 that is then rounded to 16 bits; inexact values round to odd, so no tie is made up."""
    if source.computed_in is F32:
        return "{0}"
    return "(float){0}" if source.bits <= 16 else f"bcg_odd_{source}({{0}})"


def cast_reference(x: Any, target: DType) -> Any:
    """Convert as the cast row does: NaN to integer is 0, other out-of-range floats saturate, integers wrap."""
    x = np.asarray(x)
    with np.errstate(all="ignore"):
        source = dtype(x.dtype)
        if source.is_storage:
            x = x.astype(np.float32 if source.is_small_float else np.int8 if source.kind == "signed" else np.uint8)
        if target.is_added and x.dtype.kind == "c":
            x = x.real
        if target.is_float and target.is_added:
            return _to_f32_odd(x).astype(target.np)
        if target.is_storage:
            # Floats become i32, and saturate there; then the low bits are kept.
            whole = x if x.dtype.kind in "biu" else cast_reference(x, I32)
            return whole.astype(np.int8 if target.kind == "signed" else np.uint8).astype(target.np)
        if x.dtype.kind == "c":
            return x.astype(target.np) if target is BOOL or target.is_complex else cast_reference(x.real, target)
        if x.dtype.kind not in "biuf":
            x = x.astype(np.float32)
        if not (target.is_integer and x.dtype.kind == "f"):
            return x.astype(target.np)
        inside = np.where(np.isnan(x), 0, x)
        low, high = (inside <= float(target.min)), (inside >= float(target.max))
        safe = np.where(low | high, 0, inside).astype(target.np)
        return np.where(low, target.np.type(target.min), np.where(high, target.np.type(target.max), safe))


def _to_f32_odd(x: Any) -> Any:
    """Convert to f32 towards 0, with the last bit set if that is inexact: rounding this to 16 bits rounds once."""
    if x.dtype.kind not in "iuf" or x.dtype.itemsize < 4 or x.dtype == np.float32:
        return x.astype(np.float32)
    near = x.astype(np.float32)
    # A long double of 64 bits holds every source exactly.
    exact, back = x.astype(np.longdouble), near.astype(np.longdouble)
    bits = near.view(np.uint32) if near.ndim else near.reshape(1).view(np.uint32)[0]
    odd = (bits - (np.abs(back) > np.abs(exact)).astype(np.uint32)) | (back != exact).astype(np.uint32)
    return np.where(np.isnan(near), near, np.asarray(odd, np.uint32).view(np.float32))
