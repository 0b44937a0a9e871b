"""A pytest plugin: which tests of another project's run, and what came of them.

In: the environment variables BCASTGEN_SUITES_EVERY, n for every n-th test, and BCASTGEN_SUITES_OUTCOMES, a file.
Out: a line of JSON in that file for each test that ran: its name, its outcome, and its error.
"""

from __future__ import annotations

import json
import os
import random
import zlib
from typing import Any

import pytest

EVERY = int(os.environ.get("BCASTGEN_SUITES_EVERY", "1"))


def _name(nodeid: str) -> str:
    return nodeid.partition("::")[2]


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep every n-th test, chosen by its name."""
    kept = [item for item in items if zlib.crc32(_name(item.nodeid).encode()) % EVERY == 0]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let a test draw the same random examples in each run: with the project itself, and with kernels."""
    random.seed(zlib.crc32(_name(item.nodeid).encode()))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: Any) -> Any:
    """Write a line for a test that has run, or for what came before or behind it and failed."""
    report = (yield).get_result()
    if call.when != "call" and report.outcome == "passed":
        return
    why = "" if call.excinfo is None else f"{call.excinfo.typename}: {call.excinfo.value}".strip()
    line = json.dumps({"test": _name(item.nodeid), "outcome": report.outcome, "why": why[:600]})
    with open(os.environ["BCASTGEN_SUITES_OUTCOMES"], "a", encoding="utf-8") as file:
        file.write(line + "\n")
