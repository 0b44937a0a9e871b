"""Type checkers know kernels and ops: what calls take and give, and that options and names exist."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import textwrap
import venv
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.api.reductions import reduction_function
from bcastgen.expr.compositions import COMPOSITIONS
from bcastgen.expr.reductions import FUNCTIONS
from bcastgen.kernel.function_kernel import FunctionKernel
from bcastgen.ops.table import OPS, SEVERAL

LIST = Path(bg.__file__).parent / "api" / "op_types.pyi"
SCRIPT = Path(__file__).parents[1] / "support" / "typed_script.py"
INDENTED = {"initial_indent": "    ", "subsequent_indent": "    "}
KINDS = {(1, 1): "Unary", (2, 1): "Binary", (3, 1): "Ternary", (1, 2): "UnaryPair", (2, 2): "BinaryPair"}


def kind(name: str) -> str:
    """The class in the list that has the calls of a public name."""
    if reduction_function(name) is not None:
        return "Reduction"
    kernel = getattr(bg, name)
    return "Elementwise" if isinstance(kernel, FunctionKernel) else KINDS[kernel.nin, kernel.nout]


def test_the_list_of_ready_kernels_is_the_table():
    rows = [op for op in OPS.values() if not op.params]
    names = {name for op in rows for name in (op.name, *op.aliases)} | {*SEVERAL, *COMPOSITIONS, *FUNCTIONS}
    head, mark, written = LIST.read_text(encoding="utf-8").partition("# Ready kernels.\n")
    shown = textwrap.fill(", ".join(f'"{name}"' for name in sorted(names)), 120, **INDENTED)
    made = "".join(f"{name}: {kind(name)}\n" for name in sorted(names))
    made += f"\n# fmt: off\n__all__ = [  # noqa: RUF022 - in the order above\n{shown},\n]\n# fmt: on\n"
    if os.environ.get("BCASTGEN_UPDATE_CASES"):
        LIST.write_text(head + mark + made, encoding="utf-8")
        return
    assert written == made, "run with BCASTGEN_UPDATE_CASES=1 to rewrite it"


def test_the_script_runs():
    subprocess.run([sys.executable, str(SCRIPT)], check=True)


def refused_lines(script: Path) -> list[int]:
    lines = script.read_text(encoding="utf-8").splitlines()
    return [at for at, line in enumerate(lines, 1) if line.endswith("# refused")]


@pytest.fixture
def python(tmp_path: Path) -> Path:
    """The interpreter of an environment that has the package as a wheel installs it.

    Checkers follow no finder of an editable install, and of an installed package they take less for public.
    """
    venv.create(tmp_path / "python", symlinks=True)
    (site,) = (tmp_path / "python" / "lib").glob("python*/site-packages")
    shutil.copytree(Path(bg.__file__).parent, site / "bcastgen", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    (site / "numpy").symlink_to(Path(np.__file__).parent)
    return tmp_path / "python" / "bin" / "python"


def mypy(tmp_path: Path, python: Path) -> list[str]:
    if find_spec("mypy") is None:
        pytest.skip("mypy is not installed (pip install -e .[dev])")
    return [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--config-file=",
        "--no-pretty",
        f"--cache-dir={tmp_path}",
        f"--python-executable={python}",
    ]


def pyright(tmp_path: Path, python: Path) -> list[str]:
    # PyPI's package brings pyright's own from npm when it first runs.
    found = shutil.which("pyright", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if found is None:
        pytest.skip("pyright is not installed (pip install -e .[dev])")
    return [found, "--pythonpath", str(python), "--project", str(tmp_path)]


@pytest.mark.slow
@pytest.mark.parametrize("checker", [mypy, pyright])
def test_checkers_know_what_calls_take_and_give(checker, tmp_path, python):
    script = tmp_path / "script.py"
    shutil.copy(SCRIPT, script)
    command = [*checker(tmp_path, python), str(script)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    wrong = re.findall(rf"\b{script.name}:(\d+)(?::\d+)?[: -]+error\b", done.stdout)
    assert sorted({int(line) for line in wrong}) == refused_lines(script), done.stdout + done.stderr
