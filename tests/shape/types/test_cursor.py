"""The cursor: columns and what errors show of a text."""

from __future__ import annotations

import re

from bcastgen.core.errors import ParseError
from bcastgen.shape.types.cursor import Cursor, excerpt

WORD = re.compile(r"[a-z]+")


def test_reads_tokens_and_skips_white_space() -> None:
    cursor = Cursor("  ab \n( cd\t", "text")
    assert cursor.match(WORD) == "ab"
    assert not cursor.take(")")
    assert cursor.take("(")
    assert cursor.sees(WORD)
    assert cursor.rest == "cd"
    assert cursor.match(WORD) == "cd"
    assert cursor.at_end
    assert cursor.match(WORD) is None


def test_errors_count_columns_from_1() -> None:
    cursor = Cursor("ab  12", "text")
    assert cursor.match(WORD) == "ab"
    error = cursor.fail("a word", "write one")
    assert isinstance(error, ParseError)
    assert str(error) == "column 5: expected a word, found '12' in the text 'ab  12'; write one"
    assert str(cursor.reject("ab", "'ab' is taken", "write another")).startswith("column 1: 'ab' is taken in the text")


def test_errors_at_the_end() -> None:
    cursor = Cursor("ab ", "text")
    assert cursor.match(WORD) == "ab"
    assert (
        str(cursor.fail("a word", "write one"))
        == "column 4: expected a word, found the end in the text 'ab '; write one"
    )


def test_excerpt_cuts_long_texts() -> None:
    assert excerpt("a" * 60) == repr("a" * 60)
    assert excerpt("a" * 61) == repr("a" * 60) + "..."
    assert len(str(Cursor("(" * 10**6, "text").fail("a word", "write one"))) < 200
