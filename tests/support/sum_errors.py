"""Errors of sums against exact ones, ours and NumPy's side by side.

In: numbers of elements.  Out: a table: for each number, kind of values and dtype the errors, in half units in the last
place of the sum of magnitudes, and the bounds that hold for them.

    python -m tests.support.sum_errors 1e3 1e5 1e7      prints the table of docs/reductions.md for these numbers

Exact sums are `math.fsum`'s of a million elements and fewer; beyond, the roundings of a sum in pairs are themselves
summed, in a wider type.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

import bcastgen as bg

__all__ = ["KINDS", "bounds", "exact", "rows", "values"]

Array = np.ndarray[Any, Any]

KINDS = ("uniform", "cancelling", "log-spread")
_FEW = 1_000_000
_BLOCK = 128


def values(kind: str, count: int, dtype: str, seed: int = 0) -> Array:
    """Return values: in [0, 1), normal ones whose sum is small, or of magnitudes from 1e-8 to 1e8."""
    random = np.random.default_rng(seed)
    if kind == "uniform":
        made: Array = random.random(count)
    elif kind == "cancelling":
        half = random.normal(size=count // 2)
        made = np.concatenate([half, -half, np.zeros(count - 2 * len(half))])
        random.shuffle(made)
    else:
        made = 10.0 ** random.uniform(-8, 8, count) * random.choice((-1.0, 1.0), count)
    return made.astype(dtype)


def exact(x: Array) -> float:
    """Return the sum of floats, exactly but for its last rounding.

    Examples
    --------
    >>> exact(np.array([1e16, 1.0, -1e16]))
    1.0
    """
    wide = x.astype(np.float64)
    if len(wide) <= _FEW:
        return math.fsum(wide)
    lost = np.longdouble(0)
    while len(wide) > _FEW:
        half = (len(wide) + 1) // 2
        a, b = wide[:half], np.zeros(half)
        b[: len(wide) - half] = wide[half:]
        total = a + b
        back = total - a
        lost += ((a - (total - back)) + (b - back)).sum(dtype=np.longdouble)
        wide = total
    return math.fsum((*wide.tolist(), float(lost)))


def bounds(count: int) -> tuple[int, int, int]:
    """Return how many additions an element takes part in at most: ours, NumPy's along adjacent elements, along others.

    Examples
    --------
    >>> bounds(1_000_000)
    (26, 32, 1000000)
    """
    blocks = max(1, math.ceil(math.log2(max(count / _BLOCK, 1))))
    return _BLOCK // 16 + 4 + blocks + 1, _BLOCK // 8 + 3 + blocks, count


def rows(counts: list[int], seed: int = 0) -> Iterator[tuple[object, ...]]:
    """Return the table's rows: number, values, dtype, errors (ours, NumPy's inner, NumPy's outer), and their bounds."""
    total, outer = bg.jit(lambda x: x.sum()), bg.jit(lambda x: x.sum(axis=0))
    for count in counts:
        for kind in KINDS:
            for dtype in ("float32", "float64"):
                x = values(kind, count, dtype, seed)
                size, true = exact(np.abs(x)), exact(x)
                unit = float(np.finfo(dtype).eps) / 2 * size
                ours, along = float(total(x)), float(np.sum(x))
                # Two columns, so that NumPy sums rows; the first is the sum in question.
                wide = np.stack([x, x], axis=1)
                rowwise = float(np.sum(wide, axis=0)[0])
                if float(outer(wide)[0]) != ours:
                    raise AssertionError(f"a sum of {count} {kind} {dtype} has other bits along an outer dim")
                yield (
                    count,
                    kind,
                    dtype,
                    *(abs(found - true) / unit for found in (ours, along, rowwise)),
                    *bounds(count),
                )


def main(counts: list[int]) -> None:
    """Print the table."""
    print("| elements | values | dtype | ours | NumPy, inner dim | NumPy, outer dim | bounds, in this order | | |")
    print("|---|---|---|---|---|---|---|---|---|")
    for count, kind, dtype, *numbers in rows(counts):
        shown = [*(f"{error:.2g}" for error in numbers[:3]), *(f"{bound:.3g}" for bound in numbers[3:])]
        print(f"| {count:.0e} | {kind} | {dtype} | {' | '.join(shown)} |".replace("e+0", "e"), flush=True)


if __name__ == "__main__":
    main([int(float(text)) for text in sys.argv[1:]] or [10**power for power in range(3, 9)])
