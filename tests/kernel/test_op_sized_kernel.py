"""bcastgen/kernel/op_sized_kernel.py: ops with shape functions inside of kernels, and maps whose dims stretch."""

from __future__ import annotations

import random

import numpy as np
import pytest

import bcastgen as bg
from long_runs import many
from map_model import make_case

s = bg.shape


@pytest.fixture(scope="module")
def outer():
    return bg.define_op(
        "outer_difference",
        "a, b",
        c="a - b",
        dtypes="same number",
        shape=lambda a, b: s.concat(a, b),
        maps=["(d0, d1) -> (d0)", "(d0, d1) -> (d1)"],
        replace=True,
    )


def hold_to_the_model(seed, calls):
    chance = random.Random(seed)
    case = make_case(chance, f"mapped_{seed}")
    op = case.define()
    fused = bg.jit(lambda a, b, c: op(a * 3, b + 1) * c)
    refused = 0
    for _ in range(calls):
        shapes = case.shapes(chance, wrong=chance.random() < 0.4)
        a, b = (np.asarray(np.random.default_rng(seed).integers(0, 50, shape)) for shape in shapes)
        c = np.arange(case.result[-1])
        if case.fits(shapes):
            assert np.array_equal(op(a, b), case.value(a, b))
            assert np.array_equal(fused(a, b, c), case.value(a * 3, b + 1) * c)
            assert op.result_shape(*shapes) == fused.result_shape(*shapes, c.shape) == case.result
            continue
        refused += 1
        for call in (lambda a=a, b=b: op(a, b), lambda a=a, b=b, c=c: fused(a, b, c)):
            with pytest.raises(
                bg.BroadcastError, match=r"operand '\w+' (of mapped_\d+ )?dim \d has extent \d, expected"
            ):
                call()
    return refused


def test_random_maps_give_what_numpy_gives():
    assert sum(hold_to_the_model(seed, 10) for seed in range(2)) > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 2 + many(3, 24)))
def test_many_random_maps_give_what_numpy_gives(seed):
    hold_to_the_model(seed, 12)


def test_it_is_fused_with_what_is_around_it(outer):
    a, b, c = np.arange(2.0), np.arange(3.0), np.ones((4, 1, 3))
    kernel = bg.jit(lambda a, b, c: np.exp(outer(a + 1, b * b)) + c)
    assert np.allclose(kernel(a, b, c), np.exp((a + 1)[:, None] - b * b) + c)
    assert kernel.result_shape((5,), (6,), ()) == (5, 6)
    assert len(kernel.compilation.program.nests) == 1


def test_the_shape_of_a_value_on_the_way_is_what_broadcasting_makes_of_it(outer):
    kernel = bg.jit(lambda a, b, c: outer(a + b, c))
    one, three = np.ones(1), np.arange(3.0)
    assert np.array_equal(kernel(one, three, one), (three + 1)[:, None] - 1)
    assert kernel(three, one, three).shape == kernel(three, three, three).shape == (3, 3)
    with pytest.raises(bg.BroadcastError, match="operands of add do not broadcast"):
        kernel(three, np.ones(2), one)


def test_one_op_several_times_and_inside_of_itself(outer):
    a, b = np.arange(2.0), np.arange(3.0)
    kernel = bg.jit(lambda a, b: outer(a, b) * outer(b, a).T)
    assert np.array_equal(kernel(a, b), (a[:, None] - b) * (b[:, None] - a).T)
    row = bg.define_op(
        "rows_less",
        "m, v",
        c="m - v",
        shape=lambda m, v: m,
        maps=["(d0, d1) -> (d0, d1)", "(d0, d1) -> (d1|0)"],
        replace=True,
    )
    nested = bg.jit(lambda a, b, v: row(outer(a, b) + 1, v))
    assert np.array_equal(nested(a, b, b), a[:, None] - b + 1 - b)
    assert np.array_equal(nested(a, b, b[1:2]), a[:, None] - b + 1 - b[1])
    with pytest.raises(bg.BroadcastError, match=r"'v' of rows_less dim 0 has extent 2, expected 1 or 3, d1 of its res"):
        nested(a, b, a)


def test_kernels_with_such_ops_are_called_by_others(outer):
    inner = bg.jit(lambda a, b: outer(a, b) * 2)
    kernel = bg.jit(lambda a, b: inner(a, b) + inner(b, a).T)
    a, b = np.arange(2.0), np.arange(3.0)
    assert np.array_equal(kernel(a, b), (a[:, None] - b) * 2 + ((b[:, None] - a) * 2).T)


