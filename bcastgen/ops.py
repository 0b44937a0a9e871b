"""The table of ops: one row for each semantics; front ends, type rules, C, tests and docs are derived from it.

In: a row's name or alias.  Out: its :class:`Op`, which knows its dtype rule, its C and its reference.

    OPS["add"].types((F32, WEAK_INT)) -> operands (f32, f32), result f32
    OPS["add"].c_for((I8, I8), I8)    -> "(int8_t)((uint32_t){0} + (uint32_t){1})"

To add an op, add a row (CONTRIBUTING.md walks through one); dtype rules stand in ``op_rules``. Ops that users define at
run time (``define.py``) are rows, too, kept apart from the table: ``OPS`` never changes, :func:`find_op` finds both.

In C templates ``{0}``, ``{1}``, ... are operands, ``{T}``
is the result's C type; the loop dtype is that of the first operand after conversion: ``{t}`` its name, ``{W}`` the
unsigned type its arithmetic wraps in (at least as wide as ``unsigned int``, so that nothing promotes to a signed
overflow), ``{h}`` the 32- or 64-bit integer helper that serves it, ``{bits}`` its width, ``{f}`` the suffix of libm's
names, ``{huge}`` its largest finite value. Templates use each operand as a name, never as an expression.

This file is the table: it is long because it has a row for each op.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from . import op_rules as rules
from .dtypes import BOOL, F32, DType
from .errors import BcastgenError
from .op_rules import Rule, Types

if TYPE_CHECKING:
    from .shape.dialect.program import Program

__all__ = ["DEFINED", "OPS", "Definition", "Op", "Param", "find_op", "known_ops"]

CTemplate = str | Mapping[str, str] | Callable[[tuple[DType, ...], DType], str]


@dataclass(frozen=True, slots=True)
class Param:
    """A static parameter of an op: decided when the expression is built, part of the kernel's identity."""

    name: str
    doc: str


@dataclass(frozen=True, slots=True)
class Definition:
    """What a user said of an op; two that are equal are one.

    Attributes
    ----------
    operands : names of the operands.
    c : C expressions over these names, each with the dtypes or kinds it is for; ``""`` is for all.
    dtypes : name of a rule, table of signatures, or function.
    prelude : C definitions that the expressions use, as they were given.
    doc, ulp, reference : as in the row.
    shape : the program that sizes the result, where it is not that of broadcasting.
    maps : with it, the indexing map of each operand.
    """

    operands: tuple[str, ...]
    c: tuple[tuple[str, str], ...]
    dtypes: str | Callable[..., Any]
    prelude: str
    doc: str
    ulp: int
    reference: Callable[..., Any] | None
    shape: Program | None = None
    maps: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Op:
    """One row.

    Attributes
    ----------
    name : NumPy's name where NumPy has the op.
    arity, results : number of operands and of results.
    rule : operand types (weak ones included) -> dtypes the operands are converted to, and the result's.
    c : C template, for all dtypes, by kind of the loop dtype, or computed from the dtypes.
    doc : one sentence, with the semantics where C or NumPy leave a choice.
    dunder : the Python operator, as in ``__add__``.
    aliases : further names the op answers to (array API, Python).
    ulp : bound on the error in units in the last place; 0 means bit-identical to NumPy.
    domain : interval that test and benchmark samples of each operand are drawn from.
    reference : NumPy-like function the values are checked against; None means NumPy's function of that name.
    demand : kind -> C condition each element must satisfy, or the call ends in BCG_DOMAIN with nothing written.
    params : static parameters.
    definition : of an op that a user defined at run time; None for the rows of the table.
    prelude : names and texts of the C definitions that its C calls, beside those of csrc.
    """

    name: str
    arity: int
    rule: Rule
    c: CTemplate
    doc: str
    dunder: str | None = None
    aliases: tuple[str, ...] = ()
    ulp: int = 0
    domain: tuple[float, float] = (-50.0, 50.0)
    reference: Callable[..., Any] | None = None
    demand: Mapping[str, str] | None = None
    params: tuple[Param, ...] = ()
    results: int = 1
    definition: Definition | None = None
    prelude: tuple[tuple[str, str], ...] = ()

    def types(self, operands: Types) -> tuple[tuple[DType, ...], DType]:
        """Return the dtypes the operands are converted to and the result's dtype.

        Raises
        ------
        DTypeError
            Where NumPy has no loop for these dtypes, or its result dtype is not supported.
        """
        return self.rule(self.name, operands)

    def c_for(self, operands: tuple[DType, ...], result: DType) -> str:
        """Return the C template for converted operand dtypes, with only ``{0}``, ``{1}``, ... left open."""
        template = self.c(operands, result) if callable(self.c) else self.c
        if not isinstance(template, str):
            template = template[operands[0].kind]
        return _fill(template, operands, result)

    def demand_for(self, operands: tuple[DType, ...]) -> str | None:
        """Return the condition elements of these dtypes must satisfy, as a C template, or None."""
        return None if self.demand is None else self.demand.get(operands[0].kind)

    def identity(self, operands: tuple[DType, ...], result: DType) -> tuple[tuple[str, Any], ...]:
        """Return what a kernel's dump, and with it its key, says of an op beside its name.

        The package's files decide the C of the table's rows, and the key holds these; a user's C stands in the dump.
        """
        if self.definition is None:
            return ()
        # Without strings, comments and directives, all blanks are alike.
        prelude = (("prelude", repr(" ".join(" ".join(text for _, text in self.prelude).split()))),) * bool(
            self.prelude
        )
        return (("c", repr(self.c_for(operands, result))), *prelude)

    def evaluate(self, *operands: Any) -> Any:
        """Apply the reference to NumPy values.

        Raises
        ------
        BcastgenError
            For an op defined at run time without a reference.
        """
        if self.definition is not None:
            # Behind the operands of a typed op comes its identity, which is C.
            operands = operands[: self.arity]
            if self.reference is None:
                raise BcastgenError(
                    f"{self.name} has no reference, so only C can compute it; give define_op reference=, a function of "
                    "NumPy scalars"
                )
        function = self.reference or getattr(np, self.name)
        with np.errstate(all="ignore"):
            return function(*operands)


