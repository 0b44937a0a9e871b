"""Extents that callers give: numbers among a function's arguments, which errors call by their names."""

from __future__ import annotations

import importlib.util
import itertools
import subprocess

import numpy as np
import pytest

import bcastgen as bg
from c_harness import ADDRESS, LANGUAGES, STRICT, compiler, said_by_main

KERNELS = {
    "alone": bg.from_text("(f32[?] x) -> broadcast_in_dim(x, (None, k), (0,)) * 2"),
    "beside": bg.from_text("(f32[?] x, f32[?,?] y) -> broadcast_in_dim(x, (None, k), (0,)) * y"),
    "summed": bg.from_text("(f32[?] x) -> sum(broadcast_in_dim(x, (None, k), (0,)), axis=1)"),
}
PROGRAM = """
#include <stdio.h>
#include "m.h"

#define SAY(function, call) \\
    do { \\
        const bcastgen_status said = call; \\
        (void)function##_message(said, &why, text, sizeof text); \\
        printf("%s\\n", text); \\
    } while (0)

int main(void)
{
    static const float x[] = {1, 2}, y[][3] = {{1, 2, 3}, {4, 5, 6}};
    float made[6] = {0};
    static const int64_t numbers[] = {-1, 0, 1, 2, 3, INT64_MAX, INT64_MIN}, shape[] = {2, 3}, one[] = {2};
    int64_t steps[2], x_steps[1], y_steps[2], found[2];
    char text[200];
    bcastgen_diagnostic why;
    const bcastgen_array of_x = bcastgen_dense(x, one, 1, x_steps, sizeof *x);
    const bcastgen_array of_y = bcastgen_dense(y, shape, 2, y_steps, sizeof **y);
    for (int at = 0; at < 7; at++) {
        const int64_t k = numbers[at];
        int64_t extents[] = {2, k};
        SAY(m_alone, m_alone_shape(&of_x, k, found, &why));
        const bcastgen_result r = bcastgen_dense_result(made, k > 3 ? shape : extents, 2, steps, sizeof *made);
        SAY(m_alone, m_alone(&of_x, k, &r, &why));
        if (k == 3) m_alone_unchecked(&of_x, k, &r);
        const bcastgen_result s = bcastgen_dense_result(made, shape, 2, steps, sizeof *made);
        SAY(m_beside, m_beside(&of_x, &of_y, k, &s, &why));
    }
    for (int at = 0; at < 6; at++) printf("%g ", (double)made[at]);
    printf("\\n");
    return 0;
}
"""
FITS, MANY = (
    "no error",
    "result 'r' has elements of 4 bytes, and more than the 9223372036854775807 bytes that an array can ",
)
SAID = f"""\
extent 'k' is -1, expected 0 or more
extent 'k' is -1, expected 0 or more
extent 'k' is -1, expected 0 or more
{FITS}
{FITS}
extent 'k' is 0, expected 1 or 3 (from 'y')
{FITS}
{FITS}
{FITS}
{FITS}
{FITS}
extent 'k' is 2, expected 1 or 3 (from 'y')
{FITS}
{FITS}
{FITS}
{MANY}have; compute it in parts
{MANY}have; compute it in parts
extent 'k' is 9223372036854775807, expected 1 or 3 (from 'y')
extent 'k' is -9223372036854775808, expected 0 or more
extent 'k' is -9223372036854775808, expected 0 or more
extent 'k' is -9223372036854775808, expected 0 or more
1 2 3 8 10 12\x20
"""


def built(directory, kind, language, **options):
    kernels = {name: KERNELS[name] for name in ("alone", "beside")}
    source, *_ = bg.emit_c(kernels, directory, "m", unchecked=True, **options)
    (directory / "main.c").write_text(PROGRAM)
    return said_by_main(directory, kind, language, source.name)


def test_any_number_is_taken_or_refused_by_name(tmp_path):
    assert built(tmp_path, "gcc", "c") == SAID


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "language"), tuple(itertools.product(("gcc", "clang"), ("c", "c++"))))
@pytest.mark.parametrize("options", [{"variants": 0}, {"single_file": True}, {"freestanding": True}], ids=str)
def test_every_form_takes_numbers(kind, language, options, tmp_path):
    assert built(tmp_path, kind, language, **options) == SAID


def test_reductions_take_numbers(tmp_path):
    source, header, *_ = KERNELS["summed"].emit_c(tmp_path, "summed")
    assert "summed(const bcastgen_array *x, int64_t k, const bcastgen_result *r," in " ".join(
        header.read_text().split()
    )
    (tmp_path / "main.c").write_text(
        '#include "summed.h"\n'
        "int main(void)\n{\n"
        "    static const float x[] = {1, 2};\n    static const int64_t two[] = {2};\n    int64_t step[1];\n"
        "    float made[2] = {0};\n    bcastgen_diagnostic why;\n"
        "    const bcastgen_array of_x = bcastgen_dense(x, two, 1, step, sizeof *x);\n"
        "    const bcastgen_result r = bcastgen_dense_result(made, two, 1, step, sizeof *made);\n"
        "    if (summed(&of_x, -5, &r, &why) != BCASTGEN_NEGATIVE || why.operand != 1 || why.actual != -5) return 1;\n"
        "    if (summed(&of_x, 7, &r, &why) != BCASTGEN_OK) return 2;\n"
        "    return made[0] == 7 && made[1] == 14 ? 0 : 3;\n}\n"
    )
    command = [compiler("gcc"), *LANGUAGES["c"], *STRICT, *ADDRESS, tmp_path / "main.c", source, "-lm", "-o"]
    subprocess.run([*command, tmp_path / "main"], check=True)
    subprocess.run([tmp_path / "main"], check=True)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of distutils in older setuptools, by which cffi compiles
def test_the_python_wrapper_takes_numbers(tmp_path):
    """One kernel of two has an extent that callers give."""
    kernels = {"beside": KERNELS["beside"], "plain": bg.from_text("(f32[?] x) -> x + 1")}
    bg.emit_c(kernels, tmp_path, "beside", build=("cffi",))
    spec = importlib.util.spec_from_file_location("beside_cffi", tmp_path / "beside_cffi.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    x, y = np.float32([1, 2]), np.float32([[1, 2, 3], [4, 5, 6]])
    assert (module.beside_beside(x, y, 3) == x[:, None] * y).all() and (module.beside_plain(x) == x + 1).all()
    with pytest.raises(ValueError, match=r"extent 'k' is 2, expected 1 or 3 \(from 'y'\)"):
        module.beside_beside(x, y, 2)
