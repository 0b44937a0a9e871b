"""C without a library: our own helpers replace functions of <math.h> and <string.h>.

In: C text that calls the library.  Out: the same over helpers of csrc's bcg_freestanding*.h, or an error.

    "rintf(x) < INFINITY"  ->  "bcg_rint_f32(x) < BCG_INFINITY"

The names of the helpers decide which call each replaces: bcg_<name>_f32 of bcg_freestanding_math.h replaces <name>f.
Vector functions replace calls in users' ops.
"""

from __future__ import annotations

import re
from functools import cache

from ...core.c_library import MATHEMATICS
from ...core.errors import BcastgenError
from ...ops.table import OPS
from ..c_text.helpers import functions_of
from ..c_text.references import calls

__all__ = ["SENTENCE", "refuse_library", "without_library"]

SENTENCE = (
    "Needs no library: functions and square roots are its own. With -fno-math-errno a square root is one instruction "
    "where the machine has one. As everywhere, a compiler may call memcpy, memmove and memset by itself."
)

_MACROS = {"memcpy(": "BCG_COPY(", "NAN": "BCG_NAN", "INFINITY": "BCG_INFINITY"}
# A text with these calls tests by itself that the machine has the instruction.
_GUARDED = re.compile(r"\b(?=fmaf?\()")


@cache
def _spellings() -> dict[str, str]:
    """Return for each function of the C library the helper that replaces it."""
    # Leave out bcg_scalar.h and the core: their remainder has another sign, and their bcg_fma may round twice.
    helpers = functions_of(r"bcg_(?:freestanding_math|vmath_(?!core)\w*)\.h")
    ours = {name: name for name in MATHEMATICS}
    for op in OPS.values():
        ours |= {alias: op.name for alias in op.aliases if alias in MATHEMATICS}
    dtypes = (("", "f64"), ("f", "f32"))
    pairs = ((name + suffix, f"bcg_{own}_{dtype}") for name, own in ours.items() for suffix, dtype in dtypes)
    return {name: own for name, own in pairs if name in MATHEMATICS and own in helpers}


@cache
def _library() -> re.Pattern[str]:
    functions = "|".join(sorted(_spellings()))
    return re.compile(rf"(?P<comment>/\*.*?\*/)|\b(?:(?P<call>{functions})(?=\()|memcpy\(|NAN\b|INFINITY\b)", re.DOTALL)


def without_library(text: str) -> str:
    """Replace the library's functions and constants in C text by helpers.

    Examples
    --------
    >>> without_library("const float t0 = fabsf(a0) * asin(b0);")
    'const float t0 = bcg_fabs_f32(a0) * bcg_arcsin_f64(b0);'
    """

    def spelled(found: re.Match[str]) -> str:
        return found["comment"] or (_spellings()[found[0]] if found["call"] else _MACROS[found[0]])

    text = _library().sub(spelled, text)
    return _GUARDED.sub("__builtin_", text) if "defined __FMA__" in text else text


def refuse_library(text: str) -> None:
    """Refuse C that still calls the library after `without_library`.

    Raises
    ------
    BcastgenError
        If a name has no helper, since users' ops may call functions that our ops do not; the message has the names.
    """
    left = sorted(MATHEMATICS.intersection(calls(text)))
    if left:
        raise BcastgenError(
            f"freestanding C has no {', '.join(left)}, which an op that you defined calls; write it out in prelude="
        )
