"""Shared objects that cannot be loaded: none is published, and one that is found is built anew."""

from __future__ import annotations

import ctypes
import shutil
import warnings
from pathlib import Path

import pytest

from bcastgen.core.c_source import CSource
from bcastgen.core.errors import CacheError, CacheWarning, CompileError
from bcastgen.runtime.cache import build, cache_key, find
from bcastgen.runtime.toolchain import Toolchain, toolchain
from cache_entries import SOURCE, answer, made


def load(path: Path) -> ctypes.CDLL:
    """Load a library as kernels are loaded."""
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise CacheError(f"cannot load {path}: {error}") from error
    return library


@pytest.mark.parametrize("content", ["junk", ""])
def test_what_a_compiler_wrote_is_loaded_before_it_is_published(
    content: str, directory: Path, tools: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "cc"
    script.write_text(f"#!/bin/sh\nwhile [ $1 != -o ]; do shift; done\nprintf '{content}' > $2\n")
    script.chmod(0o755)
    monkeypatch.setenv("BCASTGEN_CC", str(script))
    with pytest.raises(CompileError, match="the C compiler wrote a shared object that cannot be loaded"):
        build("5c" + 62 * "0", lambda: SOURCE, toolchain(), load)
    assert find("5c" + 62 * "0") is None
    # Nothing is in the way of a compiler that works.
    monkeypatch.delenv("BCASTGEN_CC")
    library, compiled = build("5c" + 62 * "0", lambda: SOURCE, tools, load)
    assert compiled and library.answer() == 42


def test_a_whole_entry_that_cannot_be_loaded_is_built_anew_and_told_once(tools: Toolchain) -> None:
    key, path = made(tools)

    def load_once_built(found: Path) -> Path:
        # As if it came from a machine with other libraries.
        if found == path and not rendered:
            raise CacheError("version `GLIBC_9.99' not found")
        return found

    rendered: list[bool] = []

    def render() -> CSource:
        rendered.append(True)
        return SOURCE

    with pytest.warns(
        CacheWarning, match="a kernel of the cache cannot be loaded, so it is built anew.*GLIBC_9"
    ) as told:
        assert find(key, load_once_built) is None
        assert find(key, load_once_built) is None
        assert build(key, render, tools, load_once_built) == (path, True)
    assert len(told) == 1
    assert find(key, load_once_built) == path


def test_a_cache_that_is_cleared_as_soon_as_a_build_is_done_does_not_fail_the_build(tools: Toolchain) -> None:
    key = cache_key("x", tools=tools)

    def load_and_clear(path: Path) -> Path:
        if path.parent.name == key:
            shutil.rmtree(path.parent)
            raise CacheError("it is gone")
        return path

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        _, compiled = build(key, lambda: SOURCE, tools, load_and_clear)
    assert compiled and find(key) is None


def test_where_no_program_may_run_kernels_are_built_elsewhere(directory: Path, tools: Toolchain) -> None:
    def refuse_there(path: Path) -> Path:
        if directory in path.parents:
            raise CacheError(f"{path}: failed to map segment from shared object")
        return path

    key = cache_key("x", tools=tools)
    with pytest.warns(CacheWarning, match=f"no program can be run from {directory}"):
        path, compiled = build(key, lambda: SOURCE, tools, refuse_there)
    assert compiled and answer(path) == 42
    assert find(key, refuse_there) == path
