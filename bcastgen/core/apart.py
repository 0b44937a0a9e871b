"""Work in a thread of its own, which handlers of signals do not divide: Python runs these in the main thread.

In: a function.  Out: what it returns, or raises.

    source = apart(lambda: compilation.source)

A handler that strikes in the middle of an import finds modules that are half there, and its own imports of them fail.
So what imports much runs apart, and the main thread waits; a handler that calls a kernel meanwhile waits for the same
imports.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import TypeVar

from .forks import undivided

__all__ = ["apart"]

Value = TypeVar("Value")
# A child that a handler forks meanwhile looks this often whether the thread is there: it is not.
_SECONDS = 0.05


def apart(work: Callable[[], Value]) -> Value:
    """Return what a function returns, which is called in another thread if this is the main one.

    The function may be called twice, where the process forks meanwhile. It is called in this thread where that is in
    the context `undivided`, for which the other one would wait.

    Examples
    --------
    >>> apart(lambda: 6 * 7)
    42
    """
    if threading.current_thread() is not threading.main_thread() or undivided.is_held:
        return work()
    values: list[Value] = []
    errors: list[BaseException] = []
    done = threading.Event()
    context = copy_context()

    def run() -> None:
        try:
            values.append(context.run(work))
        except BaseException as error:
            errors.append(error)
        done.set()

    thread = threading.Thread(target=run, name="bcastgen-apart", daemon=True)
    thread.start()
    while not done.wait(_SECONDS) and thread.is_alive():
        pass
    if errors:
        raise errors[0]
    return values[0] if values else work()
