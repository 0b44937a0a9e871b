"""The table of TOSA's element-wise ops: for each op its name, our row, and its allowed types.

In: an op's name.  Out: its :class:`TosaOp`.

    find_tosa("intdiv")  ->  TosaOp("intdiv", 2, "truncate_divide", aliases=("int_div",), kinds=("signed",), ...)

Sources: the TOSA specification 1.0 for what ops mean, its 1.1 draft for the element types with every extension
(INT16, INT64, BF16, FP8E4M3, FP8E5M2). The reader chooses another row where an attribute asks for it: ``round`` of a
shift, ``nan_mode``, the shift of a product of integers.
"""

from __future__ import annotations

from ...core.frozen import dataclass

__all__ = ["TOSA_OPS", "TOSA_REDUCTIONS", "WRITTEN_FOR", "TosaOp", "find_reduction", "find_tosa"]

Combination = tuple[tuple[str, ...], str]


@dataclass(frozen=True, slots=True)
class TosaOp:
    """One op of TOSA.

    Attributes
    ----------
    name : the op's name without ``tosa.``.
    arity : the number of operands that broadcast.
    row : the name of our row.
    integer_row : the name of our row for integers, if it differs.
    aliases : names of the op in older versions.
    attributes : names of its attributes, in the spellings of every version.
    extra : names of the one-element operands that follow those that broadcast.
    kinds : the kinds of element that it supports; for ``select``, those of the selected values.
    strict : the element types in the specification's table, of operands that broadcast and of the result.
    """

    name: str
    arity: int
    row: str
    integer_row: str | None = None
    aliases: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    strict: tuple[Combination, ...] = ()


# Kinds of element, as in the table of dtypes.
_NUMBERS = ("signed", "unsigned", "float")
_INTEGERS = ("signed", "unsigned")
# An i1 is no number: specification, lowerings and NumPy disagree about its sum and its order.
_BITS = ("bool", *_INTEGERS)
_ANY = ("bool", *_NUMBERS)

_FLOATS = ("f16", "bf16", "f32")
_FLOATS8 = ("f8E4M3FN", "f8E5M2")
_WIDE = ("i32", "i64", *_FLOATS)
_WHOLE = ("i8", "i16", "i32", "i64")

_CLAMP = ("min_val", "max_val", "min_fp", "max_fp", "min_int", "max_int", "nan_mode")

# For each element type the types that it may be cast to.
_CASTS = {
    "i1": ("i8", "i16", "i32", "i64", "f32"),
    "i8": ("i1", "i16", "i32", *_FLOATS),
    "i16": ("i1", "i8", "i32", *_FLOATS),
    "i32": ("i1", "i8", "i16", "i64", *_FLOATS),
    "i64": ("i1", "i32"),
    "f16": ("i8", "i16", "i32", "f32", *_FLOATS8),
    "bf16": ("i8", "i16", "i32", "f32", *_FLOATS8),
    "f32": ("i1", "i8", "i16", "i32", "f16", "bf16", *_FLOATS8),
    **dict.fromkeys(_FLOATS8, _FLOATS),
}
_PRODUCTS = {"i8": "i32", "i16": "i32", "i32": "i32", "i64": "i64"} | {name: name for name in _FLOATS}


def _alike(arity: int, elements: tuple[str, ...], result: str | None = None) -> tuple[Combination, ...]:
    return tuple(((element,) * arity, result or element) for element in elements)


def _unary(name: str, row: str, kinds: tuple[str, ...], elements: tuple[str, ...], attributes: str = "") -> TosaOp:
    given = tuple(attributes.split())
    return TosaOp(name, 1, row, attributes=given, kinds=kinds, strict=_alike(1, elements))


def _binary(name: str, row: str, kinds: tuple[str, ...], elements: tuple[str, ...], attributes: str = "") -> TosaOp:
    return TosaOp(name, 2, row, attributes=tuple(attributes.split()), kinds=kinds, strict=_alike(2, elements))


def _comparison(name: str, kinds: tuple[str, ...]) -> TosaOp:
    return TosaOp(name, 2, name, kinds=kinds, strict=_alike(2, _WIDE, "i1"))


