"""Constants: made of numbers, which kind of Python number they are, and what they are in a dtype.

In: a number, or a constant and a dtype.  Out: the constant of that dtype, or NumPy's error.

    1 beside u8 -> 1:u8        300 beside u8 -> RangeError        1 beside f32 -> 1.0:f32
"""

from __future__ import annotations

from typing import TypeGuard

import numpy as np

from ..core.dtypes import (
    BOOL,
    C128,
    F64,
    I32,
    U64,
    WEAK_COMPLEX,
    WEAK_FLOAT,
    WEAK_HUGE,
    WEAK_INT,
    WEAK_UINT,
    DType,
    Weak,
    dtype,
    in_wider,
)
from ..core.errors import DomainError, DTypeError, RangeError, with_article
from ..ops.table import cast_row
from .nodes import Apply, Constant, Node, Notes, Operand, Reduce

__all__ = [
    "CALLED",
    "OF_NUMBERS",
    "check_casting",
    "check_initial",
    "check_mask",
    "check_mean",
    "constant_from",
    "converted",
    "is_scalar",
    "is_weak_int",
    "may_be_weak",
    "power_of_ten",
    "refuse_negative_exponent",
    "weak_of",
    "with_dtype",
]

# `CALLED` tells NumPy's functions from operators. For bools numpy.power(x, 2) gives an int64, and x**2 an int8. For two
# Python numbers numpy.add gives a NumPy scalar, with a dtype, and + gives a Python number.
# `OF_NUMBERS` are attributes and methods of Python's numbers, too, and give Python numbers.
OF_NUMBERS = ("real", "imag", "conjugate")
CALLED = Notes(called=True)
# From here on a Python int is no float, which Python says, too.
_FLOAT_ENDS = 2**1024 - 2**970


def constant_from(value: object) -> Constant | None:
    """Return the constant for a Python scalar (weak), a NumPy scalar or 0-d array (typed), else None.

    Raises
    ------
    DTypeError
        If a NumPy scalar's dtype is not supported, or a 0-d array is more than its number, as a masked one is.
    RangeError
        If a Python int is beyond every float.
    """
    if isinstance(value, np.ndarray) and type(value) is not np.ndarray:
        from ..core.subclasses import own_meaning  # noqa: PLC0415 - few constants are of a subclass

        own = own_meaning(type(value))
        if own is not None:
            given = with_article(type(value).__name__)
            raise DTypeError(f"{given} gives {own}; write numpy.asarray(x) if plain numbers are meant")
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        kind = dtype(value.dtype)
        return Constant(float(value) if kind.is_float else value.item(), kind)
    match value:
        case bool():
            return Constant(value, BOOL)
        case float():
            # For NumPy a value of a subclass, such as an enum's member, is not weak.
            return Constant(float(value), WEAK_FLOAT if type(value) is float else F64)
        case complex():
            return Constant(complex(value), WEAK_COMPLEX if type(value) is complex else C128)
        case int():
            weak = _weak_int(int(value))
            return Constant(int(value), weak if type(value) is int else weak.default)
    return None


def _weak_int(value: int) -> Weak:
    for weak in (WEAK_INT, WEAK_UINT):
        if weak.default.min <= value <= weak.default.max:
            return weak
    if abs(value) >= _FLOAT_ENDS:
        raise RangeError(f"Python integer {_shorten(value)} is out of bounds for every dtype; use numpy.inf")
    return WEAK_HUGE


def _shorten(value: int) -> str:
    return str(value) if value.bit_length() < 256 else f"of {value.bit_length()} bits"


def weak_of(result: DType) -> Weak:
    """Return the kind of Python number that a result of Python numbers is."""
    return (
        WEAK_COMPLEX
        if result.is_complex
        else WEAK_FLOAT
        if result.is_float
        else WEAK_UINT
        if result is U64
        else WEAK_INT
    )


def is_weak_int(node: Node) -> TypeGuard[Constant]:
    """Tell whether a node is an integer of Python's."""
    return isinstance(node, Constant) and isinstance(node.dtype, Weak) and isinstance(node.value, int)


