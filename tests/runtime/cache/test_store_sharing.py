"""The cache used by several at once: one build each, killed builds, and clearing while others build."""

from __future__ import annotations

import ctypes
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bcastgen.core.c_source import CSource
from bcastgen.core.errors import CompileError
from bcastgen.runtime.cache import build, cache_key, find
from bcastgen.runtime.cache.upkeep import clear, info
from bcastgen.runtime.toolchain import Toolchain, toolchain
from cache_entries import SOURCE, answer, litter, made
from long_runs import many


@pytest.fixture
def compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Put a script before the compiler; give the log that the script writes a line to for each run."""

    def install(before: str = "") -> Path:
        log = tmp_path / "compilations"
        log.touch()
        script = tmp_path / "wrapper"
        script.write_text(f"#!/bin/sh\necho $$ >> '{log}'\n{before}\nexec '{toolchain().command[0]}' \"$@\"\n")
        script.chmod(0o755)
        monkeypatch.setenv("BCASTGEN_CC", str(script))
        return log

    return install


# --- at the same time

# Given, not computed, so that editing the package while the tests run does not part the processes.
SHARED_KEY = "5c" + 62 * "0"

BUILDER = """
import sys, threading
from bcastgen.core.c_source import CSource
from bcastgen.runtime.cache import build
from bcastgen.runtime.toolchain import toolchain

tools = toolchain()
key = sys.argv[2]
source = CSource("kernel", {"kernel.c": '__attribute__((visibility("default"))) int answer(void) { return 42; }\\n'})
barrier = threading.Barrier(int(sys.argv[1]))
results = []

def work():
    barrier.wait()
    results.append(build(key, lambda: source, tools))

