"""Nests that reduce more arrays than are planned on the stack: threads share them, and each has memory of its own."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg

LAYOUTS = (
    lambda a: a,
    np.asfortranarray,
    lambda a: np.repeat(np.repeat(a, 2, 0), 2, 1)[::2, ::2],
    lambda a: np.ascontiguousarray(a[::-1])[::-1],
)


@pytest.mark.parametrize("count", [17, 20, 40])
@pytest.mark.parametrize("threads", [1, 2])
def test_many_reductions_of_one_pass(count, threads):
    terms = [f"sum(x*{at} + y, axis={at % 2}, keepdims=True)" for at in range(count)]
    kernel = bg.from_text(f"(f32[?, ?] x, f32[?, ?] y) -> {' + '.join(terms)}", threads=threads)
    random = np.random.default_rng(count)
    for _ in range(300):
        rows, columns = random.choice([1, 2, 3, 5, 17, 64, 300], size=2)
        # Integers, whose sums are exact in any order.
        x = random.integers(0, 3, (rows, columns)).astype("f4")
        y = random.integers(0, 3, (rows, columns if random.random() < 0.5 else 1)).astype("f4")
        wanted = sum(np.sum(x * at + y, axis=at % 2, keepdims=True) for at in range(count))
        layout, other = random.choice(len(LAYOUTS), size=2)
        assert np.array_equal(kernel(LAYOUTS[layout](x), LAYOUTS[other](y)), wanted), (rows, columns)
