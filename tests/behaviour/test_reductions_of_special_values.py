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


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extremes_along_rows_have_the_bits_of_extremes_along_columns(dtype):
    """Rows are combined in any order where that gives the same bits: without NaNs, and zeros of one sign in a block."""
    random = np.random.default_rng(10)
    both = bg.jit(lambda x, y: (x.max(axis=0), x.min(axis=0), y.max(axis=1), y.min(axis=1)))
    computed = bg.jit(lambda x, y: ((x * 2).max(axis=0), (x * 2).min(axis=0), (y * 2).max(axis=1), (y * 2).min(axis=1)))
    chosen = (
        [1.0, 2.0, -3.0],
        [0.0, 1.0, 2.0],
        [-0.0, 1.0, 2.0],
        [0.0, -0.0, 1.0, -1.0],
        [0.0, -1.0, -2.0],
        [np.nan, 1.0, 0.0],
    )
    for rows, columns in ((7, 300), (8, 17), (32, 1000), (127, 9), (128, 64), (130, 2500), (1000, 33), (3000, 8)):
        for values in chosen:
            weights = [0.02, *[0.98 / (len(values) - 1)] * (len(values) - 1)]
            x = random.choice(np.array(values, dtype), p=weights, size=(rows, columns))
            # A first part that knows one sign of zero, then the other one.
            x[: rows // 2] = np.where(x[: rows // 2] == 0, dtype(0.0), x[: rows // 2])
            # Computed values come in parts, which may end within a block.
            for kernel in (computed, both):
                along_rows, along_columns = np.split(np.array([*kernel(x, np.ascontiguousarray(x.T))]), 2)
                assert along_rows.tobytes() == along_columns.tobytes(), (rows, columns, values)
            threaded = bg.from_text("(max(x, axis=0), min(x, axis=0))", threads=2)
            assert np.array([*threaded(x)]).tobytes() == along_rows.tobytes()
