"""Types: their text, and the values of which only the type is known."""

from __future__ import annotations

import pytest

from bcastgen.core.errors import ParseError
from bcastgen.shape.dialect.types import EXTENTS, SHAPE, SIZE, extents_type, parse_type
from bcastgen.shape.dialect.values import UNRANKED, Shape, Size

TEXTS = """!shape.shape|!shape.size|!shape.value_shape|!shape.witness|!shape.element_type|index|i1|tensor<?xindex>
tensor<2xindex>|tensor<?x3xf32>|tensor<*xf32>|tensor<f32>""".replace("\n", "|").split("|")


@pytest.mark.parametrize("text", TEXTS)
def test_types_print_as_they_are_read(text):
    assert str(parse_type(text)) == text


def test_our_spelling_of_tensors_is_taken():
    assert str(parse_type("f32[?, 3]")) == "tensor<?x3xf32>"


@pytest.mark.parametrize("text", ["!shape.sizes", "!tosa.shape", "tensor<?xindexes>", ""])
def test_what_is_no_type(text):
    with pytest.raises(ParseError):
        parse_type(text)


def test_the_value_of_which_only_the_type_is_known():
    assert SHAPE.unknown() == UNRANKED
    assert SIZE.unknown() == Size()
    assert EXTENTS.unknown() is None
    assert extents_type(2).unknown() == (None, None)
    assert parse_type("f32[?, 3]").unknown() == Shape.of(None, 3)


def test_only_types_that_can_fail_have_an_invalid_value():
    for text in TEXTS:
        type_ = parse_type(text)
        assert getattr(type_.invalid("why"), "is_invalid", False) is type_.can_fail
