"""Spells each row of the table of ops in TOSA: by one op, or by several that together mean the same.

In: a row and the dtypes of its operands.  Out: a call of TOSA ops as text; or an error that names the row.

    less of f32    ->  greater(b, a)
    trunc of f32   ->  select(greater(0, a), ceil(a), floor(a))
    arctan2        ->  BcastgenError: row 'arctan2' of (f32, f32) has no TOSA op; ...

In a spelling ``a``, ``b``, ``c`` are operands, a number has the first operand's dtype, ``cast(x)`` converts to the
result's dtype and ``i32(x)`` to i32. Each spelling agrees with its row bit for bit wherever TOSA defines a result: TOSA
does not define overflow, x / 0 and shifts by too much. A row that is the meaning of one TOSA op needs no line here: the
op's row gives its spelling.
"""

from __future__ import annotations

from ...core.dtypes import DType
from ...core.errors import BcastgenError
from ...ops.row import Op
from .table import TOSA_OPS, TosaOp

__all__ = ["spelling"]

_INTEGERS = ("signed", "unsigned")
_NUMBERS = (*_INTEGERS, "float")
_KINDS = ("bool", *_NUMBERS)
_TRUNC = "select(greater(0, a), ceil(a), floor(a))"
_TRUNC_SMALL = "select(greater(f32(0), f32(a)), ceil(f32(a)), floor(f32(a)))"


def spelling(op: Op, operands: tuple[DType, ...], result: DType) -> str:
    """Return a row's spelling.

    Raises
    ------
    BcastgenError
        If TOSA cannot express the row.

    Examples
    --------
    >>> from bcastgen.core.dtypes import F32, BOOL
    >>> from bcastgen.ops.table import OPS
    >>> spelling(OPS["less"], (F32, F32), BOOL), spelling(OPS["tanh"], (F32,), F32)
    ('greater(b, a)', 'tanh(a)')
    """
    if op.definition is not None:
        raise BcastgenError(
            f"op '{op.name}', which define_op made of C, has no TOSA op; write it as an expression of other ops"
        )
    first = operands[0].kind
    own = {"cast": _cast, "tosa_negate": _negate, "truncate_divide": _truncate_divide}.get(op.name)
    alike = len(set(operands)) == 1 or op.name not in _COMPARISONS
    if any(kind.is_complex for kind in (*operands, result)):
        # TOSA has no complex numbers.
        found = None
    elif own is not None:
        found = own(operands[0], result)
    else:
        found = (_ROWS.get(op.name) or _BY_TOSA.get(op.name, {})).get(first) if alike else None
    if found is None:
        shown = ", ".join(map(str, operands))
        raise BcastgenError(f"row '{op.name}' of ({shown}) has no TOSA op; print linalg, or leave it to the kernel's C")
    return found


def _cast(source: DType, result: DType) -> str | None:
    # TOSA's cast rounds to the nearest integer, so truncate before it.
    if not (source.is_float and result.is_integer):
        return "cast(a)"
    whole = _TRUNC_SMALL if source.is_small_float else _TRUNC
    # The low bits of an i32 make an integer of a storage type.
    return f"cast(i32({whole}))" if result.is_storage else f"cast({whole})"


def _truncate_divide(source: DType, _result: DType) -> str | None:
    if source.bits < 32:
        return "cast(intdiv(i32(a), i32(b)))"
    return "intdiv(a, b)" if source.kind == "signed" else None


def _negate(source: DType, _result: DType) -> str | None:
    """Spell negation with any zero points; tosa.negate has them for i8 only, one for all elements."""
    if source.bits >= 32:
        return "sub(add(b, c), a)"
    difference = "sub(add(i32(b), i32(c)), i32(a))"
    return f"cast(minimum(maximum({difference}, i32({source.min})), i32({source.max})))"


def _all(kinds: tuple[str, ...], text: str) -> dict[str, str]:
    return dict.fromkeys(kinds, text)


def _extremum(word: str, boolean: str, nan_mode: str = "") -> dict[str, str]:
    floats = {"float": f"{word}(a, b{nan_mode})"}
    return {"bool": f"logical_{boolean}(a, b)"} | _all(_INTEGERS, f"{word}(a, b)") | floats


