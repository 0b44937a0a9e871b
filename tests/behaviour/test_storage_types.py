"""Storage types: floats of at most 8 bits and integers of less than 8, as operands and results of casts.

In: all codes, all 16-bit numbers, and others.  Out: the bits that ml_dtypes gives.
"""

import ctypes
import pickle
import subprocess
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.dtypes import COMPUTED, DTYPES, dtype
from bcastgen.loops.interpret import interpret
from bcastgen.ops.rows.conversions import CAST
from compile_flags import SHARED
from every_f32 import differing

STORAGE = [row for row in DTYPES if row.is_storage]
# The others are formed alike.
OFTEN = ("f8e4m3fn", "f8e5m2fnuz", "f8e8m0fnu", "f4e2m1fn", "i4", "u2")
MARKED = [pytest.param(row, marks=() if row.name in OFTEN else pytest.mark.slow) for row in STORAGE]
CODES = np.arange(256, dtype=np.uint8)
HALVES = np.arange(65536, dtype=np.uint16)


def casts(values, rows):
    """Convert to several dtypes, in the C of one kernel."""
    kinds = [row.np for row in rows]
    return bg.jit(lambda x: tuple(x.astype(kind) for kind in kinds))(values)


def cast(values, row):
    """Convert in C."""
    return bg.jit(lambda x: x.astype(row.np))(values)


def same(found, wanted):
    assert found.dtype == wanted.dtype
    width = f"u{found.itemsize}" if found.itemsize <= 8 else "V16"
    np.testing.assert_array_equal(found.view(width), wanted.view(width))


@pytest.mark.parametrize("row", MARKED, ids=str)
def test_all_codes_become_what_ml_dtypes_makes_of_them(row):
    values = CODES.view(row.np)
    others = [target for target in STORAGE if target is not row]
    for target, found in zip((*COMPUTED, *others), casts(values, (*COMPUTED, *others)), strict=True):
        same(found, CAST.evaluate(values, target))
        # Beyond the ends of integers, NumPy's conversion is the machine's.
        if not target.is_integer:
            wide = values if target in COMPUTED else values.astype(np.float32)
            with np.errstate(all="ignore"):
                same(found, wide.astype(target.np))


@pytest.mark.parametrize("source", ["f16", "bf16", "i16", "u16"])
def test_all_numbers_of_16_bits_become_the_codes_of_ml_dtypes(source):
    values = HALVES.view(dtype(source).np)
    if not dtype(source).is_integer:
        # To integers of less than 8 bits floats go by way of i32, and beyond that by the machine's.
        with np.errstate(invalid="ignore"):  # of a signalling NaN, which aarch64's conversion tells of
            inside = np.abs(values.astype(np.float32)) < 2.0**31
    for target, found in zip(STORAGE, casts(values, STORAGE), strict=True):
        keep = inside if target.is_integer and not dtype(source).is_integer else slice(None)
        with np.errstate(all="ignore"):
            same(found[keep], values[keep].astype(target.np))


@pytest.mark.parametrize("row", MARKED, ids=str)
def test_some_f32_of_every_exponent_become_the_codes_of_ml_dtypes(row):
    assert differing(row.name, 4099) == 0


@pytest.mark.parametrize("row", [row for row in STORAGE if row.is_small_float], ids=str)
def test_a_double_is_rounded_once(row):
    values = np.array([row.small.value_of(code) for code in range(256)])
    values = np.unique(values[np.isfinite(values)])
    middles = (values[1:] + values[:-1]) / 2
    near = np.concatenate([middles, np.nextafter(middles, np.inf), np.nextafter(middles, -np.inf)])
    found = cast(near, row).view(np.uint8)
    assert found.tolist() == [row.small.code_of(value) for value in near.tolist()]


def test_integers_saturate_as_i32_and_keep_their_low_bits():
    values = np.float32([7.9, -8.9, 100.7, np.nan, 3e9, -3e9])
    assert cast(values, dtype("i4")).astype(int).tolist() == [7, -8, 4, 0, -1, 0]
    assert cast(np.int64([-9, 2**40 + 5]), dtype("u4")).astype(int).tolist() == [7, 5]


@pytest.mark.parametrize("target", ["int8", "uint8", "int32", "int64", "float32", "float64", "float16", "bool"])
def test_casts_of_constants_are_folded_as_elements_are_cast(target):
    values = np.array([2.6, -2.6, 300.0, 0.0, 1e30], ml_dtypes.bfloat16)
    asked = bg.from_text(f"x.astype({target})")(values)
    for value, wanted in zip(values, asked, strict=True):
        folded = bg.from_text(f"(bool[?] x) -> bfloat16({value}).astype({target}), x")
        assert "cast" not in str(folded.compilation.program.nests[0])
        found = folded(np.zeros(2, bool))[0]
        assert (found.dtype, found.item()) == (wanted.dtype, wanted.item())


def test_what_computes_refuses_them_with_the_cure():
    x = np.ones(3, ml_dtypes.float8_e4m3fn)
    for compute in (
        lambda: bg.add(x, x),
        lambda: bg.exp(x),
        lambda: bg.add(np.ones(3, np.float32), x),
        lambda: x_or(x),
    ):
        with pytest.raises(bg.DTypeError, match=r"f8e4m3fn is a storage type.*use \.astype\(numpy\.float32\)"):
            compute()
    with pytest.raises(bg.DTypeError, match=r"add\(i4, int\): i4 is a storage type.*use \.astype\(numpy\.int8\)"):
        bg.add(np.ones(3, ml_dtypes.int4), 1)
    with pytest.raises(bg.DTypeError, match="'i4' counts bytes in NumPy, and bits here"):
        bg.define_op("of_four", "x", c="x", dtypes="i4->i4")


