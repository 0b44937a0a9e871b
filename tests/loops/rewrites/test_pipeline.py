"""The rewrites in order: what each did is kept, shown and told, and what changed nothing says so."""

from __future__ import annotations

from bcastgen import from_text
from bcastgen.loops.rewrites.pipeline import REWRITES, rewrite

NAMES = [one.name for one in REWRITES]


def compiled(text):
    return from_text(text).compilation


def test_the_order():
    """Of those whose order counts: each works on what the ones before it leave."""
    ordered = ["strength_reduction", "integer_sums", "saturating_sums", "narrow", "drop_guards"]
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


def test_notes_name_the_values_of_the_nest_after():
    steps = rewrite(compiled("(u16[?] a) -> 3 + a % 4").program).steps
    (note,) = next(step for step in steps if step.rewrite.name == "strength_reduction").notes
    assert note == "t0 is bitwise_and(a, 3:u16) instead of remainder(a, 4:u16)"


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
