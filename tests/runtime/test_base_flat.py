"""csrc/dispatch/dispatch_flat.inc: small calls of one shape take a shorter way, and nobody can tell."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.errors import BroadcastError, DomainError, DTypeError, RangeError

SHAPES: list[tuple[int, ...]] = [
    (),
    (1,),
    (3,),
    (0,),
    (2, 3),
    (3, 2),
    (1, 1),
    (2, 0),
    (2, 3, 4, 5),
    (2, 1, 3, 1, 2),
    (17,),
]


def filled(shape: tuple[int, ...], dtype: str = "f8", seed: int = 0) -> Any:
    made = np.random.default_rng(seed).integers(1, 100, shape).astype(dtype)
    return np.asarray(made)


def same(found: Any, wanted: Any) -> None:
    wanted = np.asarray(wanted)
    assert (type(found), found.shape, found.dtype) in (
        (np.ndarray, wanted.shape, wanted.dtype),
        (wanted.dtype.type, (), wanted.dtype),
    )
    np.testing.assert_array_equal(found, wanted)


def test_shapes_that_change_from_call_to_call() -> None:
    kernel = bg.from_text("a * b + c")
    for _ in range(2):
        for shape in SHAPES:
            a, b, c = (filled(shape, seed=seed) for seed in range(3))
            for _ in range(3):
                same(kernel(a, b, c), a * b + c)
            same(kernel(a, 2.0, c), a * 2.0 + c)
            same(kernel(a, b, np.float64(3)), a * b + 3.0)
            same(kernel(1.5, b, 2.5), 1.5 * b + 2.5)
            same(kernel(a, np.array(4.0), c), a * 4.0 + c)
            same(kernel(1.0, 2.0, 3.0), np.array(5.0))


def test_shapes_that_do_not_fit_after_some_that_do() -> None:
    kernel, a, b = bg.from_text("a + b"), np.ones(3), np.ones(4)
    for _ in range(3):
        same(kernel(a, a), a + a)
        same(kernel(b, b), b + b)
        for x, y in ((a, b), (b, a), (np.ones((2, 3)), b)):
            with pytest.raises(BroadcastError):
                kernel(x, y)
        same(kernel(a, b[:1]), a + 1)
        same(kernel(a, np.ones((2, 3))), np.full((2, 3), 2.0))
        same(kernel(a, np.ones((3, 1))), np.full((3, 3), 2.0))


def test_what_a_signature_says_holds_for_every_call() -> None:
    kernel = bg.from_text("(f64[n, 3] a, f64[n, 3] b) -> a + b")
    for _ in range(3):
        for extent in (2, 5):
            a = np.ones((extent, 3))
            same(kernel(a, a), a + a)
        for shape in ((2, 4), (3,), (2, 2, 3), ()):
            with pytest.raises(BroadcastError):
                kernel(np.ones(shape), np.ones(shape))


def test_an_array_that_changes_its_shape_in_place() -> None:
    kernel, a = bg.from_text("a + b"), np.arange(6.0)
    for shape in ((6,), (2, 3), (3, 2), (6, 1), (1, 6), (6,)):
        a = a.reshape(shape)
        same(kernel(a, a), a + a)
        same(kernel(a, a[::-1]), a + a[::-1])
        same(kernel(a.T, a.T), a.T + a.T)


@pytest.mark.parametrize("shape", SHAPES)
def test_out(shape: tuple[int, ...]) -> None:
    kernel = bg.from_text("a * b + c")
    a, b, c = (filled(shape, seed=seed) for seed in range(3))
    wanted = a * b + c
    for _ in range(3):
        out = np.zeros(shape)
        assert kernel(a, b, c, out=out) is out
        same(out, wanted)
        into = a.copy()
        assert kernel(into, b, c, out=into) is into
        same(into, wanted)
        assert kernel(2.0, b, c, out=out) is out
        same(out, 2.0 * b + c)
        if shape and shape[-1] != 1:
            with pytest.raises(BroadcastError):
                kernel(a, b, c, out=np.zeros((*shape, 2)))
            with pytest.raises(BroadcastError):
                kernel(a, b, c, out=np.zeros((*shape[:-1], shape[-1] + 1)))
        else:
            same(kernel(a, b, c, out=np.zeros((*shape, 2))), np.broadcast_to(wanted[..., None], (*shape, 2)))
        wide = np.zeros((*shape, 2))[..., 0]
        assert kernel(a, b, c, out=wide) is wide
        same(wide, wanted)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i2", "u1"])
def test_out_that_overlaps(dtype: str) -> None:
    kernel = bg.from_text("a + b")
    for shift in range(-5, 6):
        block = np.arange(40).astype(dtype)
        a, b, out = block[10:20], block[30:40], block[10 + shift : 20 + shift]
        wanted = a + b
        assert kernel(a, b, out=out) is out
        same(out, wanted)


def test_out_that_is_an_operand_of_one_element() -> None:
    kernel = bg.from_text("a + b")
    block = np.arange(8.0)
    one = block[2:3].reshape(())
    wanted = block + 2.0
    assert kernel(block, one, out=block) is block
    same(block, wanted)
    alone = np.array(3.0)
    assert kernel(alone, 1.0, out=alone) is alone
    same(alone, np.array(4.0))


def test_out_of_another_dtype() -> None:
    kernel, a = bg.from_text("a + b"), np.arange(3, dtype="i4")
    for _ in range(2):
        out = np.zeros(3)
        assert kernel(a, a, out=out) is out
        same(out, (a + a).astype("f8"))
        with pytest.raises(DTypeError):
            kernel(a, 0.5, out=np.zeros(3, "i4"))
    view = np.arange(3.0).view("i8")
    assert kernel(view, 1, out=view) is view


def test_dtypes_that_change_from_call_to_call() -> None:
    kernel = bg.from_text("a + b")
    for _ in range(3):
        for x, y in (("f8", "f8"), ("f4", "f8"), ("f8", "f4"), ("i4", "i8"), ("f2", "f2"), ("?", "u1")):
            a, b = filled((5,), x), filled((5,), y, 1)
            same(kernel(a, b), a + b)
            same(kernel(a.astype(a.dtype.newbyteorder()), b), a + b)
        same(kernel(1, filled((4,), "i2")), 1 + filled((4,), "i2"))
        with pytest.raises(RangeError):
            kernel(filled((4,), "u1"), 300)


def test_several_results() -> None:
    kernel = bg.jit(lambda a, b: (a + b, a * b, a > b), name="three")
    for shape in SHAPES:
        a, b = filled(shape), filled(shape, seed=1)
        for _ in range(2):
            for found, wanted in zip(kernel(a, b), (a + b, a * b, a > b), strict=True):
                same(found, wanted)
        out = (np.zeros(shape), np.zeros(shape), np.zeros(shape, bool))
        for found, target in zip(kernel(a, b, out=out), out, strict=True):
            assert found is target
        same(out[1], a * b)
    a, b = np.arange(4.0), np.arange(4.0) + 1
    kernel(a, b, out=(a, None, None))
    same(a, np.arange(4.0) * 2 + 1)
    twice = np.zeros(4)
    first, second, _ = kernel(b, b, out=(twice, twice, None))
    assert first is twice and second is twice


def test_misaligned_operands_and_outs() -> None:
    kernel = bg.from_text("a + b")
    odd = np.zeros(8 * 5 + 1, np.uint8)[1:].view(np.float64)
    odd[:] = np.arange(5.0)
    for _ in range(3):
        same(kernel(odd, odd), np.arange(5.0) * 2)
        same(kernel(np.ones(5), odd), np.arange(5.0) + 1)
        out = np.zeros(8 * 5 + 1, np.uint8)[1:].view(np.float64)
        assert kernel(np.ones(5), 1.0, out=out) is out
        same(out, np.full(5, 2.0))


def test_integer_powers_are_asked_about_their_exponents() -> None:
    kernel = bg.from_text("a ** b")
    a = np.arange(1, 4)
    for _ in range(3):
        same(kernel(a, a), a**a)
        with pytest.raises(DomainError):
            kernel(a, -a)
