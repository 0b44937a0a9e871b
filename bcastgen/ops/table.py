"""The table of ops: one row for each semantics; front ends, type rules, C, tests and docs are derived from it.

In: a row's name or alias.  Out: its :class:`Op`, which knows its dtype rule, its C and its reference.

    OPS["add"].doc   -> "Sum; integers wrap, bool is a logical or."
    find_op("asin")  -> OPS["arcsin"]

To add an op, add a row (CONTRIBUTING.md walks through one); what a row holds and what a template may say is in ``row``,
dtype rules are in ``dtype_rules``; the rows of what TOSA has and NumPy has not are in ``tosa_rows``. Ops that users
define at run time (``define_op``) are rows, too, kept apart from the table: ``OPS`` never changes, :func:`find_op`
finds both.

This file is the table: it is long because it has a row for each op.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..core.dtypes import F32, F64, DType
from ..core.errors import BcastgenError
from ..core.forks import undivided
from . import dtype_rules as rules
from .casts import cast_c, cast_reference
from .facts import FloatFacts, IntegerFacts, Mlir
from .row import Op, Param, RangeTest
from .tosa_rows import TOSA_ROWS

__all__ = ["CAST", "DEFINED", "OPS", "find_op", "known_ops"]

# ---- C that depends on more than the kind -------------------------------------------------------------------------


def _comparison(symbol: str) -> Callable[[tuple[DType, ...], DType], str]:
    def c(operands: tuple[DType, ...], result: DType) -> str:
        first, second = operands
        if first is second:
            return f"({{0}} {symbol} {{1}})"
        return f"(bcg_compare_{first}_{second}({{0}}, {{1}}) {symbol} 0)"

    return c


def _same(template: str) -> dict[str, str]:
    """Return one template for integers and floats, but not for bool."""
    return {"signed": template, "unsigned": template, "float": template}


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


def _left_shift(operands: tuple[DType, ...], result: DType) -> str:
    if result.bits < 32:
        # Keep every operand at 8 or 16 bits, or gcc widens the whole vector.
        own = "uint{bits}_t"
        return f"({{T}})(({own})(({own}){{0}} << ({{1}} & ({{bits}} - 1))) & -({own})(({own}){{1}} < {{bits}}))"
    outside = "({1} < 0 || {1} >= {bits})" if result.kind == "signed" else "{1} >= {bits}"
    return f"({{T}})({outside} ? 0 : ({{W}}){{0}} << {{1}})"


def _where(_: tuple[DType, ...], result: DType) -> str:
    if result.kind == "bool":
        return "(({0} & {1}) | (!{0} & {2}))"
    return f"{'({T})' * (result.kind == 'signed' and result.bits < 32)}({{0}} ? {{1}} : {{2}})"


# C divides by a constant in a few multiplications; of 64-bit lanes few machines give the high half of a product.
_COST_BY_CONSTANT = {16: 0.6, 32: 1.0, 64: 3.0}


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
    """Return the C of a quotient or remainder by a divisor that only the run time knows: up to 32 bits as doubles."""

    def c(operands: tuple[DType, ...], result: DType) -> str:
        kind = operands[0].kind
        if kind == "float":
            return f"bcg_{name}_{{t}}({{0}}, {{1}})"
        if operands[0].bits == 64:
            return f"({{T}})bcg_{name}_{{h}}({{0}}, {{1}})"
        return f"({{T}})bcg_{name}_lanes_{{h}}({{0}}, {{1}})"

    return c


def _math(
    name: str,
    doc: str,
    domain: tuple[float, float] = (-10.0, 10.0),
    *,
    arity: int = 1,
    aliases: tuple[str, ...] = (),
    reference: Callable[..., Any] | None = None,
    ulp: int = 4,
    fast_ulp: int | None = None,
    scalar: bool = False,
    range_tests: tuple[RangeTest, ...] | Mapping[str, tuple[RangeTest, ...]] = (),
    pairs: tuple[str, ...] = (),
    cost: float = 4.0,
    mlir: str = "",
) -> Op:
    """A function of csrc's `bcg_<name>_<dtype>`.

    With `fast_ulp` there is a `bcg_<name>_fast_<dtype>` of that bound. With `range_tests` there is a
    `bcg_<name>_common_<dtype>` for what passes them, for all floats or by dtype. With `scalar` it is the only one that
    compilers vectorise, and right up to `BCG_<NAME>_COMMON_<DTYPE>`.
    """
    far = (RangeTest("int", f"fabs{{f}}({{0}}) > BCG_{name.upper()}_COMMON_{{N}}", "0"),)
    tests = range_tests if isinstance(range_tests, Mapping) else {"float": range_tests or far}
    has_common_case = scalar or bool(range_tests)
    # Forms of f32 alone leave that of math="fast" to itself.
    fast_common_case = fast_ulp is not None and has_common_case and not isinstance(range_tests, Mapping)
    operands = "{0}" if arity == 1 else "{0}, {1}"
    return Op(
        name,
        arity,
        rules.floating,
        f"bcg_{name}_{{t}}({operands})",
        doc,
        aliases=aliases,
        ulp=ulp,
        domain=domain,
        reference=reference,
        cost_tenths_ns=cost,
        mlir=Mlir({"float": mlir}) if mlir else None,
        fast=None if fast_ulp is None else f"bcg_{name}_fast_{{t}}({operands})",
        fast_ulp=fast_ulp,
        range_tests=tests if has_common_case else None,
        common_case=dict.fromkeys(tests, f"bcg_{name}_common_{{t}}({operands})") if has_common_case else None,
        fast_common_case=f"bcg_{name}_fast_common_{{t}}({operands})" if fast_common_case else None,
        scalar=scalar,
        pairs=pairs,
    )


def _up_to(most: str) -> tuple[RangeTest, ...]:
    """Return the test that a magnitude is at most this; a NaN has the bits of a larger number."""
    return (RangeTest("{W}", "bcg_bits_{t}(fabs{f}({0}))", f"bcg_bits_{{t}}({most})"),)


def _between(least: float, below: float, row: DType = F32, operand: str = "fabs{f}({0})") -> RangeTest:
    """Return the test that a number is in [least, below); the bits of any other are those of a larger number."""
    low, high = (int(np.array(end, row.np).view(f"u{row.bytes}")) for end in (least, below))
    number = f"bcg_bits_{{t}}({operand})" + f" - {low:#x}u" * bool(low)
    return RangeTest("{W}", number, f"{high - 1 - low:#x}u")


def _by_number(order: str) -> dict[float | None, tuple[dict[str, str], float]]:
    """Return the C of an extremum with a constant: one comparison, since only the first operand may be NaN."""
    return {None: ({"float": f"({{1}} {order} {{0}} ? {{1}} : {{0}})"}, 0.4)}


def _rounds(word: str) -> Mlir:
    """Spell rounding to whole numbers: integers stay."""
    return Mlir({"bool": "{0}", "integer": "{0}", "float": f"math.{word}"})


# ---- references for what NumPy has not ----------------------------------------------------------------------------


def _as_float(x: Any) -> Any:
    """Convert integers as NumPy does for its own functions."""
    x = np.asarray(x)
    return x if x.dtype.kind == "f" else x.astype(np.sqrt.resolve_dtypes((x.dtype, None))[1])


def _erf(x: Any) -> Any:
    x = _as_float(x)
    return np.vectorize(math.erf, otypes=[np.float64])(x).astype(x.dtype)


def _erfc(x: Any) -> Any:
    x = _as_float(x)
    return np.vectorize(math.erfc, otypes=[np.float64])(x).astype(x.dtype)


def _sigmoid(x: Any) -> Any:
    x = _as_float(x)
    return (1 / (1 + np.exp(-x.astype(np.longdouble)))).astype(x.dtype)


def _rsqrt(x: Any) -> Any:
    x = _as_float(x)
    return (1 / np.sqrt(x.astype(np.longdouble))).astype(x.dtype)


def _reciprocal(x: Any) -> Any:
    """NumPy's, except that 1 / 0 of integers is 0, which NumPy leaves to the machine."""
    value = np.reciprocal(x)
    return value if value.dtype.kind == "f" else np.where(np.equal(x, 0), value.dtype.type(0), value)


