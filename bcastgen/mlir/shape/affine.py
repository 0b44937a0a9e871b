"""Affine maps over indices, which `affine.apply`, `affine.min` and `affine.max` compute.

In: the text of a map.  Out: an :class:`ParsedMap` of expressions: a number, a name, or an operator and its two sides.

    parse_map("(d0)[s0] -> (d0 + s0 * 2)") -> ParsedMap(("d0", "s0"), (("+", "d0", ("*", "s0", 2)),))

The reader expresses maps as ops of arith (:mod:`.spellings`).
"""

from __future__ import annotations

import re
from typing import TypeAlias

from ...core.errors import ParseError
from ...core.frozen import dataclass

__all__ = ["Expression", "ParsedMap", "parse_map"]

# Python's stack is far deeper than this, and no printed map nests as deep.
_MAX_DEPTH = 50
_TOKEN = re.compile(r"\s*(->|\d+|[A-Za-z_]\w*|[][(),+*-]|$)")
_PRODUCTS = ("*", "floordiv", "ceildiv", "mod")

Expression: TypeAlias = "int | str | tuple[str, Expression, Expression]"


@dataclass(frozen=True, slots=True)
class ParsedMap:
    """A map: the names of its dims, then of its symbols, and an expression for each result."""

    inputs: tuple[str, ...]
    results: tuple[Expression, ...]


def parse_map(text: str) -> ParsedMap:
    """Return the map that a text spells.

    Raises
    ------
    ParseError
        If the text is no map; the message names what was found and what was expected.

    Examples
    --------
    >>> parse_map("(d0) -> (d0 floordiv 2, -d0)").results
    (('floordiv', 'd0', 2), ('*', 'd0', -1))
    """
    return _Parser(text).map()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens: list[str] = []
        at = 0
        while at < len(text.rstrip()):
            found = _TOKEN.match(text, at)
            if found is None:
                raise ParseError(f"affine_map<{text}> has {text[at:].split(maxsplit=1)[0]!r}, which no map has")
            self._tokens.append(found[1])
            at = found.end()
        self._tokens.append("")
        self._at = 0
        self._depth = 0

    @property
    def _next(self) -> str:
        return self._tokens[self._at]

    def _take(self, token: str) -> bool:
        taken = self._next == token
        self._at += taken
        return taken

    def _expect(self, token: str) -> None:
        if not self._take(token):
            raise self._unexpected(f"{token!r}")

    def _unexpected(self, wanted: str) -> ParseError:
        return ParseError(f"affine_map<{self._text}> has {self._next or 'its end'!r}, expected {wanted}")

    def map(self) -> ParsedMap:
        inputs = self._names("(", ")")
        if self._next == "[":
            inputs += self._names("[", "]")
        if len(set(inputs)) < len(inputs):
            raise ParseError(f"affine_map<{self._text}> has a dim or symbol twice; give each a name of its own")
        self._expect("->")
        self._expect("(")
        results = [self._sum(inputs)]
        while self._take(","):
            results.append(self._sum(inputs))
        self._expect(")")
        self._expect("")
        return ParsedMap(inputs, tuple(results))

    def _names(self, opening: str, closing: str) -> tuple[str, ...]:
        self._expect(opening)
        found: list[str] = []
        while self._next != closing:
            if found:
                self._expect(",")
            if not self._next.isidentifier():
                raise self._unexpected("a name")
            found.append(self._next)
            self._at += 1
        self._expect(closing)
        return tuple(found)

    def _sum(self, inputs: tuple[str, ...]) -> Expression:
        left = self._product(inputs)
        while self._next in ("+", "-"):
            sign = self._next
            self._at += 1
            left = (sign, left, self._product(inputs))
        return left

    def _product(self, inputs: tuple[str, ...]) -> Expression:
        left = self._factor(inputs)
        while self._next in _PRODUCTS:
            operator = self._next
            self._at += 1
            right = self._factor(inputs)
            if operator != "*" and isinstance(right, int) and right <= 0:
                raise ParseError(f"affine_map<{self._text}>: {operator} by {right}, expected 1 or more")
            left = (operator, left, right)
        return left

    def _factor(self, inputs: tuple[str, ...]) -> Expression:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise ParseError(f"affine_map<{self._text}> nests deeper than {_MAX_DEPTH} levels")
        made = self._one(inputs)
        self._depth -= 1
        return made

    def _one(self, inputs: tuple[str, ...]) -> Expression:
        if self._take("-"):
            inner = self._factor(inputs)
            return -inner if isinstance(inner, int) else ("*", inner, -1)
        if self._take("("):
            inner = self._sum(inputs)
            self._expect(")")
            return inner
        token = self._next
        if not (token.isdigit() or token in inputs):
            raise self._unexpected("a number, a dim or a symbol")
        self._at += 1
        return int(token) if token.isdigit() else token
