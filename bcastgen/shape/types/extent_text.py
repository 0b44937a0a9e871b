"""The text of a shape whose extents are computed from names, as shape programs print them.

In: ``[n<=64, 2*n + 1, min(n, 4), ?]``.  Out: for each extent the :class:`Dim` that it declares, or its expression.

    shape  = "[" [extent ("," extent)*] "]"          extent = dim | sum            dim: see dim_text.py
    sum    = ["-"] term (("+" | "-") term)*          term   = factor (("*" | "//") factor)*
    factor = integer | name | ("min" | "max" | "broadcast") "(" sum ("," sum)* ")" | "(" sum ")"
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from . import extent_ops
from .cursor import Cursor
from .dim import Dim
from .dim_text import parse_dim, parse_extent
from .extent_expr import Extent, add, multiply, named, subtract

__all__ = ["parse_extents"]

_CURE = "write extents as in [n<=64, 2*n + 1, min(n, 4)]"
_ALONE = re.compile(r"(\?|\w+)\s*(?![\s\w+*/(-])")
_WORD = re.compile(r"[^\W\d]\w*")
# The deepest nesting of parentheses: reading recurses, and no text may exhaust Python's stack.
_DEEPEST = 16
# The most extents of a text, and the most terms of a sum or operands of a function: each costs some 40 microseconds.
_MOST_EXTENTS, _MOST_TERMS = 1_000, 5_000
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


def parse_extents(text: str) -> tuple[Dim | Extent, ...]:
    """Return the extents that a text spells.

    Raises
    ------
    ParseError
        If the text is none, or an extent is too large to compute with; the message has the column and the cure.

    Examples
    --------
    >>> print(*parse_extents("[n<=64, 4, m + 2*n - 1, (n + 1) // 2, min(n, m)]"), sep=" | ")
    n<=64 | 4 | m + 2*n - 1 | (n + 1) // 2 | min(m, n)
    """
    cursor = Cursor(text, "shape")
    cursor.expect("[", _CURE)
    extents: list[Dim | Extent] = []
    while not cursor.take("]"):
        if extents:
            cursor.expect(",", _CURE)
        if len(extents) == _MOST_EXTENTS:
            raise cursor.fail(f"at most {_MOST_EXTENTS} extents", _CURE)
        extents.append(parse_dim(cursor) if cursor.sees(_ALONE) else _sum(cursor, 0))
    if not cursor.at_end:
        raise cursor.fail("the end", _CURE)
    return tuple(extents)


def _sum(cursor: Cursor, depth: int) -> Extent:
    if depth > _DEEPEST:
        raise cursor.fail(f"at most {_DEEPEST} parentheses in parentheses", _CURE)
    total = multiply(_term(cursor, depth), -1) if cursor.take("-") else _term(cursor, depth)
    for _ in range(_MOST_TERMS):
        if cursor.take("+"):
            total = add(_known(cursor, total), _term(cursor, depth))
        elif cursor.take("-"):
            total = subtract(_known(cursor, total), _term(cursor, depth))
        else:
            return _known(cursor, total)
    raise cursor.fail(f"at most {_MOST_TERMS} terms", _CURE)


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
    number = parse_extent(cursor)
    if number is not None:
        return number
    if cursor.take("("):
        inner = _sum(cursor, depth + 1)
        cursor.expect(")", _CURE)
        return inner
    name = cursor.match(_WORD)
    if name is None:
        raise cursor.fail("an extent", _CURE)
    if not cursor.take("("):
        return named(name)
    if name not in _FUNCTIONS:
        raise cursor.reject(name, f"{name!r} is no function of extents", f"use one of {', '.join(_FUNCTIONS)}")
    operands = [_sum(cursor, depth + 1)]
    while cursor.take(","):
        if len(operands) == _MOST_TERMS:
            raise cursor.fail(f"at most {_MOST_TERMS} operands", _CURE)
        operands.append(_sum(cursor, depth + 1))
    cursor.expect(")", _CURE)
    return _known(cursor, _FUNCTIONS[name](operands))


def _known(cursor: Cursor, extent: Extent | None) -> Extent:
    if extent is None:
        raise cursor.fail("no more of an extent that is too large, or divided by what may be 0", "write ? for it")
    return extent
