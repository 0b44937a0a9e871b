"""Products of complex numbers in reductions: no compiler fuses them, with the flags that `setup.py` passes."""

from __future__ import annotations

import ast
import platform
import re
import subprocess

import pytest

from csrc_includes import CSRC_FLAGS
from sources import ROOT, of_the_sources

pytestmark = of_the_sources

# FMA without further flags is on every aarch64; conda passes some to all that it builds for x86-64.
FUSING = {"x86_64": ("-march=haswell",), "aarch64": ()}
SOURCE = """\
#include <stddef.h>
#include "run_combine.inc"
void multiply_%(t)s(reduce_%(t)s *restrict r, const reduce_%(t)s *restrict a, ptrdiff_t n)
{
    for (ptrdiff_t i = 0; i < n; i++) r[i] = reduce_times_%(t)s(r[i], a[i]);
}
void fold_%(t)s(reduce_%(t)s *r)
{
    for (int half = 8; half > 0; half /= 2) {
        for (int i = 0; i < half; i++) r[i] = reduce_times_%(t)s(r[i], r[i + half]);
    }
}
"""


@pytest.mark.parametrize("kind", ["c64", "c128"])
def test_products_of_complex_numbers_are_not_fused(kind, tmp_path):
    if platform.machine() not in FUSING:
        pytest.skip("the instructions are those of x86-64 and aarch64")
    (flags,) = re.findall(r"extra_compile_args=(\[.*?\])", (ROOT / "setup.py").read_text(encoding="utf-8"))
    (tmp_path / "k.c").write_text(SOURCE % {"t": kind})
    command = ["gcc", *ast.literal_eval(flags), *FUSING[platform.machine()], *CSRC_FLAGS, "-S", "k.c", "-o", "-"]
    text = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert re.findall(r"\s(?:vfn?m|fn?m)(?:add|sub|la|ls)\w*", text) == []
