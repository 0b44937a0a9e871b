"""The 16-bit floats f16 and bf16, where NumPy does not suffice: rounding, and their bits.

In: a number.  Out: the nearest 16-bit float, exactly, with one rounding.

    nearest(0.1, "bf16") -> 0.10009765625        bits_of(1.0, "bf16") -> 0x3f80

NumPy has no bfloat16; :mod:`.ml_dtypes` has its dtype.
"""

from __future__ import annotations

import math
import struct

__all__ = ["bits_of", "nearest"]

# Bits of the significand, including the hidden one; exponent of the smallest normal number; exponent of the largest.
_FORMATS = {"f16": (11, -14, 15), "bf16": (8, -126, 127)}


def nearest(value: float | int, name: str) -> float:
    """Return the 16-bit float nearest to a number: ties go to even, numbers beyond the largest to an infinity.

    Examples
    --------
    >>> nearest(65519, "f16"), nearest(65520.0, "f16"), nearest(-1e-8, "f16")
    (65504.0, inf, -0.0)
    """
    from fractions import Fraction  # noqa: PLC0415 - most kernels have no constant of 16 bits

    if value == 0 or (isinstance(value, float) and not math.isfinite(value)):
        return float(value)
    precision, least_exponent, most_exponent = _FORMATS[name]
    exact = abs(Fraction(value))
    exponent = exact.numerator.bit_length() - exact.denominator.bit_length()
    exponent -= exact < Fraction(2) ** exponent
    quantum = Fraction(2) ** (max(exponent, least_exponent) - precision + 1)
    rounded = round(exact / quantum) * quantum
    magnitude = math.inf if rounded >= Fraction(2) ** (most_exponent + 1) else float(rounded)
    return -magnitude if value < 0 else magnitude


def bits_of(value: float, name: str) -> int:
    """Return the bits of a value that the 16-bit format holds exactly.

    Examples
    --------
    >>> hex(bits_of(-2.0, "bf16")), hex(bits_of(-2.0, "f16"))
    ('0xc000', '0xc000')
    """
    if name == "f16":
        return int(struct.unpack("<H", struct.pack("<e", value))[0])
    return int(struct.unpack("<I", struct.pack("<f", value))[0]) >> 16