def test_the_extension_sizes_them(outer, monkeypatch):
    kernel = bg.jit(lambda a, b, c: outer(a, b) * outer(b, a).T + c)
    a, b = np.arange(2.0), np.arange(3.0)
    expected = kernel(a, b, 1.0)
    assert np.array_equal(kernel._call_sized((a, b, 1.0), {}), expected)
    monkeypatch.setattr(type(kernel), "_sizes", None)  # what Python sizes by
    assert np.array_equal(kernel(a, b, 1.0), expected)
    assert np.array_equal(kernel(a[1:], b, 1.0), expected[1:])
    assert kernel.result_shape((5,), (6,), ()) == (5, 6)


def test_text_names_it(outer):
    a, b = np.arange(2.0), np.arange(3.0)
    assert np.array_equal(bg.evaluate("outer_difference(a, 2*b) + 1"), a[:, None] - 2 * b + 1)
    typed = bg.from_text("(f64[?] a, f64[n] b) -> outer_difference(a, b) - outer_difference(a*2, b)")
    assert np.array_equal(typed(a, b), -np.broadcast_to(a[:, None], (2, 3)))


def test_what_the_maps_ask_is_asked_with_both_extents():
    twice = bg.define_op(
        "twice_as_long",
        "a",
        c="a",
        shape=lambda a: s.from_extents(s.mul(s.get_extent(a, 0), 2)),
        maps=["(d0) -> (d0)"],
        replace=True,
    )
    kernel = bg.jit(lambda a: twice(a + 1) * 2)
    assert kernel(np.ones(0)).shape == (0,)
    with pytest.raises(
        bg.BroadcastError, match="operand 'a' of twice_as_long dim 0 has extent 3, expected 6, d0 of its"
    ):
        kernel(np.ones(3))
    with pytest.raises(
        bg.BroadcastError, match=r"extent 1, expected 2, d0 .*; it does not stretch, unless .* says d0\|0"
    ):
        kernel.result_shape((1,))


def test_the_author_s_message_and_rank_are_kept(outer):
    seven = bg.define_op(
        "seven",
        "a",
        c="a",
        shape=lambda a: s.join(a, s.const_shape((7,)), error="a must have 7"),
        maps=["(d0) -> (d0)"],
        replace=True,
    )
    assert bg.jit(lambda a: seven(a) + 1)(np.zeros(7)).sum() == 7
    with pytest.raises(bg.BroadcastError, match="a must have 7"):
        bg.jit(lambda a: seven(a) + 1)(np.zeros(6))
    with pytest.raises(bg.BroadcastError, match=r"operand 'a' of outer_difference has rank 2, expected 1 by its map"):
        bg.jit(lambda a, b: outer(a[:, None], b) + 1)(np.ones(2), np.ones(2))
    wrong = bg.define_op("wrong_rank", "a", c="a", shape=lambda a: a, maps=["(d0, d1) -> (d0)"], replace=True)
    with pytest.raises(bg.BroadcastError, match="shape function of wrong_rank gives another rank than its maps, 2"):
        bg.jit(lambda a: wrong(a) + 1)(np.ones(2))


def test_a_dim_that_a_map_drops_has_extent_1():
    column = bg.define_op(
        "column_times",
        "a, b",
        c="a * b",
        shape=lambda a, b: b,
        maps=["(d0) -> (d0, 0)", "(d0) -> (d0)"],
        replace=True,
    )
    kernel = bg.jit(lambda a, b: column(a + a, b) - 1)
    assert np.array_equal(kernel(np.ones((3, 1)), np.arange(3.0)), 2 * np.arange(3.0) - 1)
    with pytest.raises(bg.BroadcastError, match="operand 'a' of column_times dim 1 has extent 2, expected 1"):
        kernel(np.ones((3, 2)), np.arange(3.0))


def test_extents_are_the_shape_function_s_to_give(outer):
    kernel = bg.jit(lambda a, b: bg.broadcast_in_dim(outer(a, b), (None, None, "k"), dims=(0, 1)))
    assert kernel(np.ones(2), np.ones(3), extents={"k": 4}).shape == (2, 3, 4)
    with pytest.raises(bg.BroadcastError, match="'outer_difference_d0' is what a shape function computes"):
        kernel(np.ones(2), np.ones(3), extents={"k": 4, "outer_difference_d0": 2})
    open_ = bg.jit(lambda a, b: outer(bg.broadcast_to(a, ("k",)), b))
    with pytest.raises(bg.BroadcastError, match="is the caller's to give, and a shape function depends on it"):
        open_(np.ones(1), np.ones(3))


