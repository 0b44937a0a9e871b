"""Keeps the cache within a number of bytes: the entry unused for longest goes first, one in use never.

In: ``BCASTGEN_CACHE_SIZE``, and what was built.  Out: entries removed.

    keep_within(entry, origin)        it was built: if the cache has grown past its bound, others are removed

Entries that another version, compiler or CPU made go before those that this installation can use. Nothing walks
through the cache as long as it is small: each build adds its bytes to a file, and their sum is looked at.
"""

from __future__ import annotations

import os
from pathlib import Path

from ...core.logs import tell
from ...core.sizes import byte_size
from ...core.system_errors import pass_on, system_errors_ignored
from .entries import discard, entries, shards
from .files import read_ours, write_whole
from .lookup import used_keys
from .manifest import MANIFEST, read_manifest

__all__ = ["BYTES", "bound", "bytes_of", "keep_within"]

SIZE = "BCASTGEN_CACHE_SIZE"
BYTES = "bytes"
_USUAL = 10**9
# So many bytes are left when entries have been removed, so that not every build has to remove some.
_LEFT = 0.9


def bound() -> int:
    """Return how many bytes the cache may have; 0 for any number.

    Raises
    ------
    BcastgenError
        If ``BCASTGEN_CACHE_SIZE`` is no number of bytes.
    """
    size = byte_size(SIZE, "0 for no bound")
    return _USUAL if size is None else size


def keep_within(entry: Path, origin: str) -> None:
    """Note the bytes of a new entry, and remove others if there are too many.

    Parameters
    ----------
    entry : what was built.
    origin : digest of what builds here; entries of others go first.
    """
    limit, directory = bound(), entry.parent.parent
    with system_errors_ignored():
        if limit and _noted(directory, bytes_of(entry)) > limit:
            _remove_oldest(directory, limit, origin)


def _noted(directory: Path, more: int) -> int:
    """Add to the bytes of the directory; return their sum."""
    path = directory / BYTES
    if not path.exists():
        write_whole(path, f"{sum(map(bytes_of, _all_entries(directory)))}\n")
    else:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            os.write(descriptor, f"{more}\n".encode())
        finally:
            os.close(descriptor)
    return sum(int(line) for line in read_ours(path).split() if line.isdigit() and len(line) < 20)


def _remove_oldest(directory: Path, limit: int, origin: str) -> None:
    in_use = used_keys(directory)
    found = [(*_age_of(entry, origin), bytes_of(entry), entry) for entry in _all_entries(directory)]
    total = sum(size for *_, size, _ in found)
    for _, _, size, entry in sorted(found):
        if total <= limit * _LEFT:
            break
        if entry.name not in in_use:
            tell("removed from the cache, which has grown past its bound of %d bytes: %s", limit, entry)
            discard(entry)  # or another process has, which does the same now
            total -= size
    write_whole(directory / BYTES, f"{total}\n")


def _age_of(entry: Path, origin: str) -> tuple[bool, float]:
    """Return the key that sorts entries for removal: this origin's come last, and the last used one last of all."""
    manifest = read_manifest(entry)
    try:
        return manifest is not None and manifest.origin == origin, (entry / MANIFEST).stat().st_mtime
    except OSError as error:
        pass_on(error)
        return False, 0.0


def _all_entries(directory: Path) -> list[Path]:
    return [entry for shard in shards(directory) for entry in entries(shard)]


def bytes_of(path: Path) -> int:
    """Return the bytes of all files below a directory."""
    total = 0
    for where, _, names in os.walk(path):
        for name in names:
            with system_errors_ignored():
                total += os.lstat(os.path.join(where, name)).st_size
    return total
