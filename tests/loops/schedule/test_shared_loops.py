"""Which nests share loops, and what reductions give that needs memory."""

from __future__ import annotations

import pytest

import bcastgen as bg
from bcastgen.loops.schedule.shared_loops import shared_loops

SHARED = {
    "(f32[?, ?] x) -> x - mean(x, axis=1, keepdims=True)": "at each point of (d0) of nest 0: nests 0, 1",
    "(f32[?, ?] x) -> x - mean(x, axis=0)": "at each point of (d1) of nest 0: nests 0, 1",
    "(f32[?, ?] x) -> x / sum(x), sum(x, axis=1)": "once: nests 0, 2\nat each point of (d0) of nest 1: nests 1, 3",
    # The quotient has more rows where y has more than the one of x.
    "(f32[?, ?] x, f32[?, ?] y) -> y / sum(x, axis=1, keepdims=True)": "at each point of (d0) of nest 0: nests 0\n"
    "once: nests 1\nin memory: sum_of_x",
    "(f32[4, 5] x, f32[4, 5] y) -> y / sum(x, axis=1, keepdims=True)": "at each point of (d0) of nest 0: nests 0, 1",
    "(f32[?, ?] x) -> max(x - mean(x, axis=0), axis=1)": "at each point of (d1) of nest 0: nests 0\n"
    "at each point of (d0) of nest 1: nests 1, 2\nin memory: mean_of_x",
    # Read at two points.
    "(f32[?, ?] x) -> sum(x, axis=1)[:, None] - sum(x, axis=1)[None]": "at each point of (d0) of nest 0: nests 0\n"
    "once: nests 1\nin memory: sum_of_x",
}


@pytest.mark.parametrize("text", SHARED)
def test_loops_are_shared_where_extents_are_one(text):
    program = bg.from_text(text).declared_compilation.program
    assert shared_loops(program).describe(program) == SHARED[text]


def test_a_group_says_what_is_read_from_memory_and_which_extents_its_loops_need():
    program = bg.from_text(
        "(f32[?, ?] x, f32[?, ?] y) -> y / sum(x, axis=1, keepdims=True)"
    ).declared_compilation.program
    first, second = shared_loops(program).groups
    (given,) = (one.operand for one in program.reduced)
    assert (first.inside, second.inside) == ((), ((1, 0), (1, 1)))
    assert [member.from_memory for group in (first, second) for member in group.members] == [set(), {given}]
    (alone,) = shared_loops(bg.from_text("(f32[?, ?] x) -> x - max(x, axis=1)[:, None]").compilation.program).groups
    assert alone.inside == ((1, 1),) and not alone.is_empty


ASKED = {
    "(i32[?,?] x, i32[?,?] y) -> sum(x ** y, axis=1), x ** y": ((0, 2), [(), ()]),
    "(i32[?,?] x) -> x ** sum(x, axis=1, keepdims=True)": ((), [(), (1,)]),
    "(i32[?,?] x) -> x ** sum(x, axis=1, keepdims=True), x ** x": ((2,), [(), (1,), ()]),
    "(f32[?,?] x) -> sum(x, axis=1)": ((), [()]),
}


@pytest.mark.parametrize("text", ASKED)
def test_elements_are_looked_at_before_all_loops_or_once_what_the_condition_reads_is_there(text):
    made = shared_loops(bg.from_text(text).compilation.rewritten.program)
    assert (made.asks, [group.asks for group in made.groups]) == ASKED[text]
    late = [at for at, one in enumerate(bg.from_text(text).compilation.schedules) if one.asks_late]
    assert late == [at for group in made.groups for at in group.asks]
