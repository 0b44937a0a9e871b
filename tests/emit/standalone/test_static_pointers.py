"""The form of pointers: extents that have names are parameters, and nothing else is between a caller and the loops."""

from __future__ import annotations

import ctypes
import itertools
import subprocess

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.c_flags import LIBRARIES
from c_harness import ADDRESS, LANGUAGES, STRICT, compiler
from compile_flags import CONTRACT, QUICK, SHARED

# Name: the kernel, and the extents that its parameters are, as functions of (m, n, k).
KERNELS = {
    "bias": ("(f32[m,n] a, f32[n] b) -> a + b*2", "mn"),
    "outer": ("(f32[m,1] a, f32[1,n] b) -> a * b", "mn"),
    "turned": ("(f32[n,m] a, f32[m,n] b) -> a.T + b", "nm"),
    "blocks": ("(f32[m,3,n] a, f32[3,1] b, f32[2,m,1,n] c) -> (a * b + c, c - 1)", "mn"),
    "deep": ("(f32[m,n,k] a, f32[n,1] b) -> exp(a) - b", "mnk"),
}
EXTENTS = (0, 1, 2, 5)


def shapes_of(kernel, sizes):
    return [tuple(sizes.get(dim.symbol, dim.extent) for dim in type_.dims) for _, type_ in kernel.signature.operands]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    directory = tmp_path_factory.mktemp("pointers")
    kernels = {name: bg.from_text(text) for name, (text, _) in KERNELS.items()}
    source, header = bg.emit_c(kernels, directory, "p", pointers=True)
    made = directory / "p.so"
    subprocess.run(["gcc", QUICK, *STRICT, CONTRACT, *SHARED, source, *LIBRARIES, "-o", made], check=True)
    return kernels, ctypes.CDLL(str(made)), header.read_text()


@pytest.mark.parametrize("name", KERNELS)
def test_values_are_the_kernels_for_all_extents(name, library):
    kernels, made, _ = library
    kernel, order = kernels[name], KERNELS[name][1]
    for extents in itertools.product(EXTENTS, repeat=len(order)):
        sizes = dict(zip(order, extents, strict=True))
        operands = [
            (np.arange(np.prod(shape)) % 7 / 8 + at).astype(np.float32).reshape(shape)
            for at, shape in enumerate(shapes_of(kernel, sizes))
        ]
        wanted = kernel(*operands)
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        got = [np.full(result.shape, np.nan, np.float32) for result in wanted]
        pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*operands, *got)]
        getattr(made, f"p_{name}")(*pointers, *map(ctypes.c_size_t, extents))
        for one, other in zip(got, wanted, strict=True):
            np.testing.assert_allclose(one, other, rtol=2e-7)


def test_a_header_says_what_each_array_is(library):
    header = library[2]
    assert "void p_bias(const float *a, const float *b, float *r, size_t m, size_t n);" in header
    assert "float a[m][n], float b[n]" in header
    assert "behaviour is undefined" in header and "bcastgen.h" not in header


def test_facts_of_types_are_the_callers(tmp_path):
    header = bg.from_text("(f32[n>=2] a, f32[n%8] b) -> a + b").emit_c(tmp_path, pointers=True)[1].read_text()
    assert "On trust, too: n is at least 2, n is a multiple of 8." in header


@pytest.mark.parametrize(
    ("text", "form", "message"),
    [
        ("(f32[?] a) -> -a", {}, "operand 'a' dim 0 is .*; the form of pointers needs every extent, or a name for it"),
        ("(f32[*] a) -> -a", {}, "operand 'a' has any rank"),
        ("(f32[n] a, f32[m] b) -> a + b", {}, "the extents of 'r' are not known"),
        ("(f32[n] a, f32[4] b) -> a + b", {}, "operand 'a' dim 0 is n, and the result has 4 there"),
        ("(f32[n] a) -> sum(a)", {}, "has reductions, which have no form of pointers"),
        ("(f32[n] a) -> -a", {"static": True}, "static= .*, pointers= .*; choose one"),
        ("(f32[n] a) -> -a", {"main": True}, "leave main= out"),
        ("(f32[n] a) -> -a", {"openmp": True}, "leave openmp= out"),
    ],
)
def test_what_has_no_form_of_pointers_is_refused(text, form, message, tmp_path):
    with pytest.raises(bg.BcastgenError, match=message):
        bg.from_text(text).emit_c(tmp_path, pointers=True, **form)
    assert not list(tmp_path.iterdir())


def test_extents_have_names_that_are_nobody_elses(tmp_path):
    text = "(f32[a0, m, size_t] m, f32[t0, i0, d0] a, f32[p_m, float, int] b) -> (m * 2, a * 2, b * 2)"
    source, _ = bg.emit_c({"m": bg.from_text(text)}, tmp_path, "p", pointers=True)
    subprocess.run(["gcc", *LANGUAGES["c"], *STRICT, "-fsyntax-only", source], check=True)


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "language"), tuple(itertools.product(("gcc", "clang"), ("c", "c++"))))
@pytest.mark.parametrize("form", [{}, {"freestanding": True}, {"target": "x86-64-v3"}, {"helper_file": True}], ids=str)
def test_no_compiler_warns(kind, language, form, tmp_path):
    kernels = {name: bg.from_text(text) for name, (text, _) in KERNELS.items()}
    source, *_ = bg.emit_c(kernels, tmp_path, "p", pointers=True, **form)
    command = [compiler(kind, language), *LANGUAGES[language], *STRICT, *ADDRESS, "-c", source, "-o", tmp_path / "p.o"]
    subprocess.run(command, check=True)
