"""Bytes in the halves of words: every value at every place, odd numbers of them, and what stays in bytes."""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen import from_text
from bcastgen.core.dtypes import dtype
from bcastgen.loops.schedule.byte_words import byte_words
from nests import nest_of

BLEND = (
    "(u8[*] a, u8[*] b, u8[*] w) -> "
    "((a.astype(u16)*w.astype(u16) + b.astype(u16)*(255 - w.astype(u16))) >> 8).astype(uint8)"
)


def pairs(kind):
    """Every pair of bytes, and one more value, so that one is left over."""
    every = np.arange(256, dtype=np.uint8).view(kind)
    first, second = np.repeat(every, 256), np.tile(every, 256)
    return np.append(first, every[1]), np.append(second, every[2])


@pytest.mark.parametrize(
    ("kind", "wide", "body", "function"),
    [
        ("u8", "u16", "a * b >> 8", lambda a, b: a * b >> 8),
        ("u8", "u16", "a ^ (b << 3) + 77", lambda a, b: a ^ (b << 3) + 77),
        ("u8", "i16", "a - b", lambda a, b: a - b),
        ("i8", "i16", "a * b >> 7", lambda a, b: a * b >> 7),
        ("i8", "u16", "~(a + b) & 31", lambda a, b: ~(a + b) & 31),
        ("i8", "i16", "minimum(maximum(a * 3 - b, -128), 127)", lambda a, b: np.clip(a * 3 - b, -128, 127)),
    ],
)
def test_every_pair_of_bytes(kind, wide, body, function):
    body = body.replace("a", "A").replace("b", "B").replace("mAximum", "maximum")
    body = body.replace("A", f"a.astype({dtype(wide).numpy})").replace("B", f"b.astype({dtype(wide).numpy})")
    kernel = from_text(f"({kind}[*] a, {kind}[*] b) -> ({body}).astype({dtype(kind).numpy})")
    names = {"u8": "uint8", "i8": "int8", "u16": "uint16", "i16": "int16"}
    a, b = pairs(names[kind])
    x, y = a.astype(names[wide]), b.astype(names[wide])
    expected = function(x, y).astype(names[wide]).astype(names[kind])
    np.testing.assert_array_equal(kernel(a, b), expected, strict=True)
    np.testing.assert_array_equal(kernel(a, b[5:6]), function(x, y[5:6]).astype(names[kind]), strict=True)
    result = a.copy()
    assert kernel(result, b, out=result) is result
    np.testing.assert_array_equal(result, expected, strict=True)


def test_every_number_of_bytes_from_any_place():
    kernel, random = from_text(BLEND), np.random.default_rng(0)
    assert "bcg_word_16(" in kernel.source
    a, b, w = random.integers(0, 256, (3, 300), np.uint8)
    wide = [array.astype(np.uint16) for array in (a, b, w)]
    expected = (wide[0] * wide[2] + wide[1] * (255 - wide[2]) >> 8).astype(np.uint8)
    for first in range(3):
        for n in range(200):
            part, result = slice(first, first + n), np.full(n + 2, 99, np.uint8)
            kernel(a[part], b[part], w[part], out=result[1:-1])
            np.testing.assert_array_equal(result[1:-1], expected[part])
            assert result[0] == result[-1] == 99


def test_two_results():
    kernel = from_text(
        "(u8[n] a, u8[n] b) -> ((a.astype(u16)*b.astype(u16) >> 8).astype(uint8), (a.astype(u16)*3 >> 2).astype(int8))"
    )
    assert "bcg_word_16(" in kernel.source
    a, b = pairs("uint8")
    first, second = kernel(a, b)
    np.testing.assert_array_equal(first, (a.astype(np.uint16) * b >> 8).astype(np.uint8), strict=True)
    np.testing.assert_array_equal(second, (a.astype(np.uint16) * 3 >> 2).astype(np.int8), strict=True)


@pytest.mark.parametrize(
    "text",
    [
        "(u8[?] a, u8[?] b) -> a & b",
        "(u8[?] a, u8[?] b) -> (a.astype(u16) + b.astype(u16) + (a & b).astype(u16) >> 2).astype(uint8)",
        "(u8[?] a, u8[?] b) -> a.astype(u16) * b.astype(u16)",
        "(u8[?] a, u16[?] b) -> (a.astype(u16) * b).astype(uint8)",
        "(u8[?] a, u8[?] b) -> (a.astype(u16) * b.astype(u16) >> b.astype(u16)).astype(uint8)",
        "(u8[?] a, u8[?] b) -> (a.astype(u64) * b.astype(u64) * 77 >> 32).astype(uint8)",
        "(u8[?] a, u8[?] b) -> (a.astype(f64) * b.astype(f64)).astype(uint8)",
        "(u8[?] a) -> exp(a.astype(f32)).astype(uint8)",
        "(u8[?] a, u8[?] b) -> where(a.astype(u16) * b.astype(u16) > 99, a, b)",
        "(u8[?] a) -> a",
    ],
)
def test_what_stays(text):
    """Bytes alone, results and operands of 16 bits, shifts by what is in arrays, wider statements, bools."""
    assert byte_words(nest_of(text), ()) is None


@pytest.mark.parametrize("of", ["f32", "f64"])
@pytest.mark.parametrize("kind", ["u8", "i8"])
def test_bytes_as_floats_in_between(kind, of):
    kernel = from_text(
        f"({kind}[*] a, {kind}[*] b) -> "
        f"clip(a.astype({of}) * 0.7 + b.astype({of}) * 0.6, 0, 99).astype({dtype(kind).numpy})"
    )
    assert "bcg_word_32(" in kernel.source
    names = {"u8": np.uint8, "i8": np.int8}
    a, b = pairs(names[kind])
    real = np.dtype(dtype(of).numpy).type
    x, y = a.astype(real) * real(0.7), b.astype(real) * real(0.6)
    expected = np.clip(x + y, 0, 99).astype(names[kind])
    np.testing.assert_array_equal(kernel(a, b), expected, strict=True)
    for n in range(100):
        np.testing.assert_array_equal(kernel(a[3 : n + 3], b[3 : n + 3]), expected[3 : n + 3], strict=True)
