"""The measurement over all numbers of f32: its references, on a part of the numbers, and its record."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bcastgen.core.dtypes import F32
from bcastgen.core.resources import bench_module
from bcastgen.ops.table import OPS
from sources import ROOT

accuracy, every = bench_module("accuracy"), bench_module("every_f32")


@pytest.fixture
def row():
    """Call ``row(name)`` for a function of which nothing has been measured."""
    return lambda name, math="accurate": every.Swept(name, math, "")


def test_every_function_has_a_reference():
    assert set(every.functions()) == set(every.REFERENCES)
    assert set(every.functions(fast=True)) < set(every.REFERENCES)


@pytest.mark.parametrize("name", ["exp", "log_ndtr", "erfinv", "gammaln", "i0"])
def test_a_part_of_the_numbers_is_within_the_bound(name, row):
    found = every.swept(row(name), step=65521)
    assert found.done == every.COUNT
    assert 0.49 < found.worst <= OPS[name].ulp_for(F32), found


def test_a_measurement_goes_on_where_it_was(row):
    step, half = 1 << 17, every.COUNT // 2
    first = every.swept(row("tanh"), step, half)
    assert first.done == half and "of 50%" in str(first)
    whole = every.swept(row("tanh"), step)
    assert every.swept(first, step) == whole


def test_what_is_wrong_is_seen(row, monkeypatch):
    monkeypatch.setitem(every.REFERENCES, "tanh", "tanh(x) * (1 + 0x1p-21)")
    every._sweep.cache_clear()
    try:
        assert 3.9 < every.swept(row("tanh"), 1 << 17).worst < 9
    finally:
        every._sweep.cache_clear()


def test_a_function_whose_c_has_changed_is_measured_anew(tmp_path, monkeypatch, row):
    monkeypatch.setattr(every, "RECORD", tmp_path / "every_f32.json")
    known = replace(row("exp"), digest=every._digest(OPS["exp"], "accurate"), done=every.COUNT, worst=0.75)
    every._record(known)
    assert every._measure("exp", "accurate") == known
    assert every.recorded() == {("exp", "accurate"): known}
    monkeypatch.setattr(every, "swept", lambda one, until: replace(one, done=every.COUNT))
    every._record(replace(known, digest="of another C"))
    assert every._measure("exp", "accurate").worst == 0


def test_what_is_recorded_is_within_the_bounds_and_on_the_page():
    text = (ROOT / "docs" / "functions.md").read_text(encoding="utf-8")
    for row in every.recorded().values():
        assert row.worst <= OPS[row.function].ulp_for(F32, row.math == "fast"), str(row)
        if row.done == every.COUNT and row.math == "accurate":
            assert f"| {row.function} | " in text.partition("## Every number of f32")[2].partition("## ")[0]


def test_every_function_has_been_measured():
    measured = {(row.function, row.dtype) for row in accuracy.recorded()}
    for op in accuracy.FUNCTIONS:
        for kind in ("f32", "f64"):
            if op.types((accuracy.dtype(kind),) * op.arity)[1].name == kind:
                assert (op.name, kind) in measured
