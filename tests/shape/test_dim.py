"""Dims: what can be said of one, and what cannot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bcastgen.errors import BroadcastError
from bcastgen.shape.dim import DYNAMIC, MAX_EXTENT, Dim


def test_static() -> None:
    dim = Dim(4)
    assert (dim.extent, dim.symbol, dim.is_static, dim.is_one, str(dim)) == (4, None, True, False, "4")
    assert Dim.static(4) == dim


def test_symbol() -> None:
    dim = Dim("n")
    assert (dim.extent, dim.symbol, dim.is_static, dim.is_one, str(dim)) == (None, "n", False, False, "n")
    assert dim == Dim("n") != Dim("m")


def test_dynamic() -> None:
    assert (DYNAMIC.extent, DYNAMIC.symbol, DYNAMIC.is_static, str(DYNAMIC)) == (None, None, False, "?")
    assert Dim() == DYNAMIC


@pytest.mark.parametrize("extent", [0, 1, MAX_EXTENT])
def test_extents_at_the_edges(extent: int) -> None:
    assert Dim(extent).extent == extent
    assert Dim(extent).is_one == (extent == 1)


def test_numpy_integers_become_python_ones() -> None:
    value: Any = np.int64(4)
    assert Dim(value) == Dim(4)
    assert type(Dim(value).extent) is int


def test_hashes_by_value() -> None:
    assert len({Dim(4), Dim(4), Dim("n"), Dim("n"), Dim(), DYNAMIC}) == 3


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (-1, "extent -1, expected 0 or more; write Dim() for an unknown extent"),
        (MAX_EXTENT + 1, f"expected at most {MAX_EXTENT}"),
        (-(2**80), f"expected at most {MAX_EXTENT}"),
        ("4", "dim '4' is no extent and no name; write Dim(4), Dim('n') or Dim() for ?"),
        ("?", "Dim() for ?"),
        ("a b", "no name"),
        ("n]; system(", "no name"),
        ("", "no name"),
        (1.5, "dim 1.5 is no extent"),
        (True, "dim True is no extent"),
        ((4,), "no extent"),
    ],
)
def test_refuses(value: Any, message: str) -> None:
    with pytest.raises(BroadcastError) as caught:
        Dim(value)
    assert message in str(caught.value)


def test_is_frozen() -> None:
    dim: Any = Dim(4)
    with pytest.raises(AttributeError):
        dim.value = 5


def test_refuses_what_cannot_be_printed() -> None:
    with pytest.raises(BroadcastError, match="64 bits"):
        Dim(10**5000)
