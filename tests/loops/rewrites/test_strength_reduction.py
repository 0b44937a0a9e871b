"""Statements without division have the values of those with it, and only powers of two lose theirs."""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen import from_text
from bcastgen.loops.rewrites.pipeline import rewrite
from bcastgen.loops.rewrites.strength_reduction import without_division
from bcastgen.loops.schedule.costs import costs_of
from bcastgen.loops.schedule.variants import ZERO

INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")


def body(text):
    """The statements of the one nest of a kernel as lowered."""
    (nest,) = from_text(text).compilation.program.nests
    return nest.body


def names(text):
    return [without_division(statement).op.name for statement in body(text)]


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("divisor", [1, 2, 8, 64])
def test_quotients_and_remainders_of_integers_are_numpys(dtype, divisor):
    info = np.iinfo(np.dtype(dtype.replace("i", "int") if dtype[0] == "i" else dtype.replace("u", "uint")))
    ends = [info.min, info.min + 1, -divisor - 1, -divisor, -1, 0, 1, divisor - 1, divisor, 100, info.max - 1, info.max]
    values = np.array([end for end in ends if info.min <= end <= info.max], info.dtype)
    kernel = from_text(f"({dtype}[?] a) -> (a // {divisor}, a % {divisor})")
    assert [row.op.name for row in kernel.compilation.rewritten.program.nests[0].body] == ["right_shift", "bitwise_and"]
    for found, expected in zip(kernel(values), (values // divisor, values % divisor), strict=True):
        np.testing.assert_array_equal(found, expected, strict=True)


@pytest.mark.parametrize("dtype", ["f16", "f32", "f64"])
@pytest.mark.parametrize("divisor", ["2", "-8", "0.25"])
def test_quotients_of_floats_cost_what_products_cost(dtype, divisor):
    (quotient,), (product,) = (
        costs_of(from_text(f"({dtype}[?] a) -> a {op} {divisor}").compilation.program.nests[0]) for op in "/*"
    )
    assert quotient == product
    assert [
        s.op.name
        for s in rewrite(from_text(f"({dtype}[?] a) -> a / {divisor}").compilation.program).program.nests[0].body
    ] == ["divide"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(i32[?] a) -> a // 7", "floor_divide"),
        ("(i32[?] a) -> a // -8", "floor_divide"),
        ("(i32[?] a) -> a % -8", "remainder"),
        ("(i32[?] a) -> a // 0", "floor_divide"),
        ("(i32[?] a, i32[?] b) -> a // b", "floor_divide"),
        ("(f32[?] a) -> a // 8", "floor_divide"),
        ("(f32[?] a) -> a % 8", "remainder"),
        ("(f32[?] a) -> a / 3", "divide"),
        ("(f32[?] a) -> a / 0", "divide"),
        ("(f64[?] a) -> a / 8.98846567431158e307", "divide"),
        ("(f64[?] a) -> 8 / a", "divide"),
    ],
)
def test_other_divisions_stay(text, expected):
    assert names(text) == [expected]


def test_a_division_by_a_constant_leaves_a_nest_its_loops():
    kernel = from_text("(f32[?] a, f32[?] b, f32[?] c) -> a / 8 + b / 4 + c / 2")
    assert sum(ZERO in variant.operands for variant in kernel.compilation.schedules[0].inline.variants) == 6
