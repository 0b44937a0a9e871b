"""Builds the kernels that are not on disk.

In: a key, and a function that renders its C.  Out: the result of `load` for the path of a shared object.

    build(key, render, tools, open_library, "add (a: f64)") -> (the library, whether the compiler ran)

What is built is loaded before it is published: a shared object that the system does not load never stays. Where kernels
cannot be kept they go into a private directory.
"""

from __future__ import annotations

import contextlib
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ...core.c_source import CSource
from ...core.errors import CacheError, CompileError
from ...core.logs import tell
from ...core.system_errors import pass_on
from ..lock import exclusive
from ..toolchain import BINARY, Toolchain
from .bound import keep_within
from .directory import build_directory, own_directory, private_directory
from .entries import LOCK, compiled_aside, discard, publish, sweep
from .files import is_our_directory
from .identity import origin
from .lookup import itself, loaded_from
from .manifest import entry_of, is_whole

__all__ = ["build"]

# The loader's message where the system runs no programs from a directory, though its mount allows it, contains this.
_NOEXEC = "failed to map segment"
# Compilers' messages when a file is not there contain this, in lower or upper case.
_MISSING = "no such file or directory"
# Someone has removed the cache during the build; or a handler has forked, and this is the child.
_LOST = (FileNotFoundError, ChildProcessError)


def build(
    key: str,
    render: Callable[[], CSource],
    tools: Toolchain,
    load: Callable[[Path], Any] = itself,
    about: str = "",
) -> tuple[Any, bool]:
    """Return the loaded shared object of a key, and whether this call ran the compiler for it.

    If several threads and processes ask for one key, one of them builds and the others wait.

    Parameters
    ----------
    key : from :func:`cache_key`.
    render : returns the source; called only if the entry is missing or broken.
    tools : the compiler and its flags.
    load : makes something of the path of a shared object; raises CacheError if it cannot be loaded.
    about : what `bcastgen cache info` says of the entry: the kernel's name and the types of its operands.

    Raises
    ------
    CompileError
        If the compiler fails, or what it wrote cannot be loaded; the source is kept, and the message says where.
    CacheError
        If the entry cannot be written anywhere (disk full).

    Warns
    -----
    CacheWarning
        If kernels are kept in a private directory, since the usual one cannot be written to.
    """
    directory, may_try_again = build_directory(), True
    # A kernel that this process has built in its private directory is found there.
    directory = next((own for own in own_directory() if is_whole(entry_of(own, key))), directory)
    while True:
        entry = entry_of(directory, key)
        try:
            return _build(entry, render, tools, load, about)
        except CompileError as error:
            # Someone who removes the cache during the build may have removed no more than the compiler's own files.
            if may_try_again and _MISSING in str(error).casefold():
                directory, may_try_again = build_directory(), False
                continue
            if directory in own_directory() or not _lacks_its_own_file(entry, str(error)):
                raise
            directory = private_directory(f"{directory} is removed while kernels are compiled")
        except CacheError as error:
            if may_try_again and isinstance(error.__cause__, _LOST):
                directory, may_try_again = build_directory(), False
                continue
            if directory in own_directory():
                raise
            with _as_cache_error(directory):
                directory = private_directory(str(error).partition("; ")[0])


def _lacks_its_own_file(entry: Path, said: str) -> bool:
    """Return whether a compiler misses a file of the directory that it compiles in, where it made all files itself."""
    own = rf"{re.escape(str(entry.parent))}/[^\s:]+: {_MISSING}"
    return re.search(own, said, re.IGNORECASE) is not None


def _build(
    entry: Path, render: Callable[[], CSource], tools: Toolchain, load: Callable[[Path], Any], about: str
) -> tuple[Any, bool]:
    with _as_cache_error(entry):
        entry.parent.mkdir(mode=0o700, exist_ok=True)
        if not is_our_directory(entry.parent):
            raise CacheError(f"{entry.parent} is not a directory that only you can write to; remove it")
    with exclusive(entry.parent / LOCK) as alone:
        if is_whole(entry):
            loaded = loaded_from(entry, load)
            if loaded is not None:
                return loaded, False
            with _as_cache_error(entry):
                discard(entry)
        begun = time.perf_counter()
        source = render()
        made_by = origin(tools)
        with _as_cache_error(entry):
            sweep(entry.parent, alone)
            with compiled_aside(entry, source, tools, about, made_by) as aside:
                made = _loaded_aside(aside, load)
                publish(aside, entry)
        # Load it by its final name; if the cache was cleared meanwhile, use what is loaded already.
        loaded = loaded_from(entry, load)
        loaded = made if loaded is None else loaded
    tell("compiled %s in %.0f ms: %s", about, 1e3 * (time.perf_counter() - begun), entry)
    keep_within(entry, made_by)
    return loaded, True


def _loaded_aside(aside: Path, load: Callable[[Path], Any]) -> Any:
    """Load what was built before anyone can find it.

    Raises
    ------
    CompileError
        If it is no shared object of ours.
    CacheError
        If no program can be run from there.
    """
    try:
        return load(aside / BINARY)
    except CacheError as error:
        if _NOEXEC in str(error):
            raise CacheError(f"no program can be run from {aside.parent.parent}; {error}") from error
        why = str(error.__cause__ or error)
        raise CompileError(
            f"the C compiler wrote a shared object that cannot be loaded\nsource kept in: {aside}\n{why}"
        ) from None


@contextlib.contextmanager
def _as_cache_error(path: Path) -> Iterator[None]:
    try:
        yield
    except CacheError:
        raise
    except OSError as error:
        pass_on(error)
        raise CacheError(
            f"cannot write {path}: {error.strerror}; free some space, or set BCASTGEN_CACHE_DIR to another directory"
        ) from error
