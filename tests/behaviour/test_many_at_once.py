"""Processes and threads that want the same kernels while builders are killed, signals strike and the process forks.

These are samples of two commands, `tests/support/cold_cache.py` and `racing_calls.py`; docs/reliability.md has figures
of long runs.
"""

from __future__ import annotations

import pytest

import cold_cache
import racing_calls
from long_runs import LONG

# What instants do to processes differs from run to run; it is not what decides whether a change may be merged.
pytestmark = pytest.mark.skipif(not LONG, reason="its rounds differ in their timing: BCASTGEN_TEST_LONG=1 runs them")


@pytest.mark.slow
@pytest.mark.parametrize("place", cold_cache.PLACES)
def test_a_cold_cache_whose_builders_are_killed(place: str) -> None:
    if cold_cache.PLACES[place] is not None and not cold_cache.mounts():
        pytest.skip("no file system can be mounted here")
    cold_cache.play(place, processes=6, kernels=4, kills=3, seed=5)


@pytest.mark.slow
def test_first_calls_race_while_signals_strike_and_children_are_made() -> None:
    racing_calls.play(threads=4, calls=300, forks=3, seed=5)
