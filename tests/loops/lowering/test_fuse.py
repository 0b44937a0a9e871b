"""Results of one domain share a nest, by what they read or by what types show of their extents."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg

# A signature with results, and the results that share a nest.
GROUPS = {
    "the same operands": ("(f32[*] a, f32[*] b) -> (a + b, a * b, a)", [["r0", "r1"], ["r2"]]),
    "static extents": ("(f32[2, 3] a, f32[3] b) -> (a + b, a * 2, b)", [["r0", "r1"], ["r2"]]),
    "other operands of the same extents": ("(f32[2] a, f32[2] b) -> (a + 1, b * 2)", [["r0", "r1"]]),
    "an operand's extent": ("(f32[?, 4] a, f32[1, 4] b) -> (a + b, abs(a))", [["r0", "r1"]]),
    "an extent that may stretch": ("(f32[?, 4] a, f32[?, 4] b) -> (a + b, abs(a))", [["r0"], ["r1"]]),
    "one that does not": ("(f32[n>=2] a, f32[n] b) -> (a + b, abs(a))", [["r0", "r1"]]),
    "the same extents at other places": ("(f32[?, 3] a) -> (abs(a), a.T)", [["r0"], ["r1"]]),
    "through a view": ("(f32[3, 3] a) -> (abs(a), a.T)", [["r0"], ["r1"]]),
    "other ranks": ("(f32[4] a, f32[1, 4] b) -> (a + b, a)", [["r0"], ["r1"]]),
    "rank 0": ("(f32[] a, f32[] b) -> (a + b, a * 2)", [["r0", "r1"]]),
}


@pytest.mark.parametrize("name", GROUPS)
def test_results_of_one_domain_share_a_nest(name):
    text, groups = GROUPS[name]
    kernel = bg.from_text(text)
    assert [[access.name for access in nest.results] for nest in kernel.compilation.program.nests] == groups


def test_what_shares_a_nest_is_what_it_was_alone():
    kernel = bg.from_text("(f32[?, 3] a, f32[1, 3] b) -> (a + b, a * 2, abs(b - a))")
    a, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.float32([[1, 2, 3]])
    for got, expected in zip(kernel(a, b), (a + b, a * 2, abs(b - a)), strict=True):
        np.testing.assert_array_equal(got, expected)
    assert ".nests = 1," in kernel.source
