"""Kernels that are not compiled: there is no compiler, it fails, or BCASTGEN_DISABLE is set. NumPy computes, op by op.

In: a compilation, and the compiler's error.  Out: a job that answers each call, and one warning.

    jobs = answer_without("axpb", None, key, compilation, error)       warns: "axpb has no binary, ..."
    jobs.answer(kernel, key, operands, aligned)                        holds the values, or raises the error
"""

from __future__ import annotations

import os
import warnings
from typing import TYPE_CHECKING

import numpy as np

from ..core.errors import (
    BroadcastError,
    CacheError,
    CompileError,
    CompilerWarning,
    DisabledError,
    RefusedFlagsError,
    status_values,
)
from ..core.sizes import is_on
from ..core.source_lines import callers_level
from ..emit.c_text.body import demand_status
from ..loops.analysis.demands import demanding_statements
from ..loops.guard_program.interpret import Failure, run_guards
from ..runtime.keys import exceeds
from ..runtime.slow_path import raise_limit, raise_status
from ..runtime.toolchain import toolchain
from .background import Array, Job, Jobs, can_answer

if TYPE_CHECKING:
    from ..pipeline.compilation import Compilation
    from ..runtime.named import Named

__all__ = ["answer_without", "why_uncompiled"]

# The environment variables that decide which compiler there is: when one changes, the next call tries again.
_VARIABLES = ("BCASTGEN_DISABLE", "BCASTGEN_CC", "BCASTGEN_CFLAGS", "BCASTGEN_CACHE_DIR", "PATH")
# The causes that a warning has told of.
_warned_of: set[str] = set()


class _Uncompiled(Job):
    """A job that has failed, and answers as long as the environment names the same compiler."""

    def __init__(self, compilation: Compilation, error: CompileError | CacheError) -> None:
        super().__init__(compilation, True, lambda: None)
        # Not `error`, which would be raised where another compiler is to be tried.
        self._cause = error
        self._environment = _environment()
        self._done.set()

    @property
    def is_final(self) -> bool:
        return self._environment == _environment()

    def answer(self, kernel: Named, operands: tuple[object, ...]) -> tuple[Array, ...]:
        """Return NumPy's results for clean operands of a kernel.

        Raises
        ------
        BroadcastError, RangeError, DomainError
            As the binary would.
        CompileError
            If NumPy cannot answer.
        """
        shapes = tuple(np.asarray(value).shape for value in operands)
        found = run_guards(self._compilation.program.guards, shapes)
        if isinstance(found, Failure):
            who = found.subject, found.dim, found.against
            raise_status(kernel, status_values()[found.status], *who, found.expected, found.actual, shapes)
        for at, (value, limit) in enumerate(zip(operands, self._compilation.typed.limits, strict=True)):
            if limit is not None and exceeds(value, limit):
                raise_limit(kernel, at, value, limit)
        try:
            values = self._values(operands)
        except BroadcastError:
            values = None
        except ValueError:
            nests = self._compilation.program.nests
            if not any(map(demanding_statements, nests)):
                raise
            status = max(map(demand_status, nests))
            raise_status(kernel, status_values()[status], -1, -1, -1, 0, 0, shapes)
        if values is None:
            raise self._cause
        return values


def why_uncompiled() -> str | None:
    """Return why NumPy computes the kernels of this process, with the cure; None where they can be compiled."""
    if is_on("BCASTGEN_DISABLE"):
        return "BCASTGEN_DISABLE is set; unset it to compile kernels"
    try:
        toolchain()
    except CompileError as error:
        return str(error)
    return None


def answer_without(
    name: str, jobs: Jobs | None, key: bytes, compilation: Compilation, error: CompileError | CacheError
) -> Jobs:
    """Return the kernel's jobs with one more, for the binary of a key that cannot be made; warn once of each cause.

    Raises
    ------
    CompileError, CacheError
        If NumPy cannot answer in place of this kernel, or the compiler was given flags that are refused.
    """
    if isinstance(error, RefusedFlagsError) or not can_answer(compilation):
        raise error
    cause = str(error).partition("\n")[0]
    if cause not in _warned_of and not isinstance(error, DisabledError):
        _warned_of.add(cause)
        warnings.warn(
            f"kernel '{name}' has no binary, so NumPy computes it, slower; as do further kernels: {error}",
            CompilerWarning,
            stacklevel=callers_level(),
        )
    jobs = Jobs(in_background=False) if jobs is None else jobs
    jobs.fail(key, _Uncompiled(compilation, error))
    return jobs


def _environment() -> tuple[str | None, ...]:
    return tuple(map(os.environ.get, _VARIABLES))
