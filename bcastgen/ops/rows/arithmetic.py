"""Rows of arithmetic: sums, products, quotients, powers, signs.

In: nothing.  Out: rows, in the order in which they are listed.

    OPS["add"].c_for((I8, I8), I8)  ->  "(int8_t)((uint32_t){0} + (uint32_t){1})"
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.dtypes import DType
from .. import dtype_rules as rules
from ..c_forms import FAR_QUOTIENT, NORMAL, CForms, RangeTest, near_quotient
from ..facts import UNCHANGED, FloatFacts, IntegerFacts, Mlir
from ..row import Op

__all__ = ["ARITHMETIC"]


def _wrapping(symbol: str, for_bool: str | None) -> dict[str, str]:
    integer = f"({{T}})(({{W}}){{0}} {symbol} ({{W}}){{1}})"
    rows = {"signed": integer, "unsigned": integer, "float": f"({{0}} {symbol} {{1}})"}
    return rows if for_bool is None else rows | {"bool": for_bool}


def _absolute(operands: tuple[DType, ...], result: DType) -> str:
    match result.kind:
        case "float":
            return "fabs{f}({0})"
        case "signed" if result.bits < 32:
            return "({T})({0} < 0 ? 0u - ({W}){0} : ({W}){0})"
        case "signed":
            return "({0} > ({T})(0u - ({W}){0}) ? {0} : ({T})(0u - ({W}){0}))"
    return "{0}"


# C divides by a constant in a few multiplications; few machines give the high half of a product of 64-bit lanes.
_COST_BY_CONSTANT = {16: 0.6, 32: 2.2, 64: 3.0}


def _by_constant(name: str) -> Callable[[DType, float], str | None]:
    """Return the C of a quotient or remainder of integers by a constant, for which C multiplies."""

    def c(dtype: DType, constant: float) -> str | None:
        if not dtype.is_integer:
            return None
        if dtype.bits == 64 and constant > 1:
            shift = (int(constant) - 1).bit_length() - 1
            factor = (((2 << shift) - int(constant)) << 64) // int(constant) + 1
            return f"bcg_{name}_by_{{t}}({{0}}, {{1}}, UINT64_C({factor}), {shift})"
        if dtype.kind == "signed" and dtype.bits < 64:
            return f"bcg_{name}_by_{{t}}({{0}}, {{1}})"
        return f"({{T}})bcg_{name}_{{h}}({{0}}, {{1}})"

    return c


def _division(name: str) -> Callable[[tuple[DType, ...], DType], str]:
    """Return the C of a quotient or remainder by a divisor known at run time; up to 32 bits it computes in doubles."""

    def c(operands: tuple[DType, ...], result: DType) -> str:
        kind = operands[0].kind
        if kind == "float":
            return f"bcg_{name}_{{t}}({{0}}, {{1}})"
        if operands[0].bits == 64:
            return f"({{T}})bcg_{name}_{{h}}({{0}}, {{1}})"
        return f"({{T}})bcg_{name}_lanes_{{h}}({{0}}, {{1}})"

    return c


def _division_forms(name: str) -> CForms:
    return CForms(
        range_tests=FAR_QUOTIENT,
        test_by_constant=near_quotient,
        common_case={"float": f"bcg_{name}_common_{{t}}({{0}}, {{1}})"},
        scalar=True,
        by_constant={None: (_by_constant(name), _COST_BY_CONSTANT)},
    )


def _reciprocal(x: Any) -> Any:
    """Return NumPy's reciprocal, except that 1 / 0 of integers is 0, which NumPy leaves to the machine."""
    value = np.reciprocal(x)
    return value if value.dtype.kind == "f" else np.where(np.equal(x, 0), value.dtype.type(0), value)


# Powers whose exponent has at most six bits.
_FEW_POWERS = "({T})bcg_power_common_{w}(({W}){0}, ({W}){1})"
_NOT_FAR = RangeTest(
    "{W}",
    "bcg_bits_{t}(bcg_power_size_{t}({0}, {1}))",
    "BCG_MOST_POWER_{N}",
    "power({0}, {1}) is far from the ends of the range",
)
_POWER_FORMS = CForms(
    fast={"float": "bcg_power_fast_{t}({0}, {1})"},
    fast_ulp=4,
    range_tests={
        **dict.fromkeys(("signed", "unsigned"), (RangeTest("{V}", "{1}", "63", "{1} <= 63"),)),
        "float": (NORMAL, _NOT_FAR),
    },
    common_case={"signed": _FEW_POWERS, "unsigned": _FEW_POWERS, "float": "bcg_power_common_{t}({0}, {1})"},
    fast_common_case={"float": "bcg_power_fast_common_{t}({0}, {1})"},
    pairs=("f32", "f64"),
    by_constant={
        exponent: (
            {
                "signed": f"({{T}})bcg_{name}_u64((uint64_t){{0}})",
                "unsigned": f"({{T}})bcg_{name}_u64({{0}})",
                "float": f"bcg_{name}_{{t}}({{0}})",
            },
            1.5,
        )
        for exponent, name in ((3, "cube"), (4, "fourth"))
    },
)

