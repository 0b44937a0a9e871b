"""Reductions beside what asks elements or says shapes: integer powers, loops that may not end, masks."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.errors import DomainError

POWERS = [
    lambda a, b: a.sum(axis=1, keepdims=True) ** b,
    lambda a, b: b ** a.sum(axis=1, keepdims=True),
    lambda a, b: (b ** (a - a.max() + 5)).sum(axis=1),
    lambda a, b: (a**b).sum(axis=1),
    lambda a, b: (a**b).sum(),
    lambda a, b: (a**b).max(axis=0),
    lambda a, b: (a**b).mean(axis=(0, 1)),
    lambda a, b: a**b - (a**b).sum(axis=0),
    lambda a, b: (a**b) / (a**b).sum(),
    lambda a, b: (a**b).sum(axis=0) + (b**a).sum(axis=1, keepdims=True),
    lambda a, b: (a ** b.sum(), (b**a).sum(axis=0), a + b),
]


@pytest.mark.parametrize("function", POWERS)
def test_each_exponent_is_asked_before_a_result_is_written(function):
    """Wherever the only negative one lies, and also where a reduction gives it."""
    kernel = bg.jit(function)
    for shape in ((3, 4), (1, 5), (70, 3)):
        a, b = np.arange(np.prod(shape)).reshape(shape) % 4 + 1, np.arange(1, shape[1] + 1) % 3
        wanted = function(a, b)
        for got, right in zip(*((x if isinstance(x, tuple) else (x,)) for x in (kernel(a, b), wanted)), strict=True):
            np.testing.assert_array_equal(got, right)
        outs = tuple(np.full_like(one, 77) for one in (wanted if isinstance(wanted, tuple) else (wanted,)))
        refused = 0
        for which, at in ((0, a.size - 1), (0, a.size // 2), (1, 0), (1, b.size - 1)):
            arrays = [a.copy(), b.copy()]
            arrays[which].flat[at] = -2000
            try:
                function(*arrays)
            except ValueError:
                with pytest.raises(DomainError, match=r"negative integer powers.*in kernel\(a: \["):
                    kernel(*arrays, out=outs if len(outs) > 1 else outs[0])
                assert all(np.all(out == 77) for out in outs)
                refused += 1
        assert refused


def test_loops_that_do_not_end_are_told_below_reductions():
    @bg.vectorize(max_iterations=3)
    def halved(x):
        while x > 1:
            x = x / 2
        return x

    x = np.array([[1.0, 2, 3], [4, 8, 7]])
    for function in (
        lambda x: halved(x).sum(),
        lambda x: halved(x).max(axis=0),
        lambda x: halved(x).mean(axis=1),
        lambda x: halved(x.sum(axis=0)),
        lambda x: halved(x / x.sum() * 10).sum(axis=0),
    ):
        kernel = bg.jit(function)
        assert np.all(np.isfinite(kernel(x * 0.1)))
        with pytest.raises(DomainError, match="a loop is not over"):
            kernel(x * [[1, 1, 1], [1, 1, 100]])


def test_a_mask_is_of_the_value_that_is_reduced():
    x, rows = np.arange(12.0).reshape(3, 4), np.array([[True], [False], [True]])
    for function, mask in (
        (lambda x, m: x.sum(axis=1, keepdims=True).sum(where=m), rows),
        (lambda x, m: x.sum(axis=1, keepdims=True).var(where=m, ddof=1), rows),
        (lambda x, m: x.T.sum(axis=0, where=m), rows[:, 0]),
        (lambda x, m: x.max(axis=1).mean(where=m), rows[:, 0]),
        (lambda x, m: x[:, None].sum(axis=0, where=m[:, None]), x > 3),
        (lambda x, m: (x - x.mean(axis=1, keepdims=True)).sum(axis=0, where=m), rows),
        (lambda x, m: x.sum().prod(where=m), np.array(False)),
        (lambda x, m: x.mean(axis=1, keepdims=True, where=x > 1).sum(where=m), rows),
        (lambda x, m: np.nanmean(x, axis=1, keepdims=True).sum(where=m), rows),
        (lambda x, m: (1 + x.var(axis=0, keepdims=True, where=x > 5)).prod(where=m), rows[:1]),
        (lambda x, m: x.max(axis=1, keepdims=True, initial=-4).T.sum(where=m), rows[:, 0]),
    ):
        np.testing.assert_allclose(bg.jit(function)(x, mask), function(x, mask), 1e-14)
    refused = r"operand 'm' dim 1 has extent 4, expected 1 \(from 'sum_of'\); it does not stretch"
    with pytest.raises(bg.BroadcastError, match=refused):
        bg.jit(lambda x, m: x.sum(axis=1, keepdims=True).sum(where=m))(x, x > 3)
    for wrong, mask in (
        (lambda x, m: x.mean(axis=1, keepdims=True, where=m).sum(where=m), x >= 0),
        (lambda x, m: x.max(axis=1, keepdims=True, initial=-4).T.prod(axis=1, where=m), x[:, :3] > 3),
    ):
        with pytest.raises(ValueError):
            wrong(x, mask)
        with pytest.raises(bg.BroadcastError, match="under m"):
            bg.jit(wrong)(x, mask)


def test_a_value_may_be_of_one_operand_seen_twice():
    """Its claim has a name of its own: no operand's."""
    y = np.array([[1.0, 2.0]])
    for function in (
        lambda y, q: (y * y.T).sum(axis=0, where=q),
        lambda y, q: (y + np.swapaxes(y, 0, 1)).var(where=q.T),
        lambda y, q: np.any(y - y.T, axis=1, keepdims=True, where=q),
    ):
        kernel = bg.jit(function)
        for mask in (np.ones((2, 2), bool), np.array([[True], [False]])):
            np.testing.assert_array_equal(kernel(y, mask), function(y, mask))


SHAPES = [(3, 4), (1, 4), (3, 1), (1, 1), (4,), (2, 3, 4)]


@pytest.mark.parametrize(
    "function",
    [
        lambda x, y, m: ((x - y) ** 2).sum(where=m),
        lambda x, y, m: (x * y).mean(axis=-1, where=m),
        lambda x, y, m: (x + y).T.sum(axis=0, where=m.T),
        lambda x, y, m: (x.max(axis=0, keepdims=True) * y).sum(where=m),
        lambda x, y, m: (x * y).var(axis=0, where=m) + (x * y).max(where=~m, initial=-9),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_mask_beside_several_operands_stretches_none(function):
    """Which operand has an extent is known at the call alone."""
    kernel = bg.jit(function)
    for shapes in itertools.product(SHAPES, repeat=3):
        x, y, m = (np.arange(1.0, 1 + np.prod(shape)).reshape(shape) for shape in shapes)
        m = m % 3 > 1
        try:
            wanted = function(x, y, m)
        except ValueError:
            with pytest.raises(bg.BroadcastError):
                kernel(x, y, m)
            continue
        np.testing.assert_allclose(kernel(x, y, m), wanted, 1e-14, err_msg=str(shapes))
    typed = bg.jit(function, signature="(f64[n, k] x, f64[n, k] y, bool[?, ?] m)")
    x, m = np.arange(12.0).reshape(3, 4), np.array([[True], [False], [True]])
    np.testing.assert_allclose(typed(x, x + 2, m), function(x, x + 2, m), 1e-14)
