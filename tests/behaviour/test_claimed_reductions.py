"""Types that say more than ops do, in texts with reductions: calls check them, in every form of the kernel."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.emit.standalone import CForm
from c_harness import ADDRESS, Case, Harness, emit_module
from compile_flags import QUICK

# Of the operands: (3, 4) added up by rows, times themselves, added to b, and the largest of each row.
TEXT = """func.func @f(%a: tensor<?x?xf32>, %b: tensor<?x?xf32>) -> tensor<?x1xf32> {
  %s = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %1 = tosa.add %a, %b : (tensor<?x?xf32>, tensor<?x?xf32>) -> tensor<?x4xf32>
  %2 = tosa.reduce_sum %1 {axis = 1 : i32} : (tensor<?x4xf32>) -> tensor<3x1xf32>
  %3 = tosa.mul %2, %2, %s : (tensor<3x1xf32>, tensor<3x1xf32>, tensor<1xi8>) -> tensor<3x1xf32>
  %4 = tosa.add %3, %b : (tensor<3x1xf32>, tensor<?x?xf32>) -> tensor<?x4xf32>
  %5 = tosa.reduce_max %4 {axis = 1 : i32} : (tensor<?x4xf32>) -> tensor<?x1xf32>
  return %5 : tensor<?x1xf32>
}"""
EXTENTS = list(itertools.product((1, 2, 3, 4), repeat=2))


def wanted(a, b):
    """What NumPy gives; the name of the value whose type does not hold."""
    try:
        one = a + b
    except ValueError:
        return "b"
    if one.shape[1] != 4:
        return "%1"
    if one.shape[0] != 3:
        return "%2"
    two = one.sum(axis=1, keepdims=True)
    four = two * two + b
    return four.max(axis=1, keepdims=True) if four.shape[1] == 4 else "%4"


def calls():
    random = np.random.default_rng(3)
    for first, second in itertools.product(EXTENTS, repeat=2):
        yield tuple(random.integers(-4, 5, shape).astype(np.float32) for shape in (first, second))


def test_a_call_is_refused_where_a_type_does_not_hold():
    kernel, seen = bg.from_mlir(TEXT), set()
    for a, b in calls():
        right = wanted(a, b)
        if not isinstance(right, str):
            np.testing.assert_array_equal(kernel(a, b), right)
            continue
        seen.add(right)
        with pytest.raises(bg.BroadcastError, match=rf"error: 'tosa.\w+' op (result|operand) '{right}'"):
            kernel(a, b)
    assert seen == {"b", "%1", "%2", "%4"}


def test_a_reduction_of_no_elements_is_the_one_that_is_named():
    kernel = bg.from_mlir(TEXT.replace("tosa.reduce_sum", "tosa.reduce_min").replace("x4xf32>", "x?xf32>"))
    with pytest.raises(bg.BroadcastError, match=r":4:8: error: 'tosa.reduce_min' op operand 'a' dim 1 has extent 0"):
        kernel(np.zeros((3, 0), np.float32), np.zeros((3, 1), np.float32))


def test_standalone_c_checks_the_same(tmp_path):
    kernel = bg.from_mlir(TEXT)
    (emitted,) = emit_module([kernel], "f", CForm(0))
    harness, cases, given = Harness([emitted], tmp_path), [], []
    for a, b in itertools.islice(calls(), 0, None, 3):
        right = wanted(a, b)
        result = np.zeros((max(a.shape[0], b.shape[0]), 1) if isinstance(right, str) else right.shape, np.float32)
        cases.append(Case(emitted).array(a).array(b).array(result))
        given.append(right)
    for right, outcome in zip(given, harness.build("gcc", (QUICK, *ADDRESS)).run(*cases), strict=True):
        if isinstance(right, str):
            assert outcome.call.status not in ("OK", "") and outcome.message, right
        else:
            np.testing.assert_array_equal(outcome.values(2, np.dtype(np.float32)), right)
