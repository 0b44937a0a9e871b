"""The tokens of MLIR's text, one at a time, and their places.

In: a text.  Out: the token at hand (`kind`, `text`, `start`, `end`), and errors with a place.

    "%0 = tosa.add" -> ("value", "%0"), ("=", "="), ("word", "tosa.add"), ("end", "")

Punctuation has its text as its kind. A tensor or vector type without another type in it is one token, "type", because
types are most of a module's text. Nothing here recurses, and each character is read once, or twice within a type or
literal that needs a closer look.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from ...core.errors import ParseError
from ...shape.dialect.ir import MAX_DEPTH
from ..ir import Location, Source

__all__ = ["MAX_DEPTH", "Lexer"]

_TOKEN = re.compile(
    r"""[ \t\r\n]*(?:
      (?P<value>%(?:[0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*)(?:\#[0-9]+)?)
    | (?P<punctuation>->|\{-\#|::|[,:(){}<>=\[\]*?+|-]|/(?!/))
    | (?P<type>(?:tensor|vector)<[^<>"/\#!()]*>)
    | (?P<word>[A-Za-z_][A-Za-z0-9_$.]*)
    | (?P<string>"[^"\\\n\v\f]*(?:\\[^\n\v\f][^"\\\n\v\f]*)*")
    | (?P<float>[0-9]+\.[0-9]*(?:[eE][-+]?[0-9]+)?)
    | (?P<integer>0x[0-9a-fA-F]+|[0-9]+)
    | (?P<symbol>@(?:[A-Za-z_][A-Za-z0-9_$.]*|"[^"\\\n\v\f]*(?:\\[^\n\v\f][^"\\\n\v\f]*)*"))
    | (?P<hash>\#(?:[0-9]+|[A-Za-z$._](?:[A-Za-z0-9$._]|-(?!>))*))
    | (?P<bang>!(?:[0-9]+|[A-Za-z$._](?:[A-Za-z0-9$._]|-(?!>))*))
    | (?P<label>\^(?:[0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*))
    | (?P<comment>//[^\n]*)
    | (?P<end>\Z)
    | (?P<bad>.)
    )""",
    re.VERBOSE | re.DOTALL,
)
# The pieces of text where brackets are only counted: brackets, and strings and comments, which may hide some.
_PIECE = re.compile(
    r"""[^"/<>()\[\]{}-]+|"[^"\\\n]*(?:\\[^\n][^"\\\n]*)*"|//[^\n]*|->|[<([{]|[>)\]}]|[/-]|\Z|.""", re.DOTALL
)
_CLOSING = {"<": ">", "(": ")", "[": "]", "{": "}"}
_SHOWN = 40


class Lexer:
    """A text, and the token at hand.

    Attributes
    ----------
    kind : ``"value"``, ``"word"``, ``"type"``, ``"string"``, ``"float"``, ``"integer"``, ``"symbol"``, ``"hash"``,
        ``"bang"``, ``"label"``, ``"end"``, or punctuation.
    text : the token's text, prefixes and quotes included.
    end : the offset behind the token.

    Examples
    --------
    >>> lexer = Lexer(Source("m.mlir", "%0 = foo"))
    >>> lexer.kind, lexer.text
    ('value', '%0')
    >>> lexer.advance(), lexer.kind, lexer.start
    (None, '=', 3)
    """

    __slots__ = ("_lines", "_match", "depth", "end", "kind", "source", "text")

    def __init__(self, source: Source) -> None:
        self.source = source
        self._match = _TOKEN.match
        self._lines: list[int] | None = None
        self.depth = 0
        self.kind, self.text, self.end = "", "", 0
        self.advance()

    @property
    def start(self) -> int:
        """The token's offset."""
        return self.end - len(self.text)

    def advance(self) -> None:
        """Go to the next token."""
        while True:
            # The last alternatives match whatever the others do not, so there is always a match.
            match = self._match(self.source.text, self.end)
            assert match is not None
            kind = match.lastgroup
            assert kind is not None
            self.text = text = match[kind]
            self.end = match.end()
            if kind == "punctuation":
                self.kind = text
                return
            if kind != "comment":
                self.kind = kind
                if kind == "bad":
                    raise self._unreadable()
                return

    def jump(self, offset: int) -> None:
        """Go to the token at or behind an offset."""
        self.end = offset
        self.advance()

    def take(self, kind: str) -> bool:
        """Step over the token at hand if it is of this kind; tell whether it was."""
        if self.kind != kind:
            return False
        self.advance()
        return True

    def expect(self, kind: str) -> str:
        """Step over a token of this kind, which has to be there, and return its text."""
        text = self.text
        if self.kind != kind:
            raise self.unexpected(_NAMES.get(kind, f"'{kind}'"))
        self.advance()
        return text

    def take_word(self, word: str) -> bool:
        """Step over the token at hand if it is this word; tell whether it was."""
        if self.text != word or self.kind != "word":
            return False
        self.advance()
        return True

    def enter(self) -> None:
        """Count one more level of nesting; `leave` takes it back."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.fail(f"nested deeper than {MAX_DEPTH} levels")

    def leave(self) -> None:
        """Count one level less."""
        self.depth -= 1

    def balanced(self) -> str:
        """Step over the bracket at hand, its partner and all between them; return the text between them."""
        first = self.start
        offset = first
        text = self.source.text
        stack: list[str] = []
        while True:
            match = _PIECE.match(text, offset)
            piece = match[0] if match is not None else ""
            if piece in _CLOSING:
                stack.append(_CLOSING[piece])
            elif piece in (">", ")", "]", "}"):
                if stack.pop() != piece:
                    raise self.fail(f"unbalanced '{piece}'", offset)
                if not stack:
                    break
            elif piece in ("", '"'):
                raise self.fail(f"expected '{stack[-1]}' for the '{text[first]}' here", first)
            offset += len(piece)
        self.jump(offset + 1)
        return text[first + 1 : offset]

    def location(self, offset: int | None = None) -> Location:
        """Return the place of an offset, by default the token's."""
        if self._lines is None:
            self._lines = [0, *(match.end() for match in re.finditer("\n", self.source.text))]
        if offset is None:
            offset = self.end - len(self.text)
        line = bisect_right(self._lines, offset)
        return Location(line, offset - self._lines[line - 1] + 1)

    def fail(self, message: str, offset: int | None = None) -> ParseError:
        """Return an error at an offset, by default the token's."""
        return ParseError(self.source.message(self.location(offset), message))

    def unexpected(self, expected: str) -> ParseError:
        """Return an error that says what is expected instead of the token at hand."""
        found = "the end of the text" if self.kind == "end" else shown(self.text)
        return self.fail(f"expected {expected}, found {found}")

    def _unreadable(self) -> ParseError:
        if self.text == '"':
            return self.fail("a string ends in its line with a '\"'")
        if self.text in "%@#!^" and self.text:
            return self.fail(f"expected a name behind '{self.text}'")
        return self.fail(f"unexpected character {self.text!a}")


def shown(text: str) -> str:
    r"""Return a token as messages show it: printable, and not too long.

    Examples
    --------
    >>> shown("tosa.add"), shown('"x"')
    ("'tosa.add'", '\'"x"\'')
    """
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


_NAMES = {
    "value": "an SSA value such as %0",
    "word": "a word",
    "string": "a string",
    "symbol": "a symbol name such as @main",
    "integer": "an integer",
    "end": "the end of the text",
}
