"""Compiling in the background: the first calls are answered by NumPy, until the compiler is done.

In: a compilation, and the work that makes its binary.  Out: a thread that does the work, and answers meanwhile.

    jobs.begin(key, compilation, checked, work)       starts a daemon thread
    jobs.answer(kernel, key, operands, aligned)       holds the values; None if the call needs the binary

NumPy answers no call that may have to be refused: such a call waits for the binary, which raises its usual error. An
error of the compiler goes to the next call; `uncompiled` says what answers from then on.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.dtypes import DTYPES, DType, dtype
from ..core.errors import BcastgenError, BroadcastError
from ..core.frozen import dataclass
from ..core.logs import tell
from ..expr.evaluate import evaluate
from ..expr.nodes import Apply, topological
from ..loops.guard_program.interpret import run_guards
from ..runtime.keys import exceeds

if TYPE_CHECKING:
    from ..pipeline.compilation import Compilation
    from ..runtime.keys import Limit
    from ..runtime.named import Named

__all__ = ["Answered", "Job", "Jobs", "can_answer"]

Array = np.ndarray[Any, Any]

# What NumPy raises, and we, for operands that only the binary can take; not whatever the handler of a signal raises.
_OF_NUMPY = (
    *(ArithmeticError, AttributeError, BcastgenError, LookupError, MemoryError, NotImplementedError),
    *(RecursionError, TypeError, ValueError, Warning),
)


def can_answer(compilation: Compilation) -> bool:
    """Return whether NumPy computes, and checks, what the kernel does.

    The reference of a user's op may take only scalars, and type assertions check shapes in ways NumPy does not.
    """
    expression = compilation.expression
    users = any(isinstance(n, Apply) and n.op.definition is not None for n in topological(expression.results))
    return not (users or expression.free_extents or expression.type_assertions)


class Job:
    """One compilation under way, or one that has failed.

    Parameters
    ----------
    compilation : the stages of the kernel that is compiled.
    checked : whether the kernel checks more of the shapes than that NumPy can broadcast them.
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
        """Start the thread; it is a daemon, so that a program may end before its kernels are compiled."""
        thread = threading.Thread(target=self._run, name="bcastgen-compile", daemon=True)
        try:
            thread.start()
        except RuntimeError:
            # The system has no more threads, or the interpreter is about to end.
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
    def is_final(self) -> bool:
        """Whether NumPy answers for good, though the job is done."""
        return False

    @property
    def is_own(self) -> bool:
        """Whether the calling thread does the work: a finaliser that interrupts the work must not wait for it."""
        return self._thread == threading.get_ident() and not self.is_done

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until the job is done; return whether it is."""
        return self.is_done if self.is_own else self._done.wait(timeout)

    def answer(self, _kernel: Named, operands: tuple[object, ...]) -> tuple[Array, ...] | None:
        """Return NumPy's results for clean operands of a kernel; None if only its binary can answer."""
        try:
            return self._values(operands)
        except _OF_NUMPY:
            return None

    def _values(self, operands: tuple[object, ...]) -> tuple[Array, ...] | None:
        """Return NumPy's results; None for an integer beyond its limit. Raise what NumPy or the checks raise."""
        typed = self._compilation.typed
        rows = zip(operands, typed.operand_dtypes, typed.limits, strict=True)
        arrays = tuple(_typed(*row) for row in rows)
        if any(array is None for array in arrays):
            return None
        given = tuple(array for array in arrays if array is not None)
        values = evaluate(typed, given)
        if self._checked:
            self._check(given, values)
        # Copy, since a result may be an operand itself or a view of one.
        return tuple(np.array(value, order="K") for value in values)

    def _check(self, operands: tuple[Array, ...], values: tuple[Array, ...]) -> None:
        """Check the shapes as the kernel does.

        Raises
        ------
        BroadcastError
            If the shapes do not fit.
        """
        found = run_guards(self._compilation.program.guards, tuple(array.shape for array in operands))
        if tuple(value.shape for value in values) != found:
            raise BroadcastError("the results have other shapes, or none")


