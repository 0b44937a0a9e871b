"""Result types that follow from operands' types, and those that do not."""

import pytest

import bcastgen as bg
from bcastgen.core.errors import DTypeError

PRODUCT = """
func.func @f(%a: tensor<2x{0}>, %b: tensor<2x{0}>, %s: tensor<1xi8>) -> tensor<2x{1}> {{
  %0 = tosa.mul %a, %b, %s : (tensor<2x{0}>, tensor<2x{0}>, tensor<1xi8>) -> tensor<2x{1}>
  return %0 : tensor<2x{1}>
}}"""


@pytest.mark.parametrize("operand", ["i8", "i16", "i32", "i64", "f32"])
@pytest.mark.parametrize("result", ["i8", "i16", "i32", "i64", "f32"])
def test_products_are_of_their_operands_type_and_of_i32_where_these_are_narrower(operand: str, result: str) -> None:
    text = PRODUCT.format(operand, result)
    if result == operand or (result == "i32" and operand in ("i8", "i16")):
        assert result in str(bg.from_mlir(text).signature)
    else:
        with pytest.raises(DTypeError, match=rf"has element type {result}, expected {operand}"):
            bg.from_mlir(text)
