"""Rows of how numbers are written: digits, exponents, neighbours, whole parts, divisors, bits.

In: nothing.  Out: rows, in the order in which they are listed.

    OPS["spacing"].c_for((F32,), F32)  ->  "bcg_spacing_f32({0})"

A function of NumPy with several results (modf, frexp) is one row for each of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.dtypes import BF16, F16, F32, F64, DType, dtype
from .. import dtype_rules as rules
from ..c_forms import FAR_QUOTIENT, CForms, CTemplate, near_quotient
from ..casts import cast_c, cast_reference
from ..facts import UNCHANGED, Mlir
from ..row import Op

__all__ = ["NUMBERS"]


def _of_integers(name: str) -> dict[str, str]:
    return dict.fromkeys(("signed", "unsigned"), f"({{T}})bcg_{name}_{{h}}({{0}}, {{1}})")


def _fmod(operands: tuple[DType, ...], _: DType) -> str:
    match operands[0].kind:
        case "float":
            return "fmod{f}({0}, {1})"
        case "signed":
            return "({T})bcg_fmod_{h}({0}, {1})"
    return "({T})bcg_remainder_u64({0}, {1})" if operands[0].bits == 64 else "({T})bcg_remainder_lanes_u32({0}, {1})"


def _by_dtype(name: str, operands: str) -> CTemplate:
    """Return the C of a function that has a form for each float, also for those of 16 bits."""
    return lambda dtypes, _: f"bcg_{name}_{dtypes[0].name}({operands})"


_LARGEST = {
    F16.name: "65504.0f",
    BF16.name: "0x1.fep+127f",
    F32.name: "0x1.fffffep+127f",
    F64.name: "0x1.fffffffffffffp+1023",
}


def _nextafter(x: Any, y: Any) -> Any:
    """Return numpy.nextafter, with y where x equals y, as in C: NumPy gives this zero for float16 only since 2.5."""
    value = np.nextafter(x, y)
    if value.dtype != np.float16:
        return value
    return np.where(np.equal(x, y), np.asarray(y, np.float16), value)


def _nan_to_num(operands: tuple[DType, ...], _: DType) -> str:
    kind = operands[0]
    if kind.is_complex:
        parts = (_finite("{0}" + part, kind.part) for part in (".re", ".im"))
        return f"bcg_make_{kind}({', '.join(parts)})"
    return _finite("{0}", kind) if kind.is_float else "{0}"


def _finite(x: str, kind: DType) -> str:
    huge = _LARGEST[kind.name]
    return f"({x} != {x} ? 0 : bcg_clip_{kind.computed_in}({x}, -{huge}, {huge}))"


def _numbered(x: Any) -> Any:
    x = np.asarray(x)
    kind = dtype(x.dtype)
    if kind.is_complex:
        made = np.empty_like(x)
        made.real, made.imag = _numbered(x.real), _numbered(x.imag)
        return made
    if not kind.is_float:
        return x
    huge = np.nextafter(kind.np.type(np.inf), kind.np.type(0))
    return np.where(np.isnan(x), kind.np.type(0), np.clip(x, -huge, huge)).astype(kind.np)


def _filled_c(operands: tuple[DType, ...], result: DType) -> str:
    value = cast_c(operands[1:], result)
    # Compilers warn of a variable that nothing reads, and the first operand gives its dtype and shape only.
    return f"((void){{0}}, {value.replace('{0}', '{1}')})"


def _filled(x: Any, value: Any) -> Any:
    kind = dtype(np.asarray(x).dtype)
    if isinstance(value, int) and not isinstance(value, bool):
        return np.where(True, np.full_like(np.asarray(x), value), np.full_like(np.asarray(x), value))
    shape = np.broadcast_shapes(np.shape(x), np.shape(value))
    return np.broadcast_to(cast_reference(np.asarray(value), kind), shape)


def _part(function: Callable[..., Any], at: int) -> Callable[..., Any]:
    """Return the function that gives one of several results."""
    return lambda x: function(x)[at]


NUMBERS: tuple[Op, ...] = (
    Op(
        "fabs",
        1,
        rules.floating,
        "fabs{f}({0})",
        "Magnitude, as a float.",
        representable=True,
        mlir=Mlir({"float": "math.absf"}),
    ),
    Op(
        "fmod",
        2,
        rules.bool_as_i8,
        _fmod,
        "Remainder with the sign of the first operand, as C's; of an integer by 0 it is 0.",
        cost_tenths_ns={"signed": 5.0, "unsigned": 4.0, "float": 4.0},
        forms=CForms(
            range_tests=FAR_QUOTIENT,
            test_by_constant=near_quotient,
            common_case={"float": "bcg_fmod_common_{t}({0}, {1})"},
            scalar=True,
        ),
        mlir=Mlir({"signed": "@FMOD", "unsigned": "@REMAINDER_UNSIGNED", "float": "arith.remf"}),
        pole="b == 0",
    ),
    Op(
        "heaviside",
        2,
        rules.floating,
        "({0} > 0 ? ({V})1 : {0} < 0 ? ({V})0 : {0} == 0 ? {1} : {0})",
        "1 above 0, 0 below, the second operand at 0; NaN stays NaN.",
        representable=True,
        mlir=Mlir({"float": "@HEAVISIDE"}),
    ),
    Op(
        "modf_fraction",
        1,
        rules.floating,
        "copysign{f}(fabs{f}({0}) > {huge} ? 0 : {0} - trunc{f}({0}), {0})",
        "What truncation leaves of the operand, with its sign; the first result of modf.",
        reference=_part(np.modf, 0),
        representable=True,
        mlir=Mlir({"float": "@MODF_FRACTION"}),
    ),
    Op(
        "modf_whole",
        1,
        rules.floating,
        "trunc{f}({0})",
        "Whole part, as a float; the second result of modf.",
        reference=_part(np.modf, 1),
        representable=True,
        mlir=Mlir({"float": "math.trunc"}),
    ),
    Op(
        "frexp_mantissa",
        1,
        rules.floating,
        "bcg_frexp_mantissa_{t}({0})",
        "The factor in [1/2, 1) of the operand's power of two; 0, infinities and NaN stay. The first result of frexp.",
        reference=_part(np.frexp, 0),
        representable=True,
    ),
    Op(
        "frexp_exponent",
        1,
        rules.exponent,
        "bcg_frexp_exponent_{t}({0})",
        "The exponent of that power, an i32; 0 for 0, infinities and NaN. The second result of frexp.",
        reference=_part(np.frexp, 1),
    ),
    Op(
        "ldexp",
        2,
        rules.scaled,
        "bcg_ldexp_{t}({0}, {1})",
        "The first times 2 to the power of the second, an integer; rounded once.",
        cost_tenths_ns=2.0,
    ),
    Op(
        "nextafter",
        2,
        rules.floating,
        _by_dtype("nextafter", "{0}, {1}"),
        "The next number of the dtype after the first on the way to the second.",
        reference=_nextafter,
        of_digits=True,
    ),
    Op(
        "spacing",
        1,
        rules.floating,
        _by_dtype("spacing", "{0}"),
        "Distance to the next number of the dtype away from 0, with the operand's sign; of f16 positive, as in NumPy.",
        of_digits=True,
    ),
    Op(
        "nan_to_num",
        1,
        rules.arithmetic,
        _nan_to_num,
        "The operand with 0 for NaN, and the largest numbers of the dtype for infinities; integers stay.",
        reference=_numbered,
        representable=True,
        of_digits=True,
        integers=UNCHANGED,
    ),
    Op(
        "full_like",
        2,
        rules.like_first,
        _filled_c,
        "The second operand, converted to the dtype of the first, in the shape of both.",
        reference=_filled,
        mlir=Mlir("@filled"),
    ),
    Op(
        "gcd",
        2,
        rules.divisors,
        _of_integers("gcd"),
        "Greatest common divisor of magnitudes; that of x and 0 is |x|.",
        cost_tenths_ns=100.0,
        mlir=Mlir({"signed": "@gcd signed", "unsigned": "@gcd unsigned"}),
    ),
    Op(
        "lcm",
        2,
        rules.divisors,
        _of_integers("lcm"),
        "Least common multiple of magnitudes; it wraps, and that of x and 0 is 0.",
        cost_tenths_ns=110.0,
        mlir=Mlir({"signed": "@lcm signed", "unsigned": "@lcm unsigned"}),
    ),
    Op(
        "bitwise_count",
        1,
        rules.counted,
        {
            "signed": "({T})bcg_count_bits_{w}(bcg_magnitude_{h}({0}))",
            "unsigned": "({T})bcg_count_bits_{w}({0})",
        },
        "Number of bits of the magnitude that are 1, as u8.",
        cost_tenths_ns=1.5,
        mlir=Mlir("@bitwise_count"),
    ),
)
