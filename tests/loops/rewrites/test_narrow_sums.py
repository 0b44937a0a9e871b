"""Sums of integers widen their elements themselves: what is computed for each point takes fewer bytes."""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen import from_text
from bcastgen.loops.rewrites.narrow_sums import narrow_sums
from bcastgen.loops.rewrites.pipeline import rewrite

# What is summed, the same by NumPy, and the dtype in which its values reach the sum after all rewrites.
ROWS = [
    ("(f32[?, ?] x) -> sum(x > 1, axis=A)", lambda x: x > 1, "bool"),
    ("(bool[?, ?] x) -> sum(x, axis=A)", lambda x: x, "bool"),
    ("(i8[?, ?] x) -> sum(x, axis=A)", lambda x: x, "i8"),
    ("(i8[?, ?] x) -> sum(x + x, axis=A)", lambda x: x + x, "i8"),
    ("(u8[?, ?] x) -> sum(x, axis=A)", lambda x: x, "u8"),
    ("(i16[?, ?] x) -> sum(x, axis=A)", lambda x: x, "i16"),
    ("(u16[?, ?] x) -> sum(x.astype(i32) - 9, axis=A)", lambda x: x.astype(np.int32) - np.int32(9), "i32"),
    ("(u32[?, ?] x) -> sum(x, axis=A)", lambda x: x, "u32"),
]
# Rows and columns of which some are longer than a sum in 16 bits may be, and no multiple of a vector.
SHAPES = ((1, 1), (3, 70), (70, 3), (16_403, 2), (2, 70_001))


@pytest.mark.parametrize(("text", "summand", "kind"), ROWS)
@pytest.mark.parametrize("axis", [0, 1, (0, 1)])
def test_values_stay_narrow_and_sums_are_those_of_64_bits(text, summand, kind, axis):
    kernel = from_text(text.replace("A", str(axis)))
    nest = kernel.compilation.rewritten.program.nests[0]
    assert nest.results[0].dtype.name == kind
    operand = kernel.compilation.operand_types[0].dtype.np
    ends = [np.iinfo(operand).min, np.iinfo(operand).max] if operand.kind in "iu" else [0, 2]
    for shape in SHAPES:
        for values in (ends[:1], ends[1:], [*ends, 1]):
            x = np.resize(np.array(values).astype(operand), shape)
            expected = np.sum(summand(x), axis=axis)
            for layout in (x, np.asfortranarray(x), np.repeat(x, 2, axis=1)[:, ::2]):
                np.testing.assert_array_equal(kernel(layout), expected, strict=True)


@pytest.mark.parametrize(
    "text",
    [
        "(i64[?] x) -> sum(x)",
        "(f32[?] x) -> sum(x)",
        "(i8[?] x) -> sum(x.astype(u64))",
        "(i8[?] x) -> prod(x)",
        "(i8[?] x) -> mean(x)",
        "(i8[?] x) -> max(x.astype(i64))",
        "(f32[?] x) -> sum(x.astype(i64))",
        "(u64[?] x) -> sum(x.astype(i64))",
        "(i8[?] x) -> x.astype(i64)",
    ],
)
def test_what_stays(text):
    nest = from_text(text).compilation.program.nests[0]
    assert narrow_sums(nest) == (nest, ())


def test_only_the_sum_that_widens_changes():
    program = from_text("(i8[?] x) -> (sum(x), max(x.astype(i64)), x.astype(i64))").compilation.program
    (nest, *_) = rewrite(program).program.nests
    assert [access.dtype.name for access in nest.results] == ["i8", "i64"]
