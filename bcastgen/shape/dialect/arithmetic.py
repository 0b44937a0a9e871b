"""Arithmetic on `index` and `i1`, with which regions compute beside the shape ops.

In: ints and bools, or None where unknown.  Out: ints and bools or None, or `Failed` for a division by 0.

    wrap(2**63) -> -2**63        floor_divide(-7, 2) -> -4        compare("ult", -1, 1) -> False

An index has 64 bits and wraps, as LLVM's does on the machines we emit C for. It may also be computed from names
(types/extent_expr.py), as long as nothing wraps for any of their extents.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ..types import extent_expr, extent_ops
from ..types.dim import MAX_EXTENT
from ..types.extent_expr import Extent
from ..types.extent_span import is_less, is_same, span
from .either import either
from .ir import Operation
from .row import Failed

__all__ = [
    "COMPARISONS",
    "LOWEST",
    "Function",
    "OfExtents",
    "binary",
    "bitwise",
    "ceil_divide",
    "ceil_divide_extents",
    "checked",
    "compare",
    "divide",
    "floor_divide",
    "natural",
    "remainder",
    "remainder_extents",
    "select",
    "shift",
    "unsigned",
    "wrap",
]

_BITS = 64
LOWEST = -(2 ** (_BITS - 1))
Function = Callable[[int, int], "int | Failed"]
OfExtents = Callable[[Extent, Extent], "Extent | None"]

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
    """Return the remainder of `divide`, which has the sign of the dividend; a division by 0 fails."""
    return (abs(a) % abs(b)) * (-1 if a < 0 else 1) if b else Failed("division by 0")


def unsigned(function: Function) -> Function:
    """Return a function that reads the bits of two indices as unsigned numbers."""

    def of_bits(a: int, b: int) -> int | Failed:
        made = function(a % (1 << _BITS), b % (1 << _BITS))
        return made if isinstance(made, Failed) else wrap(made)

    return of_bits


def shift(function: Function) -> Function:
    """Return a shift, which fails for a count that is not from 0 to 63."""
    return lambda a, b: function(a, b) if 0 <= b < _BITS else Failed("shift by a count outside 0 to 63")


def bitwise(function: Function) -> Callable[..., Any]:
    """Return the evaluation of a bitwise function of two indices or predicates; one known operand may decide it."""

    def evaluate(operation: Operation, a: Extent | None, b: Extent | None) -> Any:
        if isinstance(a, int) and isinstance(b, int):
            return function(a, b)
        # The bits of an extent computed from names are unknown.
        known = a if isinstance(a, int) else b
        if not isinstance(known, int):
            return None
        clear, all_set = (False, True) if operation.results[0].type.kind == "i1" else (0, -1)
        outcome = function(known, clear)
        return outcome if outcome == function(known, all_set) else None

    return evaluate


def binary(function: Function, of_extents: OfExtents | None = None, wraps: bool = True) -> Callable[..., Any]:
    """Return the evaluation of a function of two indices; unknown if either is.

    `of_extents` is the same function of extents computed from names; if it `wraps`, a value that may wrap is unknown.
    """

    def evaluate(operation: Operation, a: Extent | None, b: Extent | None) -> Any:
        if isinstance(a, int) and isinstance(b, int):
            return function(a, b)
        made = of_extents(a, b) if of_extents is not None and a is not None and b is not None else None
        return made if made is not None and not (wraps and not is_held(made)) else None

    return evaluate


def is_held(extent: Extent) -> bool:
    """Tell whether 64 bits hold an index for all extents of the names that it is computed from."""
    where = span(extent)
    return where.low >= LOWEST and where.high <= MAX_EXTENT


def natural(function: OfExtents) -> OfExtents:
    """Return a function of extents that gives None if one may be negative."""
    return lambda a, b: function(a, b) if min(span(a).low, span(b).low) >= 0 else None


def ceil_divide_extents(a: Extent, b: Extent) -> Extent | None:
    """Return the quotient, rounded up, where the divisor is certain to be more than 0."""
    return extent_ops.floor_divide(extent_expr.add(a, extent_expr.subtract(b, 1)), b) if span(b).low > 0 else None


def remainder_extents(a: Extent, b: Extent) -> Extent | None:
    """Return the remainder of the quotient rounded down."""
    return extent_expr.subtract(a, extent_expr.multiply(extent_ops.floor_divide(a, b), b))


def checked(value: int) -> int | Failed:
    """Return a number if 64 bits hold it."""
    return value if wrap(value) == value else Failed("overflow")


def compare(operation: Operation, a: Extent | None, b: Extent | None) -> bool | None:
    """Return the outcome of the comparison that the operation names."""
    function, unsigned = COMPARISONS[operation.attribute("predicate")]
    if a is None or b is None:
        return None
    if not isinstance(a, int) or not isinstance(b, int):
        # Signed and unsigned comparisons agree on numbers that are not negative.
        return _compare_extents(function, a, b) if not unsigned or min(span(a).low, span(b).low) >= 0 else None
    return function(a % (1 << _BITS), b % (1 << _BITS)) if unsigned else function(a, b)


def _compare_extents(function: Callable[[int, int], bool], a: Extent, b: Extent) -> bool | None:
    """Return the outcome of a comparison if it is the same in all possible cases (less, equal, more), else None."""
    equal, less, more = is_same(a, b), is_less(a, b), is_less(b, a)
    cases = {case for case, verdict in ((0, equal), (-1, less), (1, more)) if verdict is not False}
    if True in (equal, less, more):
        cases = {0 if equal else -1 if less else 1}
    verdicts = {function(case, 0) for case in cases}
    return verdicts.pop() if len(verdicts) == 1 else None


def select(operation: Operation, condition: bool | None, a: Any, b: Any) -> Any:
    """Return the operand that the condition selects; if it is unknown, a value that promises what both promise."""
    if condition is None:
        return either(a, b)
    return a if condition else b
