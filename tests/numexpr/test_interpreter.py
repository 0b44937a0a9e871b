"""Compiled expressions of NumExpr's: how they are called, which conversions are allowed."""

import numpy as np
import pytest

import bcastgen.numexpr as ne
from bcastgen.numexpr import E, NumExpr


def test_a_call_takes_arrays_in_the_order_of_the_signature():
    made = NumExpr(2.0 * E.a - E.b, [("b", np.double), ("a", np.double)])
    assert made(np.array([1.0]), np.array([5.0])).tolist() == [9] and made.input_names == ("b", "a")
    assert made.run(1, 5) == 9 and isinstance(made.run(1, 5), np.ndarray)
    with pytest.raises(ValueError, match=r"1 arrays, and 2 variables \(b, a\)"):
        made(np.array([1.0]))


def test_a_signature_names_the_variables():
    with pytest.raises(ValueError, match="don't match those found in expression"):
        NumExpr("a + b", [("a", float), ("c", float)])


def test_conversions_are_checked_by_casting():
    made = NumExpr("a + 1", [("a", float)])
    assert made(np.float16([1])).dtype == "f4"
    with pytest.raises(TypeError, match="according to the rule 'safe': variable 'a'"):
        made(np.float64([1]))
    assert made(np.float64([1]), casting="same_kind").dtype == "f4"
    with pytest.raises(TypeError, match=r"float64.*int64.*'same_kind': out"):
        ne.evaluate("a + 1.0", {"a": np.ones(1)}, out=np.zeros(1, "i8"))
    out = np.zeros(1, "i8")
    assert ne.evaluate("a + 1.5", {"a": np.ones(1)}, out=out, casting="unsafe") is out and out[0] == 2
    with pytest.raises(TypeError, match="'no'"):
        ne.evaluate("a + 1", {"a": np.ones(1, "i1")}, casting="no")


def test_out_may_be_an_operand_larger_or_of_another_dtype():
    a = np.arange(4.0)
    assert ne.evaluate("a*2 + a", out=a) is a and a.tolist() == [0, 3, 6, 9]
    wide = np.zeros((2, 4), "f4")
    assert ne.evaluate("a + 1", out=wide).tolist() == [[1, 4, 7, 10]] * 2
    with pytest.raises(ValueError, match="not an array, but list"):
        ne.evaluate("a + 1", out=[0])
    with pytest.raises(ValueError, match="expected 4"):
        ne.evaluate("a + 1", out=np.zeros(3))


@pytest.mark.parametrize("order", ["C", "F", "K", "A"])
def test_order_of_a_new_result(order):
    a = np.asfortranarray(np.ones((3, 4)))
    assert ne.evaluate("a + 1", {"a": a}, order=order).flags.f_contiguous == (order != "C")


def test_layouts_and_dtypes_that_no_kernel_reads_in_place():
    odd = np.empty(25, "u1")[1:].view("f8")
    odd[:] = 1
    for a in (odd, np.arange(3.0).astype(">f8"), np.arange(6.0)[::-2], np.ones(3, np.longdouble)):
        np.testing.assert_array_equal(ne.evaluate("a * 2"), np.asarray(a, "f8") * 2)
    assert ne.evaluate("a * 2", {"a": np.ones(2, np.clongdouble)}).dtype == "c16"


def test_results_are_arrays_and_may_be_empty():
    assert isinstance(ne.evaluate("a + 1", {"a": 1}), np.ndarray)
    assert ne.evaluate("a + b", {"a": np.ones((0, 2), "i4"), "b": 1.5}).shape == (0, 2)
