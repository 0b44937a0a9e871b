"""Where results go, in dispatch.c and fallback.py alike: NumPy's K order, out=, outs that overlap operands."""

from __future__ import annotations

import itertools
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.lib.stride_tricks import as_strided

from base_calls import Units, fingerprint, same
from bcastgen.core.errors import BroadcastError, DTypeError

# ---- K order ---------------------------------------------------------------------------------------------------------


def three_dims() -> list[np.ndarray]:
    shape = (3, 4, 5)
    found = []
    for order in itertools.permutations(range(3)):
        inverse = np.argsort(order)
        block = np.arange(60.0).reshape([shape[axis] for axis in order]).transpose(inverse)
        found += [block, block[::-1], block[:, ::-2], block[..., ::2]]
    found += [as_strided(np.arange(10.0), shape, (8, 8, 8)), as_strided(np.arange(20.0), shape, (8, 16, 8))]
    found += [np.broadcast_to(np.arange(5.0), shape), np.broadcast_to(np.arange(4.0)[:, None], shape)]
    found += [
        np.arange(12.0).reshape(3, 4, 1),
        np.arange(15.0).reshape(5, 3).T[:, None, :],
        np.array(2.0),
        np.arange(5.0),
    ]
    return found


def test_results_take_numpys_k_order(kernels: Any) -> None:
    add, checked = kernels.add, 0
    for x, y in itertools.product(three_dims(), repeat=2):
        try:
            wanted = np.add(x, y)
        except ValueError:
            continue
        assert fingerprint(add(x, y)) == fingerprint(wanted), (x.shape, x.strides, y.shape, y.strides)
        checked += 1
    assert checked > 300


@st.composite
def operand(draw: st.DrawFn, shape: tuple[int, ...]) -> np.ndarray:
    own = [draw(st.sampled_from([extent, extent, extent, 1])) for extent in shape]
    own = own[draw(st.integers(0, len(own))) :] if draw(st.booleans()) else own
    order = draw(st.permutations(range(len(own))))
    steps = [draw(st.sampled_from([1, 1, 2, -1])) for _ in own]
    block = np.zeros([own[axis] * abs(steps[axis]) for axis in order]).transpose(np.argsort(order))
    return block[tuple(slice(None, None, step) for step in steps)]


@st.composite
def operands(draw: st.DrawFn) -> tuple[np.ndarray, ...]:
    shape = tuple(draw(st.lists(st.integers(0, 4), max_size=5)))
    return tuple(draw(operand(shape)) for _ in range(3))


def test_k_order_of_random_layouts(kernels: Any) -> None:
    add = kernels(operands=("a", "b", "c"))

    @settings(max_examples=400, deadline=None, database=None)
    @given(operands())
    def check(values: tuple[np.ndarray, ...]) -> None:
        found = add(*values)
        made = np.nditer([*values, None], flags=["zerosize_ok"], order="K").operands[3]
        assert fingerprint(found) == fingerprint(made)

    check()


# ---- out= ------------------------------------------------------------------------------------------------------------


def test_out_is_written_and_returned(kernels: Any) -> None:
    add, a = kernels.add, np.arange(6.0).reshape(2, 3)
    for out in (np.zeros((2, 3)), np.zeros((3, 2)).T, np.zeros((4, 6))[::2, ::-2]):
        assert add(a, 1, out=out) is out
        np.testing.assert_array_equal(out, a + 1)
    wrapped = (np.zeros((2, 3)),)
    assert add(a, 1, out=wrapped) is wrapped[0]
    scalar = np.zeros(())
    assert add(1.0, 2.0, out=scalar) is scalar
    assert scalar == 3


def test_out_of_several_results(kernels: Any) -> None:
    both, a = kernels.both, np.arange(3.0)
    outs = (np.zeros(3), np.zeros(3))
    answer = both(a, 1.0, out=outs)
    assert answer[0] is outs[0]
    assert answer[1] is outs[1]
    same(outs[0], a + 1)
    same(outs[1], a - 1)
    total, difference = both(a, 1.0, out=(None, outs[1]))
    assert difference is outs[1]
    same(total, a + 1)


