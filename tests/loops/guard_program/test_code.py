"""The registers of a guard code: the run time has more than the deepest extent that can be written takes."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.loops.guard_program.code import guard_registers

# How deep parentheses may be.
DEEPEST = 16


def nested(depth: int) -> str:
    """Return an extent whose differences are each computed behind the product before it, in one register more."""
    extent = "n*m"
    for _ in range(depth):
        extent = f"n*m - ({extent})"
    return extent


def test_the_deepest_extent_is_checked():
    kernel = bg.from_text(f"(f32[n] a, f32[m] b, f32[{nested(DEEPEST)}] c) -> c + 0")
    two, three = np.zeros(2, "f4"), np.zeros(3, "f4")
    # The products cancel but for the last one.
    assert kernel(two, three, np.zeros(6, "f4")).shape == (6,)
    with pytest.raises(bg.BroadcastError, match=r"\b5\b.*\b6\b"):
        kernel(two, three, np.zeros(5, "f4"))


def test_a_deeper_one_cannot_be_written():
    assert guard_registers() > DEEPEST + 1
    with pytest.raises(bg.ParseError, match=f"at most {DEEPEST} parentheses"):
        bg.from_text(f"(f32[n] a, f32[m] b, f32[{nested(DEEPEST + 1)}] c) -> c + 0")