# A selection of bools is no vector in gcc.
_BOTH, _EITHER = "({0} && {1})", "({0} || {1})"
_LESS = "({0} < {1} ? {0} : {1})"
_MORE = "({0} > {1} ? {0} : {1})"
_NAN_FIRST = "(({0} %s {1} || {0} != {0}) ? {0} : {1})"
_NAN_LAST = "(({0} %s {1} || {1} != {1}) ? {0} : {1})"
_INTEGERS = ("bool", "signed", "unsigned")
# The powers that six bits count.
_FEW_POWERS = "({T})bcg_power_common_{w}(({W}){0}, ({W}){1})"
# Where a quotient of floats has more digits than a float, or a divisor has no size.
_FAR_QUOTIENT = "(fabs{f}({0}) >= BCG_NEAR_QUOTIENT_{N} * fabs{f}({1})) | (fabs{f}({1}) > {huge})"
_FAR = {"float": (RangeTest("int", _FAR_QUOTIENT, "0"),)}
_NORMAL = RangeTest("{W}", "bcg_above_normal_{t}({0})", "BCG_MOST_NORMAL_{N}")
_LOG1P = (RangeTest("{W}", "bcg_above_normal_{t}(1 + {0})", "BCG_MOST_LOG1P_{N}"),)
_F32_TO_80 = {"f32": _up_to("80")}
_CUBES = {"f32": (_between(2.0**-64, 2.0**64),), "f64": (_between(2.0**-512, 2.0**512, F64),)}
_ANGLES = {"f32": tuple(_between(2.0**-32, 2.0**32, operand=f"fabs{{f}}({{{at}}})") for at in (0, 1))}
_UNIT = (-1.0, 1.0)
_PAIRS = ("f32", "f64")


