"""Says whether a result is the one NumPy gives, and how far it is from it.

In: NumPy's result and another one.  Out: None if they agree, else a sentence.

    difference(f32[2] {1, 2}, f64[2] {1, 2}, ulp=0) -> "dtype float64, expected float32"

Arrays are compared a block at a time, so that checking 32 million elements needs no further memory.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .workloads import Array

__all__ = ["difference", "ulps"]

_BLOCK = 1 << 18


def _blocks(expected: Array, actual: Array) -> Iterator[tuple[Array, Array]]:
    if expected.size <= _BLOCK or expected.ndim == 0:
        yield expected, actual
        return
    step = max(1, _BLOCK * len(expected) // expected.size)
    for start in range(0, len(expected), step):
        yield expected[start : start + step], actual[start : start + step]


def ulps(expected: Array, actual: Array, scale: float = 0.0) -> float:
    """Return the largest difference in units in the last place of the expected values.

    Parameters
    ----------
    scale : the unit is taken at least at this magnitude.

    Examples
    --------
    >>> ulps(np.float64([1.0]), np.float64([1.0 + 2**-51]))
    2.0
    """
    with np.errstate(all="ignore"):
        same = (expected == actual) | (np.isnan(expected) & np.isnan(actual))
        unit = np.spacing(np.maximum(np.abs(expected), expected.dtype.type(scale)))
        off = np.where(same, 0, np.abs(expected - actual) / unit)
    # NaN against a number, or an infinity missed: as wrong as can be.
    return float(np.max(np.where(np.isnan(off), np.inf, off), initial=0.0))


def difference(expected: Array, actual: Array, ulp: float, scale: float = 0.0) -> str | None:
    """Return what is wrong with a result, or None.

    Parameters
    ----------
    ulp : largest difference allowed in floats; bool and integers must be equal.
    scale : see :func:`ulps`.

    Examples
    --------
    >>> difference(np.int32([1, 2]), np.int32([1, 3]), 0)
    '1 of 2 elements differ'
    >>> difference(np.complex64([1 + 1j]), np.complex64([1 + 2j]), 3)
    'off by 8.39e+06 ULP, allowed 3'
    """
    if actual.dtype != expected.dtype:
        return f"dtype {actual.dtype}, expected {expected.dtype}"
    if actual.shape != expected.shape:
        return f"shape {actual.shape}, expected {expected.shape}"
    if expected.dtype.kind == "c":
        # Part by part.
        expected, actual = (np.ascontiguousarray(array).view(array.real.dtype) for array in (expected, actual))
    if expected.dtype.kind != "f":
        wrong = sum(int(np.count_nonzero(e != a)) for e, a in _blocks(expected, actual))
        return f"{wrong} of {expected.size} elements differ" if wrong else None
    worst = max(ulps(e, a, scale) for e, a in _blocks(expected, actual))
    return f"off by {worst:.3g} ULP, allowed {ulp:g}" if worst > ulp else None