def _fill(template: str, operands: tuple[DType, ...], result: DType) -> str:
    loop = operands[0]
    wide = "uint64_t" if loop.bits == 64 else "uint32_t"
    facts = {
        "T": result.c,
        "t": loop.name,
        "W": wide,
        "h": ("u" if loop.kind == "unsigned" else "i") + ("64" if loop.bits == 64 else "32"),
        "bits": str(loop.bits),
        "f": "f" if loop is F32 else "",
        "huge": ("0x1.fffffep+127f" if loop is F32 else "0x1.fffffffffffffp+1023"),
    }
    for name, text in facts.items():
        template = template.replace("{" + name + "}", text)
    return template


# ---- C that depends on more than the kind -------------------------------------------------------------------------


def _cast_c(operands: tuple[DType, ...], result: DType) -> str:
    source = operands[0]
    if result is BOOL:
        return "({0} != 0)"
    if not (source.is_float and result.is_integer):
        return "({T}){0}"
    suffix = "f" if source is F32 else ""
    low = f"-0x1p{result.bits - 1}{suffix}" if result.kind == "signed" else f"0.0{suffix}"
    high = f"0x1p{result.bits - (result.kind == 'signed')}{suffix}"
    bounds = {name.lower(): f"{result.numpy.upper()}_{name}" for name in ("MIN", "MAX")}
    least = bounds["min"] if result.kind == "signed" else "0"
    # What is small is 0 by its own branch, as NaN is: gcc makes (float)(int)x a trunc(x), which is -0.0 for -0.3.
    inside = f"{{0}} <= {low} ? {least} : {{0}} >= {high} ? {bounds['max']} : ({{T}}){{0}}"
    return f"({{T}})(!(fabs{suffix}({{0}}) >= 1) ? 0 : {inside})"


def _comparison(symbol: str) -> Callable[[tuple[DType, ...], DType], str]:
    def c(operands: tuple[DType, ...], result: DType) -> str:
        first, second = operands
        if first is second:
            return f"({{0}} {symbol} {{1}})"
        return f"(bcg_compare_{first}_{second}({{0}}, {{1}}) {symbol} 0)"

    return c


def _same(template: str) -> dict[str, str]:
    """For rows whose C is the same for integers and floats but not for bool."""
    return {"signed": template, "unsigned": template, "float": template}


