"""How a nest's points are divided among threads: as many parts for each, and each part worth a thread."""

from __future__ import annotations

import ctypes
import subprocess

import pytest

from bcastgen.core.resources import folder
from compile_flags import SHARED, WARNED
from csrc_includes import CSRC_FLAGS
from many_cores import constant

UNIT = """
#include "run.c"
int64_t parts(double share, int32_t threads);
int64_t parts(double share, int32_t threads) { return run_parts(share, threads); }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    here = tmp_path_factory.mktemp("division")
    (here / "unit.c").write_text(UNIT)
    sources = [folder("csrc") / "runtime" / f"{name}.c" for name in ("pack", "pool", "guards", "shape_code")]
    flags = ["-O1", *SHARED, WARNED, *CSRC_FLAGS]
    subprocess.run(["gcc", *flags, "-o", str(here / "unit.so"), str(here / "unit.c"), *map(str, sources)], check=True)
    library = ctypes.CDLL(str(here / "unit.so"))
    library.parts.argtypes, library.parts.restype = (ctypes.c_double, ctypes.c_int32), ctypes.c_int64
    return library


@pytest.mark.parametrize("threads", [1, 2, 3, 8, 64])
def test_each_thread_gets_as_many_parts(threads: int, library: ctypes.CDLL) -> None:
    most = constant("run.c", "PARTS_A_THREAD")
    found = {share: library.parts(share, threads) for share in [threads + at / 8 for at in range(80 * threads)]}
    assert all(parts % threads == 0 for parts in found.values())
    # None is less than what is worth a thread.
    assert all(threads <= parts <= share for share, parts in found.items())
    assert set(found.values()) == {threads * each for each in range(1, most + 1)}
    # Pauses may ask for threads where the work does for none.
    assert library.parts(0.0, threads) == library.parts(0.5, threads) == threads


def test_work_beyond_counting_is_divided_too(library: ctypes.CDLL) -> None:
    assert library.parts(1e300, 64) == 64 * constant("run.c", "PARTS_A_THREAD")
