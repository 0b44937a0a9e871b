"""Scheduling: which inner loops there are, and that there are few."""

from __future__ import annotations

import pytest

from bcastgen.expr.infer import infer
from bcastgen.expr.text import parse
from bcastgen.loops.lower import lower
from bcastgen.loops.schedule import MAX_VARIANTS, nested_loops
from bcastgen.shape.tensor_type import parse_type


def variants_of(text, *types, count=None, ranked=False):
    declared = tuple(map(parse_type, types))
    typed = infer(parse(text), tuple(t.dtype for t in declared))
    (nest,) = lower(typed, declared).nests
    return [variant.name for variant in (nested_loops(nest, count, ranked)).variants]


@pytest.mark.parametrize(
    ("text", "types", "names"),
    [
        ("-a", ["f32[*]"], ["unit", "any"]),
        ("a + b", ["f32[*]"] * 2, ["unit", "zero_b", "zero_a", "any"]),
        ("a * n", ["f32[*]", "f64[]"], ["zero_n", "any"]),
        ("n + 1", ["f64[]"], ["any"]),
    ],
)
def test_any_rank(text, types, names):
    assert variants_of(text, *types) == names


@pytest.mark.parametrize(
    ("types", "names"),
    [
        (["f32[?, 4]", "f32[4]"], ["unit", "any"]),
        (["f32[?, 4]", "f32[?, 1]"], ["zero_b", "any"]),
        (["f32[?, ?]", "f32[?, ?]"], ["unit", "zero_b", "zero_a", "any"]),
        (["f32[]", "f32[]"], ["any"]),
    ],
)
def test_ranked_loops_know_their_innermost_dim(types, names):
    assert variants_of("a + b", *types, ranked=True) == names


def test_none_on_demand():
    assert variants_of("a + b", "f32[*]", "f32[*]", count=0) == ["any"]


def test_many_operands_have_few_variants():
    names = variants_of(" + ".join("abcdefgh"), *["f32[*]"] * 8)
    assert len(names) == MAX_VARIANTS
    assert names[0] == "unit"
    assert "zero_a_b" in names


def test_operands_side_by_side_come_first():
    assert "zero_a_b" in variants_of("a + b + c + d", *["f32[*]"] * 4)
    assert "zero_c_d" in variants_of("a + b + c + d", *["f32[*]"] * 4)
