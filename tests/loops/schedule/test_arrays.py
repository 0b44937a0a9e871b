"""Which results may be operands themselves, and which rows loops take to be aligned."""

from __future__ import annotations

import pytest

import bcastgen as bg
from bcastgen.loops.schedule.program_schedule import standalone_schedule

IN_PLACE = {
    "(f32[?,?] a, f32[?,?] b) -> a + b": [((0, 1),)],
    "(f32[?,?] a, f32[?] b, f64[?,?] c) -> f32(a + b + c)": [((0,),)],
    "(f32[?,1] a, f32[?,?] b) -> a + b": [((1,),)],
    "(f32[*] a, f32[*] b) -> a + b": [((0, 1),)],
    # A byte holds a bool, too.
    "(u8[?] a) -> a > 1": [((0,),)],
    "(f32[n,n] a, f32[n,n] b) -> transpose(a) + a + b": [((1,),)],
    # Read after the first nest has written.
    "(f32[4] a, f32[3,4] b) -> a + 1, a * b": [((),), ((1,),)],
    "(f32[?,?] x) -> x - mean(x, axis=1, keepdims=True)": [((),), ((0,),)],
    "(f32[?,?] x) -> x - mean(x, axis=1, keepdims=True), sum(x, axis=0)": [((),), ((),), ((),), ((),)],
}


def nests_of(text, **options):
    return standalone_schedule(bg.from_text(text).compilation.rewritten.program, **options).nests


@pytest.mark.parametrize("text", IN_PLACE)
def test_a_result_may_be_what_is_read_at_its_own_points_and_not_later(text):
    assert [nest.in_place for nest in nests_of(text)] == IN_PLACE[text]


def test_results_over_dense_arrays_are_restrict_where_none_may_be_an_operand():
    made = {
        text: standalone_schedule(bg.from_text(text).compilation.program, dense=True)
        for text in ("(f32[4] a) -> a + 1", "(f32[4] a) -> a[:, None] + 1")
    }
    assert [one.restrict for one in made.values()] == [False, True]
    assert [one.nests[0].inline.variants[0].hinted for one in made.values()] == [True, False]
    assert ["`restrict`" in str(one) for one in made.values()] == [False, True]


ALIGNED = {
    # All but a constant, what is read through two maps, and what does not move along the last dim.
    "(f32[?,?] a, f32[?,1] b) -> a + b": (0, 2),
    "(f32[n,n] a, f32[n,n] b) -> transpose(a) + a + b": (2, 3),
    "(f32[] a, f32[?] b) -> a + b": (1, 2),
}


@pytest.mark.parametrize("text", ALIGNED)
def test_rows_are_aligned_that_callers_can_align(text):
    (made,) = nests_of(text, alignment=32)
    assert made.aligned == ALIGNED[text]
    assert "aligned to 32 bytes, as callers promise: rows of" in str(made)


def test_loops_rely_on_the_alignment_of_rows_that_they_begin_at():
    (made,) = nests_of("(f32[?,?] a, f32[?,?] b) -> a + b", alignment=64)
    assert {one.name: one.aligned for one in made.inline.variants} == {
        "unit": (0, 1, 2),
        "zero_b": (0, 2),
        "zero_a": (1, 2),
        "any": (),
    }
    # Squares begin at multiples of 32 bytes.
    (made,) = nests_of("(u8[n,m] a, u8[m,n] b, u8[m,n] c) -> transpose(a) + b + c", alignment=64)
    assert not any(one.aligned for one in made.inline.variants)
