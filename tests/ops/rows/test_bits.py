"""Shifts by constants: their C is plain where the count is in range, and their values are those of any other count."""

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.dtypes import dtype as dtype_named
from bcastgen.ops.table import OPS


@pytest.mark.parametrize("dtype", ["i8", "u8", "i16", "i32", "u64"])
@pytest.mark.parametrize("op", ["left_shift", "right_shift", "logical_right_shift"])
def test_a_constant_count_in_range_is_not_tested_in_c(op: str, dtype: str) -> None:
    kind = dtype_named(dtype)
    forms = {count: OPS[op].c_for((kind, kind), kind, constant=count) for count in (0, kind.bits - 1, kind.bits, -1)}
    assert all("<<" in c or ">>" in c for c in forms.values())
    assert ["?" in forms[count] or "&" in forms[count] for count in (0, kind.bits - 1)] == [False, False]
    general = OPS[op].c_for((kind, kind), kind)
    assert forms[kind.bits] == forms[-1] == general


@pytest.mark.parametrize("dtype", ["i8", "u8", "i32", "u64"])
def test_counts_that_are_constant_give_what_counts_in_arrays_give(dtype: str) -> None:
    numpy = dtype_named(dtype).numpy
    ends = np.iinfo(numpy)
    values = np.array([ends.min, ends.min + 1, 0, 1, 5, ends.max], numpy)
    for symbol in ("<<", ">>"):
        by_array = bg.from_text(f"({dtype}[?] a, {dtype}[?] n) -> a {symbol} n")
        for count in (1, ends.bits - 1, ends.bits):
            by_constant = bg.from_text(f"({dtype}[?] a) -> a {symbol} {count}")
            counts = np.full(len(values), count, numpy)
            np.testing.assert_array_equal(by_constant(values), by_array(values, counts))
