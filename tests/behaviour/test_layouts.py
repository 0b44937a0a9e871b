"""One kernel, every layout: random operands and `out=` against NumPy, bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bcastgen import from_text, jit, set_num_threads
from layouts import random_array, random_operand_shape, random_shape
from long_runs import many


def _many(a: Any, b: Any, c: Any, d: Any, e: Any) -> Any:
    return (a - b) * c + d - e


PROGRAMS: tuple[tuple[Callable[..., Any], tuple[str, ...]], ...] = (
    (lambda a, b: a + b, ("f4", "f4")),
    (lambda a, b: a * b + a, ("f8", "f8")),
    (lambda a: a * 2, ("i2",)),
    (lambda a, b: a + b, ("u1", "i8")),
    (lambda a, b, c: a * b + c, ("f4", "f4", "f4")),
    (lambda m, a, b: np.where(m, a, b), ("?", "f4", "f8")),
    (lambda a, b: a < b, ("f4", "f4")),
    (lambda a, b: (a & b) ^ a, ("u1", "u1")),
    (_many, ("f4",) * 5),
    (lambda a, b: (a + b, a * b), ("f8", "f4")),
    (lambda a, b, c: np.sqrt(np.abs(a) + 1) * np.sqrt(np.abs(b) + 2) / (np.sqrt(np.abs(c)) + 1), ("f4", "f8", "f4")),
)


def _check(
    function: Callable[..., Any], dtypes: tuple[str, ...], rng: np.random.Generator, kernel: Any
) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
    """Compare one call with NumPy's; return the shapes and strides of its operands."""
    shape = random_shape(rng)
    operands = [random_array(rng, random_operand_shape(rng, shape), dtype) for dtype in dtypes]
    expected = function(*operands)
    several = isinstance(expected, tuple)
    results = expected if several else (expected,)
    outs: Any = None
    if rng.random() < 0.5:
        outs = tuple(random_array(rng, r.shape, r.dtype.str, writable=True) for r in results)
        outs = outs if several else outs[0]
    found = kernel(*operands, out=outs)
    for one, other in zip(found if several else (found,), results, strict=True):
        described = [(o.shape, o.strides, o.dtype) for o in operands]
        assert one.dtype == other.dtype and one.shape == other.shape, described
        np.testing.assert_array_equal(one, other, err_msg=f"{described} -> {one.strides}")
    return tuple((o.shape, o.strides) for o in operands)


@pytest.mark.parametrize("place", range(len(PROGRAMS)))
def test_random_layouts(place: int) -> None:
    function, dtypes = PROGRAMS[place]
    rng = np.random.default_rng(place)
    kernel = jit(function)
    for _ in range(150):
        _check(function, dtypes, rng, kernel)
    assert kernel.compilations <= 1


def test_one_binary_serves_a_hundred_patterns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(tmp_path))
    rng = np.random.default_rng(100)
    function = _many
    kernel = jit(function)
    patterns = {_check(function, ("f4",) * 5, rng, kernel) for _ in range(150)}
    assert len(patterns) >= 100
    assert {len(shape) for pattern in patterns for shape, _ in pattern} >= {0, 1, 2, 3, 4}
    assert kernel.compilations == 1


@pytest.mark.slow
@pytest.mark.parametrize("place", range(len(PROGRAMS)))
def test_many_random_layouts(place: int) -> None:
    function, dtypes = PROGRAMS[place]
    rng = np.random.default_rng(1000 + place)
    kernel = jit(function)
    for _ in range(many(1500, 5000)):
        _check(function, dtypes, rng, kernel)


