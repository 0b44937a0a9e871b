"""Types read from text: those of the table of dtypes, those that are only a text, and what is no type."""

import pytest

from bcastgen.core.errors import ParseError
from bcastgen.mlir.ir import Source
from bcastgen.mlir.read.lexer import Lexer
from bcastgen.mlir.read.types import Types, extents_of


def types_of(text):
    lexer = Lexer(Source("m.mlir", text))
    types = Types(lexer)
    found = types.several()
    assert lexer.kind == "end"
    return found


def parse(text):
    return types_of(text)[0]


@pytest.mark.parametrize(
    ("text", "canonical", "ours"),
    [
        ("tensor<?x4xf32>", "tensor<?x4xf32>", "f32[?, 4]"),
        ("tensor< 04 x ? x\n f32 >", "tensor<4x?xf32>", "f32[4, ?]"),
        ("tensor<0x0x5xi1>", "tensor<0x0x5xi1>", "bool[0, 0, 5]"),
        ("tensor<f64>", "tensor<f64>", "f64[]"),
        ("tensor<*xui8>", "tensor<*xui8>", "u8[*]"),
        ("tensor<* x i64>", "tensor<*xi64>", "i64[*]"),
        ("vector<4x2xi16>", "vector<4x2xi16>", "vector<4x2xi16>"),
        ("tensor <4xi8>", "tensor<4xi8>", "i8[4]"),
        ("tensor<4x// comment\nf32>", "tensor<4xf32>", "f32[4]"),
    ],
)
def test_tensors_of_the_tables_elements(text, canonical, ours):
    found = parse(text)
    assert (found.text, str(found.tensor), found.element) == (canonical, ours, None)


@pytest.mark.parametrize(
    "text",
    [
        *"tensor<4xindex> tensor<3xf8E4M4FN> tensor<2xi3> tensor<2xsi8> tensor<2xi48> vector<f32>".split(),
        "tensor<4xf32, #a.b>",
        "tensor<4xcomplex<i8>>",
        "tensor<4x!quant.any<i8:f32>>",
        "tensor<2xvector<4xf32>>",
        "vector<[4]x2xf32>",
        "vector<4x[2]xf32>",
        "memref<4x?xf32, strided<[1, ?], offset: 2>>",
        "tuple<i32, tuple<>>",
        "complex<f16>",
        "!shape.shape",
        "!tosa.shape<2>",
        '!a.b<[(">" -> x)]>',
        "!foo<bar>",
    ],
)
def test_other_types_are_a_text(text):
    found = parse(text)
    assert found.tensor is None
    assert found.element is None
    assert found.text.replace(" ", "") == text.replace(" ", "")
    assert parse(found.text).text == found.text


@pytest.mark.parametrize(
    ("text", "element"), [("i1", "bool"), ("i8", "i8"), ("ui64", "u64"), ("f32", "f32"), ("f64", "f64")]
)
def test_scalars_have_their_row(text, element):
    assert parse(text).element.name == element
    assert parse(text).text == text


@pytest.mark.parametrize("text", ["index", "si8", "i3", "i17", "f8E5M3", "tf32", "f80", "f128", "none"])
def test_other_scalars_have_none(text):
    assert parse(text).element is None


def test_a_text_has_one_type():
    first, second, third = types_of("tensor<4xf32>, tensor< 4xf32>, tensor<4xf32>")
    assert first is second is third
    blank, plain = types_of("memref<4xf32,// x\n  1 : i32>, memref<4xf32, 1: i32>")
    assert blank is plain


def test_function_types():
    lexer = Lexer(Source("m", "(tensor<4xf32>, index) -> (i1, (i1) -> i1)"))
    assert str(Types(lexer).function()) == "(tensor<4xf32>, index) -> (i1, (i1) -> i1)"
    assert parse("() -> ()").text == "() -> ()"


def test_extents_of_texts():
    assert extents_of("tensor<2x3xi4>") == ((2, 3), "i4")
    assert extents_of("tensor<f32>") == ((), "f32")
    assert extents_of("tensor<*xf32>") == extents_of("tensor<?xf32>") == (None, "f32")
    assert extents_of("!shape.shape") is extents_of("i8") is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("foo", "1:1: error: expected a type, found 'foo'\nfoo\n^"),
        ("", "1:1: error: expected a type, found the end of the text"),
        ("tensor<4xfoo>", "1:10: error: expected an element type, found 'foo'\ntensor<4xfoo>\n         ^"),
        ("tensor<4x4>", "1:10: error: expected a type, found '4'\ntensor<4x4>\n         ^"),
        ("tensor<?x*xf32>", "1:10: error: expected a type, found '*'\ntensor<?x*xf32>\n         ^"),
        ("tensor<4xf32", "1:13: error: expected '>', found the end of the text\ntensor<4xf32\n            ^"),
        ("tensor", "1:7: error: expected '<' behind 'tensor', found the end of the text\ntensor\n      ^"),
        ("memref", "1:7: error: expected '<' behind 'memref', found the end of the text\nmemref\n      ^"),
        ("tensor<4xi0>", "1:10: error: 'i0' is no integer type: it has 1 to 16777215 bits\ntensor<4xi0>\n         ^"),
        ("i16777216", "1:1: error: 'i16777216' is no integer type: it has 1 to 16777215 bits\ni16777216\n^"),
        (
            "vector<0xf32>",
            "1:1: error: a vector has extents that are known and 1 or more; use a tensor\nvector<0xf32>\n^",
        ),
        (
            "tensor<9223372036854775808xi8>",
            "1:1: error: extent '9223372036854775808' is more than 64 bits hold\ntensor<9223372036854775808xi8>\n^",
        ),
        ("!t", "1:1: error: undefined alias '!t'\n!t\n^"),
    ],
)
def test_what_is_no_type(text, message):
    with pytest.raises(ParseError) as caught:
        parse(text)
    assert str(caught.value) == f"m.mlir:{message}"


def test_deep_types_end_at_the_stated_depth():
    for text in ("tensor<" * 5000, "(" * 5000):
        with pytest.raises(ParseError, match="nested deeper than 100 levels"):
            parse(text)


def test_names_cannot_make_a_type_grow_without_end():
    text = "!t0 = i32\n" + "".join(f"!t{i + 1} = (!t{i}, !t{i}) -> ()\n" for i in range(60))
    lexer = Lexer(Source("m", text))
    types = Types(lexer)
    with pytest.raises(ParseError, match="a type of more than 16384 characters"):
        while lexer.kind == "bang":
            types.alias()
