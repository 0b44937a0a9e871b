"""The rows of ops that no front end knows: cheaper forms for nests in which the bounds of values are known.

In: nothing.  Out: rows that `loops.rewrites` puts in the place of those of the table.

    clip(x * 20, -128, 127) to i8   ->   truncate(x * 20, -128, 127) : i32, of which the low byte is stored

They give the same bits as the rows that they replace, with fewer tests: they do not test for NaN, or for numbers out of
range, where the bounds exclude these.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.dtypes import BOOL, DType, dtype, resolve_weak
from ..core.errors import element_sentence
from . import dtype_rules as rules
from .facts import FloatFacts
from .row import Op

__all__ = ["ENDED", "OF_NUMBERS", "PARTS", "SATURATING", "TRUNCATE", "TRUNCATE_FROM_ZERO"]

_EITHER = (True, False)


def _whole(op: str, operands: rules.Types) -> tuple[tuple[DType, ...], DType]:
    """Compute in the dtype that operands promote to, and give i32."""
    return rules.arithmetic(op, operands)[0], dtype("i32")


def _truncated(x: Any, *ends: Any) -> Any:
    """Return the whole part of a number, raised to the first end and lowered to the second; NaN is 0."""
    x = np.where(np.isnan(x), 0, x)
    return np.trunc(np.clip(x, *ends) if ends else x).astype(np.int32)


def _truncate(nan: bool, outside: bool) -> Op:
    """Return the row of a truncation to i32; `nan` tests for NaN, `outside` for numbers outside of two ends."""
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
    """Return the row of an extremum of which one operand is never NaN; of equal operands it gives the first."""
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


def _ended(_op: str, operands: rules.Types) -> rules.Converted:
    """Keep the dtype of the first operand; the second is a bool."""
    (kind,) = resolve_weak(operands[:1])
    return (kind, BOOL), kind


def _refuse_more_rounds(value: Any, goes_on: Any) -> Any:
    if np.any(goes_on):
        raise ValueError(element_sentence("ENDLESS"))
    return value


# Marks the result of a function with unrolled loops: an element whose loop has not ended ends the call.
ENDED = Op(
    "ended",
    2,
    _ended,
    "{0}",
    "The first, of which no element has a loop that goes on.",
    reference=_refuse_more_rounds,
    demand=dict.fromkeys(("bool", "signed", "unsigned", "float", "complex"), "!{1}"),
    status="ENDLESS",
    representable=True,
)


def _of_parts(op: str, operands: rules.Types) -> rules.Converted:
    """Take a complex number and a real one of its parts' dtype."""
    row = operands[0]
    assert isinstance(row, DType)
    if not row.is_complex:
        raise rules.refuse(op, operands, "the first is a complex number")
    return (row, row.part), row


def _parts(name: str, sign: str) -> Op:
    def reference(z: Any, by: Any) -> Any:
        z = np.asarray(z)
        made = np.empty(np.broadcast(z, by).shape, z.dtype)
        made.real, made.imag = getattr(np, name)(z.real, by), getattr(np, name)(z.imag, by)
        return made

    c = f"bcg_make_{{t}}({{0}}.re {sign} {{1}}, {{0}}.im {sign} {{1}})"
    doc = f"{name} of either part of a complex number and a real one."
    return Op(f"parts_{name}", 2, _of_parts, c, doc, reference=reference)


# Rounds a complex number to decimals part by part: as one multiplication, an infinite part would make NaN of the other.
PARTS = {"multiply": _parts("multiply", "*"), "divide": _parts("divide", "/")}
# Saturating ops on i8, i16 and i32, by the name of the op that wraps.
SATURATING = {name: _saturating(name) for name in ("add", "subtract")}
# Truncations by whether the operand may be NaN, and whether it may be outside of the ends. The first end is a negative
# number or -0.0, the second a positive number.
# A truncation from 0 on needs no test for NaN: its comparison with 0 turns NaN into 0.
TRUNCATE_FROM_ZERO = Op(
    "truncate_from_zero",
    2,
    _whole,
    "(int32_t)bcg_from_zero_{t}({0}, {1})",
    "Whole part between 0 and an end as an i32; NaN is 0.",
    reference=lambda x, most: _truncated(x, 0, most),
    cost_tenths_ns=0.8,
    floats=FloatFacts(in_words=True),
)
TRUNCATE = {(nan, outside): _truncate(nan, outside) for nan in _EITHER for outside in _EITHER}
# Extrema by the op's name, then by the operand that is known not to be NaN.
OF_NUMBERS = {
    name: {number: _of_number(name, order, number) for number in (0, 1)}
    for name, order in (("minimum", "<"), ("maximum", ">"))
}
