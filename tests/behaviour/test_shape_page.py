"""docs/shape-dialect.md is true: its examples run, and mlir-opt-22 takes its text and what its programs print."""

from __future__ import annotations

import doctest
import re
import textwrap
from pathlib import Path

import pytest

import bcastgen as bg
import mlir_tools

PAGE = Path(__file__).resolve().parents[2] / "docs" / "shape-dialect.md"


def programs():
    """The programs that the page's examples make, by their names in these."""
    (test,) = [doctest.DocTestParser().get_doctest(PAGE.read_text(), {}, PAGE.name, str(PAGE), 0)]
    doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test, clear_globs=False)
    return {name: value for name, value in test.globs.items() if isinstance(value, bg.shape.Program)}


def test_programs_of_the_page_read_back_and_are_written_in_c(tmp_path):
    found = programs()
    assert set(found) == {"program", "count", "stack", "padded", "tiled", "repeated", "joined", "bounded"}
    for made in found.values():
        assert str(bg.shape_from_mlir(str(made))) == str(made)
        assert str(bg.shape_from_mlir(str(made.fold()))) == str(made.fold())
        if "element_type" not in str(made):
            assert len(bg.emit_shape(made, tmp_path)) == 2


@pytest.mark.slow
@mlir_tools.needs_mlir
def test_llvm_takes_what_is_on_the_page():
    # Of LLVM's types none is an element type; the page says so.
    printed = [str(made) for made in programs().values() if "element_type" not in str(made)]
    written = re.findall(r'shape_from_mlir\("""\n(.*?)"""', PAGE.read_text(), re.DOTALL)
    assert written
    lines = [textwrap.dedent(text.replace("...", "   ")) for text in written]
    for text in (*printed, *lines):
        assert bg.shape_from_mlir(mlir_tools.checked_opt(text)).name in text
