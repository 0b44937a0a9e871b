"""Work that no fork, and no handler of a signal, may divide: imports, and stages of a compilation.

In: work.  Out: `undivided`, a context whose end a fork in another thread waits for; `apart`, which does work in a
thread that no handler strikes in.

    with undivided: from .emit.templating.render import render_kernel
    source = apart(lambda: compilation.source)

A fork copies locks that are held by threads the child does not have: the locks of modules that are being imported,
which cannot be replaced, and the locks of this package. So imports inside functions, and other work that takes a lock,
are done in this context. Such work ends soon and waits for no other lock: the compiler runs outside of it.

Python runs handlers in the main thread, between any two of its steps. One that strikes in the middle of an import finds
modules that are half there, and its own imports of them fail. So what imports much runs apart, and the caller waits; a
handler that calls a kernel meanwhile waits for the same imports. This module imports nothing that could be half there.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # `signal` would first make an enum of all signals
import importlib
import os
from _thread import RLock, allocate_lock, start_new_thread
from collections.abc import Callable
from contextvars import copy_context
from typing import TypeVar

__all__ = ["Undivided", "apart", "import_before_handlers", "undivided"]

Value = TypeVar("Value")

# A fork waits no longer than this; the child may then find an import that never ends.
_MOST_SECONDS = 30.0
# `apart` checks this often whether this process is a child that a signal handler has forked: it does not have the other
# thread.
_LOOK_SECONDS = 0.05
# The module that imports what first calls need; the list is emptied when that is done.
_before_handlers = [f"{__name__.partition('.')[0]}.kernel.first_calls"]


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


def apart(work: Callable[[], Value]) -> Value:
    """Return what a function returns, which is called in another thread.

    The function may be called twice, where the process forks meanwhile. It is called in this thread where that is in
    the context `undivided`, for which the other one would wait, and where no thread can be started.

    Examples
    --------
    >>> apart(lambda: 6 * 7)
    42
    """
    if undivided.is_held:
        return work()
    values: list[Value] = []
    errors: list[BaseException] = []
    context, done, starter = copy_context(), allocate_lock(), os.getpid()
    done.acquire()

    def run() -> None:
        try:
            values.append(context.run(work))
        except BaseException as error:
            errors.append(error)
        done.release()

    try:
        start_new_thread(run, ())
    except RuntimeError:
        return work()
    while not done.acquire(timeout=_LOOK_SECONDS) and os.getpid() == starter:
        pass
    if errors:
        raise errors[0]
    return values[0] if values else work()


def import_before_handlers() -> None:
    """Import what first calls import, if the program has a handler of a signal and this has not been done.

    Examples
    --------
    >>> import_before_handlers()
    """
    if _before_handlers and _has_handlers():
        apart(_import)


def _has_handlers() -> bool:
    """Whether Python runs a handler for any signal, other than its own for Ctrl-C."""
    handlers = (_signal.getsignal(signal) for signal in range(1, _signal.NSIG))
    return any(callable(handler) and handler is not _signal.default_int_handler for handler in handlers)


def _import() -> None:
    with undivided:
        for name in tuple(_before_handlers):
            importlib.import_module(name)
    _before_handlers.clear()
