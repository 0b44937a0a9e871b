"""Arrays of Zarr are computed by blocks: the same results as of whole arrays, in memory for a few blocks."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import bcastgen as bg

zarr = pytest.importorskip("zarr", reason="zarr is not installed (pip install -e .[arrays])")

RNG = np.random.default_rng(21)


def stored(array, chunks, **more):
    made = zarr.create_array(store={}, shape=array.shape, chunks=chunks, dtype=array.dtype, **more)
    made[...] = array
    return made


@pytest.fixture(autouse=True, params=[1, 1 << 20], ids="block={}".format)
def elements(request, monkeypatch):
    from bcastgen.integrations import zarr_arrays

    monkeypatch.setattr(zarr_arrays, "_BLOCK_ELEMENTS", request.param)


SHAPES = [
    [((5, 7), (2, 3)), ((7,), None)],
    [((5, 1), (2, 1)), ((1, 7), (1, 4))],
    [((7,), (3,)), ((5, 7), None)],
    [((2, 5, 7), (1, 2, 7)), ((5, 1), (3, 1))],
    [((), ()), ((), None)],
    [((0, 3), (1, 3)), ((3,), None)],
    [((1, 3), (1, 2)), ((0, 1), None)],
]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("into", ["none", "sharded", "view"])
def test_blocks_give_what_whole_arrays_give(shapes, into):
    arrays = [RNG.standard_normal(shape).astype("f4") for shape, _ in shapes]
    given = [a if c is None else stored(a, c) for a, (_, c) in zip(arrays, shapes, strict=True)]
    wanted = arrays[0] * 2 + arrays[1]
    kernel = bg.jit(lambda a, b: a * 2 + b)
    out = {"ndarray": np.empty_like(wanted), "view": np.empty((*wanted.shape, 2), "f4")[..., 0]}.get(into)
    if into in ("zarr", "sharded"):
        shards = {"shards": (4,) * wanted.ndim} if into == "sharded" and wanted.size and wanted.ndim else {}
        out = stored(np.zeros_like(wanted), (2,) * wanted.ndim, **shards)
    made = kernel(*given, out=out)
    assert out is None or made is out
    assert made.dtype == wanted.dtype
    np.testing.assert_array_equal(made[...], wanted)
    np.testing.assert_array_equal(bg.evaluate("a*2 + b", dict(zip("ab", given, strict=True))), wanted)


def test_memory_holds_a_few_blocks(monkeypatch):
    from bcastgen.integrations import zarr_arrays

    monkeypatch.setattr(zarr_arrays, "_BLOCK_ELEMENTS", 1 << 16)
    monkeypatch.setenv("BCASTGEN_MEMORY_POOL", "0")
    shape, chunks = (512, 8192), (8, 8192)
    source, target = (zarr.create_array(store={}, shape=shape, chunks=chunks, dtype="f4", fill_value=3) for _ in "ab")
    kernel = bg.jit(lambda x: np.minimum(x * 0, 0))
    kernel(source, out=target)
    tracemalloc.start()
    try:
        kernel(source, out=target)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < source.nbytes / 4
    assert not target[...].any()


def test_a_mask_leaves_stored_elements_as_they_are():
    x = np.arange(12.0).reshape(3, 4)
    target = stored(np.full((3, 4), -1.0), (2, 2))
    bg.sqrt(stored(x, (2, 3)), out=target, where=x > 5)
    np.testing.assert_array_equal(target[...], np.where(x > 5, np.sqrt(x), -1))
    rows = stored(np.array([[True], [False], [True]]), (1, 1))
    np.testing.assert_array_equal(
        bg.negative(stored(x, (2, 3)), out=stored(np.zeros_like(x), (3, 1)), where=rows)[...],
        np.negative(x, out=np.zeros_like(x), where=rows[...]),
    )


def test_in_place_and_shifted_memory():
    x = np.arange(12.0)
    both = stored(x, (5,))
    assert bg.add(both, both, out=both) is both
    np.testing.assert_array_equal(both[...], x + x)
    memory = np.arange(13.0)
    bg.add(memory[:-1], stored(x, (5,)), out=memory[1:])
    np.testing.assert_array_equal(memory[1:], x + x)


def test_several_results():
    x = np.arange(6.0)
    kernel = bg.jit(lambda a: (a + 1, a > 2))
    one, two = kernel(stored(x, (4,)), out=(None, target := stored(np.zeros(6, bool), (2,))))
    np.testing.assert_array_equal(one, x + 1)
    np.testing.assert_array_equal(two[...], x > 2)
    assert two is target
    mixed = bg.jit(lambda a, b: (a + 1, a * b), name="mixed")
    with pytest.raises(bg.ArgumentError, match=r"mixed\(\) has results of the shapes \(6,\) and \(6, 6\)"):
        mixed(stored(x, (4,)), x[:, None])


def test_reductions_read_whole_arrays():
    x = RNG.standard_normal((4, 6))
    share = bg.jit(lambda x: x / x.sum(), name="share")
    target = stored(np.zeros_like(x), (2, 2))
    assert share(stored(x, (3, 4)), out=target) is target
    np.testing.assert_array_equal(target[...], share(x))
    np.testing.assert_array_equal(share(stored(x, (3, 4))), share(x))


def test_what_does_not_fit_is_refused():
    x = stored(np.ones((4, 3)), (2, 2))
    with pytest.raises(bg.BroadcastError, match="operand 'b' dim 0 has extent 4, expected 1 or 3"):
        bg.add(x, np.ones(4))
    with pytest.raises(bg.BroadcastError, match=r"exp\(\): out of result 'r' has shape \(4, 1\), expected \(4, 3\)"):
        bg.exp(x, out=np.ones((4, 1)))
    with pytest.raises(bg.DTypeError, match="f64"):
        bg.exp(x, out=stored(np.ones((4, 3), "i4"), (2, 2)))
    with pytest.raises(bg.ArgumentError, match=r"exp\(\) takes out as a tuple of 1 array.* not of 2"):
        bg.exp(x, out=(x, x))
    with pytest.raises(bg.DTypeError, match=r"operand 'a'.*U3"):
        bg.exp(stored(np.array(["abc", "d"]), (1,), zarr_format=2))
    with pytest.raises(TypeError, match="list"):
        bg.exp(x, out=[1])


def test_a_group_is_refused():
    with pytest.raises(bg.DTypeError, match=r"operand 'x' is a zarr\.Group, which is no array; pass .* x\['name'\]"):
        bg.jit(lambda x: x * 2)(zarr.group())
