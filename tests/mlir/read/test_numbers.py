"""The numbers that texts spell, by type: integers with and without a sign, floats, floats as bits, raw bytes."""

import struct
from fractions import Fraction

import numpy as np
import pytest

from bcastgen.core.errors import ParseError
from bcastgen.mlir.read.numbers import element_kind, float_values, from_bytes, integer_values, scalar


def fail(index, message):
    return ParseError(f"{index}: {message}")


def value(text, element):
    return scalar(text, element_kind(element), fail)


@pytest.mark.parametrize(
    ("text", "element", "number"),
    [
        ("0", "i8", 0),
        ("127", "i8", 127),
        ("128", "i8", -128),
        ("255", "i8", -1),
        ("-128", "i8", -128),
        ("0xFF", "i8", -1),
        ("-0x1", "i8", -1),
        ("255", "ui8", 255),
        ("-128", "si8", -128),
        ("7", "i4", 7),
        ("15", "i4", -1),
        ("18446744073709551615", "ui64", 2**64 - 1),
        ("18446744073709551615", "i64", -1),
        ("9223372036854775807", "index", 2**63 - 1),
        ("-9223372036854775808", "i64", -(2**63)),
        ("00000000000000000000000000000000000000000000000000001", "i8", 1),
        ("1", "i1", True),
        ("-1", "i1", True),
        ("0", "i1", False),
        ("true", "i1", True),
        ("false", "i1", False),
    ],
)
def test_integers(text, element, number):
    found = value(text, element)
    assert found == number
    assert isinstance(found, bool) == (element == "i1")


@pytest.mark.parametrize(
    ("text", "element", "message"),
    [
        ("256", "i8", "integer out of the range of i8, -128 to 255"),
        ("-129", "i8", "integer out of the range of i8, -128 to 255"),
        ("128", "si8", "integer out of the range of si8, -128 to 127"),
        ("-1", "ui8", "a negative integer is no value of the unsigned type ui8"),
        ("2", "i1", "integer out of the range of i1, -1 to 1"),
        ("9223372036854775808", "index", "integer out of the range of index"),
        ("9" * 100_000, "i64", "integer out of the range of i64"),
        ("-" + "9" * 100_000, "i64", "integer out of the range of i64"),
        ("0x" + "F" * 100_000, "i64", "integer out of the range of i64"),
        ("1.0", "i8", "a float is no value of type i8, expected an integer"),
        ("true", "i8", "'true' is of type i1, expected an integer of type i8"),
        ("x", "i8", "expected an integer"),
        ("1", "f32", "an integer is no value of type f32; write 1.0"),
        ("true", "f32", "expected a float of type f32"),
        ("-0x1", "f32", "a hexadecimal float is its bits, and has no minus"),
        ("0x1FFFFFFFF", "f32", "a hexadecimal float of more than the 32 bits of f32"),
        ("0x12345", "bf16", "a hexadecimal float of more than the 16 bits of bf16"),
        ("0x1", "tf32", "a hexadecimal float of type tf32 is not read here; write a decimal one"),
        ("0x100", "f8E4M3FN", "a hexadecimal float of more than the 8 bits of f8E4M3FN"),
    ],
)
def test_what_is_no_value_of_a_type(text, element, message):
    with pytest.raises(ParseError) as caught:
        value(text, element)
    assert str(caught.value).startswith(f"0: {message}")


def test_the_fault_is_that_of_its_text():
    for texts in (["1", "2", "300"], ["1", "0x2", "x"]):
        with pytest.raises(ParseError, match=r"^2: "):
            integer_values(texts, element_kind("i8"), fail)
    with pytest.raises(ParseError, match=r"^1: "):
        float_values(["1.0", "1"], element_kind("f32"), fail)


