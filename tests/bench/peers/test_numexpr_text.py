"""NumExpr's text is what the function says, checked without NumExpr."""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen.core.resources import bench_module

numexpr_text = bench_module("peers.numexpr_text")


def text_of(function, operands):
    scalars = []
    return function(*(numexpr_text.Text(f"x{i}", scalars) for i in range(operands))).text, scalars


@pytest.mark.parametrize(
    ("function", "operands", "text"),
    [
        (lambda a, b: a * b + 1, 2, "((x0 * x1) + (1))"),
        (lambda a, b: 2.5 / -a >= b, 2, "(((2.5) / (-x0)) >= x1)"),
        (lambda a, b: np.where(a < 0, np.exp(a), abs(b)), 2, "where((x0 < (0)), exp(x0), abs(x1))"),
        (lambda a, b: ~a & (b ^ a) >> 3, 2, "((~x0) & ((x1 ^ x0) >> (3)))"),
        (lambda a, b: (a == b) & (a // 7 < b % 5), 2, "((x0 == x1) & ((x0 // (7)) < (x1 % (5))))"),
    ],
)
def test_text(function, operands, text):
    assert text_of(function, operands) == (text, [])


def test_numpy_scalars_become_operands_to_keep_their_dtype():
    text, scalars = text_of(lambda x: x * np.float32(0.5) + np.float32(2), 1)
    assert text == "((x0 * k0) + k1)"
    assert [(k.dtype.name, float(k)) for k in scalars] == [("float32", 0.5), ("float32", 2.0)]
