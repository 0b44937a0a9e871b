"""Dtype rules: from the types of an op's operands to the dtypes it computes in and its result's dtype.

In: an op's name and its operand types, weak ones included.  Out: dtypes to convert to, and the result's.

    arithmetic("add", (F32, WEAK_INT))                       -> (f32, f32), f32
    by_signatures("f32->f32; f64->f64")("halve", (I32,))     -> (f64,), f64

Rows name these functions; ``bcastgen.define_op`` takes those of :data:`RULES` by their name in it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..core.dtypes import (
    BF16,
    BOOL,
    C128,
    F16,
    F32,
    F64,
    I32,
    I64,
    U64,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_INT,
    WEAK_UINT,
    DType,
    Weak,
    dtype,
    in_bytes,
    in_numpy_code,
    meant_by,
    promote,
    resolve_weak,
)
from ..core.errors import DTypeError, ParseError, RangeError

__all__ = [
    "RULES",
    "Converted",
    "Rule",
    "Types",
    "by_function",
    "by_signatures",
    "read_signatures",
    "refuse",
    "refuse_complex",
]

Types = tuple[DType | Weak, ...]
Converted = tuple[tuple[DType, ...], DType]
Rule = Callable[[str, Types], Converted]


def refuse(op: str, operands: Types, why: str) -> DTypeError:
    """Return the error of operand types that a rule does not take."""
    return DTypeError(f"{op}({', '.join(map(str, operands))}): {why}")


def refuse_complex(op: str, operands: Types) -> DTypeError:
    """Return the error of complex operands of an op that has no form for them."""
    return refuse(op, operands, "not defined for complex numbers; use .real, .imag or absolute")


def _common(operands: Types) -> DType:
    """Return the dtype that operands promote to."""
    if len(operands) > 1 and WEAK_UINT in operands and {*operands} <= {WEAK_INT, WEAK_UINT}:
        # NumPy's ufuncs refuse such operands; numpy.where wraps them.
        raise RangeError(
            "a Python integer beyond int64 is out of bounds for int64, which Python integers alone give; write "
            "numpy.uint64(...) or float(...)"
        )
    return promote(*resolve_weak(operands))


def _alike(operands: Types) -> tuple[DType, ...]:
    return (_common(operands),) * len(operands)


def arithmetic(_op: str, operands: Types) -> Converted:
    """Compute in the dtype that operands promote to."""
    loops = _alike(operands)
    return loops, loops[0]


def no_bool(cure: str) -> Rule:
    """Compute in the dtype that operands promote to, which may not be bool."""

    def rule(op: str, operands: Types) -> Converted:
        loops = _alike(operands)
        if loops[0] is BOOL:
            raise refuse(op, operands, f"not defined for bool, as in NumPy; {cure}")
        return loops, loops[0]

    return rule


def bool_as_i8(_op: str, operands: Types) -> Converted:
    """Compute in the dtype that operands promote to, bools as i8."""
    loops = _alike(operands)
    if loops[0] is BOOL:
        loops = (dtype("i8"),) * len(operands)
    return loops, loops[0]


def _float_of(operand: DType) -> DType:
    """Return the float NumPy computes an operand's functions in: f16 for 8-bit integers, f32 for 16-bit ones."""
    return operand if operand.is_inexact else {8: F16, 16: F32}.get(operand.bits, F64)


def floating(_op: str, operands: Types) -> Converted:
    """Compute in the float that NumPy's functions take for these dtypes."""
    dtypes = resolve_weak(operands)
    # bf16 holds 8-bit integers, though not every f16.
    loop = promote(*dtypes) if BF16 in dtypes else promote(*map(_float_of, dtypes))
    return (loop,) * len(operands), loop


def double(_op: str, operands: Types) -> Converted:
    """Compute in f64, or c128 if one is complex, whatever the operands."""
    loop = C128 if any(kind.is_complex for kind in resolve_weak(operands)) else F64
    return (loop,) * len(operands), loop


def exponent(op: str, operands: Types) -> Converted:
    """Give the exponents of floats, as i32."""
    return floating(op, operands)[0], I32