def x_or(x):
    return bg.jit(lambda m, x: np.where(m, x, 0.5))(True, x)


def test_a_choice_and_a_view_move_codes_as_they_are():
    x, m = CODES.view(ml_dtypes.float8_e5m2), CODES % 2 == 0
    same(bg.jit(lambda m, x, y: np.where(m, x, y))(m, x, x[::-1]), np.where(m, CODES, CODES[::-1]).view(x.dtype))
    same(
        bg.jit(lambda x: x.T)(CODES.reshape(16, 16).view(ml_dtypes.int4)), CODES.reshape(16, 16).T.view(ml_dtypes.int4)
    )


def test_text_signatures_and_scalars():
    x = np.ones((2, 3), ml_dtypes.float8_e4m3fn)
    scaled = bg.from_text("(f8e4m3fn[?, 3] x, f32[3] s) -> (x.astype(float32) * s).astype(f8e5m2)")
    found = scaled(x, np.float32([1, 2, 1e6]))
    assert found.dtype == ml_dtypes.float8_e5m2
    assert found.astype(float).tolist() == [[1, 2, np.inf]] * 2
    assert scaled.result_shape((4, 3), (3,)) == (4, 3)
    with pytest.raises(bg.DTypeError, match=r"operand 'x' has dtype f32, declared f8e4m3fn; .*ml_dtypes\.float8"):
        scaled(x.astype(np.float32), np.float32([1, 2, 3]))
    assert isinstance(bg.jit(lambda x: x.astype("float8_e4m3fn"))(1.25), ml_dtypes.float8_e4m3fn)
    assert bg.jit(lambda x: x.astype("float32"))(ml_dtypes.int4(-3)) == -3


def test_constants_are_rounded_when_they_are_folded():
    made = bg.jit(lambda x: x + np.float32(1.3).astype("float8_e4m3fn").astype(np.float32))
    assert made(np.float32(0)) == 1.25


def test_kernels_are_pickled():
    kernel = bg.jit(lambda x: x.astype("float8_e4m3fn"), signature="(f32[?] x) -> f8e4m3fn[?]")
    assert pickle.loads(pickle.dumps(kernel))(np.float32([1, 500])).astype(np.float32).tolist()[0] == 1


def test_numpy_computes_the_same():
    kernel = bg.from_text("(f8e4m3fn[256] x) -> (x.astype(float32) * 2).astype(int4)")
    values = CODES.view(ml_dtypes.float8_e4m3fn)
    same(kernel(values), interpret(kernel.compilation.program, (values,))[0])


def test_standalone_c_takes_bytes(tmp_path):
    kernel = bg.from_text("(f8e4m3fn[4] x, i4[4] n) -> x.astype(float32) * n.astype(float32)")
    source, header = bg.emit_c({"k": kernel}, tmp_path, "m", static=True)
    assert "its code, a uint8_t" in header.read_text() and "a byte of its own" in header.read_text()
    library = tmp_path / "m.so"
    subprocess.run(["cc", "-std=c11", "-O2", *SHARED, source, "-o", library], check=True)
    x, n = np.array([1.5, -2, 0, 448], ml_dtypes.float8_e4m3fn), np.array([1, -8, 7, 2], ml_dtypes.int4)
    out = np.zeros(4, np.float32)
    ctypes.CDLL(str(library)).m_k(*(ctypes.c_void_p(array.ctypes.data) for array in (x, n, out)))
    assert out.tolist() == [1.5, 16, 0, 896]


def test_mlir_text_in_and_out():
    kernel = bg.from_mlir("""func.func @f(%a: tensor<4xf8E4M3FN>, %b: tensor<4xf32>) -> tensor<4xf8E5M2> {
      %c = "tosa.const"() {values = dense<[1.5, 0x38, -2.0, 448.0]> : tensor<4xf8E4M3FN>} : () -> tensor<4xf8E4M3FN>
      %0 = tosa.cast %a : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
      %1 = tosa.cast %c : (tensor<4xf8E4M3FN>) -> tensor<4xf32>
      %2 = tosa.add %0, %1 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %s = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
      %3 = tosa.mul %2, %b, %s : (tensor<4xf32>, tensor<4xf32>, tensor<1xi8>) -> tensor<4xf32>
      %4 = tosa.cast %3 : (tensor<4xf32>) -> tensor<4xf8E5M2>
      return %4 : tensor<4xf8E5M2>
    }""")
    given = np.zeros(4, ml_dtypes.float8_e4m3fn), np.float32([1, 1, 1, 0.5])
    assert kernel(*given).astype(float).tolist() == [1.5, 1, -2, 224]
    again = bg.from_mlir(kernel.to_mlir("tosa"))
    same(again(*given), kernel(*given))
    assert "arith.extf" in kernel.to_mlir("linalg") and "f32 to f8E5M2" in kernel.to_mlir("linalg")
    with pytest.raises(bg.DTypeError, match=r"element type f8E5M2, for which it is not defined; insert a tosa\.cast"):
        bg.from_mlir("""func.func @f(%a: tensor<4xf8E5M2>) -> tensor<4xf8E5M2> {
          %0 = tosa.abs %a : (tensor<4xf8E5M2>) -> tensor<4xf8E5M2>
          return %0 : tensor<4xf8E5M2>
        }""")


def test_the_page_lists_every_storage_type():
    page = (Path(__file__).parents[2] / "docs" / "dtypes.md").read_text(encoding="utf-8")
    assert all(f"`{row.name}`" in page and row.numpy in page and f"`{row.mlir}`" in page for row in STORAGE)
