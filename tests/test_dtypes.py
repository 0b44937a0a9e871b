"""The table of dtypes: spellings, NumPy's promotion, and Python scalars that yield."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bcastgen.dtypes import BOOL, DTYPES, F32, F64, I64, WEAK_FLOAT, WEAK_INT, dtype, from_key, promote, settle
from bcastgen.errors import DTypeError


@pytest.mark.parametrize("row", DTYPES, ids=str)
def test_every_spelling_finds_the_row(row):
    for spelling in (row, row.name, row.mlir, row.numpy, row.np, row.np.type):
        assert dtype(spelling) is row
    assert row.np.itemsize == row.bytes
    assert from_key(DTYPES.index(row)) is row


def test_ranges_are_numpys():
    for row in (row for row in DTYPES if row.is_integer):
        assert (row.min, row.max) == (np.iinfo(row.np).min, np.iinfo(row.np).max)
    assert (BOOL.min, BOOL.max) == (0, 1)


@pytest.mark.parametrize("spelling", ["float16", "complex64", "nothing", "U3", object, None.__class__])
def test_other_types_are_refused_with_what_there_is(spelling):
    with pytest.raises(DTypeError, match="not supported; use one of bool, i8"):
        dtype(spelling)


def test_promotion_is_numpys():
    for pair in itertools.product(DTYPES, repeat=2):
        assert promote(*pair).np == np.result_type(*(row.np for row in pair))


def test_python_scalars_settle_as_in_numpy():
    scalars = {WEAK_INT: 1, WEAK_FLOAT: 1.0}
    for row, (weak, scalar) in itertools.product(DTYPES, scalars.items()):
        assert promote(*settle((row, weak))).np == np.result_type(row.np, scalar)
    assert settle((WEAK_INT, WEAK_FLOAT)) == (I64, F64)
    assert settle((F32, WEAK_INT, WEAK_FLOAT)) == (F32, F32, F32)