def _extremum(words: str, kinds: tuple[str, str, str], **facts: Any) -> dict[str, Any]:
    """Return the facts of an extremum; `words` are the arguments of its spelling for floats."""
    signed, unsigned, of_bool = (f"arith.{kind}" for kind in kinds)
    spelled = {"signed": signed, "unsigned": unsigned, "bool": of_bool, "float": f"@extremum {words}"}
    return {"mlir": Mlir(spelled), **facts}


_SMALLER, _LARGER = ("minsi", "minui", "andi"), ("maxsi", "maxui", "ori")
_MINIMUM = _extremum(
    "ole 0",
    _SMALLER,
    clamps=("high",),
    by_constant=_by_number("<"),
    integers=IntegerFacts("minimum", any_width=True, in_words=True),
    floats=FloatFacts("minimum", in_words=True),
)
_MAXIMUM = _extremum(
    "oge 0",
    _LARGER,
    clamps=("low",),
    by_constant=_by_number(">"),
    integers=IntegerFacts("maximum", any_width=True, in_words=True),
    floats=FloatFacts("maximum", in_words=True),
)
_FMIN = _extremum("ole 1", _SMALLER, integers=IntegerFacts("minimum", any_width=True))
_FMAX = _extremum("oge 1", _LARGER, integers=IntegerFacts("maximum", any_width=True))