def _wrapping(symbol: str, for_bool: str | None) -> dict[str, str]:
    integer = f"({{T}})(({{W}}){{0}} {symbol} ({{W}}){{1}})"
    rows = {"signed": integer, "unsigned": integer, "float": f"({{0}} {symbol} {{1}})"}
    return rows if for_bool is None else rows | {"bool": for_bool}


def _math(
    name: str,
    doc: str,
    domain: tuple[float, float] = (-10.0, 10.0),
    *,
    arity: int = 1,
    aliases: tuple[str, ...] = (),
    reference: Callable[..., Any] | None = None,
) -> Op:
    operands = "{0}" if arity == 1 else "{0}, {1}"
    c = f"bcg_{name}_{{t}}({operands})"
    return Op(name, arity, rules.floating, c, doc, aliases=aliases, ulp=4, domain=domain, reference=reference)


# ---- references for what NumPy has not ----------------------------------------------------------------------------


def _as_float(x: Any) -> Any:
    """Convert integers as NumPy does for its own functions."""
    x = np.asarray(x)
    return x if x.dtype.kind == "f" else x.astype(np.sqrt.resolve_dtypes((x.dtype, None))[1])


def _erf(x: Any) -> Any:
    import math

    x = _as_float(x)
    return np.vectorize(math.erf, otypes=[np.float64])(x).astype(x.dtype)


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


def cast_reference(x: Any, target: DType) -> Any:
    """Convert as the cast row does: NaN to integer is 0, other out-of-range floats saturate, integers wrap."""
    x = np.asarray(x)
    with np.errstate(all="ignore"):
        if not (target.is_integer and x.dtype.kind == "f"):
            return x.astype(target.np)
        inside = np.where(np.isnan(x), 0, x)
        low, high = (inside <= float(target.min)), (inside >= float(target.max))
        safe = np.where(low | high, 0, inside).astype(target.np)
        return np.where(low, target.np.type(target.min), np.where(high, target.np.type(target.max), safe))


_LESS = "({0} < {1} ? {0} : {1})"
_MORE = "({0} > {1} ? {0} : {1})"
_NAN_FIRST = "(({0} %s {1} || {0} != {0}) ? {0} : {1})"
_NAN_LAST = "(({0} %s {1} || {1} != {1}) ? {0} : {1})"
_INTEGERS = ("bool", "signed", "unsigned")
_UNIT = (-1.0, 1.0)

