"""The lock: it excludes threads and processes, and dies with its holder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from bcastgen.core.errors import CacheError
from bcastgen.runtime import lock as module
from bcastgen.runtime.lock import exclusive

HOLDER = """
import sys, time
from pathlib import Path
from bcastgen.runtime.lock import exclusive
with exclusive(Path(sys.argv[1])) as held:
    print(held, flush=True)
    time.sleep(1000)
"""


def holder(path: Path) -> subprocess.Popen[str]:
    process = subprocess.Popen([sys.executable, "-c", HOLDER, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "True\n"
    return process


def test_another_process_is_kept_out_until_the_holder_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with holder(path) as process:
        with exclusive(path, wait=False) as held:
            assert not held
        threading.Timer(0.2, process.send_signal, [signal.SIGKILL]).start()
        with exclusive(path) as held:
            assert held


def test_a_process_that_was_stopped_does_not_stop_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PATIENCE", 0.3)
    with holder(tmp_path / "lock") as process:
        process.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        with exclusive(tmp_path / "lock") as held:
            assert not held
        assert 0.3 <= time.monotonic() - began < 20
        process.kill()


def test_threads_exclude_each_other(tmp_path: Path) -> None:
    inside, most = 0, 0

    def work() -> None:
        nonlocal inside, most
        for _ in range(20):
            with exclusive(tmp_path / "lock") as held:
                assert held
                inside += 1
                most = max(most, inside)
                time.sleep(0.0005)
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (inside, most) == (0, 1)


def test_threads_exclude_each_other_where_files_cannot_be_locked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    with exclusive(tmp_path / "lock") as held:
        assert not held
        order: list[str] = []
        thread = threading.Thread(target=lambda: [order.append("in") for _ in [0] if enter(tmp_path / "lock")])
        thread.start()
        thread.join(0.1)
        assert order == []
    thread.join()
    assert order == ["in"]


def enter(path: Path) -> bool:
    with exclusive(path):
        return True


def test_it_is_released_by_an_exception(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), exclusive(tmp_path / "lock"):
        raise ZeroDivisionError
    with exclusive(tmp_path / "lock", wait=False) as held:
        assert held


def test_a_forked_child_does_not_wait_for_threads_it_does_not_have(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with exclusive(path):
        child = os.fork()
        if child == 0:
            signal.alarm(30)
            with exclusive(path) as held:
                os._exit(0 if held else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_a_copy_of_the_descriptor_does_not_keep_the_lock(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with exclusive(path):
        # What a child has that was forked without Python's knowledge.
        copy = os.dup(next(iter(module._DESCRIPTORS)))
    with exclusive(path, wait=False) as held:
        assert held
    os.close(copy)


FORKER = """
import os, sys, time
from pathlib import Path
from bcastgen.runtime.lock import exclusive
with exclusive(Path(sys.argv[1])):
    child = os.fork()
    if child:
        print(child, flush=True)
    time.sleep(1000)
