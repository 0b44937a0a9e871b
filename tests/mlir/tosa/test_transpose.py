"""tosa.transpose: what is read is NumPy's transpose, whatever the text knows of extents, and is printed again."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import bcastgen as bg

SHAPE = (2, 3, 4)
A = np.arange(24, dtype=np.float32).reshape(SHAPE)


def function(body, operands, result):
    return f"func.func @f({operands}) -> {result} {{\n{body}\n  return %0 : {result}\n}}"


def tensor(extents):
    return f"tensor<{'x'.join(map(str, extents))}xf32>"


@pytest.mark.parametrize("order", [*itertools.permutations(range(3))])
@pytest.mark.parametrize("known", ["all", "before", "after", "none"])
def test_dims_have_the_order_of_the_attribute(order, known):
    before = [n if known in ("all", "before") else "?" for n in SHAPE]
    after = [SHAPE[dim] if known in ("all", "after") else "?" for dim in order]
    perms = ", ".join(map(str, order))
    types = f"({tensor(before)}) -> {tensor(after)}"
    for op in (
        f"  %0 = tosa.transpose %a {{perms = array<i32: {perms}>}} : {types}",
        f'  %0 = "tosa.transpose"(%a) <{{perms = array<i32: {perms}>}}> : {types}',
    ):
        kernel = bg.from_mlir(function(op, f"%a: {tensor(before)}", tensor(after)))
        np.testing.assert_array_equal(kernel(A), A.transpose(order))
        strict = bg.from_mlir(function(op, f"%a: {tensor(before)}", tensor(after)), dynamic="strict")
        np.testing.assert_array_equal(strict(A), A.transpose(order))
        if known == "after":
            with pytest.raises(bg.BroadcastError, match="expected"):
                kernel(A.transpose(order).reshape(4, 3, 2) if order != (2, 1, 0) else A[:1])


@pytest.mark.parametrize(
    "text",
    [
        lambda x: np.moveaxis(x, 0, -1) + 1,
        lambda x: np.swapaxes(x, 0, 1) * 2,
        lambda x: np.exp(x.transpose(1, 2, 0)).T,
        lambda x: x.T.max(axis=1, keepdims=True),
    ],
)
def test_what_is_printed_is_read_again(text):
    printed = bg.jit(text, signature="(f32[2, 3, 4] x)", name="f").to_mlir("tosa")
    assert "tosa.transpose" in printed
    np.testing.assert_array_equal(bg.from_mlir(printed)(A), bg.jit(text)(A))


@pytest.mark.parametrize("literal", ["[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]", "1.5"])
def test_constants_are_transposed(literal):
    body = f"""  %c = "tosa.const"() <{{values = dense<{literal}> : tensor<2x3xf32>}}> : () -> tensor<2x3xf32>
  %t = tosa.transpose %c {{perms = array<i32: 1, 0>}} : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %0 = tosa.add %a, %t : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>"""
    a = np.zeros((3, 2), np.float32)
    wanted = np.broadcast_to(np.array(eval(literal), np.float32), (2, 3)).T
    np.testing.assert_array_equal(bg.from_mlir(function(body, "%a: tensor<3x2xf32>", "tensor<3x2xf32>"))(a), wanted)
    unknown = body.replace("(tensor<2x3xf32>) -> tensor<3x2xf32>", "(tensor<2x3xf32>) -> tensor<?x2xf32>")
    unknown = unknown.replace("(tensor<3x2xf32>, tensor<3x2xf32>)", "(tensor<3x2xf32>, tensor<?x2xf32>)")
    np.testing.assert_array_equal(bg.from_mlir(function(unknown, "%a: tensor<3x2xf32>", "tensor<3x2xf32>"))(a), wanted)
    with pytest.raises(bg.BroadcastError, match=r"a constant of type tensor<2x3xf32> has no shape tensor<3x2xf32> in"):
        bg.from_mlir(function(body.replace("1, 0>", "0, 1>"), "%a: tensor<3x2xf32>", "tensor<3x2xf32>"))


@pytest.mark.parametrize(
    ("attribute", "before", "after", "message"),
    [
        ("perms = array<i32: 0, 0>", "2x3", "2x2", "names each dim from 0 to 1 once"),
        ("perms = array<i32: 1>", "2x3", "3x2", "names each dim from 0 to 1 once"),
        ("perms = [1 : i32, 0 : i32]", "2x3", "3x2", "names each dim from 0 to 1 once"),
        ("perms = array<i32: -1, 0>", "2x3", "3x2", "names each dim from 0 to 1 once"),
        ("axes = array<i32: 1, 0>", "2x3", "3x2", "needs the attribute perms"),
        ("perms = array<i32: 1, 0>", "2x3", "3x4", "result dim 1 has extent 4, expected 2"),
        ("perms = array<i32: 1, 0>", "2x3", "3", "changes the rank"),
        ("perms = array<i32: 0>", "*", "3", "of a tensor of unknown rank"),
    ],
)
def test_what_is_no_permutation_is_refused(attribute, before, after, message):
    given, result = f"tensor<{before}xf32>", f"tensor<{after}xf32>"
    op = f'  %0 = "tosa.transpose"(%a) <{{{attribute}}}> : ({given}) -> {result}'
    with pytest.raises(bg.BcastgenError, match=rf"'tosa.transpose' op .*{message}"):
        bg.from_mlir(function(op, f"%a: {given}", result))
