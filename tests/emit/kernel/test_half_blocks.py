"""f16 arrays of loops of ours are converted a block at a time: same bits by whatever instructions there are."""

from __future__ import annotations

import platform

import numpy as np
import pytest

from bcastgen.api.functions import from_text

ALL = np.arange(1 << 16, dtype=np.uint16).view(np.float16)
X86 = platform.machine() in ("x86_64", "AMD64")


def source(text):
    return from_text(text).compilation.source.text


def test_loops_have_floats_and_their_caller_converts():
    text = source("(f16[n] a, f32[n] b) -> f16(a + b)")
    assert "static void kernel_unit(const float *a, const float *b, float *r, int64_t n)" in text
    text = text.replace("(const void *)", "")
    assert text.count("bcg_f16_block_to_f32((const uint16_t *)(at[0]") == 2  # unit, and where b is stationary
    assert "kernel_unit(a_block, (const float *)(at[1] + row * steps[1]) + first, r_block, count);" in text
    assert "const float a_block[] = {bcg_f16_to_f32(*(const uint16_t *)(at[0] + row * steps[0]))};" in text


def test_other_dtypes_and_standalone_c_have_no_blocks(emit):
    assert "_block" not in source("(bf16[n] a, i16[n] b) -> a + bf16(b)")
    assert "_block" not in emit("k", "(f16[n] a, f16[n] b) -> a + b").text


FLAGS = ["", "-mno-avx512f", "-mno-avx512f -mno-f16c"] if X86 else [""]


@pytest.mark.parametrize("flags", FLAGS)
def test_every_f16_there_and_back(flags, monkeypatch):
    monkeypatch.setenv("BCASTGEN_CFLAGS", flags)
    up = from_text("(f16[n] a) -> f32(a)")(ALL)
    number = ~np.isnan(ALL)
    np.testing.assert_array_equal(up[number].view(np.uint32), ALL[number].astype(np.float32).view(np.uint32))
    # Quiet, with the payload where it was.
    bits = ALL[~number].view(np.uint16).astype(np.uint32)
    np.testing.assert_array_equal(
        up[~number].view(np.uint32), (bits & 0x8000) << 16 | 0x7FC00000 | (bits & 0x3FF) << 13
    )
    # Each f16, what lies halfway to the next, and the floats next to that.
    with np.errstate(invalid="ignore"):
        halfway = up + (up.view(np.uint32) & 0x7F800000).view(np.float32) * np.float32(2**-11)
    for floats in (up, halfway, np.nextafter(halfway, np.float32(0)), np.nextafter(halfway, np.float32(np.inf))):
        with np.errstate(over="ignore", invalid="ignore"):
            expected = floats.astype(np.float16)
        found = from_text("(f32[n] a) -> f16(a)")(floats)
        number = ~np.isnan(floats)
        np.testing.assert_array_equal(found[number].view(np.uint16), expected[number].view(np.uint16))
        assert np.isnan(found[~number]).all()


@pytest.mark.parametrize("n", [1, 7, 8, 15, 16, 17, 255, 256, 257, 700])
def test_blocks_end_where_rows_do(n):
    kernel = from_text("(f16[n,m] a, f16[m] b, f16[n,1] c) -> a * b + c")
    a, b, c = (ALL[0x3000:][: 3 * n].reshape(3, n), ALL[0x3800:][:n], ALL[0x3900:0x3903].reshape(3, 1))
    room = np.full((5, n + 2), np.float16(-1))
    kernel(a, b, c, out=room[1:4, 1:-1])
    np.testing.assert_array_equal(room[1:4, 1:-1], (a * b) + c)
    room[1:4, 1:-1] = -1
    assert (room == -1).all()


def test_an_operand_may_be_the_result():
    a = ALL[0x3000:0x3400].copy()
    expected = a + a
    assert from_text("(f16[n] a, f16[n] b) -> a + b")(a, a, out=a) is a
    np.testing.assert_array_equal(a, expected)