_ROWS: tuple[Op, ...] = (
    # arithmetic
    Op("add", 2, rules.arithmetic, _wrapping("+", "({0} || {1})"), "Sum; integers wrap, bool is a logical or.", "add"),
    Op("subtract", 2, rules.no_bool("use logical_xor"), _wrapping("-", None), "Difference; integers wrap.", "sub"),
    Op(
        "multiply",
        2,
        rules.arithmetic,
        _wrapping("*", "({0} && {1})"),
        "Product; integers wrap, bool is a logical and.",
        "mul",
    ),
    Op("divide", 2, rules.divide, "({0} / {1})", "True quotient; integers divide as f64.", "truediv", ("true_divide",)),
    Op(
        "floor_divide",
        2,
        rules.bool_as_i8,
        {
            "signed": "({T})bcg_floor_divide_{h}({0}, {1})",
            "unsigned": "({T})({1} == 0 ? 0 : {0} / {1})",
            "float": "bcg_floor_divide_{t}({0}, {1})",
        },
        "Quotient rounded towards minus infinity; integer x // 0 is 0 and INT_MIN // -1 is INT_MIN.",
        "floordiv",
    ),
    Op(
        "remainder",
        2,
        rules.bool_as_i8,
        {
            "signed": "({T})bcg_remainder_{h}({0}, {1})",
            "unsigned": "({T})({1} == 0 ? 0 : {0} % {1})",
            "float": "bcg_remainder_{t}({0}, {1})",
        },
        "Remainder with the sign of the divisor; integer x % 0 is 0.",
        "mod",
        ("mod",),
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
        ulp=4,
        domain=(0.0, 8.0),
        demand={"signed": "{1} >= 0"},
    ),
    Op(
        "negative",
        1,
        rules.no_bool("use logical_not"),
        {"signed": "({T})(0u - ({W}){0})", "unsigned": "({T})(0u - ({W}){0})", "float": "(-{0})"},
        "Negation; integers wrap.",
        "neg",
    ),
    Op("positive", 1, rules.no_bool("leave it out"), "{0}", "The operand itself.", "pos"),
    Op(
        "absolute",
        1,
        rules.arithmetic,
        {
            "bool": "{0}",
            "signed": "({T})({0} < 0 ? 0u - ({W}){0} : ({W}){0})",
            "unsigned": "{0}",
            "float": "fabs{f}({0})",
        },
        "Magnitude; that of INT_MIN is INT_MIN.",
        "abs",
        ("abs",),
    ),
    Op(
        "sign",
        1,
        rules.no_bool("use .astype(numpy.int8)"),
        {
            "signed": "({T})(({0} > 0) - ({0} < 0))",
            "unsigned": "({T})({0} > 0)",
            "float": "({0} != {0} ? {0} : ({T})(({0} > 0) - ({0} < 0)))",
        },
        "-1, 0 or 1; NaN stays NaN.",
    ),
    Op(
        "square",
        1,
        rules.bool_as_i8,
        _same("({0} * {0})") | {k: "({T})(({W}){0} * ({W}){0})" for k in ("signed", "unsigned")},
        "The operand times itself; integers wrap.",
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
    ),
    Op("sqrt", 1, rules.floating, "sqrt{f}({0})", "Square root, correctly rounded.", domain=(0.0, 100.0)),
    # functions
    _math("exp", "e to the power of the operand."),
    _math("exp2", "2 to the power of the operand."),
    _math("expm1", "exp(x) - 1 without cancellation."),
    _math("log", "Natural logarithm.", (0.0, 100.0)),
    _math("log2", "Logarithm to base 2.", (0.0, 100.0)),
    _math("log10", "Logarithm to base 10.", (0.0, 100.0)),
    _math("log1p", "log(1 + x) without cancellation.", (-1.0, 100.0)),
    _math("sin", "Sine of an angle in radians."),
    _math("cos", "Cosine of an angle in radians."),
    _math("tan", "Tangent of an angle in radians."),
    _math("tanh", "Hyperbolic tangent."),
    _math("sinh", "Hyperbolic sine."),
    _math("cosh", "Hyperbolic cosine."),
    _math("arcsin", "Inverse sine, in radians.", _UNIT, aliases=("asin",)),
    _math("arccos", "Inverse cosine, in radians.", _UNIT, aliases=("acos",)),
    _math("arctan", "Inverse tangent, in radians.", aliases=("atan",)),
    _math("arctan2", "Angle of the point (second, first), in radians.", arity=2, aliases=("atan2",)),
    _math("hypot", "Length of the hypotenuse, without overflow on the way.", arity=2),
    _math("erf", "Error function.", (-4.0, 4.0), reference=_erf),
    _math("sigmoid", "1 / (1 + exp(-x)).", reference=_sigmoid),
    _math("rsqrt", "1 / sqrt(x).", (0.01, 100.0), reference=_rsqrt),
    # rounding
    *(
        Op(name, 1, rules.rounding, {"float": name + "{f}({0})"} | dict.fromkeys(_INTEGERS, "{0}"), doc)
        for name, doc in (
            ("floor", "Largest whole number not above; integers stay."),
            ("ceil", "Smallest whole number not below; integers stay."),
            ("trunc", "Whole part, rounded towards 0; integers stay."),
        )
    ),
    Op("rint", 1, rules.floating, "rint{f}({0})", "Nearest whole number, halves to even."),
    # extrema
    *(
        Op(name, 2, rules.arithmetic, dict.fromkeys(_INTEGERS, integer) | {"float": nan % order}, doc)
        for name, integer, nan, order, doc in (
            ("minimum", _LESS, _NAN_FIRST, "<=", "Smaller of two; NaN if either is."),
            ("maximum", _MORE, _NAN_FIRST, ">=", "Larger of two; NaN if either is."),
            ("fmin", _LESS, _NAN_LAST, "<=", "Smaller of two; the other one where one is NaN."),
            ("fmax", _MORE, _NAN_LAST, ">=", "Larger of two; the other one where one is NaN."),
        )
    ),
    Op(
        "clip",
        3,
        rules.clip,
        dict.fromkeys(_INTEGERS, "({0} < {1} ? ({1} > {2} ? {2} : {1}) : ({0} > {2} ? {2} : {0}))")
        | {"float": "bcg_clip_{t}({0}, {1}, {2})"},
        "minimum(maximum(x, low), high); NaN if any is.",
    ),
    # comparisons
    Op("equal", 2, rules.compare, _comparison("=="), "True where equal; NaN equals nothing.", "eq"),
    Op("not_equal", 2, rules.compare, _comparison("!="), "True where not equal.", "ne"),
    Op("less", 2, rules.compare, _comparison("<"), "True where the first is smaller.", "lt"),
    Op("less_equal", 2, rules.compare, _comparison("<="), "True where the first is not larger.", "le"),
    Op("greater", 2, rules.compare, _comparison(">"), "True where the first is larger.", "gt"),
    Op("greater_equal", 2, rules.compare, _comparison(">="), "True where the first is not smaller.", "ge"),
    # logic and bits
    Op("logical_and", 2, rules.logical, "({0} && {1})", "Both are non-zero."),
    Op("logical_or", 2, rules.logical, "({0} || {1})", "Either is non-zero."),
    Op("logical_xor", 2, rules.logical, "({0} != {1})", "Exactly one is non-zero."),
    Op("logical_not", 1, rules.logical, "(!{0})", "Is zero."),
    *(
        Op(f"bitwise_{word}", 2, rules.bitwise, f"({{T}})({{0}} {symbol} {{1}})", f"Bitwise {word}.", word)
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
    ),
    Op(
        "left_shift",
        2,
        rules.shift,
        {
            "signed": "({T})(({1} < 0 || {1} >= {bits}) ? 0 : ({W}){0} << {1})",
            "unsigned": "({T})({1} >= {bits} ? 0 : ({W}){0} << {1})",
        },
        "Shift towards the high bits; a count outside [0, width) gives 0.",
        "lshift",
        ("bitwise_left_shift",),
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
    ),
    # floating-point classes
    Op("isnan", 1, rules.float_test, "({0} != {0})", "Is not a number."),
    Op("isinf", 1, rules.float_test, "(fabs{f}({0}) > {huge})", "Is an infinity."),
    Op("isfinite", 1, rules.float_test, "(fabs{f}({0}) <= {huge})", "Is neither an infinity nor NaN."),
    Op("signbit", 1, rules.float_test, "(signbit({0}) != 0)", "Has its sign bit set, as -0.0 has."),
    Op("copysign", 2, rules.floating, "copysign{f}({0}, {1})", "The first one's magnitude with the second one's sign."),
    # selection and conversion
    Op("where", 3, rules.where, "({0} ? {1} : {2})", "The second where the first is true, else the third."),
    Op(
        "cast",
        1,
        rules.by_parameter,
        _cast_c,
        "Conversion to `dtype`: floats truncate, NaN to integer is 0, other floats saturate; integers wrap.",
        reference=cast_reference,
        params=(Param("dtype", "the dtype to convert to"),),
    ),
)

OPS: dict[str, Op] = {row.name: row for row in _ROWS}
_BY_ANY_NAME: dict[str, Op] = OPS | {alias: row for row in _ROWS for alias in row.aliases}


class _Defined:
    """The ops defined at run time. Readers see a whole mapping, old or new: it is replaced, never changed."""

    def __init__(self) -> None:
        self.rows: Mapping[str, Op] = {}
        self.replacements = 0
        self._lock = threading.Lock()

    def add(self, op: Op, replace: bool) -> Op:
        """Add a row, or return the one with the same definition.

        Raises
        ------
        BcastgenError
            If there is another one of its name, and it is not to be replaced.
        """
        with self._lock:
            known = self.rows.get(op.name)
            if known is not None and known.definition == op.definition:
                return known
            if known is not None and not replace:
                raise BcastgenError(
                    f"{op.name} is defined already, and otherwise; pass replace=True, or choose another name"
                )
            self.rows = {**self.rows, op.name: op}
            # After the rows: who sees the new count sees the new row.
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
