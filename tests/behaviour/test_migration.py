"""docs/migration.md: its examples run, and both sides of each row of its tables have the same values."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

import bcastgen as bg

PAGE = Path(__file__).resolve().parents[2] / "docs" / "migration.md"
TEXT = PAGE.read_text(encoding="utf-8")
PEERS = {"ne": "numexpr", "nb": "numba"}


def rows():
    """The rows whose sides are two expressions."""
    found = re.findall(r"^\| `((?:\(|np|ne|nb|a\b|c\b).*?)` \| `(bg\..*?)` \|$", TEXT, re.MULTILINE)
    return [pair for pair in found if "x[" not in pair[0]]


def names():
    return {
        **{"np": np, "bg": bg, "math": math, "out": np.empty((3, 4))},
        **{"a": np.linspace(0.5, 2.0, 4), "b": np.array([[1.0], [-2.0], [3.0]]), "c": np.arange(12.0).reshape(3, 4)},
        **{"i": np.array([7, -8, 9, 10]), "j": np.array([2, 3, -4, 5])},
    }


def values(text, space):
    # Texts look their names up where they are evaluated.
    found = eval(text, space)
    return found if isinstance(found, tuple) else (found,)


def test_there_are_rows_of_each():
    assert [sum(left.startswith(peer) for left, _ in rows()) for peer in ("ne.", "nb.")] == [8, 5]
    assert len(rows()) == 29


@pytest.mark.parametrize(("theirs", "ours"), rows())
def test_both_sides_have_the_same_values(theirs, ours):
    space = names()
    got = values(ours, space)
    peer = theirs.partition(".")[0]
    if peer in PEERS:
        space[peer] = pytest.importorskip(
            PEERS[peer], reason=f"{PEERS[peer]} is not installed (pip install -e .[bench])"
        )
    for mine, wanted in zip(got, values(theirs, space), strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-14)
        if peer not in PEERS:
            assert mine.dtype == wanted.dtype


def test_the_peers_are_the_ones_of_the_benchmark():
    project = (PAGE.parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    assert all(f'"{name}>=' in project for name in PEERS.values())
