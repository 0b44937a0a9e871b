"""Entries of the cache: built, found, verified, rebuilt when damaged; and what a failure leaves."""

from __future__ import annotations

import errno
import os
import pathlib
import shutil
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bcastgen.core.c_source import CSource
from bcastgen.core.errors import CacheError, CacheWarning, CompileError
from bcastgen.runtime.cache import build, cache_key, find
from bcastgen.runtime.toolchain import BINARY, Toolchain, toolchain
from cache_entries import SOURCE, answer, litter, made

NOBODY = 65534


def never() -> CSource:
    raise AssertionError("rendered although the kernel is there")


# --- entries


def test_a_kernel_is_built_once_and_found_after(directory: Path, tools: Toolchain) -> None:
    key = cache_key("x", tools=tools)
    assert find(key) is None
    path, compiled = build(key, lambda: SOURCE, tools)
    assert compiled
    assert path == directory / key[:2] / key / BINARY
    assert answer(path) == 42
    assert find(key) == path
    assert build(key, never, tools) == (path, False)
    assert sorted(file.name for file in path.parent.iterdir()) == ["digest", "kernel.c", "kernel.h", "kernel.so"]
    assert (path.parent / "kernel.c").read_text() == SOURCE.text
    assert not litter(directory)


def test_the_digest_can_be_checked_by_hand(tools: Toolchain) -> None:
    _, path = made(tools)
    command = ["b2sum", "--length", "256", "--check", "--strict", "digest"]
    run = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, check=True)
    assert run.stdout.split() == ["kernel.c:", "OK", "kernel.h:", "OK", "kernel.so:", "OK"]


def test_an_entry_is_its_users_alone_whatever_the_umask(tools: Toolchain) -> None:
    old = os.umask(0)
    try:
        key, path = made(tools)
    finally:
        os.umask(old)
    assert find(key) == path
    for each in (path.parent.parent, path.parent, *path.parent.iterdir()):
        assert not each.stat().st_mode & 0o077


def truncate(entry: Path) -> None:
    os.truncate(entry / BINARY, 1000)


