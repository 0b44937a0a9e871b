"""Makes entries of the cache, directories of a source, its shared object and a digest of both, and removes them.

In: an entry's path, a source and the compiler.  Out: an entry published by a rename.

    with compiled_aside(entry, source, tools, "add (a: f64)", origin(tools)) as aside: publish(aside, entry)
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path

from ...core.c_source import CSource
from ...core.errors import CompileError
from ...core.system_errors import pass_on, system_errors_ignored
from ..run_compiler import compile_source
from ..toolchain import BINARY, Toolchain
from .files import TEMPORARY, is_our_directory, make_aside, remove
from .manifest import MANIFEST, header, is_whole, lines_of

__all__ = ["FAILED", "LOCK", "compiled_aside", "discard", "entries", "publish", "shards", "sweep"]

LOCK = "lock"
FAILED = "failed."
_STALE_SECONDS = 6 * 3600
# A compiler's message when the disk is full contains this.
_FULL = os.strerror(errno.ENOSPC)


@contextlib.contextmanager
def compiled_aside(entry: Path, source: CSource, tools: Toolchain, about: str, made_by: str) -> Iterator[Path]:
    """Compile a source beside its entry; yield the directory that :func:`publish` makes the entry.

    Raises
    ------
    CompileError
        If the compiler fails; the source is kept, and the message says where.
    OSError
        If it cannot be written, also by the compiler; or is removed meanwhile; or this is a child that was forked
        meanwhile, to which the directory does not belong.
    """
    aside, maker = make_aside(entry.parent, TEMPORARY), os.getpid()
    failed = entry.with_name(FAILED + entry.name)
    remove(failed)
    try:
        compile_source(source, aside, tools)
        names = (*source.files, BINARY)
        for name in names:
            (aside / name).chmod(0o600)
        text = header(entry.name, made_by, about) + lines_of(aside, names)
        (aside / MANIFEST).write_text(text, encoding="utf-8")
        (aside / MANIFEST).chmod(0o600)
        yield aside
    except CompileError as error:
        if os.getpid() != maker:
            raise ChildProcessError(errno.ECHILD, "it belongs to the process that forked", str(aside)) from error
        if not all((aside / name).exists() for name in source.files):
            raise FileNotFoundError(2, "it was removed during a build", str(aside)) from error
        if _FULL in str(error):
            # A full disk has no room for the source of the failed kernel, either.
            raise OSError(errno.ENOSPC, _FULL, str(aside)) from error
        with system_errors_ignored():
            os.rename(aside, failed)
        # The message has the paths of the directory that has just been renamed.
        raise type(error)(str(error).replace(str(aside), str(failed))) from None
    finally:
        if os.getpid() == maker:
            remove(aside)


def publish(aside: Path, entry: Path) -> None:
    """Give a finished directory its entry's name.

    Raises
    ------
    OSError
        If it cannot be renamed.
    """
    try:
        os.rename(aside, entry)
    except OSError as error:
        pass_on(error)
        # A broken entry is in the way; or, on a file system without locks, another builder was first.
        if is_whole(entry):
            return
        if not discard(entry):
            raise
        os.rename(aside, entry)


def discard(entry: Path) -> bool:
    """Rename an entry, so that it vanishes at once, then remove it; return False if there was none."""
    aside = make_aside(entry.parent, TEMPORARY)
    try:
        os.rename(entry, aside / entry.name)
    except FileNotFoundError:
        return False
    finally:
        remove(aside)
    return True


def sweep(shard: Path, alone: bool, failed_too: bool = False) -> None:
    """Remove the remains of killed builds; with the lock (`alone`), no other build of this shard can be alive."""
    for path in shard.iterdir():
        mine = (alone and path.name.startswith(TEMPORARY)) or (failed_too and path.name.startswith(FAILED))
        if mine or (path.name.startswith((TEMPORARY, FAILED)) and _age(path) > _STALE_SECONDS):
            remove(path)


def _age(path: Path) -> float:
    try:
        return time.time() - path.lstat().st_mtime
    except OSError as error:
        pass_on(error)
        return 0.0


def shards(directory: Path) -> Iterator[Path]:
    """Yield what is named as the directories of entries are, whatever it is."""
    for path in sorted(directory.iterdir()):
        if re.fullmatch("[0-9a-f]{2}", path.name):
            yield path


def entries(shard: Path) -> list[Path]:
    """Return the paths in a directory that have an entry's name; none if the directory is another user's."""
    try:
        if is_our_directory(shard):
            return sorted(path for path in shard.iterdir() if re.fullmatch("[0-9a-f]{64}", path.name))
    except FileNotFoundError:
        pass
    return []
