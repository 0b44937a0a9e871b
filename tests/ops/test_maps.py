"""bcastgen/ops/maps.py: indexing maps of ops with shape functions."""

from __future__ import annotations

import pytest

import bcastgen as bg
from bcastgen.ops.maps import MapDim, element_operands, read_maps, value_types


def test_a_dim_has_an_extent_of_the_result_or_stretches_or_is_1():
    rank, (own,) = read_maps("op", ["( i,j , k) -> (k, i |0,0)"], 1)
    assert rank == 3 and own == (MapDim(2), MapDim(0, stretches=True), MapDim(None))


@pytest.mark.parametrize(
    ("maps", "message"),
    [
        ("(d0) -> (d0)", "one indexing map for each of the 1 operands"),
        ([], "one indexing map for each of the 1 operands"),
        ([3], "3 is no indexing map; write it as"),
        (["(d0) -> (d0 + 1)"], "computes with dims; a map is a projection"),
        (["(d0) -> (d0 floordiv 2)"], "computes with dims; a map is a projection"),
        (["(d0) -> (d0 mod 3)"], "computes with dims; a map is a projection"),
        (["index"], "no operand has a map"),
        (["(d0) -> (d1)"], "is no projection"),
        (["(d0) -> (d0, d0|0)"], "is no projection"),
        (["(d0, d0) -> (d0)"], "is no projection"),
        (["(d0) -> (d0|1)"], "is no projection"),
    ],
)
def test_what_is_no_map_is_refused(maps, message):
    with pytest.raises(bg.ParseError, match=message):
        read_maps("op", maps, 1)


def test_an_operand_of_values_has_its_type_for_a_map():
    maps = ["(d0, d1) -> (d1)", "index", " tensor< 2 x index >", "tensor<?xindex>", "!shape.value_shape"]
    assert read_maps("op", maps, 5) == (2, ((MapDim(1),), (), (), (), ()))
    assert value_types(maps) == (None, "index", "tensor<2xindex>", "tensor<?xindex>", "!shape.value_shape")
    assert element_operands("abcde", maps) == ("a",)


def test_all_maps_are_from_the_result():
    with pytest.raises(bg.ParseError, match="the maps are from different dims"):
        read_maps("op", ["(d0) -> (d0)", "(d0, d1) -> (d0)"], 2)


def test_a_dtype_is_no_value_of_a_shape_function():
    with pytest.raises(bg.ParseError, match=r"'!shape.element_type' is no operand's; .* as a parameter: a_type"):
        bg.define_op("typed", "a, t", c="a", maps=["(d0) -> (d0)", "!shape.element_type"], shape=lambda a, t: a)
