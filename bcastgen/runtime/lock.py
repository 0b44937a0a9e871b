"""A lock between threads and between processes, which the system releases if its holder is killed.

In: the path of a lock file.  Out: a context in which no other thread or process holds it.

    with exclusive(shard / "lock") as held: ...

The file is never removed: removing one that another process has opened to wait for is a race.

A signal handler or a finaliser may come here in a thread that already holds such a lock, or waits for one. It does not
wait, since it could be waiting for itself; it goes on without the lock, which costs one compilation at most.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Lock, get_ident
from types import ModuleType

from ..core.errors import CacheError
from ..core.forks import undivided
from ..core.system_errors import pass_on, system_errors_ignored

__all__ = ["exclusive"]

# Seconds that are waited for another process: longer than it takes to compile most kernels.
PATIENCE = 30.0
_THREAD_LOCKS: dict[Path, Lock] = {}
_DESCRIPTORS: set[int] = set()
# Threads that hold one of these locks, or wait for one.
_INSIDE: set[int] = set()


@contextlib.contextmanager
def exclusive(path: Path, wait: bool = True) -> Iterator[bool]:
    """Hold the lock of a file against other threads and processes; yield whether it is held.

    It is not held if the system or the file system has no locks, or if another process keeps it for `PATIENCE` seconds:
    it may have been stopped, and without the lock a kernel is compiled twice, at worst. Nor is it if another thread or
    process holds it, and ``wait`` is false or this thread is inside a lock already.

    Raises
    ------
    CacheError
        If the file cannot be opened.
    """
    thread = get_ident()
    nested = thread in _INSIDE
    wait = wait and not nested and not undivided.is_held
    try:
        _INSIDE.add(thread)
        with _locked(path, wait) as held:
            yield held
    finally:
        if not nested:
            _INSIDE.discard(thread)


@contextlib.contextmanager
def _locked(path: Path, wait: bool) -> Iterator[bool]:
    # Threads need a lock of their own: an emulated flock (NFS) does not hold between the threads of a process.
    lock, held = _THREAD_LOCKS.setdefault(path, Lock()), False
    if wait:
        # Not acquire() and try: an exception of a signal handler that strikes between them would leave it locked.
        with lock, _locked_file(path, wait) as alone:
            yield alone
        return
    try:
        held = lock.acquire(blocking=False)
        if held:
            with _locked_file(path, wait) as alone:
                yield alone
        else:
            yield False
    finally:
        if held:
            lock.release()


def _take(descriptor: int, fcntl: ModuleType, patience: float) -> None:
    """Lock a file as soon as no other process has it; raise an OSError if one does after so many seconds."""
    end, pause = time.monotonic() + patience, 0.001
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= end:
                raise
        time.sleep(pause)
        pause = min(2 * pause, 0.03)


@contextlib.contextmanager
def _locked_file(path: Path, wait: bool) -> Iterator[bool]:
    """Hold the lock of a file; yield whether it is held. It is not if another process has it, or there are no locks."""
    try:
        with undivided:
            import fcntl  # noqa: PLC0415 - the system may not have it
    except ImportError:
        yield False
        return
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    except OSError as error:
        pass_on(error)
        raise CacheError(f"cannot open the lock {path}: {error.strerror}; remove it or clear the cache") from error
    _DESCRIPTORS.add(descriptor)
    opener = os.getpid()
    try:
        held = True
        try:
            _take(descriptor, fcntl, PATIENCE if wait else 0.0)
        except OSError as error:
            pass_on(error)
            held = False
        yield held
    finally:
        # In a child that a handler has forked meanwhile it is closed, and its number may be that of another file.
        if os.getpid() == opener:
            _DESCRIPTORS.discard(descriptor)
            # Explicitly: a child may hold a copy of the descriptor, which keeps the lock past the close.
            with system_errors_ignored():
                fcntl.flock(descriptor, fcntl.LOCK_UN)
            os.close(descriptor)


def _forget() -> None:
    """Drop all locks in a forked child: their threads do not exist here, and the files are the parent's."""
    _THREAD_LOCKS.clear()
    _INSIDE.clear()
    while _DESCRIPTORS:
        os.close(_DESCRIPTORS.pop())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
