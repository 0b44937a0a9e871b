"""Emitted files as they stand in tests/cases, to be read as a reviewer would; and every one under strict compilers.

After a change that is meant to show: BCASTGEN_UPDATE_CASES=1, as for the other cases.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

import bcastgen as bg
from bcastgen.core.c_flags import OPENMP_FLAGS
from c_harness import LANGUAGES, STRICT, compiler
from compile_flags import WARNED

CASES = Path(__file__).parents[2] / "cases"
AXPB = "(f32[?,?] a, f32[?,?] b) -> a + b*2"


def gelu():
    return bg.jit(lambda x: 0.5 * x * (1 + bg.erf(x * 0.7071067811865476)), signature="(f32[?] x)")


def moments():
    return bg.jit(lambda x: (x.mean(axis=0), x.var(axis=0)), signature="(f64[?,?] x)")


def softmax():
    def rows(x):
        e = bg.exp(x - x.max(axis=1, keepdims=True))
        return e / e.sum(axis=1, keepdims=True)

    return bg.jit(rows, signature="(f32[8,16] x)")


# Name of the files: the kernels, and the form.
GOLDENS = {
    "plain": ({"plain": bg.from_text(AXPB)}, {"variants": 0}),
    "specialised": ({"specialised": bg.from_text(AXPB)}, {}),
    "outer": ({"outer": bg.from_text("(f32[3,1] a, f32[1,4] b) -> a * b")}, {"static": True}),
    "pointers": ({"pointers": bg.from_text("(f32[m,n] a, f32[n] b) -> a + b*2")}, {"pointers": True}),
    "gelu": ({"gelu": gelu()}, {"freestanding": True}),
    "threaded": (
        {"threaded": bg.from_text("(f32[?,n] x, f32[n] bias) -> maximum(x + bias, 0)")},
        {"openmp": True, "variants": 0},
    ),
    "rows": (
        {
            "centre": bg.from_text("(f32[?,n] x, f32[n] mean) -> x - mean"),
            "scale": bg.from_text("(f32[?,n] x, f32[n] deviation) -> x / deviation"),
        },
        {"variants": 0},
    ),
    "distance": (
        {"distance": bg.from_text("(f64[?] x, f64[?] y) -> sqrt(x*x + y*y) + exp(-x)")},
        {"helper_file": True},
    ),
    "halves": ({"halves": bg.from_text("(f16[?,3] x, f16[3] y) -> x * y + 1")}, {"variants": 0}),
    "power": ({"power": bg.from_text("(i32[?] base, i32[?] exponent) -> base ** exponent")}, {}),
    "any_rank": ({"any_rank": bg.from_text("(f32[*] a, f32[*] b) -> a - b")}, {}),
    "hoisted": ({"hoisted": bg.from_text("(f32[?,?] x, f32[1,?] s) -> x * exp(s) + 1")}, {}),
    "polar": (
        {"polar": bg.jit(lambda x, y: (bg.hypot(x, y), x * y, x < y), signature="(f64[?,?] x, f64[?,?] y)")},
        {"variants": 0},
    ),
    "weighted_sum": ({"weighted_sum": bg.from_text("(f32[?,?] a, f32[?] b) -> sum(a*b, axis=1)")}, {}),
    "moments": ({"moments": moments()}, {"openmp": True}),
    "picked": ({"picked": bg.from_text("(f32[n] x, f32[n] s) -> exp(x) * s")}, {"targets": ("x86-64-v3", "x86-64-v4")}),
    "softmax": ({"softmax": softmax()}, {"static": True}),
}


def emitted(name, directory):
    kernels, form = GOLDENS[name]
    return {path.name: path.read_text() for path in bg.emit_c(kernels, directory, name, **form)}


@pytest.mark.parametrize("name", GOLDENS)
def test_files_are_as_the_cases_say(name, tmp_path):
    got = emitted(name, tmp_path)
    if os.environ.get("BCASTGEN_UPDATE_CASES"):
        for file, text in got.items():
            (CASES / file).write_text(text)
    shared = () if GOLDENS[name][1].keys() & {"static", "pointers", "single_file"} else (CASES / "bcastgen.h",)
    cases = *CASES.glob(f"{name}.[ch]"), *CASES.glob(f"{name}.helpers.h"), *CASES.glob(f"{name}_loops.inc"), *shared
    assert got == {path.name: path.read_text() for path in cases}


@pytest.mark.parametrize(
    ("kind", "language"),
    [
        ("gcc", "c"),
        ("gcc", "c++"),
        pytest.param("clang", "c", marks=pytest.mark.slow),
        pytest.param("clang", "c++", marks=pytest.mark.slow),
    ],
)
def test_files_compile_without_a_warning(kind, language, tmp_path):
    command = [compiler(kind, language), *LANGUAGES[language], WARNED, *STRICT, "-c"]
    for name in GOLDENS:
        for flags in ([], OPENMP_FLAGS) if name == "threaded" else ([],):
            done = subprocess.run(
                [*command, *flags, f"{name}.c", "-o", tmp_path / f"{name}.o"],
                cwd=CASES,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr


def test_goldens_are_short():
    """`a + b*2` over two dynamic operands, with its checks and messages.

    A good third of it is what keeps a call in bounds: bytes, strides that elements share, arrays that overlap. With
    variants it joins rows that continue each other.
    """
    lengths = {
        name: sum(len((CASES / f"{name}.{end}").read_text().splitlines()) for end in "ch")
        for name in ("plain", "specialised")
    }
    assert lengths["plain"] < 180
    assert lengths["specialised"] < 250
