"""What an argument is taken for: kinds that look like others, and what a wrong one is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bcastgen.core.errors import BcastgenError
from bcastgen.core.options import check_name, check_switch, is_hashable, is_switch, names_of, whole


class Unwilling:
    def __index__(self) -> int:
        raise TypeError("none of yours")


@pytest.mark.parametrize(
    ("value", "number"),
    [(3, 3), (np.uint8(3), 3), (np.array(3), 3), (-(2**70), -(2**70))]
    + [(value, None) for value in (True, np.True_, 3.0, "3", None, int, Unwilling(), np.ones(1), [3])],
)
def test_whole(value: Any, number: int | None) -> None:
    found = whole(value)
    assert found == number and type(found) is type(number)


def test_switches_are_two_values() -> None:
    for value in (True, False, 1, 0, np.True_, np.False_):
        assert is_switch(value)
        check_switch("x", value)
    for value in (None, 2, -1, 1.0, "yes", np.ones(2), np.array(True), []):
        assert not is_switch(value)
        with pytest.raises(BcastgenError, match=r"^stretch=.* is no switch; use True or False$"):
            check_switch("stretch", value)


def test_names() -> None:
    check_name("é")
    with pytest.raises(BcastgenError, match=r"^name=3 is no name; give text$"):
        check_name(3)
    assert [names_of("static", given) for given in ("ab", ["a", "b"], ())] == [("ab",), ("a", "b"), ()]
    for given in (None, 3, [3], ["a", None], np.array(["a"]), object()):
        with pytest.raises(BcastgenError, match=r"^static=.* are no names; give a tuple of texts$"):
            names_of("static", given)


def test_hashes() -> None:
    assert is_hashable((1, "a", None)) and not is_hashable((1, [])) and not is_hashable(np.ones(1))
