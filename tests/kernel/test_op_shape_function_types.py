"""Shape functions of ops that take their operands' element types, and give the result's."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import bcastgen as bg
from bcastgen import shape as s

OUTER = ["(d0, d1) -> (d0)", "(d0, d1) -> (d1)"]
F4, F8 = np.float32, np.float64


def alike(a, b, a_type, b_type):
    return s.concat(a, b), s.join(a_type, b_type, error="dtypes differ")


TEXT = """
func.func @alike(%a: !shape.shape, %b: !shape.shape, %a_type: !shape.element_type, %b_type: !shape.element_type)
    -> (!shape.shape, !shape.element_type) {
  %0 = shape.concat %a, %b : !shape.shape, !shape.shape -> !shape.shape
  %1 = shape.meet %a_type, %b_type, error = "dtypes differ"
    : !shape.element_type, !shape.element_type -> !shape.element_type
  return %0, %1 : !shape.shape, !shape.element_type
}"""


def made(shape=alike, operands="a, b", maps=OUTER, name="typed_outer", **given):
    c = {"a, b": "a - b", "a, b, n": "a * b", "a": "a"}[operands]
    options = {"dtypes": "same number", "replace": True} | given
    return bg.define_op(name, operands, c=c, shape=shape, maps=list(maps), **options)


@pytest.mark.parametrize("shape", [alike, TEXT], ids=["python", "text"])
def test_dtypes_that_do_not_go_together_are_refused_in_the_authors_words(shape):
    op = made(shape)
    assert op(F4([1, 2]), F4([3])).dtype == F4
    assert op(np.int8([1]), np.int8([3])).dtype == np.int8
    with pytest.raises(
        bg.DTypeError, match=r"typed_outer\(a: f32, b: f64\): dtypes differ: shape\.join of %a_type = f3"
    ):
        op(F4([1, 2]), F8([3]))
    kernel = bg.jit(lambda a, b: op(a + 1, b) * 2)
    assert kernel(F4([1]), F4([2])).dtype == F4
    with pytest.raises(bg.DTypeError, match="dtypes differ"):
        kernel(F4([1]), F8([2]))
    with pytest.raises(bg.DTypeError, match="dtypes differ"):
        bg.jit(lambda a, b: op(a, b), signature="(f32[?] a, f64[?] b)").explain()


def test_the_result_has_the_dtype_that_is_returned_whatever_it_is_computed_in():
    def first(a, b, n, a_type):
        return s.concat(a, s.from_extents(n)), a_type

    op = made(first, "a, b, n", ["(d0, d1) -> (d0)", "(d0, d1) -> (d0|0)", "index"], "typed_first", dtypes="same float")
    for dtype in (np.int16, F4, F8):
        result = op(dtype([1, 2]), F8([1.5, 4]), 2)
        assert result.dtype == dtype and result.tolist() == [[dtype(1.5)] * 2, [8, 8]]
    assert op.result_shape((2,), (1,), 3) == (2, 3)
    kernel = pickle.loads(pickle.dumps(bg.jit(lambda a, b: op(a, b, 2) + 1)))
    assert kernel(np.int16([1, 2]), F8([1.5, 4])).dtype == np.int16


def test_shapes_and_c_know_nothing_of_them(tmp_path):
    op = made()
    assert "element_type" not in str(op.shape_function)
    kernel = bg.jit(lambda a, b: op(a, b), signature="(f32[?] a, f32[?] b)", name="typed")
    assert {path.name for path in kernel.emit_c(tmp_path, "typed")} == {"bcastgen.h", "typed.c", "typed.h"}
    assert "linalg.generic" in kernel.to_mlir()
    assert pickle.loads(pickle.dumps(op)) is op


def test_a_region_gives_both():
    def guarded(a, b, a_type, b_type):
        return s.assuming(s.cstr_eq(a, b, error="shapes differ"), lambda: (a, s.join(a_type, b_type)))

    op = made(guarded, maps=["(d0) -> (d0)"] * 2, name="typed_guarded")
    assert op(F4([1, 2]), F4([3, 4])).tolist() == [-2, -2]
    with pytest.raises(bg.BroadcastError, match="shapes differ"):
        op(F4([1, 2]), F4([3]))
    with pytest.raises(bg.DTypeError, match=r"shape\.join"):
        op(F4([1, 2]), F8([3, 4]))


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        (
            lambda a, b, a_type: s.concat(a, b),
            "and 1 element types, one an operand, and returns one, and an element ty",
        ),
        (lambda a, b: (s.concat(a, b), s.concat(a, b)), "returns one; this one is from 2 to 2"),
        (lambda a, b, a_type: (a_type, s.concat(a, b)), "returns one, and an element type"),
        (TEXT.replace("%a_type", "%other"), "takes 2 shapes and 1 element types"),
        (lambda a, c_type: a, "has the operands a, b, which its function does not take"),
    ],
)
def test_what_is_no_such_function(shape, message):
    with pytest.raises(bg.BcastgenError, match=message):
        made(shape, name="typed_wrong")


def test_an_operand_s_map_is_no_element_type():
    with pytest.raises(bg.ParseError, match="a shape function takes an operand's element type as a parameter: a_type"):
        made(lambda a, b: a, maps=["(d0) -> (d0)", "!shape.element_type"], name="typed_map")
