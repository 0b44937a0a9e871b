"""A position in a text that is being read, and the error that points at it.

In: the text of a type or a signature.  Out: its tokens, one at a time, or a :class:`ParseError`.

    Cursor("f32[4 5]", "type") ... .fail("',' or ']'", "...")
        -> ParseError("column 7: expected ',' or ']', found '5]' in the type 'f32[4 5]'; ...")
"""

from __future__ import annotations

import re

from ...core.errors import ParseError
from .facts import MAX_EXTENT

__all__ = ["Cursor", "excerpt", "parse_extent"]

_SPACE = re.compile(r"\s*")
_EXTENT = re.compile(r"[0-9]+")


def excerpt(text: str, length: int = 60) -> str:
    """Return the text, quoted, and cut where it is too long to read in a message."""
    return repr(text) if len(text) <= length else repr(text[:length]) + "..."


class Cursor:
    """Reads a text from left to right, once; white space separates tokens and means nothing else."""

    __slots__ = ("_position", "_text", "_what")

    def __init__(self, text: str, what: str) -> None:
        self._text, self._what, self._position = text, what, 0
        self._skip()

    def _skip(self) -> None:
        space = _SPACE.match(self._text, self._position)
        self._position = space.end() if space else self._position

    @property
    def at_end(self) -> bool:
        """True if nothing but white space is left."""
        return self._position == len(self._text)

    @property
    def rest(self) -> str:
        """The text that is left, without the white space around it."""
        return self._text[self._position :].rstrip()

    def sees(self, pattern: re.Pattern[str]) -> bool:
        """Tell whether the pattern comes next, reading nothing."""
        return pattern.match(self._text, self._position) is not None

    def take(self, literal: str) -> bool:
        """Read the literal if it comes next; tell whether it did."""
        if not self._text.startswith(literal, self._position):
            return False
        self._position += len(literal)
        self._skip()
        return True

    def match(self, pattern: re.Pattern[str]) -> str | None:
        """Read the pattern if it comes next; return the text that it matched, else None."""
        found = pattern.match(self._text, self._position)
        if found is None:
            return None
        self._position = found.end()
        self._skip()
        return found.group()

    def expect(self, literal: str, cure: str) -> None:
        """Read the literal; raise a `ParseError` if something else comes next."""
        if not self.take(literal):
            raise self.fail(f"{literal!r}", cure)

    def fail(self, wanted: str, cure: str) -> ParseError:
        """Return the error for what comes next."""
        found = "the end" if self.at_end else excerpt(self.rest, 16)
        return self._error(self._position, f"expected {wanted}, found {found}", cure)

    def reject(self, token: str, why: str, cure: str) -> ParseError:
        """Return the error for the token that was read last."""
        return self._error(self._text.rfind(token, 0, self._position), why, cure)

    def _error(self, position: int, why: str, cure: str) -> ParseError:
        return ParseError(f"column {position + 1}: {why} in the {self._what} {excerpt(self._text)}; {cure}")


def parse_extent(cursor: Cursor) -> int | None:
    """Read an extent if one comes next."""
    digits = cursor.match(_EXTENT)
    if digits is None:
        return None
    # Check the length first: int() takes quadratic time, and refuses more than 4300 digits with an error of its own.
    significant = digits.lstrip("0") or "0"
    if len(significant) > len(str(MAX_EXTENT)) or int(significant) > MAX_EXTENT:
        raise cursor.reject(digits, "an extent is too large", f"extents go up to {MAX_EXTENT}")
    return int(significant)
