"""Narrow numbers that are widened as they are read: every value, every number of them, and what stays."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bcastgen import from_text
from bcastgen.core.dtypes import dtype
from bcastgen.loops.schedule.widened_reads import widened_reads
from nests import nest_of

PAIRS = [
    *itertools.product(("u8", "i8", "u16", "i16"), ("f32", "i32", "u32")),
    *itertools.product(("u8", "i8", "u16", "i16", "i32", "f32"), ("f64",)),
]


def values(kind):
    """Every value of up to 16 bits; of wider dtypes the extremes, and what lies between."""
    kind = np.dtype(dtype(kind).numpy)
    if kind.itemsize < 4:
        return np.arange(1 << 8 * kind.itemsize).astype(f"u{kind.itemsize}").view(kind)
    bits = np.arange(-(1 << 31), 1 << 31, 65_521).astype(np.int32)
    ends = np.array([-(1 << 31), -1, 0, 1, (1 << 24) + 1, (1 << 31) - 1, 0x7F800000, 0x7FC00001], np.int32)
    return np.concatenate((bits, ends)).view(kind)


@pytest.mark.parametrize(("kind", "to"), PAIRS)
def test_every_value_becomes_its_own(kind, to):
    kernel, given = from_text(f"({kind}[*] a) -> a.astype({dtype(to).numpy}) + 0"), values(kind)
    (schedule,) = kernel.compilation.schedules
    assert (
        schedule.inline.widened is not None and f"bcg_widen_{kind}_{'f64' if to == 'f64' else 'i32'}(" in kernel.source
    )
    with np.errstate(invalid="ignore"):
        expected = given.astype(dtype(to).numpy) + np.dtype(dtype(to).numpy).type(0)
    np.testing.assert_array_equal(kernel(given), expected)


@pytest.mark.parametrize(("kind", "to"), PAIRS)
def test_every_number_of_them_from_any_place(kind, to):
    """Whole vectors and what is left, beside an operand of the lanes' width, and with one that stands still."""
    name = np.dtype(dtype(to).numpy)
    kernel = from_text(f"({kind}[*] a, {kind}[*] b, {to}[*] c) -> a.astype({name}) * c + b.astype({name})")
    random = np.random.default_rng(0)
    a, b = random.integers(0, 100, (2, 80)).astype(dtype(kind).numpy)
    c = random.integers(1, 9, 80).astype(name)
    x, y = a.astype(name), b.astype(name)
    for first, n in itertools.product(range(3), range(70)):
        part, result = slice(first, first + n), np.full(n + 2, 77, name)
        kernel(a[part], b[part], c[part], out=result[1:-1])
        np.testing.assert_array_equal(result[1:-1], x[part] * c[part] + y[part])
        kernel(a[part], b[7:8], c[9:10], out=result[1:-1])
        np.testing.assert_array_equal(result[1:-1], x[part] * c[9] + y[7])
        kernel(a[7:8], b[7:8], c[part], out=result[1:-1])
        np.testing.assert_array_equal(result[1:-1], x[7] * c[part] + y[7])
        assert result[0] == result[-1] == 77


def test_a_result_may_be_an_operand_of_the_lanes_width():
    kernel = from_text("(u8[*] a, f32[*] b) -> a * b + b")
    a, b = np.arange(100, dtype=np.uint8), np.linspace(0, 1, 100, dtype=np.float32)
    expected, result = a * b + b, b.copy()
    assert kernel(a, result, out=result) is result
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(
    "text",
    [
        "(f32[?] a) -> a + 1.0",
        "(u8[?] a) -> exp(a.astype(f32))",
        "(u8[?] a) -> a.astype(u16) * 3",
        "(u32[?] a) -> a.astype(f64)",
        "(i64[?] a) -> a.astype(f64)",
        "(bool[?] a, f32[?] b) -> where(a, b, 0)",
        "(u8[?] a, f64[?] b) -> (a.astype(f32) * 2).astype(f64) + b",
        "(f16[?] a, f32[?] b) -> a * b",
        "(u8[?] a) -> a.astype(c64) * 2",
        "(u8[?] a, i32[?] b) -> (a.astype(i32) << b).astype(f32)",
    ],
)
def test_what_stays(text):
    """Functions, lanes of several widths, numbers that no one instruction widens, shifts by what is in arrays."""
    nest = nest_of(text)
    assert widened_reads(nest, from_text(text).compilation.schedules[0].inline.variants) is None


def test_variants_in_which_nothing_narrow_moves_stay():
    loop = from_text("(u8[*] a, f32[*] b) -> a * b").compilation.schedules[0].inline
    assert [one.name for one in loop.variants] == ["unit", "zero_b", "zero_a"]
    assert loop.widened is not None and [one.name for one in loop.widened.variants] == ["unit", "zero_b"]
