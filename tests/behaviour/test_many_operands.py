"""Kernels of about as many operands as are planned on the stack, and of more; some functions have loops apart."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg

# `FEW` of csrc/runtime/run_source.inc: arrays and stages.
FEW = 16
STAGES = ("exp({})", "sin({})", "cos({})", "sqrt({})")


@pytest.mark.parametrize(("arrays", "stages"), [(FEW - 1, 1), (FEW, 1), (FEW - 1, 4), (FEW + 1, 0), (40, 4)])
def test_many_arrays_and_stages(arrays, stages):
    names = [f"a{at}" for at in range(arrays - 1)]
    whole = " + ".join(names[stages:])
    parts = "".join(f" + {of.format(name)}" for of, name in zip(STAGES[:stages], names, strict=False))
    operands = ", ".join(f"f64[?, ?] {name}" for name in names)
    kernel = bg.from_text(f"({operands}) -> {whole}{parts}")
    chance = np.random.default_rng(arrays)
    for shape in ((3, 5), (30, 70)):
        # Each function is of a row or a column; every other operand lies in columns.
        shapes = [((1, shape[1]), (shape[0], 1))[at % 2] if at < stages else shape for at in range(arrays - 1)]
        values = [chance.random(one[::-1]).T if at % 2 else chance.random(one) for at, one in enumerate(shapes)]
        functions = (np.exp, np.sin, np.cos, np.sqrt)
        wanted = sum(values[stages:]) + sum(of(x) for of, x in zip(functions[:stages], values, strict=False))
        np.testing.assert_allclose(kernel(*values), wanted, rtol=1e-13)
    assert (f".stages = {stages}," in kernel.source) == (stages > 0)
