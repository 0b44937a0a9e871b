"""How many cases a slow test takes whose only cost is their number.

In: ``BCASTGEN_TEST_LONG``, and both numbers.  Out: the one to take.

    many(2_000, 10_000)  ->  2000 in CI; 10000 under BCASTGEN_TEST_LONG=1, before a release or after a change there
    some(rows, 40)       ->  40 of them, evenly spaced; all
    slow_seeds(15, 40)   ->  parameters 100 to 114, or to 139, of slow tests
"""

from __future__ import annotations

import os

import pytest

__all__ = ["LONG", "many", "slow_seeds", "some"]

LONG = os.environ.get("BCASTGEN_TEST_LONG", "") not in ("", "0")


def many(usual, long):
    """Return the number of cases of this run."""
    return long if LONG else usual


def some(items, usual):
    """Return so many of the items, evenly spaced; all in a long run."""
    items = list(items)
    count = len(items) if LONG else min(usual, len(items))
    return [items[at * len(items) // count] for at in range(count)]


def slow_seeds(usual, long):
    """Return parameters of so many slow tests: seeds that no fast test has."""
    return [pytest.param(seed, marks=pytest.mark.slow) for seed in range(100, 100 + many(usual, long))]
