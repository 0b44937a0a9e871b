"""Looks after the cache: how large it is, what is in it, whether all of it is whole; and clears it.

In: nothing.  Out: what `bcastgen cache` prints.

    info()     -> CacheInfo: 12 kernels, 0.7 MB
    verify()   -> CacheDefect(path, "is broken: ..."), ...
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

from ...core.errors import CacheError
from ...core.frozen import dataclass
from ...core.system_errors import pass_on
from ..lock import exclusive
from ..toolchain import BINARY
from .bound import BYTES, bound, bytes_of
from .directory import cache_directory
from .entries import LOCK, discard, entries, shards, sweep
from .files import is_our_directory, remove
from .identity import PACKAGE
from .lookup import used_keys
from .manifest import MANIFEST, is_whole, read_manifest

__all__ = ["CacheDefect", "CacheInfo", "StoredKernel", "clear", "info", "kernels", "verify"]


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """The size of the cache: its complete entries, the bytes of all its files, and how many there may be."""

    directory: Path
    entries: int
    bytes: int
    bound: int

    def __str__(self) -> str:
        of = f" of {self.bound / 1e6:.0f} MB" if self.bound else ""
        return f"{self.directory}: {self.entries} kernels, {self.bytes / 1e6:.1f} MB{of}"


@dataclass(frozen=True, slots=True)
class StoredKernel:
    """An entry of the cache.

    Attributes
    ----------
    path : its directory.
    about : the kernel's name and the types of its operands.
    bytes : the size of its files.
    days : how long ago it was used last, in days; noted to the hour.
    """

    path: Path
    about: str
    bytes: int
    days: float

    def __str__(self) -> str:
        return f"{self.path.name[:12]}  {self.bytes / 1e3:7.1f} kB  {self.days:6.1f} days ago  {self.about}"


@dataclass(frozen=True, slots=True)
class CacheDefect:
    """A defect of something in the cache."""

    path: Path
    problem: str

    def __str__(self) -> str:
        return f"{self.path}: {self.problem}"


def info() -> CacheInfo:
    """Return the size of the cache."""
    directory = cache_directory()
    found = list(shards(directory))
    return CacheInfo(directory, sum(len(entries(shard)) for shard in found), sum(map(bytes_of, found)), bound())


def kernels() -> list[StoredKernel]:
    """Return the entries of the cache, the last used first."""
    found = []
    for entry in (entry for shard in shards(cache_directory()) for entry in entries(shard)):
        manifest = read_manifest(entry)
        if manifest is not None:
            used = (entry / MANIFEST).stat().st_mtime
            found.append(StoredKernel(entry, manifest.about, bytes_of(entry), max(time.time() - used, 0) / 86400))
    return sorted(found, key=lambda kernel: kernel.days)


def verify(load: Callable[[Path], object]) -> Iterator[CacheDefect]:
    """Yield the defects of the cache: entries that are damaged or cannot be loaded, remains, links, strange files.

    Parameters
    ----------
    load : loads a shared object; raises CacheError if it is none.
    """
    directory = cache_directory()
    for shard in shards(directory):
        if not is_our_directory(shard):
            yield CacheDefect(shard, "is not a directory that only you can write to")
            continue
        whole = entries(shard)
        for path in sorted(shard.iterdir()):
            if path not in whole:
                if path.name != LOCK or path.is_symlink() or not path.is_file():
                    yield CacheDefect(path, "is no kernel: what a build has left, or nothing of ours")
            elif not is_whole(path):
                yield CacheDefect(path, "is damaged, or of another version: its files are not what its digest says")
            else:
                try:
                    load(path / BINARY)
                except CacheError as error:
                    yield CacheDefect(path, f"cannot be loaded: {error}")


def clear() -> int:
    """Remove every entry, and the remains of killed or failed builds; return how many entries there were.

    Loaded kernels go on working, and a build under way finishes. Files that are not ours stay, except links and files
    that have the name of a directory of entries and so block it.
    """
    directory = cache_directory()
    removed = 0
    try:
        for kept in (*directory.glob(f"{PACKAGE}*"), directory / BYTES):
            kept.unlink(missing_ok=True)
        used_keys(directory)
        for shard in shards(directory):
            if shard.is_symlink() or not shard.is_dir():
                shard.unlink(missing_ok=True)
                continue
            if (shard / LOCK).is_dir() or (shard / LOCK).is_symlink():
                remove(shard / LOCK)
            with exclusive(shard / LOCK, wait=False) as alone:
                removed += sum(map(discard, entries(shard)))
                sweep(shard, alone, failed_too=True)
    except OSError as error:
        pass_on(error)
        raise CacheError(f"cannot clear {directory}: {error}") from error
    return removed
