"""The text of an extent that is computed from names, in shapes and in the types of operands.

In: a cursor at ``n + m``, ``2*n - 1`` or ``min(n, 4)``.  Out: the normal form, in which it prints.

    sum    = ["-"] term (("+" | "-") term)*          term = factor (("*" | "//") factor)*
    factor = integer | name | ("min" | "max" | "broadcast") "(" sum ("," sum)* ")" | "(" sum ")"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from . import extent_ops
from .cursor import Cursor, parse_extent
from .extent_expr import Extent, add, multiply, named, subtract

__all__ = ["CURE", "parse_sum"]

CURE = "write extents as in [n<=64, 2*n + 1, min(n, 4)]"
_WORD = re.compile(r"[^\W\d]\w*")
# The deepest nesting of parentheses: reading recurses, and no text may exhaust Python's stack.
_DEEPEST = 16
# The most terms of a sum or operands of a function: each costs some 40 microseconds.
_MOST_TERMS = 5_000
_FUNCTIONS: dict[str, Callable[[Sequence[Extent]], Extent | None]] = {
    "min": lambda extents: _folded(extent_ops.minimum, extents),
    "max": lambda extents: _folded(extent_ops.maximum, extents),
    "broadcast": extent_ops.broadcast,
}


def _folded(function: Callable[..., Extent | None], extents: Sequence[Extent]) -> Extent | None:
    made: Extent | None = extents[0]
    for extent in extents[1:]:
        made = function(made, extent)
    return made


def parse_sum(cursor: Cursor) -> Extent:
    """Read an extent that is computed from names.

    Raises
    ------
    ParseError
        If none comes next, or it is too large to compute with; the message has the column and the cure.

    Examples
    --------
    >>> print(parse_sum(Cursor("m + 2*n - 1", "type")), "|", parse_sum(Cursor("min(n, m)", "type")))
    m + 2*n - 1 | min(m, n)
    """
    return _sum(cursor, 0)


def _sum(cursor: Cursor, depth: int) -> Extent:
    if depth > _DEEPEST:
        raise cursor.fail(f"at most {_DEEPEST} parentheses in parentheses", CURE)
    total = multiply(_term(cursor, depth), -1) if cursor.take("-") else _term(cursor, depth)
    for _ in range(_MOST_TERMS):
        if cursor.take("+"):
            total = add(_known(cursor, total), _term(cursor, depth))
        elif cursor.take("-"):
            total = subtract(_known(cursor, total), _term(cursor, depth))
        else:
            return _known(cursor, total)
    raise cursor.fail(f"at most {_MOST_TERMS} terms", CURE)


def _term(cursor: Cursor, depth: int) -> Extent | None:
    made: Extent | None = _factor(cursor, depth)
    while True:
        if cursor.take("*"):
            made = multiply(made, _factor(cursor, depth))
        elif cursor.take("//"):
            made = _known(cursor, extent_ops.floor_divide(made, _factor(cursor, depth)))
        else:
            return made


def _factor(cursor: Cursor, depth: int) -> Extent:
    """Read a number, a name, a function of extents, or a sum in parentheses."""
    number = parse_extent(cursor)
    if number is not None:
        return number
    if cursor.take("("):
        inner = _sum(cursor, depth + 1)
        cursor.expect(")", CURE)
        return inner
    name = cursor.match(_WORD)
    if name is None:
        raise cursor.fail("an extent", CURE)
    if not cursor.take("("):
        return named(name)
    if name not in _FUNCTIONS:
        raise cursor.reject(name, f"{name!r} is no function of extents", f"use one of {', '.join(_FUNCTIONS)}")
    operands = [_sum(cursor, depth + 1)]
    while cursor.take(","):
        if len(operands) == _MOST_TERMS:
            raise cursor.fail(f"at most {_MOST_TERMS} operands", CURE)
        operands.append(_sum(cursor, depth + 1))
    cursor.expect(")", CURE)
    return _known(cursor, _FUNCTIONS[name](operands))


def _known(cursor: Cursor, extent: Extent | None) -> Extent:
    if extent is None:
        raise cursor.fail("no more of an extent that is too large, or divided by what may be 0", "write ? for it")
    return extent
