"""Small reductions: without a plan, and of integers in any order, they give what all others give."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.errors import BcastgenError


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_folds_of_integers_are_numpys_for_any_number_and_in_any_layout(dtype):
    random = np.random.default_rng(17)
    ends = np.array([0, 1]) if dtype == "?" else np.array([np.iinfo(dtype).min, np.iinfo(dtype).max, 1], dtype)
    names = ("sum", "prod", "min", "max", "argmin", "argmax")
    kernels = [bg.from_text(", ".join(f"{name}(x, axis={axis})" for name in names)) for axis in (0, 1)]
    alone = [bg.from_text(f"{name}(x, axis=1)") for name in names]
    for count in (1, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 130, 257, 300, 1025):
        x = random.integers(0, 255, (5, count)).astype(dtype)
        at = random.random(x.shape) < 0.3
        x[at] = random.choice(ends, at.sum())
        for axis, operand in ((1, x), (0, np.ascontiguousarray(x.T)), (1, np.asfortranarray(x)), (1, x[:, ::-1])):
            expected = [getattr(operand, name)(axis=axis) for name in names]
            for got, want in zip(kernels[axis](operand), expected, strict=True):
                np.testing.assert_array_equal(got, want, strict=True)
        for kernel, name in zip(alone, names, strict=True):
            np.testing.assert_array_equal(kernel(x), getattr(x, name)(axis=1), strict=True)


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i4", "u8", "f4", "f8"])
@pytest.mark.parametrize("shape", [(0, 3), (0, 300), (2, 0, 5)])
def test_what_no_elements_give_has_numpys_bytes(dtype, shape):
    """A bool of another byte than 0 and 1 compares as true, and sorts otherwise."""
    x = np.ones(shape, dtype)
    axis = shape.index(0)
    for name in ("all", "any", "sum", "prod", "count_nonzero"):
        kernel = bg.from_text(f"{name}(x, axis={axis})")
        assert kernel(x).tobytes() == getattr(np, name)(x, axis=axis).tobytes(), name
    for name in ("all", "any"):
        given = np.zeros(np.all(x, axis=axis).shape, bool)
        bg.from_text(f"{name}(x != 7, axis={axis})")(x, out=given)
        assert given.tobytes() == getattr(np, name)(x != 7, axis=axis).tobytes(), name


def test_small_reductions_without_a_plan_have_the_bits_and_the_refusals_of_others():
    random = np.random.default_rng(18)
    for shape, axes in (
        *(((count,), (None, 0)) for count in (1, 2, 3, 7, 15, 16, 17)),
        *(((rows, 5), (1, 0, None)) for rows in (1, 7, 8, 9)),
        ((1, 300), (1, None)),
        ((7, 129), (1, 0)),
        ((3, 4, 50), (2, (1, 2), (0, 2))),
    ):
        for name, keeps in itertools.product(("sum", "mean", "var", "max", "argmax"), (False, True)):
            x = random.normal(size=shape).astype(np.float32)
            for axis in axes:
                if name == "argmax" and isinstance(axis, tuple):
                    continue
                kernel = bg.from_text(f"{name}(x, axis={axis}, keepdims={keeps})")
                wide = np.zeros((*shape[:-1], 2 * shape[-1]), np.float32)
                wide[..., ::2] = x
                got, other = np.asarray(kernel(x)), np.asarray(kernel(wide[..., ::2]))
                assert (
                    got.tobytes() == other.tobytes() and got.shape == getattr(x, name)(axis=axis, keepdims=keeps).shape
                )
                out = np.empty_like(np.stack([got, got], axis=-1))[..., 0]
                kernel(x, out=out)
                assert out.tobytes() == got.tobytes()
    fixed = bg.from_text("(f32[n, 32] x) -> sum(x, axis=1)")
    with pytest.raises(BcastgenError, match="32"):
        fixed(np.zeros((4, 33), np.float32))


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("sum", "f2"), ("sum", "f4"), ("sum", "u1"), ("sum", "c8"), ("var", "f8"), ("max", "f4"), ("argmax", "i4")],
)
def test_small_reductions_in_any_layout_have_the_bits_of_the_same_rows_among_many(name, dtype):
    random = np.random.default_rng(20)
    for shape in ((4, 4), (3, 17), (17, 3), (2, 3, 5), (2, 1, 7, 3), (31, 2), (2, 64), (5, 20, 5), (1, 9, 1)):
        axes = [*range(len(shape)), *([] if name == "argmax" else [(0, 1), (0, len(shape) - 1)])]
        for axis in axes:
            x = (random.random(shape) * 100 - (0 if dtype == "u1" else 50)).astype(dtype)
            kernel = bg.from_text(f"{name}(x, axis={axis})")
            behind = tuple(at + 1 for at in axis) if isinstance(axis, tuple) else axis + 1
            many = np.zeros((600, *shape), dtype)
            many[0] = x
            wanted = np.asarray(bg.from_text(f"{name}(x, axis={behind})")(many))[0]
            for laid_out in (x, np.asfortranarray(x), np.repeat(x, 2, axis=-1)[..., ::2], x[::-1].copy()[::-1]):
                assert np.asarray(kernel(laid_out)).tobytes() == wanted.tobytes(), (shape, axis)


def test_a_result_on_its_own_operand_is_that_of_one_apart():
    x = np.random.default_rng(19).integers(-9, 9, (40, 40))
    kernel, expected = bg.from_text("sum(x, axis=1)"), x.sum(axis=1)
    kernel(x, out=x[3])
    np.testing.assert_array_equal(x[3], expected)


@pytest.mark.parametrize("order", [(1, 0, 2), (0, 2, 1), (2, 0, 1), (2, 1, 0)])
@pytest.mark.parametrize("name", ["sum", "max", "argmin"])
def test_what_a_view_has_moved_is_reduced_where_it_is_now(name: str, order: tuple[int, ...]) -> None:
    """Dims of one extent, so that no shape tells them apart."""
    x = np.random.default_rng(5).permutation(16**3).reshape(16, 16, 16)
    for axis in (-1, (1, 2) if name != "argmin" else 0):
        kernel = bg.from_text(f"{name}(transpose(x, {order}), axis={axis})")
        assert np.array_equal(kernel(x), getattr(np, name)(x.transpose(order), axis=axis))
