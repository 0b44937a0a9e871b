"""Constraints: what each prints, and when it holds."""

from __future__ import annotations

import pytest

from bcastgen.shape.constraints import (
    Constraint,
    ExtentIs,
    RankAtLeast,
    RankIs,
    ResultExtent,
    ResultRank,
    ResultRankAtLeast,
    ResultSame,
    SameExtent,
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