"""


def test_a_killed_holder_leaves_the_lock_to_others_though_its_child_lives(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    with subprocess.Popen([sys.executable, "-c", FORKER, str(path)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        time.sleep(0.2)
        process.kill()
        process.wait()
        with exclusive(path, wait=False) as held:
            assert held
        os.kill(child, signal.SIGKILL)


def test_a_lock_that_cannot_be_opened_is_a_cache_error(tmp_path: Path) -> None:
    (tmp_path / "lock").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(CacheError, match=r"cannot open the lock .*remove it"), exclusive(tmp_path / "lock"):
        pass
    assert not (tmp_path / "elsewhere").exists()


# ---- who comes here twice: handlers of signals, finalisers -----------------------------------------------------------


@pytest.mark.parametrize("path", ["lock", "other"])
def test_a_thread_that_is_inside_waits_for_nothing(path: str, tmp_path: Path) -> None:
    with holder(tmp_path / "other") as process:
        with exclusive(tmp_path / "lock") as held:
            assert held
            with exclusive(tmp_path / path) as again:
                assert not again
            with exclusive(tmp_path / "third") as third:
                assert third
            with exclusive(tmp_path / "lock", wait=False) as again:
                assert not again
        process.kill()
    with exclusive(tmp_path / path) as held:
        assert held


def test_a_thread_that_waits_is_inside(tmp_path: Path) -> None:
    """A handler runs in the thread that waits, and must not wait for what that will not release meanwhile."""
    found = list[bool]()

    def handle(*_signal: object) -> None:
        with exclusive(tmp_path / "lock") as held:
            found.append(held)

    before = signal.signal(signal.SIGUSR1, handle)
    try:
        with holder(tmp_path / "lock") as process:
            threading.Timer(0.2, os.kill, [os.getpid(), signal.SIGUSR1]).start()
            threading.Timer(0.5, process.kill).start()
            with exclusive(tmp_path / "lock") as held:
                assert held
        assert found == [False]
    finally:
        signal.signal(signal.SIGUSR1, before)


# The handler and the finaliser come while the compiler runs, in the thread that waits for it.
TWICE = """
import gc, os, signal, sys
import numpy as np, bcastgen as bg
kernel, seen = bg.from_text("a * b + 71"), []

def call(*_signal):
    seen.append(float(kernel(2.0, 3.0)))

class Calling:
    def __del__(self):
        call()

def finalise(*_signal):
    Calling()

signal.signal(signal.SIGUSR1, call if sys.argv[1] == "handler" else finalise)
assert kernel(1.0, 2.0) == 73.0
print(seen, kernel.compilations)
"""


# The handler forks while the compiler runs, and both processes go on with the call.
FORKED = """
import os, signal, sys, warnings
import bcastgen as bg
warnings.simplefilter("error")
kernel, child = bg.from_text("a * b + 71"), None

def fork(*_signal):
    global child
    child = os.fork()

signal.signal(signal.SIGUSR1, fork)
assert kernel(1.0, 2.0) == 73.0 and kernel(2.0, 3.0) == 77.0
sys.exit(0 if child == 0 else os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def with_slow_compiler(path: Path, *program: str) -> tuple[str, int]:
    """Run a program whose first compilation sends it a signal; return what it prints and its status."""
    slow = path / "cc"
    slow.write_text('#!/bin/sh\nmkdir "$0.seen" 2>&- && kill -USR1 $PPID && sleep 0.3\nexec gcc "$@"\n')
    slow.chmod(0o755)
    environment = {**os.environ, "BCASTGEN_CC": str(slow), "BCASTGEN_CACHE_DIR": str(path / "cache")}
    done = subprocess.run([sys.executable, "-c", *program], capture_output=True, text=True, timeout=60, env=environment)
    assert [path.name[:4] for path in (path / "cache").glob("??/tmp.*")] == []
    return done.stdout.strip() + done.stderr, done.returncode


@pytest.mark.parametrize("who", ["handler", "finaliser"])
def test_the_kernel_that_is_compiled_may_be_called(who: str, tmp_path: Path) -> None:
    assert with_slow_compiler(tmp_path, TWICE, who) == ("[77.0] 2", 0)


def test_a_child_that_a_handler_forks_while_the_compiler_runs_compiles_by_itself(tmp_path: Path) -> None:
    """The compiler and its directory are the parent's, which removes it and alone can wait for the compiler."""
    assert with_slow_compiler(tmp_path, FORKED) == ("", 0)


def test_a_child_that_forks_inside_closes_no_file_of_its_own(tmp_path: Path) -> None:
    """A handler may fork while a lock is held: the child's copy is closed once, and its number is free then."""
    child = False
    with exclusive(tmp_path / "lock") as held:
        assert held
        pid = os.fork()
        if pid == 0:
            child, opened = True, [os.open(os.devnull, os.O_RDONLY) for _ in range(8)]
    if child:
        try:
            for descriptor in opened:
                os.fstat(descriptor)
        except OSError:
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
