"""The names of the C library that generated C may use, by header.

In: nothing.  Out: names.

    HEADERS["string.h"]  ->  {"memcpy"}
"""

from __future__ import annotations

__all__ = ["HEADERS", "MATHEMATICS"]

# <math.h> of C11: functions from numbers to numbers, for double and (with f) float; then generic names.
MATHEMATICS = frozenset(
    name + suffix
    for suffix in ("", "f")
    for name in """
    acos asin atan atan2 cos sin tan acosh asinh atanh cosh sinh tanh exp exp2 expm1 ilogb ldexp log log10 log1p log2
    logb scalbn scalbln cbrt fabs hypot pow sqrt erf erfc lgamma tgamma ceil floor nearbyint rint lrint llrint round
    lround llround trunc fmod remainder copysign nextafter fdim fmax fmin fma
    """.split()
) | frozenset("fpclassify isfinite isinf isnan isnormal signbit isgreater isless isunordered".split())

_WIDTHS = (8, 16, 32, 64)

# In the order in which they are included.
HEADERS = {
    "math.h": MATHEMATICS | {"NAN", "INFINITY"},
    "stdbool.h": frozenset({"bool", "true", "false"}),
    "string.h": frozenset({"memcpy"}),
    "stddef.h": frozenset({"NULL", "ptrdiff_t", "size_t"}),
    "stdint.h": frozenset({"intptr_t", "uintptr_t", "PTRDIFF_MAX", "SIZE_MAX"})
    | {f"{sign}int{width}_t" for sign in ("", "u") for width in _WIDTHS}
    | {f"{sign}INT{width}_{what}" for sign in ("", "U") for width in _WIDTHS for what in ("C", "MIN", "MAX")},
}
