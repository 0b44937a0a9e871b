"""Scheduling: which inner loops there are, and that there are few."""

from __future__ import annotations

import pytest

from bcastgen.api.functions import from_text
from bcastgen.core.resources import folder
from bcastgen.expr.infer import infer
from bcastgen.expr.text import parse
from bcastgen.loops.lowering.lower import lower
from bcastgen.loops.schedule.schedule import nested_loops, schedule
from bcastgen.loops.schedule.variants import MAX_LIKELY, MAX_VARIANTS, NARROW
from bcastgen.shape.types.tensor_type import parse_type


def variants_of(text, *types, count=None, ranked=False):
    declared = tuple(map(parse_type, types))
    typed = infer(parse(text), tuple(t.dtype for t in declared))
    (nest,) = lower(typed, declared).nests
    return [variant.name for variant in nested_loops(nest, count, ranked).inline.variants]


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


# ---- loops that the run time plans ----------------------------------------------------------------------------------


def scheduled(text, *types, count=None):
    declared = tuple(map(parse_type, types))
    typed = infer(parse(text), tuple(t.dtype for t in declared))
    (nest,) = lower(typed, declared).nests
    return schedule(nest, count)


def names_of(*given, **options):
    return [variant.name for variant in scheduled(*given, **options).inline.variants]


@pytest.mark.parametrize(
    ("text", "types", "names"),
    [
        ("-a", ["f32[*]"], ["unit"]),
        ("a + b", ["f32[*]"] * 2, ["unit", "zero_b", "zero_a"]),
        ("a + b", ["f32[?, 4]", "f32[4]"], ["unit", "zero_b", "zero_a"]),
        ("a * n", ["f32[*]", "f64[]"], ["unit", "zero_n"]),
        ("n + 1", ["f64[]"], ["unit"]),
        ("n + m", ["f64[]"] * 2, ["unit"]),
        ("sqrt(a + b)", ["f32[*]"] * 2, ["unit", "zero_b", "zero_a"]),
        # A stationary operand has a stage.
        ("exp(a) * b", ["f32[*]"] * 2, ["unit"]),
        ("exp(a) * n", ["f32[*]", "f64[]"], ["unit", "zero_n"]),
        ("a * b / exp(a * b)", ["f32[*]"] * 2, ["unit", "zero_b", "zero_a"]),
        ("a * n / exp(a * n)", ["f32[*]", "f64[]"], ["unit", "zero_n"]),
    ],
)
def test_every_array_moves_in_the_first_and_cheap_ones_have_more(text, types, names):
    assert names_of(text, *types) == names


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("(f32[n,bcast] p, f32[n,m] a, f32[n,bcast] q, f32[m] w, f32[n,bcast] r) -> (a - p)*q + w*r", "zero_p_q_r"),
        ("(f64[*] a, f64[] n, f64[*] b, f64[*] c, f64[*] d, f64[*] e) -> a*n + b*c + d*e", "zero_n"),
        ("(f32[4,1] a, f32[4,64] b, f32[4,1] c) -> sqrt(sqrt(a / b) / c)", "zero_a_c"),
        ("(f32[8,100,1] a, f32[100,64] b) -> a - b", "zero_a"),
        # A mask of rows decides a selection.
        ("(bool[n,m] k, f32[n,m] a, f32[n,bcast] b, f32[n,m] c) -> where(k, a, b * c)", "zero_k"),
    ],
)
def test_what_types_show_comes_first(text, name):
    (found,) = from_text(text).compilation.schedules
    assert [variant.name for variant in found.inline.variants][:2] == ["unit", name]


def test_rows_that_the_run_time_joins_show_nothing():
    given = (folder("csrc") / "runtime" / "run_source.inc").read_text(encoding="utf-8")
    assert f"NARROW = {NARROW}," in given
    for extent, count in ((NARROW - 1, 1), (NARROW, 2)):
        kernel = from_text(f"(f32[?,{extent}] a, f32[?,1] b) -> sqrt(sqrt(sqrt(a / b) / a) / b)")
        (found,) = kernel.compilation.schedules
        assert len(found.inline.variants) == count


