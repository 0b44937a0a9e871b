"""Compiling in the background: the first calls are answered by NumPy, until the compiler is done.

In: a compilation, and the work that makes its binary.  Out: a thread that does it, and answers in the meantime.

    jobs.begin(key, compilation, checked, work)       starts a daemon thread
    jobs.answer(kernel, key, operands, aligned)       holds the values; None once only the binary can tell

What an answer would have to refuse is never answered: the call waits for the binary, which raises the error it always
raises. An error of the compiler is raised once, by the next call that needs the binary.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.dtypes import DTYPES, DType, dtype
from ..core.errors import BroadcastError
from ..core.frozen import dataclass
from ..expr.evaluate import evaluate
from ..expr.nodes import Apply, topological
from ..loops.guard_interpret import run_guards

if TYPE_CHECKING:
    from ..pipeline.compilation import Compilation
    from ..runtime.keys import Limit, Named

__all__ = ["Answered", "Job", "Jobs"]

Array = np.ndarray[Any, Any]


class Job:
    """One compilation under way, or one that has failed.

    Parameters
    ----------
    compilation : of what is compiled.
    checked : whether more is asked of the shapes than that NumPy can broadcast them.
    work : makes the binary and registers it.
    """

    def __init__(self, compilation: Compilation, checked: bool, work: Callable[[], None]) -> None:
        self.error: Exception | None = None
        self.process = os.getpid()
        self._compilation = compilation
        self._checked = checked
        self._work = work
        self._done = threading.Event()
        self._thread: int | None = None

    def start(self) -> None:
        """Begin; a daemon, so that a program may end before its kernels are compiled."""
        thread = threading.Thread(target=self._run, name="bcastgen-compile", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            # No more threads here, or the interpreter is about to end.
            self._run()

    def _run(self) -> None:
        self._thread = threading.get_ident()
        try:
            self._work()
        except Exception as error:
            self.error = error
        finally:
            self._done.set()

    @property
    def is_done(self) -> bool:
        """Whether the binary is there, or there is an error."""
        return self._done.is_set()

    @property
    def is_own(self) -> bool:
        """Whether the calling thread is the one at work: in a finaliser, which must not wait for what it interrupts."""
        return self._thread == threading.get_ident() and not self.is_done

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it is done; give whether it is."""
        return self.is_done if self.is_own else self._done.wait(timeout)

    def answer(self, operands: tuple[object, ...]) -> tuple[Array, ...] | None:
        """Return the results for clean operands; None for what is not NumPy's to answer."""
        typed = self._compilation.typed
        rows = zip(operands, typed.operand_dtypes, typed.limits, strict=True)
        arrays = tuple(_typed(*row) for row in rows)
        if any(array is None for array in arrays):
            return None
        given = tuple(array for array in arrays if array is not None)
        try:
            values = evaluate(typed, given)
            if self._checked:
                self._check(given, values)
        except Exception:
            return None
        # Copies: a result may be an operand itself, or seen through a view.
        return tuple(np.array(value, order="K") for value in values)

    def _check(self, operands: tuple[Array, ...], values: tuple[Array, ...]) -> None:
        """Ask what the kernel asks of shapes.

        Raises
        ------
        BroadcastError
            If they do not fit.
        """
        found = run_guards(self._compilation.program.guards, tuple(array.shape for array in operands))
        if tuple(value.shape for value in values) != found:
            raise BroadcastError("the results have other shapes, or none")


def _typed(value: object, row: DType, limit: Limit | None) -> Array | None:
    """Return an operand as the array that the expression takes; None for a number that does not fit."""
    if type(value) is int and limit is not None and not limit[0] <= value <= limit[1]:
        return None
    array = np.asarray(value, dtype=row.np)
    # In foreign memory, True may be any byte but 0.
    return array.view(np.uint8) != 0 if row.kind == "bool" else array


class Jobs:
    """The compilations of one kernel, by the key of what they make; `made` has the keys of all binaries it has."""

    def __init__(self) -> None:
        self.made: set[bytes] = set()
        self._jobs: dict[bytes, Job] = {}

    def begin(self, key: bytes, compilation: Compilation, checked: bool, work: Callable[[], None]) -> bool:
        """Start a :class:`Job`, unless there is one of this key; False for what NumPy cannot answer meanwhile."""
        expression = compilation.expression
        # The reference of a user's op may take scalars only, and claims say of shapes what NumPy does not ask.
        users = any(isinstance(n, Apply) and n.op.definition is not None for n in topological(expression.results))
        if users or expression.free_extents or expression.type_assertions:
            return False
        job = Job(compilation, checked, work)
        known = self._jobs.setdefault(key, job)
        if known is job:
            job.start()
        return not known.is_own

    def is_pending(self, key: bytes) -> bool:
        """Whether a binary is being made; where that has failed, forget it and raise its error."""
        job = self._find(key)
        if job is None or not job.is_done:
            return job is not None and not job.is_own
        self._jobs.pop(key, None)
        if job.error is not None:
            raise job.error
        return False

    def answer(self, kernel: Named, key: bytes, operands: tuple[object, ...], aligned: bool) -> Answered | None:
        """Return what stands in for a kernel in a call on clean operands; None once the binary is made, or is not."""
        job = self._find(key)
        values = None if job is None else job.answer(operands)
        if values is not None:
            return Answered(kernel, values, aligned)
        if job is not None:
            job.wait()
        return None

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for all of them; give whether all are done."""
        jobs = [job for key in list(self._jobs) if (job := self._find(key)) is not None]
        return all([job.wait(timeout) for job in jobs])

    def _find(self, key: bytes) -> Job | None:
        """Return the job of a key; None where there is none in this process: threads do not survive a fork."""
        job = self._jobs.get(key)
        if job is not None and job.process != os.getpid():
            self._jobs.pop(key, None)
            return None
        return job


@dataclass(frozen=True, slots=True)
class Answered:
    """The stand-in for a kernel in one call: its names, and the values that NumPy computed."""

    kernel: Named
    values: tuple[Array, ...]
    aligned: bool
    _defaults: tuple[object, ...] = ()

    @property
    def operands(self) -> tuple[str, ...]:
        """The kernel's."""
        return self.kernel.operands

    @property
    def results(self) -> tuple[str, ...]:
        """The kernel's."""
        return self.kernel.results

    @property
    def _constants(self) -> tuple[str, ...]:
        return self.kernel._constants

    @property
    def _name(self) -> str:
        return self.kernel._name

    def _infer(self, _operands: tuple[object, ...]) -> tuple[tuple[tuple[int, ...], ...], bytes, bool]:
        """Return the results' shapes and dtype codes, and whether operands align with them, as the kernel's does."""
        codes = bytes(DTYPES.index(dtype(value.dtype)) for value in self.values)
        return tuple(value.shape for value in self.values), codes, self.aligned

    def _call_clean(self, _operands: tuple[object, ...], outs: tuple[Array | None, ...] | None) -> Any:
        """Return the values, in the outs where there are any."""
        given = (None,) * len(self.values) if outs is None else outs
        answers = []
        for value, out in zip(self.values, given, strict=True):
            if out is not None:
                np.copyto(out, value)
            answers.append(value if out is None else out)
        return tuple(answers) if len(answers) > 1 else answers[0]
