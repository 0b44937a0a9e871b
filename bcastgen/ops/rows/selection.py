"""Rows that give one of their operands, or its whole part: rounding, extrema, `where`.

In: nothing.  Out: rows, in the order in which they are listed.

    OPS["minimum"].c_for((I32, I32), I32)  ->  "(int32_t)({0} < {1} ? {0} : {1})"
"""

from __future__ import annotations

from typing import Any

from ...core.dtypes import DType
from .. import dtype_rules as rules
from ..c_forms import CForms
from ..facts import FloatFacts, IntegerFacts, Mlir
from ..row import Op

__all__ = ["EXTREMA", "ROUNDING", "SELECTION"]


def _where(_: tuple[DType, ...], result: DType) -> str:
    if result.kind == "bool":
        return "(({0} & {1}) | (!{0} & {2}))"
    return f"{'({T})' * (result.kind == 'signed' and result.bits < 32)}({{0}} ? {{1}} : {{2}})"


def _by_number(order: str) -> dict[float | None, tuple[dict[str, str], float]]:
    """Return the C of an extremum with a constant: one comparison, since only the first operand may be NaN."""
    return {None: ({"float": f"({{1}} {order} {{0}} ? {{1}} : {{0}})"}, 0.4)}


def _rounds(word: str) -> Mlir:
    """Return the MLIR spelling of rounding to whole numbers, which leaves integers as they are."""
    return Mlir({"bool": "{0}", "integer": "{0}", "float": f"math.{word}"})


def _extremum(words: str, kinds: tuple[str, str, str], **facts: Any) -> dict[str, Any]:
    """Return the facts of an extremum; `words` are the arguments of its spelling for floats."""
    signed, unsigned, of_bool = (f"arith.{kind}" for kind in kinds)
    spelled = {"signed": signed, "unsigned": unsigned, "bool": of_bool, "float": f"@extremum {words}"}
    return {"mlir": Mlir(spelled), **facts}


# gcc does not vectorise a selection of bools, so extrema of bools are logical ops.
_BOTH, _EITHER = "({0} && {1})", "({0} || {1})"
_LESS = "({0} < {1} ? {0} : {1})"
_MORE = "({0} > {1} ? {0} : {1})"
_NAN_FIRST = "(({0} %s {1} || {0} != {0}) ? {0} : {1})"
_NAN_LAST = "(({0} %s {1} || {1} != {1}) ? {0} : {1})"
_INTEGERS = ("bool", "signed", "unsigned")
# Floats are compared twice, as either may be NaN.
_EXTREMUM_COST = {"float": 1.0}
_SMALLER, _LARGER = ("minsi", "minui", "andi"), ("maxsi", "maxui", "ori")
_MINIMUM = _extremum(
    "ole 0",
    _SMALLER,
    clamps=("high",),
    forms=CForms(by_constant=_by_number("<")),
    integers=IntegerFacts("minimum", any_width=True, in_words=True),
    floats=FloatFacts("minimum", in_words=True),
)
_MAXIMUM = _extremum(
    "oge 0",
    _LARGER,
    clamps=("low",),
    forms=CForms(by_constant=_by_number(">")),
    integers=IntegerFacts("maximum", any_width=True, in_words=True),
    floats=FloatFacts("maximum", in_words=True),
)
_FMIN = _extremum("ole 1", _SMALLER, integers=IntegerFacts("minimum", any_width=True))
_FMAX = _extremum("oge 1", _LARGER, integers=IntegerFacts("maximum", any_width=True))

ROUNDING: tuple[Op, ...] = (
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
)
EXTREMA: tuple[Op, ...] = (
    *(
        Op(
            name,
            2,
            rules.arithmetic,
            {"bool": of_bool, "signed": f"({{T}}){integer}", "unsigned": integer, "float": nan % order},
            doc,
            representable=True,
            cost_tenths_ns=_EXTREMUM_COST,
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
)
SELECTION: tuple[Op, ...] = (
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
)
