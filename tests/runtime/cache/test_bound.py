"""The bound of the cache: what is removed, in which order, and what is not."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from bcastgen.core.errors import BcastgenError
from bcastgen.runtime.cache import bound as module
from bcastgen.runtime.cache import build, cache_key, find
from bcastgen.runtime.cache.bound import bound, bytes_of
from bcastgen.runtime.cache.lookup import used_keys
from bcastgen.runtime.cache.upkeep import clear, info
from bcastgen.runtime.toolchain import Toolchain
from cache_entries import SOURCE, made


@pytest.fixture(autouse=True)
def nothing_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bcastgen.runtime.cache.lookup.mark_used", lambda entry: None)


def age(path: Path, days: float) -> None:
    os.utime(path.parent / "digest", (time.time() - days * 86400,) * 2)


def names(directory: Path) -> set[str]:
    return {path.name for path in directory.glob("*/*") if re.fullmatch("[0-9a-f]{64}", path.name)}


def test_the_bound_is_a_number_of_bytes(monkeypatch: pytest.MonkeyPatch) -> None:
    assert bound() == 10**9
    for text, bytes_ in (("", 10**9), ("0", 0), (" 5000 ", 5000), ("3k", 3072), ("2G", 2 << 30)):
        monkeypatch.setenv("BCASTGEN_CACHE_SIZE", text)
        assert bound() == bytes_
    for text in ("1 GB", "-1", "²", "9" * 30, "G", "9" * 18 + "K"):
        monkeypatch.setenv("BCASTGEN_CACHE_SIZE", text)
        with pytest.raises(BcastgenError, match=r"BCASTGEN_CACHE_SIZE=.* is no number of bytes; .* 0 for no bound"):
            bound()


def test_the_least_recently_used_go_first(directory: Path, tools: Toolchain, monkeypatch: pytest.MonkeyPatch) -> None:
    kernels = [made(tools, str(at)) for at in range(6)]
    size = bytes_of(kernels[0][1].parent)
    for at, (_, path) in enumerate(kernels):
        age(path, 10 + (at - 3) ** 2)
    monkeypatch.setenv("BCASTGEN_CACHE_SIZE", str(5 * size))
    new, _ = made(tools, "new")
    # 0.9 of the bound holds four: the new one, and those that were used 10, 11 and 11 days ago.
    assert names(directory) == {new, *(kernels[at][0] for at in (2, 3, 4))}
    assert info().bound == 5 * size


def test_what_another_installation_made_goes_before(
    directory: Path, tools: Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, path = made(tools, "old, of this one")
    age(path, 99)
    with monkeypatch.context() as patch:
        patch.setattr("bcastgen.runtime.cache.store.origin", lambda tools: 64 * "7")
        other, _ = made(tools, "of another one")
    monkeypatch.setenv("BCASTGEN_CACHE_SIZE", str(5 * bytes_of(path.parent) // 2))
    new, _ = made(tools, "new")
    assert names(directory) == {key, new}
    assert find(other) is None


def test_nothing_walks_through_a_small_cache(tools: Toolchain, monkeypatch: pytest.MonkeyPatch) -> None:
    made(tools, "first")
    monkeypatch.setattr(module, "_all_entries", lambda directory: pytest.fail("the cache was walked through"))
    made(tools, "second")


def test_a_bound_of_0_is_none(directory: Path, tools: Toolchain, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BCASTGEN_CACHE_SIZE", "0")
    for at in range(3):
        made(tools, str(at))
    assert len(names(directory)) == 3
    assert not (directory / "bytes").exists()


HOLDER = """
import sys
from bcastgen.core.c_source import CSource
from bcastgen.runtime.cache import build, find
from bcastgen.runtime.toolchain import toolchain
assert find(sys.argv[1]) is not None
print("loaded", flush=True)
sys.stdin.read()
"""


def test_what_a_living_process_has_loaded_stays(
    directory: Path, tools: Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, path = made(tools, "in use")
    age(path, 99)
    command = [sys.executable, "-c", HOLDER, key]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdin is not None and holder.stdout is not None
    assert holder.stdout.readline() == "loaded\n"
    assert used_keys(directory) == {key}
    monkeypatch.setenv("BCASTGEN_CACHE_SIZE", "1")
    made(tools, "new")
    assert names(directory) == {key}
    holder.kill()
    holder.communicate()
    assert used_keys(directory) == set()
    assert not list(directory.glob("used.*")), "what a killed process left is still there"
    made(tools, "newer")
    assert names(directory) == set()


def test_a_process_takes_its_mark_with_it(directory: Path, tools: Toolchain) -> None:
    key, _ = made(tools)
    subprocess.run([sys.executable, "-c", HOLDER, key], check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    assert not list(directory.glob("used.*"))


def test_what_killed_processes_have_left_is_removed_by_the_next(directory: Path, tools: Toolchain) -> None:
    key, _ = made(tools)
    command = [sys.executable, "-c", HOLDER, key]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None and holder.stdout.readline() == "loaded\n"
    holder.kill()
    holder.communicate()
    [left] = directory.glob(f"used.{holder.pid}.*")
    # It builds nothing, and no bound is met.
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    assert not left.exists()


def test_clear_removes_the_sum_too(directory: Path, tools: Toolchain) -> None:
    made(tools)
    assert clear() == 1
    assert not (directory / "bytes").exists()
    build(cache_key("y", tools=tools), lambda: SOURCE, tools)
    assert int((directory / "bytes").read_text()) == info().bytes


def test_a_pipe_in_place_of_the_sum_keeps_nobody(tmp_path: Path) -> None:
    """Opening one for writing waits for a reader."""
    os.mkfifo(tmp_path / "bytes", 0o600)
    program = (
        f"from pathlib import Path; from bcastgen.runtime.cache.bound import _noted; _noted(Path({str(tmp_path)!r}), 5)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert "OSError" in done.stderr


def test_a_sum_that_is_no_number_of_bytes_counts_for_nothing(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_text(f"7\n{'9' * 5000}\n")
    (tmp_path / "bytes").chmod(0o600)
    assert module._noted(tmp_path, 5) == 12


@pytest.mark.parametrize("name", ["kernel.so", "digest"])
def test_a_file_without_end_is_made_anew(tools: Toolchain, name: str) -> None:
    key, path = made(tools, "sparse")
    with (path.parent / name).open("r+b") as file:
        file.truncate(200 << 30)
    assert find(key) is None
    assert build(key, lambda: SOURCE, tools)[0] == path and path.stat().st_size < 1 << 20
