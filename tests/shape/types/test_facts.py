"""Ranges and facts: against every small extent, one by one."""

from __future__ import annotations

import itertools

import pytest

from bcastgen.shape.types.facts import MAX_EXTENT, Facts, Range

SMALL = range(13)
RANGES = [
    made
    for low, high, step in itertools.product((0, 1, 2, 5), (0, 1, 3, 8, 12), (1, 2, 3))
    if (made := Range.of(low, high, step)) is not None
]


def members(range_: Range | None) -> set[int]:
    return set() if range_ is None else {extent for extent in SMALL if range_.has(extent)}


def test_of() -> None:
    for low, high, step in itertools.product(range(6), range(8), (1, 2, 3, 5)):
        wanted = {extent for extent in range(low, high + 1) if extent % step == 0}
        assert members(Range.of(low, high, step)) == wanted


def test_meet() -> None:
    for a, b in itertools.product(RANGES, repeat=2):
        assert members(a.meet(b)) == members(a) & members(b), (a, b)


def test_hull_has_both() -> None:
    for a, b in itertools.product(RANGES, repeat=2):
        assert members(a.hull(b)) >= members(a) | members(b)


def test_what_is_taken_from_an_end_is_gone_and_nothing_else() -> None:
    for a in RANGES:
        for extent in (a.low, a.high):
            assert members(a.without(extent)) == members(a) - {extent}
        for divisor in (1, 2, 3, 4):
            left = members(a.not_multiple(divisor))
            assert left >= {extent for extent in members(a) if extent % divisor}
            assert not left or all(extent % divisor for extent in (min(left), max(left)))


@pytest.mark.parametrize(
    ("range_", "text"),
    [(Range(), ""), (Range(2), ">=2"), (Range(0, 64), "<=64"), (Range(8, 64, 8), ">=8<=64%8"), (Range(4, 4), ">=4<=4")],
)
def test_prints(range_: Range, text: str) -> None:
    assert str(range_) == text


def told(facts: Facts | None) -> Facts:
    assert facts is not None
    return facts


def test_classes_share_what_is_known() -> None:
    facts = told(Facts().within("n", Range(2)))
    facts = told(facts.meet("n", ("a", 0)))
    facts = told(facts.within(("b", 1), Range(0, MAX_EXTENT - 7, 8)))
    facts = told(facts.meet(("b", 1), ("a", 0)))
    assert facts.range("n") == facts.range(("b", 1)) == Range(8, MAX_EXTENT - 7, 8)
    assert facts.same("n", ("b", 1)) and not facts.same("n", "m")
    assert not facts.can_be("n", 1) and facts.can_be("m", 1)
    assert str(facts) == "n = a.0 = b.1: >=8%8"


def test_two_nodes_of_one_extent_are_the_same() -> None:
    facts = told(told(Facts().equals("n", 4)).equals("m", 4))
    assert facts.same("n", "m") and facts.extent("n") == 4
    assert str(facts) == "n = 4; m = 4"
    assert facts.differ("n", "m") is None


def test_contradictions_are_none_and_leave_the_facts_as_they_were() -> None:
    facts = told(Facts().within("n", Range(2)))
    before = str(facts)
    assert facts.equals("n", 1) is None
    assert facts.within("n", Range(0, 1)) is None
    assert told(facts.within("m", Range(0, 1))).meet("n", "m") is None
    assert str(facts) == before


def test_what_differs() -> None:
    apart = told(Facts().differ("n", "m"))
    assert apart.meet("n", "m") is None
    assert told(apart.meet("m", "k")).meet("n", "k") is None
    assert told(apart.equals("n", 3)).equals("m", 3) is None
    assert told(told(apart.within("m", Range(3, 4))).equals("n", 3)).extent("m") == 4


def test_a_range_of_one_extent_stands_for_it() -> None:
    facts = told(Facts().differ("n", Range(1, 1)))
    assert facts.equals("n", 1) is None
    assert told(facts.within("n", Range(0, 1))).extent("n") == 0
    assert facts.within("n", Range(1, 1)) is None


def test_indivisible() -> None:
    odd = told(Facts().indivisible("n", 2))
    assert odd.within("n", Range(0, 8, 2)) is None
    assert told(odd.within("n", Range(2, 4))).extent("n") == 3
    assert odd.within("n", Range(4, 4)) is None


def test_what_is_known_already_changes_nothing() -> None:
    facts = told(told(Facts().within("n", Range(2))).meet("n", "m"))
    assert facts.meet("m", "n") is facts
    assert facts.within("m", Range(1)) is facts
    assert facts.differ("n", Range(1, 1)) is facts
