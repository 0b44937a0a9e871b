"""Fixtures of all tests: values to sample, layouts to hold them in, and when two arrays agree."""

from __future__ import annotations

import gc
import os

import ml_dtypes
import numpy as np
import pytest

from bcastgen.core.dtypes import dtype
from bcastgen.loops.rewrites import pipeline

# Its asserts compare what C gave with what Python did; pytest shows where they part.
pytest.register_assert_rewrite("shape_agreement")


def pytest_collection_finish():
    """What pytest has collected stays to the end: no collection of garbage, and tests ask for many, goes through it."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session", autouse=True)
def _cache(tmp_path_factory):
    """Kernels that tests build stay out of the user's cache, unless a directory is named; xdist's workers share one."""
    if "BCASTGEN_CACHE_DIR" in os.environ:
        yield
        return
    base = tmp_path_factory.getbasetemp()
    kernels = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "kernels"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BCASTGEN_CACHE_DIR", str(kernels))
        yield


@pytest.fixture(scope="session", autouse=True)
def _verified_nests():
    """Every nest that a test lowers and rewrites is verified before the first rewrite and after each."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pipeline, "verifies", lambda: True)
        yield


def _edges(kind):
    """The values of a dtype at which operations go wrong; bools come in every byte that foreign memory may hold."""
    if kind.kind == "bool":
        return np.array([0, 1, 2, 255], np.uint8).view(np.bool_)
    if kind.is_integer:
        around = {kind.bits - 1, kind.bits, kind.bits + 1, 2 * kind.bits}
        # Where halves of a number meet, and its highest bits: C that takes them apart may forget one.
        powers = (1 << at for at in (kind.bits // 4, kind.bits // 2, kind.bits - 2, kind.bits - 1))
        around |= {power + step for power in powers for step in (-1, 0, 1)}
        wanted = {kind.min, kind.min + 1, -kind.bits, -7, -2, -1, 0, 1, 2, 3, 10, kind.max - 1, kind.max} | around
        return np.array(sorted(value for value in wanted if kind.min <= value <= kind.max), kind.np)
    if kind.is_complex:
        parts = _edges(kind.part)
        return np.stack([parts, np.roll(parts, 7)], axis=-1).view(kind.np)[:, 0]
    info = ml_dtypes.finfo(kind.np)
    positive = [
        *(0.0, info.smallest_subnormal, info.tiny, info.eps, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 10.7, 127.5, 255.0),
        *(2.0**24 + 2, 2.0**31, 2.0**32, 2.0**63, 2.0**64, info.max / 2, info.max, np.inf),
    ]
    with np.errstate(over="ignore"):
        return np.array([sign * float(value) for value in positive for sign in (1, -1)] + [np.nan]).astype(kind.np)


def _quiet(values, kind):
    """Make NaNs quiet ones: pow(x, 0) of a signaling one is 1 or NaN, as the compiler has it."""
    if kind.is_complex:
        return _quiet(values.view(kind.part.np), kind.part).view(kind.np)
    if kind.is_float:
        with np.errstate(invalid="ignore"):
            nan = np.isnan(values)
        values.view(f"u{kind.bytes}")[nan] |= 1 << (ml_dtypes.finfo(kind.np).nmant - 1)
    return values


def _samples(kind, count=0, seed=0, domain=(-50.0, 50.0)):
    edges = _edges(kind)
    if kind.kind == "bool" or not count:
        return edges
    random = np.random.default_rng(seed)
    low, high = domain if kind.is_inexact else (max(domain[0], kind.min), min(domain[1], kind.max))
    near = random.uniform(low, high, count).astype(kind.np)
    if kind.is_complex:
        near += 1j * near[::-1]
    any_bits = _quiet(random.integers(0, 256, count * kind.bytes, np.uint8).view(kind.np), kind)
    return np.concatenate([edges, near, any_bits])


@pytest.fixture(scope="session")
def samples():
    """Call ``samples(dtype, count=0, seed=0, domain=...)`` for the dtype's edges, and count values each from the domain
    and from all bit patterns."""
    return _samples


def _strided(array):
    wide = np.empty((*array.shape[:-1], 2 * array.shape[-1]), array.dtype)
    wide[..., ::2] = array
    return wide[..., ::2]


def _reversed(array):
    every = (slice(None, None, -1),) * array.ndim
    return array[every].copy()[every]


def _transposed(array):
    """Dims in reverse order, and the innermost one in memory strided."""
    return _strided(array.T).T


# Every layout keeps the values. A byte view keeps NumPy from turning odd bools into 1.
_LAYOUTS = {
    "contiguous": np.ascontiguousarray,
    "strided": _strided,
    "reversed": _reversed,
    "fortran": np.asfortranarray,
    "transposed": _transposed,
}


@pytest.fixture(scope="session")
def layouts():
    """Name -> function that puts an array of rank 1 or more into that layout, values unchanged."""

    def keeping_bytes(function):
        def lay(array):
            bits = array.view(np.uint8) if array.dtype == np.bool_ else array
            return function(bits).view(array.dtype)

        return lay

    return {name: keeping_bytes(function) for name, function in _LAYOUTS.items()}


def _ordered(values):
    """Number the floats in order, so that neighbours differ by 1."""
    bits = values.view(f"i{values.dtype.itemsize}")
    return np.where(bits < 0, np.iinfo(bits.dtype).min - bits, bits)


def _differences(got, expected, ulp=0, either_zero=False):
    """Where two arrays of one dtype disagree: beyond so many ULPs, in the sign of a zero, or in being NaN."""
    # Not 0-d, for which NumPy would warn of integers that wrap.
    got, expected = np.atleast_1d(got, expected)
    if dtype(got.dtype).is_complex:
        return _differences(got.real, expected.real, ulp, either_zero) | _differences(
            got.imag, expected.imag, ulp, either_zero
        )
    got, expected = np.ascontiguousarray(got), np.ascontiguousarray(expected)
    unsigned = f"u{got.dtype.itemsize}"
    wrong = got.view(unsigned) != expected.view(unsigned)
    if not dtype(got.dtype).is_float:
        return wrong
    if ulp:
        first, second = _ordered(got), _ordered(expected)
        # Unsigned: two numbers of opposite sign may be further apart than the signed type counts.
        apart = np.maximum(first, second).view(unsigned) - np.minimum(first, second).view(unsigned)
        wrong &= (apart > ulp) | ((got == 0) & (expected == 0))
    if either_zero:
        wrong &= got != expected
    with np.errstate(invalid="ignore"):  # signaling NaNs of bf16
        nan, nan_too = np.isnan(expected), np.isnan(got)
    return np.where(nan | nan_too, nan_too != nan, wrong)


@pytest.fixture(scope="session")
def differences():
    """Call ``differences(got, expected, ulp=0, either_zero=False)`` for a mask of where two arrays disagree."""
    return _differences
