"""The registers of a guard code: the deepest extent that fits is checked by the run time, the next one is refused."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.loops.guard_program.code import guard_registers


def nested(depth: int) -> str:
    """Return an extent that takes so many registers: each difference is computed behind the product before it."""
    extent = "n*m"
    for _ in range(depth - 1):
        extent = f"n*m - ({extent})"
    return extent


def test_an_extent_may_take_every_register():
    text = f"(f32[n] a, f32[m] b, f32[{nested(guard_registers())}] c) -> c + 0"
    kernel = bg.from_text(text)
    two, three = np.zeros(2, "f4"), np.zeros(3, "f4")
    # An even number of products: they cancel.
    assert kernel(two, three, np.zeros(0, "f4")).shape == (0,)
    with pytest.raises(bg.BroadcastError, match=r"has 6; .* makes 0|6"):
        kernel(two, three, np.zeros(6, "f4"))


def test_an_extent_that_takes_more_is_refused():
    text = f"(f32[n] a, f32[m] b, f32[{nested(guard_registers() + 1)}] c) -> c + 0"
    with pytest.raises(bg.BroadcastError, match=f"more than {guard_registers()} intermediate results"):
        bg.from_text(text)(np.zeros(2, "f4"), np.zeros(3, "f4"), np.zeros(6, "f4"))
