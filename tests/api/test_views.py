"""Views as users call them: the six maps of a matrix into three dims, and what else is another indexing map."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import bcastgen as bg

LETTERS = "ijk"
SIX = tuple(itertools.permutations(range(3), 2))
EXTENTS = (2, 3, 4)


def named(dims):
    return f"t[i][j][k] = a[{']['.join(LETTERS[dim] for dim in dims)}]"


def reference(a, dims):
    """t[i][j][k] = a[...], element by element."""
    t = np.empty(EXTENTS)
    for point in np.ndindex(EXTENTS):
        t[point] = a[tuple(point[dim] for dim in dims)]
    return t


@pytest.fixture(params=SIX, ids=named)
def dims(request):
    return request.param


@pytest.fixture
def a(dims):
    shape = tuple(EXTENTS[dim] for dim in dims)
    return np.arange(np.prod(shape), dtype=float).reshape(shape) + 1


def test_each_of_the_six_maps_is_a_kernel(a, dims):
    t = np.zeros(EXTENTS)
    kernel = bg.jit(lambda a, t: bg.broadcast_in_dim(a, t, dims) + t)
    assert (kernel(a, t) == reference(a, dims)).all()
    written = ", ".join(f"d{dim}|0" for dim in dims)
    assert f"(d0, d1, d2) -> ({written})" in str(kernel.compilation.program)


def test_each_of_the_six_maps_over_any_layout(a, dims):
    kernel = bg.jit(lambda a, t: bg.broadcast_in_dim(a, t, dims) * t)
    t = np.random.default_rng(0).random((4, 6, 8))[::2, ::2, ::2]
    padded = np.zeros((a.shape[0] * 2, a.shape[1] * 3))[::2, ::3]
    padded[...] = a
    for operand in (a, np.asfortranarray(a), padded, a[::-1, ::-1][::-1, ::-1]):
        for result in (t, np.asfortranarray(t), t[::-1]):
            assert (kernel(operand, result) == reference(a, dims) * result).all()


def test_each_of_the_six_maps_outside_of_a_kernel_is_a_view(a, dims):
    view = bg.broadcast_in_dim(a, EXTENTS, dims)
    assert (view == reference(a, dims)).all()
    assert np.shares_memory(view, a)
    assert not view.flags.writeable


def test_each_of_the_six_maps_in_standalone_c(a, dims, tmp_path):
    types = "(f64[?,?] a, f64[?,?,?] t)"
    kernel = bg.from_text(f"{types} -> broadcast_in_dim(a, t, dims={dims}) + t", "six")
    source, _, *_ = kernel.emit_c(tmp_path, variants=0)
    text = source.read_text()
    for own, dim in enumerate(dims):
        assert f"const int64_t a_d{dim} = bcastgen_stride(a, {own});" in text


def test_an_extent_of_1_stretches_in_each_of_the_six_maps(a, dims):
    kernel = bg.jit(lambda a, t: bg.broadcast_in_dim(a, t, dims) + t)
    t = np.zeros(EXTENTS)
    one = a[:1]
    assert (kernel(one, t) == reference(np.broadcast_to(one, a.shape), dims)).all()


def test_a_target_is_not_stretched_to_its_operand():
    kernel = bg.jit(lambda a, t: bg.broadcast_in_dim(a, t, (1,)) + t)
    with pytest.raises(bg.BroadcastError, match=r"operand 'a' dim 0 has extent 4, expected 1 \(from 't'\)"):
        kernel(np.ones(4), np.ones((3, 1)))


def test_the_extent_is_tied_to_another_operands():
    """Seed 004: c[i][j][k] = a[i][k] + b[i][j][k], with dim c, 1 == dim b, 1."""
    kernel = bg.from_text("(f64[n,m] a, f64[n,k,m] b) -> broadcast_in_dim(a, b, (0, 2)) + b")
    assert kernel.result_shape((2, 4), (2, 3, 4)) == (2, 3, 4)
    with pytest.raises(bg.BroadcastError, match=r"operand 'b' dim 2 has extent 5, expected 4 \(from 'a'\)"):
        kernel.result_shape((2, 4), (2, 3, 5))


def test_one_value_used_twice_has_its_own_extent_at_each_use():
    """Seed 004: %t with %b and with %d, where dim b, 1 need not be dim d, 1."""
    rng = np.random.default_rng(1)
    a, b, d = rng.random((2, 4)), rng.random((2, 3, 4)), rng.random((2, 5, 4))

    def both(a, b, d):
        t = bg.broadcast_in_dim(a, (None, None, None), (0, 2))
        return t + b, t + d

    c, e = bg.jit(both)(a, b, d)
    assert (c == a[:, None] + b).all()
    assert (e == a[:, None] + d).all()


def test_one_value_used_twice_may_be_tied():
    def both(a, b, d):
        t = bg.broadcast_in_dim(a, b, (0, 2))
        return t + b, t + d

    kernel = bg.jit(both)
    a = np.ones((2, 4))
    assert [r.shape for r in kernel(a, np.ones((2, 3, 4)), np.ones((2, 3, 4)))] == [(2, 3, 4)] * 2
    with pytest.raises(bg.BroadcastError, match="dim 1 has extent 5"):
        kernel(a, np.ones((2, 3, 4)), np.ones((2, 5, 4)))


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: a.T + b,
        lambda a, b: (a + 1).T * b,
        lambda a, b: (a.T + b).T,
        lambda a, b: a + np.transpose(np.transpose(a)),
        lambda a, b: a[:, None] * b.T[None, :],
        lambda a, b: np.exp(a[:, :, None]) - b.T[:, None],
        lambda a, b: np.broadcast_to(a.T, (2, 4, 3)) + b,
        lambda a, b: np.where(b < a.T, a.T, 2 * b),
        lambda a, b: a[None].T + b[:, :, None],
    ],
)
def test_views_of_values_are_numpys(function):
    rng = np.random.default_rng(2)
    a, b = rng.random((3, 4)), rng.random((4, 3))
    expected = function(a, b)
    got = bg.jit(function)(a, b)
    assert got.shape == expected.shape
    np.testing.assert_allclose(got, expected, rtol=1e-15)


def test_random_compositions_of_views_are_numpys():
    rng = np.random.default_rng(3)
    for _ in range(40):
        ranks = rng.integers(0, 4, 2)
        shapes = [tuple(int(n) for n in rng.integers(1, 3, rank)) for rank in ranks]
        arrays = [rng.random(shape) for shape in shapes]
        steps = [[("T", "new", "neg", "perm")[k] for k in rng.integers(0, 4, 3)] for _ in ranks]
        orders = [[rng.permutation(8) for _ in range(3)] for _ in ranks]

        function = composed(steps, orders, [int(rank) for rank in ranks])
        try:
            expected = function(*arrays)
        except ValueError:
            with pytest.raises(bg.BroadcastError):
                bg.jit(function)(*arrays)
            continue
        assert (bg.jit(function)(*arrays) == expected).all()


def composed(steps, orders, ranks):
    def function(a, b):
        values = []
        for value, moves, perms, rank in zip((a, b), steps, orders, ranks, strict=True):
            for move, perm in zip(moves, perms, strict=True):
                value, rank = moved(value, move, perm, rank)
            values.append(value)
        return values[0] + values[1]

    return function


def moved(value, move, perm, rank):
    if move == "T":
        return np.transpose(value), rank
    if move == "new":
        return value[..., None], rank + 1
    if move == "perm":
        return np.transpose(value, [int(at) for at in perm if at < rank]), rank
    return -value, rank


def test_an_operand_read_through_two_maps_is_not_written_in_place():
    kernel = bg.jit(lambda a: a + 2 * a.T)
    a = np.arange(9.0).reshape(3, 3)
    expected = a + 2 * a.T
    out = a.copy()
    assert kernel(out, out=out) is out
    assert (out == expected).all()


def test_a_transposed_result_may_not_be_its_operand(tmp_path):
    kernel = bg.from_text("(f64[n,n] a) -> a.T", "flip")
    header = kernel.emit_c(tmp_path)[1].read_text()
    assert "r may be" not in header
    a = np.arange(9.0).reshape(3, 3)
    expected = a.T.copy()
    assert (kernel(a, out=a) == expected).all()


def test_a_broadcast_in_memory():
    a = np.arange(3.0)
    made = bg.broadcast_to(a, (2, 3)).copy()
    assert made.strides == (24, 8)
    assert (bg.jit(lambda x: bg.broadcast_to(x, (2, 3)).copy())(a) == made).all()


def test_ranks_are_compiled_once_each():
    kernel = bg.jit(lambda a: 3 * a.T)
    for _ in range(2):
        for rank in range(4):
            shape = tuple(range(1, 1 + rank))
            a = np.arange(np.prod(shape, dtype=int), dtype=float).reshape(shape)
            assert (kernel(a) == 3 * a.T).all()
    assert kernel.compilations <= 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: bg.broadcast_in_dim(np.ones((2, 3)), (3, 4), (0, 1)),
            "operand 'x' dim 0 has extent 2, expected 1 or 3",
        ),
        (lambda: bg.broadcast_in_dim(np.ones(2), (2, None), (0,)), "dim 1 is not known"),
        (lambda: bg.transpose(np.ones((2, 3)), (0, 0)), "each dim once"),
    ],
)
def test_refusals_outside_of_a_kernel(call, message):
    with pytest.raises(bg.BroadcastError, match=message):
        call()


def test_a_view_needs_ranks():
    kernel = bg.from_text("(f64[*] a) -> a.T")
    with pytest.raises(bg.BroadcastError, match="known rank"):
        kernel.explain()
    assert (kernel(np.ones((2, 3))) == np.ones((3, 2))).all()


def test_no_error_names_an_operand_that_nobody_has():
    """The shape of an explicit broadcast, and who sets an extent where no operand does."""
    with pytest.raises(bg.BroadcastError, match=r"^operand 'b' dim 0 has extent 2, expected 1 or 3 to meet a value"):
        bg.from_text("(f64[2] b) -> b + broadcast_to(1.0, (3,))").explain()
    with pytest.raises(bg.BroadcastError, match=r"^values broadcast to extents 3 and 2 meet"):
        bg.from_text("broadcast_to(1.0, (3,)) + broadcast_to(a, (2,))")(np.ones(1))
    with pytest.raises(bg.BroadcastError, match=r"^operand 'b' dim 0 has extent 2, expected 1 or 3, in kernel\(b: "):
        bg.from_text("(f64[?] b) -> b + broadcast_to(1, (3,))")(np.ones(2))
