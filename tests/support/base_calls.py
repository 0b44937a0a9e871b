"""What the tests of `KernelBase` share: a comparison of results with NumPy's, what makes arrays alike, and guards."""

from __future__ import annotations

from typing import Any

import numpy as np

from bcastgen.core.dtypes import DTYPES, F32, F64

F32_CODE, F64_CODE = DTYPES.index(F32), DTYPES.index(F64)


class Units(np.ndarray):
    def __array_ufunc__(self, *_args: Any, **_options: Any) -> str:  # type: ignore[override]
        return "mine"


def same(found: Any, wanted: Any) -> None:
    wanted = np.asarray(wanted)
    assert type(found) is np.ndarray or (wanted.shape == () and type(found) is wanted.dtype.type)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_array_equal(found, wanted)


def fingerprint(array: np.ndarray) -> tuple[Any, ...]:
    """The layout as far as it can be told: strides of dims with one element are anything."""
    told = tuple(s for s, extent in zip(array.strides, array.shape, strict=True) if extent > 1 and array.size)
    return array.shape, told, array.flags.c_contiguous, array.flags.f_contiguous, array.flags.owndata


def guards(
    operands: int, results: int, before: str = "", after: str = "", nests: tuple[tuple[int, ...], ...] = ()
) -> str:
    """The guards of results that operands broadcast to, as C.

    `before` and `after` are further steps; `nests` are the operands that make each result's shape, if not all do.
    """
    of_nests = nests or (tuple(range(operands)),)
    stored = range(results) if nests else (0,) * results
    header = (len(of_nests), 0, results, *stored, operands)
    steps = [before]
    for at, own in enumerate(of_nests):
        steps += [", ".join(map(str, ("STEP_NEST", at, 1, 0, len(own), *own)))]
        steps += [f"STEP_FRONT_MEET, {operand}, 0" for operand in own]
    return ", ".join(filter(None, (*map(str, header), *steps, after, "STEP_END")))
