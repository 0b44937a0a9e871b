"""Extents that take several registers of a guard code are checked by the run time, however they are nested."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.loops.guard_program.code import _computed, guard_code, guard_registers
from bcastgen.loops.guard_program.ir import Calc, Check

NAMES = "mnabcdef"
# Each difference, sum and product needs what is on its left while its right side is computed.
DEEP = "m*n - (a*b + c*d*max(e*f, m*a))"


def value_of(sizes: dict[str, int]) -> int:
    return int(eval(DEEP, {"max": max}, sizes))


def kernel_of(extent: str) -> bg.Kernel:
    return bg.from_text(f"({', '.join(f'f32[{name}] {name}0' for name in NAMES)}, f32[{extent}] z) -> z + 0")


def test_several_registers_hold_an_extent():
    kernel = kernel_of(DEEP)
    checks = [step for nest in kernel.compilation.program.guards.nests for step in nest.all_steps]
    calcs = [term for step in checks if isinstance(step, Check) for term in (step.actual, step.expected)]
    depths = [_computed(term).depth for term in calcs if isinstance(term, Calc)]
    assert 4 <= max(depths) <= guard_registers()
    for m, a, c in ((30, 2, 1), (40, 1, 2), (17, 3, 1)):
        sizes = dict(zip(NAMES, (m, 20, a, 3, c, 2, 2, 3), strict=True))
        operands = [np.zeros(size, "f4") for size in sizes.values()]
        wanted = value_of(sizes)
        assert kernel(*operands, np.zeros(wanted, "f4")).shape == (wanted,)
        with pytest.raises(bg.BroadcastError, match=rf"\b{wanted}\b"):
            kernel(*operands, np.zeros(wanted + 1, "f4"))


def test_a_computed_extent_that_needs_too_many_is_refused(monkeypatch):
    monkeypatch.setattr("bcastgen.loops.guard_program.code.guard_registers", lambda: 3)
    with pytest.raises(bg.BroadcastError, match="needs more than 3 intermediate results"):
        guard_code(kernel_of(DEEP).compilation.program.guards)
