"""Attributes read from text, each kind; strings and their escapes; what is no attribute, and where."""

import math

import numpy as np
import pytest

from bcastgen.core.errors import ParseError
from bcastgen.mlir.ir import Dense, DialectAttribute, FunctionType, Keyword, Number, Source, Symbol, Type
from bcastgen.mlir.read.attributes import Attributes
from bcastgen.mlir.read.lexer import Lexer
from bcastgen.mlir.read.types import Types


def attribute(text, words=False):
    lexer = Lexer(Source("m", text))
    found = Attributes(lexer, Types(lexer)).parse(words)
    assert lexer.kind == "end", lexer.text
    return found


@pytest.mark.parametrize(
    ("text", "value", "type_"),
    [
        ("1", 1, None),
        ("-1 : i8", -1, "i8"),
        ("255 : i8", -1, "i8"),
        ("255 : ui8", 255, "ui8"),
        ("5 : index", 5, "index"),
        ("18446744073709551615", -1, None),
        ("1.5", 1.5, None),
        ("-6.0 : f32", -6.0, "f32"),
        ("0.1 : f32", float(np.float32(0.1)), "f32"),
        ("0x7F800000 : f32", math.inf, "f32"),
        ("0xFC00 : f16", -math.inf, "f16"),
        ("0x3FC0 : bf16", 1.5, "bf16"),
        ("0x4000000000000000 : f64", 2.0, "f64"),
        ("0x10", 16, None),
        ("true", True, "i1"),
        ("false", False, "i1"),
        ("1 : i1", True, "i1"),
    ],
)
def test_numbers_know_their_type(text, value, type_):
    found = attribute(text)
    assert (found.value, type(found.value)) == (value, type(value))
    assert (found.type and found.type.text) == type_


def test_a_nan_by_its_bits():
    assert math.isnan(attribute("0x7FC00000 : f32").value)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ('"text"', "text"),
        ('"a\\22b\\\\\\n\\t\\""', 'a"b\\\n\t"'),
        ('"\\C3\\A9 é"', "é é"),
        ('"\\FF"', "\udcff"),
        ('"x" : i32', "x"),
        ("unit", True),
        ("@a", Symbol("a")),
        ('@"x y"::@b', Symbol("x y::@b")),
        ("#tosa.nan_mode<IGNORE>", DialectAttribute("tosa.nan_mode", "IGNORE")),
        (
            "#tosa.unary_quant<input_zp = 3, output_zp = -5>",
            DialectAttribute("tosa.unary_quant", "input_zp = 3, output_zp = -5"),
        ),
        ("#a.b", DialectAttribute("a.b")),
        ("#a<b>", DialectAttribute("a", "b")),
        ("affine_map<(d0) -> (d0)>", DialectAttribute("affine_map", "(d0) -> (d0)")),
        ('loc("f":1:2)', DialectAttribute("loc", '"f":1:2')),
        ("[]", ()),
        ("array<i64>", ()),
        ("array<i64: 1, -2>", (1, -2)),
        ("array<i8: 255>", (-1,)),
        ("array<i1: true, 0>", (True, False)),
        ("array<f32: 1.5, 0x3F800000>", (1.5, 1.0)),
        ('["x", [unit, @a], {}]', ("x", (True, Symbol("a")), {})),
        ('{a = "x", "b c" = unit, d, }', {"a": "x", "b c": True, "d": True}),
    ],
)
def test_other_attributes(text, value):
    if text.endswith(", }"):
        text = text.replace(", }", "}")
    found = attribute(text)
    assert found == value
    assert type(found) is type(value)


def test_types_are_attributes():
    assert attribute("tensor<4xf32>") == Type("tensor<4xf32>", attribute("tensor<4xf32>").tensor)
    assert isinstance(attribute("(i1) -> (i1, f32)"), FunctionType)
    assert attribute("!shape.shape") == Type("!shape.shape")
    assert isinstance(attribute("dense<1> : tensor<2xi8>"), Dense)


def test_a_bare_word_is_one_only_where_it_may():
    assert attribute("IGNORE", words=True) == Keyword("IGNORE")
    with pytest.raises(ParseError, match="expected an attribute's value, found 'IGNORE'"):
        attribute("IGNORE")


def test_numbers_without_a_type_and_with_one():
    assert attribute("[1, 2 : i8]") == (Number(1), Number(2, attribute("i8")))


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 1, "expected an attribute's value, found the end of the text"),
        ("foo", 1, "expected an attribute's value, found 'foo'"),
        ("]", 1, "expected an attribute's value, found ']'"),
        ("-true", 2, "expected a number, found 'true'"),
        ("-", 2, "expected a number, found the end of the text"),
        ("256 : i8", 1, "integer out of the range of i8, -128 to 255"),
        ("99999999999999999999999", 1, "integer out of the range of i64, -9223372036854775808 to 18446744073709551615"),
        ("1 : f32", 1, "an integer is no value of type f32; write 1.0"),
        ("1.0 : i8", 1, "a float is no value of type i8, expected an integer"),
        ("1 : tensor<1xi8>", 1, "a number of type 'tensor<1xi8>' is not read here"),
        ("[1, 2,]", 7, "expected an attribute's value, found ']'"),
        ("[1 2]", 4, "expected ']', found '2'"),
        ("{a = 1, a = 2}", 9, "the attribute 'a' is there twice"),
        ("{a = 1, }", 9, "expected an attribute's name, found '}'"),
        ("{1 = 2}", 2, "expected an attribute's name, found '1'"),
        ('{"" = 2}', 2, "expected an attribute's name, found '\"\"'"),
        ('"a\\q"', 3, "unknown escape in a string"),
        ('"éé\\q"', 4, "unknown escape in a string"),
        ("@a::b", 5, "expected a symbol name such as @main, found 'b'"),
        ("#foo", 1, "undefined alias '#foo'"),
        ("array<i64: 1.0>", 12, "a float is no value of type i64, expected an integer"),
        ("array<i64: >", 12, "expected a number, found '>'"),
        ("array<index2>", 7, "expected a type, found 'index2'"),
        ("array<none>", 7, "an array of type 'none' is not read here"),
        ("affine_map", 11, "expected '<' behind 'affine_map', found the end of the text"),
        ("dense_resource<x> : tensor<1xi8>", 1, "'dense_resource' is not read here"),
        ("sparse<[0], [1]> : tensor<2xi8>", 1, "'sparse' is not read here"),
        ("[" * 5000, 101, "nested deeper than 100 levels"),
        ("{a=" * 5000, 301, "nested deeper than 100 levels"),
    ],
)
def test_what_is_no_attribute(text, column, message):
    with pytest.raises(ParseError) as caught:
        attribute(text)
    assert str(caught.value).startswith(f"m:1:{column}: error: {message}")


def test_an_unknown_escape_behind_bytes_that_are_no_utf_8_is_an_error_of_ours():
    with pytest.raises(ParseError, match="1:4: error: unknown escape in a string"):
        attribute('"\udcff\udcfe\\x"')
