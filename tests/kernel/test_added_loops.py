"""Loops that calls ask for: who gets one, when, with which bits; and that nothing else is compiled."""

from __future__ import annotations

import _thread
import gc
import logging
import os
import subprocess
import sys
import textwrap
import threading
import weakref

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.errors import BcastgenError
from bcastgen.kernel import added_loops
from bcastgen.runtime import base, settings
from bcastgen.runtime.cache import store

pytestmark = pytest.mark.skipif(base.implementation != "extension", reason="only the extension counts")


@pytest.fixture
def hot(tmp_path, monkeypatch):
    """A function that sets after how many points a pattern is hot: none at first; the cache is empty."""
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(tmp_path))
    bg.add(1.0, 2.0)
    base._dispatch.set_hot(0)
    yield base._dispatch.set_hot
    settings.start()


def rows(kernel, asked_by):
    return {row.name: row.calls for row in kernel.info() if row.asked_by == asked_by}


# What no loop is made for at first: the first and third of four stand still, as they do beside matrices.
MATRIX, ROW, COLUMN = (40, 50), (50,), (40, 1)


def operands(shapes, dtype="f8", seed=0):
    made = np.random.default_rng(seed)
    return [
        (made.random(shape) < 0.5) if kind == "?" else (10 * made.random(shape) + 1).astype(kind)
        for shape, kind in zip(shapes, dtype.split() if " " in dtype else [dtype] * len(shapes), strict=True)
    ]


def mix(a, b, c, d):
    return (a - b) * c + d


MIXED = [COLUMN, MATRIX, COLUMN, MATRIX]


def test_a_hot_pattern_gets_a_loop_of_its_own(hot):
    hot(10_000)
    kernel, arrays = bg.jit(mix), operands(MIXED)
    wanted = kernel(*arrays)
    np.testing.assert_array_equal(wanted, mix(*arrays))
    assert rows(kernel, "calls") == {} and rows(kernel, "") == {"zero_a_c": 1}
    for _ in range(10):
        np.testing.assert_array_equal(kernel(*arrays), wanted)
    assert kernel.wait() and kernel.compilations == 2
    assert rows(kernel, "calls").keys() == {"zero_a_c"} and rows(kernel, "") == {}
    before = rows(kernel, "calls")["zero_a_c"]
    for _ in range(10):
        np.testing.assert_array_equal(kernel(*arrays), wanted)
    assert kernel.wait() and kernel.compilations == 2
    assert rows(kernel, "calls") == {"zero_a_c": before + 10}
    assert "zero_a_c: added for calls" in kernel.explain()


def test_who_does_not_ask_compiles_once(hot):
    settings.start()
    kernel = bg.jit(mix)
    for shapes in (MIXED, [COLUMN, MATRIX, ROW, COLUMN], [MATRIX] * 4, [ROW, COLUMN, ROW, COLUMN]):
        for _ in range(50):
            kernel(*operands(shapes))
    assert kernel.wait() and kernel.compilations == 1 and rows(kernel, "calls") == {}
    assert rows(kernel, "")["zero_a_c"] == 50


def test_the_next_process_finds_the_loop(hot):
    hot(1)
    kernel, arrays = bg.jit(mix), operands(MIXED)
    wanted = kernel(*arrays)
    assert kernel.wait() and kernel.compilations == 2
    # It is looked for long before it would be compiled.
    hot(1 << 20)
    again = bg.jit(mix)
    for _ in range(10):
        np.testing.assert_array_equal(again(*arrays), wanted)
    assert again.wait() and again.compilations == 0 and rows(again, "calls").keys() == {"zero_a_c"}


@pytest.mark.parametrize("options", [{"variants": 2}, {"variants": 0}, {"math": "fast"}])
def test_some_kernels_get_none(hot, options):
    hot(1)
    kernel = bg.from_text("(a - b) * c + d", **options)
    for _ in range(5):
        kernel(*operands(MIXED))
    assert kernel.wait() and kernel.compilations == 1 and rows(kernel, "calls") == {}


