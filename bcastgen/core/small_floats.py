"""The floats of at most 8 bits that memory holds and nothing computes in: their formats, and what follows from these.

In: the name of a type, which tells its format.  Out: values of codes, and codes of values.

    format_of("f8e4m3fn").value_of(0x38) -> 1.0        format_of("f8e4m3fn").code_of(464.0) -> 0x7e, which is 448

The rules are those of the package ml_dtypes, whose arrays these are: halves go to even, and what lies beyond the
largest number becomes an infinity where there is one, else NaN, else the largest number. NumPy has none of these types
and needs the package only for arrays: types, shapes and C do without.
"""

from __future__ import annotations

import math
import re
from functools import cache

from .frozen import dataclass

__all__ = ["SmallFloat", "format_of"]


@dataclass(frozen=True, slots=True)
class SmallFloat:
    """The format of a small float: an exponent and a mantissa, after a sign where there is one.

    Attributes
    ----------
    exponent, mantissa : their widths in bits.
    bias : what is added to the exponent of a number in its code.
    largest : the code of the largest number.
    overflow : the code of what lies beyond it: an infinity, NaN, or `largest` itself.
    nan : the code of NaN. Types without NaN have a zero of the other sign there.
    """

    exponent: int
    mantissa: int
    bias: int
    largest: int
    overflow: int
    nan: int

    @property
    def is_scale(self) -> bool:
        """Whether it holds powers of two alone: it has no mantissa, no sign and no 0."""
        return self.mantissa == 0

    @property
    def sign(self) -> int:
        """The code of the sign, which is that of NaN where there is no -0; 0 where there is no sign."""
        return 0 if self.is_scale else 1 << (self.exponent + self.mantissa)

    @property
    def has_negative_zero(self) -> bool:
        """Whether -0 differs from 0."""
        return not self.is_scale and self.overflow != self.sign

    def value_of(self, code: int) -> float:
        """Return the value of a code; any bit in front of the sign of a shorter one is a sign, too.

        Examples
        --------
        >>> kind = format_of("f8e4m3fn")
        >>> kind.value_of(0x7e), kind.value_of(0x81), kind.value_of(0x7f)
        (448.0, -0.001953125, nan)
        """
        if self.is_scale:
            return math.nan if code == self.nan else self._magnitude(code)
        magnitude, factor = code & (self.sign - 1), -1.0 if code >= self.sign else 1.0
        if magnitude == self.overflow != self.nan and magnitude > self.largest:
            return factor * math.inf
        if magnitude > self.largest or (code == self.sign and not self.has_negative_zero):
            return math.copysign(math.nan, factor)
        return factor * self._magnitude(magnitude)

    def _magnitude(self, code: int) -> float:
        fraction, exponent = code & ((1 << self.mantissa) - 1), code >> self.mantissa
        if exponent > 0 or self.is_scale:
            fraction += 1 << self.mantissa
        return math.ldexp(fraction, max(exponent, 0 if self.is_scale else 1) - self.bias - self.mantissa)

    def code_of(self, value: float) -> int:
        """Return the code of the nearest value; of two that are as near, the one whose code is even.

        In a format of powers of two, a number halfway between two gets the larger one, and every number between the
        two smallest gets the larger of them.

        Examples
        --------
        >>> kind = format_of("f8e5m2")
        >>> [hex(kind.code_of(x)) for x in (1.0, 61439.0, 61440.0, -1e-9)]
        ['0x3c', '0x7b', '0x7c', '0x80']
        """
        negative = math.copysign(1.0, value) < 0
        if self.is_scale and (negative or value == 0 or math.isinf(value)):
            return self.nan
        if math.isnan(value):
            return self.nan if self.is_scale or not self.has_negative_zero else self.nan ^ (self.sign * negative)
        magnitude = self._nearest(abs(value))
        if magnitude > self.largest:
            magnitude = self.overflow
        signed = self.has_negative_zero or 0 < magnitude < self.sign
        return magnitude | (self.sign if negative and signed else 0)

    def _nearest(self, magnitude: float) -> int:
        """Return the code nearest to a positive number, or the one after the largest."""
        if magnitude >= self._magnitude(self.largest + 1):
            return self.largest + 1
        if self.is_scale and magnitude < self._magnitude(1):
            return int(magnitude > self._magnitude(0))
        least, most = 0, self.largest + 1
        while most - least > 1:
            middle = (least + most) // 2
            least, most = (middle, most) if self._magnitude(middle) <= magnitude else (least, middle)
        below, above = magnitude - self._magnitude(least), self._magnitude(most) - magnitude
        return most if above < below or (above == below and (least % 2 or self.is_scale)) else least

    def nearest(self, value: float) -> float:
        """Return the nearest value.

        Examples
        --------
        >>> format_of("f4e2m1fn").nearest(100.0), format_of("f8e8m0fnu").nearest(3.0)
        (6.0, 4.0)
        """
        return self.value_of(self.code_of(value))


_NAME = re.compile(r"f(?P<bits>\d)e(?P<exponent>\d)m(?P<mantissa>\d)(?:b(?P<bias>\d+))?(?P<rules>fnuz|fnu|fn|)")


@cache
def format_of(name: str) -> SmallFloat:
    """Return the format that a dtype's name tells, by the rules of the names of LLVM's APFloat.

    ``fn`` behind the widths means that there is no infinity: one code with all bits set is NaN, or none in fewer than
    8 bits. With ``uz`` NaN is in the place of -0, and the bias is one more unless ``b`` gives it; ``fnu`` has no sign.

    Examples
    --------
    >>> format_of("f8e5m2")
    SmallFloat(exponent=5, mantissa=2, bias=15, largest=123, overflow=124, nan=126)
    """
    parts = _NAME.fullmatch(name)
    if parts is None:
        raise ValueError(f"{name} is no small float")
    bits, exponent, mantissa = (int(parts[one]) for one in ("bits", "exponent", "mantissa"))
    bias, top = (1 << (exponent - 1)) - 1, (1 << (exponent + mantissa)) - 1
    match parts["rules"]:
        case "fnuz":
            return SmallFloat(exponent, mantissa, int(parts["bias"] or bias + 1), top, top + 1, top + 1)
        case "fn" if bits < 8:
            return SmallFloat(exponent, mantissa, bias, top, top, top + 1)
        case "fn" | "fnu":
            return SmallFloat(exponent, mantissa, bias, top - 1, top, top)
    infinity = top & ~((1 << mantissa) - 1)
    return SmallFloat(exponent, mantissa, bias, infinity - 1, infinity, infinity | 1 << (mantissa - 1))