def test_outs_that_overlap_each_other_are_written_in_order(kernels: Any) -> None:
    a, block = np.arange(4.0), np.zeros(5)
    both = kernels.both
    both(a, 1.0, out=(block[:4], block[1:]))
    np.testing.assert_array_equal(block, [1, *(a - 1)])
    both(a, 1.0, out=(block[1:], block[:4]))
    np.testing.assert_array_equal(block, [*(a - 1), 4])
    one = np.zeros(4)
    both(a, 1.0, out=(one, one))
    np.testing.assert_array_equal(one, a - 1)


def test_results_in_place_of_both_operands(kernels: Any) -> None:
    a, b = np.arange(4.0), np.full(4, 2.0)
    kernels.both(a, b, out=(b, a))
    np.testing.assert_array_equal(b, np.arange(4.0) + 2)
    np.testing.assert_array_equal(a, np.arange(4.0) - 2)


def test_out_of_another_dtype(kernels: Any) -> None:
    a = np.arange(3.0)
    for kind in ("f4", "c16", "f2", ">f8", "O"):
        out = np.zeros(3, kind)
        assert kernels.add(a, 1, out=out) is out
        np.testing.assert_array_equal(out, np.add(a, 1, out=np.zeros(3, kind), casting="same_kind"))
    out = np.zeros(3, "i4")
    with pytest.raises(DTypeError, match=r"result 'r' has dtype f64 and cannot be cast to out's int32 .*'same_kind'"):
        kernels.add(a, 1, out=out)
    assert not out.any()


def test_misaligned_out(kernels: Any) -> None:
    out = np.zeros(25, np.uint8)[1:].view(np.float64)
    assert kernels.add(np.arange(3.0), 1, out=out) is out
    np.testing.assert_array_equal(out, [1, 2, 3])


def test_outs_that_cannot_be(kernels: Any) -> None:
    a = np.arange(3.0)
    readonly = np.zeros(3)
    readonly.flags.writeable = False
    with pytest.raises(ValueError, match=r"output array is read-only \(result 'r'\)"):
        kernels.add(a, 1, out=readonly)
    for out in ([0.0, 0.0, 0.0], 1.0, "r", np.float64(1)):
        with pytest.raises(TypeError, match=r"f\(\) takes out as an ndarray, not "):
            kernels.add(a, 1, out=out)
    with pytest.raises(TypeError, match="an ndarray, not a tuple of 2"):
        kernels.add(a, 1, out=(a, a))
    with pytest.raises(TypeError, match="a tuple of 2 ndarrays"):
        kernels.both(a, 1.0, out=np.zeros(3))
    with pytest.raises(TypeError, match="not a tuple of 1"):
        kernels.both(a, 1.0, out=(np.zeros(3),))
    with pytest.raises(TypeError, match=r"not list \(result 'difference'\)"):
        kernels.both(a, 1.0, out=(None, [1]))
    with pytest.raises(DTypeError, match="out of result 'r' is a masked array"):
        kernels.add(a, 1, out=np.ma.zeros(3))
    with pytest.raises(DTypeError, match="out of result 'r' is a Units"):
        kernels.add(a, 1, out=np.zeros(3).view(Units))


def test_outs_of_a_wrong_shape(kernels: Any) -> None:
    a, b = np.ones((1, 3)), np.ones((2, 1))
    with pytest.raises(BroadcastError) as caught:
        kernels.add(a, b, out=np.zeros((2, 4)))
    assert caught.value.sentence == "result 'r' dim 1 has extent 4, expected 3 (from 'a'); results do not broadcast"
    with pytest.raises(BroadcastError, match=r"result 'r' dim 0 has extent 1, expected 2 \(from 'b'\)"):
        kernels.add(a, b, out=np.zeros((1, 3)))
    with pytest.raises(BroadcastError, match="'r' has rank 3, expected 2"):
        kernels.add(a, b, out=np.zeros((1, 2, 3)))
    with pytest.raises(BroadcastError, match="'r' has rank 1, expected 0"):
        kernels.add(1.0, 2.0, out=np.zeros(1))
    first = np.zeros((2, 3))
    with pytest.raises(BroadcastError, match="result 'difference'"):
        kernels.both(a, b, out=(first, np.zeros((2, 2))))
    assert not first.any()


