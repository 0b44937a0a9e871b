"""Which nests share loops, and what reductions give that needs memory."""

from __future__ import annotations

import pytest

import bcastgen as bg
from bcastgen.loops.schedule.shared_loops import shared_loops

SHARED = {
    "(f32[?, ?] x) -> x - mean(x, axis=1, keepdims=True)": "at each point of (d0) of nest 0: nests 0, 1",
    "(f32[?, ?] x) -> x - mean(x, axis=0)": "at each point of (d1) of nest 0: nests 0, 1",
    "(f32[?, ?] x) -> x / sum(x), sum(x, axis=1)": "once: nests 0, 2\nat each point of (d0) of nest 1: nests 1, 3",
    # The quotient has more rows where y has more than the one of x.
    "(f32[?, ?] x, f32[?, ?] y) -> y / sum(x, axis=1, keepdims=True)": "at each point of (d0) of nest 0: nests 0\n"
    "once: nests 1\nin memory: sum_of_x",
    "(f32[4, 5] x, f32[4, 5] y) -> y / sum(x, axis=1, keepdims=True)": "at each point of (d0) of nest 0: nests 0, 1",
    "(f32[?, ?] x) -> max(x - mean(x, axis=0), axis=1)": "at each point of (d1) of nest 0: nests 0\n"
    "at each point of (d0) of nest 1: nests 1, 2\nin memory: mean_of_x",
    # Read at two points.
    "(f32[?, ?] x) -> sum(x, axis=1)[:, None] - sum(x, axis=1)[None]": "at each point of (d0) of nest 0: nests 0\n"
    "once: nests 1\nin memory: sum_of_x",
}


@pytest.mark.parametrize("text", SHARED)
def test_loops_are_shared_where_extents_are_one(text):
    program = bg.from_text(text).declared_compilation.program
    assert shared_loops(program).describe(program) == SHARED[text]
