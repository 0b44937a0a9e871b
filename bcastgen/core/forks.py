"""Work that no fork may divide: imports, and stages of a compilation.

In: nothing.  Out: `undivided`, a context whose end a fork in another thread waits for.

    with undivided: from .emit.render import render_kernel

A fork copies locks that are held by threads the child does not have: the locks of modules that are being imported,
which cannot be replaced, and the locks of this package. So imports inside functions, and other work that takes a lock,
are done in this context. Such work ends soon and waits for no other lock: the compiler runs outside of it.
"""

from __future__ import annotations

import os
from _thread import RLock, get_ident

__all__ = ["Undivided", "undivided"]

# A fork waits no longer than this; the child may then find an import that never ends.
_MOST_SECONDS = 30.0


class Undivided:
    """A lock that one thread may take several times, and that :func:`os.fork` takes as well."""

    def __init__(self) -> None:
        self._lock = RLock()
        self._depth = 0
        self._holder: int | None = None
        self._forking = False

    def __enter__(self) -> None:
        self._lock.acquire()
        self._depth += 1
        self._holder = get_ident()

    def __exit__(self, *_exception: object) -> None:
        self._depth -= 1
        if self._depth == 0:
            self._holder = None
        self._lock.release()

    @property
    def is_held(self) -> bool:
        """Whether the calling thread is in the context."""
        return self._holder == get_ident()

    def before_fork(self) -> None:
        """Wait until no other thread is in the context."""
        self._forking = self._lock.acquire(timeout=_MOST_SECONDS)
        if self._forking:
            # A signal handler that runs in this thread before the fork is in the context, too.
            self._depth += 1
            self._holder = get_ident()

    def after_fork(self) -> None:
        """Let other threads in again."""
        if self._forking:
            self.__exit__()

    def after_fork_in_child(self) -> None:
        """Release the lock in the child: its holder does not exist here, unless it is the thread that forked."""
        if self._forking:
            self.after_fork()
        else:
            self._lock, self._depth, self._holder = RLock(), 0, None


undivided = Undivided()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=undivided.before_fork,
        after_in_parent=undivided.after_fork,
        after_in_child=undivided.after_fork_in_child,
    )
