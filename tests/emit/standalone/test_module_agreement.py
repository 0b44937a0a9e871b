"""gcc and clang, optimised or not, give the same bits, and those of the JIT.

Arithmetic needs nothing but -ffp-contract=off for it: test_module_random.py compiles it for any machine and compares it
with the JIT's own, vectorised code. What functions give in the last place depends on whether a product and a sum are
one operation: here are kernels of functions, on the JIT's path (-march=native), and on the other one among themselves.
"""

from __future__ import annotations

import pytest

from c_corpus import NATIVE, PLAIN, SANITIZED


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 104))
def test_functions(seed, corpus, tmp_path):
    many = corpus(seed, 30, functions=True, faults=1)
    many.check(tmp_path / "native", NATIVE)
    many.check(tmp_path / "plain", PLAIN, expected=False)
    # What sanitizers look for does not depend on the last bit.
    many.check(tmp_path / "sanitized", SANITIZED, expected=False)