TOSA_OPS: tuple[TosaOp, ...] = (
    # ops of one operand
    _unary("abs", "absolute", _NUMBERS, _WIDE),
    _unary("bitwise_not", "bitwise_invert", _BITS, _WHOLE),
    TosaOp(
        "cast",
        1,
        "tosa_cast",
        attributes=("input_unsigned",),
        kinds=_ANY,
        strict=tuple(((source,), target) for source, targets in _CASTS.items() for target in targets),
    ),
    _unary("clamp", "clip", _NUMBERS, ("i8", "i16", *_FLOATS), " ".join(_CLAMP)),
    _unary("clz", "clz", _INTEGERS, ("i32", "i64")),
    *(
        _unary(name, name, ("float",), _FLOATS)
        for name in ("ceil", "cos", "erf", "exp", "floor", "log", "reciprocal", "rsqrt", "sigmoid", "sin", "tanh")
    ),
    _unary("logical_not", "logical_not", ("bool",), ("i1",)),
    TosaOp(
        "negate",
        1,
        "negative",
        "tosa_negate",
        attributes=("quantization_info",),
        extra=("input1_zp", "output_zp"),
        kinds=_NUMBERS,
        strict=_alike(1, (*_WHOLE, *_FLOATS)),
    ),
    # ops of two operands
    _binary("add", "add", _NUMBERS, _WIDE),
    _binary("sub", "subtract", _NUMBERS, _WIDE),
    TosaOp(
        "mul",
        2,
        "multiply",
        attributes=("shift",),
        extra=("shift",),
        kinds=_NUMBERS,
        strict=tuple(((element, element), result) for element, result in _PRODUCTS.items()),
    ),
    TosaOp("intdiv", 2, "truncate_divide", aliases=("int_div",), kinds=("signed",), strict=_alike(2, ("i32", "i64"))),
    _binary("arithmetic_right_shift", "right_shift", ("signed",), _WHOLE, "round"),
    _binary("logical_left_shift", "left_shift", _INTEGERS, _WHOLE),
    _binary("logical_right_shift", "logical_right_shift", _INTEGERS, _WHOLE),
    *(_binary(f"bitwise_{word}", f"bitwise_{word}", _BITS, _WHOLE) for word in ("and", "or", "xor")),
    *(_binary(f"logical_{word}", f"logical_{word}", ("bool",), ("i1",)) for word in ("and", "or", "xor")),
    _comparison("equal", _ANY),
    _comparison("greater", _NUMBERS),
    _comparison("greater_equal", _NUMBERS),
    _binary("maximum", "maximum", _NUMBERS, _WIDE, "nan_mode"),
    _binary("minimum", "minimum", _NUMBERS, _WIDE, "nan_mode"),
    _binary("pow", "power", ("float",), _FLOATS),
    # ops of three operands
    TosaOp(
        "select",
        3,
        "where",
        kinds=_ANY,
        strict=tuple((("i1", element, element), element) for element in ("i1", *_WHOLE, *_FLOATS)),
    ),
)

# Reductions, of one dim: `row` is the name of a row of ops/rows/reductions.py.
TOSA_REDUCTIONS: tuple[TosaOp, ...] = (
    TosaOp("reduce_sum", 1, "sum", attributes=("axis",), kinds=_NUMBERS, strict=_alike(1, _WIDE)),
    TosaOp(
        "reduce_product",
        1,
        "prod",
        aliases=("reduce_prod",),
        attributes=("axis",),
        kinds=_NUMBERS,
        strict=_alike(1, _FLOATS),
    ),
    *(
        TosaOp(
            f"reduce_{row}",
            1,
            row,
            attributes=("axis", "nan_mode"),
            kinds=_NUMBERS,
            strict=_alike(1, (*_WHOLE, *_FLOATS)),
        )
        for row in ("max", "min")
    ),
    *(
        TosaOp(f"reduce_{row}", 1, row, attributes=("axis",), kinds=("bool",), strict=_alike(1, ("i1",)))
        for row in ("any", "all")
    ),
    TosaOp(
        "argmax",
        1,
        "argmax",
        attributes=("axis", "nan_mode"),
        kinds=_NUMBERS,
        strict=(*_alike(1, ("i8", "i16", *_FLOATS), "i32"), *_alike(1, (*_WHOLE, *_FLOATS), "i64")),
    ),
)

# Names that texts about TOSA use and no version of it has, and the op that is meant.
WRITTEN_FOR = {"div": "intdiv"}

_BY_NAME = {name: row for row in TOSA_OPS for name in (row.name, *row.aliases)}
_REDUCTIONS = {name: row for row in TOSA_REDUCTIONS for name in (row.name, *row.aliases)}


def find_tosa(name: str) -> TosaOp | None:
    """Return the row of an op by its name or alias without ``tosa.``; None if there is no such op.

    Examples
    --------
    >>> find_tosa("int_div").name, find_tosa("sub").row, find_tosa("conv2d")
    ('intdiv', 'subtract', None)
    """
    return _BY_NAME.get(name)


def find_reduction(name: str) -> TosaOp | None:
    """Return the row of a reduction by its operation's whole name; None if it is none.

    Examples
    --------
    >>> find_reduction("tosa.reduce_prod").row, find_reduction("tosa.add")
    ('prod', None)
    """
    return _REDUCTIONS.get(name.removeprefix("tosa.")) if name.startswith("tosa.") else None
