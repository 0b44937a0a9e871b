"""Imports what first calls import in the caller's thread before a handler of a signal can strike there.

In: nothing.  Out: modules that are there whole.

    import_before_handlers()

Python runs handlers in the main thread, between any two of its steps: one that makes a first call of its own in the
middle of an import finds a module that is half there. So where a program has handlers, a thread that they do not divide
imports these modules, once, which takes some ten milliseconds; where it has none, each waits until it is needed. The
stages that write C, which import the rest, run in such a thread in any case.
"""

from __future__ import annotations

import _signal  # type: ignore[import-not-found] # `signal` would first make an enum of all signals
import importlib

from ..core.apart import apart
from ..core.forks import undivided

__all__ = ["import_before_handlers"]

# What is imported inside functions on the way of a first call, from what a kernel is made of to the binary that is
# found or built; tests/kernel/test_first_calls.py lets a handler strike in each module that first calls import.
_pending = """
.expr.reductions .expr.compositions .expr.text .kernel.caller_extents .shape.types.tensor_type .core.operand_names
.ops.complex_forms .api.op_kernels .api.specialized .api.reductions .runtime.cache.store .kernel.uncompiled
.kernel.added_loops atexit shlex shutil tempfile
""".split()
_PACKAGE = __name__.partition(".")[0]


def import_before_handlers() -> None:
    """Import what first calls import, if the program has a handler of a signal and this has not been done.

    Examples
    --------
    >>> import_before_handlers()
    """
    if _pending and _has_handlers():
        apart(_import)


def _has_handlers() -> bool:
    """Whether Python runs a handler for any signal, other than its own for Ctrl-C."""
    handlers = (_signal.getsignal(signal) for signal in range(1, _signal.NSIG))
    return any(callable(handler) and handler is not _signal.default_int_handler for handler in handlers)


def _import() -> None:
    for name in tuple(_pending):
        # A fork waits for the end of one import, not of all.
        with undivided:
            importlib.import_module(name, _PACKAGE)
    _pending.clear()
