"""Unit dims are canonicalised away in what is printed."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg


@pytest.mark.parametrize(
    ("types", "line"),
    [
        ("f32[1,5] a, f32[5,1] b", "a : tensor<5xf32>    (d0, d1) -> (d1)"),
        ("f32[1,5] a, f32[5,1] b", "b : tensor<5xf32>    (d0, d1) -> (d0)"),
        ("f32[1,1] a, f32[5,4] b", "a : tensor<f32>      (d0, d1) -> ()"),
        ("f32[?,1] a, f32[5,4] b", "a : tensor<?xf32>    (d0, d1) -> (d0|0)"),
        ("f32[1,5] a, f32[1,5] b", "a : tensor<1x5xf32>  (d0, d1) -> (d0, d1)"),
        ("f32[?,bcast] a, f32[?,4] b", "a : tensor<?xf32>    (d0, d1) -> (d0|0)"),
    ],
)
def test_dims_of_extent_1_are_not_shown(types, line):
    """Seed 004: (d0, d1) -> (0, d1) over 1x5 becomes (d1) over 5."""
    assert line in str(bg.from_text(f"({types}) -> a + b").compilation.program)


def test_the_array_keeps_its_dims():
    kernel = bg.from_text("(f32[1,5] a, f32[5,1] b) -> a + b")
    a, b = np.float32(np.arange(5))[None], np.float32(np.arange(5))[:, None]
    assert (kernel(a, b) == a + b).all()
    with pytest.raises(bg.BroadcastError, match="operand 'a' has rank 1, expected 2"):
        kernel(a[0], b)
