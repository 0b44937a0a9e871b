"""TOSA's reductions: read, verified, printed, and a softmax as one kernel."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg
import mlir_tools
from bcastgen.core.errors import BcastgenError

SOFTMAX = """
func.func @softmax(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %zero = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %max = tosa.reduce_max %x {axis = 1 : i32} : (tensor<?x?xf32>) -> tensor<?x1xf32>
  %apart = tosa.sub %x, %max : (tensor<?x?xf32>, tensor<?x1xf32>) -> tensor<?x?xf32>
  %e = tosa.exp %apart : (tensor<?x?xf32>) -> tensor<?x?xf32>
  %sum = tosa.reduce_sum %e {axis = 1 : i32} : (tensor<?x?xf32>) -> tensor<?x1xf32>
  %over = tosa.reciprocal %sum : (tensor<?x1xf32>) -> tensor<?x1xf32>
  %r = tosa.mul %e, %over, %zero : (tensor<?x?xf32>, tensor<?x1xf32>, tensor<1xi8>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}"""


@pytest.mark.parametrize("dynamic", ["numpy", "strict"])
def test_a_softmax_is_one_kernel(dynamic):
    softmax = bg.from_mlir(SOFTMAX, dynamic=dynamic)
    for shape in ((5, 9), (1, 300), (7, 1), (0, 3)):
        x = np.random.default_rng(1).normal(size=shape).astype(np.float32)
        e = np.exp(x - x.max(axis=1, keepdims=True))
        np.testing.assert_allclose(softmax(x), e / e.sum(axis=1, keepdims=True), rtol=1e-5)
    with pytest.raises(bg.BroadcastError, match="'x' dim 1 has extent 0"):
        softmax(np.zeros((2, 0), np.float32))


def test_a_softmax_is_printed_as_it_was_read():
    text = bg.from_mlir(SOFTMAX).to_mlir("tosa")
    for op in ("reduce_max %x {axis = 1 : i32}", "sub", "exp", "reduce_sum", "reciprocal", "mul"):
        assert text.count(f"tosa.{op}") == 1
    assert bg.from_mlir(text).to_mlir("tosa") == text


def one(op, attributes, given, result, dtype="f32"):
    result_type = f"tensor<{result}>"
    operand = f"tensor<{given}x{dtype}>"
    return (
        f"func.func @f(%x: {operand}) -> {result_type} {{\n"
        f"  %r = tosa.{op} %x {{{attributes}}} : ({operand}) -> {result_type}\n  return %r : {result_type}\n}}"
    )


X = np.float32([[1, np.nan, 3], [np.nan, np.nan, np.nan], [2, 5, 5]])


def test_nan_modes():
    for mode, expected in (("PROPAGATE", [np.nan, np.nan, 5]), ("IGNORE", [3, -np.inf, 5])):
        kernel = bg.from_mlir(one("reduce_max", f"axis = 1 : i32, nan_mode = {mode}", "3x3", "3x1xf32"))
        np.testing.assert_array_equal(kernel(X)[:, 0], expected)
    for mode, expected in (("PROPAGATE", [1, 0, 1]), ("IGNORE", [2, 0, 1])):
        kernel = bg.from_mlir(one("argmax", f"axis = 1 : i32, nan_mode = {mode}", "3x3", "3xi32"))
        assert kernel(X).tolist() == expected
        assert kernel(X).dtype == np.int32


def test_integers_keep_their_type():
    kernel = bg.from_mlir(one("reduce_sum", "axis = 0 : i32", "?", "1xi32", "i32"))
    assert kernel(np.int32([2**31 - 1, 1])).tolist() == [-(2**31)]
    kernel = bg.from_mlir(one("reduce_prod", "axis = 0", "2x?", "1x?xf32"))
    assert kernel(np.float32([[2, 3], [4, 5]])).tolist() == [[8, 15]]


@pytest.mark.parametrize(
    ("op", "attributes", "given", "result", "says"),
    [
        ("reduce_sum", "axis = 2 : i32", "2x3", "2x1xf32", "axis 2 is out of range: operand '%x' has rank 2"),
        ("reduce_sum", "axis = 1 : i32", "2x3", "2x3xf32", "result '%r' dim 1 has extent 3, expected 1"),
        ("reduce_sum", "axis = 1 : i32", "2x3", "2xf32", "result '%r' has rank 1, expected 2"),
        ("reduce_sum", "", "2x3", "2x1xf32", "needs the attribute axis"),
        ("reduce_sum", "axis = 1 : i32, nan_mode = IGNORE", "2x3", "2x1xf32", "'nan_mode' is unknown; it has axis"),
        ("reduce_any", "axis = 1 : i32", "2x3", "2x1xf32", "element type f32, for which it is not defined"),
        ("argmax", "axis = 1 : i32", "2x3", "2xf32", "element type f32, expected i32 or i64"),
        ("argmax", "axis = 1 : i32", "2x3", "2x1xi32", "result '%r' has rank 2, expected 1"),
        ("reduce_max", "axis = 0 : i32", "*", "*xf32", "of a tensor of unknown rank"),
    ],
)
def test_errors_name_what_is_wrong(op, attributes, given, result, says):
    with pytest.raises(BcastgenError) as raised:
        bg.from_mlir(one(op, attributes, given, result))
    assert says in str(raised.value)
    assert f"'tosa.{op}' op" in str(raised.value)


@pytest.mark.parametrize("dynamic", ["numpy", "strict"])
def test_a_claim_on_one_of_two_dims_is_not_forgotten(dynamic):
    """The other dim is 1 whatever comes, and no result's type says what the sum's does: that it has three rows."""
    text = """
func.func @f(%x: tensor<ROWSx?xf32>) -> tensor<?x?xf32> {
  %sum = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<ROWSx?xf32>) -> tensor<3x1xf32>
  %r = tosa.exp %sum : (tensor<3x1xf32>) -> tensor<?x?xf32>
  return %r : tensor<?x?xf32>
}"""
    known = bg.from_mlir(text.replace("ROWS", "3"), dynamic=dynamic)
    assert known(np.zeros((3, 2), np.float32)).tolist() == [[1]] * 3
    checked = bg.from_mlir(text.replace("ROWS", "?"), dynamic=dynamic)
    assert checked(np.zeros((3, 2), np.float32)).tolist() == [[1]] * 3
    for rows in (2, 1):
        with pytest.raises(bg.BroadcastError, match=rf"'tosa.reduce_sum' op result '%sum' dim 0 .* 3, expected {rows}"):
            checked(np.zeros((rows, 2), np.float32))


def test_what_is_printed_is_read_and_computes_the_same():
    x = np.random.default_rng(2).normal(size=(4, 5)).astype(np.float32)
    for text in (
        "(f32[?, ?] x) -> sum(x, axis=1), max(x), argmax(x, axis=0), prod(x, axis=0, keepdims=True)",
        "(f32[?, ?] x) -> any(x > 0, axis=0), all(x > 0), argmax(x, axis=1, keepdims=True)",
    ):
        kernel = bg.from_text(text)
        again = bg.from_mlir(kernel.to_mlir("tosa"))
        for one_result, other in zip(kernel(x), again(x), strict=True):
            np.testing.assert_array_equal(one_result, other)
    for text, says in (("mean(x)", "reduction 'mean' of f32 has no TOSA op"), ("argmax(x)", "of one dim, and this")):
        with pytest.raises(BcastgenError, match=says):
            bg.from_text(f"(f32[?, ?] x) -> {text}").to_mlir("tosa")


@mlir_tools.needs_mlir
def test_texts_are_verified():
    texts = (
        "(f32[?, ?] x) -> sum(x, axis=1), max(x), argmax(x, axis=0), prod(x, axis=0, keepdims=True)",
        "(i32[4, 5] x) -> sum(x, axis=(0, 1)), min(x, axis=1)",
        "(bool[4, ?] x) -> any(x, axis=0), all(x, axis=1)",
    )
    mlir_tools.checked_opt("\n".join(bg.from_text(text, f"k{at}").to_mlir("tosa") for at, text in enumerate(texts)))


def layer_norm(rows, columns):
    """A layer norm with the network's weights in its text; the second result reads a weight before it reduces."""
    x, row = f"tensor<{rows}x{columns}xf32>", f"tensor<{rows}x1xf32>"
    weights = f"tensor<1x{columns}xf32>"

    def literal(values):
        return f"dense<[[{', '.join(f'{value:.6f}' for value in values)}]]> : {weights}"

    scale, shift = np.linspace(0.5, 2, columns), np.linspace(-1, 1, columns)
    return f"""
func.func @norm(%x: {x}) -> ({x}, {row}) {{
  %zero = "tosa.const"() {{values = dense<0> : tensor<1xi8>}} : () -> tensor<1xi8>
  %scale = "tosa.const"() {{values = {literal(scale)}}} : () -> {weights}
  %shift = "tosa.const"() {{values = {literal(shift)}}} : () -> {weights}
  %count = "tosa.const"() {{values = dense<{1 / columns:.9f}> : tensor<1x1xf32>}} : () -> tensor<1x1xf32>
  %sum = tosa.reduce_sum %x {{axis = 1 : i32}} : ({x}) -> {row}
  %mean = tosa.mul %sum, %count, %zero : ({row}, tensor<1x1xf32>, tensor<1xi8>) -> {row}
  %apart = tosa.sub %x, %mean : ({x}, {row}) -> {x}
  %square = tosa.mul %apart, %apart, %zero : ({x}, {x}, tensor<1xi8>) -> {x}
  %squares = tosa.reduce_sum %square {{axis = 1 : i32}} : ({x}) -> {row}
  %over = tosa.rsqrt %squares : ({row}) -> {row}
  %unit = tosa.mul %apart, %over, %zero : ({x}, {row}, tensor<1xi8>) -> {x}
  %scaled = tosa.mul %unit, %scale, %zero : ({x}, {weights}, tensor<1xi8>) -> {x}
  %shifted = tosa.add %scaled, %shift : ({x}, {weights}) -> {x}
  %weighted = tosa.mul %x, %shift, %zero : ({x}, {weights}, tensor<1xi8>) -> {x}
  %most = tosa.reduce_max %weighted {{axis = 1 : i32}} : ({x}) -> {row}
  return %shifted, %most : {x}, {row}
}}"""


