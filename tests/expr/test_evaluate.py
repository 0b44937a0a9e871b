"""A typed expression, evaluated with NumPy: views, dtypes, and no more memory than its values need at a time."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from bcastgen.core.dtypes import dtype
from bcastgen.expr.build import Builder
from bcastgen.expr.evaluate import evaluate
from bcastgen.expr.infer import infer
from bcastgen.expr.text import parse
from bcastgen.expr.views import Broadcast, Collapse, NewAxes, Transpose, dims_of
from bcastgen.ops.table import OPS

A = np.arange(1.0, 7.0).reshape(2, 3)


@pytest.mark.parametrize(
    ("view", "expected"),
    [
        (Transpose(), A.T),
        (Transpose((1, 0)), A.T),
        (NewAxes(("dim", "new", "rest")), A[:, None]),
        (NewAxes(("rest", "new")), A[..., None]),
        (Broadcast((1, 3), dims_of((4, 2, 1, 3))), np.broadcast_to(A[:, None], (4, 2, 1, 3))),
        (Broadcast((2, 0), dims_of((None, 4, 2))), np.broadcast_to(A.T[:, None], (3, 4, 2))),
    ],
)
def test_views(view, expected):
    builder = Builder(("a",))
    typed = infer(builder.finish((builder.remap(builder.operands[0], view),)), (dtype("f64"),))
    np.testing.assert_array_equal(evaluate(typed, (A,))[0], expected, strict=True)


def test_a_dim_of_one_is_dropped_and_a_shape_is_taken():
    builder = Builder(("a", "b"))
    a, b = builder.operands
    dropped = builder.remap(a, Collapse((1,)))
    like = builder.remap(dropped, Broadcast((0,), None), b)
    typed = infer(builder.finish((dropped, builder.apply(OPS["add"], (like, b)))), (dtype("f64"),) * 2)
    first, second = evaluate(typed, (A[:, :1], A))
    np.testing.assert_array_equal(first, A[:, 0], strict=True)
    np.testing.assert_array_equal(second, A[:, :1] + A, strict=True)


def test_functions_of_f32_are_rounded_from_f64():
    x = np.linspace(-5, 5, 101, dtype=np.float32)
    (got,) = evaluate(infer(parse("exp(x)"), (dtype("f32"),)), (x,))
    np.testing.assert_array_equal(got, np.exp(x.astype(np.float64)).astype(np.float32), strict=True)


def test_a_long_chain_takes_the_memory_of_a_few_arrays():
    typed = infer(parse("x" + " * 2 + x" * 50), (dtype("f64"),))
    x = np.ones(100_000)
    tracemalloc.start()
    try:
        evaluate(typed, (x,))
        _, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert most < 5 * x.nbytes
