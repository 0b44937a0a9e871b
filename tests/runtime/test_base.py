"""bcastgen/runtime/base.py: which implementation is chosen, and what importing it costs."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from bcastgen.runtime import base, fallback

IMPORT = """
import sys
import numpy
before = set(sys.modules)
if {blocked}:
    sys.modules["bcastgen._dispatch"] = None
from bcastgen.runtime import base
print(base.implementation, base.KernelBase.__module__)
heavy = {{"cffi", "jinja2", "pycparser", "subprocess", "numpy.ma"}}
print(sorted(heavy & sys.modules.keys() - before))
"""


@pytest.mark.parametrize("debug", ["", "1"])
@pytest.mark.parametrize("blocked", [True, False])
def test_the_choice_of_the_implementation(blocked: bool, debug: str) -> None:
    environment = {**os.environ, "BCASTGEN_DEBUG": debug}
    code = IMPORT.format(blocked=blocked)
    lines = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout
    chosen, loaded = lines.splitlines()
    fallback = blocked or base.implementation == "cffi"
    assert chosen == ("cffi bcastgen.runtime.fallback" if fallback else "extension bcastgen._dispatch")
    assert loaded == "[]"


@pytest.mark.parametrize("is_checkout", [True, False])
def test_a_source_tree_that_shadows_an_installed_package_is_told(is_checkout: bool, tmp_path: Path) -> None:
    root = Path(base.__file__).parents[2]
    shutil.copytree(root / "bcastgen", tmp_path / "bcastgen", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for name in ("csrc", "templates"):
        (tmp_path / name).symlink_to(root / name)
    if is_checkout:
        (tmp_path / "setup.py").touch()
    # An editable installation finds its modules by a hook, also those that the folder in front lacks.
    code = """
import sys
sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in repr(finder)]
import bcastgen
from bcastgen.runtime.base import implementation
print(bcastgen.__file__, implementation)
"""
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == [str(tmp_path / "bcastgen" / "__init__.py"), "cffi"]
    told = f"RuntimeWarning: bcastgen is imported from its source tree {tmp_path}, where its call path is not compiled"
    assert (told in done.stderr) == is_checkout


def test_both_implementations_have_one_face() -> None:
    face = {"_add_binary", "_call_clean", "_infer", "_name", "_defaults", "_constants", "operands", "results"}
    assert face <= set(dir(fallback.KernelBase)) & set(dir(base.KernelBase))
