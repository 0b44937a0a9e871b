"""Demanded bits by brute force: what lies above them changes no low bit of the result."""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen import from_text, jit
from bcastgen.loops.analysis.demanded_bits import demanded_bits, operand_bits
from bcastgen.ops.table import OPS

# Every op whose row says something, with the constants that its rule reads.
BINARY = sorted(name for name, op in OPS.items() if op.integers.demanded and op.arity == 2)
UNARY = sorted(name for name, op in OPS.items() if op.integers.demanded and op.arity == 1 and not op.params)
CONSTANTS = (0, 1, 3, 5, 7, 12)
FORMS = [f"{name}(x)" for name in UNARY] + [f"{name}(x, {n})" for name in BINARY for n in CONSTANTS]
# Of two operands that vary, both places count; a shift's count has to be a constant.
FORMS += [f"{name}(x, y)" for name in BINARY if not OPS[name].integers.shifts]


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
@pytest.mark.parametrize("form", FORMS)
def test_higher_bits_change_no_low_bit(form, dtype):
    operands = f"{dtype}[?] x, {dtype}[?] y" if "y" in form else f"{dtype}[?] x"
    kernel = from_text(f"({operands}) -> {form}")
    name = form.partition("(")[0]
    nest = kernel.compilation.program.nests[0]
    [statement] = [one for one in nest.body if one.op.name == name] or [None]
    if statement is None:
        return  # a neutral constant: nothing is left of it
    op = OPS[name]
    x = np.arange(256).astype(np.uint8).view(dtype)
    constant = None if "," not in form or "y" in form else np.array(int(form.split(", ")[1][:-1]), dtype)
    for y in [None] if op.arity == 1 else [constant] if constant is not None else x[::37]:
        others = () if y is None else (y,)
        places = (0, 1) if "y" in form else (0,)
        for place in places:

            def at(values, place=place, others=others):
                given = (values, *others) if place == 0 else (*others, values)
                return np.asarray(op.evaluate(*given)).astype(np.int64)

            for count in range(1, statement.dtype.bits + 1):
                bits = operand_bits(statement, place, count)
                assert 1 <= bits <= statement.operand_dtypes[place].bits
                low = (x.view(np.uint8) & ((1 << bits) - 1)).astype(np.uint8).view(dtype)
                changed = (at(x) ^ at(low)) & ((1 << count) - 1)
                assert not changed.any(), f"{bits} bits of operand {place} are not enough for {count} of {form}"


def test_shifts_and_masks_ask_for_few():
    def counts(text):
        return demanded_bits(from_text(f"(u32[?] a, u32[?] b) -> {text}").compilation.program.nests[0])

    assert counts("((a + b) & 255).astype(uint8)")[0] == 8
    assert counts("((a + b) >> 4).astype(uint8)")[0] == 12
    assert counts("((a + b) >> 30).astype(uint8)")[0] == 32
    assert counts("((a + b) << 4).astype(uint8)")[0] == 4


def test_a_shift_near_the_full_width_keeps_what_it_shifts_down():
    a, b, c, d = np.random.default_rng(0).integers(0, 256, (4, 999)).astype(np.uint8)

    def high(a, b, c, d):
        return ((a.astype(np.uint32) * b * c * d) >> np.uint32(20)).astype(np.uint16)

    assert np.array_equal(jit(high)(a, b, c, d), high(a, b, c, d))
