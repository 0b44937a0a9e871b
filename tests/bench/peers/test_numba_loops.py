"""The loops that are compiled are those that a user of Numba would write, and they compute the result."""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen.core.resources import bench_module

numba_loops = bench_module("peers.numba_loops")


def run(text, function, *operands):
    names = {"np": np, "f": function, "dtype": np.float64, "prange": range}
    exec(text, names)
    return names["fresh"](*operands)


@pytest.mark.parametrize(
    "shapes",
    [((5,), (5,)), ((4, 1), (1, 3)), ((4, 3), (3,)), ((4, 3), ()), ((2, 1, 3), (4, 1), (1,)), ((), ()), ((1, 1), (1,))],
)
@pytest.mark.parametrize("parallel", [False, True])
def test_loops_compute_the_broadcast_result(shapes, parallel):
    rng = np.random.default_rng(0)
    operands = [rng.random(shape) for shape in shapes]
    text = numba_loops.nest(shapes, np.broadcast_shapes(*shapes), parallel)
    assert ("prange" in text) == (parallel and np.broadcast_shapes(*shapes) != ())
    assert np.array_equal(run(text, lambda *a: sum(a), *operands), sum(operands))
