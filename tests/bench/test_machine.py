"""The machine is described without asking git, and the environment is put back."""

from __future__ import annotations

import os
from datetime import datetime

import numpy as np
import pytest

from bcastgen.core.resources import bench_module

machine = bench_module("machine")


def test_description_names_machine_versions_threads_and_date():
    facts = machine.describe(["numpy", "bcastgen", "numpy"], 2)
    assert facts["numpy"] == np.__version__
    assert facts["threads"] == "2"
    assert all(facts[name] for name in ("cpu", "python", "bcastgen"))
    assert datetime.fromisoformat(facts["date"]).tzinfo is not None
    assert all(isinstance(value, str) for value in facts.values())


def test_the_second_cache_is_known_or_said_not_to_be():
    assert machine.describe([], 1)["l2"] == str(machine.cache_bytes(2) or "unknown")
    assert machine.cache_bytes(9) is None


def test_threads_are_limited_inside_and_put_back_outside(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    monkeypatch.delenv("BCASTGEN_NUM_THREADS", raising=False)
    with pytest.raises(KeyError, match="stop"), machine.threads_limited(2):
        assert os.environ["OMP_NUM_THREADS"] == os.environ["BCASTGEN_NUM_THREADS"] == "2"
        raise KeyError("stop")
    assert os.environ["OMP_NUM_THREADS"] == "5"
    assert "BCASTGEN_NUM_THREADS" not in os.environ
