"""csrc/helpers/bcg_extent.h, and sizes of bcg_broadcast.h: at the edges of 64 bits, against Python's integers.

In: C that gives the static functions names.  Out: each function's value wherever numbers meet a bound.
"""

from __future__ import annotations

import ctypes
import itertools
import math
import subprocess
from pathlib import Path

import pytest

from bcastgen.core.c_flags import C_LANGUAGE
from compile_flags import SHARED, WARNED
from csrc_includes import CSRC_FLAGS

MOST = 2**63 - 1
UNCOUNTABLE = -(2**63)
ROOT = math.isqrt(MOST)
EDGES = (UNCOUNTABLE, -MOST, -2, -1, 0, 1, 2, 3, ROOT, ROOT + 1, 2**62 - 1, 2**62, MOST // 3, MOST - 1, MOST)
EXTENTS = (0, 1, 2, 3, ROOT, ROOT + 1, 2**62 - 1, 2**62, MOST // 3, MOST - 1, MOST)

SOURCE = """
#include <stddef.h>
#include <stdint.h>
#include "bcg_abi.h"
typedef enum {
#define BCG_STATUS(name, value, sentence) BCG_##name = value,
#include "bcg_status.def"
#undef BCG_STATUS
} bcg_status;
#include "bcg_broadcast.h"
#include "bcg_extent.h"

#define OF_TWO(name) \\
    int64_t name(int64_t x, int64_t y); \\
    int64_t name(int64_t x, int64_t y) { return bcg_extent_##name(x, y); }
OF_TWO(plus) OF_TWO(minus) OF_TWO(times) OF_TWO(div) OF_TWO(min) OF_TWO(max)

int64_t points(int32_t rank, const int64_t *extents);
int64_t points(int32_t rank, const int64_t *extents) { return bcg_points(rank, extents); }

int64_t bytes(int32_t rank, const int64_t *extents, int64_t one);
int64_t bytes(int32_t rank, const int64_t *extents, int64_t one) { return bcg_bytes(rank, extents, one); }

uint64_t magnitude(int64_t stride);
uint64_t magnitude(int64_t stride) { return bcg_magnitude(stride); }
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> ctypes.CDLL:
    home = tmp_path_factory.mktemp("sizes")
    unit, built = home / "sizes.c", home / "sizes.so"
    Path(unit).write_text(SOURCE)
    # Signed overflow traps, where a check is left out.
    flags = [*C_LANGUAGE, WARNED, *SHARED, "-fsanitize=undefined", "-fsanitize-undefined-trap-on-error", *CSRC_FLAGS]
    subprocess.run(["gcc", *flags, "-o", str(built), str(unit)], check=True)
    found = ctypes.CDLL(str(built))
    for name in ("plus", "minus", "times", "div", "min", "max"):
        getattr(found, name).restype, getattr(found, name).argtypes = ctypes.c_int64, [ctypes.c_int64] * 2
    found.points.restype = found.bytes.restype = ctypes.c_int64
    found.magnitude.restype, found.magnitude.argtypes = ctypes.c_uint64, [ctypes.c_int64]
    return found


WANTED = {
    "plus": lambda x, y: x + y if min(x, y) >= 0 else -1,
    "minus": lambda x, y: x - y,
    "times": lambda x, y: x * y if min(x, y) >= 0 else -1,
    "div": lambda x, y: x // y if x >= 0 and y > 0 else -1,
}


@pytest.mark.parametrize("name", WANTED)
def test_extents_are_computed_or_uncountable(name: str, library: ctypes.CDLL) -> None:
    """An operand below 0, such as what is uncountable, makes the whole so; a difference may be below 0 itself."""
    for x, y in itertools.product(EDGES, EDGES):
        wanted = WANTED[name](x, y)
        is_kept = x >= 0 and y >= 0 and wanted <= MOST and (wanted >= 0 or name == "minus")
        assert getattr(library, name)(x, y) == (wanted if is_kept else UNCOUNTABLE), f"{name} of {x} and {y}"


def test_the_least_and_the_greatest(library: ctypes.CDLL) -> None:
    for x, y in itertools.product(EDGES, EDGES):
        assert library.min(x, y) == min(x, y)
        assert library.max(x, y) == (UNCOUNTABLE if UNCOUNTABLE in (x, y) else max(x, y))


@pytest.mark.parametrize("rank", [0, 1, 2, 3])
def test_sizes_are_counted_or_too_large(rank: int, library: ctypes.CDLL) -> None:
    for extents in itertools.product(EXTENTS, repeat=rank):
        given = (ctypes.c_int64 * rank)(*extents)
        for count, one in ((library.points, ()), *((library.bytes, (bytes_,)) for bytes_ in (1, 2, 8, 16))):
            wanted = math.prod((*extents, *one))
            found = count(rank, given, *map(ctypes.c_int64, one))
            assert found == (wanted if wanted <= MOST else -1), f"{extents} of {one or 'points'}"


def test_strides_have_magnitudes(library: ctypes.CDLL) -> None:
    for stride in EDGES:
        assert library.magnitude(stride) == abs(stride)
