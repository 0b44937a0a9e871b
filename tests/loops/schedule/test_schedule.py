"""Schedules hold every decision about inner loops, say it with its reason, and the C goes as they say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bcastgen import from_text
from bcastgen.emit.kernel.view import kernel_view
from bcastgen.emit.templating.render import render_kernel
from bcastgen.loops.nest import Load
from bcastgen.loops.schedule.program_schedule import ProgramSchedule, standalone_schedule
from bcastgen.loops.schedule.schedule import schedule
from bcastgen.loops.schedule.variants import ANY, UNIT, classes_of


def compiled(text, **options):
    return from_text(text, **options).compilation


def scheduled(text, **options):
    (found,) = compiled(text, **options).schedules
    return found


# Text, what the schedule says, and what only C of this decision has.
DECISIONS = {
    "variants": ("(f32[*] a, f32[*] b) -> a + b", "zero_b: operands (unit, zero), results unit", "_zero_b("),
    "stages": (
        "(f32[*] a, f32[*] b) -> exp(a) * sin(b)",
        "stages: in calls where that is less work than",
        "_staged_unit(",
    ),
    "function loops": (
        "(f64[*] x) -> tanh(exp(x))",
        "in blocks of 256 points, a loop for each function that waits for another one's value:",
        "t0_block[i - first] = t0;",
    ),
    "common case": ("(f32[*] x) -> log(x)", "common case: t0 = log(x) takes its short form", "most0"),
    "pairs": ("(f32[*] x) -> tanh(x)", "pairs: where every operand moves, points i and i + 32 are", "BCG_PAIRS &&"),
    "words": ("(u8[*] a) -> ((a.astype(u16) * 3) >> 2).astype(uint8)", "byte words in unit: 2 bytes", "bcg_word_16("),
    "widened": (
        "(u8[*] a) -> a.astype(f32) * 0.5",
        "widened reads in unit: a vector of a becomes",
        "bcg_widen_u8_",
    ),
    "f16": ("(f16[*] a, f32[*] b) -> f16(a + b)", "f16 of a, r: converted 256 at a time", "bcg_f16_block_to_f32("),
}


@pytest.mark.parametrize("name", DECISIONS)
def test_what_the_schedule_says_is_how_the_c_goes(name):
    text, said, c = DECISIONS[name]
    made = compiled(text)
    assert said in str(made.schedules[0])
    assert c in made.source.text
    plain = compiled("(f64[4, 4] x) -> x * x")
    assert said not in str(plain.schedules[0]) and c not in plain.source.text


@pytest.mark.parametrize("text", [text for text, *_ in DECISIONS.values()])
def test_standalone_c_has_variants_and_hoisted_stages_only(text):
    (found,) = standalone_schedule(compiled(text).rewritten.program).nests
    loops = (found.inline, *found.stages, *([found.staged] if found.staged else []))
    assert not any(loop.blocks or loop.words or loop.widened for loop in loops)
    assert not (found.run_time or found.f16_blocks or found.light)


def test_emit_takes_what_the_schedule_holds():
    """Without its decisions a schedule gives the plain loop: nothing is decided again on the way to C."""
    for text, _, c in DECISIONS.values():
        program = compiled(text).rewritten.program
        full = schedule(program.nests[0])
        inline = replace(full.inline, variants=full.inline.variants[:1], blocks=(), words=None, widened=None)
        plain = replace(full, inline=inline, stages=(), staged=None, f16_blocks=False)
        texts = [
            render_kernel(kernel_view("kernel", program, ProgramSchedule((one,)), "")).text.partition(
                "static void kernel_unit"
            )[2]
            for one in (full, plain)
        ]
        assert c in texts[0] and c not in texts[1], text


def test_byte_words_serve_the_variants_that_it_pays_in():
    blend = "((a.astype(u16) * w + b.astype(u16) * (255 - w.astype(u16))) >> 8).astype(uint8)"
    words = scheduled(f"(u8[*] a, u8[*] b, u8[*] w) -> {blend}").inline.words
    assert words is not None and words.bits == 16
    assert {variant.operands.count("zero") for variant in words.variants} == {0, 1}


def test_tests_that_are_alike_are_made_once():
    (block,) = scheduled("(f32[*] x, f32[*] y) -> log(x) * log2(x) + log(y)").inline.blocks
    assert block.common_case is not None
    assert sorted(block.common_case.short) == [0, 1, 3]
    assert [test.statement for test in block.common_case.tests] == [0, 3]


def test_fast_functions_have_a_common_case_of_their_own():
    text = "(f32[*] x) -> sinh(x)"
    assert scheduled(text).inline.blocks and not scheduled(text, math="fast").inline.blocks


def test_a_nest_that_only_checks_computes_nothing():
    program = compiled("(f32[?] a) -> a + 1").program
    (nest,) = program.nests
    checks = replace(nest, results=(), stores=(), body=())
    for found in (schedule(checks), *standalone_schedule(replace(program, nests=(checks,))).nests):
        assert str(found) == "schedule\n  nothing is computed"


@pytest.mark.parametrize(
    "text",
    [
        "(f64[1] a, f64[m] b, f64[n, m] c) -> exp(a*3 - b) + c",
        "(f64[m] b, f64[1] a, f64[2] c, f64[n, m] d) -> exp(a - b) * d + sin(b * c[:, None] * a)",
        "(f64[] a, f64[m] b, f64[k, n, m] c) -> exp(a*3 - b) + c",
        "(f64[bcast] a, f64[m] b, f64[n, bcast] c) -> log(a + b) + exp(a + c)",
        "(f64[*] a, f64[m] b) -> log(a + b)",
    ],
)
def test_what_types_know_to_be_stationary_moves_in_no_loop(text):
    for nest, found in zip(
        (program := compiled(text).rewritten.program).nests, standalone_schedule(program).nests, strict=True
    ):
        ranked = not nest.domain.open
        for loop in (found.inline, *found.stages, *([found.staged] if found.staged else [])):
            for variant in loop.variants:
                for read, kind in zip(loop.reads, variant.operands, strict=True):
                    possible = classes_of(nest.operands[read.access], ranked) if isinstance(read, Load) else (UNIT,)
                    assert kind in (*possible, ANY), f"{variant} of {loop.reads}"
