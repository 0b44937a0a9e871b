"""dispatch_memory.inc: large results own memory that is kept when they are freed, and given to the next ones."""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
import threading
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bcastgen as bg
from bcastgen import BcastgenError
from bcastgen.runtime import base, settings

pytestmark = pytest.mark.skipif(base.implementation != "extension", reason="only the extension keeps memory")

LARGE = 1 << 18  # elements of f64: 2 MiB
add = bg.from_text("a + b")


@pytest.fixture(autouse=True)
def usual_memory() -> Iterator[None]:
    """Every test starts with nothing kept, and with the usual bound."""
    add(1.0, 2.0)  # so that the environment has been read
    settings.start()
    bg.clear_memory()
    yield
    settings.start()
    bg.clear_memory()


def extension() -> Any:
    from bcastgen import _dispatch  # type: ignore[attr-defined]

    return _dispatch


def address(array: Any) -> int:
    found: int = array.__array_interface__["data"][0]
    return found


def made(count: int = LARGE, value: float = 1.0) -> Any:
    return add(np.full(count, value), 1.0)


def test_the_result_owns_its_memory() -> None:
    result = made()
    assert result.base is None
    assert result.flags.owndata and result.flags.writeable and result.flags.aligned
    np.testing.assert_array_equal(result, np.full(LARGE, 2.0))


def test_memory_is_used_again() -> None:
    result = made()
    before = address(result)
    del result
    again = made(value=5.0)
    assert address(again) == before
    np.testing.assert_array_equal(again, np.full(LARGE, 6.0))


def test_a_result_that_is_alive_shares_no_memory() -> None:
    alive = [made(value=float(k)) for k in range(6)]
    del alive[2:4]
    alive += [made(value=float(k)) for k in range(10, 14)]
    assert len({address(array) for array in alive}) == len(alive)
    for k, array in zip([0, 1, 4, 5, 10, 11, 12, 13], alive, strict=True):
        np.testing.assert_array_equal(array, np.full(LARGE, k + 1.0))


