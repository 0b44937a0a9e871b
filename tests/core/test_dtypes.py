"""The table of dtypes: spellings, NumPy's promotion, and Python scalars that yield."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.dtypes import (
    BF16,
    BOOL,
    COMPUTED,
    F16,
    F32,
    F64,
    I64,
    WEAK_FLOAT,
    WEAK_INT,
    dtype,
    from_key,
    in_numpy_code,
    promote,
    resolve_weak,
)
from bcastgen.core.errors import DTypeError


@pytest.mark.parametrize("row", COMPUTED, ids=str)
def test_every_spelling_finds_the_row(row):
    for spelling in (row, row.name, row.mlir, row.numpy, row.np, row.np.type):
        assert dtype(spelling) is row
    assert row.np.itemsize == row.bytes
    assert from_key(COMPUTED.index(row)) is row


def test_ranges_are_numpys():
    for row in (row for row in COMPUTED if row.is_integer):
        assert (row.min, row.max) == (np.iinfo(row.np).min, np.iinfo(row.np).max)
    assert (BOOL.min, BOOL.max) == (0, 1)


@pytest.mark.parametrize(
    "spelling", ["float128", "clongdouble", "f12", "float8_e4m2", "int3", "nothing", "U3", object, None.__class__]
)
def test_other_types_are_refused_with_what_there_is(spelling):
    with pytest.raises(
        DTypeError, match=r"not supported( \(.*(numpy\.(float64|complex128)|dtype=float)\)$|; use one of bool, int8)"
    ):
        dtype(spelling)


@pytest.mark.parametrize("text", ["f4,f4", "(3, 2, 0.2, 2, 3)", "(" * 9000, "(3)f4", ",", "f4,,f4", "(1,)" * 99 + "f"])
def test_text_of_records_is_no_dtype(text):
    """NumPy runs its own reader on it, which ends in a SyntaxError for some texts."""
    for read in (dtype, in_numpy_code):
        with pytest.raises(DTypeError, match="is not supported; use one of bool, int8"):
            read(text)
    with pytest.raises(DTypeError, match="is not supported"):
        bg.from_text("astype(a, (3, 2, .2, 2, 2, 3))")


def test_promotion_is_numpys():
    for pair in itertools.product(COMPUTED, repeat=2):
        # Beside what bf16 does not hold, only ufuncs have a dtype.
        assert promote(*pair).np == np.minimum.resolve_dtypes((*(row.np for row in pair), None))[-1]
        if BF16 not in pair:
            assert promote(*pair).np == np.result_type(*(row.np for row in pair))
    for triple in itertools.product(COMPUTED, repeat=3):
        assert len({promote(*order) for order in itertools.permutations(triple)}) == 1


def test_python_scalars_settle_as_in_numpy():
    scalars = {WEAK_INT: 1, WEAK_FLOAT: 1.0}
    for row, (weak, scalar) in itertools.product(COMPUTED, scalars.items()):
        # ml_dtypes makes an f32 of a Python float beside a bf16 (in ufuncs); here it yields, as NEP 50 has it.
        expected = row.np if row is BF16 else np.result_type(row.np, scalar)
        assert promote(*resolve_weak((row, weak))).np == expected
    assert resolve_weak((WEAK_INT, WEAK_FLOAT)) == (I64, F64)
    assert resolve_weak((F32, WEAK_INT, WEAK_FLOAT)) == (F32, F32, F32)


def test_16_bit_floats_are_computed_in_f32():
    assert {row.name for row in COMPUTED if row.is_float16} == {"f16", "bf16"}
    assert all(row.computed_in is (F32 if row.is_float16 else row) for row in COMPUTED)
    assert all(row.c == row.computed_in.c for row in COMPUTED)


def test_numbers_become_the_nearest_value():
    assert F16.nearest(0.1) == float(np.float16(0.1))
    assert BF16.nearest(0.1) == float(BF16.np.type(0.1))
    assert F32.nearest(0.1) == float(np.float32(0.1))
    assert [row.nearest(1e300) for row in (F16, BF16, F32, F64)] == [np.inf, np.inf, np.inf, 1e300]
