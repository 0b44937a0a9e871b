"""The rewrites in order: what each did is kept, shown and told, and what changed nothing says so."""

from __future__ import annotations

import re

import pytest

from bcastgen import from_text
from bcastgen.loops.rewrites.pipeline import REWRITES, rewrite

NAMES = [one.name for one in REWRITES]


def compiled(text):
    return from_text(text).compilation


def test_the_order():
    """Of those whose order counts: each works on what the ones before it leave."""
    ordered = ["strength_reduction", "integer_sums", "saturating_sums", "exact_floats", "narrow", "narrow_sums"]
    ordered.append("drop_guards")
    assert [name for name in NAMES if name in ordered] == ordered


def test_every_step_is_kept_with_the_program_after_it():
    program = compiled("(u8[?] a) -> (a.astype(i32) // 8).astype(uint8)").program
    rewritten = rewrite(program)
    changed = {step.rewrite.name: step for step in rewritten.steps if step.changed}
    assert list(changed) == ["strength_reduction", "narrow"]
    assert [step.rewrite.name for step in rewritten.steps] == NAMES
    first, narrow, last = *changed.values(), rewritten.steps[-1]
    assert [s.op.name for s in first.program.nests[0].body] == ["cast", "right_shift", "cast"]
    assert [s.op.name for s in narrow.program.nests[0].body] == ["right_shift"]
    assert last.program is rewritten.program is narrow.program
    assert all(bool(step.notes) == step.changed for step in rewritten.steps)


NOTED = {
    "strength_reduction": ("(u16[?] a) -> 3 + a % 4", "t0 is bitwise_and(a, 3:u16) instead of remainder(a, 4:u16)"),
    "integer_sums": ("(i8[?] x, i8[?] z) -> x.astype(f32) - z.astype(f32)", "t2 is subtract(x, z) in i32, which"),
    "saturating_sums": (
        "(i16[?] x, i16[?] y) -> clip(x.astype(i32) - y, -32768, 32767)",
        "t3 is saturating_subtract(x, y) of i16 instead of clip(t2, -32768:i32, 32767:i32)",
    ),
    "exact_floats": (
        "(u8[?] a) -> (a / 2).astype(uint8)",
        "t1 is in f32, not f64: it is a multiple of 0.5 up to 127.5",
    ),
    "narrow": ("(u8[?] a, u8[?] b) -> ((a.astype(i32) + b + 1) >> 1).astype(uint8)", "t3 is computed in i16, not i32"),
    "narrow_sums": ("(f32[?] x) -> sum(x > 1)", "nest 0: t1 is left to sum_of, which adds values of bool in i64"),
    "drop_guards": (
        "(f32[?] x) -> clip(x * 20, -128, 127).astype(int8)",
        "t2 is truncate(t0, -128.0:f32, 127.0:f32) instead of cast(t1, dtype=i8)",
    ),
}


@pytest.mark.parametrize("name", NAMES)
def test_notes_name_the_values_of_the_nest_before(name):
    assert name in NOTED, f"add to NOTED a program that {name} changes, and the beginning of its note"
    text, noted = NOTED[name]
    steps = rewrite(compiled(text).program).steps
    before = {step.rewrite.name: steps[at - 1].program for at, step in enumerate(steps) if at}
    step = next(step for step in steps if step.rewrite.name == name)
    assert any(note.startswith(noted) for note in step.notes), step.notes
    body = before.get(name, compiled(text).program).nests[0].body
    numbers = [int(number) for note in step.notes for number in re.findall(r"\bt(\d+)", note)]
    assert numbers and max(numbers) < len(body)


def test_notes_say_which_of_several_nests_they_are_of():
    text = "(u16[?] a, u16[?] b) -> (a + 1, b % 4)"
    assert [note for step in rewrite(compiled(text).program).steps for note in step.notes] == [
        "nest 1: t0 is bitwise_and(b, 3:u16) instead of remainder(b, 4:u16)"
    ]


def test_each_rewrite_that_changed_something_is_a_stage():
    stages = compiled("(f32[?] x) -> clip(x * 20, -128, 127).astype(int8)").stages
    assert [name for name in stages if name in NAMES] == ["drop_guards"]
    others = [name for name in NAMES if name != "drop_guards"]
    assert stages["other_rewrites"] == f"{', '.join(others)} (unchanged)"
    assert "truncate(t0, -128.0:f32, 127.0:f32)" in stages["drop_guards"]
    names = list(stages)
    assert names.index("shape") < names.index("drop_guards") < names.index("schedule")


def test_an_expression_that_no_rewrite_changes():
    stages = compiled("(f32[?] x) -> x + 1").stages
    assert not set(stages) & set(NAMES)
    assert stages["other_rewrites"] == f"{', '.join(NAMES)} (unchanged)"
