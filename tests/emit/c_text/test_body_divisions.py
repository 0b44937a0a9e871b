"""Integers divided by constants that are no powers of two, in lanes of their own width."""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen.api.functions import from_text
from bcastgen.core.dtypes import COMPUTED

DIVISORS = [
    (row, divisor)
    for row in COMPUTED
    if row.is_integer
    for divisor in sorted(
        {3, 7, 100, 641, 2**32 - 1, 2**32 + 1, 2**63 - 25, 2**63 + 1, 10**19, row.max, -1, -7, row.min}
    )
    if row.min <= divisor < 0 or 1 < divisor <= row.max
]


@pytest.mark.parametrize("dtype, divisor", DIVISORS)
def test_quotients_and_remainders_are_numpys(dtype, divisor):
    rng = np.random.default_rng(3)
    ends = [dtype.min, dtype.min + 1, 0, 1, dtype.max - 1, dtype.max]
    ends += [times * divisor + beside for times in (1, 5, dtype.max // divisor) for beside in (-1, 0, 1)]
    ends = [end for end in ends if dtype.min <= end <= dtype.max]
    values = np.array([*ends, *rng.integers(dtype.min, dtype.max, 500, dtype.np, endpoint=True)], dtype.np)
    by = dtype.np.type(divisor)
    with np.errstate(over="ignore"):
        expected = values // by, values % by
    for found, value in zip(
        from_text(f"({dtype}[?] a) -> (a // {divisor}, a % {divisor})")(values), expected, strict=True
    ):
        np.testing.assert_array_equal(found, value, strict=True)


def test_a_positive_constant_has_a_form_of_its_own():
    assert "bcg_floor_divide_by_i8(a0, 7)" in from_text("(i8[?] a) -> a // 7").compilation.source.text
    assert "bcg_floor_divide_by_u64(a0, UINT64_C(7), UINT64_C(2635249153387078803), 2)" in (
        from_text("(u64[?] a) -> a // 7").compilation.source.text
    )
    assert "bcg_remainder_by_i32(a0, 1000)" in from_text("(i32[?] a) -> a % 1000").compilation.source.text
