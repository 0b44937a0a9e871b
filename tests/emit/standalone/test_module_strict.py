"""Emitted C in every form, with every warning an error, by gcc and clang, as C11 and as C++17.

The golden cases and every op are compiled here; random kernels where they run (test_module_random.py).
"""

from __future__ import annotations

import pytest

from bcastgen.core.c_flags import FREESTANDING_FLAGS, OPENMP_FLAGS
from bcastgen.emit.standalone import CForm
from c_harness import emit_module
from compile_flags import WARNED
from op_rows import all_row_kernels, golden_kernels

FORMS = {
    "usual": (CForm(), ()),
    "helpers apart": (CForm(0, single_file=False), ()),
    "freestanding": (CForm(0, freestanding=True), FREESTANDING_FLAGS),
    "threads": (CForm(openmp=True), OPENMP_FLAGS),
    "threads, without OpenMP": (CForm(0, openmp=True), ()),
    "for a machine": (CForm(target="x86-64-v3"), ()),
}


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
    every = all_row_kernels()
    for form in ("helpers apart", "freestanding"):
        asked, flags = FORMS[form]
        files = {}
        for at, kernels in enumerate(every):
            files |= emit_module(kernels, f"ops{at}", asked)[0].files
        compile_everywhere(compile_strictly, files, tmp_path / form, flags)


def test_one_golden_case_of_each_kind(compile_strictly, tmp_path):
    files = golden_files(CForm(0, single_file=False))
    compile_strictly(files, tmp_path, "gcc", "c", ("-fsyntax-only",))


@pytest.mark.parametrize("form", FORMS)
def test_the_same_input_gives_the_same_bytes(form):
    assert golden_files(FORMS[form][0]) == golden_files(FORMS[form][0])