def test_the_environment_switches_it_off(hot, monkeypatch):
    monkeypatch.setenv("BCASTGEN_VARIANTS", "0")
    settings.start()
    kernel = bg.jit(mix)
    for _ in range(5):
        kernel(*operands(MIXED))
    assert kernel.compilations == 1 and rows(kernel, "") == {}
    monkeypatch.setenv("BCASTGEN_VARIANTS", "often")
    with pytest.raises(BcastgenError, match="BCASTGEN_VARIANTS='often' is no number of points"):
        settings.start()
    monkeypatch.undo()


def test_at_most_a_dozen(hot):
    hot(1)
    kernel = bg.from_text("a*b + c*d + e*f")

    def call(stationary):
        arrays = operands([COLUMN if stationary >> at & 1 else MATRIX for at in range(6)])
        a, b, c, d, e, f = arrays
        np.testing.assert_array_equal(kernel(*arrays), a * b + c * d + e * f)
        assert kernel.wait()
        return len(rows(kernel, "calls"))

    assert 12 in map(call, range(1, 40))
    assert kernel.compilations == 13 and {12} == set(map(call, range(1, 63))) and kernel.compilations == 13
    # The table of patterns that are counted is bounded, too.
    assert 0 < len(rows(kernel, "")) <= 16


TEXTS = [
    ("(a - b) * c + d", "f4 f8 i2 f4"),
    ("where(m, a, b * c)", "? f4 f4 f4"),
    ("where(m, a * d, b * c) + d", "? f8 f8 f8 f8"),
    ("(a * b + c * d) >> 3", "u1 u1 u1 u1"),
    ("((a.astype(u16) + b + c + d) >> 2).astype(uint8)", "u1 u1 u1 u1"),
    ("exp(a) * sqrt(b) + c * d", "f4 f4 f4 f4"),
    ("a.astype(f32) * b + c - d", "u1 f4 f4 f4"),
    ("a * b + c * d", "f2 f2 f2 f2"),
    ("a * b - c * d", "c8 c8 c8 c8"),
    ("minimum(a, b) + maximum(c, d)", "i4 i4 i4 i4"),
    ("sqrt((a-d)*(a-d) + (b-e)*(b-e) + (c-f)*(c-f))", "f8 f8 f8 f8 f8 f8"),
    ("sum(a * b + c * d, axis=-1)", "f8 f8 f8 f8"),
    ("max(a * b + c * d, axis=0)", "i8 i8 i8 i8"),
    ("exp(a - max(a * b + c, axis=-1, keepdims=True)) * d", "f8 f8 f8 f8"),
]


@pytest.mark.parametrize(("text", "dtypes"), TEXTS)
def test_bits_do_not_change(hot, text, dtypes):
    chance = np.random.default_rng(len(text))
    kernel, plain = bg.from_text(text), bg.from_text(text, name="plain", variants=0)
    count = len(dtypes.split())
    cases = [operands([(30, 3, 37)] * count, dtypes)]
    kernel(*cases[0])
    made = {stationary for _, rows in kernel._counts() for nest, _, stationary, *_ in rows if nest == 0}
    rest = [mask for mask in range(1, (1 << count) - 1) if mask not in made]
    for seed, mask in enumerate(chance.choice(rest, 2, replace=False)):
        still, moving = [(30, 3, 1), (30, 1, 1), (3, 1)], [(30, 1, 37), (1, 3, 37), (37,), (30, 3, 37)]
        shapes = [still[chance.integers(3)] if mask >> at & 1 else moving[chance.integers(4)] for at in range(count)]
        shapes[shapes.index(next(one for one in shapes if one[-1] > 1))] = (30, 3, 37)
        cases.append(operands(shapes, dtypes, seed))
    wanted = [(kernel(*case), plain(*case)) for case in cases]
    hot(1)
    for _ in range(2):
        for case, (own, other) in zip(cases, wanted, strict=True):
            for threads in (1, 2):
                kernel.threads = threads
                got = kernel(*case)
                assert got.tobytes() == own.tobytes() == other.tobytes()
            turned = [np.asfortranarray(value) if np.ndim(value) > 1 else value for value in case]
            assert np.array_equal(kernel(*turned), own, equal_nan=own.dtype.kind in "fc")
            assert kernel.wait()
    assert rows(kernel, "calls")


