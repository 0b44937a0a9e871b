"""16-bit floats in emitted C: bits in memory, floats between, one rounding an op; strict as C and as C++."""

from __future__ import annotations

import re
from contextlib import suppress

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.c_flags import OPTIMISED
from bcastgen.core.dtypes import dtype
from bcastgen.ops.table import OPS
from compile_flags import QUICK

TEXTS = {
    "mixed": "(bf16[?,?] a, f16[?] b, f32[?,1] c) -> exp(a) * 0.1 + bf16(b) / bf16(c)",
    "wild": "(f16[*] a, i8[*] b) -> where(a > b, a, clip(a, -1, 2.5)) + b",
    "wide": "(f64[n] a, i64[n] b, u64[n] c, i32[n] d) -> f16(a) + f16(b) - f16(c) + f16(d)",
    "wide_bf16": "(f64[n] a, i64[n] b, u64[n] c, u32[n] d) -> bf16(a) + bf16(b) - bf16(c) + bf16(d)",
    "back": "(bf16[n] a, f16[n] b) -> int8(a) + u64(b)",
    "tests": "(bf16[n] a) -> isinf(a) | isnan(a) | signbit(a) | isfinite(a)",
    "named": "(f16[n] memcpy, bf16[n] bits) -> memcpy + f16(bits)",
    "exact": "(f16[n] a, f16[n] b) -> copysign(floor(-a), abs(maximum(b, 1)))",
}


@pytest.fixture(scope="module")
def kernels(emit):
    return {name: emit(name, text) for name, text in TEXTS.items()}


@pytest.mark.parametrize("language", ["c", "c++"])
def test_halves_are_strict(kernels, language, compile_strictly, together, tmp_path):
    compile_strictly(together(kernels.values()), tmp_path, "gcc", language)


@pytest.mark.slow
@pytest.mark.parametrize("flags", [QUICK, OPTIMISED])
@pytest.mark.parametrize("language", ["c", "c++"])
@pytest.mark.parametrize("kind", ["gcc", "clang"])
def test_halves_are_strict_everywhere(kernels, kind, language, flags, compile_strictly, together, tmp_path):
    compile_strictly(together(kernels.values()), tmp_path, kind, language, (flags,))


def body_of(kernel):
    """The statements of its first inner loop."""
    return re.search(r"for \(int64_t i = 0; i < n; i\+\+\) \{\n(.*?)\n    \}", kernel.text, re.DOTALL)[1].split("\n")


def test_elements_are_bits_and_values_floats(kernels):
    lines = [line.strip() for line in body_of(kernels["mixed"])]
    assert lines[0] == "const float a0 = mixed_bf16_to_f32(a[i]);"
    assert "const uint16_t *a, " in kernels["mixed"].text
    assert "an element of f16 or bf16 is its bits, a uint16_t" in " ".join(
        kernels["mixed"].files["mixed.h"].replace(" *  ", "").split()
    )


def test_each_op_rounds_once_and_what_is_stored_only_is_rounded_there(kernels):
    lines = "\n".join(body_of(kernels["mixed"]))
    assert lines.count("mixed_round_bf16(") == 5  # exp, times, two casts, divide; not the sum
    assert re.search(r"const float (t\d) = t\d \+ t\d;\n +r\[i\] = mixed_f32_to_bf16\(\1\);", lines)


def test_what_is_representable_is_not_rounded(kernels):
    assert "round_f16" not in kernels["exact"].text
    assert "exact_f32_to_f16(" in kernels["exact"].text


@pytest.mark.parametrize("kind", ["f16", "bf16"])
def test_rows_that_say_so_are_representable(kind):
    """What is read by a later op, in f32, is what a result of 16 bits holds: over all values, or many pairs."""
    rows = {name: op for name, op in OPS.items() if op.representable}
    assert len(rows) > 12
    every = np.arange(2**16, dtype=np.uint16)
    chance = np.random.default_rng(3)
    for arity in (1, 2, 3):
        calls = []
        for name, op in rows.items():
            if op.arity == arity:
                with suppress(bg.BcastgenError):
                    text = f"{name}({', '.join('abc'[:arity])})"
                    signature = f"({', '.join(f'{kind}[?] {x}' for x in 'abc'[:arity])})"
                    if bg.from_text(f"{signature} -> {text}").compilation.typed.result_dtypes[0].name == kind:
                        calls.append(text)
        assert calls
        kernel = bg.from_text(f"{signature} -> {', '.join(f'{call}, f32({call})' for call in calls)}")
        operands = [every, chance.permutation(every), chance.permutation(every)][:arity]
        results = kernel(*(x.view(dtype(kind).np) for x in operands))
        for call, short, wide in zip(calls, results[::2], results[1::2], strict=True):
            np.testing.assert_array_equal(short.astype(np.float32), wide, err_msg=call)


def test_no_value_goes_through_a_rounded_f32(kernels):
    for name in ("wide", "wide_bf16"):
        text = kernels[name].text
        assert all(f"{name}_odd_{source}(" in text for source in ("f64", "i64", "u64"))


def test_the_header_of_other_kernels_does_not_speak_of_them(emit):
    assert "uint16_t" not in emit("plain", "(f32[n] a) -> a + 1").files["plain.h"]
