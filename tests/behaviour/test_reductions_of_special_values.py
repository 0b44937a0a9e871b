"""Sums and means of negative zeros, infinities and NaNs: NumPy's bits, compiled and where there is no compiler."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.ops.rows.reductions import REDUCTIONS


@pytest.mark.parametrize("dtype", ["c8", "c16"])
def test_a_mean_of_complex_numbers_is_numpys(dtype):
    """Bit for bit, compiled, and where NumPy computes because there is no compiler."""
    parts = (-np.inf, np.inf, np.nan, 0.0, -0.0, 0.25, -3.0)  # sums of these are exact
    pairs = [complex(re, im) for re, im in itertools.product(parts, parts)]
    x = np.array([[one] * 7 for one in pairs] + [[1.5 + 0.75j] * 3 + [-0.25 + 2j] * 4], dtype)
    with np.errstate(all="ignore"):
        expected = x.mean(axis=1)
    for found in (bg.jit(lambda x: x.mean(axis=1))(x), REDUCTIONS["mean"].reference(x, (1,), False)):
        assert found.dtype == dtype
        np.testing.assert_array_equal(found.real, expected.real)
        np.testing.assert_array_equal(found.imag, expected.imag)
        is_number = ~(np.isnan(expected.real) | np.isnan(expected.imag))
        assert found[is_number].tobytes() == expected[is_number].tobytes()


TEXTS = ("sum(x, axis=1)", "sum(x, axis=0)", "sum(x)", "mean(x, axis=1)")


@pytest.mark.parametrize(
    ("dtype", "text"),
    # Complex numbers have no order, and no mask of one.
    [
        *itertools.product(("f2", "f4", "f8", "c8", "c16"), TEXTS),
        *((one, "sum(x, where=x>0)") for one in ("f2", "f4", "f8")),
    ],
)
def test_a_sum_of_negative_zeros_is_numpys(dtype, text):
    """NumPy adds to 0.0; many elements and few, adjacent and not, in the compiled kernel."""
    for rows, elements in ((1, 1), (3, 2), (2, 700), (40, 33)):
        for x in (np.full((rows, elements), -0.0, dtype), np.full((elements, rows), -0.0, dtype).T):
            expected = eval(text, {"sum": np.sum, "mean": np.mean, "x": x})
            found = bg.evaluate(text, {"x": x})
            assert np.asarray(found).tobytes() == np.asarray(expected).tobytes(), (rows, elements)
