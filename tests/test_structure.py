"""The house itself: tests mirror modules, rooms form floors, pages show them as they are, long files say why."""

from __future__ import annotations

import os
import re
import textwrap
from pathlib import Path

import pytest

import rooms

ROOT = Path(__file__).resolve().parents[1]
# Folders of tests that follow no module: what users see, goldens, tools, C, other people's projects.
FREE = {"behaviour", "cases", "support", "csrc", "c_project", "bench"}
LONGEST = 400


def mirrored() -> list[Path]:
    return [path for path in sorted((ROOT / "tests").rglob("test_*.py")) if path.parts[len(ROOT.parts) + 1] not in FREE]


@pytest.mark.parametrize("path", [p for p in mirrored() if p != Path(__file__)], ids=lambda path: path.name)
def test_a_test_file_is_named_after_a_module(path):
    """``tests/loops/test_nest.py``, or with what it is about behind: ``test_nest_users.py``."""
    room = ROOT / "bcastgen" / path.relative_to(ROOT / "tests").parent
    names = {module.stem for module in room.glob("*.py")} - {"__init__"}
    said = path.stem.removeprefix("test_")
    assert any(said == name or said.startswith(f"{name}_") for name in names), f"{room} has no module {said!r}"


def test_rooms_form_floors_and_the_page_shows_them():
    page = ROOT / "docs" / "architecture.md"
    text = page.read_text(encoding="utf-8")
    found = re.search(r"(<!-- rooms: [^\n]*-->\n```text\n)(.*?)(```\n<!-- end -->)", text, re.DOTALL)
    if os.environ.get("BCASTGEN_UPDATE_CASES"):
        page.write_text(text.replace(found[0], found[1] + rooms.table() + found[3]))
        return
    assert found[2] == rooms.table(), "run with BCASTGEN_UPDATE_CASES=1 to rewrite it"


def test_circles_are_found(monkeypatch):
    with pytest.raises(ValueError, match="circle"):
        rooms.floors({"a": {"b"}, "b": {"a"}, "c": set()})
    assert rooms.floors({"a": {"b"}, "b": set()}) == [["b"], ["a"]]


def test_every_module_is_in_a_room_that_says_what_it_is_for():
    known = rooms.modules()
    assert len(known) > 180
    for name, path in known.items():
        first = path.read_text(encoding="utf-8").partition("\n")[0]
        assert first.startswith('"""'), f"{name} does not say what it is"


def sources() -> list[Path]:
    folders = {
        "bcastgen": ("py",),
        "csrc": ("c", "h", "inc", "py"),
        "templates": ("j2",),
        "tests": ("py",),
        "bench": ("py",),
    }
    made = ("_ffi.py", "_templates.py")
    return [
        path
        for folder, suffixes in folders.items()
        for suffix in suffixes
        for path in sorted((ROOT / folder).rglob(f"*.{suffix}"))
        if path.name not in made
    ]


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_long_file_says_why(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    head = " ".join(lines[:40])
    assert len(lines) <= LONGEST or "long because" in head, (
        f"{len(lines)} lines: split it, or say at its top: The file is long because ..."
    )


def test_the_table_of_rooms_fits_the_page():
    assert max(map(len, textwrap.dedent(rooms.table()).splitlines())) <= 140
