"""Strict and trusted reading of MLIR, and the ops that refused calls name, held to a model that is written apart."""

import random

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.loops.guard_program.interpret import Failure, run_guards
from long_runs import many
from strict_model import written

F32 = np.float32


def binary(x, y, result):
    """Return a function that adds two operands, the op in line 2."""
    return (
        f"func.func @f(%a: {x}, %b: {y}) -> {result} {{\n"
        f"  %0 = tosa.add %a, %b : ({x}, {y}) -> {result}\n  return %0 : {result}\n}}"
    )


def ones(*extents):
    """Return an array of ones."""
    return np.ones(extents, F32)


def agree(function, rng, dynamic):
    """Compare a kernel's guards with the model over random shapes; return how many calls were allowed and refused."""
    strict, counts = dynamic != "numpy", [0, 0]
    shapes = [
        [tuple(rng.choice((1, 3, 5)) if extent is None else extent for extent in type_) for type_ in function.arguments]
        for _ in range(12)
    ]
    wanted = [function.run(shape, strict) for shape in shapes]
    try:
        kernel = bg.from_mlir(function.text, dynamic=dynamic)
    except bg.BcastgenError as error:
        # What is refused when it is read cannot be called with any extents, but for a 1 that strict mode cannot tell.
        if "declare the 1 in their types" not in str(error):
            assert all(isinstance(each, int) for each in wanted), f"{function.text}\n{error}"
        return counts
    guards = kernel.compilation.program.guards
    for shape, want in zip(shapes, wanted, strict=True):
        found = run_guards(guards, shape)
        counts[isinstance(found, Failure)] += 1
        if not isinstance(found, Failure):
            assert (want,) == found, f"{function.text}\n{shape}"
            continue
        assert isinstance(want, int), f"{function.text}\n{shape}\n{found}"
        error = kernel._located(bg.BroadcastError("why"), shape)
        assert str(error).startswith(f"<mlir>:{want}:"), f"{function.text}\n{shape}\n{error}"
    return counts


@pytest.mark.parametrize("dynamic", ["numpy", "strict"])
def test_calls_and_the_ops_they_fail_at_are_the_model_s(dynamic):
    rng = random.Random(dynamic)
    allowed, refused = np.sum([agree(written(rng), rng, dynamic) for _ in range(60)], 0)
    assert min(allowed, refused) > 40


@pytest.mark.slow
@pytest.mark.parametrize("dynamic", ["numpy", "strict"])
def test_many_calls_and_the_ops_they_fail_at_are_the_model_s(dynamic):
    rng = random.Random(f"many {dynamic}")
    count = many(200, 1500)
    allowed, refused = np.sum([agree(written(rng, 3, 7), rng, dynamic) for _ in range(count)], 0)
    assert min(allowed, refused) > count // 3


def test_in_strict_mode_only_a_static_1_stretches():
    text = binary("tensor<?x1xf32>", "tensor<?x?xf32>", "tensor<?x?xf32>")
    assert bg.from_mlir(text)(ones(1, 1), ones(2, 3)).shape == (2, 3)
    kernel = bg.from_mlir(text, dynamic="strict")
    assert kernel(ones(2, 1), ones(2, 3)).shape == (2, 3)
    with pytest.raises(bg.BroadcastError, match=r"^<mlir>:2:8: error: 'tosa.add' op operand 'b' dim 0 has extent 2"):
        kernel(ones(1, 1), ones(2, 3))
    assert "b.0 = d0: checked" in kernel.stages["constraints"]


def test_a_1_that_a_cast_hides_does_not_stretch_in_strict_mode():
    text = """func.func @f(%a: tensor<1xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {
      %0 = tensor.cast %a : tensor<1xf32> to tensor<?xf32>
      %1 = tosa.add %0, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      return %1 : tensor<?xf32>
    }"""
    assert bg.from_mlir(text)(ones(1), ones(3)).shape == (3,)
    kernel = bg.from_mlir(text, dynamic="strict")
    assert kernel(ones(1), ones(1)).shape == (1,)
    with pytest.raises(bg.BroadcastError, match=r"<mlir>:3:12: error: 'tosa.add' op result '%1' dim 0"):
        kernel(ones(1), ones(3))
    with pytest.raises(bg.BroadcastError, match=r"<mlir>:3:12: error: 'tosa.add' op"):
        bg.from_mlir(
            text.replace("%b: tensor<?x", "%b: tensor<5x").replace(", tensor<?x", ", tensor<5x"), dynamic="strict"
        )


