"""Signatures: how they are written, and which one serves a call."""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen.core.dtypes import WEAK_FLOAT, WEAK_INT, dtype
from bcastgen.core.errors import DTypeError, ParseError
from bcastgen.expr.source.numba_signatures import chosen_signature, numba_dtype, read_signatures


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("float64(float64)", "float64(float64)"),
        ("f8(f8)", "float64(float64)"),
        ("int_ ( i4 )", "int64(int32)"),
        ("boolean(uint8)", "bool(uint8)"),
        ("numba.float32(numba.float32)", "float32(float32)"),
        ("(double)", "(float64)"),
        ("intp(b1)", "int64(bool)"),
    ],
)
def test_a_signature_in_text(text, shown):
    assert [str(loop) for loop in read_signatures([text], 1)] == [shown]


@pytest.mark.parametrize("text", ["float64[:](float64[:])", "void(", "float64(float64", "float64(,)", 3])
def test_what_is_no_signature(text):
    with pytest.raises(ParseError, match="no signature"):
        read_signatures([text], 1)


def test_dtypes_that_are_not_there():
    with pytest.raises(DTypeError, match="complex256"):
        read_signatures(["complex256(complex256)"], 1)


def test_the_exact_loop_then_the_first_safe_one():
    loops = read_signatures(["float64(float64, float64)", "int32(int32, int32)", "int64(int64, int64)"], 2)
    i8, i32, i64, f32, u64 = map(dtype, ("i8", "i32", "i64", "f32", "u64"))
    for types, found in {
        (i32, i32): "int32",
        (i64, WEAK_INT): "int64",
        (i8, i8): "float64",
        (f32, WEAK_INT): "float64",
        (i32, WEAK_FLOAT): "float64",
    }.items():
        assert str(chosen_signature("f", loops, types)).startswith(found), types
    with pytest.raises(DTypeError, match=r"f\(uint64, uint64\): none of its signatures"):
        chosen_signature("f", loops[1:], (u64, u64))


def test_other_objects_are_no_types_of_numba():
    assert numba_dtype(np.float64) is None
    assert numba_dtype(3) is None


@pytest.mark.parametrize("several", [list, tuple])
def test_several_signatures_are_a_list_or_a_tuple_of_texts(several):
    texts = ("float32(float32)", "float64(float64)")
    assert [str(one) for one in read_signatures(several(texts), 1)] == [*texts]
