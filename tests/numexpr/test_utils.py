"""Threads of NumExpr's expressions, and VML, which is not there."""

import os
import subprocess
import sys

import numpy as np
import pytest

import bcastgen as bg
import bcastgen.numexpr as ne
from bcastgen.numexpr import utils


@pytest.fixture(autouse=True)
def threads_as_before():
    before = ne.get_num_threads()
    yield
    ne.set_num_threads(before)


def test_threads_are_those_of_expressions_only():
    others = bg.get_num_threads()
    made = ne.NumExpr("a + 1")
    ne.set_num_threads(1)
    assert made.computation.kernel.threads == 1 and bg.get_num_threads() == others
    assert ne.set_num_threads(3) == 1 and ne.get_num_threads() == 3 == made.computation.kernel.threads
    assert ne.NumExpr("a + 2").computation.kernel.threads == 3
    a = np.ones(300_000)
    assert ne.evaluate("a + 1", {"a": a}).sum() == 600_000


@pytest.mark.parametrize("number", [0, -1, 10_000])
def test_wrong_numbers_are_refused(number):
    with pytest.raises(ValueError, match=f"nthreads={number}; give 1 to"):
        ne.set_num_threads(number)


def test_the_environment_asks(monkeypatch):
    for name in ("NUMEXPR_NUM_THREADS", "NUMEXPR_MAX_THREADS", "OMP_NUM_THREADS"):
        monkeypatch.delenv(name, raising=False)
    assert ne._init_num_threads() == min(os.cpu_count(), 16) == ne.detect_number_of_threads()
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert ne._init_num_threads() == 5
    monkeypatch.setenv("NUMEXPR_NUM_THREADS", "3")
    assert ne._init_num_threads() == 3 == ne.detect_number_of_threads()
    monkeypatch.setenv("NUMEXPR_NUM_THREADS", "100000")
    assert ne._init_num_threads() == ne.MAX_THREADS
    monkeypatch.setenv("NUMEXPR_NUM_THREADS", "some")
    assert ne._init_num_threads() == 5


def test_the_most_threads_are_read_at_import():
    script = "import bcastgen.numexpr as ne; print(ne.MAX_THREADS, ne.nthreads)"
    environment = {**os.environ, "NUMEXPR_MAX_THREADS": "4", "NUMEXPR_NUM_THREADS": ""}
    environment.pop("OMP_NUM_THREADS", None)
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["4", "4"]


def test_there_is_no_vml():
    assert not ne.use_vml and ne.get_vml_version() is None and utils.get_vml_num_threads() is None
    assert ne.set_vml_accuracy_mode("high") is None and ne.set_vml_num_threads(2) is None
    with pytest.raises(ValueError, match="None, 'high', 'low', 'fast'"):
        ne.set_vml_accuracy_mode("exact")
    assert ne.detect_number_of_cores() == os.cpu_count() == ne.ncores