@pytest.mark.parametrize(
    ("text", "element", "bits"),
    [
        ("1.0", "f32", 0x3F800000),
        ("-0.0", "f32", 0x80000000),
        ("0.1", "f32", 0x3DCCCCCD),
        ("1.0e400", "f32", 0x7F800000),
        ("1.0e-400", "f64", 0),
        ("4.9e-324", "f64", 1),
        ("65519.9", "f16", 0x7BFF),
        ("65520.0", "f16", 0x7C00),
        ("0x7FC00001", "f32", 0x7FC00001),
        ("0xFFA00000", "f32", 0xFFA00000),
        ("0x7FF4000000000000", "f64", 0x7FF4000000000000),
        ("0x7D01", "f16", 0x7D01),
        ("0x1", "f16", 1),
        ("1.", "f32", 0x3F800000),
        ("1.e+5", "f32", 0x47C35000),
        ("1" * 100_000 + ".0", "f64", 0x7FF0000000000000),
    ],
)
def test_floats_by_their_bits(text, element, bits):
    array = float_values([text], element_kind(element), fail)
    assert array.view(f"u{array.itemsize}").item() == bits


def bf16_of(number):
    """Round a fraction to a bf16, to nearest and even: the nearest of all there are."""
    known = {bits: Fraction(float_of(bits << 16)) for bits in range(0x7F80)} | {0x7F80: Fraction(2) ** 128}
    return min(known, key=lambda bits: (abs(known[bits] - number), bits & 1)) << 16


def float_of(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


@pytest.mark.parametrize(
    "text",
    """0.0 1.0 1.00390625 1.0078125 1.01171875 1.00390625000000000001 1.0039062500000002 1.00390624999999978 0.1 1.0e39
    3.3895e38 3.39e38 3.3961775292304e38 1.0e-40 9.18e-41 4.6e-41 4.5e-41 1.0e-60 123456.789""".split(),
)
def test_bf16_is_rounded_once(text):
    # To double first, as LLVM does.
    expected = bf16_of(Fraction(float(text)))
    array = float_values([text, f"-{text}"], element_kind("bf16"), fail)
    assert array.dtype == np.float32
    assert [hex(bits) for bits in array.view(np.uint32).tolist()] == [hex(expected), hex(expected | 1 << 31)]


def test_bf16_by_its_bits_is_the_float32_it_equals():
    array = float_values(["0x3F80", "0xFF80", "0x7FC1", "1.5"], element_kind("bf16"), fail)
    assert array.view(np.uint32).tolist() == [0x3F800000, 0xFF800000, 0x7FC10000, 0x3FC00000]


@pytest.mark.parametrize(
    ("data", "count", "element", "expected"),
    [
        (b"\x01\xff", 2, "i8", [1, -1]),
        (b"\x01\xff", 2, "ui8", [1, 255]),
        (b"\x01\x02", 7, "i16", [513]),
        (b"\x00\x00\x80\x3f", 9, "f32", [1.0]),
        (b"\x80\x3f\x00\xc0", 2, "bf16", [1.0, -2.0]),
        (b"\x05", 3, "i1", [True, False, True]),
        (b"\x05\x02", 10, "i1", [True, False, True] + [False] * 6 + [True]),
        (b"\x01\x00\x01", 3, "i1", [True, False, True]),
        (b"\xff", 100, "i1", [True]),
        (b"\x00", 100, "i1", [False]),
        (b"\x01\x00\x00\x00\x00\x00\x00\x00", 4, "index", [1]),
        (b"", 0, "i8", []),
    ],
)
def test_bytes(data, count, element, expected):
    assert from_bytes(data, count, element_kind(element)).tolist() == expected


@pytest.mark.parametrize(("data", "count", "element"), [(b"\1\2\3", 2, "i8"), (b"\1\2", 20, "i1"), (b"\1", 2, "i4")])
def test_bytes_that_do_not_fit(data, count, element):
    assert from_bytes(data, count, element_kind(element)) is None


def test_what_numbers_are_not_read():
    assert all(element_kind(name) is None for name in ("i65", "!shape.size", "tensor<4xi8>", "complex<f32>", "none"))
