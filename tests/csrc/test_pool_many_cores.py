"""csrc/runtime/pool.c on more cores than ours, by the model of tests/support/many_cores.py."""

from __future__ import annotations

import pytest

from bcastgen.core.resources import folder
from many_cores import ASLEEP_NS, slowdown, table


def test_the_page_has_what_the_model_says() -> None:
    page = (folder("csrc").parent / "docs" / "performance-notes.md").read_text()
    assert "\n".join("  " + line for line in table().splitlines()) in page


@pytest.mark.parametrize("threads", [2, 8, 32, 64, 128])
def test_threads_that_spin_hardly_wait_for_lines(threads: int) -> None:
    assert slowdown("shares", threads, ASLEEP_NS, asleep=False) < 1.2


def test_one_word_for_all_is_what_many_cores_wait_for() -> None:
    waits = [slowdown(kind, 64, ASLEEP_NS, asleep=False) - 1 for kind in ("word", "shares")]
    assert waits[0] > 5 * waits[1]


@pytest.mark.parametrize("threads", [32, 64, 128])
def test_a_tree_wakes_sooner_than_one_thread_does(threads: int) -> None:
    assert slowdown("shares", threads, ASLEEP_NS, asleep=True) < slowdown("word", threads, ASLEEP_NS, asleep=True)
