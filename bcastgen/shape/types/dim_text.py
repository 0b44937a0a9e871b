"""The text a dim is written in.

In: a cursor at a dim.  Out: the :class:`Dim`, which prints the same text, or the error that points at it.

    n -> Dim("n")        ? >= 2 % 8 -> Dim(min=8, multiple_of=8)        m! -> Dim("m", broadcast=False)

    dim = ("bcast" | integer | "?" | name | sum) [">=" integer] ["<=" integer] ["%" integer] ["!" | "~"]
    sum : see extent_sum.py
"""

from __future__ import annotations

import re

from ...core.errors import BroadcastError
from .cursor import Cursor, parse_extent
from .dim import BCAST, Dim

__all__ = ["DIM_CURE", "parse_dim"]

DIM_CURE = "a dim is an extent of 0 or more, ? or a name, and a '*' stands before all dims"
_WORD = re.compile(r"[^\W\d]\w*")
# Matches the beginning of a sum; a name or a number alone is not a sum.
_SUM = re.compile(r"-?\s*(\(|\w+\s*([+*(-]|//))")
_FACTS = ((">=", "min"), ("<=", "max"), ("%", "multiple_of"))


def parse_dim(cursor: Cursor) -> Dim:
    """Read a dim with its facts and flags.

    Raises
    ------
    ParseError
        If no dim comes next, or its facts and flags contradict each other.

    Examples
    --------
    >>> str(parse_dim(Cursor("n >= 2 !", "type"))), str(parse_dim(Cursor("n+m !", "type")))
    ('n>=2!', 'm + n!')
    """
    at = cursor.rest
    value = _value(cursor)
    facts: dict[str, int] = {}
    for sign, name in _FACTS:
        if cursor.take(sign):
            extent = parse_extent(cursor)
            if extent is None:
                raise cursor.fail(f"an integer after {sign!r}", "write n>=2, n<=64 or n%8, in this order")
            facts[name] = extent
    strict = cursor.take("!")
    stretches = not strict and cursor.take("~")
    if cursor.sees(_WORD) and cursor.rest.startswith("trusted"):
        raise cursor.fail("',' or ']'", "a dim is trusted through Dim(..., trusted=True) only, never by text")
    try:
        return Dim(
            None if value == BCAST else value,
            min=facts.get("min"),
            max=facts.get("max"),
            multiple_of=facts.get("multiple_of"),
            broadcast=_flag(value, strict),
            stretches=stretches and value != BCAST,
        )
    except BroadcastError as error:
        spelled = at.removesuffix(cursor.rest).rstrip()
        raise cursor.reject(spelled, str(error), "a declaration has to leave some extent") from None


def _flag(value: int | str | None, strict: bool) -> bool | None:
    if value != BCAST:
        return False if strict else None
    if strict:
        raise BroadcastError("dim bcast stretches, which '!' says it does not; drop one of both")
    return True


def _value(cursor: Cursor) -> int | str | None:
    if cursor.take("?"):
        return None
    if cursor.sees(_SUM):
        return _computed(cursor)
    extent = parse_extent(cursor)
    if extent is not None:
        return extent
    name = cursor.match(_WORD)
    if name is None:
        raise cursor.fail("a dim", DIM_CURE)
    if not name.isidentifier():
        raise cursor.reject(name, f"{name!r} is not a name", DIM_CURE)
    return name


def _computed(cursor: Cursor) -> int | str:
    from .computed import normal  # noqa: PLC0415 - few types have sums
    from .extent_sum import parse_sum  # noqa: PLC0415 - few types have sums

    at = cursor.rest
    made = parse_sum(cursor)
    try:
        return normal(made)
    except BroadcastError as error:
        raise cursor.reject(at.removesuffix(cursor.rest).rstrip(), str(error), "a dim is an extent") from None
