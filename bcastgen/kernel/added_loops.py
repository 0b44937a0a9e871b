"""Loops that calls ask for: patterns of broadcasting that are copied into tiles often enough to pay for a compiler.

In: a pattern that the extension has counted.  Out: a loop for it, found on disk or compiled in the background, and
added to the kernel.

    (a - b)*c + d, a and c matrices, b and d columns, a thousand times   ->   zero_b_d, asked for by calls

Types and the expression decide which loops a kernel has at first; any other pattern is served through tiles. The
extension counts such calls, and asks here twice: early, since an earlier process may have left the loop on disk, and
when the pattern has had so many points that the time of its copies pays for a compiler (BCASTGEN_VARIANTS). What is
asked for is done by one thread of the process, one after the other. Where that fails, the log says so once, and tiles
serve on.
"""

from __future__ import annotations

import os
import time
from _thread import allocate_lock, get_ident, start_new_thread
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol

from ..core.dtypes import from_key
from ..core.forks import undivided
from ..core.frozen import dataclass
from ..core.logs import tell
from ..runtime.cache import cache_key, find
from ..runtime.library import open_library
from ..runtime.toolchain import toolchain

if TYPE_CHECKING:
    from ..pipeline.compilation import Compilation

__all__ = ["AddedLoops", "LoopInfo", "Pattern", "loop_infos"]

Row = tuple[int, bool, int, str, int, int]


class Growing(Protocol):
    """What this module uses of a kernel."""

    compilations: int

    @property
    def operands(self) -> tuple[str, ...]: ...
    @property
    def _name(self) -> str: ...
    def _compilation_for(self, key: bytes) -> Compilation: ...
    def _counts(self) -> list[tuple[bytes, list[Row]]]: ...
    def _add_loop(
        self, key: bytes, nest: int, is_staged: bool, stationary: int, address: int, keepalive: object
    ) -> bool: ...


@dataclass(frozen=True, slots=True)
class Pattern:
    """Which arrays stand still along the rows of a nest.

    Attributes
    ----------
    key : of the binary.
    nest : the number of the nest, among those with results.
    is_staged : whether it is the loop after the stages.
    stationary : a bit for each array that the loop reads.
    """

    key: bytes
    nest: int
    is_staged: bool
    stationary: int


@dataclass(frozen=True, slots=True)
class LoopInfo:
    """A loop of a kernel, or a pattern that has none; :meth:`bcastgen.Kernel.info` returns them.

    Attributes
    ----------
    types : of the operands.
    nest : the number of the nest.
    name : which operands are one value along the loop, as in ``zero_b_d``; ``unit``: none is.
    is_staged : whether the loop reads values that were computed apart.
    asked_by : ``"types"`` (a loop made with the kernel), ``"calls"`` (one that was added), or ``""``: no loop says that
        these operands stand still, so tiles have copies of them.
    calls : how many calls ran it in the calling thread; what other threads of a call ran is not counted.
    points : how many points these had.
    """

    types: tuple[str, ...]
    nest: int
    name: str
    is_staged: bool
    asked_by: str
    calls: int
    points: int

    def __str__(self) -> str:
        by = _ASKED_BY[self.asked_by]
        where = f"nest {self.nest}, {'staged ' if self.is_staged else ''}{self.name}"
        return f"({', '.join(self.types)}) {where}: {by}; {self.calls} calls, {self.points} points"


# A waiting thread checks this often whether the worker still runs.
_LOOK_SECONDS = 0.1
_ASKED_BY = {"types": "made with the kernel", "calls": "added for calls", "": "no loop: copied into tiles"}


class _Worker:
    """The patterns of all kernels that wait for a loop. One thread of the process serves them, and then ends."""

    def __init__(self) -> None:
        self._left: deque[tuple[AddedLoops, Pattern]] = deque()
        self._process: int | None = None
        self.thread: int | None = None

    @property
    def is_at_work(self) -> bool:
        """Whether this process has the thread."""
        return self._process == os.getpid()

    def take(self, loops: AddedLoops, pattern: Pattern) -> None:
        """Serve a pattern soon; a forked child drops those that its parent had left."""
        if self._process not in (None, os.getpid()):
            self._left, self._process = deque(), None
        self._left.append((loops, pattern))
        if self._process is None:
            self._start()

    def _start(self) -> None:
        try:
            self._process = os.getpid()
            start_new_thread(self._run, ())
        except RuntimeError:
            # The system has no more threads, or the interpreter is about to end: tiles serve on.
            self._process = None
        except BaseException:
            # The handler of a signal raised it.
            self._process = None
            raise

    def _run(self) -> None:
        self.thread = get_ident()
        while True:
            try:
                loops, pattern = self._left.popleft()
            except IndexError:
                self._process = None
                # Another thread may have added something after the last look, and seen this one at work.
                if not self._left or self._process is not None:
                    return
                self._process = os.getpid()
                continue
            try:
                loops.make(pattern)
            except BaseException:
                # An exception that gets here, such as one of a logging filter, ends this thread, and Python reports it;
                # another thread does what is left.
                self._process = None
                if self._left:
                    self._start()
                raise
            # Do not keep a kernel alive that nobody else refers to.
            del loops


