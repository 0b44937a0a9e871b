"""Subinterpreters are told what to do, whether NumPy is there already or not."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

_NAME = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"

PROGRAM = """
import importlib, sys
if "before" in sys.argv:
    import bcastgen
known = importlib.import_module(sys.argv[1])
run = getattr(known, "exec", None) or known.run_string
made = known.create("legacy") if "legacy" in sys.argv else known.create()
said = run(made, '''
try:
    import bcastgen
except ImportError as error:
    print(type(error).__name__, error)
''')
print(said or "")
known.destroy(made)
import bcastgen as bg, numpy as np
print(bg.evaluate("a + 1", {"a": np.arange(2.0)}))
"""


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kind", ["own", "legacy"])
def test_a_subinterpreter_is_refused_and_the_main_one_goes_on(when: str, kind: str) -> None:
    if kind == "legacy" and sys.version_info < (3, 13):
        pytest.skip("they share the lock of the main interpreter in any case, or cannot say so")
    command = [sys.executable, "-c", PROGRAM, _NAME, when, kind]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"})
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("ImportError bcastgen runs in the main interpreter only"), done.stdout
    assert "None" not in done.stdout and done.stdout.rstrip().endswith("[1. 2.]")
