"""Ratios of a cell, and a report that survives its JSON."""

from __future__ import annotations

import json

import pytest

from bcastgen import BcastgenError
from bcastgen.core.resources import bench_module

results = bench_module("results")
Cell, Report, Timing = results.Cell, results.Report, results.Timing


def timing(name, seconds):
    return Timing(name, "ok", "", seconds, seconds * 1.5, 7, 100)


def cell(*timings, **changes):
    return Cell(
        **{"workload": "add_f32", "kind": "contiguous", "size": 1024, "elements": 1024, "variant": "fresh"}
        | {"read": 8192, "written": 4096, "timings": timings}
        | changes
    )


FULL = cell(
    timing("numpy", 4e-6),
    timing("bcastgen", 2e-6),
    timing("numba", 1e-6),
    timing("bcastgen again", 3e-6),
    memory=5e-7,
    maths=1.5e-6,
)
REPORT = Report(
    {"cpu": "Königs-CPU", "threads": "1"},
    {"rounds": "7"},
    (FULL, cell(Timing("numba", "failed", "TypingError: no")), cell(skipped="needs about 3.0 GiB, allowed 2.0")),
)


def test_ratios():
    assert FULL.speedup == pytest.approx(2.0)
    assert FULL.spread == pytest.approx(1.5)
    assert FULL.best_peer == ("numba", 1e-6)
    assert FULL.lead == pytest.approx(0.5)
    assert (FULL.limit, FULL.is_maths_bound) == (1.5e-6, True)
    assert FULL.share == pytest.approx(0.75)


def test_the_limit_is_the_one_that_is_there():
    only = cell(timing("bcastgen", 2e-6), memory=1e-6)
    assert (only.limit, only.is_maths_bound, only.share) == (1e-6, False, 0.5)
    assert (cell().limit, cell().share) == (None, None)


def test_numpy_is_a_peer_and_our_second_column_is_not():
    measured = cell(
        timing("numpy", 2e-6), timing("bcastgen", 1e-6), timing("bcastgen again", 1e-9), timing("bcastgen fast", 1e-9)
    )
    assert measured.best_peer == ("numpy", 2e-6)


def test_peers_that_contract_are_compared_with_ours_that_does():
    times = [("numpy", 4e-6), ("bcastgen", 2e-6), ("njit", 2.2e-6), ("njit fastmath", 1e-6), ("bcastgen again", 2e-6)]
    both = cell(*(timing(name, seconds) for name, seconds in (*times, ("bcastgen fast", 8e-7))))
    # Beside their own kind njit takes 1.1 times as long, its fast form 1.25 times.
    assert both.best_peer == ("njit", 2.2e-6)
    assert both.lead == pytest.approx(1.1)
    # Where ours was not timed in that form, the accurate one has to stand up to it.
    one = cell(*(timing(name, seconds) for name, seconds in times))
    assert (one.best_peer, one.lead) == (("njit fastmath", 1e-6), pytest.approx(0.5))


def test_what_was_not_timed_has_no_ratio():
    untimed = cell(timing("numpy", 1e-6), Timing("bcastgen", "wrong", "off by 9 ULP, allowed 0"))
    assert (untimed.speedup, untimed.spread, untimed.lead, untimed.share) == (None, None, None, None)
    assert cell().best_peer is None


def test_faults_are_the_wrong_and_the_failed():
    assert [(where.workload, fault.name) for where, fault in REPORT.faults] == [("add_f32", "numba")]


def test_threads_are_those_of_the_machine():
    assert REPORT.threads == 1
    assert Report({"threads": "2"}, {}, ()).threads == 2


def test_json_round_trip():
    assert Report.from_json(REPORT.to_json()) == REPORT


def test_json_has_the_schema_and_reads_well():
    value = json.loads(REPORT.to_json())
    assert value["schema"] == results.SCHEMA
    assert set(value) == {"schema", "machine", "options", "cells"}
    assert "Königs-CPU" in REPORT.to_json()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a bench report"),
        ("[]", "not a bench report"),
        ("{}", "not a bench report"),
        ('{"schema": 99}', "schema 99, expected 2"),
        ('{"schema": 2, "machine": {}, "options": {}, "cells": [{"speed": 3}]}', "not a bench report"),
    ],
)
def test_other_text_is_refused(text, said):
    with pytest.raises(BcastgenError, match=said):
        Report.from_json(text)
