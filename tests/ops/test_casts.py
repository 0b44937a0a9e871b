"""Casts of floats to integers: ends, what lies beside them, and what is no number; and the C that says so."""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen.api.functions import from_text
from bcastgen.core.dtypes import COMPUTED, dtype
from bcastgen.ops.casts import cast_reference, truncated_c

INTEGERS = [row for row in COMPUTED if row.is_integer]


def near_everything(source):
    """Numbers at and beside the ends of every integer dtype, and bits of all kinds."""
    ends = np.array([end for row in INTEGERS for end in (row.min, row.max, row.max + 1)], np.longdouble)
    ends = np.concatenate([ends, [0, 0.3, 0.5, 1, 1.5, 2.5, np.inf, np.nan, 5e-324]]).astype(source)
    ends = np.concatenate([ends, ends - source(0.5), ends + source(0.5)])
    ends = np.concatenate([ends, -ends, np.nextafter(ends, source(0)), np.nextafter(ends, source(np.inf))])
    bits = np.random.default_rng(5).integers(0, 256, 40_000, np.uint8).view(source)
    return np.concatenate([ends, bits])


@pytest.mark.parametrize("target", INTEGERS, ids=str)
@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.filterwarnings("ignore:invalid value|overflow:RuntimeWarning")
def test_floats_become_integers_as_the_reference_has_it(name, target):
    x = near_everything(dtype(name).np.type)
    truncated, nearest = from_text(f"({name}[n] x) -> ({target.numpy}(x), {target.numpy}(rint(x)))")(x)
    np.testing.assert_array_equal(truncated, cast_reference(x, target))
    np.testing.assert_array_equal(nearest, cast_reference(np.rint(x), target))


def nearest_with(bits, number):
    """The nearest number of so many significant bits; of two, the even one."""
    excess = max(abs(number).bit_length() - bits, 0)
    kept, rest, half = abs(number) >> excess, abs(number) & ((1 << excess) - 1), (1 << excess) >> 1
    kept += excess > 0 and (rest > half or (rest == half and kept & 1))
    return (kept << excess) * (-1 if number < 0 else 1)


@pytest.mark.parametrize(("target", "bits"), [("bf16", 8), ("f32", 24), ("f64", 53)])
@pytest.mark.parametrize("source", ["i64", "u64"])
def test_large_integers_are_rounded_once(source, target, bits):
    """Beside a tie, one bit at the far end decides: rounding twice would lose it."""
    top = 63 if source == "u64" else 62
    ties = [2**top + odd * 2 ** (top - bits) for odd in (1, 3, 5)]
    numbers = [tie + sign * 2**far for tie in ties for far in range(top - bits) for sign in (-1, 0, 1)]
    numbers += [-number for number in numbers if source == "i64"]
    x = np.array(numbers, source.replace("i", "int").replace("u", "u").replace("u64", "uint64"))
    got = from_text(f"({source}[n] x) -> x.astype({target}).astype(f64)")(x)
    wanted = np.array([float(nearest_with(bits, number)) for number in numbers])
    np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("name", ["f32", "f64"])
def test_there_and_back_a_zero_has_no_sign(name):
    x = np.array([-0.3, -0.0, -0.9, 0.2] * 20, name.replace("f", "float"))
    for target in ("int8", "i32", "i64", "uint8", "u16", "u32", "u64"):
        back = from_text(f"({name}[n] x) -> {name}({target}(x))")(x)
        assert not np.signbit(back).any()


def test_ends_are_the_floats_next_to_them():
    assert truncated_c("x", dtype("f32"), dtype("i32")) == "bcg_truncate_i32_f32(x, -0x1p31f, 2147483520.0f, 0x7f)"
    assert truncated_c("x", dtype("f64"), dtype("u8")) == "(uint8_t)(int32_t)bcg_from_zero_f64(x, 255.0)"
