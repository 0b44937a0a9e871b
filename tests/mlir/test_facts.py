"""Facts on dims as attributes of arguments and results: read, checked, refused where they are wrong, printed again."""

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.mlir.linalg.types import facts_text
from bcastgen.shape.types.tensor_type import parse_type
from mlir_tools import checked_opt, needs_mlir


def function(said, type_="tensor<?x4xf32>", result=""):
    """Return a function of one op with attributes on its argument."""
    arrow = f"({type_}{result})" if result else type_
    body = f"  %0 = tosa.abs %a : ({type_}) -> {type_}\n  return %0 : {type_}\n"
    return f"func.func @f(%a: {type_}{said}) -> {arrow} {{\n{body}}}"


def dims(*texts):
    """Return the attribute of these texts."""
    return f" {{bcastgen.dims = [{', '.join(texts)}]}}"


def test_facts_are_part_of_the_signature_and_checked():
    kernel = bg.from_mlir(function(dims('"n >= 2"', '"4"'), result=dims('"n"', '"4"')))
    assert str(kernel.signature) == "(f32[n>=2, 4] a) -> f32[n, 4]"
    with pytest.raises(bg.BroadcastError, match=r"<mlir>:1:1: error: 'func.func' op @f operand 'a' dim 0 has extent 1"):
        kernel(np.ones((1, 4), np.float32))


def test_a_name_is_one_extent_in_all_arguments():
    text = """func.func @f(%a: tensor<?xf32> {bcastgen.dims = ["n"]}, %b: tensor<?xf32> {bcastgen.dims = ["n"]})
        -> tensor<?xf32> {
      %0 = tosa.add %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }"""
    with pytest.raises(bg.BroadcastError, match="operand 'b' dim 0 has extent 1, expected 3"):
        bg.from_mlir(text)(np.ones(3, np.float32), np.ones(1, np.float32))


def test_the_generic_form_has_them_too():
    text = """"func.func"() <{arg_attrs = [{bcastgen.dims = ["n%8", "m!"]}], function_type = (tensor<?x?xf32>) ->
      tensor<?x?xf32>, res_attrs = [{other.dialect = 1 : i64}], sym_name = "f"}> ({
    ^bb0(%a: tensor<?x?xf32>):
      "func.return"(%a) : (tensor<?x?xf32>) -> ()
    }) : () -> ()"""
    assert str(bg.from_mlir(text).signature) == "(f32[n%8, m!] a) -> f32[?, ?]"


def test_a_known_extent_stays_known():
    assert str(bg.from_mlir(function(dims('"?"', '"?%2"'))).signature) == "(f32[?, 4] a) -> f32[?, 4]"
    assert str(bg.from_mlir(function(dims('"?"', '"k"'))).signature) == "(f32[?, k>=4<=4] a) -> f32[?, 4]"


def test_a_tensor_of_unknown_rank_has_its_last_dims():
    kernel = bg.from_mlir(function(dims('"*"', '"n>=2"'), "tensor<*xf32>"))
    assert str(kernel.signature.operands[0][1]) == "f32[*, n>=2]"


def test_a_cast_keeps_what_facts_say():
    text = """func.func @f(%a: tensor<?xf32> {bcastgen.dims = ["n>=2"]}) -> tensor<5xf32> {
      %0 = tensor.cast %a : tensor<?xf32> to tensor<5xf32>
      return %0 : tensor<5xf32>
    }"""
    kernel = bg.from_mlir(text)
    assert str(kernel.signature.operands[0][1]) == "f32[n>=2]"
    with pytest.raises(bg.BroadcastError, match=r"<mlir>:2:12: error: 'tensor.cast' op result '%0' dim 0"):
        kernel(np.ones(4, np.float32))


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (dims('"n"'), r"argument '%a' has 1 texts in 'bcastgen.dims' and the type tensor<\?x4xf32>"),
        (dims('"n"', '"5"'), r"argument '%a' dim 1 has extent 4 in its type, and is 5"),
        (dims('"n"', '"?%3"'), r"dim 1 has extent 4 in its type, and is \?%3"),
        (dims('"n"', '"4 trusted"'), "a dim is trusted through Dim"),
        (dims('"n"', '"4]"'), "expected the end, found ']'"),
        (dims('"n"', '"n>=99999999999999999999999"'), "an extent is too large"),
        (dims('"*"', '"4"'), "has 2 texts"),
        (dims('"n"', "4"), "no array of strings"),
        (" {bcastgen.dims = 3 : i64}", "no array of strings"),
        (" {bcastgen.dims}", "no array of strings"),
        (" {bcastgen.dim = []}", "the attribute 'bcastgen.dim', which is unknown"),
    ],
)
def test_what_is_wrong_is_an_error_at_the_function(said, message):
    with pytest.raises(bg.BcastgenError, match=f"(?s)^<mlir>:1:1: error: 'func.func' op @f .*{message}"):
        bg.from_mlir(function(said))


@pytest.mark.parametrize("generic", ["arg_attrs = 3 : i64", "arg_attrs = [{}, {}]", 'res_attrs = ["x"]'])
def test_attributes_of_arguments_are_one_dictionary_each(generic):
    body = '^bb0(%a: i1):\n"func.return"(%a) : (i1) -> ()\n'
    text = f'"func.func"() ({{\n{body}}}) {{function_type = (i1) -> i1, sym_name = "f", {generic}}} : () -> ()'
    with pytest.raises(bg.ParseError, match=r"<mlir>:1:1: error: 'func.func' has"):
        bg.from_mlir(text)


def test_only_what_types_do_not_say_is_printed():
    assert facts_text(parse_type("f32[?, 4]")) == ""
    assert facts_text(parse_type("f32[*]")) == ""
    assert facts_text(parse_type("f32[*, 4]")) == ' {bcastgen.dims = ["*", "4"]}'
    assert facts_text(parse_type("f32[n~, bcast, 1!]")) == ' {bcastgen.dims = ["n~", "bcast", "1!"]}'
    trusted = bg.TensorType(None, (bg.Dim("n", min=2, trusted=True),))
    assert facts_text(trusted) == ' {bcastgen.dims = ["n>=2!"]}'


@needs_mlir
@pytest.mark.parametrize(
    "signature",
    [
        "(f32[n>=2, m%8] x, f32[n, bcast] y) -> f32[n, m]",
        "(f32[n<=64!, 4] x, f32[?~, 4] y) -> f32[n, 4]",
        "(i32[?%4, k] x, i32[?, k] y) -> i32[?, k>=2]",
    ],
)
def test_a_round_trip_through_mlir_opt_keeps_them(signature):
    kernel = bg.jit(lambda x, y: x + y, signature=signature)
    for text in (kernel.to_mlir("tosa"), checked_opt(kernel.to_mlir("tosa"))):
        found = bg.from_mlir(text).signature
        assert [type_ for _, type_ in found.operands] == [type_ for _, type_ in kernel.signature.operands]
        assert found.results == kernel.signature.results
    assert "bcastgen.dims" in checked_opt(kernel.to_mlir("linalg"))
