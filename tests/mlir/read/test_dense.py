"""Dense literals: nested lists, splats, hexadecimal bytes, long ones at once; faults and where they stand."""

import numpy as np
import pytest

from bcastgen.core.errors import ParseError
from bcastgen.mlir.ir import Source
from bcastgen.mlir.read.dense import parse_dense
from bcastgen.mlir.read.lexer import Lexer
from bcastgen.mlir.read.types import Types


def dense(text):
    lexer = Lexer(Source("m", text))
    found = parse_dense(lexer, Types(lexer))
    assert lexer.kind == "end"
    return found


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("dense<[[1, 2], [3, 4]]> : tensor<2x2xi8>", np.array([[1, 2], [3, 4]], np.int8)),
        ("dense<[\n 1, // one\n 2,\n 3 // three ]\n]> : tensor<3xi64>", np.array([1, 2, 3], np.int64)),
        ("dense<[[[1], [2]]]> : vector<1x2x1xui8>", np.array([[[1], [2]]], np.uint8)),
        ("dense<[true, false, 1]> : tensor<3xi1>", np.array([True, False, True])),
        ("dense<[-1.5, 0x7F800000]> : tensor<2xf32>", np.array([-1.5, np.inf], np.float32)),
        ("dense<[0x3C00, 2.0]> : tensor<2xf16>", np.array([1, 2], np.float16)),
        ("dense<[0x3F80, 2.0]> : tensor<2xbf16>", np.array([1, 2], np.float32)),
        ("dense<[1, 2]> : tensor<2xindex>", np.array([1, 2], np.int64)),
        ("dense<[1, 2]> : tensor<2xi4>", np.array([1, 2], np.int64)),
        ("dense<[1.5, 2.5]> : tensor<2xf8E5M2>", np.float32([1.5, 2.5])),
        ("dense<1.5> : tensor<2x2xf64>", np.array(1.5)),
        ("dense<[[3, 3], [3, 3]]> : tensor<2x2xi32>", np.array(3, np.int32)),
        ("dense<[7]> : tensor<1xi32>", np.array(7, np.int32)),
        ("dense<-3> : tensor<i32>", np.array(-3, np.int32)),
        ("dense<[0.0, -0.0]> : tensor<2xf32>", np.array([0.0, -0.0], np.float32)),
        ("dense<1> : tensor<9223372036854775807x9223372036854775807xi8>", np.array(1, np.int8)),
        ("dense<> : tensor<0x3xf32>", np.empty((0, 3), np.float32)),
        ("dense<[]> : tensor<0xf32>", np.empty((0,), np.float32)),
        ("dense<[[], []]> : tensor<2x0xi8>", np.empty((2, 0), np.int8)),
        ('dense<"0x01020304"> : tensor<2x2xi8>', np.array([[1, 2], [3, 4]], np.int8)),
        ('dense<"0x0000803F"> : tensor<2x2xf32>', np.array(1.0, np.float32)),
        ('dense<"0x05"> : tensor<3xi1>', np.array([True, False, True])),
        ('dense<"0x"> : tensor<0xi8>', np.empty((0,), np.int8)),
    ],
)
def test_values(text, expected):
    found = dense(text).values
    assert (found.dtype, found.shape, found.tobytes()) == (expected.dtype, expected.shape, expected.tobytes())


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("dense<[1, 300]> : tensor<2xi8>", 11, "integer out of the range of i8, -128 to 255"),
        ("dense<[1, 2.0]> : tensor<2xi8>", 11, "a float is no value of type i8, expected an integer"),
        ("dense<[1.0, 2]> : tensor<2xf32>", 13, "an integer is no value of type f32; write 2.0"),
        ("dense<[1, x]> : tensor<2xi8>", 11, "expected an integer"),
        ("dense<[1,, 2]> : tensor<3xi8>", 10, "expected an integer"),
        ("dense<[1, 2]> : tensor<3xi8>", 1, "the literal has extents [2], its type [3]"),
        ("dense<[[1, 2]]> : tensor<2xi8>", 1, "the literal has extents [1, 2], its type [2]"),
        ("dense<[[1], [2, 3]]> : tensor<2x1xi8>", 18, "expected 1 elements as before, found 2"),
        ("dense<[1, [2]]> : tensor<2xi8>", 11, "the brackets of the literal are not of one rank"),
        ("dense<[[1], 2]> : tensor<2xi8>", 13, "the brackets of the literal are not of one rank"),
        ("dense<[[[]], [1]]> : tensor<2x1xi8>", 15, "the brackets of the literal are not of one rank"),
        ("dense<[1,]> : tensor<1xi8>", 10, "expected an element"),
        ("dense<[,1]> : tensor<1xi8>", 8, "expected an element, found ','"),
        ("dense<[1] 2> : tensor<1xi8>", 11, "expected '>'"),
        ("dense<[[1] 2]> : tensor<1xi8>", 12, "expected ',' or ']'"),
        ("dense<1, 2> : tensor<2xi8>", 7, "several elements stand in brackets: dense<[1, 2]>"),
        ("dense<]> : tensor<2xi8>", 7, "expected '>'"),
        ("dense<[1", 9, "expected an element or a bracket of the dense literal, found the end of the text"),
        ("dense<[1> : tensor<1xi8>", 9, "expected an element or a bracket of the dense literal, found '>'"),
        ("dense [1]", 7, "expected '<' behind 'dense', found '['"),
        ("dense<> : tensor<2xi8>", 1, "there are no elements, but 'tensor<2xi8>' has 2"),
        ("dense<1> tensor<2xi8>", 10, "expected ':', found 'tensor<2xi8>'"),
        ("dense<1> : i8", 12, "a dense literal is a tensor or a vector of numbers, not 'i8'"),
        ("dense<1> : tensor<?xi8>", 12, "a dense literal has extents that are known, unlike 'tensor<?xi8>'"),
        ("dense<1> : tensor<*xi8>", 12, "a dense literal has extents that are known, unlike 'tensor<*xi8>'"),
        ("dense<1> : tensor<2xi128>", 12, "dense literals of element type 'i128' are not read here"),
        ("dense<(1, 2)> : tensor<1xcomplex<i8>>", 7, "a dense literal of complex numbers is not read here"),
        ('dense<["a"]> : tensor<1xi8>', 8, "a dense literal of strings is not read here"),
        ('dense<"01"> : tensor<1xi8>', 7, "a string in a dense literal is 0x and two hexadecimal digits for each byte"),
        (
            'dense<"0x1"> : tensor<1xi8>',
            7,
            "a string in a dense literal is 0x and two hexadecimal digits for each byte",
        ),
        ('dense<"0x0102"> : tensor<4xi8>', 1, "2 bytes are not the elements of 'tensor<4xi8>'"),
        ("dense<" + "[" * 5000, 71, "a dense literal nests deeper than 64 brackets"),
        (f"dense<1> : tensor<{'1x' * 65}i8>", 12, "a dense literal has rank 65, expected at most 64"),
        ("dense<> : tensor<0x9223372036854775807xi8>", 1, "a dense literal of type"),
    ],
)
def test_faults(text, column, message):
    with pytest.raises(ParseError) as caught:
        dense(text)
    assert str(caught.value).startswith(f"m:1:{column}: error: {message}")