def test_strict_arrays_and_out(outer):
    kernel = bg.jit(lambda a, b, c: outer(a, b) + c)
    a, b, out = np.ones(2), np.ones(3), np.empty((2, 3))
    assert kernel(a, b, 0.0, out=out) is out
    assert kernel(a, bg.strict(b), bg.strict(out)).shape == (2, 3)
    with pytest.raises(bg.BroadcastError, match=r"operand 'c' dim 0 has extent 1, expected 2 .*it does not stretch"):
        kernel(a, b, bg.strict(np.ones((1, 3)), 0))


# The second function is of NumPy's; both take the op and two operands.
REDUCED = [
    lambda op, a, b: op(a, b).sum(axis=0),
    lambda op, a, b: op(a * 2, b + 1).max(axis=1) + a,
    lambda op, a, b: op(op(a, b).sum(axis=1), b),
    lambda op, a, b: op(a, b) - op(a, b).mean(axis=0),
    lambda op, a, b: op(op(a, b).min(axis=1), b).sum() - b.sum(),
    lambda op, a, b: (op(a, b).argmax(axis=1), op(b, a).any(axis=0, keepdims=True)),
]


@pytest.mark.parametrize("function", REDUCED)
def test_reductions_beside_a_shape_function(function, outer):
    kernel = bg.jit(lambda a, b: function(outer, a, b))
    a, b = np.array([3.0, 1.0]), np.array([5.0, 0.5, 2.0])
    found, wanted = kernel(a, b), function(lambda x, y: x[:, None] - y, a, b)
    several = isinstance(wanted, tuple)
    for one, other in zip(found if several else (found,), wanted if several else (wanted,), strict=True):
        assert np.array_equal(one, other) and one.dtype == other.dtype
    shapes = tuple(map(np.shape, wanted)) if several else np.shape(wanted)
    assert kernel.result_shape((2,), (3,)) == kernel._result_shape(((2,), (3,))) == shapes
    run = kernel.shape_function.run((2,), (3,))
    assert [getattr(one, "extents", one) for one in run] == list(shapes) if several else run == shapes
    with pytest.raises(bg.BroadcastError, match=r"rank 2, expected 1|has rank 2"):
        kernel(np.ones((2, 2)), b)


@pytest.mark.parametrize("op", ["sum", "max"])
@pytest.mark.parametrize("keepdims", [False, True])
def test_a_dim_of_the_caller_s_that_is_reduced_below_a_shape_function(op, keepdims, outer):
    """The shape of what is left depends on the operands alone."""

    def repeated(a, b):
        copies = getattr(bg.broadcast_to(a, ("k", "n")), op)(axis=0, keepdims=keepdims)
        return outer(copies.squeeze(0) if keepdims else copies, b)

    kernel = bg.jit(repeated, signature="(f64[n] a, f64[m] b)", name="repeated")
    a, b = np.array([3.0, 1.0]), np.array([5.0, 0.5, 2.0])
    factor = 4 if op == "sum" else 1
    assert np.array_equal(kernel(a, b, extents={"k": 4}), factor * a[:, None] - b)
    if op == "max":
        with pytest.raises(bg.BroadcastError, match="extent 'k' is 0, expected 1 or more"):
            kernel(a, b, extents={"k": 0})


def test_a_kernel_shows_no_operand_that_is_not_passed(outer):
    assert repr(outer) == "<kernel outer_difference(a, b)>"


def test_the_cure_for_unknown_ranks_works(outer, tmp_path):
    with pytest.raises(bg.BroadcastError, match=r"bcastgen\.jit\(lambda a: kernel\(a\), signature="):
        outer.emit_c(tmp_path)
    typed = bg.jit(lambda a, b: outer(a, b), signature="(f64[?] a, f64[?] b)", name="typed_outer")
    assert len(typed.emit_c(tmp_path)) == 3


@pytest.mark.parametrize("signature", [None, "(f64[?] a, f64[?] b)", "(f64[n] a, f64[3] b) -> f64[n, 3]"])
def test_calls_run_the_shape_functions_in_c(outer, signature, monkeypatch):
    """With a signature, too, whose ranks no call has to tell."""
    kernel = bg.jit(lambda a, b: outer(a, b), signature=signature)
    a, b = np.arange(2.0), np.arange(3.0)
    expected = kernel(a, b)
    if "_dispatch" not in type(kernel).__mro__[-2].__module__:
        pytest.skip("the extension was not built: Python answers")
    monkeypatch.setattr(type(kernel), "_call_sized", None)
    assert np.array_equal(kernel(a, b), expected)
    assert kernel.result_shape((5,), (3,)) == (5, 3)
