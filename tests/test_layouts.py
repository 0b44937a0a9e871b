"""One kernel, every layout: random operands and `out=` against NumPy, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bcastgen import jit
from layouts import random_array, random_operand_shape, random_shape


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
    for _ in range(5000):
        _check(function, dtypes, rng, kernel)
