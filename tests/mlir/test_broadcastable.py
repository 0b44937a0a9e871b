"""Verification of "test.broadcastable": its errors, and what it leaves to run time."""

from __future__ import annotations

import pytest

from bcastgen.core.errors import BcastgenError, BroadcastError, DTypeError
from bcastgen.mlir.broadcastable import verify_broadcastable
from bcastgen.mlir.read.parser import parse_module


def verify(text, mode="sound"):
    """Verify the first operation of a function."""
    module = parse_module(text, "m.mlir")
    return verify_broadcastable(module.functions[0].body.operations[0], module.source, mode)


def function(operands, result, types=None):
    """A function whose first line is a "test.broadcastable" with operands %a, %b, ... of these types."""
    names = [f"%{chr(ord('a') + at)}" for at in range(len(operands))]
    arguments = ", ".join(f"{name}: {type_}" for name, type_ in zip(names, operands, strict=True))
    signature = types or f"({', '.join(operands)}) -> {result}"
    return f'func.func @f({arguments}) {{\n  %0 = "test.broadcastable"({", ".join(names)}) : {signature}\n  return\n}}'


def refused(text, error=BroadcastError, mode="sound"):
    with pytest.raises(error) as caught:
        verify(text, mode)
    return caught.value


def test_an_error_has_its_place_and_its_facts():
    error = refused(function(["tensor<4x3xf32>", "tensor<2xf32>"], "tensor<4x3xf32>"))
    assert str(error) == (
        "m.mlir:2:8: error: 'test.broadcastable' op operand '%b' dim 0 has extent 2, expected 1 or 3 (from '%a')\n"
        '  %0 = "test.broadcastable"(%a, %b) : (tensor<4x3xf32>, tensor<2xf32>) -> tensor<4x3xf32>\n'
        "       ^"
    )
    assert (error.operand, error.dim, error.actual, error.expected, error.against) == ("%b", 0, 2, 3, "%a")


@pytest.mark.parametrize(
    ("operands", "result", "message"),
    [
        (["tensor<1xf32>"], "tensor<4xf32>", "result '%0' dim 0 has extent 4, expected 1 (from '%a')"),
        (["tensor<3xf32>"], "tensor<1x3xf32>", "result '%0' has rank 2, expected 1"),
        (["tensor<*xf32>", "tensor<2x3xf32>"], "tensor<3xf32>", "result '%0' has rank 1, expected 2"),
        (["vector<4xf32>"], "vector<4xf32>", "operand '%a' has type vector<4xf32>, expected a tensor"),
        (["f32"], "f32", "operand '%a' has type f32, expected a tensor"),
        (["tensor<4xf32>"], "vector<4xf32>", "result '%0' has type vector<4xf32>, expected a tensor"),
    ],
)
def test_refuses(operands, result, message):
    assert message in str(refused(function(operands, result)))


@pytest.mark.parametrize("element", ["i3", "f8E4M4FN", "index", "complex<f16>"])
def test_names_an_element_type_that_is_not_supported(element):
    type_ = f"tensor<2x{element}>"
    assert f"element type {element} is not supported; use one of" in str(refused(function([type_], type_), DTypeError))


def test_wants_exactly_one_result():
    text = 'func.func @f(%a: tensor<f32>) {\n  "test.broadcastable"(%a) : (tensor<f32>) -> ()\n  return\n}'
    assert "m.mlir:2:3: error: 'test.broadcastable' op has 0 results, expected 1" in str(refused(text))
    text = text.replace('"test', '%0:2 = "test').replace("-> ()", "-> (tensor<f32>, tensor<f32>)")
    assert "has 2 results, expected 1" in str(refused(text))


def test_takes_no_operands_and_one_value_twice():
    assert verify('func.func @f() {\n  %0 = "test.broadcastable"() : () -> tensor<4xf32>\n  return\n}') == ()
    type_ = "tensor<?xf32>"
    text = f'func.func @f(%a: {type_}) {{ %0 = "test.broadcastable"(%a, %a) : ({type_}, {type_}) -> {type_} return }}'
    assert verify(text) == ()


def test_says_what_is_left_to_run_time():
    left = verify(function(["tensor<?xi1>", "tensor<?xf32>"], "tensor<4xi64>"))
    assert [str(constraint) for constraint in left] == ["%a.0 in {1, d0}", "%b.0 in {1, d0}", "%0.0 = 4 = d0"]


def test_the_mode_of_the_document_takes_nothing_for_granted():
    text = function(["tensor<?xf32>"], "tensor<4xf32>")
    assert len(verify(text)) == 1
    assert "expected ? (inferred from the operands)" in str(refused(text, mode="document"))


def test_an_odd_text_is_an_error_of_ours():
    with pytest.raises(BcastgenError):
        verify(function(["tensor<4xf32>"], "tensor<4xf32>", "(tensor<4xf32>) -> tensor<4x"))
