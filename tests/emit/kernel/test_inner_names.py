"""Inner loops have one name each, and the schedule, `explain` and both families of C say the same ones."""

from __future__ import annotations

import re

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.loops.schedule.program_schedule import standalone_schedule

# Operands whose names, joined, are those of others; of parts of generated names; of spellings of each other.
HOSTILE = {
    "joined": "(f32[*] a_b, f32[*] a, f32[*] b) -> a_b + a * b",
    "underscores": "(f32[*] a__b, f32[*] a_b, f32[*] b_2) -> a__b + a_b * b_2",
    "numbered": "(f32[*] a_b, f32[*] a, f32[*] b, f32[*] a_b_2) -> a_b + a * b - a_b_2",
    "variants": "(f32[*] unit, f32[*] zero, f32[*] any) -> unit + zero * any",
    "zeros": "(f32[*] a, f32[*] zero_a, f32[*] zero) -> a + zero_a * zero",
    "sides": "(bool[*] m, f32[*] holds_row, f32[*] fails_row) -> where(m, holds_row, fails_row)",
    "side": "(bool[*] m, f32[*] holds, f32[*] row) -> where(m, holds, row)",
    "rows": "(f32[*] rows_unit, f32[*] rows, f32[*] unit) -> rows_unit + rows * unit",
    "tiles": "(f32[*] t0_tile, f32[*] t0, f32[*] staged) -> exp(t0_tile) * t0 + exp(staged)",
    "stages": "(f32[*] stage_t0, f32[*] stage, f32[*] b) -> exp(stage_t0) * exp(stage) + b",
    "letters": "(f32[*] größe, f32[*] gru00f6u00dfe) -> größe + gru00f6u00dfe",
    "twice": "(f32[?,?] a, f32[?,?] a_again) -> a + transpose(a) * a_again",
}


def shown(text):
    """The names of variants in a schedule's text, in order."""
    return re.findall(r"^ *([\w']+): operands \(", text, re.MULTILINE)


def defined(source, prefix):
    """The static functions of a name that are inner loops, in order."""
    functions = re.findall(rf"^static void {prefix}_(\w+)\(", source, re.MULTILINE)
    assert len(functions) == len(set(functions)), "a function is defined twice"
    return functions


@pytest.mark.parametrize("name", HOSTILE)
def test_the_schedule_explain_and_the_c_say_the_same_names(name):
    compilation = bg.from_text(HOSTILE[name], name="k").compilation
    (scheduled,) = compilation.schedules
    inline = [variant.name for variant in scheduled.inline.variants]
    staged = [variant.name for variant in scheduled.staged.variants] if scheduled.staged is not None else []
    assert len(set(inline)) == len(inline) and len(set(staged)) == len(staged) and len(inline + staged) > 2
    assert all(re.fullmatch(r"unit|zero(_[a-z0-9]+)+", one) for one in inline + staged)
    assert shown(compilation.stages["schedule"]) == inline + staged

    functions = defined(str(compilation.source), "k")
    assert [one for one in functions if re.match(r"(unit|zero)", one)] == inline
    assert [one.removeprefix("staged_") for one in functions if re.match(r"staged_(unit|zero)", one)] == staged
    assert [one.removeprefix("rows_") for one in functions if re.match(r"rows_(unit|zero)", one)] == inline
    sides = [sides.variant.name for sides in scheduled.inline.sides]
    assert [one for one in functions if re.match(r"(holds|fails)_", one)] == [
        f"{outcome}_{variant}" for variant in sides for outcome in ("holds", "fails")
    ]


@pytest.mark.parametrize("name", HOSTILE)
def test_standalone_c_calls_each_variant_by_its_name(name, tmp_path):
    kernel = bg.from_text(HOSTILE[name], name="k")
    source = kernel.emit_c(tmp_path, "k")[0].read_text()
    functions = [one for one in defined(source, "k") if re.match(r"(unit|zero|any)", one)]
    (scheduled,) = standalone_schedule(kernel.compilation.rewritten.program).nests
    assert functions == [variant.name for variant in scheduled.inline.variants]
    assert all(source.count(f"k_{one}(") == 2 for one in functions), "a function that nothing calls, or calls twice"


@pytest.mark.parametrize("name", HOSTILE)
def test_values_do_not_depend_on_names(name):
    """Each variant runs on operands that fit it, since the run time picks it by their strides."""
    kernel = bg.from_text(HOSTILE[name])
    names = re.findall(r"\] (\w+)", HOSTILE[name])
    text = HOSTILE[name]
    for at, operand in enumerate(names):
        text = re.sub(rf"\b{operand}\b", f"x{at}", text)
    reference = bg.from_text(text)
    random = np.random.default_rng(len(name))
    for stationary in range(1 << len(names)):
        given = [
            random.uniform(0.1, 1, (40, 1) if stationary >> at & 1 else (40, 40)).astype("f4")
            for at in range(len(names))
        ]
        if "bool" in HOSTILE[name]:
            given[0] = given[0] > 0.5
        np.testing.assert_array_equal(kernel(*given), reference(*given))