def test_a_1_that_only_a_result_s_type_says_is_refused_in_strict_mode():
    text = binary("tensor<?xf32>", "tensor<?xf32>", "tensor<1xf32>")
    with pytest.raises(bg.BroadcastError, match=r"2:8: error: 'tosa.add' op says that '%0' dim 0 .* declare the 1"):
        bg.from_mlir(text, dynamic="strict")


def test_what_is_trusted_is_not_checked(monkeypatch):
    body = """
      %0 = tosa.add %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<5xf32>
      %1 = tensor.cast %0 : tensor<5xf32> to tensor<?xf32>
      return %1 : tensor<?xf32>"""
    text = f"func.func @f(%a: tensor<?xf32>, %b: tensor<?xf32>) -> tensor<?xf32> {{{body}\n}}"
    kernel = bg.from_mlir(text, dynamic="trusted")
    assert "b.0 = d0: trusted, the caller vouches for it" in kernel.stages["constraints"]
    assert "%0" not in kernel.stages["constraints"]
    monkeypatch.setenv("BCASTGEN_DEBUG", "1")
    kernel = bg.from_mlir(text, dynamic="trusted")
    with pytest.raises(bg.BroadcastError, match=r"<mlir>:2:12: error: 'tosa.add' op"):
        kernel(ones(4), ones(4))
    with pytest.raises(bg.BcastgenError, match="dynamic='lax' is not available"):
        bg.from_mlir(text, dynamic="lax")


def test_errors_of_calls_name_the_op_its_line_and_the_value():
    kernel = bg.from_mlir(binary("tensor<?xf32>", "tensor<?xf32>", "tensor<5xf32>"), name="model.mlir")
    with pytest.raises(bg.BroadcastError) as caught:
        kernel(ones(4), ones(4))
    assert str(caught.value) == (
        "model.mlir:2:8: error: 'tosa.add' op result '%0' dim 0 has extent 5, expected 4; results do not broadcast\n"
        "  %0 = tosa.add %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<5xf32>\n       ^"
    )
    with pytest.raises(bg.BroadcastError, match=r"2:8: error: 'tosa.add' op operand 'b' dim 0 has extent 2") as caught:
        kernel(ones(5), ones(2))
    assert (caught.value.operand, caught.value.dim, caught.value.actual) == ("b", 0, 2)
    with pytest.raises(bg.BroadcastError, match=r"model.mlir:1:1: error: 'func.func' op @f operand 'a' has rank 2"):
        kernel(ones(5, 5), ones(5))
    with pytest.raises(bg.BroadcastError, match=r"model.mlir:2:8: error: 'tosa.add' op"):
        kernel.result_shape((5,), (2,))


def test_values_that_are_no_operands_are_followed():
    text = """func.func @f(%x: tensor<?x4xf32>, %y: tensor<?xf32>) -> tensor<?x?xf32> {
      %one = "tosa.const"() {values = dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>} : () -> tensor<4xf32>
      %s = tosa.const_shape {values = dense<[1, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
      %0 = tosa.reshape %one, %s : (tensor<4xf32>, !tosa.shape<2>) -> tensor<1x4xf32>
      %1 = tosa.add %x, %0 : (tensor<?x4xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>
      %t = tosa.const_shape {values = dense<[-1, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
      %2 = tosa.reshape %y, %t : (tensor<?xf32>, !tosa.shape<2>) -> tensor<?x1xf32>
      %3 = tosa.mul %1, %2 : (tensor<?x4xf32>, tensor<?x1xf32>) -> tensor<?x?xf32>
      return %3 : tensor<?x?xf32>
    }""".replace("tosa.mul", "tosa.sub")
    for dynamic in ("numpy", "strict"):
        kernel = bg.from_mlir(text, dynamic=dynamic)
        np.testing.assert_array_equal(kernel(ones(3, 4), ones(3)), np.tile(F32([1, 2, 3, 4]), (3, 1)))
        with pytest.raises(bg.BroadcastError, match=r"<mlir>:8:12: error: 'tosa.sub' op"):
            kernel(ones(3, 4), ones(2))
