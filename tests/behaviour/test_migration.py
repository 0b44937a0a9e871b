"""docs/migration.md: its examples run, and both sides of each row of its tables have the same values."""

import math
import re
from pathlib import Path

import numpy as np
import pytest

import bcastgen as bg

PAGE = Path(__file__).resolve().parents[2] / "docs" / "migration.md"
TEXT = PAGE.read_text(encoding="utf-8")
PEERS = {"ne": "numexpr", "nb": "numba", "jax": "jax", "jnp": "jax.numpy", "torch": "torch"}
# JAX computes with f32 unless it is told otherwise.
BOUNDS = {"jax": 1e-5, "jnp": 1e-5}


def rows():
    """The rows whose sides are two expressions."""
    found = re.findall(r"^\| `((?:\(|np|ne|nb|jax|jnp|torch|a\b|c\b).*?)` \| `(bg\..*?)` \|$", TEXT, re.MULTILINE)
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
    assert [sum(left.startswith(peer) for left, _ in rows()) for peer in ("ne.", "nb.", "jax.", "jnp.", "torch.")] == [
        8,
        5,
        3,
        2,
        6,
    ]
    assert len(rows()) == 40


@pytest.mark.parametrize(("theirs", "ours"), rows())
def test_both_sides_have_the_same_values(theirs, ours):
    space, peer = names(), theirs.partition(".")[0]
    for name in {"jax": ("jax", "jnp"), "torch": ("torch",)}.get(peer, (peer,)):
        if name in PEERS:
            space[name] = pytest.importorskip(
                PEERS[name], reason=f"{PEERS[name]} is not installed (pip install -e .[bench,arrays])"
            )
    if peer == "torch":
        space["t"] = space["torch"].from_numpy(space["a"])
    for mine, wanted in zip(values(ours, space), values(theirs, space), strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=BOUNDS.get(peer, 1e-14))
        if peer not in PEERS:
            assert mine.dtype == wanted.dtype


def test_the_peers_are_the_ones_of_the_benchmark():
    project = (PAGE.parents[1] / "pyproject.toml").read_text(encoding="utf-8")
    assert all(re.search(rf'"{name.partition(".")[0]}[>=]=', project) for name in PEERS.values())
