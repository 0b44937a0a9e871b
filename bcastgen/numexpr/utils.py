"""Threads, and what NumExpr asks Intel's VML for, which is not there.

In: NUMEXPR_MAX_THREADS, NUMEXPR_NUM_THREADS, OMP_NUM_THREADS, or what a program sets.  Out: a number of threads.

    set_num_threads(2) -> the number before

The number is that of expressions of this package; other kernels keep :func:`bcastgen.set_num_threads`.
"""

from __future__ import annotations

import operator
import os
from weakref import WeakValueDictionary

from ..kernel.kernel import Kernel

__all__ = [
    "MAX_THREADS",
    "detect_number_of_cores",
    "detect_number_of_threads",
    "get_num_threads",
    "get_vml_num_threads",
    "get_vml_version",
    "init_num_threads",
    "set_num_threads",
    "set_vml_accuracy_mode",
    "set_vml_num_threads",
    "use_vml",
]

use_vml = False
# As many as NumExpr uses at most if nobody says a number.
_USUAL_MOST = 16


def _number(name: str) -> int | None:
    """Return the number that a variable of the environment holds; None where it is unset or empty."""
    text = os.environ.get(name, "")
    try:
        return int(text) if text else None
    except ValueError:
        return None


MAX_THREADS = max(_number("NUMEXPR_MAX_THREADS") or 64, 1)


class _Threads:
    """How many threads a call of an expression may take, and the kernels of expressions, which keep it."""

    def __init__(self) -> None:
        self.number = 1
        # By identity, since kernels of equal expressions are equal.
        self.kernels: WeakValueDictionary[int, Kernel] = WeakValueDictionary()


_threads = _Threads()


def keep_threads(kernel: Kernel) -> None:
    """Let a kernel take as many threads as are set here, from now on."""
    kernel.threads = _threads.number
    _threads.kernels[id(kernel)] = kernel


def set_num_threads(nthreads: int) -> int:
    """Set how many threads a call may take, and return the number before.

    Raises
    ------
    ValueError
        If it is not from 1 to MAX_THREADS.

    Examples
    --------
    >>> before = set_num_threads(1)
    >>> set_num_threads(before)
    1
    """
    nthreads = operator.index(nthreads)
    if not 1 <= nthreads <= MAX_THREADS:
        raise ValueError(f"nthreads={nthreads}; give 1 to {MAX_THREADS} (NUMEXPR_MAX_THREADS in the environment)")
    before, _threads.number = _threads.number, nthreads
    for kernel in list(_threads.kernels.values()):
        kernel.threads = _threads.number
    return before


def get_num_threads() -> int:
    """Return how many threads a call may take."""
    return _threads.number


def detect_number_of_cores() -> int:
    """Return how many CPUs the machine has."""
    return os.cpu_count() or 1


def detect_number_of_threads() -> int:
    """Return how many threads the environment asks for, or else how many CPUs there are."""
    asked = _number("NUMEXPR_NUM_THREADS") or _number("OMP_NUM_THREADS")
    return min(asked or detect_number_of_cores(), MAX_THREADS)


def init_num_threads() -> int:
    """Set the number of threads that the environment asks for, and return it."""
    asked = _number("NUMEXPR_NUM_THREADS") or _number("OMP_NUM_THREADS")
    most = MAX_THREADS if _number("NUMEXPR_MAX_THREADS") else min(detect_number_of_cores(), _USUAL_MOST)
    set_num_threads(max(1, min(asked or most, MAX_THREADS)))
    return get_num_threads()


def get_vml_version() -> None:
    """Return None: there is no VML."""


def set_vml_accuracy_mode(mode: str | None) -> None:
    """Check an accuracy mode of VML's, which changes nothing: functions keep their bounds (docs/functions.md).

    Raises
    ------
    ValueError
        If it is none of NumExpr's modes.
    """
    if mode not in (None, "low", "high", "fast"):
        raise ValueError(f"mode={mode!r}; it is one of: None, 'high', 'low', 'fast'")


def set_vml_num_threads(nthreads: int) -> None:
    """Do nothing: there is no VML."""


def get_vml_num_threads() -> None:
    """Return None: there is no VML."""
