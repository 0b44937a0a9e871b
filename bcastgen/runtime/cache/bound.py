"""Keeps the cache within a number of bytes: what was not used for longest goes first, what is in use never.

In: ``BCASTGEN_CACHE_SIZE``, and what was built or loaded.  Out: entries removed.

    mark_used(entry)                  a process has loaded it
    keep_within(entry, origin)        it was built: if the cache has grown past its bound, others are removed

Entries that another version, compiler or CPU made go before those that this installation can use. Nothing walks
through the cache as long as it is small: each build adds its bytes to a file, and their sum is looked at.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from ...core.errors import BcastgenError
from ...core.forks import undivided
from .entries import MANIFEST, discard, entries, read_manifest, shards
from .files import read_ours, write_whole

__all__ = ["BYTES", "USED", "bound", "bytes_of", "keep_within", "mark_used", "used_keys"]

SIZE = "BCASTGEN_CACHE_SIZE"
BYTES, USED = "bytes", "used."
_USUAL = 10**9
# So many bytes are left when entries have been removed, so that not every build has to remove some.
_LEFT = 0.9
# An entry's last use is noted this exactly: reading one changes nothing more often.
_NOTE_SECONDS = 3600.0
# Where files cannot be locked, a process is taken to live for so long after it last loaded a kernel.
_LIFE_SECONDS = 7 * 24 * 3600.0


class _Marker:
    """The file in which a process notes the keys that it has loaded; it holds the file's lock as long as it lives."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / f"{USED}{os.getpid()}.{os.urandom(4).hex()}"
        self.owner = os.getpid()
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        self.descriptor = os.open(self.path, flags, 0o600)
        _lock(self.descriptor)

    def note(self, key: str) -> None:
        os.write(self.descriptor, f"{key}\n".encode())

    def remove(self) -> None:
        if os.getpid() == self.owner:
            with contextlib.suppress(OSError):
                self.path.unlink()


_markers: dict[Path, _Marker] = {}


def _lock(descriptor: int) -> bool:
    """Lock a file without waiting; return whether nobody else holds its lock, as far as the system can tell."""
    try:
        with undivided:
            import fcntl  # noqa: PLC0415 - the system may not have it
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return time.time() - os.fstat(descriptor).st_mtime > _LIFE_SECONDS
    return True


def mark_used(entry: Path) -> None:
    """Note that this process has loaded an entry, and when, if the directory can be written to."""
    directory = entry.parent.parent
    with contextlib.suppress(OSError):
        if time.time() - os.stat(entry / MANIFEST).st_mtime > _NOTE_SECONDS:
            os.utime(entry / MANIFEST)
        marker = _markers.get(directory)
        if marker is None:
            with undivided:
                import atexit  # noqa: PLC0415 - only where kernels are loaded

            marker = _markers[directory] = _Marker(directory)
            atexit.register(marker.remove)
        marker.note(entry.name)


def _forget() -> None:
    """Have a forked child make markers of its own."""
    while _markers:
        os.close(_markers.popitem()[1].descriptor)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def used_keys(directory: Path) -> set[str]:
    """Return the keys that living processes have loaded; remove what dead ones have left."""
    keys: set[str] = set()
    own = _markers.get(directory)
    for path in directory.glob(f"{USED}*"):
        with contextlib.suppress(OSError):
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                if (own is None or path != own.path) and _lock(descriptor):
                    path.unlink()
                else:
                    keys.update(read_ours(path).decode("ascii", "replace").split())
            finally:
                os.close(descriptor)
    return keys


def bound() -> int:
    """Return how many bytes the cache may have; 0 for any number.

    Raises
    ------
    BcastgenError
        If ``BCASTGEN_CACHE_SIZE`` is no number of bytes.
    """
    text = os.environ.get(SIZE, "").strip()
    if not text:
        return _USUAL
    if not text.isdecimal() or int(text) >= 2**63:
        raise BcastgenError(f"{SIZE}={text!r} is no number of bytes; set 0 for no bound or more, or nothing")
    return int(text)


def keep_within(entry: Path, origin: str) -> None:
    """Note the bytes of a new entry, and remove others if there are too many.

    Parameters
    ----------
    entry : what was built.
    origin : digest of what builds here; entries of others go first.
    """
    limit, directory = bound(), entry.parent.parent
    with contextlib.suppress(OSError):
        if limit and _noted(directory, bytes_of(entry)) > limit:
            _remove_oldest(directory, limit, origin)


def _noted(directory: Path, more: int) -> int:
    """Add to the bytes of the directory; return their sum."""
    path = directory / BYTES
    if not path.exists():
        write_whole(path, f"{sum(map(bytes_of, _all_entries(directory)))}\n")
    else:
        descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            os.write(descriptor, f"{more}\n".encode())
        finally:
            os.close(descriptor)
    return sum(int(line) for line in read_ours(path).split() if line.isdigit())


def _remove_oldest(directory: Path, limit: int, origin: str) -> None:
    in_use = used_keys(directory)
    found = [(*_age_of(entry, origin), bytes_of(entry), entry) for entry in _all_entries(directory)]
    total = sum(size for *_, size, _ in found)
    for _, _, size, entry in sorted(found):
        if total <= limit * _LEFT:
            break
        if entry.name not in in_use:
            discard(entry)  # or another process has, which does the same now
            total -= size
    write_whole(directory / BYTES, f"{total}\n")


def _age_of(entry: Path, origin: str) -> tuple[bool, float]:
    """Return what entries are removed in the order of: those of this origin last, among equals the last used last."""
    manifest = read_manifest(entry)
    try:
        return manifest is not None and manifest.origin == origin, (entry / MANIFEST).stat().st_mtime
    except OSError:
        return False, 0.0


def _all_entries(directory: Path) -> list[Path]:
    return [entry for shard in shards(directory) for entry in entries(shard)]


def bytes_of(path: Path) -> int:
    """Return the bytes of all files below a directory."""
    total = 0
    for where, _, names in os.walk(path):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(where, name)).st_size
    return total
