"""The static form: what plain nested loops over pointers compute, and what cannot be static."""

from __future__ import annotations

import ctypes
import subprocess

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.c_flags import LIBRARIES, OPTIMISED
from c_harness import COMPILERS, LANGUAGES, STRICT, compiler
from compile_flags import SHARED, WARNED

CONSTANT = """
func.func @scaled(%a: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = "tosa.const"() {values = dense<[[0.5, 0.25, 2.0, 0.1]]> : tensor<1x4xf32>} : () -> tensor<1x4xf32>
  %1 = tosa.sub %a, %0 : (tensor<3x4xf32>, tensor<1x4xf32>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}"""
KERNELS = {
    "outer": bg.from_text("(f32[3,1] a, f32[1,4] b) -> a * b"),
    "inplace": bg.from_text("(f64[3,4] a, f64[4] b, f64[] c) -> exp(a) + b * c"),
    "power": bg.from_text("(i32[2,3] a, i32[3] b) -> a ** b"),
    "half": bg.from_text("(f16[2,3] a, f16[3] b) -> a * b + 1"),
    "truth": bg.from_text("(bool[4] m, i8[2,4] x) -> where(m, x, -x)"),
    "two": bg.jit(lambda a, b: (a + b, a.astype("f8")), signature="(f32[2,3] a, f32[3] b)"),
    "separate": bg.jit(lambda a, b: (a + 1, b * 2), signature="(f32[2] a, f32[3,1] b)"),
    "turned": bg.jit(lambda a, b: bg.transpose(a, (1, 0)) + b, signature="(f32[3,4] a, f32[4,3] b)"),
    "none": bg.from_text("(f32[0,3] a, f32[3] b) -> a + b"),
    "number": bg.from_text("(f64[] a) -> sqrt(a)"),
    "cases": bg.from_text("(f32[2] a, f32[3,1] A) -> a + A"),
    "scaled": bg.from_mlir(CONSTANT),
    "unread": bg.jit(lambda a, b: -a, signature="(f32[3] a, f32[3] b)"),
}


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    directory = tmp_path_factory.mktemp("static")
    source, _ = bg.emit_c(KERNELS, directory, "st", static=True)
    subprocess.run(
        ["gcc", *LANGUAGES["c"], OPTIMISED, *STRICT, *SHARED, source, *LIBRARIES, "-o", directory / "st.so"], check=True
    )
    return ctypes.CDLL(str(directory / "st.so"))


def shapes_of(kernel):
    return [tuple(dim.extent for dim in type_.dims) for _, type_ in kernel.signature.operands]


def operands_of(kernel):
    chance = np.random.default_rng(1)
    return [
        chance.integers(0, 5, shape).astype(type_.dtype.np)
        for shape, (_, type_) in zip(shapes_of(kernel), kernel.signature.operands, strict=True)
    ]


@pytest.mark.parametrize("name", KERNELS)
def test_values_are_those_of_a_call(name, library):
    kernel = KERNELS[name]
    operands = operands_of(kernel)
    made = kernel(*operands)
    wanted = made if isinstance(made, tuple) else (made,)
    results = [np.full(np.shape(each), 7, np.asarray(each).dtype) for each in wanted]
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*operands, *results)]
    status = getattr(library, f"st_{name}")(*pointers)
    assert status == 0 or name != "power"
    for got, expected in zip(results, wanted, strict=True):
        np.testing.assert_array_equal(got, expected)


def test_a_demand_that_fails_writes_nothing(library):
    a, b, r = np.full((2, 3), 2, "i4"), np.array([1, 2, -1], "i4"), np.full((2, 3), 77, "i4")
    assert library.st_power(*(ctypes.c_void_p(x.ctypes.data) for x in (a, b, r))) == 10
    assert (r == 77).all()


def test_a_result_may_be_an_operand_where_the_header_says_so(library, tmp_path):
    kernel = KERNELS["inplace"]
    a, b, c = operands_of(kernel)
    wanted = kernel(a, b, c)
    library.st_inplace(*(ctypes.c_void_p(x.ctypes.data) for x in (a, b, c, a)))
    np.testing.assert_array_equal(a, wanted)
    source, header = kernel.emit_c(tmp_path, "inplace", static=True)
    assert "r may be a itself; otherwise no result shares memory with another array." in header.read_text()
    assert "RESTRICT" not in source.read_text()


def test_a_result_that_is_no_operand_is_restricted(tmp_path):
    source, header = KERNELS["outer"].emit_c(tmp_path, "outer", static=True)
    assert "void outer(const float *a, const float *b, float *r);" in header.read_text()
    assert "float *OUTER_RESTRICT r)" in source.read_text()
    assert "No result shares memory with another array." in header.read_text()


def test_extents_are_macros_that_case_does_not_confuse(tmp_path):
    _, header = KERNELS["cases"].emit_c(tmp_path, "cases", static=True)
    text = header.read_text()
    for macro in ("CASES_A_EXTENT_0 2", "CASES_A_2_EXTENT_0 3", "CASES_A_2_EXTENT_1 1", "CASES_R_EXTENT_1 2"):
        assert f"#define {macro}\n" in text


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        (bg.from_text("(f32[3,?] a) -> -a"), "operand 'a' dim 1 is ?; the static form needs every extent"),
        (bg.from_text("(f32[n] a) -> -a"), "operand 'a' dim 0 is n; the static form needs every extent"),
        (bg.from_text("(f32[*] a) -> -a"), "operand 'a' has any rank"),
        (bg.jit(lambda a, b: a + b), "operand 'a' has any rank"),
    ],
)
def test_what_is_not_known_cannot_be_static(kernel, message, tmp_path):
    with pytest.raises(bg.BcastgenError) as raised:
        kernel.emit_c(tmp_path, "k", static=True)
    assert message in str(raised.value)
    assert not list(tmp_path.iterdir())


def test_static_kernels_compile_without_warnings(tmp_path):
    check(tmp_path, "gcc", "c++")


@pytest.mark.slow
@pytest.mark.parametrize("language", ["c", "c++"])
def test_static_kernels_compile_with_clang(language, tmp_path):
    check(tmp_path, "clang", language)


def check(directory, kind, language):
    for options in ({}, {"variants": 0}, {"openmp": True}, {"freestanding": True}, {"helper_file": True}):
        source, *_ = bg.emit_c(KERNELS, directory, "st", static=True, **options)
        done = subprocess.run(
            [compiler(kind, language), *LANGUAGES[language], WARNED, *STRICT, "-c", source, "-o", directory / "o.o"],
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    assert kind in COMPILERS
