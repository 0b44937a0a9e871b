"""Resources are found, and the files that decide a binary are all of them and no others."""

from __future__ import annotations

import pytest

from bcastgen.core.errors import BcastgenError
from bcastgen.core.resources import bench_module, folder, package_files


@pytest.mark.parametrize(
    ("name", "file"), [("templates", "kernel.c.j2"), ("csrc", "bcg_abi.h"), ("bench", "data/capitals.csv")]
)
def test_folders(name, file):
    assert (folder(name) / file).is_file()


def test_a_missing_folder_says_so():
    with pytest.raises(BcastgenError, match="'nothing' is missing"):
        folder("nothing")


def test_package_files_decide_the_binary():
    names = {path.name for path in package_files()}
    assert {"ops.py", "schedule.py", "kernel.c.j2", "plan.c.j2", "bcg_abi.h", "bcg_vmath_core.h"} <= names
    assert not names & {"dispatch.c", "runner.py", "capitals.csv"}


def test_the_bench_folder_is_a_package():
    assert bench_module("workloads").__name__ == "bcastgen.bench.workloads"