def test_a_still_mask_reads_one_side_in_its_own_loop(hot):
    hot(1)
    kernel = bg.from_text("where(m, a, b * c)")
    m, a, b, c = operands([COLUMN, MATRIX, COLUMN, MATRIX], "? f4 f4 f4")
    np.testing.assert_array_equal(kernel(m, a, b, c), np.where(m, a, b * c))
    # The pattern may have a loop of its own from the beginning.
    d = np.float32(3)
    kernel = bg.from_text("where(m, a * d, b * c + e)")
    e = c[0]
    for _ in range(2):
        np.testing.assert_array_equal(kernel(m, a, d, b, c, e), np.where(m, a * d, b * c + e))
        assert kernel.wait()
    (name,) = rows(kernel, "calls")
    assert name == "zero_m_d_b"
    source = kernel.compilation.loop_source(0, False, 0b001101).text
    holds = source[source.index("kernel_holds_zero_m_d_b(") :].partition("\n}")[0]
    assert "a0" in holds and "c0" not in holds and "b0" not in holds


def test_a_compiler_that_fails_is_told_once(hot, monkeypatch, caplog):
    caplog.set_level(logging.INFO, "bcastgen")
    kernel, arrays, asked = bg.jit(mix), operands(MIXED), []
    wanted = kernel(*arrays)

    def fails(*given):
        asked.append(given)
        raise store.CompileError("no such luck")

    monkeypatch.setattr(store, "build", fails)
    hot(1)
    for _ in range(40):
        np.testing.assert_array_equal(kernel(*arrays), wanted)
        assert kernel.wait()
    assert len(asked) == 1 and sum("no such luck" in record.message for record in caplog.records) == 1
    assert kernel.compilations == 1 and rows(kernel, "calls") == {}


def test_without_a_compiler_nothing_happens(hot, monkeypatch, caplog):
    caplog.set_level(logging.INFO, "bcastgen")
    kernel, arrays = bg.jit(mix), operands(MIXED)
    wanted = kernel(*arrays)
    hot(1)
    monkeypatch.setenv("BCASTGEN_CC", "no-such-compiler")
    for _ in range(20):
        np.testing.assert_array_equal(kernel(*arrays), wanted)
        assert kernel.wait()
    assert sum("gets no loop of its own" in record.message for record in caplog.records) == 1


@pytest.mark.parametrize("raised", [KeyboardInterrupt, TimeoutError, RecursionError, MemoryError])
def test_what_a_handler_raises_ends_the_call_and_nothing_else_does(hot, raised):
    class Struck(bg.Kernel):
        def _ask_loop(self, *_given):
            raise raised

    kernel, arrays = Struck(bg.jit(mix).expression, "mix", ("a", "b", "c", "d")), operands(MIXED)
    hot(1)
    if raised in (RecursionError, MemoryError):
        np.testing.assert_array_equal(kernel(*arrays), mix(*arrays))
        return
    with pytest.raises(raised):
        kernel(*arrays)


def test_a_loop_of_another_pattern_is_refused(hot, monkeypatch):
    kernel, other, given = bg.jit(mix), bg.jit(lambda a, b, c, d: a * b - c / d), []
    arrays = operands(MIXED)
    kernel(*arrays)
    other(*arrays)
    add = bg.Kernel._add_loop
    monkeypatch.setattr(bg.Kernel, "_add_loop", lambda *row: given.append(row) or add(*row))
    hot(1)
    kernel(*arrays)
    assert kernel.wait()
    ((_, key, nest, is_staged, stationary, address, library),) = given
    assert (nest, is_staged, stationary) == (0, False, 0b0101)
    for wrong in (
        (key, 0, False, 0b0011),
        (key, 1, False, 0b0101),
        (key, -1, False, 0b0101),
        (key + b"x", 0, False, 0b0101),
    ):
        with pytest.raises(ValueError, match="not a loop of nest"):
            add(other, *wrong, address, library)
    with pytest.raises(ValueError, match="address is 0"):
        add(other, key, 0, False, 0b0101, 0, library)
    # It is there already; and there are no stages.
    assert add(kernel, *given[0][1:]) is False
    assert add(kernel, key, 0, True, 0b0101, address, library) is False


