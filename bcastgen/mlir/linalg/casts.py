"""Spells casts in arith and math, bit for bit as generated C converts.

In: a source and a target dtype.  Out: lines of a spelling (see rows.py).

    f32 -> i8    arith.fptosi inside the range, else the end of the range, and 0 for NaN
    i64 -> bf16  through an f64 and an f32 that keep ties apart from non-ties, so that it rounds once
"""

from __future__ import annotations

import re

from ...core.dtypes import BF16, I32, DType
from ...core.errors import BcastgenError
from .types import compute_type, signless

__all__ = ["cast_lines", "tosa_cast_lines"]


def cast_lines(operands: tuple[DType, ...], result: DType) -> str:
    """Spell a cast that truncates and saturates floats, gives 0 for NaN, and wraps integers."""
    source = operands[0]
    if source.is_complex or result.is_complex:
        return _of_complex(source, result) if source.is_complex else _to_complex(source, result)
    return _real_cast(source, result)


def _real_cast(source: DType, result: DType) -> str:
    if any(dtype.small is not None and dtype.small.is_scale for dtype in (source, result)):
        raise BcastgenError(f"arith rounds casts of {source} to {result} otherwise; leave them to the kernel's C")
    if result.kind == "bool" and source.is_float:
        return "arith.cmpf une, {0}, #0.0 : {t}"
    if result.kind == "bool":
        return "{0}" if source.kind == "bool" else "arith.cmpi ne, {0}, #0 : {t}"
    if source.is_float:
        return _float_to_float(source, result) if result.is_float else _float_to_integer(result)
    if result.is_float:
        return _integer_to_float(source, result)
    width = 1 if source.kind == "bool" else source.bits
    if width == result.bits:
        return "{0}"
    widen = "arith.extsi" if source.kind == "signed" else "arith.extui"
    return f"{widen if width < result.bits else 'arith.trunci'} {{0}} : {{t}} to {{T}}"


def _of_complex(source: DType, result: DType) -> str:
    """Spell a cast of a complex number: to real numbers it drops the imaginary part."""
    part, whole = signless(source.part), signless(source)
    if result.kind == "bool":
        zero = f"#0.0:{part}"
        return f"%zero = complex.create {zero}, {zero} : {whole}\ncomplex.neq {{0}}, %zero : {whole}"
    if result is source:
        return "{0}"
    real = f"%re = complex.re {{0}} : {whole}"
    if result.is_complex:
        end = signless(result.part)
        convert = "arith.extf" if end == "f64" else "arith.truncf"
        return f"""
            {real}
            %im = complex.im {{0}} : {whole}
            %re_part = {convert} %re : {part} to {end}
            %im_part = {convert} %im : {part} to {end}
            complex.create %re_part, %im_part : {signless(result)}"""
    # The constants of a cast's lines have the type of its operand, which is the part here.
    lines = re.sub(r"(#-?[\w.]+)(?![\w.:])", rf"\1:{part}", cast_lines((source.part,), result))
    return f"{real}\n{lines.replace('{0}', '%re').replace('{t}', part)}"


def _to_complex(source: DType, result: DType) -> str:
    """Spell a cast of a real number to a complex one."""
    *lines, last = cast_lines((source,), result.part).replace("{T}", signless(result.part)).strip().splitlines()
    real = last if last == "{0}" else "%re"
    made = [*lines, *([] if real == last else [f"%re = {last.strip()}"])]
    return "\n".join((*made, f"complex.create {real}, #0.0:{signless(result.part)} : {signless(result)}"))


def _float_to_float(source: DType, result: DType) -> str:
    start, end = compute_type(source), signless(result)
    if start == end:
        return "{0}"
    if start == "f64" and result is BF16:
        return _DOUBLE_TO_BF16.replace("$", "{0}")
    return f"arith.{'extf' if end == 'f64' else 'truncf'} {{0}} : {start} to {end}"


