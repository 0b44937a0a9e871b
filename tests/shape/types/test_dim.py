"""Dims: what can be said of one, and what cannot."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bcastgen.core.errors import BroadcastError
from bcastgen.shape.types.dim import DYNAMIC, MAX_EXTENT, Dim


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


def test_facts_have_one_form() -> None:
    assert Dim("n", min=0, multiple_of=1, max=MAX_EXTENT) == Dim("n")
    assert Dim("n", min=5, max=30, multiple_of=8) == Dim("n", min=8, max=24, multiple_of=8)
    assert Dim(min=4, max=4) == Dim(4)
    assert Dim(max=0) == Dim(0)
    assert Dim(8, min=2, multiple_of=4) == Dim(8)
    minimum: Any = np.int64(2)
    assert type(Dim("n", min=minimum).min) is int


def test_flags_have_one_form() -> None:
    assert Dim(broadcast=True) == Dim(1, broadcast=True) != Dim(1)
    assert Dim(4, broadcast=False) == Dim(4, trusted=True) == Dim(4)
    assert Dim(1, trusted=True) == Dim(1, broadcast=False) != Dim(1)
    assert Dim("n", broadcast=False, trusted=True) == Dim("n", trusted=True)


def test_what_is_known() -> None:
    dim = Dim("n", min=2, multiple_of=8)
    assert (dim.symbol, dim.extent, dim.can_be_one, dim.is_plain, str(dim.erased)) == ("n", None, False, False, "n")
    assert dim.range.has(16) and not dim.range.has(12) and not dim.range.has(0)
    assert Dim().can_be_one and Dim().is_plain and Dim(1).can_be_one and not Dim(2).can_be_one


def test_a_one_that_never_stretches_is_no_one() -> None:
    assert Dim(1).is_one and Dim(broadcast=True).is_one and not Dim(1, broadcast=False).is_one


def test_facts_print() -> None:
    assert str(Dim("n", min=2, max=64, multiple_of=8, broadcast=False)) == "n>=8<=64%8!"
    assert str(Dim("n", trusted=True)) == "n trusted"
    assert [str(Dim(broadcast=flag)) for flag in (True, False, None)] == ["bcast", "?!", "?"]


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"min": 4, "max": 2}, "dim ? has no extent from min 4 to max 2; widen one of them"),
        ({"value": "n", "multiple_of": 0}, "dim n has multiple_of 0, expected 1 or more"),
        ({"min": -1}, "dim has min -1, expected 0 or more"),
        ({"max": MAX_EXTENT + 1}, f"dim has max that 64 bits do not hold, expected at most {MAX_EXTENT}"),
        ({"min": 1.5}, "dim has min 1.5, expected an integer"),
        ({"min": True}, "dim has min True, expected an integer"),
        ({"value": 4, "min": 5}, "dim has extent 4, which its own facts (>=5) exclude"),
        ({"value": 4, "broadcast": True}, "dim has extent 4, expected 1 in a broadcast dim"),
        ({"value": "n", "broadcast": True}, "dim n is a broadcast dim, which has the extent 1"),
        ({"broadcast": True, "trusted": True}, "is a broadcast dim"),
        ({"broadcast": True, "min": 2}, "its own facts (>=2) exclude"),
        ({"broadcast": "yes"}, "flags that are no booleans"),
        ({"value": "bcast"}, "write Dim(broadcast=True), or another name"),
    ],
)
def test_refuses_facts(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(BroadcastError) as caught:
        Dim(**fields)
    assert message in str(caught.value)


def test_a_dim_may_stretch_where_the_kernel_is_strict():
    dim = Dim("n", stretches=True)
    assert str(dim) == "n~"
    assert not dim.is_plain
    assert Dim("n", stretches=True).erased == Dim("n")
    for flags in ({"broadcast": False}, {"trusted": True}):
        with pytest.raises(BroadcastError, match="stretches and does not"):
            Dim("n", stretches=True, **flags)
    with pytest.raises(BroadcastError, match="no booleans"):
        Dim("n", stretches="yes")
    assert Dim(4, stretches=True) == Dim(4)
