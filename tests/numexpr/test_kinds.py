"""Kinds: NumExpr's, of dtypes and of numbers."""

import numpy as np
import pytest

from bcastgen.numexpr.kinds import CODES, DTYPES, FUNCTIONS, KINDS, OPCODES, SIGNATURES, constant_kind, kind_of, upcasts


def test_a_kind_is_a_dtype_s_size_and_sort():
    assert {code: kind_of(np.dtype(code)) for code in "?bBhHiIlLefdgFDS"} == {
        **{"?": "bool", "b": "int", "B": "int", "h": "int", "H": "int", "i": "int", "I": "long", "l": "long"},
        **{"L": "long", "e": "float", "f": "float", "d": "double", "g": "double", "F": "complex", "D": "complex"},
        **{"S": "bytes"},
    }


@pytest.mark.parametrize(("code", "words"), [("U3", "Unicode"), ("M8[s]", "unknown type datetime64"), ("O", "object")])
def test_other_dtypes_are_refused(code, words):
    with pytest.raises(ValueError, match=words):
        kind_of(np.dtype(code))


def test_a_number_has_the_least_kind_that_holds_it_but_floats_are_doubles():
    numbers = (2**31 - 1, 2**31, -(2**31), np.int64(1), np.uint8(1), 1.0, np.float32(1), np.float64(1), np.complex64(1))
    kinds = ["int", "long", "int", "long", "int", "double", "float", "double", "complex"]
    assert [constant_kind(number) for number in numbers] == kinds
    with pytest.raises(TypeError, match="list"):
        constant_kind([1])


def test_upcasts_come_nearest_first():
    found = list(upcasts("ld"))
    assert found[0] == "ld" and found[-1] == "cc" and len(found) == 4 * 2
    assert list(upcasts("ss")) == ["ss"]


def test_every_signature_is_of_known_letters():
    letters = {*CODES.values()}
    assert all(set(name.rpartition("_")[2]) <= letters for name in SIGNATURES)
    assert not {name for name in OPCODES & FUNCTIONS if not name.startswith("sqrt")}
    assert list(DTYPES) == list(KINDS)


def test_signatures_are_numexprs():
    interpreter = pytest.importorskip(
        "numexpr.interpreter", reason="numexpr is not installed (pip install -e .[suites])"
    )
    theirs = {name.decode() for name in (*interpreter.opcodes, *interpreter.funccodes)}
    generic = {"noop", *(name for name in theirs if name.startswith("func_"))}
    assert theirs - generic == SIGNATURES
