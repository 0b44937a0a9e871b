"""Which results count as NumPy's, and the message for one that does not."""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen.core.resources import bench_module

check = bench_module("check")
ONE = np.float64(1.0)


def test_equal_values_with_nan_and_infinity_agree():
    values = np.array([1.0, -0.0, np.nan, np.inf, -np.inf])
    assert check.difference(values, np.array([1.0, 0.0, -np.nan, np.inf, -np.inf]), 0) is None


@pytest.mark.parametrize(("steps", "said"), [(2, None), (3, "off by 3 ULP, allowed 2")])
def test_floats_may_differ_by_their_bound(steps, said):
    expected = np.array([1.0, 1.0])
    assert check.difference(expected, expected + np.array([0.0, steps * np.spacing(ONE)]), 2) == said


@pytest.mark.parametrize("actual", [np.nan, np.inf])
def test_a_special_value_for_a_number_is_never_within_bounds(actual):
    assert check.difference(np.array([1.0]), np.array([actual]), 1e9) == "off by inf ULP, allowed 1e+09"


def test_a_number_for_nan_is_never_within_bounds():
    assert check.difference(np.array([np.nan]), np.array([1.0]), 1e9) is not None


def test_scale_allows_for_cancellation():
    expected, actual = np.float32([1e-6]), np.float32([1e-6 + 1e-7])
    assert check.difference(expected, actual, 2) is not None
    assert check.difference(expected, actual, 2, scale=1.0) is None


def test_dtype_and_shape_must_be_equal():
    a = np.zeros(3, np.float32)
    assert check.difference(a, a.astype(np.float64), 0) == "dtype float64, expected float32"
    assert check.difference(a, a[None], 0) == "shape (1, 3), expected (3,)"


def test_integers_and_bools_are_counted():
    assert check.difference(np.int32([1, 2, 3]), np.int32([1, 0, 0]), 99) == "2 of 3 elements differ"
    assert check.difference(np.array([True]), np.array([False]), 99) == "1 of 1 elements differ"


@pytest.mark.parametrize("shape", [(), (0,), (3, 0)])
def test_no_dims_and_no_elements_agree(shape):
    assert check.difference(np.ones(shape), np.ones(shape), 0) is None


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("at", [0, 777_777, -1])
def test_one_wrong_element_among_many_blocks_is_found(order, at):
    expected = np.ones((1000, 1000), np.float32, order=order)
    actual = expected.copy()
    actual.flat[at] = 2
    assert check.difference(expected, actual, 4) == "off by 8.39e+06 ULP, allowed 4"
    assert check.difference(expected.astype(int), actual.astype(int), 0) == "1 of 1000000 elements differ"