ARITHMETIC: tuple[Op, ...] = (
    Op(
        "add",
        2,
        rules.arithmetic,
        _wrapping("+", "({0} || {1})"),
        "Sum; integers wrap, bool is a logical or.",
        "add",
        integers=IntegerFacts("add", "plus", "low", in_words=True),
        floats=FloatFacts("add", in_words=True),
        mlir=Mlir({"integer": "arith.addi", "float": "arith.addf", "bool": "arith.ori"}),
        ieee=True,
    ),
    Op(
        "subtract",
        2,
        rules.no_bool("use logical_xor"),
        _wrapping("-", None),
        "Difference; integers wrap.",
        "sub",
        integers=IntegerFacts("subtract", "minus", "low", in_words=True),
        floats=FloatFacts("subtract", in_words=True),
        mlir=Mlir({"integer": "arith.subi", "float": "arith.subf"}),
        ieee=True,
    ),
    Op(
        "multiply",
        2,
        rules.arithmetic,
        _wrapping("*", "({0} && {1})"),
        "Product; integers wrap, bool is a logical and.",
        "mul",
        integers=IntegerFacts("multiply", "times", "low", in_words=True),
        floats=FloatFacts("multiply", in_words=True),
        mlir=Mlir({"integer": "arith.muli", "float": "arith.mulf", "bool": "arith.andi"}),
        ieee=True,
    ),
    Op(
        "divide",
        2,
        rules.divide,
        "({0} / {1})",
        "True quotient; integers divide as f64.",
        "truediv",
        ("true_divide",),
        cost_tenths_ns=2.0,
        by_power_of_two=("multiply", "inverse"),
        floats=FloatFacts("divide", in_words=True, in_divider=True),
        mlir=Mlir({"float": "arith.divf"}),
        ieee=True,
        pole="b == 0",
    ),
    Op(
        "floor_divide",
        2,
        rules.bool_as_i8,
        _division("floor_divide"),
        "Quotient rounded towards minus infinity; integer x // 0 is 0 and INT_MIN // -1 is INT_MIN.",
        "floordiv",
        cost_tenths_ns={"signed": 5.0, "unsigned": 4.0, "float": 4.0},
        forms=_division_forms("floor_divide"),
        by_power_of_two=("right_shift", "exponent"),
        integers=IntegerFacts("floor_divide", any_width=True, divides=True),
        mlir=Mlir({"signed": "@FLOOR_DIVIDE", "unsigned": "@DIVIDE_UNSIGNED", "float": "@FLOAT_FLOOR_DIVIDE"}),
        pole="b == 0",
        overflow="(a < 0) & (b == -1) & (r == a)",
    ),
    Op(
        "remainder",
        2,
        rules.bool_as_i8,
        _division("remainder"),
        "Remainder with the sign of the divisor; integer x % 0 is 0.",
        "mod",
        ("mod",),
        cost_tenths_ns={"signed": 5.0, "unsigned": 4.0, "float": 4.0},
        forms=_division_forms("remainder"),
        by_power_of_two=("bitwise_and", "mask"),
        integers=IntegerFacts("remainder", any_width=True, divides=True),
        mlir=Mlir({"signed": "@REMAINDER", "unsigned": "@REMAINDER_UNSIGNED", "float": "@FLOAT_REMAINDER"}),
        pole="b == 0",
    ),
    Op(
        "power",
        2,
        rules.bool_as_i8,
        {
            "signed": "({T})bcg_power_u64((uint64_t){0}, (uint64_t){1})",
            "unsigned": "({T})bcg_power_u64({0}, {1})",
            "float": "bcg_power_{t}({0}, {1})",
        },
        "Power; integers wrap, an integer with a negative exponent is an error.",
        "pow",
        ("pow",),
        ulp=1,
        domain=(0.0, 8.0),
        forms=_POWER_FORMS,
        demand={"signed": "{1} >= 0"},
        cost_tenths_ns={"signed": 10.0, "unsigned": 10.0, "float": 13.0},
        mlir=Mlir({"integer": "@POWER", "float": "math.powf"}, demand="arith.cmpi sge, {1}, #0 : {t}"),
        pole="(a == 0) & (b < 0)",
    ),
    Op(
        "negative",
        1,
        rules.no_bool("use logical_not"),
        {"signed": "({T})(0u - ({W}){0})", "unsigned": "({T})(0u - ({W}){0})", "float": "(-{0})"},
        "Negation; integers wrap.",
        "neg",
        representable=True,
        integers=IntegerFacts("negative", "negated", "low", in_words=True),
        floats=FloatFacts("negative", in_words=True),
        mlir=Mlir({"integer": "arith.subi #0, {0} : {t}", "float": "arith.negf"}),
        ieee=True,
    ),
    Op(
        "positive",
        1,
        rules.no_bool("leave it out"),
        "{0}",
        "The operand itself.",
        "pos",
        representable=True,
        integers=UNCHANGED,
        floats=FloatFacts("same"),
        mlir=Mlir({"integer": "{0}", "float": "{0}"}),
        ieee=True,
    ),
    Op(
        "absolute",
        1,
        rules.arithmetic,
        _absolute,
        "Magnitude; that of INT_MIN is INT_MIN.",
        "abs",
        ("abs",),
        representable=True,
        integers=IntegerFacts("absolute", any_width=True, in_words=True),
        floats=FloatFacts("absolute", in_words=True),
        mlir=Mlir({"bool": "{0}", "unsigned": "{0}", "signed": "math.absi", "float": "math.absf"}),
        ieee=True,
    ),
    Op(
        "sign",
        1,
        rules.no_bool("use .astype(numpy.int8)"),
        {
            "signed": "({T})({0} > 1 ? 1 : {0} < -1 ? -1 : {0})",
            "unsigned": "({T})({0} > 0)",
            # The sign of -0 is 0, and that of NaN is NaN.
            "float": "(fabs{f}({0}) > 0 ? copysign{f}(1, {0}) : {0} + 0)",
        },
        "-1, 0 or 1; NaN stays NaN.",
        representable=True,
        integers=IntegerFacts("sign", any_width=True),
        mlir=Mlir(
            {
                "signed": "%most = arith.minsi {0}, #1 : {t}\narith.maxsi %most, #-1 : {t}",
                "unsigned": "arith.minui {0}, #1 : {t}",
                "float": "@FLOAT_SIGN",
            }
        ),
    ),
    Op(
        "square",
        1,
        rules.bool_as_i8,
        {"float": "({0} * {0})"} | dict.fromkeys(("signed", "unsigned"), "({T})(({W}){0} * ({W}){0})"),
        "The operand times itself; integers wrap.",
        integers=IntegerFacts("square", demanded="low", in_words=True),
        floats=FloatFacts("square", in_words=True),
        mlir=Mlir({"integer": "arith.muli {0}, {0} : {t}", "float": "arith.mulf {0}, {0} : {t}"}),
        ieee=True,
    ),
    Op(
        "reciprocal",
        1,
        rules.bool_as_i8,
        {
            "signed": "({T})({0} == 1 ? 1 : {0} == -1 ? -1 : 0)",
            "unsigned": "({T})({0} == 1 ? 1 : 0)",
            "float": "(1 / {0})",
        },
        "One over the operand; integers truncate and 1/0 is 0.",
        domain=(0.5, 50.0),
        reference=_reciprocal,
        cost_tenths_ns=2.0,
        floats=FloatFacts(in_divider=True),
        mlir=Mlir(
            {
                "signed": "@RECIPROCAL",
                "unsigned": "%one = arith.cmpi eq, {0}, #1 : {t}\narith.select %one, #1, #0 : {t}",
                "float": "arith.divf #1.0, {0} : {t}",
            }
        ),
        ieee=True,
        pole="a == 0",
    ),
    Op(
        "sqrt",
        1,
        rules.floating,
        "sqrt{f}({0})",
        "Square root, correctly rounded.",
        domain=(0.0, 100.0),
        cost_tenths_ns=3.0,
        floats=FloatFacts("square_root", in_words=True, in_divider=True),
        mlir=Mlir({"float": "math.sqrt"}),
        ieee=True,
    ),
)