def _integer_to_float(source: DType, result: DType) -> str:
    convert = "arith.sitofp" if source.kind == "signed" else "arith.uitofp"
    if result is not BF16 or source.bits < 32:
        return f"{convert} {{0}} : {{t}} to {signless(result)}"
    magnitude = "math.absi {0} : i64" if source.kind == "signed" else "arith.ori {0}, #0 : i64"
    start = "{0}" if source.bits == 32 else "%kept"
    kept = _KEPT.replace("$", magnitude) if source.bits == 64 else ""
    return f"{kept}%wide = {convert} {start} : {{t}} to f64{_DOUBLE_TO_BF16.replace('$', '%wide')}"


# Avoid rounding twice: an f64 becomes an f32 by rounding to odd, which keeps ties and non-ties of bf16 apart.
_DOUBLE_TO_BF16 = """
    %near = arith.truncf $ : f64 to f32
    %back = arith.extf %near : f32 to f64
    %magnitude = math.absf $ : f64
    %reached = math.absf %back : f64
    %over = arith.cmpf ogt, %reached, %magnitude : f64
    %bits = arith.bitcast %near : f32 to i32
    %less = arith.subi %bits, #1:i32 : i32
    %towards0 = arith.select %over, %less, %bits : i32
    %odd = arith.ori %towards0, #1:i32 : i32
    %inexact = arith.cmpf one, %back, $ : f64
    %exact_or_odd = arith.select %inexact, %odd, %bits : i32
    %single = arith.bitcast %exact_or_odd : i32 to f32
    arith.truncf %single : f32 to bf16"""
# Replace the low bits of a large integer by one sticky bit, so that an f64 holds it exactly.
_KEPT = f"""
    %low = arith.andi {{0}}, #65535 : i64
    %some = arith.cmpi ne, %low, #0 : i64
    %high = arith.andi {{0}}, #-65536 : i64
    %sticky = arith.ori %high, #65536 : i64
    %odd_int = arith.select %some, %sticky, %high : i64
    %size = $
    %large = arith.cmpi uge, %size, #{1 << 40} : i64
    %kept = arith.select %large, %odd_int, {{0}} : i64
    """


def _float_to_integer(result: DType) -> str:
    if result.is_storage:
        # The low bits of an i32 count, as which it saturates.
        lines, _, last = _float_to_integer(I32).rpartition("\n")
        whole = f"{lines}\n%all = {last.strip()}".replace("{T}", "i32")
        return f"{whole}\n        arith.trunci %all : i32 to {{T}}"
    return _saturated(result)


def _saturated(result: DType) -> str:
    signed = result.kind == "signed"
    low, high = (f"-{1 << (result.bits - 1)}.0" if signed else "0.0"), f"{1 << (result.bits - signed)}.0"
    convert = "arith.fptosi" if signed else "arith.fptoui"
    # The conversion is poison out of range and for NaN, so such values are replaced before it.
    return f"""
        %above = arith.cmpf ogt, {{0}}, #{low} : {{t}}
        %below = arith.cmpf olt, {{0}}, #{high} : {{t}}
        %in = arith.andi %above, %below : i1
        %safe = arith.select %in, {{0}}, #0.0 : {{t}}
        %whole = {convert} %safe : {{t}} to {{T}}
        %high = arith.cmpf oge, {{0}}, #{high} : {{t}}
        %low = arith.cmpf ole, {{0}}, #{low} : {{t}}
        %or_high = arith.select %high, #{result.max}:{{T}}, %whole : {{T}}
        arith.select %low, #{result.min}:{{T}}, %or_high : {{T}}"""


def tosa_cast_lines(operands: tuple[DType, ...], result: DType) -> str:
    """Spell a cast that rounds floats to the nearest integer, ties to the even one."""
    if not (operands[0].is_float and result.is_integer):
        return cast_lines(operands, result)
    return "%rounded = math.roundeven {0} : {t}" + _saturated(result).replace("{0}", "%rounded")
