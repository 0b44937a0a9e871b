"""The tests that rows share: they tell which elements a common case is right for.

In: ends of a range.  Out: :class:`..c_forms.RangeTest` values.

    up_to("80")   ->   (uint32_t) bcg_bits_f32(fabsf(x)) <= bcg_bits_f32(80)
"""

from __future__ import annotations

import numpy as np

from ...core.dtypes import F32, DType
from ..c_forms import RangeTest

__all__ = ["FAR_QUOTIENT", "NORMAL", "between", "up_to"]

NORMAL = RangeTest("{W}", "bcg_above_normal_{t}({0})", "BCG_MOST_NORMAL_{N}")

# True where a quotient of floats has more digits than a float, or the divisor is infinite.
_FAR = "(fabs{f}({0}) >= BCG_NEAR_QUOTIENT_{N} * fabs{f}({1})) | (fabs{f}({1}) > {huge})"
FAR_QUOTIENT = {"float": (RangeTest("int", _FAR, "0"),)}


def up_to(most: str) -> tuple[RangeTest, ...]:
    """Return the test that a magnitude is at most this; NaN fails it, since its bits are those of a larger number."""
    return (RangeTest("{W}", "bcg_bits_{t}(fabs{f}({0}))", f"bcg_bits_{{t}}({most})"),)


def between(least: float, below: float, row: DType = F32, operand: str = "fabs{f}({0})") -> RangeTest:
    """Return the test that a number is in [least, below); any other value has the bits of a larger number and fails."""
    low, high = (int(np.array(end, row.np).view(f"u{row.bytes}")) for end in (least, below))
    number = f"bcg_bits_{{t}}({operand})" + f" - {low:#x}u" * bool(low)
    return RangeTest("{W}", number, f"{high - 1 - low:#x}u")