def test_a_view_keeps_memory_alive() -> None:
    result = made()
    view, before = result[::2], address(result)
    del result
    assert address(made(value=7.0)) != before
    np.testing.assert_array_equal(view, np.full(LARGE // 2, 2.0))


@pytest.mark.parametrize("count", [32768, 32769, 40000, 65535, 65536, 65537, 524288, 600001, 4_000_000])
def test_every_size(count: int) -> None:
    wanted = np.arange(float(count)) + 1.0
    for _ in range(2):
        np.testing.assert_array_equal(add(np.arange(float(count)), 1.0), wanted)
    assert address(made(count)) % 64 == 0


def test_what_is_kept_is_bounded() -> None:
    extension().set_memory_bound(20 << 20)
    alive = [made() for _ in range(12)]
    del alive
    kept = bg.clear_memory()
    assert 10 << 20 < kept <= 20 << 20
    assert bg.clear_memory() == 0


def test_a_smaller_bound_gives_back_at_once() -> None:
    alive = [made() for _ in range(4)]
    del alive
    extension().set_memory_bound(5 << 20)
    assert 0 < bg.clear_memory() <= 5 << 20


def test_results_past_the_bound_are_not_kept() -> None:
    extension().set_memory_bound(1 << 20)
    del_me = made()
    del del_me
    assert bg.clear_memory() == 0


def test_a_bound_of_nothing_leaves_all_to_numpy() -> None:
    extension().set_memory_bound(0)
    result = made()
    assert np._core.multiarray.get_handler_name(result) == "default_allocator"
    del result
    assert bg.clear_memory() == 0


def test_only_our_own_large_results_use_it() -> None:
    name = np._core.multiarray.get_handler_name
    assert name(made()) == "bcastgen"
    assert name(made(100)) == "default_allocator"
    assert name(np.empty(LARGE)) == "default_allocator"
    assert name(made() + made()) == "default_allocator"
    assert name() == "default_allocator"


def test_the_handler_is_put_back_after_an_error() -> None:
    a, b = np.broadcast_to(np.float64(1), (1 << 40, 1)), np.broadcast_to(np.float64(1), (1, 1 << 17))
    with pytest.raises((MemoryError, ValueError)):
        add(a, b)
    assert np._core.multiarray.get_handler_name() == "default_allocator"
    np.testing.assert_array_equal(made(), np.full(LARGE, 2.0))


def test_resize() -> None:
    for count in (LARGE // 4 * 3, LARGE + 1000, 3 * LARGE, 10, 0):
        result = add(np.arange(float(LARGE)), 0.0)
        result.resize(count, refcheck=False)
        wanted = np.zeros(count)
        wanted[:LARGE] = np.arange(float(LARGE))[:count]
        np.testing.assert_array_equal(result, wanted)


def test_resize_there_and_back() -> None:
    result = add(np.arange(float(LARGE)), 0.0)
    for count in (10, 5 * LARGE, 100, LARGE):
        result.resize(count, refcheck=False)
    np.testing.assert_array_equal(result[:10], np.arange(10.0))
    np.testing.assert_array_equal(result[10:], np.zeros(LARGE - 10))


def test_copies_and_pickles() -> None:
    result = add(np.arange(float(LARGE)), 0.0)
    for other in (result.copy(), pickle.loads(pickle.dumps(result)), pickle.loads(pickle.dumps(result, protocol=5))):
        np.testing.assert_array_equal(other, np.arange(float(LARGE)))
        assert address(other) != address(result)


def test_results_in_other_orders() -> None:
    a = np.arange(float(LARGE)).reshape(512, -1).T
    for _ in range(2):
        result = add(a, 1.0)
        assert result.flags.f_contiguous and result.base is None
        np.testing.assert_array_equal(result, a + 1.0)


def test_several_results() -> None:
    both = bg.jit(lambda a: (a + 1, a - 1), name="both")
    a = np.arange(float(LARGE))
    for _ in range(3):
        more, less = both(a)
        assert more.base is None and less.base is None
        np.testing.assert_array_equal(more, a + 1)
        np.testing.assert_array_equal(less, a - 1)


def test_threads_allocate_and_free_at_once() -> None:
    failed: list[object] = []

    def work(seed: int) -> None:
        rng = np.random.default_rng(seed)
        held: list[tuple[float, Any]] = []
        for _ in range(60):
            value, count = float(rng.integers(1000)), int(rng.integers(LARGE // 8, LARGE))
            held.append((value, made(count, value)))
            if len(held) > 4:
                wanted, array = held.pop(int(rng.integers(4)))
                if not (array == wanted + 1.0).all():
                    failed.append(wanted)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed


def test_a_freed_result_stays_what_tracemalloc_knows() -> None:
    tracemalloc.start()
    try:
        gc.collect()
        result = made()
        ours = [tracemalloc.DomainFilter(True, np.lib.tracemalloc_domain)]
        traced = sum(trace.size for trace in tracemalloc.take_snapshot().filter_traces(ours).traces)
        held = tracemalloc.get_traced_memory()[0]
        del result
        gc.collect()
        freed = held - tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert 8 * LARGE <= traced < 9 * LARGE
    assert 8 * LARGE <= freed < 9 * LARGE


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads what is resident in /proc")
def test_nothing_leaks() -> None:
    a = np.ones(LARGE)
    for count in range(20):
        add(a[: LARGE - 1000 * count], 1.0)
    before = resident()
    for _ in range(20):
        for count in range(20):
            add(a[: LARGE - 1000 * count], 1.0)
    assert resident() - before < 16 << 20


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads what is resident in /proc")
def test_clear_memory_gives_it_back() -> None:
    result = made(8 * LARGE)
    del result
    before = resident()
    assert bg.clear_memory() >= 8 * 8 * LARGE
    assert before - resident() > 12 << 20


@pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")
def test_a_forked_child_has_memory_of_its_own() -> None:
    program = (
        "import os, numpy as np, bcastgen as bg\n"
        "add = bg.from_text('a + b')\n"
        "x = np.ones(300000)\n"
        "kept, freed = add(x, 1.0), add(x, 2.0)\n"
        "del freed\n"
        "for _ in range(5):\n"
        "    child = os.fork()\n"
        "    if child == 0:\n"
        "        other = add(x, 5.0)\n"
        "        ok = (other == 6.0).all() and (kept == 2.0).all()\n"
        "        del other, kept\n"
        "        os._exit(0 if ok and (add(x, 7.0) == 8.0).all() else 1)\n"
        "    assert os.waitpid(child, 0)[1] == 0\n"
        "assert (kept == 2.0).all() and (add(x, 2.0) == 3.0).all()\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)


def test_arrays_may_outlive_the_package() -> None:
    program = (
        "import sys, atexit, numpy as np, bcastgen as bg\n"
        "class Last:\n"
        "    def __del__(self): assert self.kept[0] == 2.0; del self.kept\n"
        "last = sys.last = Last()\n"
        "last.kept = bg.from_text('a + b')(np.ones(300000), 1.0)\n"
        "np.keeps = bg.from_text('a - b')(np.ones(300000), 1.0)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("value", ["-1", "many", "1.5"])
def test_a_variable_that_is_no_number_is_told(value: str) -> None:
    program = (
        "import numpy as np, bcastgen as bg\n"
        "try: bg.from_text('a + b')(1.0, 2.0)\n"
        "except bg.BcastgenError as error: print(error)\n"
    )
    environment = {**os.environ, settings.MEMORY: value}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=120)
    assert f"BCASTGEN_MEMORY_POOL='{value}' is no number of bytes" in done.stdout


def test_the_variable_turns_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(settings.MEMORY, "0")
    settings.start()
    assert np._core.multiarray.get_handler_name(made()) == "default_allocator"
    monkeypatch.setenv(settings.MEMORY, "none")
    with pytest.raises(BcastgenError, match="BCASTGEN_MEMORY_POOL"):
        settings.start()
    monkeypatch.delenv(settings.MEMORY)


# Dims are freed and their memory is filled with others wherever a collection runs a finaliser. Before 3.12 that is at
# any allocation of a container, so also inside a call, if that makes one.
RESHAPING = """
import gc, warnings
import numpy as np, bcastgen as bg
warnings.simplefilter("ignore")

class Reshaping:
    def __init__(self, array):
        self.array, self.itself = array, self
    def __del__(self):
        self.array.shape = (1, *self.array.shape)
        kept.extend(np.broadcast_to(0.0, (1 << 40, 9, 9, 9)[:rank]) for rank in range(1, 5) for _ in range(4))

def attack(kernel, a, b, out=None):
    for array in (a, b, *(out or ())):
        if isinstance(array, np.ndarray):
            Reshaping(array)
    gc.enable()
    # Nothing that makes a container may stand between: it would be collected there.
    answer = kernel(a, b) if out is None else kernel(a, b, out=out)
    gc.disable()
    return answer

kept = []
add, both = bg.from_text("a + b"), bg.jit(lambda a, b: (a + b, a - b))
small = np.ones((64, 3))
add(small, 1.0), add(small, small), both(small, 1.0), both(small, small)
gc.collect()
gc.disable()
gc.set_threshold(1)
for shape in ((60000,), (60000, 3), (3, 60000), (300, 200, 3)):
    for order in "CF":
        a = np.arange(np.prod(shape, dtype=int) * 1.0).reshape(shape, order=order)
        for x, y in ((a, 1.0), (a, a * 2), (a.T, 3 - a.T), (a[::-1], a)):
            total, difference = x + y, x - y
            x, y = x[...], y if isinstance(y, float) else y[...]
            assert (attack(add, x, y).reshape(total.shape) == total).all()
            total, difference = x + y, x - y
            found = attack(both, x, y)
            assert all((f.reshape(t.shape) == t).all() for f, t in zip(found, (total, difference)))
            kept.clear()
        out = np.empty_like(a)
        try:
            found = attack(both, a, 2.0, (None, out))
            assert (found[0].ravel() == (a + 2).ravel()).all() and (out.ravel() == (a - 2).ravel()).all()
        except bg.BroadcastError:
            assert out.shape != a.shape
print("done")
"""


def test_a_finaliser_that_reshapes_operands_in_a_call() -> None:
    done = subprocess.run([sys.executable, "-c", RESHAPING], capture_output=True, text=True, timeout=120)
    assert (done.stdout.strip(), done.returncode) == ("done", 0), done.stderr


def test_without_the_extension_nothing_is_kept_that_could_be_given_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings._chosen, "extension", None)
    assert bg.clear_memory() == 0
