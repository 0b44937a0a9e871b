"""The rows of ops that no front end knows: for nests in which it is known between which numbers values lie.

In: nothing.  Out: rows that `loops.rewrites` puts in the place of those of the table.

    clip(x * 20, -128, 127) to i8   ->   truncate(x * 20, -128, 127) : i32, of which the low byte is stored

They give what the rows in whose place they stand give, bit for bit, and look at less on the way: not whether a number
is NaN where none is, nor whether it is in a range that it cannot leave.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtypes import DType, dtype
from . import dtype_rules as rules
from .facts import FloatFacts
from .row import Op

__all__ = ["OF_NUMBERS", "SATURATING", "TRUNCATE"]

_EITHER = (True, False)


def _whole(op: str, operands: rules.Types) -> tuple[tuple[DType, ...], DType]:
    """Compute in the dtype that operands promote to, and give i32."""
    return rules.arithmetic(op, operands)[0], dtype("i32")


def _truncated(x: Any, *ends: Any) -> Any:
    """Return the whole part of a number, raised to the first end and lowered to the second; NaN is 0."""
    x = np.where(np.isnan(x), 0, x)
    return np.trunc(np.clip(x, *ends) if ends else x).astype(np.int32)


def _truncate(nan: bool, outside: bool) -> Op:
    """Return the row of a truncation to i32 that looks for NaN, or for numbers outside of two ends, or neither."""
    within = "bcg_within_{t}({0}, {1}, {2})" if outside else "{0}"
    name = f"truncate{'' if nan else '_number'}{'' if outside else '_within'}"
    whole = f"(int32_t){within}"
    c = f"({{0}} == {{0}} ? {whole} : 0)" if nan else whole
    doc = f"Whole part{' between two ends' * outside} as an i32{'; NaN is 0' * nan}."
    return Op(
        name,
        3 if outside else 1,
        _whole,
        c,
        doc,
        reference=_truncated,
        cost_tenths_ns=0.8,
        floats=FloatFacts(in_words=True),
    )


def _of_number(name: str, order: str, number: int) -> Op:
    """An extremum with an operand of which no NaN comes; of equal operands it is the first."""
    c = (f"({{0}} {order}= {{1}} ? {{0}} : {{1}})", f"({{1}} {order} {{0}} ? {{1}} : {{0}})")[number]
    doc = f"{name} of two of which operand {number} is no NaN."
    return Op(
        f"{name}_number_{number}",
        2,
        rules.arithmetic,
        c,
        doc,
        reference=getattr(np, name),
        representable=True,
        floats=FloatFacts(in_words=True),
    )


def _saturating(name: str) -> Op:
    def reference(x: Any, y: Any) -> Any:
        x, y = np.asarray(x), np.asarray(y)
        kind = np.iinfo(x.dtype)
        return np.clip(getattr(np, name)(x.astype(np.int64), y.astype(np.int64)), kind.min, kind.max).astype(x.dtype)

    c = f"bcg_saturating_{name}_{{t}}({{0}}, {{1}})"
    doc = "Of signed integers; what is out of range is the least or the largest number."
    return Op(f"saturating_{name}", 2, rules.arithmetic, c, doc, reference=reference, cost_tenths_ns=0.6)


# By the op that would wrap, of i8, i16 and i32.
SATURATING = {name: _saturating(name) for name in ("add", "subtract")}
# Whether the operand may be NaN, and be outside of the ends, which are a negative number or -0.0, and a positive one.
TRUNCATE = {(nan, outside): _truncate(nan, outside) for nan in _EITHER for outside in _EITHER}
# By the op, then by the operand that is known to be a number.
OF_NUMBERS = {
    name: {number: _of_number(name, order, number) for number in (0, 1)}
    for name, order in (("minimum", "<"), ("maximum", ">"))
}
