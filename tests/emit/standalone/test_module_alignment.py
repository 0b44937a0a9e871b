"""Rows that callers promise to align: checked, told by name, and used by loops."""

from __future__ import annotations

import itertools
import platform
import re
import subprocess

import pytest

import bcastgen as bg
from c_harness import ADDRESS, LANGUAGES, STRICT, compiler, said_by_main

AXPB = bg.from_text("(f32[?,?] a, f32[?] b) -> a + b*2")
TURNED = bg.from_text("(f64[n,n] a) -> a + a.T")
ROWS = bg.from_text("(f32[m,n] a, f32[n] b) -> a + b*2")
PROGRAM = """
#include <stdio.h>
#include "m.h"

static float memory[4][256];

static void say(const float *a, int64_t a_step, const float *b, int64_t columns, float *r, int64_t r_step)
{
    const int64_t extents[] = {3, columns}, a_strides[] = {a_step, 4}, r_strides[] = {r_step, 4}, b_strides[] = {4};
    static const int64_t one[] = {1};
    const bcastgen_array of_a = {a, extents, a_strides, 2};
    const bcastgen_array of_b = {b, b == memory[1] + 1 ? one : &extents[1], b_strides, 1};
    const bcastgen_result of_r = {r, extents, r_strides, 2};
    bcastgen_diagnostic why;
    char text[200];
    const bcastgen_status status = m_axpb(&of_a, &of_b, &of_r, &why);
    (void)m_axpb_message(status, &why, text, sizeof text);
    printf("%s\\n", text);
    if (status == BCASTGEN_OK) m_axpb_unchecked(&of_a, &of_b, &of_r);
}

int main(void)
{
    float *const a = memory[0] + (64 - (uintptr_t)memory[0] % 64) % 64 / 4, *const r = a + 512, *const b = a + 256;
    for (int at = 0; at < 4 * 64; at++) a[at] = (float)at;
    b[0] = 1;
    b[4] = 0.5f;
    say(a, 64, b, 5, r, 64);
    printf("%g %g %g\\n", (double)r[0], (double)r[4], (double)r[36]);
    say(a, 64, b, 5, a, 64);
    say(a + 1, 64, b, 5, r, 64);
    say(a, 64, b + 4, 5, r, 64);
    say(a, 64, b, 5, r + 2, 64);
    say(a, 36, b, 5, r, 64);
    say(a, 64, b, 5, r, 68);
    say(a, 64, memory[1] + 1, 5, r, 64);
    say(a + 1, 36, b + 1, 1, r + 1, 4);
    return 0;
}
"""
FITS, STRIDE = "no error", "expected a multiple of 64, so that rows are aligned as declared"
SAID = f"""\
{FITS}
2 5 37
{FITS}
the data of 'a' is not aligned to 64 bytes, as declared
the data of 'b' is not aligned to 64 bytes, as declared
the data of 'r' is not aligned to 64 bytes, as declared
'a' dim 0 has a stride of 36 bytes, {STRIDE}
'r' dim 0 has a stride of 68 bytes, {STRIDE}
{FITS}
{FITS}
"""


def built(directory, kind, language, **options):
    kernels = {"axpb": AXPB, "turned": TURNED}
    source, *_ = bg.emit_c(kernels, directory, "m", alignment=64, unchecked=True, **options)
    (directory / "main.c").write_text(PROGRAM)
    return said_by_main(directory, kind, language, source.name)


def test_rows_are_checked_where_they_are_rows(tmp_path):
    """A row of one element may lie anywhere, whether it stretches or not."""
    assert built(tmp_path, "gcc", "c") == SAID


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "language"), tuple(itertools.product(("gcc", "clang"), ("c", "c++"))))
@pytest.mark.parametrize("options", [{"variants": 0}, {"single_file": True}, {"openmp": True}], ids=str)
def test_every_form_checks_rows(kind, language, options, tmp_path):
    """Clang's sanitizer tests what loops are told of alignment."""
    assert built(tmp_path, kind, language, **options) == SAID


