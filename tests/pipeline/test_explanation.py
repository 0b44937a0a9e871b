"""`explain` prints every stage in order under a heading, and of the C the kernel's own functions."""

from __future__ import annotations

import re

import pytest

import bcastgen as bg
from bcastgen.pipeline.explanation import explain, own_c, without_variants

TEXTS = [
    "(f32[?, 4] x) -> clip(x*20, -128, 127).astype(int8)",
    "(i32[?, ?] a, i32[?] b) -> (a//8 + b) * exp(a)",
    "(i32[?] a, i32[?] b) -> a**b",
    "(f16[?] a) -> a + 1",
]


@pytest.mark.parametrize("text", TEXTS)
def test_every_stage_is_under_a_heading_that_says_what_it_is(text):
    kernel = bg.from_text(text)
    said = kernel.explain()
    headings = re.findall(r"^== (\w+)(: .+)?$", said, re.MULTILINE)
    assert [name for name, _ in headings] == list(kernel.stages)
    for name, meaning in headings:
        shown = kernel.stages[name]
        # A rewrite's text begins with its reason.
        assert meaning or re.match(r"[A-Z][^\n]+\.\n", shown), name
        # The numbers of macros stand behind them.
        assert name == "c" or shown in re.sub(r"(\bBCG_[A-Z0-9_]+) \([^)]*\)", r"\1", said)


@pytest.mark.parametrize("name", ["kernel", "f"])
@pytest.mark.parametrize("text", TEXTS)
def test_of_the_c_what_is_left_out_is_types_and_helpers(text, name):
    """Also where a helper has a parameter whose name begins as the kernel's does."""
    kernel = bg.from_text(text, name)
    front, own = own_c(kernel.source, name)
    shown = kernel.explain().partition("== c: ")[2].partition("\n")[2].partition("\n\n== ")[0]
    assert shown == without_variants(own).rstrip()
    front = kernel.source.removesuffix(own)
    assert own.startswith("static ") and f"{name}_rows_unit(" in shown and "bcg_entry" in shown
    assert not re.search(r"^static (inline|BCG_INLINE) ", shown, re.MULTILINE)
    assert not re.search(rf"^static .*\b{name}_", front, re.MULTILINE)


@pytest.mark.parametrize("text", [*TEXTS, "(f32[?] a, f32[?] b, bool[?] m) -> where(m, a*b, b + 1)", "exp(a) * sin(b)"])
def test_variants_are_counted_by_what_they_read_once(text):
    """A function that is shown stands in the source as it is; one that is not has the statements of the one named."""
    _, own = own_c(bg.from_text(text).source, "kernel")
    shown = without_variants(own)
    names = re.findall(r"^static void (\w+)\(", own, re.MULTILINE)
    body = {name: own[own.index(f"static void {name}(") :].partition("\n}\n")[0] for name in names}
    left_out = {name for name in names if f"static void {name}(" not in shown}
    assert all(f"{body[name]}\n}}\n" in shown for name in body.keys() - left_out)
    said = re.findall(
        r"^/\* (\d+) more like (\w+), with one element for all points of: ([^*]*) \*/", shown, re.MULTILINE
    )
    loops = {name for name in left_out if "_rows_" not in name}
    assert sum(int(count) for count, _, _ in said) == len(loops)
    for count, model, listed in said:
        once = [one.replace(" and ", "_") for one in " ".join(listed.split()).split("; ")]
        alike = [name for name in loops if statements(body[name]) == statements(body[model])]
        assert len(once) == int(count) <= len(alike)
        for reads in once:
            assert any(name.endswith(f"_zero_{reads}") for name in alike)


def statements(body):
    """What is computed and stored; loads, of tiles too, stand elsewhere where they are of one element."""
    lines = (line.strip() for line in body.splitlines())
    return sorted(line for line in lines if re.match(r"const \w+ t\d+ = (?!\*?\w+_tile\b)|\w+\[i\] = ", line))


def test_limits_that_a_schedule_names_are_told():
    said = bg.from_text("(f32[?] a, f32[?] b) -> exp(a) % b").explain()
    schedule = said.partition("\n== schedule: ")[2].partition("\n\n== ")[0]
    for named in ("BCG_EXP_COMMON_F32 (87.0f)", "BCG_NEAR_QUOTIENT_F32 (0x1p22f or, without FMA, 0.0f)"):
        assert schedule.count(named) == 1 and schedule.index(named) == schedule.index(named.split()[0])


def test_c_without_a_function_of_the_kernel_s_is_shown_whole():
    assert explain({"c": "int x;"}, "kernel") == "== c\nint x;"
