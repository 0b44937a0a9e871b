"""Work in a thread of its own, which handlers of signals do not divide: Python runs these in the main thread.

In: a function.  Out: what it returns, or raises.

    source = apart(lambda: compilation.source)

A handler that strikes in the middle of an import finds modules that are half there, and its own imports of them fail.
So what imports much runs apart, and the caller waits; a handler that calls a kernel meanwhile waits for the same
imports. This module imports nothing that a handler could find half there.
"""

from __future__ import annotations

import os
from _thread import allocate_lock, start_new_thread
from collections.abc import Callable
from contextvars import copy_context
from typing import TypeVar

from .forks import undivided

__all__ = ["apart"]

Value = TypeVar("Value")
# A child that a handler forks meanwhile looks this often whether it is one: the thread is not there.
_SECONDS = 0.05


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
    while not done.acquire(timeout=_SECONDS) and os.getpid() == starter:
        pass
    if errors:
        raise errors[0]
    return values[0] if values else work()
