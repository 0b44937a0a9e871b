"""Agreement with mlir-opt-22 on what is valid, but for the differences that verdicts.py and docs/mlir.md list."""

from __future__ import annotations

import random
import re
from collections import Counter
from pathlib import Path

import pytest

import mlir_tools
import verdicts
from long_runs import many
from verdicts import DIFFERENCES

EACH = pytest.mark.parametrize("difference", DIFFERENCES, ids=lambda difference: difference.name)


@EACH
def test_a_difference_is_told_by_its_own_predicate_alone(difference):
    for case in difference.examples:
        assert [one.name for one in DIFFERENCES if one.applies(case)] == [difference.name], case
        assert verdicts.ours(case) is difference.ours, case


def test_the_docs_list_the_differences():
    docs = Path(__file__).parents[2].joinpath("docs", "mlir.md").read_text(encoding="utf-8")
    section = docs.partition("## Where verification differs from MLIR's\n")[2].partition("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in re.findall(r"^\|.*\|$", section, re.M)]
    words = {True: "accepted", False: "error"}
    assert [row[:3] for row in rows[2:]] == [
        [difference.name, words[difference.ours], words[difference.upstream]] for difference in DIFFERENCES
    ]
    assert all(len(row) == 4 and row[3] for row in rows[2:])


@pytest.mark.parametrize("draw", [verdicts.broadcastable, verdicts.tosa], ids=lambda draw: draw.__name__)
def test_random_cases_have_everything(draw):
    """Ranks, verdicts of both kinds and each difference occur, but for extents of 0: those are not drawn."""
    rng = random.Random(1)
    cases = [draw(rng) for _ in range(1_000)]
    assert {len(verdicts.dims(case.operands[0]) or []) for case in cases} == {0, 1, 2, 3, 4}
    assert not any(verdicts.has_zero(case) for case in cases)
    own = Counter(verdicts.ours(case) for case in cases)
    assert min(own[True], own[False]) > 200
    found = {one.name for case in cases for one in DIFFERENCES if one.applies(case)}
    ops = {case.op for case in cases}
    drawn = [one for one in DIFFERENCES if any(case.op in ops and not verdicts.has_zero(case) for case in one.examples)]
    assert found == {one.name for one in drawn}


@pytest.mark.slow
@mlir_tools.needs_mlir
@EACH
def test_llvm_differs_where_the_docs_say_so(difference):
    assert verdicts.upstream(difference.examples) == [difference.upstream] * len(difference.examples)


@pytest.mark.slow
@mlir_tools.needs_mlir
@pytest.mark.parametrize(
    ("draw", "count", "seed"),
    [(verdicts.broadcastable, many(1_500, 10_000), 22), (verdicts.tosa, many(1_000, 5_000), 23)],
    ids=["broadcastable", "tosa"],
)
def test_verdicts_agree_with_llvm(draw, count, seed):
    rng = random.Random(seed)
    cases = [draw(rng) for _ in range(count)]
    agreed = 0
    for case, other in zip(cases, verdicts.upstream(cases), strict=True):
        own = verdicts.ours(case)
        assert verdicts.explained(case, own, other), f"{case}: we say {own}, LLVM {other}"
        agreed += own == other
    assert agreed > count * 3 // 4
