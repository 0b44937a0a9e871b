"""Refuses to be imported anywhere but in the main interpreter of a process.

In: nothing.  Out: nothing, or an ImportError that says why and what to do.

NumPy belongs to one interpreter, and so do the threads of kernels and the memory of results. Without this, NumPy would
say that its installation is broken, or warn, and calls would fail later where they start a compiler.
"""

from __future__ import annotations

import importlib
import sys


def _is_main() -> bool:
    try:
        if sys.version_info >= (3, 12):
            return bool(importlib.import_module("_thread")._is_main_interpreter())
        known = importlib.import_module("_xxsubinterpreters")
        return bool(known.get_current() == known.get_main())
    except (ImportError, AttributeError):
        return True  # Python has no subinterpreters, or tells nobody


if not _is_main():
    raise ImportError(
        "bcastgen runs in the main interpreter only, since NumPy does; use threads or processes instead of "
        "subinterpreters (for mod_wsgi: WSGIApplicationGroup %{GLOBAL})"
    )
