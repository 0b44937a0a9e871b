"""Arithmetic on `index` and `i1`, beside the shape ops: regions compute with it.

In: ints and bools, or None where unknown.  Out: likewise, or `Failed` for a division by 0.

    wrap(2**63) -> -2**63        floor_divide(-7, 2) -> -4        compare("ult", -1, 1) -> False

An index has 64 bits and wraps, as LLVM's does on the machines we emit C for.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from .ir import Operation
from .row import Failed

__all__ = [
    "COMPARISONS",
    "binary",
    "bitwise",
    "ceil_divide",
    "checked",
    "compare",
    "divide",
    "floor_divide",
    "remainder",
    "select",
    "shift",
    "unsigned",
    "wrap",
]

_BITS = 64
Function = Callable[[int, int], "int | Failed"]

COMPARISONS: dict[str, tuple[Callable[[int, int], bool], bool]] = {
    "eq": (operator.eq, False),
    "ne": (operator.ne, False),
    **{f"s{name}": (getattr(operator, name), False) for name in ("lt", "le", "gt", "ge")},
    **{f"u{name}": (getattr(operator, name), True) for name in ("lt", "le", "gt", "ge")},
}


def wrap(value: int) -> int:
    """Return the number that 64 bits hold, in two's complement."""
    return (value + (1 << (_BITS - 1))) % (1 << _BITS) - (1 << (_BITS - 1))


def divide(a: int, b: int) -> int | Failed:
    """Return the quotient, rounded towards 0; a division by 0 fails."""
    if b == 0:
        return Failed("division by 0")
    return wrap(abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1))


def floor_divide(a: int, b: int) -> int | Failed:
    """Return the quotient, rounded down; a division by 0 fails."""
    return wrap(a // b) if b else Failed("division by 0")


def ceil_divide(a: int, b: int) -> int | Failed:
    """Return the quotient, rounded up; a division by 0 fails."""
    return wrap(-(-a // b)) if b else Failed("division by 0")


def remainder(a: int, b: int) -> int | Failed:
    """Return the rest that `divide` leaves, which has the sign of the first."""
    return (abs(a) % abs(b)) * (-1 if a < 0 else 1) if b else Failed("division by 0")


def unsigned(function: Function) -> Function:
    """Return a function of the numbers that the bits of two indices stand for without a sign."""

    def of_bits(a: int, b: int) -> int | Failed:
        made = function(a % (1 << _BITS), b % (1 << _BITS))
        return made if isinstance(made, Failed) else wrap(made)

    return of_bits


def shift(function: Function) -> Function:
    """Return a shift, which fails for a count that is not from 0 to 63."""
    return lambda a, b: function(a, b) if 0 <= b < _BITS else Failed("shift by a count outside 0 to 63")


def bitwise(function: Function) -> Callable[..., Any]:
    """Return the evaluation of a function of the bits of two indices or predicates; one may be enough to know it."""

    def evaluate(operation: Operation, a: int | None, b: int | None) -> Any:
        known = a if b is None else b
        if known is None:
            return None
        if a is not None and b is not None:
            return function(a, b)
        clear, all_set = (False, True) if operation.results[0].type.kind == "i1" else (0, -1)
        outcome = function(known, clear)
        return outcome if outcome == function(known, all_set) else None

    return evaluate


def binary(function: Function) -> Callable[..., Any]:
    """Return the evaluation of a function of two indices; unknown if either is."""

    def evaluate(operation: Operation, a: int | None, b: int | None) -> Any:
        return None if a is None or b is None else function(a, b)

    return evaluate


def checked(value: int) -> int | Failed:
    """Return a number if 64 bits hold it."""
    return value if wrap(value) == value else Failed("overflow")


def compare(operation: Operation, a: int | None, b: int | None) -> bool | None:
    """Return the outcome of the comparison that the operation names."""
    function, unsigned = COMPARISONS[operation.attribute("predicate")]
    if a is None or b is None:
        return None
    return function(a % (1 << _BITS), b % (1 << _BITS)) if unsigned else function(a, b)


def select(operation: Operation, condition: bool | None, a: Any, b: Any) -> Any:
    """Return one operand or the other; what they agree on if the condition is unknown."""
    if condition is None:
        return a if a == b else None
    return a if condition else b
