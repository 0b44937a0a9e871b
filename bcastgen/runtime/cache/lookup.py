"""Finds kernels on disk, and notes which ones living processes have loaded: what is in use is not removed.

In: a key.  Out: the result of `load` for the path of a shared object, or None; a line in the process's file in the
cache, and the keys of all such files.

    find(key, open_library) -> a library        used_keys(directory) -> {"3f9a..."}

What is found is verified and loaded before anyone relies on it. `store` builds what is missing; most processes need
nothing of it.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ...core.errors import CacheError, CacheWarning
from ...core.forks import undivided
from ...core.logs import tell
from ...core.system_errors import pass_on, system_errors_ignored
from ..toolchain import BINARY
from .directory import cache_directory, own_directory
from .files import read_ours
from .manifest import MANIFEST, entry_of, is_whole, read_manifest

__all__ = ["USED", "find", "itself", "loaded_from", "mark_used", "used_keys"]

# The entries that a warning has named.
_warned_of: set[str] = set()


def itself(path: Path) -> Path:
    """Load nothing."""
    return path


def find(key: str, load: Callable[[Path], Any] = itself) -> Any:
    """Return the loaded shared object of a complete and verified entry, or None if there is none that can be loaded.

    Parameters
    ----------
    key : from :func:`cache_key`.
    load : makes something of the path; raises CacheError if the file is no shared object of ours.
    """
    for directory in dict.fromkeys((cache_directory(), *own_directory())):
        entry = entry_of(directory, key)
        if is_whole(entry):
            loaded = loaded_from(entry, load)
            if loaded is not None:
                tell("found on disk %s: %s", partial(_about, entry), entry)
                return loaded
    return None


def _about(entry: Path) -> str:
    found = read_manifest(entry)
    return "" if found is None else found.about


def loaded_from(entry: Path, load: Callable[[Path], Any]) -> Any:
    """Load a whole entry; None, with a warning, if that fails."""
    try:
        loaded = load(entry / BINARY)
    except CacheError as error:
        # An entry that was removed meanwhile needs no warning.
        if entry.exists() and str(entry) not in _warned_of:
            _warned_of.add(str(entry))
            _warn(f"a kernel of the cache cannot be loaded, so it is built anew: {error}")
        return None
    mark_used(entry)
    return loaded


def _warn(message: str) -> None:
    warnings.warn(message, CacheWarning, stacklevel=4)


# ---- which kernels are in use ---------------------------------------------------------------------------------------

USED = "used."
# An entry's last use is noted this exactly: reading one changes nothing more often.
_NOTE_SECONDS = 3600.0
# Where files cannot be locked, a process is taken to live for so long after it last loaded a kernel.
_LIFE_SECONDS = 7 * 24 * 3600.0


class _Marker:
    """The file in which a process notes the keys that it has loaded; it holds the file's lock as long as it lives."""

    def __init__(self, directory: Path) -> None:
        self.owner = os.getpid()
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        while True:
            self.path = directory / f"{USED}{os.getpid()}.{os.urandom(4).hex()}"
            self.descriptor = os.open(self.path, flags, 0o600)
            _lock(self.descriptor, wait=True)
            if os.fstat(self.descriptor).st_nlink:
                break
            # Before it had its lock, another process took it for a dead one's.
            os.close(self.descriptor)

    def note(self, key: str) -> None:
        os.write(self.descriptor, f"{key}\n".encode())

    def remove(self) -> None:
        if os.getpid() == self.owner:
            with system_errors_ignored():
                self.path.unlink()


_markers: dict[Path, _Marker] = {}


def _lock(descriptor: int, wait: bool = False) -> bool:
    """Lock a file; return whether nobody else holds its lock, as far as the system can tell."""
    try:
        with undivided:
            import fcntl  # noqa: PLC0415 - the system may not have it
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except (ImportError, OSError) as error:
        pass_on(error)
        return time.time() - os.fstat(descriptor).st_mtime > _LIFE_SECONDS
    return True


def mark_used(entry: Path) -> None:
    """Note that this process has loaded an entry, and when, if the directory can be written to."""
    directory = entry.parent.parent
    with system_errors_ignored():
        if time.time() - os.stat(entry / MANIFEST).st_mtime > _NOTE_SECONDS:
            os.utime(entry / MANIFEST)
        marker = _markers.get(directory)
        if marker is None:
            with undivided:
                import atexit  # noqa: PLC0415 - only where kernels are loaded

            # Processes that were killed have left theirs, and nobody else may ever look.
            used_keys(directory)
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
    names: list[str] = []
    with system_errors_ignored():
        # Not Path.glob, which compiles a pattern: that takes as long as all else here.
        names = os.listdir(directory)
    for path in [directory / name for name in names if name.startswith(USED)]:
        with system_errors_ignored():
            descriptor = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
            try:
                if (own is None or path != own.path) and _lock(descriptor):
                    path.unlink()
                else:
                    keys.update(read_ours(path).decode("ascii", "replace").split())
            finally:
                os.close(descriptor)
    return keys
