"""Random kernels in C, between guard pages: the JIT's bits, and refusals that touch nothing, in every build.

A call that fits comes to what the JIT makes of the same arrays. One with a fault in it, be it an extent, a rank, null,
misaligned, overlapping memory or a negative extent, returns the status of that fault with operand and dim, says what
Python says, and changes no byte. Functions have a test of their own (test_module_agreement.py): FMA decides their bits.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bcastgen.api.functions import from_text
from bcastgen.emit.standalone import CForm
from c_corpus import SANITIZED, USERS, Build
from c_harness import ADDRESS, Case, Harness, emit_module
from compile_flags import QUICK
from long_runs import many

# With the static ones and those of test_module_agreement.py 300 and some; in a long run 1,000 and some.
CHUNKS, PER_CHUNK = many(2, 10), many(30, 80)


def test_a_sample_of_kernels_under_sanitizers(corpus, tmp_path):
    sample = corpus(1000, 20, forms=(CForm(0),))
    sample.check(tmp_path, [Build("gcc", (QUICK, *ADDRESS))])


MISTAKES = {
    "r[i] = t0;": ("r[i + 1] = t0;", "heap-buffer-overflow"),
    "+ 1.0f": ("+ (float)((int64_t)1 << n)", "shift exponent 64 is too large"),
}


@pytest.mark.parametrize("right", MISTAKES)
def test_a_mistake_is_found_and_its_line_said(right, tmp_path):
    wrong, said = MISTAKES[right]
    (kernel,) = emit_module([from_text("(f32[?] a) -> a + 1")], "plus")
    assert right in kernel.text
    bad = replace(kernel, files=kernel.files | {"plus.c": kernel.text.replace(right, wrong)})
    case = Case(bad).array(np.ones(64, np.float32)).array(np.zeros(64, np.float32))
    with pytest.raises(AssertionError, match=f"{said}(.|\n)*plus.c"):
        Harness([bad], tmp_path).build("gcc", (QUICK, *ADDRESS)).run(case)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(CHUNKS))
def test_kernels_in_every_build(seed, corpus, compile_strictly, tmp_path):
    many = corpus(seed, PER_CHUNK)
    many.check(tmp_path / "builds", (*SANITIZED, *USERS))
    for kind in ("gcc", "clang"):
        compile_strictly(many.files, tmp_path / kind, kind, "c++", ("-fsyntax-only",))


@pytest.mark.slow
def test_kernels_that_know_all_extents(corpus, compile_strictly, tmp_path):
    many = corpus(
        500, PER_CHUNK, forms=(CForm(static=True), CForm(0, static=True), CForm(static=True, freestanding=True))
    )
    many.check(tmp_path / "builds", (*SANITIZED, *USERS))
    for kind in ("gcc", "clang"):
        compile_strictly(many.files, tmp_path / kind, kind, "c++", ("-fsyntax-only",))
