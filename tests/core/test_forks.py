"""A fork while another thread imports, renders or compiles: the child can do so, too. Work apart from handlers."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from contextvars import ContextVar
from pathlib import Path

import pytest

from bcastgen.core.forks import Undivided, apart, undivided

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="forks")

# Each module that the first compilation imports takes a while; at every EACH-th of them this process forks.
IMPORTS = """
import os, signal, sys, threading, time
import numpy as np
import bcastgen as bg
if sys.argv[1] == "cffi":
    sys.modules["bcastgen._dispatch"] = None
each, first = int(sys.argv[2]), int(sys.argv[3])
met, ready = [], threading.Event()

class Slow:
    def find_spec(self, name, path, target=None):
        if threading.current_thread() is not threading.main_thread():
            met.append(name)
            if len(met) % each == first:
                ready.set()
                time.sleep(0.03)

def work():
    assert float(bg.from_text("a * b + exp(c) - 3")(1.0, 2.0, 0.0)) == 0.0
    assert bg.infer_broadcast is not None

worker = threading.Thread(target=work)
sys.meta_path.insert(0, Slow())
worker.start()
children = []
while worker.is_alive():
    if not ready.wait(0.01):
        continue
    ready.clear()
    child = os.fork()
    if child == 0:
        signal.alarm(40)
        os._exit(0 if "bcg_entry" in bg.from_text("a * b - 2 / c").source else 1)
    children.append((child, met[-1]))
for child, name in children:
    status = os.waitpid(child, 0)[1]
    assert status == 0, (status, name)
worker.join()
print("done", len(met), len(children))
"""


def run(program: str, *arguments: str, cache: Path) -> str:
    environment = {**os.environ, "BCASTGEN_CACHE_DIR": str(cache)}
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("first", [0, 11])
def test_a_child_imports_what_its_parent_was_importing(first: int, tmp_path: Path) -> None:
    word, met, children = run(IMPORTS, "extension", "25", str(first), cache=tmp_path / "cache").split()
    assert word == "done" and int(met) > 50 and int(children) > 0


@pytest.mark.slow
@pytest.mark.parametrize("first", [1, 3, 5])
def test_a_child_imports_what_its_parent_was_importing_at_any_time(first: int, tmp_path: Path) -> None:
    word, met, children = run(IMPORTS, "extension", "6", str(first), cache=tmp_path / "cache").split()
    assert word == "done" and int(met) > 50 and int(children) > 0


# A stage that takes long, in a thread; the fork comes in the middle of it.
STAGES = """
import os, signal, sys, threading, time
import bcastgen as bg
from bcastgen.pipeline import compilation as pipeline
kernel = bg.from_text("a * b + 5")
usual, inside = pipeline.infer, threading.Event()

def slow(*args):
    if threading.current_thread() is worker:
        inside.set()
        time.sleep(0.3)
    return usual(*args)

pipeline.infer = slow
worker = threading.Thread(target=lambda: kernel.source)
worker.start()
inside.wait()
child = os.fork()
if child == 0:
    signal.alarm(20)
    os._exit(0 if "bcg_entry" in bg.from_text("a - b").source else 1)
print(os.waitpid(child, 0)[1])
"""


def test_a_child_makes_a_stage_that_its_parent_was_making(tmp_path: Path) -> None:
    assert run(STAGES, cache=tmp_path) == "0"


def test_a_thread_takes_it_twice_and_others_wait() -> None:
    lock, order = Undivided(), list[str]()

    def other() -> None:
        with lock:
            order.append("other")

    with lock:
        thread = threading.Thread(target=other)
        thread.start()
        with lock:
            assert lock.is_held
        time.sleep(0.05)
        order.append("first")
        assert lock.is_held
    thread.join()
    assert order == ["first", "other"] and not lock.is_held


def test_a_fork_inside_of_it_leaves_both_sides_inside() -> None:
    from bcastgen.core.forks import undivided

    with undivided:
        child = os.fork()
        if child == 0:
            held = undivided.is_held
            os._exit(0 if held else 1)
        assert undivided.is_held
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert not undivided.is_held


def test_a_handler_that_runs_before_a_fork_is_inside() -> None:
    lock = Undivided()
    lock.before_fork()
    with lock:
        pass
    # So it waits for no thread that waits for this one.
    assert lock.is_held
    lock.after_fork()
    assert not lock.is_held


def test_a_child_gets_a_new_one_where_the_parent_could_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bcastgen.core.forks._MOST_SECONDS", 0.05)
    lock, inside, go = Undivided(), threading.Event(), threading.Event()

    def hold() -> None:
        with lock:
            inside.set()
            go.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait()
    lock.before_fork()
    lock.after_fork()
    assert not lock.is_held
    lock.before_fork()
    child = os.fork()
    if child == 0:
        lock.after_fork_in_child()
        with lock:
            os._exit(0 if lock.is_held else 1)
    lock.after_fork()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    go.set()
    thread.join()


STRUCK = """
import signal, sys, threading
from bcastgen.core.forks import Undivided

lock, struck = Undivided(), 0

def strike(*_):
    raise TimeoutError

signal.signal(signal.SIGALRM, strike)
signal.setitimer(signal.ITIMER_REAL, 2e-4, 1e-4)
for _ in range(int(sys.argv[1])):
    try:
        for _ in range(100):
            with lock:
                pass
    except TimeoutError:
        struck += 1
    assert not lock.is_held
signal.setitimer(signal.ITIMER_REAL, 0)
print(struck)
"""


def test_what_a_handler_raises_leaves_it_free() -> None:
    for _ in range(3):
        done = subprocess.run([sys.executable, "-c", STRUCK, "20000"], capture_output=True, text=True, check=False)
        # A strike outside of the inner block is not caught.
        assert "AssertionError" not in done.stderr, done.stderr


# ---- apart ----------------------------------------------------------------------------------------------------------

CONTEXT = ContextVar("CONTEXT", default="none")


def test_the_main_thread_waits_for_another_one():
    assert apart(threading.get_ident) != threading.get_ident()


def test_what_others_wait_for_and_what_no_thread_can_be_started_for_is_done_here(monkeypatch):
    with undivided:
        assert apart(threading.get_ident) == threading.get_ident()

    def none_left(*_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr("bcastgen.core.forks.start_new_thread", none_left)
    assert apart(threading.get_ident) == threading.get_ident()


def test_what_is_raised_comes_out_with_its_lines():
    def wrong():
        raise KeyError("lost")

    with pytest.raises(KeyError, match="lost") as told:
        apart(wrong)
    assert "wrong" in [entry.name for entry in told.traceback]


def test_it_has_the_callers_context():
    token = CONTEXT.set("the caller's")
    assert apart(CONTEXT.get) == "the caller's"
    CONTEXT.reset(token)
