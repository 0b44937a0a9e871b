"""A call with several mistakes reports the first: operands before results, in their order."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.errors import statuses
from c_module import Array, Diagnostic, Module

NAMES = {value: name for value, (name, _) in statuses().items()}
KERNELS = {
    "pair": bg.jit(lambda a, b, c: (a + 1, b - c), signature="(f32[?] a, f32[?,?] b, f32[?,?] c)"),
    "many": bg.jit(lambda a, b, c: (a + 1, b * 2, c - 1, -a), signature="(f32[?,?] a, f32[?] b, f64[*] c)"),
    "later": bg.from_text("(u32[*] a, i32[*] b, u8[*, ?>=7] c) -> a + b + c"),
}


@pytest.fixture(scope="module")
def module(tmp_path_factory):
    return Module(KERNELS, tmp_path_factory.mktemp("order"), "order")


def zeros(*shape, dtype="f4"):
    return np.zeros(shape, dtype)


def test_operands_of_every_nest_come_before_a_result(module):
    a, b, c = zeros(3), zeros(2, 3), zeros(4, 3)
    with pytest.raises(bg.BroadcastError) as raised:
        KERNELS["pair"](a, b, c)
    status, why = module.call("pair", a, b, c, zeros(77), zeros(88, 1))
    assert NAMES[status] == "BROADCAST"
    assert module.say("pair", status, why)[0] == raised.value.sentence


def test_results_of_many_nests_are_apart(module):
    operands = [zeros(2, 3), zeros(4), zeros(2, dtype="f8")]
    results = [zeros(2, 3), zeros(4), zeros(2, dtype="f8"), zeros(2, 3)]
    assert module.call("many", *operands, *results)[0] == 0
    assert (results[0] == 1).all() and (results[2] == -1).all()
    # An operand of one nest as the result of another; two results of two nests; arrays without elements.
    for at, shared in ((1, np.frombuffer(operands[0].data, "f4")[:4]), (1, results[3].ravel()[1:5])):
        given = [*results[:at], shared, *results[at + 1 :]]
        status, why = module.call("many", *operands, *given)
        assert NAMES[status] == "OVERLAP"
        assert {why.operand, why.against} in ({0, 4}, {4, 6})
    empty = [zeros(0, 3), zeros(4), zeros(2, dtype="f8")]
    assert module.call("many", *empty, zeros(0, 3), *results[1:3], zeros(0, 3))[0] == 0


def test_a_negative_extent_is_told_before_others_are_compared_with_it(module):
    extents = (ctypes.c_int64 * 64)(-3)
    strides = (ctypes.c_int64 * 64)(1)
    negative = Array(None, extents, strides, 1)
    why = Diagnostic()
    arrays = [Array(None, (ctypes.c_int64 * 64)(8), strides, 1) for _ in range(2)]
    descriptors = [ctypes.byref(array) for array in (*arrays, negative, arrays[0])]
    status = module.function("later")(*descriptors, ctypes.byref(why))
    assert (NAMES[status], why.operand, why.dim, why.actual) == ("NEGATIVE", 2, 0, -3)
