"""`explain` prints every stage in order under a heading, and of the C the kernel's own functions."""

from __future__ import annotations

import re

import pytest

import bcastgen as bg
from bcastgen.pipeline.explanation import explain

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
        assert name == "c" or shown in said


@pytest.mark.parametrize("name", ["kernel", "f"])
@pytest.mark.parametrize("text", TEXTS)
def test_of_the_c_what_is_left_out_is_types_and_helpers(text, name):
    """Also where a helper has a parameter whose name begins as the kernel's does."""
    kernel = bg.from_text(text, name)
    shown = kernel.explain().partition("== c: ")[2].partition("\n")[2].partition("\n\n== ")[0]
    front = kernel.source.removesuffix(f"{shown}\n")
    assert f"{front}{shown}\n" == kernel.source
    assert shown.startswith("static ") and f"{name}_rows_unit(" in shown and "bcg_entry" in shown
    assert not re.search(r"^static (inline|BCG_INLINE) ", shown, re.MULTILINE)
    assert not re.search(rf"^static .*\b{name}_", front, re.MULTILINE)


def test_c_without_a_function_of_the_kernel_s_is_shown_whole():
    assert explain({"c": "int x;"}, "kernel") == "== c\nint x;"