def views(square: np.ndarray) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """(operand, out) views of one array that overlap in some way."""
    flat, third = square.reshape(-1), len(square) // 3
    return {
        "same": (flat, flat),
        "shifted up": (flat[:-1], flat[1:]),
        "shifted down": (flat[1:], flat[:-1]),
        "reversed": (flat[::-1], flat),
        "reversed from above": (flat[8:2:-1], flat[:6]),
        "reversed from below": (flat[:6], flat[8:2:-1]),
        "interleaved": (flat[::2], flat[1::2]),
        "interleaved reversed": (flat[::-2], flat[::2]),
        "half": (flat[: len(flat) // 2], flat[::2]),
        "transposed": (square.T, square),
        "transposed same": (square.T, square.T),
        "rows": (square[0], square),
        "column": (square[:, :1], square),
        "element": (square[1, 1, ...], square),
        "reversed rows": (square[::-1], square),
        "disjoint blocks": (square[:third], square[third : 2 * third]),
        "disjoint columns": (square[:, :third], square[:, third : 2 * third]),
        "one of one": (square[:1, :1], square[:1, :1].reshape(1, 1)),
    }


def fresh() -> np.ndarray:
    return np.arange(1.0, 37.0).reshape(6, 6)


@pytest.mark.parametrize("name", views(fresh()))
def test_overlap_is_as_if_operands_were_read_first(kernels: Any, name: str) -> None:
    mine, theirs = fresh(), fresh()
    x, out = views(mine)[name]
    y, wanted = views(theirs)[name]
    other = np.arange(out.size, dtype=float).reshape(out.shape)
    for values, expected in [((x, other), (y, other)), ((other, x), (other, y)), ((x, x), (y, y))]:
        if np.broadcast_shapes(values[0].shape, values[1].shape) != out.shape:
            continue
        assert kernels.add(*values, out=out) is out
        np.add(*expected, out=wanted)
        np.testing.assert_array_equal(mine, theirs)


def test_overlap_of_two_dtypes(kernels: Any) -> None:
    mine = np.arange(6, dtype=np.int64)
    kernels.add(mine.view(np.int32)[::2], np.int64(1), out=mine)
    np.testing.assert_array_equal(mine, np.arange(6) + 1)


def test_out_that_overlaps_itself(kernels: Any) -> None:
    for extents, strides in [((3,), (0,)), ((3, 3), (8, 8)), ((2, 2), (24, 16))]:
        mine, theirs = np.zeros(9), np.zeros(9)
        a = np.arange(float(np.prod(extents))).reshape(extents)
        kernels.add(a, 1, out=as_strided(mine, extents, strides))
        np.copyto(as_strided(theirs, extents, strides), a + 1)
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize(
    ("name", "copies"),
    [
        ("same", False),
        ("interleaved", False),
        ("disjoint blocks", False),
        ("disjoint columns", False),
        ("transposed same", False),
        ("shifted up", True),
        ("transposed", True),
    ],
)
def test_memory_is_taken_only_where_overlap_needs_it(kernels: Any, name: str, copies: bool) -> None:
    big = np.zeros((600, 600))
    x, out = views(big)[name]
    add = kernels.add
    add(np.zeros(1), 1)
    assert takes_memory(lambda: add(x, 1, out=out), out.nbytes) is copies


def takes_memory(call: Callable[[], object], size: int) -> bool:
    tracemalloc.start()
    call()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak > size // 2


def test_memory_is_taken_where_a_kernel_could_not_know_what_it_reads(kernels: Any) -> None:
    big, other, square = np.zeros(100_000), np.zeros(100_000), np.zeros((300, 300))
    add, both = kernels.add, kernels.both
    same_place = big.view(np.int64)
    add(np.zeros(1, np.int64), 1.5), both(1.0, 2.0)
    for call in (
        lambda: add(same_place, 1.5, out=big),
        lambda: both(big, 1.0, out=(big, other)),
        lambda: add(square, 1, out=as_strided(big, (300, 300), (8, 8))),
    ):
        assert takes_memory(call, 300 * 300 * 8)