# Two views of flat arrays of more elements than a block has, and of a last block that is smaller.
_Pair = tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]
LARGE: dict[str, Callable[[Any, Any], _Pair]] = {
    "a row for each of many": lambda a, b: (a[:30000].reshape(-1, 3), b[:3]),
    "a row for some of many": lambda a, b: (a[:30000].reshape(-1, 2, 5), b[:5]),
    "a row of every second": lambda a, b: (a[:30000].reshape(-1, 3), b[:6:2]),
    "a matrix for each of many": lambda a, b: (a[:27000].reshape(-1, 3, 3), b[:9].reshape(3, 3).T),
    "a column of many": lambda a, b: (a[:30000].reshape(-1, 3), b[:10000].reshape(-1, 1)),
    "a column within many": lambda a, b: (a[:27000].reshape(-1, 3, 3), b[:3].reshape(3, 1)),
    "columns of rows": lambda a, b: (a[:30000].reshape(20, 500, 3), b[:1500].reshape(500, 3)),
    "every second": lambda a, b: (a[:20002:2], b[1:20003:2]),
    "every third": lambda a, b: (a[:30000:3], b[1:30001:3]),
    "every fourth": lambda a, b: (a[:20004:4], b[:5001]),
    "every fifth, backwards": lambda a, b: (a[:25000:5], b[24999::-5]),
    "every second of rows": lambda a, b: (a[:20000].reshape(10, 2000)[:, ::2], b[:20000].reshape(10, 2000)[:, 1::2]),
    "backwards": lambda a, b: (a[29999::-1], b[1:30001][::-1]),
    "rows backwards": lambda a, b: (a[:29997].reshape(297, 101)[:, ::-1], b[:101][::-1]),
    "every triple with each": lambda a, b: (a[:1500].reshape(500, 1, 3), b[:48].reshape(16, 3)),
    "every nine with each": lambda a, b: (a[:4500].reshape(500, 1, 9), b[:63].reshape(7, 9)),
    "rows of whole vectors": lambda a, b: (a[:30000].reshape(25, 15, 80)[:, :, :64], b[:1600].reshape(25, 1, 64)),
    "turned": lambda a, b: (a[:30000].reshape(300, 100), b[:30000].reshape(100, 300).T),
    "turned, odd": lambda a, b: (a[:29997].reshape(297, 101), b[:29997].reshape(101, 297).T),
    "turned, some rows": lambda a, b: (a[:28800].reshape(40, 720), b[:28800].reshape(720, 40).T[::-1]),
    "turned cubes": lambda a, b: (a[:24000].reshape(20, 30, 40), b[:24000].reshape(40, 30, 20).transpose(2, 1, 0)),
}


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8"])
@pytest.mark.parametrize("layout", LARGE)
def test_large_layouts(layout: str, dtype: str) -> None:
    rng = np.random.default_rng(len(layout))
    a, b = LARGE[layout](*(rng.integers(0, 100, 30001).astype(dtype) for _ in range(2)))
    kernel, expected = _sum(), a + b
    shape = expected.shape
    for one, other in ((a, b), (b, a)):
        np.testing.assert_array_equal(kernel(one, other), expected)
        for out in (
            np.zeros((2, *shape), dtype)[0],
            np.zeros((*shape, 2), dtype)[..., 1],
            np.zeros((*shape, 3), dtype)[::-1, ..., 1],
            np.zeros(shape[::-1], dtype).T,
        ):
            kernel(one, other, out=out)
            np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("dtype", ["u1", "i2", "f4", "f8"])
@pytest.mark.parametrize("skipped", [0, 1, 5])
def test_turned_operands_that_begin_anywhere_in_a_cache_line(skipped: int, dtype: str) -> None:
    rng = np.random.default_rng(skipped)
    a, b = (rng.integers(0, 100, 2 * 320 * 512 + skipped).astype(dtype)[skipped:] for _ in range(2))
    straight, turned = a.reshape(2, 320, 512), b.reshape(2, 512, 320).transpose(0, 2, 1)
    odd = b[: 2 * 511 * 313].reshape(2, 511, 313).transpose(0, 2, 1)
    pairs = (straight, turned), (turned, a.reshape(2, 512, 320).transpose(0, 2, 1)), (straight[:, :313, :511], odd)
    for one, other in pairs:
        np.testing.assert_array_equal(_sum()(one, other), one + other)
        for out in np.zeros(one.shape, dtype), np.zeros(one.shape[::-1], dtype).T:
            np.testing.assert_array_equal(_sum()(one, other, out=out), one + other)


@pytest.mark.parametrize("dtype", ["u1", "f4", "f8"])
@pytest.mark.parametrize("step", [2, 3, 5, -1, -2])
def test_long_rows_with_gaps_begin_anywhere_in_a_cache_line(step: int, dtype: str) -> None:
    rng = np.random.default_rng(step + 2)
    n = (256 << 10) // np.dtype(dtype).itemsize + 1000
    long = rng.integers(0, 100, abs(step) * n + 64).astype(dtype)
    plain = rng.integers(0, 100, n).astype(dtype)
    for skipped in 0, 1, 5, 11:
        gapped = long[skipped:][: abs(step) * n][::step]
        out = np.zeros(abs(step) * n + skipped, dtype)[skipped:]
        np.testing.assert_array_equal(_sum()(gapped, plain), gapped + plain)
        np.testing.assert_array_equal(_sum()(plain, gapped, out=out[::step]), plain + gapped)
        gaps = np.delete(out, np.arange(out.size)[::step])
        np.testing.assert_array_equal(gaps, 0)


def test_values_of_rows_beside_every_second_element() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.random((7, 1)), rng.random((5, 1, 20000))[..., ::2]
    kernel = jit(lambda x, y: np.sqrt(x) / (x + 1) * y)
    np.testing.assert_array_equal(kernel(x, y), np.sqrt(x) / (x + 1) * y)
    z = rng.random((5, 1, 10000))
    kernel = jit(lambda x, y, z: np.sqrt(np.sqrt(x) / (z * z + 1)) * y)
    np.testing.assert_array_equal(kernel(x, y, z), np.sqrt(np.sqrt(x) / (z * z + 1)) * y)