def flip(entry: Path) -> None:
    data = bytearray((entry / BINARY).read_bytes())
    data[len(data) // 2] ^= 1
    (entry / BINARY).write_bytes(data)


def edit(name: str) -> Callable[[Path], None]:
    def change(entry: Path) -> None:
        with (entry / name).open("a") as file:
            file.write("\n")

    change.__name__ = f"edit-{name}"
    return change


def drop(name: str) -> Callable[[Path], None]:
    def change(entry: Path) -> None:
        (entry / name).unlink()

    change.__name__ = f"drop-{name}"
    return change


def binary_digest(entry: Path) -> None:
    (entry / "digest").write_bytes(b"\xff\xfe")


def without_binary(entry: Path) -> None:
    lines = (entry / "digest").read_text().splitlines(keepends=True)
    (entry / "digest").write_text("".join(line for line in lines if BINARY not in line))
    (entry / BINARY).unlink()


def another_entry(entry: Path) -> None:
    # Whole, but of another key.
    text = (entry / "digest").read_text()
    (entry / "digest").write_text(text.replace(entry.name, "0" * 64))


def linked_file(entry: Path) -> None:
    os.rename(entry / BINARY, entry.parent.parent / "moved.so")
    (entry / BINARY).symlink_to(entry.parent.parent / "moved.so")


def linked_entry(entry: Path) -> None:
    os.rename(entry, entry.parent.parent / "moved")
    entry.symlink_to(entry.parent.parent / "moved")


def fifo(entry: Path) -> None:
    (entry / BINARY).unlink()
    os.mkfifo(entry / BINARY)


def file_for_directory(entry: Path) -> None:
    shutil.rmtree(entry)
    entry.write_text("not a directory")


def writable_file(entry: Path) -> None:
    (entry / BINARY).chmod(0o666)


def writable_entry(entry: Path) -> None:
    entry.chmod(0o777)


def anothers_file(entry: Path) -> None:
    os.chown(entry / BINARY, NOBODY, NOBODY)


def anothers_entry(entry: Path) -> None:
    os.chown(entry, NOBODY, NOBODY)


DAMAGES = [
    truncate,
    flip,
    *(edit(name) for name in ("kernel.c", "kernel.h", "digest")),
    *(drop(name) for name in ("kernel.c", "kernel.h", "digest", BINARY)),
    binary_digest,
    without_binary,
    another_entry,
    linked_file,
    linked_entry,
    fifo,
    file_for_directory,
    writable_file,
    writable_entry,
]
if os.geteuid() == 0:
    # Only root can give a file away.
    DAMAGES += [anothers_file, anothers_entry]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_entry_counts_as_missing_and_is_rebuilt(
    damage: Callable[[Path], None], directory: Path, tools: Toolchain
) -> None:
    key, path = made(tools)
    damage(path.parent)
    assert find(key) is None
    assert build(key, lambda: SOURCE, tools) == (path, True)
    assert find(key) == path
    assert not path.parent.is_symlink()
    assert answer(path) == 42
    assert not litter(directory)


def test_a_shard_that_is_not_ours_alone_is_not_used(directory: Path, tools: Toolchain) -> None:
    key, path = made(tools)
    path.parent.parent.chmod(0o777)
    assert find(key) is None
    with pytest.warns(CacheWarning, match=rf"{path.parent.parent} is not a directory that only you can write to"):
        other, compiled = build(key, lambda: SOURCE, tools)
    assert compiled and directory not in other.parents
    assert find(key) == other


# --- failures


def test_a_failing_compiler_leaves_no_entry_and_keeps_the_source(directory: Path, tools: Toolchain) -> None:
    key = cache_key("x", tools=tools)
    bad = CSource("kernel", {"kernel.c": "int f(void) { return undeclared_name; }\n"})
    for _ in range(2):
        with pytest.raises(CompileError) as caught:
            build(key, lambda: bad, tools)
    message = str(caught.value)
    assert "undeclared_name" in message
    kept = Path(message.splitlines()[2].removeprefix("source kept in: "))
    assert kept.read_text() == bad.text
    command = message.splitlines()[1].removeprefix("command: ")
    again = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert "undeclared_name" in again.stderr, "the command line shown cannot be run again"
    assert find(key) is None
    assert litter(directory) == [kept.parent]
    path, compiled = build(key, lambda: SOURCE, tools)
    assert (find(key), compiled) == (path, True)
    assert not litter(directory)


def test_a_failing_render_leaves_nothing(directory: Path, tools: Toolchain) -> None:
    key = cache_key("x", tools=tools)

    def render() -> CSource:
        raise FileNotFoundError(errno.ENOENT, "no such template")

    with pytest.raises(FileNotFoundError, match="no such template"):
        build(key, render, tools)
    assert find(key) is None
    assert not litter(directory)
    assert build(key, lambda: SOURCE, tools)[1]


@pytest.mark.parametrize("call", ["rename", "mkdir", "open"])
def test_a_full_disk_is_a_cache_error_and_leaves_nothing(
    call: str, directory: Path, tools: Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = cache_key("x", tools=tools)
    (directory / key[:2]).mkdir(parents=True)
    directory.chmod(0o700)
    (directory / key[:2]).chmod(0o700)
    (directory / key[:2] / "lock").touch()

    def full(*_arguments: object, **_options: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", CacheWarning)  # the private directory is as full
        if call == "open":
            patch.setattr(Path, "write_text", full)
        else:
            patch.setattr(os, call, full)
            if sys.version_info < (3, 11):  # its paths kept what os had
                patch.setattr(pathlib._normal_accessor, call, full, raising=False)
        with pytest.raises(CacheError, match=r"No space left on device; free some space, or set BCASTGEN_CACHE_DIR"):
            build(key, lambda: SOURCE, tools)
    assert find(key) is None
    assert not litter(directory)
    assert build(key, lambda: SOURCE, tools)[1]


def test_on_a_full_disk_kernels_are_built_elsewhere(
    directory: Path, tools: Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Path.write_text

    def full(path: Path, *arguments: Any, **options: Any) -> int:
        if directory in path.parents:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(path, *arguments, **options)

    monkeypatch.setattr(Path, "write_text", full)
    key = cache_key("x", tools=tools)
    with pytest.warns(CacheWarning, match=f"cannot write {directory}.*: No space left on device"):
        path, compiled = build(key, lambda: SOURCE, tools)
    assert compiled and answer(path) == 42
    assert build(key, never, tools) == (path, False) and find(key) == path
    assert not litter(directory)


def test_a_cache_that_is_removed_during_a_build_is_made_anew(directory: Path, tools: Toolchain) -> None:
    removed = []

    def render() -> CSource:
        if not removed:
            shutil.rmtree(directory)
            removed.append(True)
        return SOURCE

    key = cache_key("x", tools=tools)
    path, compiled = build(key, render, tools)
    assert compiled and directory in path.parents and answer(path) == 42


def test_a_build_whose_object_files_alone_are_removed_is_made_anew(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A tree is removed file by file: the sources may still be there when the linker finds the compiler's file gone."""
    scripts = {
        "cc": f'#!/bin/sh\nexec gcc -B {tmp_path} "$@"\n',
        "ld": '#!/bin/sh\nmkdir "$0.seen" 2>&- && rm "$TMPDIR"/*.o\nexec /usr/bin/ld "$@"\n',
    }
    for name, text in scripts.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("BCASTGEN_CC", str(tmp_path / "cc"))
    tools = toolchain()
    path, compiled = build(cache_key("x", tools=tools), lambda: SOURCE, tools)
    assert compiled and directory in path.parents and answer(path) == 42
    assert (tmp_path / "ld.seen").is_dir() and not litter(directory)


def test_a_cache_that_is_removed_again_and_again_is_left_for_a_private_one(
    directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scripts = {
        "cc": f'#!/bin/sh\nexec gcc -B {tmp_path} "$@"\n',
        "ld": f'#!/bin/sh\ncase "$TMPDIR" in {directory}/*) rm "$TMPDIR"/*.o;; esac\nexec /usr/bin/ld "$@"\n',
    }
    for name, text in scripts.items():
        (tmp_path / name).write_text(text)
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("BCASTGEN_CC", str(tmp_path / "cc"))
    tools = toolchain()
    with pytest.warns(CacheWarning, match="is removed while kernels are compiled"):
        path, compiled = build(cache_key("x", tools=tools), lambda: SOURCE, tools)
    assert compiled and directory not in path.parents and answer(path) == 42


def test_a_source_that_names_a_missing_file_is_compiled_twice_and_its_own_message_stays(
    directory: Path, tools: Toolchain
) -> None:
    sources = list[CSource]()

    def render() -> CSource:
        sources.append(CSource("x", {"kernel.c": '#include "nowhere.h"\n'}))
        return sources[-1]

    with pytest.raises(CompileError, match=r"nowhere\.h: No such file or directory"):
        build(cache_key("x", tools=tools), render, tools)
    assert len(sources) == 2


def test_a_warm_cache_that_cannot_be_written_to_is_read(
    directory: Path, tools: Toolchain, monkeypatch: pytest.MonkeyPatch
) -> None:
    key, path = made(tools)
    access = os.access
    monkeypatch.setattr(
        os, "access", lambda name, mode: (name != directory or not mode & os.W_OK) and access(name, mode)
    )
    monkeypatch.setattr(os, "utime", lambda *_: pytest.fail("an entry was changed"))
    assert find(key) == path
    other = cache_key("another", tools=tools)
    with pytest.warns(CacheWarning, match=f"since the cache directory {directory} is not writable"):
        built, _ = build(other, lambda: SOURCE, tools)
    assert directory not in built.parents
    assert (find(key), find(other)) == (path, built)


SMALL_FILES = """
import resource, sys
from bcastgen.core.c_source import CSource
from bcastgen.core.errors import BcastgenError
from bcastgen.runtime.cache import build, cache_key, find
from bcastgen.runtime.toolchain import toolchain
tools = toolchain()
key = cache_key("x", tools=tools)
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
try:
    build(key, lambda: CSource("k", {"kernel.c": "int f(void) { return 1; }" + "/* */" * 1000}), tools)
except BcastgenError as error:
    print(type(error).__name__, find(key))
"""


@pytest.mark.parametrize(("limit", "error"), [("100", "CacheError"), ("6000", "CompileError")])
def test_files_that_cannot_be_written_whole_are_an_error(limit: str, error: str, directory: Path) -> None:
    command = [sys.executable, "-c", SMALL_FILES, limit]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    assert run.stdout.split() == [error, "None"]
    assert not list(directory.glob("*/tmp.*"))
