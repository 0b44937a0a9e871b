"""Equations of computed extents: a certain contradiction is found, whichever way round it is said."""

from __future__ import annotations

import pytest

from bcastgen.shape.inference.equations import Equation, solvable
from bcastgen.shape.types.computed import expression
from bcastgen.shape.types.facts import Facts, Range


def equations(**texts):
    """Equations of nodes that are called as their names are."""
    return [Equation(node, expression(text), {name: name for name in "nmk"}) for node, text in texts.items()]


@pytest.mark.parametrize(
    ("ranges", "same", "texts"),
    [
        ({}, "na", {"a": "n + 1"}),
        ({"n": (3, 3), "m": (3, 3), "a": (7, 7)}, "", {"a": "n + m"}),
        ({"n": (2, 9)}, "na", {"a": "2*n"}),
        ({"a": (3, 3)}, "", {"a": "2*n"}),
        ({}, "ma", {"a": "n + 1", "n": "m + 2"}),
        # What follows from the second equation contradicts the first.
        ({"a": (2, 9), "b": (1, 1)}, "", {"a": "2*n", "b": "n + 1"}),
        ({"a": (0, 0)}, "", {"a": "m*n + 1"}),
    ],
)
def test_certain_contradictions(ranges, same, texts):
    facts = Facts()
    for node, ends in ranges.items():
        facts = facts.within(node, Range(*ends))
    facts = facts.meet(*same) if same else facts
    assert not solvable(facts, equations(**texts))


def test_what_has_a_solution_is_kept():
    facts = Facts().meet("a", "m").within("n", Range(2, 9))
    assert solvable(facts, equations(a="2*n", b="n*m", k="m // 2"))
    assert solvable(Facts().within("a", Range(7, 7)), equations(a="n + m"))
