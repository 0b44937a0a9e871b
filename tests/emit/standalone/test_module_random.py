"""Random kernels in C, between guard pages: the JIT's bits, and refusals that touch nothing, in every build.

A call that fits comes to what the JIT makes of the same arrays. One with a fault in it, be it an extent, a rank, null,
misaligned, overlapping memory or a negative extent, returns the status of that fault with operand and dim, says what
Python says, and changes no byte. Functions have a test of their own (test_module_agreement.py): FMA decides their bits.
"""

from __future__ import annotations

import pytest

from bcastgen.emit.standalone import CForm
from c_corpus import PLAIN, SANITIZED, Build
from c_harness import ADDRESS

# With the static ones and those of test_module_agreement.py 1,000 and some.
CHUNKS, PER_CHUNK = 10, 80


def test_a_sample_of_kernels_under_sanitizers(corpus, tmp_path):
    sample = corpus(1000, 20, forms=(CForm(0),))
    sample.check(tmp_path, [Build("gcc", ("-O0", *ADDRESS))])


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(CHUNKS))
def test_kernels_in_every_build(seed, corpus, compile_strictly, tmp_path):
    many = corpus(seed, PER_CHUNK)
    many.check(tmp_path / "builds", (*SANITIZED, *PLAIN))
    for kind in ("gcc", "clang"):
        compile_strictly(many.files, tmp_path / kind, kind, "c++", ("-fsyntax-only",))


@pytest.mark.slow
def test_kernels_that_know_all_extents(corpus, compile_strictly, tmp_path):
    many = corpus(500, 80, forms=(CForm(static=True), CForm(0, static=True), CForm(static=True, freestanding=True)))
    many.check(tmp_path / "builds", (*SANITIZED, *PLAIN))
    for kind in ("gcc", "clang"):
        compile_strictly(many.files, tmp_path / kind, kind, "c++", ("-fsyntax-only",))