def test_six_operands_have_a_loop_for_either_half_though_a_root_is_dear():
    operands = ", ".join(f"f64[*] {name}" for name in "abcdef")
    (found,) = from_text(f"({operands}) -> sqrt((a-d)*(a-d) + (b-e)*(b-e) + (c-f)*(c-f))").compilation.schedules
    assert [variant.name for variant in found.inline.variants] == ["unit", "zero_a_b_c", "zero_d_e_f"]


def test_the_run_time_s_loops_take_no_odd_strides():
    for text, count in (("a + b", 2), ("a + b + c + d", 4), (" + ".join("abcdefgh"), 8)):
        variants = scheduled(text, *["f32[*]"] * count).inline.variants
        assert variants[0].operands == ("unit",) * count
        assert len(variants) == (3 if count == 2 else MAX_LIKELY)
        assert all(set(variant.operands) <= {"unit", "zero"} and variant.results == "unit" for variant in variants)
        assert all("unit" in variant.operands for variant in variants)


def test_how_many_are_made_can_be_said():
    assert names_of("a + b", "f32[*]", "f32[*]", count=0) == ["unit"]
    assert names_of("exp(a + b)", "f32[*]", "f32[*]", count=2) == ["unit", "zero_b", "zero_a"]


def test_a_hundred_operands_are_as_few():
    names = [f"x{at}" for at in range(100)]
    found = names_of(" + ".join(names[:12]), *["i8[*]"] * 12)
    assert found[0] == "unit" and len(found) == MAX_LIKELY
    assert "zero_x11" in found
    assert names_of(" + ".join(names), *["f32[*]"] * 100) == ["unit"]


def test_what_a_mask_has_no_bit_for_moves():
    text = " & ".join(f"x{at}" for at in range(66))
    assert "zero_x63" in names_of(text, *["u8[*]"] * 63, "u8[]", *["u8[*]"] * 2)
    assert names_of(text, *["u8[*]"] * 65, "u8[]") == ["unit"]


def test_a_staged_nest_says_so():
    text = str(scheduled("exp(a) * sin(b)", "f32[*]", "f32[*]"))
    assert "t0 from a, into t0_tile: " in text and "t1 from b, into t1_tile: " in text and "then from t0, t1: " in text
    assert "staged" not in str(scheduled("exp(a + b)", "f32[*]", "f32[*]"))


def test_of_six_operands_either_half_may_stand_still():
    found = scheduled("(a + b + c) * (d - e - f)", *["f32[*]"] * 6)
    assert {"zero_a_b_c", "zero_d_e_f"} <= {variant.name for variant in found.inline.variants}


def test_stages_stand_still_in_the_places_of_their_operands():
    found = scheduled("(a - b) * exp(c) * d + e", *["f32[*]"] * 5)
    assert "zero_b_t1_tile" in [variant.name for variant in found.staged.variants]


@pytest.mark.parametrize(
    ("text", "types", "expected"),
    [
        ("a + b", ["f32[*]"] * 2, True),
        ("a * b + c", ["f64[*]"] * 3, True),
        ("a < b", ["f32[*]"] * 2, False),
        ("where(a, b, c)", ["bool[*]", "f64[*]", "f64[*]"], False),
        ("where(a < b, b, c)", ["f64[*]"] * 3, False),
        ("maximum(a, b)", ["f64[*]"] * 2, True),
        ("maximum(a, b)", ["f32[*]"] * 2, True),
        ("minimum(maximum(a, b), c)", ["f32[*]"] * 3, False),
        ("a // 7", ["i32[*]"], False),
        ("a + b", ["u8[*]", "f32[*]"], False),
        ("a + b", ["f16[*]"] * 2, False),
        ("f32(a) * b", ["i32[*]", "f32[*]"], False),
        ("exp(a)", ["f32[*]"], False),
        ("sqrt(a)", ["f64[*]"], True),
        ("1 / sqrt(a * a + b)", ["f64[*]"] * 2, True),
        ("exp(a) / b", ["f32[*]"] * 2, False),
        ("a / b", ["c64[*]"] * 2, False),
    ],
)
def test_memory_or_the_divider_decides_where_ops_are_few_and_lanes_of_one_width(text, types, expected):
    kernel = from_text(f"({', '.join(f'{kind} {name}' for kind, name in zip(types, 'abc', strict=False))}) -> {text}")
    compilation = kernel.compilation
    assert compilation.schedules[0].light is expected
    assert compilation.source.light is expected
