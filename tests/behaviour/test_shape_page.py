"""docs/shape-dialect.md is true: its examples run, and mlir-opt-22 takes what it shows; so is a table of shapes.md."""

from __future__ import annotations

import doctest
import itertools
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


WORDS = {
    "both 4": lambda x, y: x == y == 4,
    "4 and 1": lambda x, y: (x, y) == (4, 1),
    "none": lambda x, y: False,
    "the second 4 or 1": lambda x, y: x == 4 and y in (4, 1),
    "the second 4": lambda x, y: x == y == 4,
    "any": lambda x, y: True,
    "equal, or one is 1": lambda x, y: x == y or 1 in (x, y),
    "equal": lambda x, y: x == y,
    "0 and 1": lambda x, y: (x, y) == (0, 1),
    "the second 0 or 1": lambda x, y: y in (0, 1),
    "the second 0": lambda x, y: y == 0,
}
MEETS = re.findall(
    r"^\| `(\w|\?)`, `(\w|\?)` \| `?(.*?)`? \| (.*?) \| (.*?) \|$",
    (PAGE.parent / "shapes.md").read_text(),
    re.MULTILINE,
)


def test_the_page_of_shapes_has_a_row_for_each_pair():
    assert len(MEETS) == 11


@pytest.mark.parametrize(("first", "second", "result", "usual", "strict"), MEETS)
def test_two_dims_meet_as_the_page_of_shapes_says(first, second, result, usual, strict):
    types = f"f32[{first}]", f"f32[{second}]"
    if result == "none":
        with pytest.raises(bg.BroadcastError):
            bg.infer_broadcast(*types)
    else:
        assert str(bg.infer_broadcast(*types)) == f"f32[{result}]"
    for dynamic, words in (("numpy", usual), ("strict", strict)):
        try:
            kernel = bg.from_text("({} x, {} y) -> x + y".format(*types), dynamic=dynamic)
            shape = kernel.result_shape
        except bg.BroadcastError:
            assert words == "none"
            continue
        extents = [(int(dim),) if dim.isdigit() else (0, 1, 3, 4) for dim in (first, second)]
        for x, y in itertools.product(*extents):
            if WORDS[words](x, y):
                assert shape((x,), (y,)) == (max(x, y) if 0 not in (x, y) else 0,)
            else:
                with pytest.raises(bg.BroadcastError):
                    shape((x,), (y,))


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
