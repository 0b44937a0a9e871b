"""Tokens, their kinds and places; what is no token."""

import pytest

from bcastgen.core.errors import ParseError
from bcastgen.mlir.ir import Source
from bcastgen.mlir.read.lexer import MAX_DEPTH, Lexer


def tokens(text):
    lexer = Lexer(Source("m.mlir", text))
    found = []
    while lexer.kind != "end":
        found.append((lexer.kind, lexer.text))
        lexer.advance()
    return found


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("%0 = tosa.add %arg0, %foo.bar$-x", ["value", "=", "word", "value", ",", "value"]),
        ("%0#1 %0:2", ["value", "value", ":", "integer"]),
        ("tensor<?x4xf32> vector<4xi8>", ["type", "type"]),
        ("tensor<4x!t> tensor <4xf32>", "word < integer word bang > word < integer word >".split()),
        ("tensor.cast", ["word"]),
        ("1 1.5 1. 1.e5 1e5 0x7F 0x", "integer float float float integer word integer integer word".split()),
        ("-1.0 -> ->", ["-", "float", "->", "->"]),
        ('"a\\22b" @f @"x y" @a::@b', ["string", "symbol", "symbol", "symbol", "::", "symbol"]),
        ("#tosa.nan_mode<IGNORE> !shape.shape->", ["hash", "<", "word", ">", "bang", "->"]),
        ("^bb0(%a: i1): // comment ( \n {-# #-}".replace("#-}", "}"), "label ( value : word ) : {-# }".split()),
    ],
)
def test_kinds(text, kinds):
    assert [kind if kind != text else text for kind, text in tokens(text)] == kinds


def test_blanks_and_comments_are_nothing():
    assert tokens("a\r\n\tb// c\n//\nd") == [("word", "a"), ("word", "b"), ("word", "d")]


def test_names_end_where_they_do_in_mlir():
    assert tokens("%0a") == [("value", "%0"), ("word", "a")]
    assert tokens("%a-b->") == [("value", "%a-b-"), (">", ">")]
    assert tokens("!a-b->") == [("bang", "!a-b"), ("->", "->")]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("  &", "m.mlir:1:3: error: unexpected character '&'\n  &\n  ^"),
        ("a\n\t\0", "m.mlir:2:2: error: unexpected character '\\x00'\n\t\0\n\t^"),
        ("\ufeffa", "m.mlir:1:1: error: unexpected character '\\ufeff'\n\ufeffa\n^"),
        ("\ud800", "m.mlir:1:1: error: unexpected character '\\ud800'\n\ud800\n^"),
        ("é", "m.mlir:1:1: error: unexpected character '\\xe9'\né\n^"),
        ('a "b\n"', "m.mlir:1:3: error: a string ends in its line with a '\"'\na \"b\n  ^"),
        ('"\\', "m.mlir:1:1: error: a string ends in its line with a '\"'\n\"\\\n^"),
        ("% 0", "m.mlir:1:1: error: expected a name behind '%'\n% 0\n^"),
    ],
)
def test_what_is_no_token(text, message):
    with pytest.raises(ParseError) as caught:
        tokens(text)
    assert str(caught.value) == message


def test_places_count_from_1_in_characters():
    lexer = Lexer(Source("m", 'a\r\n"é" b\n\n  c'))
    found = []
    while lexer.kind != "end":
        found.append((lexer.text, lexer.location().line, lexer.location().column))
        lexer.advance()
    assert found == [("a", 1, 1), ('"é"', 2, 1), ("b", 2, 5), ("c", 4, 3)]


def test_balanced_brackets_hide_in_strings_comments_and_arrows():
    lexer = Lexer(Source("m", '<[(a -> b) ">>" {x}] // >>\n <1>> next'))
    assert lexer.balanced() == '[(a -> b) ">>" {x}] // >>\n <1>'
    assert lexer.text == "next"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a<[(]>", "1:5: error: unbalanced ']'"),
        ("a<[()]", "1:2: error: expected '>' for the '<' here"),
        ('a<"b', "1:2: error: expected '>' for the '<' here"),
        ("a" + "<" * 100_000, "1:2: error: expected '>' for the '<' here"),
    ],
)
def test_unbalanced_brackets(text, message):
    lexer = Lexer(Source("m", text))
    lexer.advance()
    with pytest.raises(ParseError) as caught:
        lexer.balanced()
    assert str(caught.value).split("\n", maxsplit=1)[0] == f"m:{message}"


def test_expect_says_what_stands_there():
    lexer = Lexer(Source("m", "foo" * 40))
    with pytest.raises(ParseError, match=r"expected ':', found 'foofoo.{34}\.\.\.'"):
        lexer.expect(":")
    with pytest.raises(ParseError, match="expected a string, found the end of the text"):
        Lexer(Source("m", "")).expect("string")


def test_nesting_ends_at_the_stated_depth():
    lexer = Lexer(Source("m", "a"))
    for _ in range(MAX_DEPTH):
        lexer.enter()
    with pytest.raises(ParseError, match=f"nested deeper than {MAX_DEPTH} levels"):
        lexer.enter()
