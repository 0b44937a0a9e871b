"""threads=, BCASTGEN_NUM_THREADS, set_num_threads: how many threads a call may take; no result depends on it."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bcastgen as bg
from bcastgen import BcastgenError
from bcastgen.runtime import base, fallback, settings
from compile_flags import SHARED, WARNED

LARGE = 300_000  # elements: enough that every thread has a part

TEXT = "exp(a) * b + sqrt(c)"


@pytest.fixture(autouse=True)
def usual_number() -> Iterator[None]:
    yield
    bg.set_num_threads(None)


def python(program: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, env={**os.environ, **environment}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


# ---- the number ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 64, np.int32(3), 2**31 - 1])
def test_a_kernel_says_what_it_was_given(threads: Any) -> None:
    kernel = bg.jit(lambda a: a + 1, threads=threads)
    assert kernel.threads == threads and type(kernel.threads) is int
    kernel.threads = None
    assert kernel.threads is None
    kernel.threads = 3
    assert kernel.threads == 3


@pytest.mark.parametrize("threads", [0, -1, 2**31, 2**70, 1.0, "2", True, [2]])
def test_what_is_no_number_of_threads(threads: Any) -> None:
    for call in (
        lambda: bg.jit(threads=threads),
        lambda: bg.jit(lambda a: a + 1, threads=threads),
        lambda: bg.from_text("a + 1", threads=threads),
        lambda: bg.set_num_threads(threads),
        lambda: setattr(bg.from_text("a + 1"), "threads", threads),
        lambda: setattr(fallback.KernelBase("f", ("a",), ("r",)), "threads", threads),
    ):
        with pytest.raises(BcastgenError, match=r"threads=.* is no number of threads; use None or a positive int"):
            call()


@pytest.mark.parametrize("base_class", [base.KernelBase, fallback.KernelBase])
def test_both_implementations_hold_it(base_class: Any) -> None:
    kernel = base_class("f", ("a",), ("r",))
    assert kernel.threads is None
    kernel.threads = 2
    assert kernel.threads == 2


def test_it_is_no_part_of_what_is_compiled() -> None:
    one, other = bg.from_text(TEXT, threads=1), bg.from_text(TEXT, threads=7)
    x = np.ones(3)
    one(x, x, x)
    other(x, x, x)
    assert other.compilations == 0
    assert one.source == other.source


def test_the_default_is_the_cpus() -> None:
    bg.set_num_threads(None)
    wanted = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    if not os.environ.get(settings.THREADS):
        assert 1 <= bg.get_num_threads() <= (wanted or 1)


def test_set_and_get() -> None:
    for threads in (1, 5, 2):
        bg.set_num_threads(threads)
        assert bg.get_num_threads() == threads


def test_the_variable() -> None:
    show = "import bcastgen as bg; bg.from_text('a + b')(1.0, 2.0); print(bg.get_num_threads())"
    assert python(show, BCASTGEN_NUM_THREADS="3") == "3"
    assert python(show, BCASTGEN_NUM_THREADS=" ") == str(python(show, BCASTGEN_NUM_THREADS=""))


@pytest.mark.parametrize("value", ["0", "-2", "two", "1.5", "99999999999"])
def test_a_variable_that_is_no_number(value: str) -> None:
    show = (
        "import bcastgen as bg\n"
        "for call in (bg.get_num_threads, lambda: bg.from_text('a + b')(1.0, 2.0)):\n"
        "    try: call()\n"
        "    except bg.BcastgenError as error: print(error)\n"
    )
    said = f"BCASTGEN_NUM_THREADS={value!r} is no number of threads; set a positive number, or nothing"
    found = python(show, BCASTGEN_NUM_THREADS=value).splitlines()
    assert found == [said] * 2 if base.implementation == "extension" else found[0] == said


def test_from_mlir_takes_it() -> None:
    text = """
        func.func @f(%a: tensor<?xf32>) -> tensor<?xf32> {
          %0 = tosa.exp %a : (tensor<?xf32>) -> tensor<?xf32>
          return %0 : tensor<?xf32>
        }"""
    assert bg.from_mlir(text, threads=2).threads == 2
    assert bg.from_mlir(text).threads is None


# ---- results ---------------------------------------------------------------------------------------------------------


def operands() -> list[tuple[Any, ...]]:
    rng = np.random.default_rng(3)
    a, b = rng.random((300, 1000)), rng.random((300, 1000))
    row, column = rng.random(1000), rng.random((300, 1))
    return [
        (a, b, a),
        (a, row, column),
        (a.T, b.T, a.T),
        (a, b.reshape(1000, 300).T, 2.5),
        (a[::-1, ::2], b[:, ::2], row[:500]),
        (a.ravel(), b.ravel(), 1.0),
        (row, column, 0.5),
        (rng.random((3, 50_000)), rng.random((3, 1)), rng.random((1, 50_000))),
        (rng.random((100_000, 3)), rng.random((1, 3)), rng.random((100_000, 1))),
    ]


@pytest.mark.parametrize("at", range(9))
def test_results_are_the_same_bits_on_any_number(at: int) -> None:
    values = operands()[at]
    kernel = bg.from_text(TEXT, threads=1)
    wanted = kernel(*values)
    np.testing.assert_allclose(wanted, np.exp(values[0]) * values[1] + np.sqrt(values[2]), rtol=1e-14)
    for threads in (2, 3, 4, 64):
        kernel.threads = threads
        for _ in range(3):
            found = kernel(*values)
            assert found.strides == wanted.strides
            assert found.tobytes("A") == wanted.tobytes("A")
            into = np.full(wanted.shape, np.nan)
            assert kernel(*values, out=into) is into
            np.testing.assert_array_equal(into, wanted)


def test_in_place() -> None:
    kernel, x = bg.from_text("a * 2 + 1", threads=4), np.arange(float(LARGE))
    assert kernel(x, out=x) is x
    np.testing.assert_array_equal(x, np.arange(float(LARGE)) * 2 + 1)


def test_callers_in_threads_of_their_own() -> None:
    kernel, wrong = bg.from_text("a * b + 1", threads=4), list[int]()

    def work(seed: int) -> None:
        a = np.full(LARGE, float(seed))
        for _ in range(20):
            if not (kernel(a, 2.0) == seed * 2.0 + 1.0).all():
                wrong.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_forked_child_computes_with_threads_of_its_own() -> None:
    program = (
        "import os, signal, numpy as np, bcastgen as bg\n"
        "kernel = bg.from_text('a * b + 1', threads=4)\n"
        "x = np.ones(1000000)\n"
        "assert (kernel(x, 2.0) == 3.0).all()\n"
        "for _ in range(10):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        signal.alarm(30)\n"
        "        os._exit(0 if (kernel(x, 3.0) == 4.0).all() else 1)\n"
        "    assert os.waitpid(child, 0)[1] == 0\n"
        "    assert (kernel(x, 2.0) == 3.0).all()\n"
        "print('done')\n"
    )
    assert python(program) == "done"


def test_multiprocessing_by_fork_and_spawn(tmp_path: Path) -> None:
    module = tmp_path / "shared_work.py"
    module.write_text(
        "import numpy as np, bcastgen as bg\n"
        "kernel = bg.from_text('a * b + 1', threads=4)\n"
        "def work(value): return float(kernel(np.ones(400000), value).sum())\n"
        "if __name__ == '__main__':\n"
        "    import multiprocessing as mp\n"
        "    work(1.0)\n"
        "    for how in mp.get_all_start_methods():\n"
        "        with mp.get_context(how).Pool(2) as pool:\n"
        "            assert pool.map(work, [1.0, 2.0, 3.0]) == [800000.0, 1200000.0, 1600000.0]\n"
        "    print('done')\n"
    )
    done = subprocess.run([sys.executable, str(module)], capture_output=True, text=True, timeout=120)
    assert (done.stdout.strip(), done.returncode) == ("done", 0), done.stderr


def test_a_process_ends_while_threads_are_there() -> None:
    program = "import numpy as np, bcastgen as bg; print(bg.from_text('a + b', threads=4)(np.ones(1000000), 1.0)[0])"
    assert python(program) == "2.0"


def test_the_pool_has_no_more_threads_than_cpus() -> None:
    if not Path("/proc/self/task").exists() or base.implementation != "extension":
        pytest.skip("counts the threads of a process in /proc")
    program = (
        "import os, numpy as np, bcastgen as bg\n"
        "before = len(os.listdir('/proc/self/task'))\n"
        "kernel = bg.from_text('exp(a) + b', threads=50)\n"
        "kernel(np.ones(2000000), 1.0)\n"
        "print(len(os.listdir('/proc/self/task')) - before, len(os.sched_getaffinity(0)) - 1)\n"
    )
    found, most = map(int, python(program).split())
    assert found <= most


# ---- the floating-point unit's mode ----------------------------------------------------------------------------------

MODES = r"""
#include <stdint.h>
#if defined(__SSE__)
#include <xmmintrin.h>
uint64_t get(void) { return _mm_getcsr() & 0xffc0; }
void set(uint64_t mode) { _mm_setcsr((_mm_getcsr() & ~0xffc0u) | (unsigned)mode); }
#else
uint64_t get(void) { uint64_t mode; __asm__ volatile("mrs %0, fpcr" : "=r"(mode)); return mode; }
void set(uint64_t mode) { __asm__ volatile("msr fpcr, %0" : : "r"(mode)); }
#endif
"""

# A call under each mode, on one thread and on two; `first` is the mode in which the pool's threads are made.
MODES_PROGRAM = """
import ctypes, sys
if sys.argv[2] == "cffi":
    sys.modules["bcastgen._dispatch"] = None
