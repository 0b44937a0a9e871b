"""Rows of logic, bits and shifts.

In: nothing.  Out: rows, in the order in which they are listed.

    OPS["bitwise_and"].c_for((I8, I8), I8)  ->  "(int8_t)({0} & {1})"
"""

from __future__ import annotations

import numpy as np

from ...core.dtypes import DType
from .. import dtype_rules as rules
from ..c_forms import CForms
from ..facts import IntegerFacts, Mlir
from ..row import Op

__all__ = ["BITS", "SHIFT_UNSIGNED", "by_count"]


def by_count(c: str) -> CForms:
    """Return the forms of a shift whose C is plain where the count is a constant in [0, width).

    Examples
    --------
    >>> from bcastgen.core.dtypes import I32
    >>> by_count("({T})({0} >> {1})").special((I32, I32), 3)[0]
    '({T})({0} >> {1})'
    >>> by_count("({T})({0} >> {1})").special((I32, I32), 32)
    """

    def plain(shifted: DType, count: float) -> str | None:
        return c if 0 <= count < shifted.bits else None

    return CForms(by_constant={None: (plain, {})})  # {}: it costs what cheap ops cost


def _left_shift(operands: tuple[DType, ...], result: DType) -> str:
    if result.bits < 32:
        # Keep every operand at 8 or 16 bits, or gcc widens the whole vector.
        own = "uint{bits}_t"
        return f"({{T}})(({own})(({own}){{0}} << ({{1}} & ({{bits}} - 1))) & -({own})(({own}){{1}} < {{bits}}))"
    outside = "({1} < 0 || {1} >= {bits})" if result.kind == "signed" else "{1} >= {bits}"
    return f"({{T}})({outside} ? 0 : ({{W}}){{0}} << {{1}})"


# An unsigned number shifted towards the low bits; a count of its width or more shifts all out.
SHIFT_UNSIGNED = "({T})({1} >= {bits} ? 0 : {0} >> {1})"

BITS: tuple[Op, ...] = (
    Op("logical_and", 2, rules.logical, "({0} && {1})", "Both are non-zero.", mlir=Mlir({"bool": "arith.andi"})),
    Op("logical_or", 2, rules.logical, "({0} || {1})", "Either is non-zero.", mlir=Mlir({"bool": "arith.ori"})),
    Op("logical_xor", 2, rules.logical, "({0} != {1})", "Exactly one is non-zero.", mlir=Mlir({"bool": "arith.xori"})),
    Op("logical_not", 1, rules.logical, "(!{0})", "Is zero.", mlir=Mlir({"bool": "arith.xori {0}, #true : {t}"})),
    *(
        Op(
            f"bitwise_{word}",
            2,
            rules.bitwise(meant),
            f"({{T}})({{0}} {symbol} {{1}})",
            f"Bitwise {word}.",
            word,
            integers=IntegerFacts(f"bitwise_{word}", demanded="mask" if word == "and" else "low", in_words=True),
            mlir=Mlir({"bool": f"arith.{word}i", "integer": f"arith.{word}i"}),
        )
        for word, symbol, meant in (
            ("and", "&", "put comparisons beside & in parentheses, as in (a > 0) & (a < 1), or"),
            ("or", "|", "put comparisons beside | in parentheses, as in (a < 0) | (a > 1), or"),
            ("xor", "^", "a power is written a**b; for bits"),
        )
    ),
    Op(
        "bitwise_invert",
        1,
        rules.bitwise(),
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
        forms=by_count("({T})(({W}){0} << {1})"),
        integers=IntegerFacts("left_shift", demanded="left", in_words=True),
        mlir=Mlir({"integer": "@LEFT_SHIFT"}),
    ),
    Op(
        "right_shift",
        2,
        rules.shift,
        {
            "signed": "({T})({0} >> (({1} < 0 || {1} >= {bits}) ? {bits} - 1 : {1}))",
            "unsigned": SHIFT_UNSIGNED,
        },
        "Shift towards the low bits, keeping the sign; a count outside [0, width) leaves only the sign.",
        "rshift",
        ("bitwise_right_shift",),
        forms=by_count("({T})({0} >> {1})"),
        integers=IntegerFacts("right_shift", demanded="right", any_width=True, in_words=True),
        mlir=Mlir({"signed": "@RIGHT_SHIFT", "unsigned": "@LOGICAL_RIGHT_SHIFT"}),
    ),
)