def literal(array):
    return str(array.tolist())


@pytest.mark.parametrize("shape", [(700,), (1, 700), (700, 1), (20, 5, 7), (7, 1, 1, 100)])
def test_long_literals_are_read_like_short_ones(shape):
    values = np.arange(700, dtype=np.int32).reshape(shape) - 300
    type_ = f"tensor<{'x'.join(map(str, shape))}xi32>"
    assert dense(f"dense<{literal(values)}> : {type_}").values.tolist() == values.tolist()
    # A comment keeps it from being read at once.
    slowly = f"dense<{literal(values).replace('],', '], // row', 1).replace('// row', '// row' + chr(10))}> : {type_}"
    assert dense(slowly).values.tolist() == values.tolist()
    floats = values.astype(np.float32) / 8
    found = dense(f"dense<{literal(floats)}> : {type_.replace('i32', 'f32')}").values
    assert found.tobytes() == floats.tobytes()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ((" 399", " 3999999999999"), "4:{}: error: integer out of the range of i32"),
        ((" 399", " 39.5"), "4:{}: error: a float is no value of type i32"),
        ((" 399", " 1 2"), "4:{}: error: expected an integer"),
        ((" 399", " "), "4:{}: error: expected an integer"),
        ((" 399", " 398, 399"), "1:1: error: the literal has extents [701], its type [700]"),
    ],
)
def test_faults_of_long_literals_stand_where_they_are(change, message):
    text = "dense<[\n" + ", ".join(map(str, range(-300, 0))) + ",\n\n" + ", ".join(map(str, range(400)))
    text += "]> : tensor<700xi32>"
    broken = text.replace(*change)
    column = broken.split("\n")[3].index(change[1].lstrip() or "]") + 1 if "4:" in message else 0
    with pytest.raises(ParseError) as caught:
        dense(broken)
    assert str(caught.value).startswith("m:" + message.format(column))


def test_rows_of_other_lengths_in_long_literals():
    rows = [str(list(range(40)))] * 10
    rows[3] = str(list(range(39)))
    with pytest.raises(ParseError, match="expected 40 elements as before, found 39"):
        dense(f"dense<[{', '.join(rows)}]> : tensor<10x40xi32>")
    assert dense(f"dense<[{', '.join(['[]'] * 600)}]> : tensor<600x0xi8>").values.shape == (600, 0)
