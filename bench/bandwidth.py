"""The memory limit of a cell: what reading and writing its bytes takes, measured among its contestants.

In: bytes read, bytes written, threads.  Out: calls that move as many, by the fastest of several ways.

    Mover(threads=1).calls(8 << 20, 4 << 20) -> each reads 8 MiB, writes 4 MiB, in turn, through the cache or past it

The buffers are warm: for a fresh result the limit is that of one whose memory was recycled. Below `LEAST_BYTES` there
is no limit: there the call decides.
"""

from __future__ import annotations

import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from .measure import Call, interleave
from .workloads import Array

__all__ = ["LEAST_BYTES", "Mover", "probe"]

LEAST_BYTES = 16 << 10

_LINE = 64
# Each call moves at least this much, so that calling it does not count; with threads, that starting them does not.
_WORTH, _WORTH_THREADS = 4 << 20, 256 << 20
# Lines by which reads and writes alternate, and places that are read at once: line by line as in an addition of one or
# two operands, or by pages. Then memcpy's way.
_WAYS = ((4, 1), (4, 2), (64, 1))
_MEMCPY = (0, 1, 0)
_FINALISTS = 2
_DECLARATION = """int64_t bcg_probe_move(const char *from, int64_t read, char *to, int64_t written, int64_t block,
    int streams, int streaming, int64_t passes, int threads);"""
_FLAGS = ("-std=gnu11", "-O3", "-march=native", "-shared", "-fPIC", "-pthread")


@cache
def probe() -> Any:
    """Compile and load ``probe.c``.

    Returns
    -------
    A module of cffi's with its function, or None if there is no compiler that can.
    """
    import cffi

    from bcastgen.core.errors import CompileError
    from bcastgen.runtime.toolchain import toolchain

    with tempfile.TemporaryDirectory(prefix="bcastgen-bench-") as directory:
        binary = str(Path(directory) / "probe.so")
        try:
            command = [*toolchain().command, *_FLAGS, str(Path(__file__).parent / "probe.c"), "-o", binary]
            subprocess.run(command, check=True, capture_output=True, timeout=60)
        except (CompileError, OSError, subprocess.SubprocessError):
            return None
        ffi = cffi.FFI()
        ffi.cdef(_DECLARATION)
        return ffi.dlopen(binary)


def _buffer(size: int) -> Array:
    """Return bytes that begin at a line and have been written."""
    memory = np.ones(size + _LINE, np.uint8)
    start = -memory.ctypes.data % _LINE
    return memory[start : start + size]


class Mover:
    """Moves bytes as fast as this machine can; `threads` share them."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        # The cells of one workload and size follow each other.
        self._last: tuple[tuple[int, int], tuple[Call, ...]] | None = None

    def calls(self, read: int, written: int) -> tuple[Call, ...]:
        """Return calls that move this many bytes in the fastest ways; none where there is no limit."""
        if probe() is None or read + written < LEAST_BYTES:
            return ()
        if self._last is None or self._last[0] != (read, written):
            self._last = (read, written), self._fastest(read, written)
        return self._last[1]

    def _fastest(self, read: int, written: int) -> tuple[Call, ...]:
        from_, to = _buffer(max(read, _LINE)), _buffer(max(written, _LINE))
        # Past the caches only where the data is larger than one: inside it is slower on every machine.
        past = (0, 1) if written and read + written > 1 << 20 else (0,)
        ways = [(*way, streaming) for way in _WAYS for streaming in past]
        if read == written:
            ways.append(_MEMCPY)
        calls = {str(way): self._way(from_, to, read, written, way) for way in ways}
        times = interleave(calls, rounds=5, budget=0.2, least=0.0)
        # The rounds with the contestants decide between the best: a few samples alone are too noisy.
        best = sorted(times, key=lambda way: times[way].min)[:_FINALISTS]
        return tuple(calls[way] for way in best)

    def _way(self, from_: Array, to: Array, read: int, written: int, way: tuple[int, int, int]) -> Call:
        worth = _WORTH if self.threads == 1 else _WORTH_THREADS
        passes = -(-worth // (read + written))
        library = probe()
        names = {
            "move": library.bcg_probe_move,
            "given": (
                *_pointer(from_, read),
                *_pointer(to, written),
                *(*way, passes, self.threads),
            ),
            "held": (from_, to),
        }
        return Call("move(*given)", names, passes=passes)


def _pointer(array: Array, size: int) -> tuple[Any, int]:
    import cffi

    return cffi.FFI().cast("char *", array.ctypes.data), size
