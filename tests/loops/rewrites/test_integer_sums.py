"""Sums of integers as floats are sums of integers where the float holds these, and give the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen import from_text
from bcastgen.loops.rewrites.integer_sums import integer_sums
from nests import nest_of

NARROW = ("i8", "u8", "i16", "u16")


def ends(kind):
    info = np.iinfo(kind)
    values = {info.min, info.min + 1, -1, 0, 1, 2, info.max // 2, info.max - 1, info.max}
    return np.array(sorted(value for value in values if info.min <= value), kind)


@pytest.mark.parametrize("to", ["f32", "f64"])
@pytest.mark.parametrize("sign", "+-")
@pytest.mark.parametrize("second", NARROW)
@pytest.mark.parametrize("first", NARROW)
def test_every_pair_of_ends(first, second, sign, to):
    text = f"({first}[*] a, {second}[*] b) -> a.astype({to}) {sign} b.astype({to})"
    kernel = from_text(text)
    assert [s.op.name for s in integer_sums(nest_of(text))[0].body][2:] == [
        "add" if sign == "+" else "subtract",
        "cast",
    ]
    names = {"i": "int", "u": "uint", "f": "float"}
    a, b = ends(names[first[0]] + first[1:])[:, None], ends(names[second[0]] + second[1:])
    x, y = a.astype(names[to[0]] + to[1:]), b.astype(names[to[0]] + to[1:])
    expected, found = (x + y if sign == "+" else x - y), kernel(a, b)
    np.testing.assert_array_equal(found, expected, strict=True)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@pytest.mark.parametrize(
    "text",
    [
        "(i32[?] a, i32[?] b) -> a.astype(f32) + b.astype(f32)",
        "(i32[?] a, i32[?] b) -> a.astype(f64) + b.astype(f64)",
        "(i16[?] a, i32[?] b) -> a.astype(f32) - b.astype(f32)",
        "(i8[?] a, i8[?] b) -> a.astype(f32) * b.astype(f32)",
        "(i8[?] a, i8[?] b) -> a.astype(f16) + b.astype(f16)",
        "(i8[?] a) -> a.astype(f32) + a.astype(f32)",
        "(i8[?] a, f32[?] b) -> a.astype(f32) + b",
        "(i8[?] a) -> a.astype(f32) - 3.0",
        "(i8[n] a, i8[n] b) -> (a.astype(f32) - b.astype(f32), exp(a.astype(f32)))",
        "(i8[?] a, i8[?] b) -> a + b",
        "(bool[?] a, i8[?] b) -> a.astype(f32) - b.astype(f32)",
    ],
)
def test_what_stays(text):
    """Floats that do not hold all, products, casts that others use, too."""
    nest = nest_of(text)
    assert integer_sums(nest) == (nest, ())


def test_sums_among_other_statements():
    text = "(i8[n] a, u8[n] b, f32[n] c) -> (c * (a.astype(f32) - b.astype(f32)) + c, c - 1)"
    assert [s.op.name for s in integer_sums(nest_of(text))[0].body] == (
        ["cast", "cast", "subtract", "cast", "multiply", "add", "subtract"]
    )
    a, b = np.arange(-128, 128).astype(np.int8), np.arange(256).astype(np.uint8)
    c = np.linspace(-3, 3, 256).astype(np.float32)
    first, second = from_text(text)(a, b, c)
    np.testing.assert_array_equal(first, c * (a.astype(np.float32) - b.astype(np.float32)) + c, strict=True)
    np.testing.assert_array_equal(second, c - 1, strict=True)