def scaled(op: str, operands: Types) -> Converted:
    """Take a float and an integer, and keep the float."""
    first = operands[0]
    (loop,), _ = floating(op, (first,))
    if loop.is_complex:
        # A Python complex would otherwise take the dtype of a Python integer.
        raise refuse_complex(op, operands)
    if (
        isinstance(first, Weak)
        and first is not WEAK_FLOAT
        and isinstance(operands[1], DType)
        and operands[1] is not BOOL
    ):
        # NumPy takes the first loop whose integers hold the second one.
        loop = F16
    by = operands[1]
    if isinstance(by, Weak):
        # Beside an array NumPy takes the loop of int32, and of Python numbers alone that of int64.
        narrow = isinstance(first, DType) and first is not BOOL
        by = I32 if by is WEAK_INT and narrow else by.default
    if by.is_inexact or by is U64:
        raise refuse(op, operands, "the second is an integer, as in NumPy; use .astype(numpy.int64)")
    count = I64 if max(by.max, I32.max) > I32.max else I32
    loop = F32 if loop is BF16 and count is I64 else loop
    return (loop, count), loop


def divisors(op: str, operands: Types) -> Converted:
    """Compute in the integer that operands promote to, which are not all bools."""
    loops, result = shift(op, operands)
    if promote(*resolve_weak(operands)) is BOOL:
        raise refuse(op, operands, "not defined for bool, as in NumPy; use .astype(numpy.int8)")
    return loops, result


def like_first(_op: str, operands: Types) -> Converted:
    """Give the dtype of the first, to which the op converts the second; a Python number takes it at once if it can."""
    first, value = operands
    kind = first.default if isinstance(first, Weak) else first
    if not isinstance(value, Weak):
        return (kind, value), kind
    held = {WEAK_COMPLEX: kind.is_complex, WEAK_FLOAT: kind.is_inexact}.get(value, kind is not BOOL)
    return (kind, kind if held else value.default), kind


def counted(op: str, operands: Types) -> Converted:
    """Take an integer, bools as i8, and give u8."""
    loops, _ = shift(op, operands)
    return loops, dtype("u8")


def divide(_op: str, operands: Types) -> Converted:
    """Compute in floats; integers as f64."""
    loop = promote(*resolve_weak(operands))
    loop = loop if loop.is_inexact else F64
    return (loop, loop), loop


def compare(_op: str, operands: Types) -> Converted:
    """Compare without loss, and give bool."""
    inexact = any((t.default if isinstance(t, Weak) else t).is_inexact for t in operands)
    if inexact:
        return _alike(operands), BOOL
    # A Python int is compared by its value, whatever the width of the other side, and i64 with u64 exactly.
    exact = tuple(t.default if isinstance(t, Weak) else t for t in operands)
    loop = promote(*exact)
    if not loop.is_float:
        return (loop, loop), BOOL
    return tuple(U64 if t.kind == "unsigned" else I64 for t in exact), BOOL


def to_bool(_op: str, operands: Types) -> Converted:
    """Compute in the dtype that operands promote to, and give bool."""
    return _alike(operands), BOOL


def logical(_op: str, operands: Types) -> Converted:
    """Take and give bools."""
    return (BOOL,) * len(operands), BOOL


def bitwise(meant: str = "") -> Rule:
    """Compute in the integer or bool that operands promote to; an error of floats says what may have been meant."""

    def rule(op: str, operands: Types) -> Converted:
        loops = _alike(operands)
        if loops[0].is_inexact:
            cure = f"{meant} use .astype(numpy.int64)".lstrip()
            raise refuse(op, operands, f"defined for integers and bool only; {cure}")
        return loops, loops[0]

    return rule


def integers(op: str, operands: Types) -> Converted:
    """Compute in the integer that operands promote to."""
    loops = _alike(operands)
    if not loops[0].is_integer:
        raise refuse(op, operands, "defined for integers only; use .astype(numpy.int32)")
    return loops, loops[0]


def shift(op: str, operands: Types) -> Converted:
    """Compute in the integer that operands promote to, bools as i8."""
    loops, _ = bool_as_i8(op, operands)
    if loops[0].is_inexact:
        raise refuse(op, operands, "defined for integers only; use .astype(numpy.int64)")
    return loops, loops[0]


def rounding(op: str, operands: Types) -> Converted:
    """Keep every dtype."""
    # NumPy >= 2.1: integers are already round, and stay what they are.
    return arithmetic(op, operands)


def rounded(op: str, operands: Types) -> Converted:
    """Keep every dtype but bool, which is a float as for NumPy's functions."""
    dtypes = resolve_weak(operands)
    return floating(op, operands) if dtypes[0] is BOOL else rounding(op, operands)


def float_test(_op: str, operands: Types) -> Converted:
    """Look at one float, and give bool; integers as f64."""
    loop = resolve_weak(operands)[0]
    return (loop if loop.is_inexact else F64,), BOOL


