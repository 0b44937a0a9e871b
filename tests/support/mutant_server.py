"""Runs tests in children of a process that has imported pytest, NumPy and others, but no bcastgen.

In: a line of JSON on standard input.  Out: a line of JSON.

    {"tests": ["tests/ops/test_ranges.py::test_a"], "cache": "/tmp/c", "processor_seconds": 20, "seconds": 200}
    ->  {"failed": "tests/ops/test_ranges.py::test_a", "count": 1, "spent": 1.2}       or "failed": "" where all pass

Importing these takes a second, most tests take less.

With "record", a file, the child also notes which lines each test runs: of Python, of templates, of the extension, and
which helpers its kernels have. This needs Python 3.12 (sys.monitoring), and an extension that was built for it.
"""

from __future__ import annotations

import ctypes
import importlib
import json
import os
import pickle
import re
import resource
import signal
import sys
import time
import traceback
from pathlib import Path
from types import CodeType
from typing import Any

import numpy as np
import pytest

__all__ = ["Lines"]

ROOT = os.getcwd()
USED = ("hypothesis", "hypothesis.extra.numpy", "ml_dtypes", "cffi", "mpmath", "z3", "jinja2")
DEFINED = re.compile(r"^static inline [\w ]+?[ *](bcg_\w+)\(|^}\s*(bcg_\w+);|^#define (BCG_\w+)", re.MULTILINE)
TOOL = 3
_ENDINGS = {signal.SIGKILL: "it took too long", signal.SIGXCPU: "it took too much time", 0: "pytest failed"}


class Chosen:
    """Keeps the tests that were asked for, in their order; notes the first that fails, and how each ends."""

    def __init__(self, tests: list[str]) -> None:
        self.places = {test: at for at, test in enumerate(tests)}
        self.failed = ""
        self.found: dict[str, tuple[bool, float]] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep what was asked for, by its name or by its file's."""
        kept = [(self.places.get(item.nodeid, self.places.get(item.nodeid.partition("::")[0])), item) for item in items]
        known = [(at, item) for at, item in kept if at is not None]
        # A prefix such as file::function asks for all of it; no other way of asking is used.
        items[:] = [item for _, item in sorted(known, key=lambda pair: pair[0])] if known else items

    def pytest_collectreport(self, report: Any) -> None:
        """A file that cannot be imported fails."""
        if report.failed:
            self.failed = self.failed or report.nodeid or "collection"

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Note how a part of a test ended, and how long it took."""
        passed, seconds = self.found.get(report.nodeid, (True, 0.0))
        self.found[report.nodeid] = (passed and report.passed, seconds + report.duration)
        if report.failed:
            self.failed = self.failed or report.nodeid


class Lines:
    """Notes the lines that each test runs, as a number with a bit for each test."""

    def __init__(self) -> None:
        self.tests: list[str] = []
        self.masks: dict[tuple[str, Any], int] = {}
        self.now: set[tuple[str, Any]] = set()
        self.package = f"{ROOT}/bcastgen/"
        [library] = Path(ROOT, "bcastgen").glob("_dispatch*.so")
        self.hits = np.frombuffer((ctypes.c_ubyte * (1 << 21)).in_dll(ctypes.CDLL(str(library)), "bcg_hits"), np.uint8)
        events = sys.monitoring.events
        sys.monitoring.use_tool_id(TOOL, "mutants")
        sys.monitoring.register_callback(TOOL, events.LINE, self._line)
        sys.monitoring.register_callback(TOOL, events.PY_RETURN, self._returned)
        sys.monitoring.set_events(TOOL, events.LINE)

    def _line(self, code: CodeType, number: int) -> Any:
        file = code.co_filename
        if file.startswith(self.package) or file.endswith(".j2"):
            self.now.add((file, number))
            if code.co_name == "helper_text":
                sys.monitoring.set_local_events(TOOL, code, sys.monitoring.events.PY_RETURN)
        return sys.monitoring.DISABLE

    def _returned(self, code: CodeType, offset: int, value: object) -> None:
        if code.co_name == "helper_text":
            self.now.update(("helper", name) for found in DEFINED.findall(str(value)) for name in found if name)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Any:
        """Begin anew for each test."""
        self.now.clear()
        self.hits[:] = 0
        sys.monitoring.restart_events()
        result = yield
        bit = 1 << len(self.tests)
        self.tests.append(item.nodeid)
        for place in [*self.now, *(("extension", at) for at in np.flatnonzero(self.hits).tolist())]:
            self.masks[place] = self.masks.get(place, 0) | bit
        return result


def _child(asked: dict[str, Any], answer: int) -> None:
    limit = int(asked["processor_seconds"])
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    os.environ["BCASTGEN_CACHE_DIR"] = asked["cache"]
    chosen, recorder = Chosen(asked["tests"]), Lines() if asked.get("record") else None
    files = list(dict.fromkeys(test.partition("::")[0] for test in asked["tests"]))
    if len(asked["tests"]) <= len(files):
        files = asked["tests"]
    options = [
        "-q",
        "-p",
        "no:cacheprovider",
        "-W",
        "ignore::pytest.PytestAssertRewriteWarning",
        *([] if recorder else ["-x"]),
    ]
    status = pytest.main([*options, *files], plugins=[chosen, *([recorder] if recorder else [])])
    if recorder is not None:
        kept = {"tests": [(test, *chosen.found.get(test, (False, 0.0))) for test in recorder.tests]}
        Path(asked["record"]).write_bytes(pickle.dumps({**kept, "masks": recorder.masks}))
    failed = chosen.failed or ("" if status == 0 else f"pytest's status {int(status)}")
    os.write(answer, json.dumps({"failed": failed, "count": len(chosen.found)}).encode())


def _asked(asked: dict[str, Any]) -> dict[str, Any]:
    begun, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        with open(asked.get("log", os.devnull), "wb") as log:
            os.dup2(log.fileno(), 1)
            os.dup2(log.fileno(), 2)
        try:
            _child(asked, writing)
        except BaseException:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(writing)
    ended, status = 0, 0
    while not ended:
        ended, status = os.waitpid(child, os.WNOHANG)
        if not ended and time.monotonic() - begun > asked["seconds"]:
            os.kill(child, signal.SIGKILL)
            ended, status = os.waitpid(child, 0)
        time.sleep(0.01)
    os.set_blocking(reading, False)
    with open(reading, "rb", buffering=0) as answer:
        text = answer.read(1 << 16) or b""
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    told = json.loads(text) if text else {"failed": f"{_ENDINGS.get(status & 127, 'it crashed')}", "count": 0}
    return {**told, "spent": spent}


def main() -> None:
    """Answer line by line."""
    for name in USED:
        importlib.import_module(name)
    for line in sys.stdin:
        print(json.dumps(_asked(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
