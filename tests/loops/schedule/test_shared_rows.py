"""Which nests may share a pass: those that read what a reduction gives along the dims that it keeps."""

from __future__ import annotations

import re

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.loops.schedule.shared_rows import shared_lines, shared_rows


def runs(function, *types):
    signature = f"({', '.join(types)})"
    return shared_rows(bg.jit(function, signature=signature).compilation.rewritten.program.nests)


def softmax(x, axis):
    e = np.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def softmax_along(axis):
    return lambda x: softmax(x, axis)


def test_a_softmax_is_one_run_along_the_dims_it_keeps():
    for axis, rows in ((0, (1, 2)), (1, (0, 2)), (-1, (0, 1)), ((1, 2), (0,))):
        (run,) = runs(softmax_along(axis), "f32[?, ?, ?] x")
        assert (run.first, run.rows) == (0, (rows,) * 3)
    assert runs(lambda x: softmax(x, None), "f32[?, ?] x") == ()


def test_dims_that_are_dropped_count_by_what_reads_them():
    (run,) = runs(lambda x: np.sqrt(x.var(axis=0)), "f32[?, ?] x")
    assert run.rows == ((1,), (1,), (0,))


def test_what_is_read_along_other_dims_begins_a_pass():
    (run,) = runs(lambda x: x - x.sum(axis=1), "f32[?, ?] x")
    assert run.rows == ((0,), (1,))
    assert runs(lambda x: x.sum(axis=1, keepdims=True) - x.sum(axis=1), "f32[?, ?] x") == ()
    assert runs(lambda x: x - x.sum(axis=1, keepdims=True).max(axis=0), "f32[?, ?] x") == ()


@pytest.mark.parametrize("threads", [1, 2])
def test_bits_are_those_of_nests_that_run_one_by_one(threads):
    x = np.random.default_rng(1).normal(size=(90, 70, 310)).astype(np.float32)
    for axis in (0, 1, 2, (0, 2)):
        kernel = bg.jit(softmax_along(axis), threads=threads)
        whole = kernel(x)
        wide = softmax(x.astype(np.float64), axis)
        np.testing.assert_allclose(whole, wide, rtol=3e-6)
        # So few rows are one nest after the other.
        kept = next(d for d in range(3) if d not in np.atleast_1d(axis) % 3)
        part = np.take(x, range(20, 23), axis=kept)
        assert (kernel(part) == np.take(whole, range(20, 23), axis=kept)).all()
        assert (kernel(np.asfortranarray(x)) == whole).all()


def saved_in(function, signature):
    source = bg.jit(function, signature=signature).source
    return re.findall(r"\.saved = (\d+)", source)


def test_values_that_one_nest_combines_and_another_computes_with_are_saved():
    assert saved_in(softmax_along(1), "(f32[?, ?] x)") == ["2"]
    assert saved_in(softmax_along((1, 2)), "(f64[?, ?, ?] x)") == ["2"]
    # They lie in C order, so that rows are the outermost dims.
    assert saved_in(softmax_along((0, 2)), "(f32[?, ?, ?] x)") == []
    # The values of other operands, or of none that is worth a stage, are computed.
    assert saved_in(lambda x, y: np.exp(x) / np.exp(y).sum(axis=1, keepdims=True), "(f32[?, ?] x, f32[?, ?] y)") == []
    assert saved_in(lambda x: x / x.sum(axis=1, keepdims=True), "(f32[?, ?] x)") == []
    # A sum of 16-bit floats combines them in 32 bits.
    assert saved_in(softmax_along(1), "(f16[?, ?] x)") == []


@pytest.mark.parametrize("shape", [(1, 7), (3, 1), (64, 700), (5000, 30), (2, 90_000), (6, 30, 50)])
def test_saved_values_have_the_bits_of_computed_ones(shape):
    axes = tuple(range(1, len(shape)))
    random = np.random.default_rng(2)
    apart, total = bg.jit(lambda x: np.exp(x - x.max(axis=axes, keepdims=True))), bg.jit(lambda e: e.sum(axis=axes))
    for dtype in (np.float32, np.float64):
        x, y = (random.normal(size=shape).astype(dtype) for _ in range(2))
        for operand in (x, np.asfortranarray(x), x[::-1, ::-1], np.repeat(x, 2, axis=0)[::2]):
            e = apart(np.ascontiguousarray(operand))
            expected = e / total(e).reshape(-1, *(1,) * len(axes))
            for threads in (1, 2):
                kernel = bg.jit(softmax_along(axes), threads=threads)
                assert (kernel(operand) == expected).all()
                written = operand.copy(order="K")
                assert (kernel(written, out=written) == expected).all()

        def scaled(x, y):
            e = np.exp(x - x.max(axis=axes, keepdims=True))
            return e * y / e.sum(axis=axes, keepdims=True), e.sum(axis=axes)

        first, second = bg.jit(scaled)(x, y)
        e = apart(x)
        assert (first == e * y / total(e).reshape(-1, *(1,) * len(axes))).all()
        assert (second == total(e)).all()


def test_rows_that_stretch_at_run_time_are_computed_nest_by_nest():
    kernel = bg.jit(lambda x, y: y - x.sum(axis=1, keepdims=True))
    x, y = np.ones((1, 1000), np.float32), np.ones((2000, 1000), np.float32)
    assert (kernel(x, y) == -999).all()
    assert (kernel(y, y) == -999).all()


def test_explain_says_which_nests_share_a_pass_and_why():
    nests = bg.jit(lambda x: softmax(x, 1), signature="(f32[?, ?] x)").compilation.rewritten.program.nests
    (line,) = shared_lines(nests, range(len(nests)))
    assert line.startswith("nests 0 to 2 share a pass over the rows (d0): max_of_x, sum_of are read along these dims")
    nests = bg.jit(lambda x: (x - x.max()).sum(axis=1), signature="(f32[?, ?] x)").compilation.rewritten.program.nests
    (line,) = shared_lines(nests, range(len(nests)))
    assert line == "nest 1 begins a pass of its own: nest 0 has no rows, since it reduces all dims"
    alone = bg.from_text("(f32[?, ?] x) -> sum(x, axis=1)").compilation.rewritten.program.nests
    assert shared_lines(alone, range(len(alone))) == []


def test_nests_that_only_check_stand_in_no_way():
    """The checks of all nests run before the first of a pass does."""
    text = "(f32[?, ?] x, f32[?, ?] y, bool[?, ?] m) -> x * y - max(x * y, axis=1, keepdims=True, where=m, initial=0)"
    kernel = bg.from_text(text)
    assert [bool(nest.results) for nest in kernel.compilation.program.nests] == [True, False, False, True]
    assert "nests 0 to 3 share a pass over the rows (d0)" in kernel.explain() and ".shared = 2" in kernel.source
    random = np.random.default_rng(5)
    x, y = random.normal(size=(50, 9000)).astype("f4"), random.normal(size=(1, 9000)).astype("f4")
    m = x > y
    wanted = x * y - np.max(x * y, axis=1, keepdims=True, where=m, initial=0)
    for threads in (1, 2):
        kernel.threads = threads
        np.testing.assert_array_equal(kernel(x, y, m), wanted)