SQUARES = """
#include "m.h"

static unsigned char memory[2][100 * 128 + 64];

int main(void)
{
    unsigned char *const a = memory[0] + (64 - (uintptr_t)memory[0] % 64);
    unsigned char *const r = memory[1] + (64 - (uintptr_t)memory[1] % 64);
    static unsigned char b[70][100];
    static const int64_t extents[] = {100, 70}, rows[] = {128, 1}, turned[] = {70, 100}, turned_rows[] = {100, 1};
    const bcastgen_array of_a = {a, extents, rows, 2}, of_b = {b, turned, turned_rows, 2};
    const bcastgen_result of_r = {r, extents, rows, 2};
    for (int at = 0; at < 100 * 128; at++) a[at] = (unsigned char)(at % 7);
    for (int at = 0; at < 7000; at++) b[at / 100][at % 100] = (unsigned char)(at % 11);
    if (m(&of_a, &of_b, &of_r, 0) != BCASTGEN_OK) return 1;
    for (int i = 0; i < 100; i++) {
        for (int j = 0; j < 70; j++) {
            if (r[i * 128 + j] != a[i * 128 + j] + b[j][i]) return 2;
        }
    }
    return 0;
}
"""


@pytest.mark.parametrize("kind", ["gcc", pytest.param("clang", marks=pytest.mark.slow)])
def test_loops_that_begin_within_rows_are_told_no_more_than_holds(kind, tmp_path):
    """Squares begin at every 32nd element: of bytes that is aligned to 32 bytes, not to 64."""
    kernel = bg.from_text("(u8[m,n] a, u8[n,m] b) -> a + transpose(b, (1, 0))")
    for alignment in (32, 64):
        source, header, *_ = kernel.emit_c(tmp_path, "m", alignment=alignment)
        assert f"Rows of more than one element of a, r are aligned to {alignment} bytes" in header.read_text()
        assert source.read_text().count("M_ALIGNED(") == (4 if alignment == 32 else 0)
        (tmp_path / "main.c").write_text(SQUARES)
        command = [compiler(kind), *LANGUAGES["c"], *STRICT, *ADDRESS, "main.c", source.name, "-lm", "-o", "main"]
        subprocess.run(command, cwd=tmp_path, check=True)
        subprocess.run([tmp_path / "main"], check=True)


def test_elements_of_every_type_have_aligned_rows(tmp_path):
    kernel = bg.from_text("(c64[?,?] a, f16[?] b, i8[] c) -> where(c > 0, a, b)")
    _, header, *_ = kernel.emit_c(tmp_path, "m", alignment=128)
    assert "Rows of more than one element of a, b, r are aligned to 128 bytes" in header.read_text()


def instructions(directory, kind, function, **options):
    """The moves of whole vectors in a function's loop: (aligned, others)."""
    kernel = ROWS if options.get("pointers") else AXPB
    source, *_ = kernel.emit_c(directory, "m", **options)
    flags = ["-std=c11", "-O3", "-march=x86-64", "-ffp-contract=off", "-fno-inline", "-S", source, "-o", "-"]
    text = subprocess.run([compiler(kind), *flags], capture_output=True, text=True, check=True).stdout
    body = re.search(rf"^{function}:.*?^\s*\.size\s+{function},", text, re.DOTALL | re.MULTILINE)[0]
    return [len(re.findall(rf"\s{name}\s.*\(", body)) for name in ("movaps", "movups")]


@pytest.mark.parametrize("kind", ["gcc", pytest.param("clang", marks=pytest.mark.slow)])
def test_loops_load_and_store_aligned_vectors(kind, tmp_path):
    if platform.machine() != "x86_64":
        pytest.skip("reads instructions of x86-64")
    aligned, others = instructions(tmp_path, kind, "m_unit", alignment=64)
    assert aligned > 0 and others == 0
    assert instructions(tmp_path, kind, "m_unit")[1] > 0


@pytest.mark.parametrize(
    ("kernel", "options", "said"),
    [
        (AXPB, {"alignment": 48}, "alignment is 48, expected 16, 32, 64 or 128"),
        (AXPB, {"alignment": "64"}, "alignment is '64', expected 16 or more"),
        (AXPB, {"alignment": 64, "main": True}, "alignment= has no checking program"),
        (bg.from_text("(f32[*] a) -> a + 1"), {"alignment": 64}, "has operands of any rank"),
        (bg.from_text("(f32[?] a) -> sum(a)"), {"alignment": 64}, "has reductions"),
    ],
)
def test_what_has_no_rows_is_refused(kernel, options, said, tmp_path):
    with pytest.raises(bg.BcastgenError, match=said):
        kernel.emit_c(tmp_path, "m", **options)


def test_plain_functions_trust_the_promise(tmp_path):
    source, header, *_ = ROWS.emit_c(tmp_path, "m", pointers=True, alignment=32)
    assert "(a, b, r: to 32 bytes)" in header.read_text()
    for compiled in (["gcc", *LANGUAGES["c"]], ["g++", *LANGUAGES["c++"]]):
        subprocess.run([*compiled, *STRICT, "-O2", "-c", source, "-o", tmp_path / "m.o"], check=True)
