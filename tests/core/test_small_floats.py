"""The formats of small floats, against ml_dtypes."""

import math

import numpy as np
import pytest

from bcastgen.core.dtypes import DTYPES
from bcastgen.core.small_floats import format_of

ROWS = [row for row in DTYPES if row.is_small_float]
# Numbers of every exponent, with few bits, and with one more at the end, so that no half is one.
_TOPS = np.arange(0, 65536, 5, dtype=np.uint32) << 16
NUMBERS = np.concatenate([_TOPS, _TOPS + 1]).astype(np.uint32).view(np.float32)


def test_formats_fill_the_bits_of_their_dtypes():
    assert len(ROWS) == 11
    assert all(row.bits == row.small.exponent + row.small.mantissa + (row.small.sign != 0) for row in ROWS)
    assert all(row.bytes == 1 for row in ROWS)
    with pytest.raises(ValueError, match="f16 is no small float"):
        format_of("f16")


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_values_of_all_codes(row):
    codes = np.arange(256, dtype=np.uint8)
    ours = np.array([row.small.value_of(int(code)) for code in codes], np.float32)
    np.testing.assert_array_equal(ours.view(np.uint32), codes.view(row.np).astype(np.float32).view(np.uint32))


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_codes_of_numbers(row):
    with np.errstate(all="ignore"):
        wanted = NUMBERS.astype(row.np).view(np.uint8)
    found = np.array([row.small.code_of(value) for value in NUMBERS.tolist()], np.uint8)
    # NaN of a Python float has no payload, but a sign.
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("row", ROWS, ids=str)
def test_the_nearest_value_is_a_value(row):
    for value in (0.3, -1.7, 1e30, -1e-30, math.inf):
        nearest = row.nearest(value)
        assert math.isnan(nearest) or row.nearest(nearest) == nearest
