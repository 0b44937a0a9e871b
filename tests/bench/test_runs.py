"""Verdicts on cells hold where most of the runs show them."""

from __future__ import annotations

import pytest

from bcastgen.core.resources import bench_module

results = bench_module("results")
runs = bench_module("runs")
Cell, Report, Timing = results.Cell, results.Report, results.Timing


def cell(lead, spread=1.0, name="add_f32", **changes):
    times = {"numpy": 1e-6 * lead, "bcastgen": 1e-6, "bcastgen again": 1e-6 * spread}
    timings = tuple(Timing(who, "ok", "", seconds, seconds, 5, 10) for who, seconds in times.items())
    fields = {"workload": name, "kind": "contiguous", "size": 1024, "elements": 1024, "variant": "out"}
    return Cell(**fields | {"read": 8192, "written": 4096, "timings": timings} | changes)


def report(*cells, threads=1, l2="1048576"):
    return Report({"threads": str(threads), "l2": l2}, {}, cells)


def test_geometric_mean_ignores_what_is_missing():
    assert runs.geometric_mean([4.0, None, 1.0]) == pytest.approx(2.0)
    assert runs.geometric_mean([None]) is None


def test_cells_of_the_same_name_are_joined_and_others_stand_alone():
    joined = runs.join([report(cell(1.0), cell(3.0, name="b")), report(cell(2.0)), report(cell(4.0))])
    assert [(each.first.workload, len(each.cells)) for each in joined] == [("add_f32", 3), ("b", 1)]
    assert joined[0].lead == pytest.approx(2.0)


def test_cells_without_our_time_are_left_out():
    assert runs.join([report(Cell("a", "k", 1, 1, "out", 1, 1, skipped="needs about 9 GiB"))]) == ()


@pytest.mark.parametrize(
    ("leads", "behind"),
    [
        ((0.9, 0.9, 1.2), True),
        ((0.9, 1.0, 1.2), False),
        ((0.9,), True),
        ((0.9, 1.0), False),
        ((0.96, 0.96, 0.98), True),
    ],
)
def test_most_runs_decide(leads, behind):
    (joined,) = runs.join([report(cell(lead)) for lead in leads])
    assert joined.most(lambda each: runs.is_behind(each, 1)) is behind


@pytest.mark.parametrize(
    ("lead", "spread", "threads", "behind"),
    [
        (0.96, 1.0, 1, True),
        (0.98, 1.0, 1, False),
        (0.90, 1.2, 1, False),
        (0.80, 1.2, 1, True),
        (0.95, 1.0, 2, False),
        (0.85, 1.0, 2, True),
    ],
)
def test_behind_is_below_the_bound_and_below_the_noise(lead, spread, threads, behind):
    assert runs.is_behind(cell(lead, spread), threads) is behind


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"memory": 0.8e-6, "read": 2 << 20}, True),
        ({"memory": 0.9e-6, "read": 2 << 20}, False),
        # Inside the second cache nothing is asked for.
        ({"memory": 0.5e-6, "read": 1 << 15}, False),
        ({"maths": 0.6e-6, "elements": 1 << 15}, True),
        ({"maths": 0.8e-6, "elements": 1 << 15}, False),
        ({"maths": 0.6e-6, "elements": 1 << 10}, False),
        ({"maths": 0.8e-6, "memory": 0.1e-6, "elements": 1 << 15}, False),
        ({}, False),
    ],
)
def test_far_from_the_limit(changes, expected):
    assert runs.far(cell(1.0, **changes), report()) is expected
