"""Work that no fork may divide: imports, and stages of a compilation.

In: nothing.  Out: `undivided`, a context whose end a fork in another thread waits for.

    with undivided: from .emit.render import render_kernel

A fork copies locks that are held by threads the child does not have: the locks of modules that are being imported,
which cannot be replaced, and the locks of this package. So imports inside functions, and other work that takes a lock,
are done in this context. Such work ends soon and waits for no other lock: the compiler runs outside of it.
"""

from __future__ import annotations

import os
from _thread import RLock

__all__ = ["Undivided", "undivided"]

# A fork waits no longer than this; the child may then find an import that never ends.
_MOST_SECONDS = 30.0


class Undivided(RLock):  # type: ignore[misc] # final for checkers only
    """A lock that one thread may take several times, and that :func:`os.fork` takes as well.

    Its context is the lock's own, in C: nothing that the handler of a signal raises comes between the lock and the
    ``with`` that releases it.
    """

    _forking = False

    @property
    def is_held(self) -> bool:
        """Whether the calling thread is in the context."""
        return bool(self._is_owned())  # type: ignore[attr-defined]

    def before_fork(self) -> None:
        """Wait until no other thread is in the context."""
        # A signal handler that runs in this thread before the fork is in the context, too.
        self._forking = self.acquire(timeout=_MOST_SECONDS)

    def after_fork(self) -> None:
        """Let other threads in again."""
        if self._forking:
            self.release()

    def after_fork_in_child(self) -> None:
        """Release the lock in the child: its holder does not exist here, unless it is the thread that forked."""
        if self._forking:
            self.after_fork()
        else:
            self._at_fork_reinit()  # type: ignore[attr-defined]


undivided = Undivided()

if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=undivided.before_fork,
        after_in_parent=undivided.after_fork,
        after_in_child=undivided.after_fork_in_child,
    )
