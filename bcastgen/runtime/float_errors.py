"""Floating-point errors of a call, reported as NumPy's ufuncs report theirs.

In: the exceptions that a call raised, as bits of csrc/runtime/run.h.  Out: the reaction that `numpy.errstate` asks for:
nothing, a warning, an exception, a call of the user's function.

    report(log, DIVIDE)    RuntimeWarning: divide by zero encountered in log
"""

from __future__ import annotations

import sys
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.source_lines import callers_level

if TYPE_CHECKING:
    from .named import Named

__all__ = ["DIVIDE", "ERRORS", "INVALID", "OVERFLOW", "UNDERFLOW", "report"]

# The bit of an exception, its name for numpy.errstate, and its name in messages; in NumPy's order.
DIVIDE, OVERFLOW, UNDERFLOW, INVALID = 1, 2, 4, 8
ERRORS = (
    (DIVIDE, "divide", "divide by zero"),
    (OVERFLOW, "over", "overflow"),
    (UNDERFLOW, "under", "underflow"),
    (INVALID, "invalid", "invalid value"),
)


def report(kernel: Named, raised: int) -> None:
    """Report the floating-point errors of a call of a kernel.

    Raises
    ------
    FloatingPointError
        If `numpy.errstate` says so.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> with np.errstate(divide="raise"):
    ...     report(SimpleNamespace(_name="log"), 1)
    Traceback (most recent call last):
      ...
    FloatingPointError: divide by zero encountered in log
    """
    wanted: Any = np.geterr()
    for bit, kind, words in ERRORS:
        if raised & bit:
            _report(wanted[kind], bit, words, f"{words} encountered in {kernel._name}")


def _report(action: str, bit: int, words: str, message: str) -> None:
    callback: Any = np.geterrcall()
    match action:
        case "warn":
            warnings.warn(message, RuntimeWarning, stacklevel=callers_level())
        case "raise":
            raise FloatingPointError(message)
        case "print":
            # NumPy writes to C's stdout, past sys.stdout.
            print(f"Warning: {message}", file=sys.__stdout__, flush=True)
        case "call" | "log" if callback is None:
            name = "python callback specified for" if action == "call" else "log specified for"
            raise NameError(f"{name} {words} (in {message.rpartition(' ')[2]}) but no function found.")
        case "call":
            callback(words, bit)
        case "log":
            callback.write(f"Warning: {message}\n")
