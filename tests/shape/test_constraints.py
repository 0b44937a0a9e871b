"""Constraints: what each prints, and when it holds."""

from __future__ import annotations

import pytest

from bcastgen.shape.constraints import (
    AtLeast,
    AtMost,
    Constraint,
    Equals,
    EqualsAll,
    ExtentIs,
    Fits,
    MultipleOf,
    RankAtLeast,
    RankIs,
    ResultAtLeast,
    ResultAtMost,
    ResultExtent,
    ResultMultipleOf,
    ResultRank,
    ResultRankAtLeast,
    ResultSame,
    SameExtent,
    SameRank,
    Stretches,
    StretchesAll,
)

Extents = tuple[int, ...]


@pytest.mark.parametrize(
    ("constraint", "text"),
    [
        (RankIs("a", 2), "a.rank = 2"),
        (RankAtLeast("a", 1), "a.rank >= 1"),
        (ExtentIs("a", 1, 4), "a.1 = 4"),
        (Stretches("a", 1, 1, None), "a.1 in {1, d1}"),
        (Stretches("a", 1, 2, 4), "a.1 in {1, 4}"),
        (Stretches("a", 0, -2, None), "a.0 in {1, d[-2]}"),
        (StretchesAll("a"), "a.* in {1, d*}"),
        (SameExtent("b", 0, "a", 1, "n"), "b.0 = a.1 (n)"),
        (SameRank("b", "a"), "b.rank = a.rank"),
        (Equals("b", 0, 0, None), "b.0 = d0"),
        (Equals("b", 0, -1, None), "b.0 = d[-1]"),
        (Equals("b", 0, 0, 4), "b.0 = 4"),
        (EqualsAll("b"), "b.* = d*"),
        (Fits("a", 0, "y", 1), "a.0 in {1, y.1}"),
        (AtLeast("a", 0, 2), "a.0 >= 2"),
        (AtMost("a", 0, 64), "a.0 <= 64"),
        (MultipleOf("a", 0, 8), "a.0 % 8 = 0"),
        (ResultAtLeast("r", 0, 0, 2), "r.0 >= 2"),
        (ResultAtMost("r", 0, 0, 64), "r.0 <= 64"),
        (ResultMultipleOf("r", 0, 0, 8), "r.0 % 8 = 0"),
        (ResultRank("r", 2), "r.rank = 2 = d.rank"),
        (ResultRankAtLeast("r", 2), "r.rank = d.rank >= 2"),
        (ResultExtent("r", 0, 0, None), "r.0 = d0"),
        (ResultExtent("r", 0, 0, 4), "r.0 = 4 = d0"),
        (ResultExtent("r", 0, -1, 4), "r.0 = 4 = d[-1]"),
        (ResultSame("r", 0, 0, "a", 1, "n"), "r.0 = a.1 (n)"),
    ],
)
def test_prints(constraint: Constraint, text: str) -> None:
    assert str(constraint) == text