def where(_op: str, operands: Types) -> Converted:
    """Take a bool, and compute in the dtype that the others promote to."""
    loop = _common(operands[1:])
    return (BOOL, *(loop,) * (len(operands) - 1)), loop


def clip(op: str, operands: Types) -> Converted:
    """Compute in the dtype that operands promote to, where a Python scalar in front is not weak."""
    # numpy.clip makes an array of its first operand.
    first, *bounds = operands
    return arithmetic(op, (first.default if isinstance(first, Weak) else first, *bounds))


def by_parameter(_op: str, _operands: Types) -> Converted:
    """Fill the place of a rule in the row of a cast, which its parameter types."""
    raise AssertionError("a cast takes its result dtype from its parameter")


# The rules that an op defined at run time can name.
RULES: Mapping[str, Rule] = {
    "same": arithmetic,
    "same number": no_bool("use .astype(numpy.int8)"),
    "same integer": bitwise(),
    "same float": floating,
    "to bool": to_bool,
    "logical": logical,
    "select": where,
}


def read_signatures(op: str, text: str, arity: int) -> tuple[Converted, ...]:
    """Read ``"f32,f32->f32; f64,f64->f64"``: for each signature the operands' dtypes, and the result's.

    Raises
    ------
    ParseError
        If the text is no table of signatures, or one has another number of operands.
    DTypeError
        If a dtype in it is not supported.
    """
    found: list[Converted] = []
    for part in text.split(";"):
        left, arrow, right = part.partition("->")
        words = [word.strip() for word in (*left.split(","), right)]
        if not arrow or not all(word.isidentifier() for word in words):
            raise ParseError(
                f"{op}: dtypes={text!r}: {part.strip()!r} is no signature; write as in 'f32,f32->f32; f64,f64->f64', "
                f"or name a rule: {', '.join(RULES)}"
            )
        *operands, result = (_computed(op, word) for word in words)
        if len(operands) != arity:
            raise ParseError(f"{op}: the signature {part.strip()!r} has {len(operands)} operands, the op has {arity}")
        if any(tuple(operands) == known for known, _ in found):
            raise ParseError(f"{op}: the operands of the signature {part.strip()!r} stand there twice; remove one")
        found.append((tuple(operands), result))
    return tuple(found)


def _computed(op: str, word: str) -> DType:
    """Return the dtype that a word of a signature names, in which an op can compute."""
    row = dtype(word)
    if row.is_storage:
        meant = meant_by(word)
        raise DTypeError(f"{op}: {in_bytes(word, meant) if meant else row.cure}")
    return row


def by_signatures(op: str, text: str, arity: int) -> Rule:
    """Return the rule of a table of signatures: the one that fits exactly, else the first that loses nothing."""
    table = read_signatures(op, text, arity)

    def rule(name: str, operands: Types) -> Converted:
        given = resolve_weak(operands)
        exact = (row for row in table if row[0] == given)
        safe = (row for row in table if all(map(_converts_safely, operands, row[0])))
        chosen = next(exact, None) or next(safe, None)
        if chosen is None:
            raise refuse(name, operands, f"no signature takes these without loss; there are {text}; use .astype(...)")
        return chosen

    return rule


def _converts_safely(source: DType | Weak, target: DType) -> bool:
    if target.is_storage or (isinstance(source, DType) and source.is_storage):
        return source is target
    if isinstance(source, Weak):
        if source is WEAK_COMPLEX or target.is_complex:
            return target.is_complex
        return target.is_float or (source is not WEAK_FLOAT and target.is_integer)
    return promote(source, target) is target


def by_function(function: Callable[..., Any], arity: int) -> Rule:
    """Return the rule that a function of NumPy dtypes gives; see ``bcastgen.define_op``."""

    def rule(op: str, operands: Types) -> Converted:
        given = resolve_weak(operands)
        try:
            said = function(*(operand.np for operand in given))
        except (TypeError, ValueError) as error:
            raise refuse(op, operands, str(error) or "the op's dtype rule refuses these") from None
        loops, result = said if isinstance(said, tuple) and len(said) == 2 else (given, said)
        if result is None or not isinstance(loops, (tuple, list)) or len(loops) != arity:
            raise refuse(
                op,
                operands,
                f"the op's dtype rule returned {said!r}; return the result's dtype, or ({arity} dtypes, result)",
            )
        typed = tuple(map(in_numpy_code, (*loops, result)))
        for row in typed:
            if row.is_storage:
                raise refuse(op, operands, row.cure)
        return typed[:-1], typed[-1]

    return rule
