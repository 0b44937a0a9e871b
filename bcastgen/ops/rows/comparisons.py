"""Rows that test numbers: comparisons, and classes of floats.

In: nothing.  Out: rows, in the order in which they are listed.

    OPS["less"].c_for((F32, F32), BOOL)  ->  "({0} < {1})"
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...core.dtypes import BOOL, I64, DType
from .. import dtype_rules as rules
from ..facts import IntegerFacts, Mlir
from ..row import Op

__all__ = ["COMPARISONS", "FLOAT_CLASSES"]


def _comparison(symbol: str) -> Callable[[tuple[DType, ...], DType], str]:
    def c(operands: tuple[DType, ...], result: DType) -> str:
        first, second = operands
        if first is second:
            return f"({{0}} {symbol} {{1}})"
        return f"(bcg_compare_{first}_{second}({{0}}, {{1}}) {symbol} 0)"

    return c


_FACTS = IntegerFacts(any_width=True)

COMPARISONS: tuple[Op, ...] = tuple(
    Op(
        name,
        2,
        rules.compare,
        _comparison(symbol),
        doc,
        dunder,
        integers=_FACTS,
        mlir=Mlir(f"@compare {spelled}"),
    )
    for name, symbol, doc, dunder, spelled in (
        ("equal", "==", "True where equal; NaN equals nothing.", "eq", "eq oeq"),
        ("not_equal", "!=", "True where not equal.", "ne", "ne une"),
        ("less", "<", "True where the first is smaller.", "lt", "lt olt"),
        ("less_equal", "<=", "True where the first is not larger.", "le", "le ole"),
        ("greater", ">", "True where the first is larger.", "gt", "gt ogt"),
        ("greater_equal", ">=", "True where the first is not smaller.", "ge", "ge oge"),
    )
)


def _times(op: str, operands: rules.Types) -> rules.Converted:
    """Take the numbers of times, which are i64."""
    if operands != (I64,):
        raise rules.refuse(op, operands, "it takes the numbers of times, which are i64; write .view('int64')")
    return (I64,), BOOL


FLOAT_CLASSES: tuple[Op, ...] = (
    Op(
        "isnat",
        1,
        _times,
        "({0} == INT64_MIN)",
        "Is no time: the least i64, which NaT of datetime64 and timedelta64 is in .view('int64').",
        reference=lambda x: np.asarray(x) == np.iinfo(np.int64).min,
        mlir=Mlir({"signed": "arith.cmpi eq, {0}, #-9223372036854775808 : {t}"}),
    ),
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
)