@pytest.mark.parametrize(
    ("constraint", "extents", "domain", "expected"),
    [
        (RankIs("a", 2), {"a": (3, 4)}, (3, 4), True),
        (RankIs("a", 2), {"a": (4,)}, (3, 4), False),
        (RankAtLeast("a", 1), {"a": ()}, (3,), False),
        (RankAtLeast("a", 1), {"a": (3, 4)}, (3, 4), True),
        (ExtentIs("a", 1, 4), {"a": (3, 4)}, (3, 4), True),
        (ExtentIs("a", 1, 4), {"a": (3, 1)}, (3, 4), False),
        (ExtentIs("a", -1, 4), {"a": (3, 4)}, (3, 4), True),
        (ExtentIs("a", 1, 4), {"a": (4,)}, (4,), False),
        (Stretches("a", 0, 0, None), {"a": (1, 4)}, (3, 4), True),
        (Stretches("a", 0, 0, None), {"a": (3, 4)}, (3, 4), True),
        (Stretches("a", 0, 0, None), {"a": (2, 4)}, (3, 4), False),
        (Stretches("a", 0, 1, 4), {"a": (4,)}, (2, 3), True),
        (Stretches("a", 0, 0, 0), {"a": (0,)}, (0,), True),
        (Stretches("a", 0, 0, 0), {"a": (2,)}, (0,), False),
        (Stretches("a", 1, 0, None), {"a": (1,)}, (1,), False),
        (StretchesAll("a"), {"a": ()}, (3,), True),
        (StretchesAll("a"), {"a": (1, 4)}, (2, 3, 4), True),
        (StretchesAll("a"), {"a": (3, 1)}, (2, 3, 4), True),
        (StretchesAll("a"), {"a": (2, 4)}, (2, 3, 4), False),
        (StretchesAll("a"), {"a": (1, 1)}, (1,), False),
        (SameExtent("b", 0, "a", 1, "n"), {"a": (2, 3), "b": (3,)}, (2, 3), True),
        (SameExtent("b", 0, "a", 1, "n"), {"a": (2, 3), "b": (1,)}, (2, 3), False),
        (SameExtent("b", 5, "a", 5, "n"), {"a": (2, 3), "b": (1,)}, (2, 3), False),
        (SameRank("b", "a"), {"a": (2,), "b": (3,)}, (3,), True),
        (SameRank("b", "a"), {"a": (2,), "b": ()}, (2,), True),
        (SameRank("b", "a"), {"a": (2,), "b": (3, 2)}, (3, 2), False),
        (Equals("b", 0, 0, None), {"b": (3,)}, (3,), True),
        (Equals("b", 0, 0, None), {"b": (1,)}, (3,), False),
        (Equals("b", 0, 0, 4), {"b": (4,)}, (3,), True),
        (Equals("b", 1, 0, None), {"b": (3,)}, (3,), False),
        (EqualsAll("b"), {"b": (3, 4)}, (2, 3, 4), True),
        (EqualsAll("b"), {"b": (1, 4)}, (2, 3, 4), False),
        (EqualsAll("b"), {"b": (2, 3)}, (3,), False),
        (EqualsAll("b", 1), {"b": (3, 1)}, (2, 3, 4), True),
        (EqualsAll("b", 1), {"b": (1, 1)}, (2, 3, 4), False),
        (Fits("a", 0, "y", 1), {"a": (3,), "y": (2, 3)}, (3,), True),
        (Fits("a", 0, "y", 1), {"a": (1,), "y": (2, 3)}, (3,), True),
        (Fits("a", 0, "y", 1), {"a": (2,), "y": (2, 1)}, (3,), False),
        (Fits("a", 1, "y", 1), {"a": (2,), "y": (2, 2)}, (2,), False),
        (AtLeast("a", 0, 2), {"a": (2,)}, (2,), True),
        (AtLeast("a", 0, 2), {"a": (1,)}, (2,), False),
        (AtMost("a", -1, 2), {"a": (2,)}, (2,), True),
        (AtMost("a", -1, 2), {"a": (3,)}, (3,), False),
        (MultipleOf("a", 0, 8), {"a": (0,)}, (0,), True),
        (MultipleOf("a", 0, 8), {"a": (12,)}, (12,), False),
        (MultipleOf("a", 1, 8), {"a": (8,)}, (8,), False),
        (ResultAtLeast("r", 0, 0, 2), {}, (2,), True),
        (ResultAtLeast("r", 0, 0, 2), {"r": (2,)}, (1,), False),
        (ResultAtMost("r", 0, -1, 2), {}, (2,), True),
        (ResultAtMost("r", 0, -1, 2), {}, (3,), False),
        (ResultMultipleOf("r", 0, 0, 8), {}, (16,), True),
        (ResultMultipleOf("r", 0, 0, 8), {}, (9,), False),
        (ResultMultipleOf("r", 1, 1, 8), {}, (8,), False),
        (ResultRank("r", 2), {}, (2, 3), True),
        (ResultRank("r", 2), {"r": (2, 3)}, (2, 3, 4), False),
        (ResultRankAtLeast("r", 2), {}, (2, 3, 4), True),
        (ResultRankAtLeast("r", 2), {}, (2,), False),
        (ResultExtent("r", 0, 0, None), {"r": (2,)}, (2,), True),
        (ResultExtent("r", 0, 0, None), {"r": (1,)}, (2,), False),
        (ResultExtent("r", 0, 0, None), {}, (2,), True),
        (ResultExtent("r", 0, 0, 2), {}, (2,), True),
        (ResultExtent("r", 0, 0, 2), {}, (3,), False),
        (ResultExtent("r", 0, -2, 2), {}, (2,), False),
        (ResultSame("r", 0, 0, "a", 1, "n"), {"a": (2, 3)}, (3,), True),
        (ResultSame("r", 0, 0, "a", 0, "n"), {"a": (1,)}, (3,), False),
        (ResultSame("r", 1, 1, "r", 0, "m"), {}, (3, 3), True),
        (ResultSame("r", 1, 1, "r", 0, "m"), {}, (3, 2), False),
    ],
)
def test_holds(constraint: Constraint, extents: dict[str, Extents], domain: Extents, expected: bool) -> None:
    assert constraint.holds(extents, domain) is expected


def test_an_operand_that_is_not_there_is_an_error_of_the_caller() -> None:
    with pytest.raises(KeyError):
        Stretches("a", 0, 0, None).holds({"b": (1,)}, (1,))
