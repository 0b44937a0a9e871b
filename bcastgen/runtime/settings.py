"""Settings of the process: threads for calls, memory of freed results that is kept, when calls get loops of their own.

In: BCASTGEN_NUM_THREADS, BCASTGEN_MEMORY_POOL, BCASTGEN_VARIANTS, or what a program sets.  Out: numbers, also for the
extension.

    set_num_threads(2); get_num_threads() -> 2

The environment is read once, when the first kernel is compiled or found, or when these functions are first called.
"""

from __future__ import annotations

import os
from functools import cache
from typing import Any

from ..core.errors import BcastgenError
from ..core.options import whole
from ..core.sizes import byte_size
from ..core.source_lines import with_short_tracebacks
from ..core.system_errors import pass_on

__all__ = ["attach", "check_threads", "clear_memory", "get_num_threads", "set_num_threads", "start"]

THREADS, MEMORY, VARIANTS = "BCASTGEN_NUM_THREADS", "BCASTGEN_MEMORY_POOL", "BCASTGEN_VARIANTS"

_MOST_THREADS = 2**31 - 1
_MOST_MEMORY = 1 << 30
# A loop of its own spares 0.03 to 0.2 ns a point, and takes a compiler about 100 ms: so many points pay for it.
_HOT = 1 << 30


class _Chosen:
    """The extension, and the number of threads that the program has set; 0 if it has set none."""

    __slots__ = ("extension", "threads")

    def __init__(self) -> None:
        self.extension: Any = None
        self.threads = 0


_chosen = _Chosen()


def attach(extension: Any) -> None:
    """Remember the extension, which keeps these numbers for the calls that it handles."""
    _chosen.extension = extension


def start() -> None:
    """Pass the environment's settings to the extension, before its first call.

    Raises
    ------
    BcastgenError
        If a variable holds no such number.
    """
    if _chosen.extension is not None:
        _chosen.extension.set_memory_bound(_memory_bound())
        _chosen.extension.set_threads(get_num_threads())
        points = byte_size(VARIANTS, "0 for never", "points")
        _chosen.extension.set_hot(_HOT if points is None else points)


def check_threads(threads: object) -> int:
    """Return a number of threads; 0 for None, so that :func:`get_num_threads` decides.

    Raises
    ------
    BcastgenError
        If the value is no positive int.

    Examples
    --------
    >>> check_threads(2), check_threads(None)
    (2, 0)
    """
    if threads is None:
        return 0
    number = whole(threads) or 0
    if not 1 <= number <= _MOST_THREADS:
        raise BcastgenError(f"threads={threads!r} is no number of threads; use None or a positive int")
    return number


@with_short_tracebacks
def set_num_threads(threads: int | None) -> None:
    """Set how many threads a call may take; a kernel compiled with ``threads=`` keeps its own number.

    A small call takes one thread, whatever is set, and no call takes more threads than there are CPUs. Results do not
    depend on the number.

    Parameters
    ----------
    threads : None for the default: BCASTGEN_NUM_THREADS, or else the number of CPUs this process may use.

    Raises
    ------
    BcastgenError
        If it is no positive int.

    Examples
    --------
    >>> set_num_threads(1)
    >>> get_num_threads()
    1
    >>> set_num_threads(None)
    """
    _chosen.threads = check_threads(threads)
    if _chosen.extension is not None:
        _chosen.extension.set_threads(get_num_threads())


def get_num_threads() -> int:
    """Return how many threads a call may take.

    Raises
    ------
    BcastgenError
        If BCASTGEN_NUM_THREADS holds no positive number.

    Examples
    --------
    >>> get_num_threads() >= 1
    True
    """
    return _chosen.threads or _usual_threads()


@cache
def _usual_threads() -> int:
    text = os.environ.get(THREADS, "").strip()
    if not text:
        return _cpus()
    number = int(text) if text.isdecimal() and len(text) < 20 else 0
    if not 1 <= number <= _MOST_THREADS:
        raise BcastgenError(f"{THREADS}={text[:40]!r} is no number of threads; set a positive number, or nothing")
    return number


def _cpus() -> int:
    """Return the number of CPUs this process may use; the extension also respects quotas."""
    if _chosen.extension is not None:
        return int(_chosen.extension.cpus())
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def clear_memory() -> int:
    """Give the memory of freed results back to the system.

    Results of 256 KiB and more reuse the memory of earlier results, since memory that is new to a process costs several
    times as much as writing to it. At most an eighth of the machine's memory, and at most 1 GiB, is kept; a call
    releases memory that was unused for 5 seconds. BCASTGEN_MEMORY_POOL sets another number of bytes; 0 keeps none.

    Returns
    -------
    int
        How many bytes were given back.

    Examples
    --------
    >>> clear_memory() >= 0
    True
    """
    return 0 if _chosen.extension is None else int(_chosen.extension.clear_memory())


def _memory_bound() -> int:
    size = byte_size(MEMORY, "0 to keep none")
    return min(_memory() // 8, _MOST_MEMORY) if size is None else size


def _memory() -> int:
    """Return how many bytes of memory this process may use: the machine's, or the limit of its control group."""
    try:
        found = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    except (AttributeError, OSError, ValueError) as error:
        pass_on(error)
        return 8 * _MOST_MEMORY
    for name in ("memory.max", "memory/memory.limit_in_bytes"):
        try:
            # Every first call reads this, and opening a file as text takes ten times as long.
            with open(f"/sys/fs/cgroup/{name}", "rb", buffering=0) as file:
                text = file.read(64).decode("ascii").strip()
        except (OSError, ValueError) as error:
            pass_on(error)
            continue
        found += [int(text)] if text.isdecimal() else []
    return min(found)
