"""Schedules of programs: what the forms of standalone C and nests that share work add to each nest's loops."""

from __future__ import annotations

import re

import pytest

import bcastgen as bg
from bcastgen.loops.schedule.program_schedule import standalone_schedule

TOP = "exp(x - max(x, axis=1, keepdims=True))"
SOFTMAX = f"(f32[?,?] x) -> {TOP} / sum({TOP}, axis=1, keepdims=True)"


def program_of(text):
    return bg.from_text(text).compilation.rewritten.program


def lines(text, **form):
    return [line.strip() for line in str(standalone_schedule(program_of(text), **form)).splitlines()]


THREADS = {
    "(f32[?,?] a) -> a + 1": "blocks of 4096 points of d1, in all 2 loops, in calls of more than 131072 points",
    "(f32[3,?] a) -> a + 1": "blocks of 4096 points of d1, in all 2 loops, in calls of more than 131072 points",
    "(f32[600,400] a) -> a + 1": "blocks of 4096 points of d1, in all 2 loops, since there are more than 131072 points",
    "(f64[?] a) -> tan(a) * exp(a)": "blocks of 4096 points of d0, in calls of more than 16384 points",
    "(f32[*] a) -> a + 1": "blocks of 4096 points of d0, in calls of more than 131072 points",
    "(f32[?,?] x, f32[1,?] s) -> x * exp(s) + 1": "the loop over d0, in calls of more than 65536 points",
    "(f32[?,?] x) -> sum(x, axis=1)": "the loop over d0, in calls of more than 131072 points",
    "(f32[100,100] a) -> a + 1": "",
    "(f32[0,?] a) -> a + 1": "",
    "(f32[] a) -> a + 1": "",
    "(f32[3,?] x, f32[1,?] s) -> x * exp(s) + 1": "",
    "(f32[?] x) -> sum(x)": "",
}


@pytest.mark.parametrize("text", THREADS)
def test_threads_share_loops_that_are_long_enough(text):
    said = [line for line in lines(text, openmp=True) if line.startswith("threads")]
    assert said == ([f"threads share {THREADS[text]}"] if THREADS[text] else [])
    assert "threads" not in "".join(lines(text))


def test_nests_that_store_outside_of_shared_loops_have_threads_of_their_own():
    made = standalone_schedule(program_of("(f32[?,?] x) -> x - max(x)"), openmp=True)
    assert [nest.threads is not None for nest in made.nests] == [False, True]


def test_pragmas_are_those_of_the_schedule(tmp_path):
    for at, text in enumerate(THREADS):
        source = bg.from_text(text).emit_c(tmp_path / str(at), "k", openmp=True)[0].read_text()
        (made,) = (one.threads for one in standalone_schedule(program_of(text), openmp=True).nests[:1])
        found = re.findall(r"#pragma omp parallel for(?: collapse\(2\))?(?: if \(.* > (\d+)\))?", source)
        assert found == ([str(made.points) if made.asks else ""] if made is not None else []), text


LANES = {
    ("(f32[?] a, f64[?] b) -> a + b", False): {"unit": 4, "zero_b": 4, "zero_a": 4, "any": 0},
    ("(f16[?] a, f16[?] b) -> a + b", False): {"unit": 8, "zero_b": 8, "zero_a": 8, "any": 0},
    ("(u8[4] a, u8[4] b) -> a + b", True): {"dense": 32},
    ("(f32[?,?] x, f32[1,?] s) -> x * exp(s) + 1", False): {"any": 0, "unit": 8, "zero_x": 8},
}


@pytest.mark.parametrize(("text", "dense"), LANES)
def test_loops_over_adjacent_elements_say_how_many_values_a_vector_holds(text, dense):
    (made,) = standalone_schedule(program_of(text), dense=dense, vector_bytes=32).nests
    loops = (made.inline, *made.stages, *((made.staged,) if made.staged else ()))
    assert {variant.name: variant.lanes for loop in loops for variant in loop.variants} == LANES[text, dense]


def test_hints_are_those_of_the_schedule(tmp_path):
    """Stages, too, have loops over adjacent elements."""
    text = "(f32[?,?] x, f32[1,?] s) -> x * exp(s) + 1"
    source = bg.from_text(text).emit_c(tmp_path, "k", target="x86-64-v3")[0].read_text()
    hinted = re.findall(r"static void k_(\w+)\([^{]*\{(?:(?!\n\}).)*?K_VECTORS\((\d+)\)", source, re.DOTALL)
    assert [name for name, _ in hinted] == ["stage_t0_unit", "staged_unit", "staged_zero_x"]
    assert {count for _, count in hinted} == {"8"}


def test_stages_are_computed_for_as_many_points_as_a_tile_holds():
    (made,) = standalone_schedule(program_of("(f64[?,?] x, f64[1,?] s) -> x * exp(s) + sin(s)")).nests
    assert made.block_points == 1024 and "for 1024 points of it at a time:" in str(made)


def test_a_form_whose_loops_are_written_out_has_one_variant():
    assert lines("(f32[3,1] a, f32[1,4] b) -> a * b", dense=True) == [
        "schedule",
        "dense: operands (zero, unit), results unit",
        "plain: one loop in another, with the computation of a point in the innermost",
        "no result may be an operand itself, so results are `restrict`",
    ]
    assert lines("(f32[3,1] a, f32[1,4] b) -> a * b", dense=True, variants=0)[1] == (
        "any: operands (any, any), results any"
    )
    assert lines("(f32[?,?] x) -> sum(x, axis=1)")[-1] == "at each point of (d0) of nest 0: nests 0, 1"


def test_the_run_time_says_what_a_pass_saves():
    made = bg.from_text(SOFTMAX).compilation.schedule
    rows = [(one.shared_pass.rows, one.shared_pass.count) for one in made.nests]
    assert rows == [((0,), 3), ((0,), 0), ((0,), 0)]
    assert [one.shared_pass.saved is not None for one in made.nests] == [False, False, True]
    assert "saved: the pass that nests share keeps" in str(made.nests[-1])
    assert "nests 0 to 2 share a pass over the rows (d0)" in str(made).splitlines()[-2]
    source = str(bg.from_text(SOFTMAX).compilation.source)
    assert source.count(".saved = ") == 1 and source.count(".shared = 3") == 1