@cache
def _sum() -> Any:
    return jit(lambda a, b: a + b)


@pytest.mark.slow
@pytest.mark.parametrize("skipped", [0, 1, 5])
def test_results_past_the_caches(skipped: int) -> None:
    n = (25 << 20) // 4
    rng = np.random.default_rng(skipped)
    a, b = (rng.integers(0, 100, n).astype("f4") for _ in range(2))
    out = np.empty(n + skipped, "f4")[skipped:]
    for _ in range(2):
        out[:] = -1
        _sum()(a, b, out=out)
        np.testing.assert_array_equal(out, a + b)


def test_a_transposed_operand_is_read_before_it_is_written_also_where_dims_have_two_elements():
    x = np.arange(2 * 2 * 5.0).reshape(2, 2, 5)
    wanted = x.transpose(1, 0, 2) * 2 + 1
    from_text("a*2 + 1")(x.transpose(1, 0, 2), out=x)
    np.testing.assert_array_equal(x, wanted)


def test_large_results_that_are_not_adjacent_leave_what_lies_between():
    # Results bypass the cache where twice their bytes are read: of two arrays.
    a, b = np.arange(4e6), np.arange(4e6) * 3
    memory = np.full(2 * a.size, 7.0)
    from_text("a + b")(a, b, out=memory[::2])
    np.testing.assert_array_equal(memory[::2], a + b)
    assert (memory[1::2] == 7).all()


def test_a_scalar_needs_no_expansion_of_its_rank():
    kernel = from_text("(f64[*] a, f64[*] b) -> a + b", rank_expansion=False)
    np.testing.assert_array_equal(kernel(np.float64(2), np.ones(3)), [3, 3, 3])
    np.testing.assert_array_equal(kernel(np.ones(3), np.float64(2)), [3, 3, 3])


# Masks of a, b and c over some dims and the points of short rows. Small operands are copied once for all rows that
# repeat them: at once, for some indices of the outermost dim at a time, or for each of them anew.
REPEATED = [
    ((9, 4, 8, 16, 11), "p.q.k", ".qrs.", "pq.sk"),
    ((300, 4, 3, 24, 5), "p.r.k", ".qrs.", "p..s."),
    ((3, 40, 5, 30, 5), "pq.sk", "p.rs.", ".qr.k"),
    ((2, 7, 8, 33, 3), "p.rs.", ".qr.k", "pq..k"),
    ((2, 20, 8, 8, 16, 11), "op.r.k", "o.qrs.", "opq.sk"),
]


@pytest.fixture(params=[1, 2])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    set_num_threads(request.param)
    yield request.param
    set_num_threads(None)


@pytest.mark.usefixtures("threads")
@pytest.mark.parametrize("dtype", ["u1", "f4", "f8", "c16"])
@pytest.mark.parametrize(("extents", "masks"), [(extents, masks) for extents, *masks in REPEATED], ids=str)
def test_short_rows_of_operands_that_repeat_along_other_dims(
    extents: tuple[int, ...], masks: list[str], dtype: str
) -> None:
    rng = np.random.default_rng(0)

    def given(mask: str) -> Any:
        shape = tuple(2 * n if letter != "." else 1 for n, letter in zip(extents, mask, strict=True))
        gaps = tuple(slice(None, None, int(rng.choice([2, -2])) if n > 1 else 1) for n in shape)
        halves = tuple(slice(0, n // 2) if n > 1 else slice(None) for n in shape)
        values = rng.integers(0, 9, shape).astype(dtype)
        return values[gaps] if mask == masks[0] else values[halves]

    a, b, c = map(given, masks)
    function = jit(lambda a, b, c: a * b + c)
    out = np.full((2 * extents[0], *extents[1:-1], 2 * extents[-1]), 7, dtype)[::2, ..., ::2]
    np.testing.assert_array_equal(function(a, b, c), a * b + c)
    np.testing.assert_array_equal(function(a, b, c, out=out), a * b + c)


@pytest.mark.parametrize("rows", [1, 3, 1021])
def test_operands_with_gaps_that_lie_in_memory(rows: int) -> None:
    """From 16 MiB on, blocks of one row follow each other, whose lines are asked for ahead."""
    kernel = jit(lambda a, b: a - b)
    memory = np.arange(6 * rows * ((1 << 20) // rows), dtype="f4").reshape(2 * rows, -1)
    a, b = memory[::2, ::3], memory[1::2, 2::3]
    out = np.full(a.shape, np.nan, "f4")
    np.testing.assert_array_equal(kernel(a, b, out=out), a - b)
    np.testing.assert_array_equal(kernel(a, b[:, ::-1]), a - b[:, ::-1])