def normed(x):
    scale, shift = np.linspace(0.5, 2, x.shape[1]), np.linspace(-1, 1, x.shape[1])
    apart = x.astype(float) - x.mean(axis=1, keepdims=True, dtype=float)
    unit = apart / np.sqrt((apart**2).sum(axis=1, keepdims=True))
    return unit * scale + shift, (x * shift).max(axis=1, keepdims=True)


@pytest.mark.parametrize("rows", ["?", 7])
def test_weights_go_together_with_reductions(rows):
    kernel = bg.from_mlir(layer_norm(rows, 9))
    x = np.random.default_rng(2).normal(size=(7, 9)).astype(np.float32)
    for got, expected in zip(kernel(x), normed(x), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
    assert kernel.result_shape((7, 9)) == ((7, 9), (7, 1))
    assert [getattr(one, "extents", one) for one in kernel.shape_function.run((7, 9))] == [(7, 9), (7, 1)]
    again = bg.from_mlir(kernel.to_mlir("tosa"))
    assert all((one == other).all() for one, other in zip(again(x), kernel(x), strict=True))
    with pytest.raises(bg.BroadcastError, match="operand 'x' dim 1 has extent 8, expected 9"):
        kernel(x[:, :8])


@mlir_tools.needs_mlir
def test_texts_with_weights_are_verified():
    kernel = bg.from_mlir(layer_norm("?", 9))
    mlir_tools.checked_opt(kernel.to_mlir("tosa"))
    mlir_tools.checked_opt(kernel.to_mlir("linalg"))


@pytest.mark.slow
@mlir_tools.needs_native
def test_llvm_computes_with_weights_what_kernels_give(tmp_path):
    kernel = bg.from_mlir(layer_norm("?", 9))
    native = mlir_tools.Native.compile(kernel.to_mlir("linalg"), tmp_path / "norm")
    x = np.random.default_rng(4).normal(size=(5, 9)).astype(np.float32)
    for got, expected in zip(native.call("norm", [x], [(np.float32, 2)] * 2), kernel(x), strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
