"""csrc/dispatch/dispatch_small.inc: calls of few elements of any layout take a shorter way, and nobody can tell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import bcastgen as bg

KERNELS: dict[str, Callable[..., Any]] = {
    "a * b + c": lambda a, b, c: a * b + c,
    "a + b + c, a - b * c": lambda a, b, c: (a + b + c, a - b * c),
    # Four arrays are packed at most.
    "a + b + c + d + e": lambda a, b, c, d, e: a + b + c + d + e,
}
# Elements of 1, 2, 4, 8 and 16 bytes, alone and together.
DTYPES = ("i1", "f2", "f4", "f8", "c16", "i4 f8", "i2 f4", "u1 i8")


def same(found: Any, wanted: Any) -> None:
    wanted = np.asarray(wanted)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_array_equal(found, wanted)


def as_tuple(values: Any) -> tuple[Any, ...]:
    return values if isinstance(values, tuple) else (values,)


def shape_of(rng: np.random.Generator) -> tuple[int, ...]:
    """Some 256 points of short rows at most, or some thousand of long ones: about as many as need no plan."""
    outer = tuple(int(extent) for extent in rng.choice([0, 1, 1, 2, 3, 5, 8, 17], rng.integers(0, 6)))
    long = int(rng.choice([31, 32, 33, 64, 100, 1000]))
    return outer if rng.random() < 0.7 else (*(min(extent, 5) for extent in outer[:3]), long)


def laid_out(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> Any:
    """An array of this shape whose strides are anything."""
    order = rng.permutation(len(shape))
    if rng.random() < 0.3:
        order = np.arange(len(shape))
    wide = [int(shape[dim] * rng.integers(1, 3)) for dim in order]
    block = rng.integers(1, 4, wide).astype(dtype).transpose(np.argsort(order))
    turned = [rng.random() < 0.3 for _ in shape]
    parts = (slice(None, extent) for extent in shape)
    cut = block[(*parts, ...)]
    cut = cut[(*(slice(None, None, -1 if turn else 1) for turn in turned), ...)]
    assert cut.shape == shape
    return cut


@pytest.mark.parametrize("dtypes", DTYPES)
@pytest.mark.parametrize("text", KERNELS)
def test_operands_and_results_of_any_layout(text: str, dtypes: str) -> None:
    rng = np.random.default_rng(len(text) + len(dtypes))
    kernel, reference = bg.from_text(text), KERNELS[text]
    for _ in range(150):
        shape = shape_of(rng)
        values = []
        for _ in range(reference.__code__.co_argcount):
            own = tuple(extent if rng.random() < 0.7 else 1 for extent in shape)[rng.integers(0, len(shape) + 1) :]
            values.append(laid_out(rng, own, str(rng.choice(dtypes.split()))))
        wanted = as_tuple(reference(*values))
        for one, other in zip(as_tuple(kernel(*values)), wanted, strict=True):
            same(one, other)
        outs = tuple(laid_out(rng, one.shape, one.dtype.str) for one in wanted)
        before = [np.asarray(target.base).copy() for target in outs]
        kernel(*values, out=outs)
        for target, one, was in zip(outs, wanted, before, strict=True):
            same(target, one)
            # Nothing was written between the elements, of which none is 0.
            target[...] = 0
            rest = np.asarray(target.base) != 0
            np.testing.assert_array_equal(np.asarray(target.base)[rest], was[rest])


@pytest.mark.parametrize("dtype", ["i1", "f4", "c16"])
def test_results_in_place_of_an_operand(dtype: str) -> None:
    rng = np.random.default_rng(3)
    kernel = bg.from_text("a * b + a")
    for _ in range(100):
        shape = shape_of(rng)
        a, b = (laid_out(rng, shape, dtype) for _ in range(2))
        wanted = a * b + a
        assert kernel(a, b, out=a) is a
        same(a, wanted)
