"""Values of value_shapes: the integers that one holds are a shape."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.errors import BroadcastError
from bcastgen.shape.dialect.trace import op, program
from bcastgen.shape.dialect.types import parse_type
from bcastgen.shape.dialect.values import Shape, ValueShape

LISTS = [
    ([2, 3], Shape.of(2, 3)),
    (np.array([], np.uint8), Shape()),
    (np.array([4], np.int16), Shape.of(4)),
]
OTHERS = [np.uint64([2**63]), [2**63], [1.5], [True], 3, [[2, 3]], [-1], [1] * 65]


def one(name, **settings):
    return program("one", lambda v: op(name)(v, **settings), v="!shape.value_shape")


@pytest.mark.parametrize(("value", "shape"), LISTS)
def test_integers_are_a_shape(value, shape):
    assert one("value_as_shape").run(value) == one("value_as_shape").evaluate(value) == shape
    assert one("value_as_shape").check(value) is True
    assert one("value_of").run(value) == shape.extents
    assert one("value_of", type=f"tensor<{shape.rank}xindex>").run(value) == shape.extents


@pytest.mark.parametrize("value", OTHERS)
def test_what_is_no_list_of_extents_is_no_shape(value):
    assert one("value_as_shape").run(value) == Shape(error="")
    assert one("value_as_shape").check(value) is one("value_of").check(value) is False
    with pytest.raises(BroadcastError, match=r"shape\.value_of of %v = \(known, .* has no result of its type"):
        one("value_of").run(value)


def test_an_unknown_value_is_decided_by_the_run():
    held = one("value_of", type="tensor<2xindex>")
    assert held.evaluate(None) == (None, None)
    assert held.check(None) is None
    assert held.check(ValueShape(None, Shape.of(3))) is False
    with pytest.raises(BroadcastError, match="is not decided"):
        held.run(ValueShape(None, Shape.of(2)))
    assert held.run(lambda: np.array([4, 5])) == (4, 5)


def test_of_another_tensor_the_shape_matters():
    sized = program(
        "one",
        lambda v: op("dim")(op("value_of")(v, type="tensor<?x3xf32>"), 0),
        v="!shape.value_shape",
    )
    assert sized.run(np.ones((2, 3))) == 2
    assert sized.check(np.ones((2, 4))) is False
    assert one("value_of", type="f32[?, 3]").body.operations[0].results[0].type == parse_type("tensor<?x3xf32>")


def test_a_value_keeps_what_it_holds_under_another_shape():
    both = program("one", lambda v, s: op("with_shape")(v, s), v="!shape.value_shape", s="!shape.shape")
    assert both.run([1, 2], (2,)) == ValueShape([1, 2])
    assert both.run([1, 2], (3,)).is_invalid
    assert both.evaluate(None, (3, None)) == ValueShape(None, Shape.of(3, None))


def test_text_of_a_reshape_reads_the_extents_it_is_given():
    reshape = bg.shape_from_mlir("""
        func.func @reshape(%x: !shape.shape, %to: !shape.value_shape) -> !shape.shape {
          %shape = shape.value_as_shape %to : !shape.value_shape -> !shape.shape
          %n = shape.num_elements %x : !shape.shape -> !shape.size
          %m = shape.num_elements %shape : !shape.shape -> !shape.size
          %ns = shape.from_extents %n : !shape.size
          %ms = shape.from_extents %m : !shape.size
          %w = shape.cstr_eq %ns, %ms {error = "reshape: other elements"} : !shape.shape, !shape.shape
          %r = shape.assuming %w -> (!shape.shape) { shape.assuming_yield %shape : !shape.shape }
          return %r : !shape.shape
        }""")
    assert reshape.run((2, 6), [3, 4]) == Shape.of(3, 4)
    with pytest.raises(BroadcastError, match=r"^reshape: other elements.*<mlir>:8:"):
        reshape.run((2, 6), [3, 5])