import numpy as np, bcastgen as bg
from bcastgen.runtime import base
assert base.implementation == sys.argv[2]
library, modes, first = ctypes.CDLL(sys.argv[1]), eval(sys.argv[3]), int(sys.argv[4])
library.get.restype, library.set.argtypes = ctypes.c_uint64, [ctypes.c_uint64]
usual = library.get()
kernel = bg.from_text("a * 0.5 + a / 7")
x = np.concatenate([np.arange(1, 600_001) * 5e-324, np.linspace(0.1, 9, 600_000)])
into = {threads: np.empty_like(x) for threads in (1, 2)}
kernel(1.0)
seen = {}
for mode in (modes[first], 0, *modes, 0):
    for threads in (2, 1, 2):
        kernel.threads = threads
        library.set(usual | mode)
        kernel(x, out=into[threads])
        after = library.get()
        library.set(usual)
        assert after == usual | mode, (after, usual, mode)
        bits = into[threads].tobytes()
        assert seen.setdefault(mode, bits) == bits, (mode, threads)
assert seen[0] == (x * 0.5 + x / 7).tobytes()
assert len(set(seen.values())) == len(modes) + 1, "every mode has results of its own"
print("done")
"""

X86_MODES, ARM_MODES = (0x8040, 0x2000, 0x4000), (1 << 24, 1 << 22, 2 << 22)  # flush subnormals, round up, round down


@pytest.mark.parametrize("first", [0, 1])
@pytest.mark.parametrize("implementation", ["extension", "cffi"])
def test_threads_round_and_flush_as_the_caller_does(implementation: str, first: int, tmp_path: Path) -> None:
    if implementation == "extension" and base.implementation != "extension":
        pytest.skip("the extension was not built here")
    machine = platform.machine()
    if machine not in ("x86_64", "aarch64", "arm64"):
        pytest.skip("the pool does nothing here")
    (tmp_path / "modes.c").write_text(MODES)
    library = tmp_path / "modes.so"
    command = [os.environ.get("CC", "cc"), *SHARED, WARNED, str(tmp_path / "modes.c"), "-o", str(library)]
    subprocess.run(command, check=True)
    modes = X86_MODES if machine == "x86_64" else ARM_MODES
    program = [sys.executable, "-c", MODES_PROGRAM, str(library), implementation, repr(modes), str(first)]
    done = subprocess.run(program, capture_output=True, text=True, timeout=120)
    assert (done.stdout.strip(), done.returncode) == ("done", 0), done.stderr