_ROWS: tuple[Op, ...] = (
    # arithmetic
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
        floats=FloatFacts("divide", in_words=True),
        mlir=Mlir({"float": "arith.divf"}),
    ),
    Op(
        "floor_divide",
        2,
        rules.bool_as_i8,
        _division("floor_divide"),
        "Quotient rounded towards minus infinity; integer x // 0 is 0 and INT_MIN // -1 is INT_MIN.",
        "floordiv",
        cost_tenths_ns={"signed": 5.0, "unsigned": 4.0, "float": 4.0},
        range_tests=_FAR,
        scalar=True,
        common_case={"float": "bcg_floor_divide_common_{t}({0}, {1})"},
        by_constant={None: (_by_constant("floor_divide"), _COST_BY_CONSTANT)},
        by_power_of_two=("right_shift", "exponent"),
        integers=IntegerFacts("floor_divide", any_width=True, divides=True),
        mlir=Mlir({"signed": "@FLOOR_DIVIDE", "unsigned": "@DIVIDE_UNSIGNED", "float": "@FLOAT_FLOOR_DIVIDE"}),
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
        range_tests=_FAR,
        scalar=True,
        common_case={"float": "bcg_remainder_common_{t}({0}, {1})"},
        by_constant={None: (_by_constant("remainder"), _COST_BY_CONSTANT)},
        by_power_of_two=("bitwise_and", "mask"),
        integers=IntegerFacts("remainder", any_width=True, divides=True),
        mlir=Mlir({"signed": "@REMAINDER", "unsigned": "@REMAINDER_UNSIGNED", "float": "@FLOAT_REMAINDER"}),
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
        fast={"float": "bcg_power_fast_{t}({0}, {1})"},
        fast_ulp=4,
        demand={"signed": "{1} >= 0"},
        range_tests={
            **dict.fromkeys(("signed", "unsigned"), (RangeTest("{V}", "{1}", "63"),)),
            "float": (
                _NORMAL,
                RangeTest("{W}", "bcg_bits_{t}(bcg_power_size_{t}({0}, {1}))", "BCG_MOST_POWER_{N}"),
            ),
        },
        common_case={"signed": _FEW_POWERS, "unsigned": _FEW_POWERS, "float": "bcg_power_common_{t}({0}, {1})"},
        fast_common_case={"float": "bcg_power_fast_common_{t}({0}, {1})"},
        pairs=_PAIRS,
        cost_tenths_ns={"signed": 10.0, "unsigned": 10.0, "float": 13.0},
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
        mlir=Mlir({"integer": "@POWER", "float": "math.powf"}, demand="arith.cmpi sge, {1}, #0 : {t}"),
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
    ),
    Op(
        "positive",
        1,
        rules.no_bool("leave it out"),
        "{0}",
        "The operand itself.",
        "pos",
        representable=True,
        integers=IntegerFacts("same", "same", "low"),
        floats=FloatFacts("same"),
        mlir=Mlir({"integer": "{0}", "float": "{0}"}),
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
        _same("({0} * {0})") | {k: "({T})(({W}){0} * ({W}){0})" for k in ("signed", "unsigned")},
        "The operand times itself; integers wrap.",
        integers=IntegerFacts("square", demanded="low", in_words=True),
        floats=FloatFacts("square", in_words=True),
        mlir=Mlir({"integer": "arith.muli {0}, {0} : {t}", "float": "arith.mulf {0}, {0} : {t}"}),
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
        mlir=Mlir(
            {
                "signed": "@RECIPROCAL",
                "unsigned": "%one = arith.cmpi eq, {0}, #1 : {t}\narith.select %one, #1, #0 : {t}",
                "float": "arith.divf #1.0, {0} : {t}",
            }
        ),
    ),
    Op(
        "sqrt",
        1,
        rules.floating,
        "sqrt{f}({0})",
        "Square root, correctly rounded.",
        domain=(0.0, 100.0),
        cost_tenths_ns=3.0,
        floats=FloatFacts("square_root", in_words=True),
        mlir=Mlir({"float": "math.sqrt"}),
    ),
    # functions
    _math(
        "exp",
        "e to the power of the operand.",
        ulp=1,
        range_tests=_up_to("BCG_EXP_COMMON_{N}"),
        cost=3.0,
        mlir="math.exp",
    ),
    _math(
        "exp2",
        "2 to the power of the operand.",
        ulp=1,
        range_tests=_up_to("BCG_EXP2_COMMON_{N}"),
        cost=3.0,
        mlir="math.exp2",
    ),
    _math("expm1", "exp(x) - 1 without cancellation.", ulp=1, range_tests=_F32_TO_80, cost=4.5, mlir="@EXPM1"),
    _math(
        "log", "Natural logarithm.", (0.0, 100.0), ulp=1, fast_ulp=4, range_tests=(_NORMAL,), cost=4.5, mlir="math.log"
    ),
    _math(
        "log2",
        "Logarithm to base 2.",
        (0.0, 100.0),
        ulp=1,
        fast_ulp=4,
        range_tests=(_NORMAL,),
        cost=5.0,
        mlir="math.log2",
    ),
    _math(
        "log10",
        "Logarithm to base 10.",
        (0.0, 100.0),
        ulp=1,
        fast_ulp=4,
        range_tests=(_NORMAL,),
        cost=5.0,
        mlir="math.log10",
    ),
    _math(
        "log1p",
        "log(1 + x) without cancellation.",
        (-1.0, 100.0),
        ulp=1,
        range_tests=_LOG1P,
        pairs=_PAIRS,
        cost=5.5,
        mlir="@LOG1P",
    ),
    _math("sin", "Sine of an angle in radians.", ulp=1, fast_ulp=4, scalar=True, cost=5.0, mlir="math.sin"),
    _math("cos", "Cosine of an angle in radians.", ulp=1, fast_ulp=4, scalar=True, cost=5.0, mlir="math.cos"),
    _math(
        "tan",
        "Tangent of an angle in radians.",
        ulp=1,
        fast_ulp=4,
        scalar=True,
        pairs=_PAIRS,
        cost=7.0,
        mlir="math.tan",
    ),
    _math("tanh", "Hyperbolic tangent.", ulp=1, fast_ulp=4, pairs=_PAIRS, cost=6.0, mlir="math.tanh"),
    _math("sinh", "Hyperbolic sine.", ulp=1, fast_ulp=4, range_tests=_F32_TO_80, cost=5.5, mlir="math.sinh"),
    _math("cosh", "Hyperbolic cosine.", ulp=1, range_tests=_F32_TO_80, cost=4.0, mlir="math.cosh"),
    _math("arcsin", "Inverse sine, in radians.", _UNIT, aliases=("asin",), ulp=1, fast_ulp=4, mlir="math.asin"),
    _math("arccos", "Inverse cosine, in radians.", _UNIT, aliases=("acos",), ulp=1, fast_ulp=4, mlir="math.acos"),
    _math(
        "arctan",
        "Inverse tangent, in radians.",
        aliases=("atan",),
        ulp=1,
        fast_ulp=4,
        pairs=("f64",),
        cost=5.0,
        mlir="math.atan",
    ),
    _math(
        "arctan2",
        "Angle of the point (second, first), in radians.",
        arity=2,
        aliases=("atan2",),
        ulp=1,
        fast_ulp=4,
        range_tests=_ANGLES,
        pairs=("f64",),
        cost=10.0,
        mlir="math.atan2",
    ),
    _math(
        "arcsinh",
        "Inverse hyperbolic sine.",
        aliases=("asinh",),
        ulp=1,
        range_tests={"f32": (_between(0.0, 2.0**63),)},
        cost=9.0,
        mlir="math.asinh",
    ),
    _math(
        "arccosh",
        "Inverse hyperbolic cosine.",
        (1.0, 50.0),
        aliases=("acosh",),
        ulp=1,
        range_tests={"f32": (_between(1.0, 2.0**63, operand="{0}"),)},
        cost=8.0,
        mlir="math.acosh",
    ),
    _math(
        "arctanh",
        "Inverse hyperbolic tangent.",
        _UNIT,
        aliases=("atanh",),
        ulp=1,
        pairs=("f32",),
        cost=8.0,
        mlir="math.atanh",
    ),
    _math("hypot", "Length of the hypotenuse, without overflow on the way.", arity=2, ulp=1, cost=4.0, mlir="@HYPOT"),
    _math("cbrt", "Cube root.", (-50.0, 50.0), ulp=1, fast_ulp=4, range_tests=_CUBES, cost=4.5, mlir="math.cbrt"),
    _math("erf", "Error function.", (-4.0, 4.0), reference=_erf, ulp=1, fast_ulp=4, cost=6.0, mlir="math.erf"),
    _math(
        "erfc",
        "1 - erf(x) without cancellation.",
        (-4.0, 10.0),
        reference=_erfc,
        ulp=2,
        fast_ulp=4,
        pairs=_PAIRS,
        cost=16.0,
        mlir="math.erfc",
    ),
    _math(
        "sigmoid",
        "1 / (1 + exp(-x)).",
        reference=_sigmoid,
        ulp=1,
        fast_ulp=4,
        range_tests=_F32_TO_80,
        pairs=_PAIRS,
        cost=6.0,
        mlir="@SIGMOID",
    ),
    _math("rsqrt", "1 / sqrt(x).", (0.01, 100.0), reference=_rsqrt, ulp=1, cost=3.5, mlir="@RSQRT"),
    # rounding
    *(
        Op(
            name,
            1,
            rules.rounding,
            {"float": name + "{f}({0})"} | dict.fromkeys(_INTEGERS, "{0}"),
            doc,
            representable=True,
            integers=IntegerFacts("same", demanded="low"),
            floats=FloatFacts(name),
            mlir=_rounds(name),
        )
        for name, doc in (
            ("floor", "Largest whole number not above; integers stay."),
            ("ceil", "Smallest whole number not below; integers stay."),
            ("trunc", "Whole part, rounded towards 0; integers stay."),
        )
    ),
    Op(
        "rint",
        1,
        rules.floating,
        "rint{f}({0})",
        "Nearest whole number, halves to even.",
        representable=True,
        floats=FloatFacts("rint", in_words=True),
        mlir=Mlir({"float": "math.roundeven"}),
    ),
    Op(
        "round",
        1,
        rules.rounded,
        {"float": "rint{f}({0})"} | dict.fromkeys(_INTEGERS, "{0}"),
        "Nearest whole number, halves to even; integers stay.",
        representable=True,
        integers=IntegerFacts("same", demanded="low"),
        mlir=_rounds("roundeven"),
    ),
    # extrema
    *(
        Op(
            name,
            2,
            rules.arithmetic,
            {"bool": of_bool, "signed": f"({{T}}){integer}", "unsigned": integer, "float": nan % order},
            doc,
            representable=True,
            **facts,
        )
        for name, of_bool, integer, nan, order, doc, facts in (
            ("minimum", _BOTH, _LESS, _NAN_FIRST, "<=", "Smaller of two; NaN if either is.", _MINIMUM),
            ("maximum", _EITHER, _MORE, _NAN_FIRST, ">=", "Larger of two; NaN if either is.", _MAXIMUM),
            ("fmin", _BOTH, _LESS, _NAN_LAST, "<=", "Smaller of two; the other one where one is NaN.", _FMIN),
            ("fmax", _EITHER, _MORE, _NAN_LAST, ">=", "Larger of two; the other one where one is NaN.", _FMAX),
        )
    ),
    Op(
        "clip",
        3,
        rules.clip,
        dict.fromkeys(("signed", "unsigned"), "({T})bcg_clip_{h}({0}, {1}, {2})")
        | {"bool": "(({0} || {1}) && {2})", "float": "bcg_clip_{t}({0}, {1}, {2})"},
        "minimum(maximum(x, low), high); NaN if any is.",
        representable=True,
        clamps=("low", "high"),
        integers=IntegerFacts("clip", any_width=True),
        floats=FloatFacts("clip", in_words=True),
        mlir=Mlir(
            {
                "signed": "@clip s",
                "unsigned": "@clip u",
                "bool": "%raised = arith.ori {0}, {1} : {t}\narith.andi %raised, {2} : {t}",
                "float": "@FLOAT_CLIP",
            }
        ),
    ),
    # comparisons
    Op(
        "equal",
        2,
        rules.compare,
        _comparison("=="),
        "True where equal; NaN equals nothing.",
        "eq",
        integers=IntegerFacts(any_width=True),
        mlir=Mlir("@compare eq oeq"),
    ),
    Op(
        "not_equal",
        2,
        rules.compare,
        _comparison("!="),
        "True where not equal.",
        "ne",
        integers=IntegerFacts(any_width=True),
        mlir=Mlir("@compare ne une"),
    ),
    Op(
        "less",
        2,
        rules.compare,
        _comparison("<"),
        "True where the first is smaller.",
        "lt",
        integers=IntegerFacts(any_width=True),
        mlir=Mlir("@compare lt olt"),
    ),
    Op(
        "less_equal",
        2,
        rules.compare,
        _comparison("<="),
        "True where the first is not larger.",
        "le",
        integers=IntegerFacts(any_width=True),
        mlir=Mlir("@compare le ole"),
    ),
    Op(
        "greater",
        2,
        rules.compare,
        _comparison(">"),
        "True where the first is larger.",
        "gt",
        integers=IntegerFacts(any_width=True),
        mlir=Mlir("@compare gt ogt"),
    ),
    Op(
        "greater_equal",
        2,
        rules.compare,
        _comparison(">="),
        "True where the first is not smaller.",
        "ge",
        integers=IntegerFacts(any_width=True),
        mlir=Mlir("@compare ge oge"),
    ),
    # logic and bits
    Op("logical_and", 2, rules.logical, "({0} && {1})", "Both are non-zero.", mlir=Mlir({"bool": "arith.andi"})),
    Op("logical_or", 2, rules.logical, "({0} || {1})", "Either is non-zero.", mlir=Mlir({"bool": "arith.ori"})),
    Op("logical_xor", 2, rules.logical, "({0} != {1})", "Exactly one is non-zero.", mlir=Mlir({"bool": "arith.xori"})),
    Op("logical_not", 1, rules.logical, "(!{0})", "Is zero.", mlir=Mlir({"bool": "arith.xori {0}, #true : {t}"})),
    *(
        Op(
            f"bitwise_{word}",
            2,
            rules.bitwise,
            f"({{T}})({{0}} {symbol} {{1}})",
            f"Bitwise {word}.",
            word,
            integers=IntegerFacts(f"bitwise_{word}", demanded="mask" if word == "and" else "low", in_words=True),
            mlir=Mlir({"bool": f"arith.{word}i", "integer": f"arith.{word}i"}),
        )
        for word, symbol in (("and", "&"), ("or", "|"), ("xor", "^"))
    ),
    Op(
        "bitwise_invert",
        1,
        rules.bitwise,
        {"bool": "(!{0})", "signed": "({T})~{0}", "unsigned": "({T})~{0}"},
        "Every bit flipped; bool is a logical not.",
        "invert",
        ("invert", "bitwise_not"),
        reference=np.invert,
        integers=IntegerFacts(demanded="low", in_words=True),
        mlir=Mlir({"integer": "arith.xori {0}, #-1 : {t}", "bool": "arith.xori {0}, #true : {t}"}),
    ),
    Op(
        "left_shift",
        2,
        rules.shift,
        _left_shift,
        "Shift towards the high bits; a count outside [0, width) gives 0.",
        "lshift",
        ("bitwise_left_shift",),
        integers=IntegerFacts("left_shift", demanded="left", in_words=True),
        mlir=Mlir({"integer": "@LEFT_SHIFT"}),
    ),
    Op(
        "right_shift",
        2,
        rules.shift,
        {
            "signed": "({T})({0} >> (({1} < 0 || {1} >= {bits}) ? {bits} - 1 : {1}))",
            "unsigned": "({T})({1} >= {bits} ? 0 : {0} >> {1})",
        },
        "Shift towards the low bits, keeping the sign; a count outside [0, width) leaves only the sign.",
        "rshift",
        ("bitwise_right_shift",),
        integers=IntegerFacts("right_shift", demanded="right", any_width=True, in_words=True),
        mlir=Mlir({"signed": "@RIGHT_SHIFT", "unsigned": "@LOGICAL_RIGHT_SHIFT"}),
    ),
    # floating-point classes
    Op(
        "isnan",
        1,
        rules.float_test,
        "({0} != {0})",
        "Is not a number.",
        mlir=Mlir({"float": "arith.cmpf uno, {0}, {0} : {t}"}),
    ),
    Op(
        "isinf",
        1,
        rules.float_test,
        "(fabs{f}({0}) > {huge})",
        "Is an infinity.",
        mlir=Mlir({"float": "%magnitude = math.absf {0} : {t}\narith.cmpf oeq, %magnitude, #inf : {t}"}),
    ),
    Op(
        "isfinite",
        1,
        rules.float_test,
        "(fabs{f}({0}) <= {huge})",
        "Is neither an infinity nor NaN.",
        mlir=Mlir({"float": "%magnitude = math.absf {0} : {t}\narith.cmpf olt, %magnitude, #inf : {t}"}),
    ),
    # Not C's signbit: gcc 12 fails on it in a vectorised loop whose operand is made from bits, as a bf16 is.
    Op(
        "signbit",
        1,
        rules.float_test,
        "(copysign{f}(1, {0}) < 0)",
        "Has its sign bit set, as -0.0 has.",
        mlir=Mlir("@signbit"),
    ),
    Op(
        "copysign",
        2,
        rules.floating,
        "copysign{f}({0}, {1})",
        "The first one's magnitude with the second one's sign.",
        representable=True,
        mlir=Mlir({"float": "math.copysign"}),
    ),
    # selection and conversion
    Op(
        "where",
        3,
        rules.where,
        _where,
        "The second where the first is true, else the third.",
        representable=True,
        selects=True,
        integers=IntegerFacts("where", demanded="low", in_words=True),
        floats=FloatFacts("either"),
        mlir=Mlir("arith.select {0}, {1}, {2} : {T}"),
    ),
    Op(
        "cast",
        1,
        rules.by_parameter,
        cast_c,
        "Conversion to `dtype`: floats truncate, NaN to integer is 0, other floats saturate; integers wrap.",
        reference=cast_reference,
        params=(Param("dtype", "the dtype to convert to"),),
        integers=IntegerFacts("same", "same", "low"),
        mlir=Mlir("@cast_lines"),
    ),
    *TOSA_ROWS,
)