def is_scalar(node: Node) -> bool:
    """Tell whether a value is computed only from numbers and from reductions over all dims."""
    left, seen = [node], {node}
    while left:
        match left.pop():
            case Reduce(axes=None, keepdims=False) | Constant():
                continue
            case Apply(operands=operands):
                left += [one for one in operands if one not in seen]
                seen.update(operands)
            case _:
                return False
    return True


def converted(node: Constant, target: DType) -> Constant:
    """Return a constant in a dtype.

    Raises
    ------
    RangeError
        If an integer of Python's does not fit (NEP 50).
    """
    value = node.value
    if target.is_inexact:
        return Constant(target.nearest(value), target)
    if target.kind == "bool":
        return Constant(bool(value), target)
    if isinstance(node.dtype, Weak):
        if not target.min <= value <= target.max:
            raise RangeError(
                f"Python integer {value} out of bounds for {target.numpy}; write {in_wider(value, target)} to compute "
                "in a wider dtype"
            )
        return Constant(int(value), target)
    if isinstance(value, int):
        return Constant(target.wrapped(value), target)
    whole = cast_row().evaluate(node.dtype.computed_in.np.type(value), I32 if target.is_storage else target)
    return Constant(target.wrapped(int(whole)), target)


def check_casting(kind: DType | Weak, target: DType, casting: str) -> None:
    """Raise a DTypeError unless NumPy casts so by the rule."""
    source = kind.default if isinstance(kind, Weak) else kind
    if not np.can_cast(source.np, target.np, casting):  # type: ignore[arg-type]
        raise DTypeError(
            f"astype: {source} cannot be cast to {target} by the rule {casting!r}; leave casting= out, or convert to "
            "what holds it"
        )


def check_mask(name: str, kind: DType | Weak) -> None:
    """Raise a DTypeError unless a reduction takes masks of this type: bools, or a Python int, as in NumPy."""
    if kind is not BOOL and kind is not WEAK_INT:
        raise DTypeError(f"{name}: where= has dtype {kind}, expected bool; write where=mask != 0")


def check_initial(name: str, target: DType, node: Node) -> None:
    """Raise an error for a Python number that cannot be the initial value of a reduction of this dtype, as in NumPy.

    Raises
    ------
    DomainError
        If it is NaN, and the dtype has none.
    RangeError
        If the dtype of integers does not hold it; a float is cut to an integer.
    DTypeError
        If it is complex, and the dtype is not.
    """
    if not isinstance(node, Constant) or target.is_complex or target.kind == "bool":
        return
    value = node.value
    if isinstance(value, complex):
        raise DTypeError(f"{name}: initial={value!r} is complex, and the result {target}; give a real number")
    if not target.is_integer or not isinstance(value, float):
        return
    if value != value:
        raise DomainError(f"{name}: initial={value!r} has no value in {target}; give an integer")
    if not target.min <= value <= target.max:
        raise RangeError(f"{name}: initial={value!r} is out of bounds for {target}; give an integer that it holds")


def check_mean(kind: DType, mean: DType) -> None:
    """Raise a DTypeError for a complex mean of real values, whose distances NumPy squares as complex numbers."""
    if mean.is_complex and not kind.is_complex:
        raise DTypeError(f"var: mean= has dtype {mean}, and the values {kind}; write mean=numpy.real(mean)")


def refuse_negative_exponent(loop: DType, exponent: Node) -> None:
    """Raise a DomainError for an integer to the power of a negative constant."""
    if loop.kind == "signed" and isinstance(exponent, Constant) and exponent.value < 0:
        raise DomainError("Integers to negative integer powers are not allowed; cast to float first")


def power_of_ten(exponent: int) -> float:
    """Return the power by which numpy.round scales: a product, which is off in its last bit from 1e23 on."""
    power = 1.0
    for _ in range(min(exponent, 400)):
        power *= 10.0
    return power


def with_dtype(node: Node) -> Node:
    """Return a constant with the dtype that NumPy gives a Python number."""
    if isinstance(node, Constant) and isinstance(node.dtype, Weak) and node.dtype is not WEAK_HUGE:
        return Constant(node.value, node.dtype.default)
    return node


def may_be_weak(node: Node) -> bool:
    """Whether a value may be a Python number in some call: an operand, or what operators make of such."""
    match node:
        case Operand():
            return True
        case Constant():
            return isinstance(node.dtype, Weak)
        case Apply():
            return node.op.dunder is not None and not node.notes.called
    return False