def _typed(value: object, row: DType, limit: Limit | None) -> Array | None:
    """Return an operand as an array of the dtype that the expression reads; None for an integer beyond its limit."""
    if limit is not None and exceeds(value, limit):
        return None
    array = np.asarray(value, dtype=row.np)
    # In memory that NumPy did not write, True may be any byte but 0.
    return array.view(np.uint8) != 0 if row.kind == "bool" else array


class Jobs:
    """The compilations of one kernel under way, by the binary's key.

    Attributes
    ----------
    finished : the keys of the kernel's finished binaries.
    in_background : whether its binaries are compiled in the background; without, there are only jobs that failed.
    """

    def __init__(self, in_background: bool = True) -> None:
        self.finished: set[bytes] = set()
        self.in_background = in_background
        self._jobs: dict[bytes, Job] = {}

    def begin(self, key: bytes, compilation: Compilation, checked: bool, work: Callable[[], None]) -> bool:
        """Start a :class:`Job` unless this key has one; return False if NumPy cannot answer meanwhile."""
        if not can_answer(compilation):
            return False
        job = Job(compilation, checked, work)
        known = self._jobs.setdefault(key, job)
        if known is job:
            tell("NumPy answers calls of %s while it is compiled", compilation.options.name)
            job.start()
        return not known.is_own

    def fail(self, key: bytes, job: Job) -> None:
        """Take a job that has no binary to wait for."""
        self._jobs[key] = job

    def is_pending(self, key: bytes) -> bool:
        """Whether there is no binary yet; if its compilation has failed, forget the job and raise its error."""
        job = self._find(key)
        if job is None or not job.is_done:
            return job is not None and not job.is_own
        if job.is_final:
            return True
        self._jobs.pop(key, None)
        if job.error is not None:
            raise job.error
        return False

    def answer(self, kernel: Named, key: bytes, operands: tuple[object, ...], aligned: bool) -> Answered | None:
        """Return the stand-in for a kernel in a call on clean operands; else wait for the job and return None."""
        job = self._find(key)
        values = None if job is None else job.answer(kernel, operands)
        if values is not None:
            return Answered(kernel, values, aligned)
        if job is not None:
            job.wait()
        return None

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for all jobs; return whether all are done."""
        jobs = [job for key in list(self._jobs) if (job := self._find(key)) is not None]
        return all([job.wait(timeout) for job in jobs])

    def _find(self, key: bytes) -> Job | None:
        """Return this process's job of a key, if any; a forked child drops its parent's, whose thread it lacks."""
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
        """The names of the kernel's operands."""
        return self.kernel.operands

    @property
    def results(self) -> tuple[str, ...]:
        """The names of the kernel's results."""
        return self.kernel.results

    @property
    def scalars(self) -> bool:
        """Not asked for: the kernel that is called delivers the results."""
        return True

    @property
    def _constants(self) -> tuple[str, ...]:
        return self.kernel._constants

    @property
    def _name(self) -> str:
        return self.kernel._name

    def _infer(self, _operands: tuple[object, ...]) -> tuple[tuple[tuple[int, ...], ...], bytes, bool]:
        """Return the results' shapes and dtype codes, and whether operands align with them, as a kernel's `_infer`."""
        codes = bytes(DTYPES.index(dtype(value.dtype)) for value in self.values)
        return tuple(value.shape for value in self.values), codes, self.aligned

    def _call_clean(self, _operands: tuple[object, ...], outs: tuple[Array | None, ...] | None) -> Any:
        """Return the values, copied into the outs that are given."""
        given = (None,) * len(self.values) if outs is None else outs
        answers = []
        for value, out in zip(self.values, given, strict=True):
            if out is not None:
                np.copyto(out, value)
            answers.append(value if out is None else out)
        return tuple(answers) if len(answers) > 1 else answers[0]
