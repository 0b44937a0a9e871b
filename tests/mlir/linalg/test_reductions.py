"""Kernels with reductions as linalg: verified by mlir-opt, and compiled by LLVM they give what kernels give."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg
import mlir_tools

E = "exp(x - max(x, axis=1, keepdims=True))"
TEXTS = (
    "(f32[?, ?] a, f32[?] b) -> sum(a*b, axis=1)",
    f"(f32[?, ?] x) -> {E} / sum({E}, axis=1, keepdims=True)",
    "(f32[?, ?] x, f32[?, ?] y) -> y + mean(x, axis=0)",
    "(i32[?, ?] x) -> var(x, axis=1), std(x, ddof=1, axis=0, keepdims=True)",
    "(f32[?, ?] x) -> x - mean(x, axis=0), x / sum(x), max(x - mean(x, axis=0), axis=1)",
    "(f32[4, 5] x) -> max(x - mean(x, axis=0), axis=1)",
    "(f64[?, ?, n] x, f32[n] w) -> argmin(x * w, axis=1), any(x > 0), all(x > 0, axis=-1), count_nonzero(x)",
    "(f64[?, ?] x) -> argmax(x), argmin(x, axis=0), argmax(x, axis=1, keepdims=True)",
    "(f16[?, ?] x) -> sum(x), max(x, axis=0), min(x, axis=0, initial=3.0)",
    "(u8[?] x) -> max(x), argmax(x), sum(x), mean(x), prod(x)",
    "(bool[?, 1] x) -> any(x, axis=0), all(x), argmax(x), sum(x, axis=1)",
    "(f32[?, 3] x, f32[n, 3] y) -> x - mean(y, axis=1)[:, None]",
    "(f32[1, ?] x, f32[?, 1] y) -> sum(x * y, axis=0), sum(x * y, axis=(0, 1)), prod(x + y, axis=1)",
    "(f32[?, ?] x, f32[?, ?] y) -> sum(x, where=y > 0, axis=1), sum(x, axis=1)[:, None] - sum(x, axis=1)[None]",
)


def kernels():
    return [bg.from_text(text, f"k{at}") for at, text in enumerate(TEXTS)]


@mlir_tools.needs_mlir
def test_texts_are_verified():
    mlir_tools.checked_opt("\n".join(kernel.to_mlir("linalg") for kernel in kernels()))


@mlir_tools.needs_mlir
def test_complex_numbers_are_verified():
    kernel = bg.from_text("(c64[?, ?] x) -> mean(x, axis=1), prod(x)")
    mlir_tools.checked_opt(kernel.to_mlir("linalg"))


def test_maps_drop_what_is_reduced():
    text = bg.from_text("(f32[4, 5] x) -> sum(x, axis=0), sum(x, axis=1, keepdims=True)").to_mlir("linalg")
    assert 'iterator_types = ["reduction", "parallel"]' in text
    assert "affine_map<(d0, d1) -> (d1)>" in text
    assert "affine_map<(d0, d1) -> (d0, 0)>" in text
    assert "linalg.fill ins(%c0.0_f32 : f32)" in text


def operands(kernel, random, extents):
    names = {}
    made = []
    for _, type_ in kernel.signature.operands:
        shape = tuple(
            dim.extent if dim.extent is not None else names.setdefault(dim.symbol or (len(made), at), extents[at])
            for at, dim in enumerate(type_.dims)
        )
        made.append((random.normal(size=shape) * 4).astype(type_.dtype.np))
    return made


@pytest.mark.slow
@mlir_tools.needs_native
def test_llvm_gives_what_kernels_give(tmp_path):
    found = kernels()
    native = mlir_tools.Native.compile("\n".join(kernel.to_mlir("linalg") for kernel in found), tmp_path / "all")
    random = np.random.default_rng(1)
    for kernel in found:
        for extents in ((5, 5, 5), (1, 1, 1), (33, 33, 33)):
            arrays = operands(kernel, random, extents)
            expected = kernel(*arrays)
            expected = list(map(np.asarray, expected if isinstance(expected, tuple) else (expected,)))
            got = native.call(kernel.__name__, arrays, [(one.dtype, one.ndim) for one in expected])
            for one, other in zip(got, expected, strict=True):
                assert one.shape == other.shape, kernel
                close = {"rtol": 1e-2 if one.dtype == np.float16 else 2e-5, "atol": 1e-5, "equal_nan": True}
                same = np.allclose(one, other, **close) if one.dtype.kind == "f" else (one == other).all()
                assert same, f"{kernel}: {one}, expected {other}"


@pytest.mark.slow
@mlir_tools.needs_native
def test_llvm_refuses_what_has_no_value(tmp_path):
    kernel = bg.from_text("(f32[?, ?] x) -> max(x, axis=1)", "k")
    native = mlir_tools.Native.compile(kernel.to_mlir("linalg"), tmp_path / "k")
    (said,) = native.refusals([("k", [np.zeros((2, 0), np.float32)], [(np.float32, 1)])])
    assert "d1 >= 1 (max) does not hold" in said