OPS: dict[str, Op] = {row.name: row for row in _ROWS}
# The row of the conversions that analyses, rewrites and front ends insert.
CAST = OPS["cast"]
_BY_ANY_NAME: dict[str, Op] = OPS | {alias: row for row in _ROWS for alias in row.aliases}


class _Defined:
    """The ops defined at run time. Readers see a whole mapping, old or new: it is replaced, never changed."""

    def __init__(self) -> None:
        self.rows: Mapping[str, Op] = {}
        self.replacements = 0

    def add(self, op: Op, replace: bool) -> Op:
        """Add a row, or return the one with the same definition.

        Raises
        ------
        BcastgenError
            If there is another one of its name, and it is not to be replaced.
        """
        with undivided:
            known = self.rows.get(op.name)
            if known is not None and known.definition == op.definition:
                return known
            if known is not None and not replace:
                raise BcastgenError(
                    f"{op.name} is defined already, and otherwise; pass replace=True, or choose another name"
                )
            self.rows = {**self.rows, op.name: op}
            # After the rows: a thread that sees the new count sees the new row.
            self.replacements += known is not None
            return op


DEFINED = _Defined()


def known_ops() -> tuple[Op, ...]:
    """Return every row: those of the table, then those defined at run time."""
    return (*_ROWS, *DEFINED.rows.values())


def find_op(name: str) -> Op | None:
    """Return the row a name or alias stands for, or None.

    Examples
    --------
    >>> find_op("asin").name
    'arcsin'
    """
    return _BY_ANY_NAME.get(name) or DEFINED.rows.get(name)
