"""The page as a file has assembly where there is a compiler; in a notebook it is a frame of its own."""

from __future__ import annotations

from html import unescape

import pytest

import bcastgen as bg

TEXT = "(f32[?, 4] a, f32[4] b) -> a * b + 1"


def test_the_page_shows_the_inner_loop_s_assembly():
    shown = bg.from_text(TEXT).explain(html=True)
    assert "instructions a turn" in shown or "The compiler left no loop" in shown
    assert shown.startswith("<!doctype html>")


def test_without_a_compiler_the_page_says_so(monkeypatch):
    monkeypatch.setenv("BCASTGEN_CC", "no-such-compiler")
    shown = bg.from_text(TEXT).explain(html=True)
    assert "There is none: no C compiler: BCASTGEN_CC names" in shown and "instructions a turn" not in shown


def test_a_notebook_shows_a_frame_that_its_style_does_not_reach(monkeypatch):
    monkeypatch.setenv("BCASTGEN_CC", "no-such-compiler")
    kernel = bg.from_text(TEXT)
    frame = kernel._repr_html_()
    start, _, rest = frame.partition(' srcdoc="')
    assert start.startswith('<iframe sandbox="allow-scripts" title="&lt;kernel')
    assert unescape(rest.partition('"')[0]).startswith("<!doctype html>")
    assert rest.count('"') == 1


def test_a_kernel_that_needs_types_first_is_shown_as_text():
    kernel = bg.jit(lambda a, b: a[:, None] * b)
    assert kernel._repr_html_() is None
    with pytest.raises(bg.BroadcastError):
        kernel.explain(html=True)
