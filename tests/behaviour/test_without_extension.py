"""Kernels behave the same without the extension: tests that call kernels in many ways run again through cffi."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from long_runs import many

# The longest first, for it may be what two processes end with.
FILES = (
    "behaviour/test_broadcast.py",
    "api/test_views.py",
    "api/test_strict_arrays.py",
    "kernel/test_caller_extents.py",
    "behaviour/test_requirements.py",
    "kernel/test_background.py",
    "behaviour/test_evaluate.py",
    "runtime/test_base_flat.py",
    "kernel/test_ufunc_call.py",
    "kernel/test_ufunc_errors.py",
)
SCRIPT = """\
import sys
sys.modules["bcastgen._dispatch"] = None  # an ImportError for whoever asks
import pytest
from bcastgen.runtime.base import implementation
assert implementation == "cffi"

class Some:
    # Of each test with parameters, every n-th case.
    def pytest_collection_modifyitems(self, items):
        every, seen, kept = int(sys.argv[1]), {}, []
        for item in items:
            seen[item.originalname] = number = seen.get(item.originalname, -1) + 1
            kept += [item] if number % every == 0 else []
        items[:] = kept

sys.exit(pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[2:]], [Some()]))
"""


@pytest.mark.slow
@pytest.mark.parametrize("name", FILES)
def test_the_same_through_cffi(name):
    here = Path(__file__).parents[1]
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(many(4, 1)), str(here / name)],
        cwd=here.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
    assert "passed" in done.stdout