threads = [threading.Thread(target=work) for _ in range(int(sys.argv[1]))]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert len(results) == len(threads) and len({path for path, _ in results}) == 1
print(sum(compiled for _, compiled in results), results[0][0], flush=True)
"""


def start_builder(threads: int = 1) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", BUILDER, str(threads), SHARED_KEY]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, start_new_session=True)


def test_processes_and_threads_that_want_one_kernel_build_it_once(compiler: Callable[[str], Path]) -> None:
    log = compiler("sleep 0.3")
    processes = [start_builder(8) for _ in range(8)]
    outputs = [process.communicate()[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0] * 8
    assert sum(int(compiled) for compiled, _ in outputs) == 1
    assert len({path for _, path in outputs}) == 1
    assert len(log.read_text().splitlines()) == 1
    assert answer(Path(outputs[0][1])) == 42


def test_threads_build_once_where_files_cannot_be_locked(
    compiler: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    log = compiler("sleep 0.1")
    tools = toolchain()
    key = cache_key("x", tools=tools)
    results: list[tuple[Path, bool]] = []
    threads = [threading.Thread(target=lambda: results.append(build(key, lambda: SOURCE, tools))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(compiled for _, compiled in results) == [False, False, False, True]
    assert len(log.read_text().splitlines()) == 1


def test_of_two_builders_without_locks_the_first_rename_counts(
    directory: Path, tools: Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)

    def render() -> CSource:
        # The other one, on another machine, is done before this one has begun to compile.
        script = "import sys; sys.modules['fcntl'] = None\n" + BUILDER
        subprocess.run([sys.executable, "-c", script, "1", SHARED_KEY], check=True, stdout=subprocess.DEVNULL)
        return SOURCE

    path, compiled = build(SHARED_KEY, render, tools)
    assert compiled
    assert find(SHARED_KEY) == path
    assert not (path.parent / "kernel.h").exists(), "the second builder replaced the first one's entry"
    assert not litter(directory)


def kill_after(seconds: float) -> None:
    """Start a build, kill it and its compiler; then what it left is whole or not there, and a build works."""
    process = start_builder()
    time.sleep(seconds)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    whole = find(SHARED_KEY)
    path, compiled = build(SHARED_KEY, lambda: SOURCE, toolchain())
    assert compiled == (whole is None)
    assert find(SHARED_KEY) == path
    assert answer(path) == 42
    assert clear() == 1


def test_a_build_that_is_killed_leaves_nothing_in_the_way(compiler: Callable[[str], Path], directory: Path) -> None:
    log = compiler('[ -n "$FAST" ] || sleep 1000')
    process = start_builder()
    while not log.read_text():
        time.sleep(0.01)
    assert len(litter(directory)) == 1
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert len(litter(directory)) == 1, "the killed build left nothing, so this test shows nothing"
    os.environ["FAST"] = "1"
    try:
        assert find(SHARED_KEY) is None
        path, compiled = build(SHARED_KEY, lambda: SOURCE, toolchain())
    finally:
        del os.environ["FAST"]
        os.killpg(int(log.read_text().split()[0]), signal.SIGKILL)
    assert compiled
    assert answer(path) == 42
    assert not litter(directory)


@pytest.mark.slow
def test_a_build_can_be_killed_at_any_instant(compiler: Callable[[str], Path], directory: Path) -> None:
    compiler("sleep 0.05")
    begin = time.monotonic()
    start_builder().communicate()
    usual = time.monotonic() - begin
    clear()
    dice = random.Random(7)
    for _ in range(many(20, 60)):
        kill_after(dice.uniform(0, 1.2 * usual))
    # The last orphaned compilers may still be writing into what is being removed.
    deadline = time.monotonic() + 10
    while litter(directory) and time.monotonic() < deadline:
        clear()
    assert not litter(directory)


# --- info and clear


def test_info_counts_entries_and_bytes(directory: Path, tools: Toolchain) -> None:
    assert (info().entries, info().bytes, info().directory) == (0, 0, directory)
    paths = [made(tools, text)[1] for text in "abc"]
    assert info().entries == 3
    assert info().bytes == sum(file.stat().st_size for path in paths for file in path.parent.iterdir())
    assert str(info()).startswith(f"{directory}: 3 kernels, ")


def test_clear_removes_entries_failures_and_litter(directory: Path, tools: Toolchain) -> None:
    made(tools, "a")
    key, path = made(tools, "b")
    with pytest.raises(CompileError):
        build(cache_key("c", tools=tools), lambda: CSource("k", {"k.c": "wrong"}), tools)
    (path.parent.parent / "tmp.killed").mkdir()
    (path.parent.parent / "tmp.killed" / "kernel.c").touch()
    (directory / "note.txt").write_text("not ours")
    library = ctypes.CDLL(str(path))
    assert clear() == 2
    assert library.answer() == 42
    assert find(key) is None
    assert not litter(directory)
    left = [file for file in directory.rglob("*") if file.is_file() and file.name != "lock"]
    assert [file for file in left if not file.name.startswith("used.")] == [directory / "note.txt"]
    assert clear() == 0
    assert build(key, lambda: SOURCE, tools) == (path, True)


def test_clear_lets_a_build_under_way_finish(directory: Path, tools: Toolchain) -> None:
    key = cache_key("x", tools=tools)
    other = key[:2] + "0" * 62
    build(other, lambda: SOURCE, tools)

    def render() -> CSource:
        (directory / key[:2] / "tmp.mine").mkdir()
        assert clear() == 1
        assert litter(directory) == [directory / key[:2] / "tmp.mine"]
        return SOURCE

    path, compiled = build(key, render, tools)
    assert compiled
    assert find(other) is None
    assert answer(path) == 42


def test_litter_is_left_alone_where_its_owner_may_live_until_it_is_old(
    directory: Path, tools: Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "fcntl", None)
    key = cache_key("x", tools=tools)
    shard = directory / key[:2]
    for name in ("tmp.fresh", "tmp.old", "failed.fresh", "failed.old"):
        (shard / name).mkdir(parents=True)
    directory.chmod(0o700)
    shard.chmod(0o700)
    for name in ("tmp.old", "failed.old"):
        os.utime(shard / name, (time.time() - 7 * 3600,) * 2)
    build(key, lambda: SOURCE, tools)
    assert sorted(path.name for path in litter(directory)) == ["failed.fresh", "tmp.fresh"]


def test_clear_info_and_build_at_the_same_time_only_ever_succeed(directory: Path, tools: Toolchain) -> None:
    stop = threading.Event()
    failures: list[BaseException] = []

    def repeat(work: Callable[[], object]) -> Callable[[], None]:
        def run() -> None:
            while not stop.is_set():
                try:
                    work()
                except BaseException as error:
                    failures.append(error)

        return run

    def build_one() -> None:
        key = cache_key(str(random.randrange(3)), tools=tools)
        build(key, lambda: SOURCE, tools)
        find(key)

    threads = [threading.Thread(target=repeat(work)) for work in (build_one, build_one, build_one, clear, info)]
    for thread in threads:
        thread.start()
    time.sleep(1.5)
    stop.set()
    for thread in threads:
        thread.join()
    assert failures == []
    clear()
    assert not litter(directory)
