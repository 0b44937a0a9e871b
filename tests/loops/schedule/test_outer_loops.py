"""The loops around inner ones: which dims join, which rows are written out, what goes in squares."""

from __future__ import annotations

import pytest

from bcastgen.api.functions import from_text
from bcastgen.loops.schedule.outer_loops import WALKS, OuterLoops
from bcastgen.loops.schedule.program_schedule import standalone_schedule

CASES = {
    # A dim joins if every array moves along both or along neither, in the same order.
    "(f32[?,?] a, f32[?,?] b) -> a + b": OuterLoops(joined=(0,)),
    "(f32[?,?,?] a, f32[] b) -> a + b": OuterLoops(joined=(1, 0)),
    "(f32[?,4,?] a, f32[?,1,?] b) -> a + b": OuterLoops(),
    "(f32[?,4,5] a, f32[4,5] b) -> a + b": OuterLoops(joined=(1,)),
    "(f32[?,1,?] a) -> -a": OuterLoops(joined=(0,)),
    "(f32[?,?] a, f32[?] b) -> a + b": OuterLoops(),
    "(f32[?] a) -> -a": OuterLoops(),
    # Short rows.
    "(u8[?,3] a, f32[3] b) -> a - b": OuterLoops(short=3, read_once=(1,)),
    "(u8[?,?,8] a, f32[8] b) -> a - b": OuterLoops(short=8, read_once=(1,)),
    "(u8[?,9] a, f32[9] b) -> a - b": OuterLoops(),
    "(f32[?,3] a, f32[3] b) -> exp(a) - tan(b)": OuterLoops(),
    "(f32[?,1] a, f32[?,1] b) -> a - b": OuterLoops(),
    # Squares.
    "(f32[n,m] a, f32[m,n] b) -> transpose(a) + b": OuterLoops(square=0),
    "(f32[?,n,m] a, f32[?,m,n] b) -> a.mT + b": OuterLoops(joined=(), square=1),
    "(f32[n,m] a) -> transpose(transpose(a))": OuterLoops(joined=(0,)),
}


def outer_of(text, **options):
    (made,) = standalone_schedule(from_text(text).compilation.rewritten.program, **options).nests
    return made.outer


@pytest.mark.parametrize("text", CASES)
def test_decisions(text):
    assert outer_of(text) == CASES[text]


def test_a_plain_nest_has_none():
    assert outer_of("(f32[?,?] a, f32[?,?] b) -> a + b", variants=0) == OuterLoops()


def test_threads_take_blocks_not_rows():
    assert outer_of("(u8[?,3] a, f32[3] b) -> a - b", openmp=True) == OuterLoops()


def test_decisions_are_told():
    text = {case: str(standalone_schedule(from_text(case).compilation.program).nests[0]) for case in CASES}
    assert "d1, then d0 joins d2 in calls where" in text["(f32[?,?,?] a, f32[] b) -> a + b"]
    assert (
        "one loop over d0 has the 3 points of d1 written out, and reads b once"
        in text["(u8[?,3] a, f32[3] b) -> a - b"]
    )
    transposed = text["(f32[n,m] a, f32[m,n] b) -> transpose(a) + b"]
    assert "squares of 32 by 32 points of d0 and d1, as an array is adjacent along d0" in transposed


WALKED = {
    ("(f32[?,?] a, f32[?,?] b) -> a + b", ()): ("rows", 0),
    ("(f32[?,?] a, f32[?,?] b) -> a + b", ("openmp",)): ("blocks", 4096),
    ("(f32[n,m] a, f32[m,n] b) -> transpose(a) + b", ("openmp",)): ("blocks", 32),
    ("(f32[?,?] a, f32[?,?] b) -> a + b", ("plain",)): ("plain", 0),
    ("(f32[?,?] x, f32[1,?] s) -> x * exp(s) + 1", ()): ("tiles", 4096),
    ("(f32[] a) -> a + 1", ()): ("plain", 0),
    ("(f32[*] a) -> a + 1", ()): ("planned", 0),
    ("(f32[*] a) -> a + 1", ("openmp",)): ("planned", 4096),
    ("(f32[4,4] a) -> a + 1", ("dense",)): ("plain", 0),
    ("(f32[4,0] a) -> a + 1", ("dense",)): ("none", 0),
}


@pytest.mark.parametrize(("text", "asked"), WALKED)
def test_points_are_walked_in_one_way_that_is_told(text, asked):
    options = {"variants": 0} if asked == ("plain",) else dict.fromkeys(asked, True)
    (made,) = standalone_schedule(from_text(text).compilation.rewritten.program, **options).nests
    assert (made.walk, made.block_points) == WALKED[text, asked]
    assert WALKS[made.walk] in str(made)
