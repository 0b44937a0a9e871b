"""clang-tidy's checks for bugs and for CERT's rules say nothing of emitted C, as a user's own run would not.

What no generated file can avoid is switched off in the file itself, once (`NOLINTBEGIN` in its first line): operands of
one type stand side by side in parameter lists, which is what bugprone-easily-swappable-parameters warns of. Elements
are found by strides in bytes, whose alignment is checked, as a cast through void says to -Wcast-align.
"""

from __future__ import annotations

import shutil
import subprocess

import pytest

from bcastgen.emit.standalone import CForm
from c_harness import emit_module
from long_runs import many, some
from op_rows import all_row_kernels, golden_kernels, kernels_of_numbers

CHECKS = "-*,bugprone-*,cert-*,clang-diagnostic-*"


def tidy(directory, files):
    """What clang-tidy says of the .c files among these."""
    for name, text in files.items():
        (directory / name).write_text(text)
    program = next((name for name in ("clang-tidy-19", "clang-tidy") if shutil.which(name)), None)
    if program is None:
        pytest.fail("no clang-tidy-19 on the PATH; install it")
    names = [name for name in files if name.endswith(".c")]
    options = ["--quiet", f"--checks={CHECKS}", "--warnings-as-errors=*", "--header-filter=.*"]
    command = [program, *options, *names, "--", "-std=c11", "-Wall"]
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[:4000] or done.stderr[:4000]


@pytest.mark.slow
def test_golden_cases(tmp_path):
    files = {}
    for name, kernel, variants in golden_kernels():
        files |= emit_module([kernel], name, CForm(variants))[0].files
    tidy(tmp_path, files)


@pytest.mark.slow
@pytest.mark.parametrize("form", [CForm(0), CForm(0, freestanding=True)], ids=["plain", "freestanding"])
def test_every_op(form, tmp_path):
    files = {}
    for at, kernels in enumerate(some(all_row_kernels(), 9)):
        files |= emit_module(kernels, f"ops{at}", form)[0].files
    tidy(tmp_path, files)


@pytest.mark.slow
def test_every_op_of_a_number(tmp_path):
    files = {}
    for at, kernels in enumerate(kernels_of_numbers()):
        files |= emit_module(kernels, f"numbers{at}", CForm(0))[0].files
    tidy(tmp_path, files)


@pytest.mark.slow
@pytest.mark.parametrize("functions", [False, True], ids=["exact", "functions"])
def test_random_kernels(functions, corpus, tmp_path):
    tidy(tmp_path, corpus(2000, many(40, 100), functions=functions, faults=None).files)
