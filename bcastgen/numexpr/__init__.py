"""NumExpr's module, with bcastgen's kernels: programs written for NumExpr run with it as they are.

In: texts of expressions, or expressions made of ``E.a``.  Out: arrays, with NumExpr's dtypes.

    import bcastgen.numexpr as ne
    ne.evaluate("2*a + 3*b")

`install` puts it in NumExpr's place, so that pandas and others compute with it. docs/numexpr.md says what differs.
"""

from __future__ import annotations

import sys
from typing import Any

from . import expressions, interpreter, necompiler, substitute, utils, version
from .expressions import E
from .necompiler import NumExpr, disassemble, evaluate, re_evaluate, validate
from .substitute import install, uninstall
from .utils import (
    MAX_THREADS,
    detect_number_of_cores,
    detect_number_of_threads,
    get_num_threads,
    get_vml_num_threads,
    get_vml_version,
    set_num_threads,
    set_vml_accuracy_mode,
    set_vml_num_threads,
    use_vml,
)
from .utils import init_num_threads as _init_num_threads

__all__ = [
    "MAX_THREADS",
    "E",
    "NumExpr",
    "__version__",
    "detect_number_of_cores",
    "detect_number_of_threads",
    "disassemble",
    "evaluate",
    "expressions",
    "get_num_threads",
    "get_vml_num_threads",
    "get_vml_version",
    "install",
    "interpreter",
    "necompiler",
    "print_versions",
    "re_evaluate",
    "set_num_threads",
    "set_vml_accuracy_mode",
    "set_vml_num_threads",
    "substitute",
    "test",
    "uninstall",
    "use_vml",
    "utils",
    "validate",
    "version",
]

__version__ = version.version
__BLOCK_SIZE1__ = interpreter.__BLOCK_SIZE1__
is_cpu_amd_intel = False
ncores = detect_number_of_cores()
nthreads = _init_num_threads()


def print_versions() -> None:
    """Print the versions of what computes."""
    import numpy  # noqa: PLC0415 - only to say its version

    from ..core.version import __version__ as own  # noqa: PLC0415 - only to be shown

    print(f"bcastgen version:  {own}")
    print(f"Numexpr version:   {__version__} (its names and rules)")
    print(f"NumPy version:     {numpy.__version__}")
    print(f"Python version:    {sys.version}")
    print(f"Platform:          {sys.platform}-{version.platform_machine}")
    print(f"VML available?     {use_vml}")
    print(f"Number of threads used by default: {nthreads} (out of {ncores} detected cores)")
    print(f"Maximum number of threads: {MAX_THREADS}")


def test(verbosity: int = 1) -> Any:
    """Run the tests of the installed NumExpr with this module in its place; return unittest's result.

    Raises
    ------
    ImportError
        If NumExpr is not installed.
    """
    return substitute.run_tests(verbosity)
