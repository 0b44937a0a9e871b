"""Small broadcasts of operands in C order, which are computed without a plan, against NumPy, bit for bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bcastgen import jit

# Rows of these points: joined, of whole vectors, and with a rest.
_POINTS = (1, 2, 3, 4, 5, 7, 8, 11, 15, 16, 17, 23, 32, 33, 64)
# So many rows: one tile, several, and more points than are computed without a plan.
_ROWS = (1, 2, 3, 44, 341, 2100)


def _affine(a: Any, b: Any, c: Any) -> Any:
    return a * b + c


def _both(a: Any, b: Any, c: Any) -> Any:
    return a - b, a * c


def _shapes(n: int, k: int) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """Return shapes of three operands: rows and columns that repeat, of one dim or several, and what needs a plan."""
    return (
        ((n, k), (k,), (n, 1)),
        ((n, 1), (1, k), (k,)),
        ((n, k), (n, 1), (n, 1)),
        ((k,), (n, k), ()),
        ((n, 1), (1, 1), (n, k)),
        ((n, 2, k), (2, k), (n, 1, 1)),
        ((n, 2, k), (k,), (n, 2, 1)),
        ((2, n, 1, k), (2, n, 1, 1), (1, k)),
        # Operands that move along dims in the middle only, or cut rows at different dims.
        ((n, 2, k), (2, 1), (n, 1, k)),
        ((n, 2, k), (k,), (2, k)),
    )


@pytest.mark.parametrize("dtype", ["f4", "f8", "u1", "i2", "c16"])
@pytest.mark.parametrize("function", [_affine, _both])
def test_operands_that_repeat(function: Callable[..., Any], dtype: str) -> None:
    kernel = jit(function)
    for n in _ROWS:
        for k in _POINTS:
            for shapes in _shapes(n, k):
                if dtype != "f4" and (n, k) != (44, 3) and (n + k) % 3:
                    continue
                operands = [
                    (np.arange(np.prod(shape)) % 53 + at).reshape(shape).astype(dtype)
                    for at, shape in enumerate(shapes)
                ]
                expected = function(*operands)
                results = expected if isinstance(expected, tuple) else (expected,)
                outs = tuple(np.full_like(one, 99) for one in results)
                found = kernel(*operands, out=outs if len(outs) > 1 else outs[0])
                for one, other in zip(found if len(outs) > 1 else (found,), results, strict=True):
                    np.testing.assert_array_equal(one, other, err_msg=f"{shapes}")


def test_out_may_be_the_operand_that_moves() -> None:
    kernel = jit(lambda a, b, c: a * b + c)
    for n, k in ((341, 3), (32, 32)):
        a, b, c = (np.arange(size, dtype="f4").reshape(shape) for size, shape in ((n * k, (n, k)), (k, k), (n, (n, 1))))
        expected = a * b + c
        assert kernel(a, b, c, out=a) is a
        np.testing.assert_array_equal(a, expected)