def _rounding(text: str) -> dict[str, str]:
    return _all(("bool", *_INTEGERS), "a") | {"float": text}


def _comparison(numbers: str, bools: str) -> dict[str, str]:
    return _all(_NUMBERS, numbers) | {"bool": bools}


_COMPARISONS = {
    "equal": _comparison("equal(a, b)", "logical_not(logical_xor(a, b))"),
    "not_equal": _comparison("logical_not(equal(a, b))", "logical_xor(a, b)"),
    "less": _comparison("greater(b, a)", "logical_and(logical_not(a), b)"),
    "less_equal": _comparison("greater_equal(b, a)", "logical_or(logical_not(a), b)"),
    "greater": _comparison("greater(a, b)", "logical_and(a, logical_not(b))"),
    "greater_equal": _comparison("greater_equal(a, b)", "logical_or(a, logical_not(b))"),
}

# Spellings by the row's name, then by the kind of the first operand.
_ROWS: dict[str, dict[str, str]] = {
    "add": {"bool": "logical_or(a, b)"} | _all(_NUMBERS, "add(a, b)"),
    "multiply": {"bool": "logical_and(a, b)"} | _all(_NUMBERS, "mul(a, b)"),
    # Negating integers saturates those of 8 and 16 bits.
    "negative": {"float": "negate(a)"} | _all(_INTEGERS, "sub(0, a)"),
    "positive": _all(_KINDS, "a"),
    "absolute": {"signed": "abs(a)", "float": "abs(a)"} | _all(("bool", "unsigned"), "a"),
    "sign": {
        "signed": "select(greater(a, 0), 1, select(greater(0, a), -1, 0))",
        "unsigned": "select(greater(a, 0), 1, 0)",
        "float": "select(greater(a, 0), 1, select(greater(0, a), -1, select(equal(a, 0), 0, a)))",
    },
    "reciprocal": {
        "signed": "select(equal(a, 1), 1, select(equal(a, -1), -1, 0))",
        "unsigned": "select(equal(a, 1), 1, 0)",
        "float": "reciprocal(a)",
    },
    "square": _all(_NUMBERS, "mul(a, a)"),
    "floor": _rounding("floor(a)"),
    "ceil": _rounding("ceil(a)"),
    "trunc": _rounding(_TRUNC),
    "minimum": _extremum("minimum", "and"),
    "maximum": _extremum("maximum", "or"),
    "fmin": _extremum("minimum", "and", ", nan_mode=IGNORE"),
    "fmax": _extremum("maximum", "or", ", nan_mode=IGNORE"),
    "clip": {"bool": "logical_and(logical_or(a, b), c)"} | _all(_NUMBERS, "minimum(maximum(a, b), c)"),
    **_COMPARISONS,
    **{
        f"bitwise_{word}": {"bool": f"logical_{word}(a, b)"} | _all(_INTEGERS, f"bitwise_{word}(a, b)")
        for word in ("and", "or", "xor")
    },
    "bitwise_invert": {"bool": "logical_not(a)"} | _all(_INTEGERS, "bitwise_not(a)"),
    "right_shift": {"signed": "arithmetic_right_shift(a, b, round=false)", "unsigned": "logical_right_shift(a, b)"},
    "rounding_right_shift": {"signed": "arithmetic_right_shift(a, b, round=true)"},
    "isnan": {"float": "logical_not(equal(a, a))"},
    "isinf": {"float": "equal(abs(a), inf)"},
    "isfinite": {"float": "greater(inf, abs(a))"},
    "tosa_cast": _all(_KINDS, "cast(a)"),
    "tosa_multiply_shift": {"signed": "mul(a, b, c)"},
}


def _plain(op: TosaOp) -> dict[str, str]:
    # The first operand of a select is a bool, whatever the others are.
    kinds = ("bool",) if op.arity == 3 else op.kinds
    return _all(kinds, f"{op.name}({', '.join('abc'[: op.arity])})")


_BY_TOSA: dict[str, dict[str, str]] = {op.row: _plain(op) for op in TOSA_OPS}
