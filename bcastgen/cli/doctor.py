"""``bcastgen doctor``: checks what this machine has and lacks.

In: nothing.  Out: findings, each ok or with its cure.

    ok    compiler: /usr/bin/gcc (gcc)
    ok    call path: extension
"""

from __future__ import annotations

import argparse
import platform
import warnings
from collections.abc import Iterator

import numpy as np

from ..api.functions import from_text
from ..core.errors import BcastgenError, CompilerWarning
from ..core.frozen import dataclass
from ..core.version import __version__
from ..kernel.uncompiled import why_uncompiled
from ..runtime.base import implementation
from ..runtime.cache.upkeep import info
from ..runtime.toolchain import toolchain

__all__ = ["Diagnosis", "add_arguments", "examine", "run"]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The outcome of one check."""

    ok: bool
    what: str
    text: str

    def __str__(self) -> str:
        return f"{'ok  ' if self.ok else 'FAIL'}  {self.what}: {self.text}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add no arguments: the command takes none."""


def run(_options: argparse.Namespace) -> int:
    """Print the findings."""
    healthy = True
    for finding in examine():
        print(finding)
        healthy = healthy and finding.ok
    return 0 if healthy else 1


def examine() -> Iterator[Diagnosis]:
    """Yield the findings about Python, the compiler, the cache and the call path, and about a run of one kernel."""
    yield Diagnosis(
        True, "versions", f"bcastgen {__version__}, Python {platform.python_version()}, NumPy {np.__version__}"
    )
    yield _attempt("compiler", _compiler)
    yield _attempt("cache", _cache)
    slow = implementation != "extension"
    note = " (the C extension is missing: calls work but are slower; install Python's headers and reinstall)"
    yield Diagnosis(True, "call path", implementation + (note if slow else ""))
    yield _attempt("kernel", _kernel)


def _attempt(what: str, look: object) -> Diagnosis:
    assert callable(look)
    try:
        return Diagnosis(True, what, look())
    except (BcastgenError, OSError, CompilerWarning) as error:
        return Diagnosis(False, what, str(error))


def _compiler() -> str:
    tools = toolchain()
    return f"{' '.join(tools.command)} {' '.join(tools.flags)}"


def _cache() -> str:
    return str(info())


def _kernel() -> str:
    why = why_uncompiled()
    if why is not None:
        raise BcastgenError(f"none is compiled, and NumPy computes: {why}")
    kernel = from_text("a*b + 1")
    a, b = np.arange(6.0).reshape(2, 3), np.arange(3.0)
    with warnings.catch_warnings():
        # Without a compiler NumPy computes, which is no run of a kernel.
        warnings.simplefilter("error", CompilerWarning)
        computed = kernel(a, b)
    if not np.array_equal(computed, a * b + 1):
        raise BcastgenError("a kernel gave other numbers than NumPy; please report this with the output above")
    return "a*b + 1 over (2, 3) and (3) agrees with NumPy"
