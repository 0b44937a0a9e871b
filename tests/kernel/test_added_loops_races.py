"""bcastgen/kernel/added_loops.py: loops that come while calls run without the GIL, and errors that come meanwhile."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from bcastgen.runtime import base

pytestmark = pytest.mark.skipif(base.implementation != "extension", reason="only the extension counts")


def run(program: str, *arguments: object) -> str:
    """What a program prints in a process of its own, with no kernel on disk but those of its folder."""
    command = [sys.executable, "-X", "faulthandler", "-c", program, *map(str, arguments)]
    environment = {**os.environ, "BCASTGEN_CACHE_DIR": str(arguments[0])}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout.strip()


# The calls are long enough to release the GIL; loops come during them.
CALLS = """
import numpy as np, bcastgen as bg
from bcastgen.runtime import base
bg.add(1.0, 2.0)
base._dispatch.set_hot(1)
matrix, column, out = np.ones((200, 300)), np.ones((200, 1)), np.empty((200, 300))
masks = [1, 2, 4, 5, 8, 9, 10, 11, 12, 13, 14, 16, 17, 18, 19, 20, 21]
added = 0
for _ in range(12):
    kernel, calls = bg.from_text("a*b + c*d + e*f", threads=1), 0
    for mask in masks:
        operands = [column if mask >> at & 1 else matrix for at in range(6)]
        for _ in range(12):
            kernel(*operands, out=out)
            calls += 1
    assert (out == 3).all()
    assert kernel.wait(120)
    assert sum(row.calls for row in kernel.info() if row.asked_by) == calls
    added += sum(row.asked_by == "calls" for row in kernel.info())
print(added)
"""


def test_a_loop_may_come_during_a_call_without_the_gil(tmp_path):
    assert int(run(CALLS, tmp_path)) > 100


FILTER = """
import logging
import numpy as np, bcastgen as bg
from bcastgen.runtime import base
from bcastgen.runtime.cache import store
bg.add(1.0, 2.0)
base._dispatch.set_hot(0)

class Faulty(logging.Filter):
    def filter(self, record):
        if "gets no loop" in record.getMessage():
            raise ValueError("a filter's fault")
        return True

log = logging.getLogger("bcastgen")
log.setLevel(logging.INFO)
log.addFilter(Faulty())
column, matrix = np.ones((40, 1)), np.ones((40, 50))
first, second = bg.jit(lambda a, b, c, d: (a - b) * c + d), bg.jit(lambda a, b, c, d: (a * b) * c + d)
for kernel in (first, second):
    kernel(column, matrix, column, matrix)
base._dispatch.set_hot(1)

def fails(*_):
    raise store.CompileError("no luck")

build, store.build = store.build, fails
first(column, matrix, column, matrix)
assert first.wait(60)
store.build = build
second(column, matrix, column, matrix)
assert second.wait(60)
print(sum(row.asked_by == "calls" for row in second.info()))
"""


def test_an_error_of_the_log_ends_no_other_kernels_loops(tmp_path):
    assert run(FILTER, tmp_path) == "1"
