"""Emitted C in every form, with every warning an error, by gcc and clang, as C11 and as C++17.

The golden cases and every op are compiled here; random kernels where they run (test_module_random.py).
"""

from __future__ import annotations

import platform

import pytest

import bcastgen as bg
from bcastgen.core.c_flags import FREESTANDING_FLAGS, OPENMP_FLAGS
from bcastgen.emit.standalone import CForm
from c_harness import emit_module
from compile_flags import QUICK, WARNED
from long_runs import some
from op_rows import all_row_kernels, golden_kernels

FORMS = {
    "usual": (CForm(), ()),
    "helpers apart": (CForm(0, helper_file=True), ()),
    "one file": (CForm(0, single_file=True), ()),
    "freestanding": (CForm(0, freestanding=True), FREESTANDING_FLAGS),
    "threads": (CForm(openmp=True), OPENMP_FLAGS),
    "threads, without OpenMP": (CForm(0, openmp=True), ()),
    "for a machine": (CForm(target="x86-64-v3"), ()),
    "for several": (CForm(targets=("x86-64-v3", "x86-64-v4")), ()),
}
# Each has helpers of its own.
ALONE = (
    *((name, "f32") for name in ("exp", "expm1", "log", "log10", "tanh", "sin", "cbrt", "erf")),
    *((name, "f64") for name in ("exp", "expm1", "log", "log10", "tanh", "sin", "cbrt", "erf")),
    *((name, dtype) for name in ("expm1", "sqrt", "tanh", "exp", "log") for dtype in ("c64", "c128")),
    *((name, "f16") for name in ("exp", "negative")),
)


def golden_files(form):
    """The files of every golden case in a form."""
    return {
        name: text
        for case, kernel, _ in golden_kernels()
        for name, text in emit_module([kernel], case, form)[0].files.items()
    }


def compile_everywhere(compile_strictly, files, directory, flags, level="-fsyntax-only"):
    """Both compilers, both languages; what only an optimiser sees is the same in both."""
    for kind in ("gcc", "clang"):
        compile_strictly(files, directory / f"{kind}-c", kind, "c", (level, *flags))
        compile_strictly(files, directory / f"{kind}-c++", kind, "c++", ("-fsyntax-only", *flags))


@pytest.mark.slow
@pytest.mark.parametrize("form", FORMS)
def test_golden_cases(form, compile_strictly, tmp_path):
    asked, flags = FORMS[form]
    compile_everywhere(compile_strictly, golden_files(asked), tmp_path, flags, WARNED)


@pytest.mark.slow
def test_every_op(compile_strictly, tmp_path):
    every = some(all_row_kernels(), 5)
    for form in ("helpers apart", "freestanding"):
        asked, flags = FORMS[form]
        files = {}
        for at, kernels in enumerate(every):
            files |= emit_module(kernels, f"ops{at}", asked)[0].files
        compile_everywhere(compile_strictly, files, tmp_path / form, flags)


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the flag is that of x86-64")
@pytest.mark.parametrize("flags", [(), ("-mfma",)], ids=["two roundings", "fma"])
@pytest.mark.parametrize("static", [False, True], ids=["dynamic", "static"])
def test_a_module_alone_has_nothing_that_it_does_not_use(flags, static, compile_strictly, tmp_path):
    """Modules of many kernels use what each of these alone does not: macros, and functions for machines without FMA."""
    kernels = {f"{name}_{dtype}": bg.from_text(f"({dtype}[3, 4] a) -> {name}(a)") for name, dtype in ALONE}
    files = {}
    for name, kernel in kernels.items():
        files |= {path.name: path.read_text() for path in bg.emit_c({name: kernel}, tmp_path, name, static=static)}
    compile_strictly(files, tmp_path / "made", "gcc", "c", (QUICK, "-S", *flags))


def test_one_golden_case_of_each_kind(compile_strictly, tmp_path):
    files = golden_files(CForm(0, helper_file=True))
    compile_strictly(files, tmp_path, "gcc", "c", ("-fsyntax-only",))


@pytest.mark.parametrize("form", FORMS)
def test_the_same_input_gives_the_same_bytes(form):
    assert golden_files(FORMS[form][0]) == golden_files(FORMS[form][0])
