"""Type checkers know kernels and ops, and refuse options that there are not."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import numpy as np

import bcastgen as bg


@bg.jit
def double(x: object) -> object:
    return x


@bg.jit(threads=1)
def triple(x: object) -> object:
    return x


reveal_type(double)
reveal_type(triple)
reveal_type(bg.add)
reveal_type(bg.from_text("a + b"))
reveal_type(bg.add.explain())
reveal_type(bg.evaluate("a + 1", {"a": np.ones(3)}))
reveal_type(bg.__version__)
bg.add.nosuch
bg.jit(double, dynamic="sometimes")
bg.evaluate(3)
"""
KERNEL = "bcastgen.kernel.kernel.Kernel"
REVEALED = [KERNEL, KERNEL, KERNEL, KERNEL, "str", "numpy.ndarray[Any, Any]", "str"]
REFUSED = ["attr-defined", "call-overload", "arg-type"]


@pytest.mark.slow
def test_mypy_knows_kernels_and_ops(tmp_path):
    api = pytest.importorskip("mypy.api", reason="mypy is not installed (pip install -e .[dev])")
    assert api is not None
    (tmp_path / "script.py").write_text(SCRIPT, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", "--hide-error-context", "--no-pretty"]
    more = ["--config-file=", f"--cache-dir={tmp_path / 'cache'}", str(tmp_path / "script.py")]
    lines = subprocess.run([*command, *more], capture_output=True, text=True, check=False).stdout.splitlines()
    revealed = [line.split('"')[1] for line in lines if "Revealed type" in line]
    assert revealed == REVEALED
    errors = [line for line in lines if "script.py" in line and " error: " in line]
    assert [line.rsplit("[", 1)[1].rstrip("]") for line in errors] == REFUSED