def test_threads_race_with_the_loop(hot):
    hot(100_000)
    kernel, arrays, wrong = bg.jit(mix), operands(MIXED), []
    wanted = kernel(*arrays)

    def call():
        for _ in range(300):
            if not np.array_equal(kernel(*arrays), wanted):
                wrong.append(1)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert kernel.wait() and not wrong
    assert rows(kernel, "calls").keys() == {"zero_a_c"}


def test_a_kernel_is_freed_after_its_loop(hot):
    hot(1)
    kernel = bg.jit(mix)
    kernel(*operands(MIXED))
    assert kernel.wait()
    left = weakref.ref(kernel)
    del kernel
    for _ in range(100):
        gc.collect()
        if left() is None:
            break
        threading.Event().wait(0.05)
    assert left() is None


def test_a_forked_child_asks_again(hot, monkeypatch):
    event, build = threading.Event(), store.build

    def later(*given):
        assert event.wait(60)
        return build(*given)

    kernel, arrays = bg.jit(mix), operands(MIXED)
    wanted = kernel(*arrays)
    monkeypatch.setattr(store, "build", later)
    hot(1)
    kernel(*arrays)
    assert not kernel.wait(0.1)
    child = os.fork()
    if child == 0:
        failed = True
        try:
            event.set()
            for _ in range(20):
                failed = not np.array_equal(kernel(*arrays), wanted)
            failed |= not kernel.wait(60) or not rows(kernel, "calls")
        finally:
            os._exit(failed)
    assert os.waitpid(child, 0)[1] == 0
    event.set()
    assert kernel.wait() and rows(kernel, "calls").keys() == {"zero_a_c"}


def test_a_process_ends_while_a_loop_is_compiled(tmp_path):
    program = """
        import os, sys, time
        import numpy as np, bcastgen as bg
        from bcastgen.runtime.cache import store

        kernel = bg.jit(lambda a, b, c, d: (a - b) * c + d)
        arrays = [np.ones(shape) for shape in ((40, 1), (40, 50), (40, 1), (40, 50))]
        kernel(*arrays)
        def build(*given):
            print("begun", flush=True)
            time.sleep(30)
        store.build = build
        while not kernel._added_loops:
            kernel(*arrays)
        kernel.wait(0.2)
        print("end", flush=True)
    """
    environment = {**os.environ, "BCASTGEN_CACHE_DIR": str(tmp_path), "BCASTGEN_VARIANTS": "1000"}
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)], env=environment, capture_output=True, text=True, timeout=25
    )
    assert (done.returncode, done.stderr) == (0, "") and done.stdout.split() == ["begun", "end"]


def test_where_no_thread_can_be_started_tiles_serve(hot, monkeypatch):
    def none(*_given):
        raise RuntimeError("can't start new thread")

    kernel, arrays = bg.jit(mix), operands(MIXED)
    wanted = kernel(*arrays)
    monkeypatch.setattr(added_loops, "start_new_thread", none)
    hot(1)
    np.testing.assert_array_equal(kernel(*arrays), wanted)
    assert kernel.wait() and rows(kernel, "calls") == {}
    # The next time that it is asked for there may be one.
    monkeypatch.setattr(added_loops, "start_new_thread", _thread.start_new_thread)
    for _ in range(10):
        np.testing.assert_array_equal(kernel(*arrays), wanted)
        assert kernel.wait()
    assert rows(kernel, "calls").keys() == {"zero_a_c"}


def test_a_handler_that_strikes_while_a_thread_starts_leaves_nothing_behind(hot, monkeypatch):
    def struck(*_given):
        raise TimeoutError("struck")

    kernel, arrays = bg.jit(mix), operands(MIXED)
    wanted = kernel(*arrays)
    monkeypatch.setattr(added_loops, "start_new_thread", struck)
    hot(1)
    with pytest.raises(TimeoutError, match="struck"):
        kernel(*arrays)
    assert kernel.wait()
    monkeypatch.setattr(added_loops, "start_new_thread", _thread.start_new_thread)
    for _ in range(10):
        np.testing.assert_array_equal(kernel(*arrays), wanted)
        assert kernel.wait()
    assert rows(kernel, "calls").keys() == {"zero_a_c"}
