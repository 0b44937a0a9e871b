"""Elements that are combined where they lie: widened integers, rows of few results, indices, and results in place."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg

INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "bool")
NUMPYS = {"i": "int", "u": "uint"}


def numbers(random, name, shape):
    if name == "bool":
        # A bool in memory may be any byte.
        return random.integers(0, 3, shape, np.uint8).view(np.bool_)
    info = np.iinfo(NUMPYS[name[0]] + name[1:])
    return random.integers(info.min, info.max, shape, info.dtype, endpoint=True)


def layouts(x):
    return x, np.ascontiguousarray(x.T).T, x[::-1, ::2], x[1:, ::-1]


@pytest.mark.parametrize("name", INTEGERS)
def test_sums_of_integers_are_numpys_in_every_layout(name):
    random = np.random.default_rng(1)
    kernels = {axis: bg.from_text(f"({name}[?, ?] x) -> sum(x, axis={axis})") for axis in ("0", "1", "None")}
    for shape in ((1, 1), (3, 40), (40, 3), (17, 300), (300, 17), (9, 5000), (2, 70000)):
        for x in layouts(numbers(random, name, shape)):
            real = x.view(np.uint8) != 0 if name == "bool" else x
            for axis, kernel in kernels.items():
                got, want = kernel(x), np.sum(real, axis=None if axis == "None" else int(axis))
                assert got.dtype == want.dtype
                assert np.array_equal(got, want), (shape, x.strides, axis)


@pytest.mark.parametrize("name", ["f32", "f64", "i8", "u8", "i16", "u32", "i64"])
def test_indices_are_numpys_at_every_length(name):
    """Few elements, vectors, groups and parts each end somewhere; ties and NaNs are in each of them."""
    random = np.random.default_rng(2)
    kernels = [(bg.from_text(f"({name}[?, ?] x) -> {op}(x, axis=1)"), getattr(np, op)) for op in ("argmin", "argmax")]
    dtype = np.dtype(NUMPYS.get(name[0], "float") + name[1:])
    for length in (*range(1, 140), 255, 256, 257, 1023, 1025, 4095, 4096, 4099, 9000, 33000):
        x = random.integers(0, 5, (6, length)).astype(dtype)
        x[1] = 1
        x[2, random.integers(length)] = 9
        if dtype.kind == "f":
            x[3, random.integers(length, size=2)] = np.nan
            x[4, -1] = -np.nan
            x[5, :] = [-0.0, 0.0][:length] * (length // 2) + [0.0] * (length % 2) if length > 1 else 0.0
        for kernel, numpys in kernels:
            assert np.array_equal(kernel(x), numpys(x, axis=1)), (length, numpys.__name__)


@pytest.mark.parametrize("name", ["f32", "f64"])
@pytest.mark.parametrize("op", ["sum", "prod", "mean"])
def test_rows_of_few_results_have_the_bits_of_adjacent_elements(name, op):
    random = np.random.default_rng(3)
    dtype = np.dtype("float" + name[1:])
    outer, inner = (bg.from_text(f"({name}[?, ?] x) -> {op}(x, axis={axis})") for axis in (0, 1))
    for points in (8, 9, 15, 16, 17, 23, 31, 33, 64, 65, 200):
        for elements in (1, 5, 16, 17, 100, 127, 128, 129, 300, 1024, 1100, 2200):
            x = random.uniform(0.5, 1.5, (elements, points)).astype(dtype)
            got, want = outer(x), inner(np.ascontiguousarray(x.T))
            assert np.array_equal(got.view(np.uint8), want.view(np.uint8)), (points, elements)


def test_results_that_are_part_of_an_operand_are_those_of_its_old_elements():
    """A reduction writes its result itself, but not where an operand is."""
    for shape, axis in (((6, 40), 1), ((40, 6), 0), ((300, 9), 1), ((9, 1), 1)):
        kernel = bg.from_text(f"(f64[?, ?] x) -> sum(x, axis={axis})")
        x = np.random.default_rng(4).random(shape)
        want, count = kernel(x), shape[1 - axis]
        places = (lambda a, n: a[:n], lambda a, n: a[-n:], lambda a, n: a[n - 1 :: -1])
        for place in places:
            changed = x.copy()
            out = place(changed.reshape(-1), count)
            assert kernel(changed, out=out) is out
            assert np.array_equal(out, want), (shape, axis)
        apart = np.empty(2 * count)[::2]
        assert np.array_equal(kernel(x, out=apart), want)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("step", [bg.sum, bg.prod])
def test_long_rows_of_a_middle_dim_have_the_bits_of_adjacent_elements(dtype, step):
    rng = np.random.default_rng(7)
    for elements in (15, 63, 64, 65, 80, 100, 127, 128, 191, 192, 255):
        for points in (31, 33, 65, 129, 300):
            x = rng.uniform(0.5, 1.5, (3, elements, points)).astype(dtype)
            adjacent = np.ascontiguousarray(np.moveaxis(x, 1, 2))
            assert step(x, axis=1).tobytes() == step(adjacent, axis=2).tobytes(), (elements, points)


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
def test_products_of_complex_numbers_are_not_fused_with_sums(dtype):
    """Nor are those of the call path that is compiled with the package: on aarch64 FMA needs no flag."""
    x, y = np.random.default_rng(3).uniform(-1, 1, (2, 1000)).astype(dtype().real.dtype).view(dtype)
    wanted = np.empty_like(x)
    wanted.real = x.real * y.real - x.imag * y.imag
    wanted.imag = x.real * y.imag + x.imag * y.real
    np.testing.assert_array_equal(bg.prod(np.stack([x, y]), axis=0), wanted)
    np.testing.assert_array_equal(bg.prod(np.stack([x, y], axis=1), axis=1), wanted)


def bits(number):
    """Return the bits of a complex number's parts; those of a NaN may be any."""
    parts = np.array([number.real, number.imag])
    parts[np.isnan(parts)] = np.nan
    return parts.tobytes()


@pytest.mark.parametrize("dtype", [np.complex64, np.complex128])
@pytest.mark.parametrize("value", [1, complex(-0.0, -0.0), 0.7 - 0.7j])
def test_products_of_complex_numbers_have_the_same_bits_in_every_layout_and_by_any_threads(dtype, value):
    """No complex number leaves all others as they are: 1 makes NaNs of infinities, and other zeros of zeros."""
    for rows, columns in ((3, 43), (8, 17), (5, 300), (1, 2**18 + 1)):
        whole = np.full((rows, columns), value, dtype)
        whole[0, 0], whole[-1, -1] = -1 - 1j, np.inf if value == 1 else value
        apart = np.empty((rows, columns + 1), dtype)[:, :columns]
        apart[...] = whole
        found = {
            bits(bg.jit(lambda x: x.prod(axis=(0, 1)), threads=threads)(x))
            for threads in (1, 2, 4)
            for x in (whole, apart, whole[::-1][::-1])
        }
        assert len(found) == 1, (rows, columns)
