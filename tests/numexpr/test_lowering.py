"""Kernels of NumExpr's expressions: conversions, ops whose meaning differs from NumPy's, texts, reductions."""

import numpy as np
import pytest

import bcastgen.numexpr as ne
from bcastgen.numexpr.lowering import TextTest

INTS, LONGS, F, D = (np.array([-7, 0, 7], kind) for kind in ("i4", "i8", "f4", "f8"))


def value(text, **names):
    return ne.evaluate(text, names, {}, optimization="none")


def test_results_have_numexprs_dtypes_not_numpys():
    texts = ("i + f", "l + f", "h + h", "u + i", "i / i", "f * 2.0", "f * 2", "sin(i)", "i > 2", "f ** 2")
    names = {"i": INTS, "l": LONGS, "f": F, "d": D, "h": INTS.astype("i1"), "u": INTS.astype("u4")}
    found = {text: value(text, **names).dtype.name for text in texts}
    assert found == {
        **{"i + f": "float32", "l + f": "float32", "h + h": "int32", "u + i": "int64", "i / i": "float64"},
        **{"f * 2.0": "float64", "f * 2": "float32", "sin(i)": "float64", "i > 2": "bool", "f ** 2": "float32"},
    }


def test_integer_powers_with_negative_exponents_are_quotients():
    exponents = np.array([-2, 3, -1], "i4")
    assert value("i ** e", i=np.array([2, -3, -1], "i4"), e=exponents).tolist() == [0, -27, -1]
    assert value("i ** e", i=np.array([0, 0, 1], "i4"), e=exponents).tolist() == [0, 0, 1]


def test_integer_quotients_and_remainders_are_pythons_and_0_for_0():
    assert value("i // d", i=INTS, d=np.array([2, 0, -2], "i4")).tolist() == [-4, 0, -4]
    assert value("i % d", i=INTS, d=np.array([4, 0, -4], "i4")).tolist() == [1, 0, -1]


def test_float_quotients_and_remainders_are_numexprs():
    x, y = np.array([5.5, -5.5, 1.0]), np.array([2.0, 2.0, np.inf])
    assert value("x // y", x=x, y=y).tolist() == [2, -3, 0]
    np.testing.assert_array_equal(value("x % y", x=x, y=y), [1.5, 0.5, np.nan])


def test_the_magnitude_of_a_complex_number_is_complex_and_its_parts_are_doubles():
    z = np.array([3 + 4j])
    assert value("abs(z)", z=z).tolist() == [5 + 0j]
    assert value("z.real", z=z.astype("c8")).dtype == "f8" and value("d.imag", d=D).tolist() == [0, 0, 0]
    made = value("complex(x, y)", x=np.array([1, np.inf, -0.0]), y=np.array([-0.0, 2, np.nan]))
    assert str(made.tolist()) == str([complex(1, -0.0), complex(np.inf, 2), complex(-0.0, np.nan)])


def test_ones_like_has_the_shape_and_the_kind():
    assert value("ones_like(i) + 0*f", i=INTS.astype("i1"), f=F).dtype == "f4"
    made = value("ones_like(x)", x=np.array([[np.nan, 2.0]]))
    assert made.tolist() == [[1, 1]]


def test_constants_need_no_variable():
    assert value("1 + 1").dtype == "i4" and value("1 + 1").shape == () and value("2**40").dtype == "i8"
    assert value("arcsin(0.5)") == np.arcsin(0.5) and value("b'ab'").item() == b"ab"
    out = np.zeros((1, 1))
    assert ne.evaluate("3", out=out) is out and out.item() == 3
    with pytest.raises(ValueError, match="out has 2 elements"):
        ne.evaluate("3", out=np.zeros(2))


def test_a_text_is_compared_beside_numbers():
    s, t = np.array([b"a", b"b", b"c"]), np.array([b"a", b"x", b""])
    assert value("(s == t) | (i > 0)", s=s, t=t, i=INTS).tolist() == [True, False, True]
    assert value("s >= 'b'", s=s).tolist() == [False, True, True]
    assert value("contains(s, t)", s=s, t=t).tolist() == [True, False, True]
    assert value("(s == t) & (s != t)", s=s, t=t).tolist() == [False] * 3
    assert value("s", s=s).tolist() == s.tolist() and value("s", s=s) is not s
    assert TextTest("eq", (0, b"b"))([s]).tolist() == [False, True, False]


@pytest.mark.parametrize("name", ["sum", "prod", "min", "max"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_reductions_along_an_axis(name, axis):
    x = np.arange(1.0, 7.0).reshape(2, 3)
    np.testing.assert_allclose(value(f"{name}(x*x, axis={axis})", x=x), getattr(np, name)(x * x, axis=axis))
    np.testing.assert_allclose(value(f"{name}(x, axis={axis})", x=x), getattr(np, name)(x, axis=axis))


def test_reductions_keep_the_kind_skip_nan_and_take_out():
    assert value("sum(i)", i=np.full(3, 2**30, "i4")).tolist() == -(2**30)
    assert value("min(x)", x=np.array([np.nan, 2.0, 1.0])) == 1 and value("sum(f)", f=F).dtype == "f4"
    out = np.zeros((1, 1))
    assert ne.evaluate("sum(x)", {"x": D + 1}, out=out) is out and out.item() == 3
    with pytest.raises(ValueError, match="size 1 for a full reduction"):
        ne.evaluate("sum(x)", {"x": D}, out=np.zeros(3))
    with pytest.raises(ValueError, match="axis is out of bounds"):
        value("sum(x, axis=1)", x=D)


def test_a_variable_may_be_called_as_a_keyword_is():
    names = {"out": D, "where": D, "order": D, "order_": D, "text": D}
    assert ne.evaluate("out + order * order_ - text", names).tolist() == [49, 0, 49]


def test_a_variable_that_folds_away_need_not_exist():
    assert ne.evaluate("where(True, x, missing)", {"x": D}).tolist() == D.tolist()


def test_reductions_have_the_order_that_is_asked_for():
    a = np.arange(24.0).reshape(2, 3, 4)
    for order, is_fortran in (("F", True), ("C", False), ("K", False)):
        found = ne.evaluate("sum(a, axis=0)", order=order)
        assert found.flags.f_contiguous == is_fortran and found.flags.c_contiguous != is_fortran
        np.testing.assert_array_equal(found, a.sum(axis=0))
    with pytest.raises(ValueError, match="order"):
        ne.evaluate("sum(a, axis=0)", order="X")


@pytest.mark.parametrize("text", ["max(1, 2)", "min(5, 1) + 1", "sum(3, axis=5)", "prod(2.5, axis=0)"])
def test_numbers_have_no_axis(text):
    with pytest.raises(ValueError, match=r"reduction axis is out of bounds: axis \d, and \w+ is of 0 dims"):
        ne.evaluate(text)
