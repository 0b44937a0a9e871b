"""ThreadSanitizer in extension and kernels: threads call, reuse memory and swap binaries.

In: the seed and the number of calls of each thread.  Out: nothing, or what ThreadSanitizer saw.

The pool has a program of its own, without Python: tests/csrc/test_pool.py.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bcastgen.core.resources import folder
from sanitized_extension import Sanitized

# Three threads call the same kernels, and kernels of their own that are gone at once; results of more than 256 kB are
# kept memory. The shapes go each way of the run time: in place, packed, copied once (run_expand.inc), by parts.
PROGRAM = """
import gc, random, sys, threading
import numpy as np
import bcastgen as bg
from bcastgen import _dispatch
from bcastgen.runtime.settings import clear_memory

package, seed, calls = sys.argv[1], *map(int, sys.argv[2:])
assert _dispatch.__file__.startswith(package), _dispatch.__file__
sys.setswitchinterval(1e-4)
plain = ("a * b + 1", "(a + b) * (a - b)")
reduced = ("sum(a * b, axis=1)", "a / sum(abs(a) + b, axis=1, keepdims=True)")
shapes = ((300, 40), (40,)), ((7, 5), (7, 1)), ((40000, 3), (3,)), ((20, 30, 40), (40,)), ((700, 300), (700, 300))
kernels = {(text, threads): bg.from_text(text, threads=threads) for text in plain + reduced for threads in (1, 2)}

def values(shape, dtype, most):
    return (np.arange(np.prod(shape)).reshape(shape) % most + 1).astype(dtype)

cases = [
    (text, layout(values(one, dtype, 7)), values(other, dtype, 5))
    for text in plain + reduced
    for one, other in shapes
    if text in plain or len(one) == 2
    for dtype in ("f4", "f8")
    for layout in (np.ascontiguousarray, np.asfortranarray)
]
# The first result of a case, whoever computes it, is what all others have to be.
first, problems, start = {}, [], threading.Barrier(3)

def call(chance, at):
    place = chance.randrange(len(cases))
    text, a, b = cases[place]
    kernel = kernels[text, chance.choice((1, 2))]
    if at % 10 == 0:
        kernel = bg.jit(lambda a, b: a * b + 1, background=True) if text == plain[0] else bg.from_text(text, threads=2)
    got = kernel(a, b)
    if at % 3 == 0:
        kernel(a, b, out=got)
    if got.tobytes() != first.setdefault(place, got.copy()).tobytes():
        problems.append((text, a.shape, a.dtype))
    if at % 25 == 24:
        gc.collect()
        clear_memory()

def work(number):
    chance = random.Random(seed * 100 + number)
    try:
        start.wait()
        for at in range(calls):
            call(chance, at)
    except BaseException as error:
        problems.append(repr(error))

threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert not problems, problems[:3]
print(f"{len(first)} cases")
"""


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Sanitized:
    if sys.platform != "linux" or shutil.which("gcc") is None:
        pytest.skip("gcc and its libtsan")
    return Sanitized(tmp_path_factory.mktemp("sanitized"), "thread")


def played(package: Sanitized, calls: int, run: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run the program, with another object for run.c if there is one."""
    arguments = ("-W", "error", "-c", PROGRAM, str(package.home), "1", str(calls))
    return package.run(*arguments, instead={} if run is None else {"runtime/run": run}, TSAN_OPTIONS="exitcode=66")


@pytest.mark.slow
def test_threads_that_call_share_nothing_unguarded(package: Sanitized) -> None:
    done = played(package, 200)
    assert done.returncode == 0 and "ThreadSanitizer" not in done.stderr, done.stderr[:4000]
    assert any(package.kernels.rglob("*.so")), "NumPy answered"


@pytest.mark.slow
def test_it_would_see_what_is_shared(package: Sanitized, tmp_path: Path) -> None:
    """The plan of a call in memory that all calls share."""
    text = (folder("csrc") / "runtime" / "run.c").read_text()
    place = "        int64_t steps[BCG_MAX_RANK * FEW];\n        char *at[FEW];\n        domain d ="
    assert text.count(place) == 1, "write what stands there now"
    (tmp_path / "run.c").write_text(text.replace(place, place.replace("int64_t steps", "static int64_t steps")))
    package.compile(tmp_path / "run.c", tmp_path / "run.o")
    done = played(package, 60, tmp_path / "run.o")
    assert "ThreadSanitizer" in done.stderr and "data race" in done.stderr, done.stderr[:2000]
