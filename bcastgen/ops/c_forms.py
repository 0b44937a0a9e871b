"""The C of a row: templates, their holes, and the forms that are faster where they are right.

In: templates of a row, dtypes.  Out: templates in which only operands are open.

    fill("({T})(({W}){0} + ({W}){1})", (I8, I8), I8)   ->   "(int8_t)((uint32_t){0} + (uint32_t){1})"

In C templates ``{0}``, ``{1}``, ... are operands, ``{T}`` is the result's C type; the loop dtype is that of the first
operand after conversion, and f32 for 16-bit floats, whose values are C floats that the caller rounds: ``{t}`` its name,
``{V}`` its C type, ``{W}`` the unsigned type its arithmetic wraps in (at least as wide as ``unsigned int``, so that
nothing promotes to a signed overflow) and ``{w}`` the name of that in helpers, ``{h}`` the 32- or 64-bit integer helper
that serves it, ``{bits}`` its width, ``{f}`` the suffix of libm's names and of literals, ``{N}`` its name in macros,
``{huge}`` its largest finite value. Templates use each operand as a name, never as an expression.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping

import numpy as np

from ..core.dtypes import BOOL, F32, I32, DType
from ..core.frozen import dataclass

__all__ = [
    "FAR_QUOTIENT",
    "NORMAL",
    "CForms",
    "CTemplate",
    "RangeTest",
    "between",
    "fill",
    "near_quotient",
    "template_of",
    "up_to",
]

# For all dtypes, by name of the dtype computed in or kind of the loop dtype, or made from the dtypes.
CTemplate = str | Mapping[str, str] | Callable[[tuple[DType, ...], DType], str]
# The C for a constant last operand: by the kind of the first operand, or a function of its dtype and the constant.
ConstantForms = Mapping[str, str] | Callable[[DType, float], str | None]


@dataclass(frozen=True, slots=True)
class RangeTest:
    """A test that an element passes if a number of it, of a C type, is at most `most`; all three are C templates.

    `most` is below 2^63. `says` is what it says of the operands, for a reader.
    """

    c: str
    number: str
    most: str
    says: str


@dataclass(frozen=True, slots=True)
class CForms:
    """The C of a row beside the plain one, each faster where it is right; the defaults are none.

    Attributes
    ----------
    fast, fast_ulp : C template and bound of the error under ``math="fast"``.
    range_tests, common_case : tests, by kind or dtype, and a C template that is right where all of them pass.
    test_by_constant : the test to take for all of them where the last operand is a constant; None keeps them.
    fast_common_case : the common case of `fast`, where there are both.
    scalar : whether compilers do not vectorise the plain C, so that it is for elements outside of the common case.
    pairs : the loop dtypes for which computing two elements side by side is at least 4% faster than one by one.
    by_constant : C templates by the constant that the last operand is (the key None stands for any other number), each
        by kind or made from dtype and number; and the cost of an element with it, for all or by width.
    """

    fast: CTemplate | None = None
    fast_ulp: int | None = None
    range_tests: Mapping[str, tuple[RangeTest, ...]] | None = None
    common_case: CTemplate | None = None
    test_by_constant: Callable[[DType, float], RangeTest | None] | None = None
    fast_common_case: CTemplate | None = None
    scalar: bool = False
    pairs: tuple[str, ...] = ()
    by_constant: Mapping[float | None, tuple[ConstantForms, float | Mapping[int, float]]] | None = None

    def special(
        self, operands: tuple[DType, ...], constant: bool | int | float | None
    ) -> tuple[str, float | Mapping[int, float]] | None:
        """Return the C template and the cost for this constant as the last operand, or None."""
        if constant is None or constant != constant or self.by_constant is None:
            return None
        forms, cost = self.by_constant.get(constant) or self.by_constant.get(None) or ({}, 0.0)
        template = forms(operands[0], constant) if callable(forms) else forms.get(operands[0].kind)
        return None if template is None else (template, cost)

    def tests_for(
        self, operands: tuple[DType, ...], result: DType, fast: bool, constant: bool | int | float | None
    ) -> tuple[RangeTest, ...]:
        """Return the tests that elements of the common case pass; an empty tuple if there is no common case."""
        if self.range_tests is None:
            return ()
        # Under math="fast" the common case of the accurate form would make results depend on blocks.
        is_fast = fast and template_of(self.fast, operands, result) is not None
        if is_fast and template_of(self.fast_common_case, operands, result) is None:
            return ()
        found = self.range_tests.get(operands[0].computed_in.name) or self.range_tests.get(operands[0].kind, ())
        if found and self.test_by_constant is not None and constant is not None:
            by_constant = self.test_by_constant(operands[0].computed_in, constant)
            found = found if by_constant is None else (by_constant,)
        texts = ((test.c, test.number, test.most, test.says) for test in found)
        return tuple(RangeTest(*(fill(text, operands, result) for text in test)) for test in texts)


def template_of(form: CTemplate | None, operands: tuple[DType, ...], result: DType) -> str | None:
    """Return the template a form has for these dtypes, or None."""
    template = form(operands, result) if callable(form) else form
    if template is None or isinstance(template, str):
        return template
    return template.get(operands[0].computed_in.name) or template.get(operands[0].kind)


def fill(template: str, operands: tuple[DType, ...], result: DType) -> str:
    """Replace the holes of a template that depend on dtypes; operands stay open, and casts that do nothing go.

    Examples
    --------
    >>> from bcastgen.core.dtypes import dtype
    >>> [fill("({T})(({W}){0} + ({W}){1})", (row, row), row) for row in (dtype("int8"), dtype("uint32"))]
    ['(int8_t)((uint32_t){0} + (uint32_t){1})', '({0} + {1})']
    """
    loop = operands[0].computed_in
    wide = "uint64_t" if loop.bits == 64 else "uint32_t"
    facts = {
        "T": result.c,
        "V": loop.c,
        "t": loop.name,
        "N": loop.name.upper(),
        "W": wide,
        "w": "u64" if loop.bits == 64 else "u32",
        "h": ("u" if loop.kind == "unsigned" else "i") + ("64" if loop.bits == 64 else "32"),
        "bits": str(loop.bits),
        "f": "f" if loop is F32 else "",
        "huge": ("0x1.fffffep+127f" if loop is F32 else "0x1.fffffffffffffp+1023"),
    }
    for name, text in facts.items():
        template = template.replace("{" + name + "}", text)
    return _without_casts(template, loop, operands, result)


# Casts and calls may give any type; comparisons, and choices between numbers, are of type int. These patterns are
# compiled where C is made: that takes longer than to import this module.
_CAST_OR_CALL = r"\((?:u?int\d+_t|float|double|bool)\)|\b[a-z_]\w*\("
_TRUTH_OR_CHOICE = r"[<>=!]=|(?<!<)<(?!<)|(?<!>)>(?!>)|[?!]|&&|\|\|"


def _without_casts(template: str, loop: DType, operands: tuple[DType, ...], result: DType) -> str:
    """Drop casts of integers to the type that they have: those of 32 bits and more are not promoted to int."""
    row = loop if loop.is_integer else result
    if not row.is_integer or row.bits < 32 or any(other not in (row, BOOL) for other in operands):
        return template
    # Helpers have the name of the type that they give, but for those that give a magnitude or a count.
    others = "clz" if row.kind == "unsigned" else "clz|gcd|lcm"
    of_operand = "" if BOOL in operands else r"|~?\{\d\}"
    of_operand += r"|\d+\b" if row == I32 else ""
    cast = re.escape(f"({row.c})")
    template = re.sub(rf"{cast}(?=bcg_(?!{others})\w+_{row}\({of_operand})", "", template)
    kept, at = "", 0
    for found in re.finditer(rf"{cast}(?=\()", template):
        inner = _group(template, found.end())
        # A choice that is the whole template takes the type it is stored as; inside an expression its own would count.
        is_whole = result == row and f"{found[0]}({inner})" == template and "?" in inner
        has_type = BOOL not in operands and "{" in inner and not re.search(_TRUTH_OR_CHOICE, inner)
        has_type = (has_type or is_whole) and not re.search(_CAST_OR_CALL, inner)
        kept += template[at : found.start() if has_type else found.end()]
        at = found.end()
    return kept + template[at:]


def _group(text: str, start: int) -> str:
    """Return what is in the parentheses that begin at a place."""
    depth = 0
    for at in range(start, len(text)):
        depth += (text[at] == "(") - (text[at] == ")")
        if depth == 0:
            return text[start + 1 : at]
    return text[start:]


# ---- the tests that rows share ---------------------------------------------------------------------------------------

NORMAL = RangeTest(
    "{W}", "bcg_above_normal_{t}({0})", "BCG_MOST_NORMAL_{N}", "{0} is a positive number that is not subnormal"
)

# True where a quotient of floats has more digits than a float, or the divisor is infinite.
_FAR = "(fabs{f}({0}) >= BCG_NEAR_QUOTIENT_{N} * fabs{f}({1})) | (fabs{f}({1}) > {huge})"
_IS_NEAR = "not |{0}| >= BCG_NEAR_QUOTIENT_{N} |{1}|, and {1} is not infinite"
FAR_QUOTIENT = {"float": (RangeTest("int", _FAR, "0", _IS_NEAR),)}


def near_quotient(dtype: DType, divisor: float) -> RangeTest | None:
    """Return the test of `FAR_QUOTIENT` for a constant divisor; None where its limit is no number of the dtype."""
    size = abs(divisor)
    if not 2.0**-64 <= size <= 2.0**64:
        return None
    spelled = f"{np.float32(size)!s}f" if dtype is F32 else repr(size)
    return up_to(f"BCG_NEAR_QUOTIENT_{{N}} * {spelled}")[0]


def up_to(most: str) -> tuple[RangeTest, ...]:
    """Return the test that a magnitude is at most this; NaN fails it, since its bits are those of a larger number."""
    return (RangeTest("{W}", "bcg_bits_{t}(fabs{f}({0}))", f"bcg_bits_{{t}}({most})", f"|{{0}}| <= {most}"),)


def between(least: float, below: float, row: DType = F32, operand: str = "fabs{f}({0})") -> RangeTest:
    """Return the test that a number is in [least, below); any other value has the bits of a larger number and fails."""
    low, high = (int(np.array(end, row.np).view(f"u{row.bytes}")) for end in (least, below))
    number = f"bcg_bits_{{t}}({operand})" + f" - {low:#x}u" * bool(low)
    said = operand.replace("fabs{f}(", "|").replace(")", "|")
    begins = f"{_power_of_two(least)} <= " if least else ""
    return RangeTest("{W}", number, f"{high - 1 - low:#x}u", f"{begins}{said} < {_power_of_two(below)}")


def _power_of_two(number: float) -> str:
    return "1" if number == 1 else f"2^{math.frexp(number)[1] - 1}"