_worker = _Worker()


class AddedLoops:
    """The loops that calls have asked for, of one kernel.

    Parameters
    ----------
    kernel : the kernel.
    """

    def __init__(self, kernel: Growing) -> None:
        self._kernel = kernel
        # The patterns that are not tried again: their loop was added, or making it failed.
        self._settled: set[Pattern] = set()
        self._under_way: dict[Pattern, tuple[int, Any]] = {}
        self._hot: set[Pattern] = set()

    def ask(self, pattern: Pattern, is_hot: bool) -> None:
        """Add the loop of a pattern soon, if the disk has it, or if the pattern is hot."""
        if is_hot:
            self._hot.add(pattern)
        process, _ = self._under_way.get(pattern, (None, None))
        if pattern in self._settled or (process == os.getpid() and _worker.is_at_work):
            return
        try:
            done = allocate_lock()
        except RuntimeError:
            return  # the system has no memory for one: tiles serve on
        done.acquire()
        self._under_way[pattern] = os.getpid(), done
        _worker.take(self, pattern)

    def make(self, pattern: Pattern) -> None:
        """Find or compile the loop, and add it to the kernel; what goes wrong is logged."""
        try:
            if self._make(pattern):
                self._settled.add(pattern)
        except Exception as error:
            self._settled.add(pattern)
            tell("%s gets no loop of its own for %s: %s", self._kernel._name, pattern, error)
        finally:
            found = self._under_way.pop(pattern, None)
            if found is not None:
                found[1].release()

    def _make(self, pattern: Pattern) -> bool:
        """Return whether there is nothing left to do."""
        kernel, tools = self._kernel, toolchain()
        compilation = kernel._compilation_for(pattern.key)
        which = pattern.nest, pattern.is_staged, pattern.stationary
        name = cache_key(*compilation.key_parts, f"loop {which}", tools=tools)
        library, compiled = find(name, open_library), False
        if library is None:
            if pattern not in self._hot:
                return False
            with undivided:
                from ..runtime.cache import build  # noqa: PLC0415 - most loops are found on disk
            types = str(compilation.typed).partition("\n")[0].replace("expr", kernel._name, 1)
            about = f"{types}, loop {pattern.stationary:#x} of nest {pattern.nest}"
            library, compiled = build(name, lambda: compilation.loop_source(*which), tools, open_library, about)
        with undivided:
            kernel.compilations += compiled
        kernel._add_loop(pattern.key, *which, library.address, library)
        return True

    def wait(self, timeout: float | None) -> bool:
        """Wait until nothing is under way in this process; return whether that is so."""
        own = [done for process, done in list(self._under_way.values()) if process == os.getpid()]
        end = None if timeout is None else time.monotonic() + timeout
        return all([_is_done(done, end) for done in own])


def _is_done(lock: Any, end: float | None) -> bool:
    """Wait for a lock until a time; return whether it is free, or nobody will release it."""
    # A finaliser that interrupts the work must not wait for it.
    while _worker.is_at_work and _worker.thread != get_ident():
        left = _LOOK_SECONDS if end is None else min(_LOOK_SECONDS, end - time.monotonic())
        if lock.acquire(timeout=max(left, 0)):
            lock.release()
            return True
        if left <= 0:
            return False
    return not lock.locked() or not _worker.is_at_work


def loop_infos(kernel: Growing) -> tuple[LoopInfo, ...]:
    """Return what the extension has counted of a kernel, by names."""
    found = []
    for key, rows in kernel._counts():
        compilation = kernel._compilation_for(key)
        types = tuple(map(str, map(from_key, key[: len(kernel.operands)])))
        for nest, is_staged, stationary, asked_by, calls, points in rows:
            _, made = compilation.loop_schedule(nest, is_staged, stationary)
            loop = made.staged if is_staged else made.inline
            assert loop is not None
            found.append(LoopInfo(types, nest, loop.variants[0].name, is_staged, asked_by, calls, points))
    return tuple(found)
