"""The table: what every row has to have."""

from __future__ import annotations

import pytest

from bcastgen.core.errors import BroadcastError
from bcastgen.shape.dialect.ops import ROWS, find_row


@pytest.mark.parametrize("row", ROWS.values(), ids=lambda row: row.name)
def test_rows_are_whole(row):
    assert row.name.startswith(("shape.", "arith.", "scf."))
    assert row.doc.endswith(".")
    assert row.c == f"bcg_{row.name.replace('.', '_')}"
    computes = not (row.region or row.terminator)
    assert (row.evaluate is not None) is computes
    assert (row.infer is not None) is computes
    assert row.effect or not row.constraint or row.syntax == "value"
    variadic = [parameter.variadic for parameter in row.parameters]
    assert True not in variadic[:-1]
    if row.name.startswith("shape.") and computes:
        assert row.example


def test_rows_are_found_by_every_name():
    for name in ("shape.join", "join", "meet", "shape.meet"):
        assert find_row(name).name == "shape.join"
    assert find_row("arith.select") is find_row("select")
    assert find_row("yield").name == "shape.yield"
    assert find_row("if_").name == "scf.if"


def test_names_in_python_are_unique():
    names = [row.python for row in ROWS.values() if not row.terminator]
    assert len(set(names)) == len(names)


def test_an_unknown_name_lists_the_ops():
    with pytest.raises(BroadcastError, match=r"'addd' is no op of the shape dialect; use one of shape\.add, "):
        find_row("addd")
