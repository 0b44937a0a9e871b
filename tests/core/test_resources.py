"""Resources are found, and the files that decide a binary are all of them and no others."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bcastgen.core.errors import BcastgenError
from bcastgen.core.resources import bench_module, folder, package_files


@pytest.mark.parametrize(
    ("name", "file"), [("templates", "kernel.c.j2"), ("csrc", "abi/bcg_abi.h"), ("bench", "data/capitals.csv")]
)
def test_folders(name, file):
    assert (folder(name) / file).is_file()


def test_a_missing_folder_says_so():
    with pytest.raises(BcastgenError, match="'nothing' is missing"):
        folder("nothing")


def test_package_files_decide_the_binary():
    names = {Path(path).name for path in package_files()}
    assert {"kernel.c.j2", "plan.c.j2", "bcg_abi.h", "bcg_vmath_core.h", "bcg_status.def"} <= names
    assert not names & {"dispatch.c", "runner.py", "capitals.csv"}


def test_all_that_renders_a_kernel_decides_its_key():
    """The modules that a process has imported once it has made the C of a kernel, but those that ask for it."""
    code = """
import sys
import bcastgen as bg
kernel = bg.from_text("(f32[?, n>=2] a, i8[n] b, f16[?] c) -> exp(a) * b + c")
str(kernel.compilation.source)
for name, module in sys.modules.items():
    if name.partition(".")[0] == "bcastgen" and getattr(module, "__file__", None):
        print(module.__file__)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = {path for path in done.stdout.split() if path.endswith(".py")}
    asking = {path for path in imported if Path(path).parent.name in ("api", "bcastgen")}
    built = {path for path in imported if Path(path).name in ("_ffi.py", "_templates.py")}
    assert len(imported) > 60
    assert imported - asking - built <= {os.path.realpath(path) for path in package_files()}


def test_the_bench_folder_is_a_package():
    assert bench_module("workloads").__name__ == "bcastgen.bench.workloads"
