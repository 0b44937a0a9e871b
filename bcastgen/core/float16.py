"""The 16-bit floats f16 and bf16, where NumPy does not suffice: rounding, their bits, and the NumPy dtype of bf16.

In: a number.  Out: the nearest 16-bit float, exactly, with one rounding.

    nearest(0.1, "bf16") -> 0.10009765625        bits_of(1.0, "bf16") -> 0x3f80

NumPy has no bfloat16. The package ml_dtypes adds it; it is imported only where an array of bf16 is made, since types,
shapes and C do without.
"""

from __future__ import annotations

import math
import struct
from typing import TYPE_CHECKING, Any

from .errors import DTypeError

if TYPE_CHECKING:
    import numpy as np

__all__ = ["BFLOAT16", "bits_of", "nearest", "numpy_bfloat16"]

BFLOAT16 = "bfloat16"

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


def numpy_bfloat16() -> np.dtype[Any]:
    """Return NumPy's dtype of bf16.

    Raises
    ------
    DTypeError
        If ml_dtypes is not installed; the message says how to install it.
    """
    import numpy as np  # noqa: PLC0415 - the build reads dtypes without NumPy

    try:
        from ml_dtypes import bfloat16  # noqa: PLC0415 - the package may be missing
    except ImportError:
        raise DTypeError(
            'arrays of bf16 need the package ml_dtypes, which is not installed: pip install "bcastgen[bf16]"'
        ) from None
    found: np.dtype[Any] = np.dtype(bfloat16)
    return found
