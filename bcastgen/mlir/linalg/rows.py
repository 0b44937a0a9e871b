"""The spellings in arith and math of those rows of the table of ops that take several lines.

In: a name with an @ in front, as rows of ops have it.  Out: lines of MLIR; the last line is the value.

    @LEFT_SHIFT  ->  %in = arith.cmpi ult, {1}, #{bits} : {t}
                     %count = arith.select %in, {1}, #0 : {t}
                     %shifted = arith.shli {0}, %count : {t}
                     arith.select %in, %shifted, #0 : {t}

A row's C defines its meaning. The lines here mean the same for every operand, although arith leaves undefined what rows
define (division by 0, shifts by too much, floats that no integer holds). Arithmetic agrees bit for bit.

In a spelling ``{0}``, ``{1}``, ... are operands, ``%word`` is a value of its own, ``#5`` a constant of the type the op
computes in, ``#5:i64`` one of that type. ``{t}`` is that type, ``{T}`` the result's, ``{bits}`` the width of the first
operand, ``{top}`` its highest bit. Integers are signless: the op knows the sign. Floats of 16 bits compute in f32, as
generated C does; the body converts around the lines.

A row that is a single op of a dialect spells it itself (:class:`...ops.facts.Mlir`).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from ...core.dtypes import DType
from .casts import cast_lines, tosa_cast_lines  # noqa: F401 - rows name them
from .types import compute_type

__all__ = ["Typed", "piece"]

# A function from the dtypes of the operands and of the result to lines.
Typed = Callable[[tuple[DType, ...], DType], str]

# ---- functions of the words that follow a name --------------------------------------------------------------------


def extremum(order: str, nan: str) -> str:
    """Choose the operand as C does, so that two zeros give the same one as there; arith.minimumf may differ."""
    return f"""
        %in = arith.cmpf {order}, {{0}}, {{1}} : {{t}}
        %nan = arith.cmpf uno, {{{nan}}}, {{{nan}}} : {{t}}
        %first = arith.ori %in, %nan : i1
        arith.select %first, {{0}}, {{1}} : {{t}}"""


def clip(sign: str) -> str:
    """Spell clip for signed (``s``) or unsigned (``u``) integers."""
    return f"""
        %raised = arith.max{sign}i {{0}}, {{1}} : {{t}}
        arith.min{sign}i %raised, {{2}} : {{t}}"""


def compare(word: str, floats: str) -> Typed:
    """Compare by value, which takes more than one comparison of bits for i64 with u64."""

    def lines(operands: tuple[DType, ...], result: DType) -> str:
        first, second = operands
        if first.is_float:
            return f"arith.cmpf {floats}, {{0}}, {{1}} : {{t}}"
        ordered = word if word in ("eq", "ne") else ("s" if first.kind == "signed" else "u") + word
        if first is second:
            return f"arith.cmpi {ordered}, {{0}}, {{1}} : {{t}}"
        # A negative signed operand is below every unsigned one; otherwise unsigned bits compare as the values do.
        signed = 0 if first.kind == "signed" else 1
        below = word in (("lt", "le", "ne") if signed == 0 else ("gt", "ge", "ne"))
        bits = word if word in ("eq", "ne") else f"u{word}"
        return f"""
            %bits = arith.cmpi {bits}, {{0}}, {{1}} : i64
            %sign = arith.cmpi {"slt" if below else "sge"}, {{{signed}}}, #0 : i64
            arith.{"ori" if below else "andi"} %sign, %bits : i1"""

    return lines


# ---- spellings of several lines --------------------------------------------------------------------------------------

# A divisor of 0, or of -1, which may overflow, is replaced by 1; the quotient is then replaced by the right one.
_DIVISOR = """
    %zero = arith.cmpi eq, {1}, #0 : {t}
    %minus = arith.cmpi eq, {1}, #-1 : {t}
    %odd = arith.ori %zero, %minus : i1
    %divisor = arith.select %odd, #1, {1} : {t}"""
_NON_ZERO = """
    %zero = arith.cmpi eq, {1}, #0 : {t}
    %divisor = arith.select %zero, #1, {1} : {t}"""
_QUOTIENT = """
    %negated = arith.subi #0, {0} : {t}
    %or_negated = arith.select %minus, %negated, %quotient : {t}
    arith.select %zero, #0, %or_negated : {t}"""
_REST = """
    %rest = arith.remsi {0}, %divisor : {t}
    %inexact = arith.cmpi ne, %rest, #0 : {t}
    %signs = arith.xori %rest, {1} : {t}
    %differ = arith.cmpi slt, %signs, #0 : {t}
    %adjust = arith.andi %inexact, %differ : i1"""
FLOOR_DIVIDE = f"""{_DIVISOR}
    %towards0 = arith.divsi {{0}}, %divisor : {{t}}{_REST}
    %less = arith.subi %towards0, #1 : {{t}}
    %quotient = arith.select %adjust, %less, %towards0 : {{t}}{_QUOTIENT}"""
TRUNCATE_DIVIDE = f"""{_DIVISOR}
    %quotient = arith.divsi {{0}}, %divisor : {{t}}{_QUOTIENT}"""
DIVIDE_UNSIGNED = f"""{_NON_ZERO}
    %quotient = arith.divui {{0}}, %divisor : {{t}}
    arith.select %zero, #0, %quotient : {{t}}"""
REMAINDER = f"""{_DIVISOR}{_REST}
    %more = arith.addi %rest, {{1}} : {{t}}
    %modulo = arith.select %adjust, %more, %rest : {{t}}
    arith.select %odd, #0, %modulo : {{t}}"""
FMOD = f"""{_DIVISOR}
    %rest = arith.remsi {{0}}, %divisor : {{t}}
    arith.select %odd, #0, %rest : {{t}}"""
REMAINDER_UNSIGNED = f"""{_NON_ZERO}
    %modulo = arith.remui {{0}}, %divisor : {{t}}
    arith.select %zero, #0, %modulo : {{t}}"""

_FLOAT_REST = """
    %zero = arith.cmpf oeq, {1}, #0.0 : {t}
    %rest = arith.remf {0}, {1} : {t}
    %inexact = arith.cmpf une, %rest, #0.0 : {t}
    %below = arith.cmpf olt, %rest, #0.0 : {t}
    %negative = arith.cmpf olt, {1}, #0.0 : {t}
    %differ = arith.xori %below, %negative : i1
    %adjust = arith.andi %inexact, %differ : i1"""
FLOAT_REMAINDER = f"""{_FLOAT_REST}
    %more = arith.addf %rest, {{1}} : {{t}}
    %signed = arith.select %adjust, %more, %rest : {{t}}
    %nothing = math.copysign #0.0, {{1}} : {{t}}
    %exact = arith.cmpf oeq, %rest, #0.0 : {{t}}
    %modulo = arith.select %exact, %nothing, %signed : {{t}}
    arith.select %zero, %rest, %modulo : {{t}}"""
# (x - rest) / y is within a rounding error of a whole number, so it is rounded to that.
FLOAT_FLOOR_DIVIDE = f"""{_FLOAT_REST}
    %true = arith.divf {{0}}, {{1}} : {{t}}
    %multiple = arith.subf {{0}}, %rest : {{t}}
    %near = arith.divf %multiple, {{1}} : {{t}}
    %less = arith.subf %near, #1.0 : {{t}}
    %quotient = arith.select %adjust, %less, %near : {{t}}
    %floor = math.floor %quotient : {{t}}
    %over = arith.subf %quotient, %floor : {{t}}
    %up = arith.cmpf ogt, %over, #0.5 : {{t}}
    %next = arith.addf %floor, #1.0 : {{t}}
    %whole = arith.select %up, %next, %floor : {{t}}
    %nothing = math.copysign #0.0, %true : {{t}}
    %small = arith.cmpf oeq, %quotient, #0.0 : {{t}}
    %or_zero = arith.select %small, %nothing, %whole : {{t}}
    arith.select %zero, %true, %or_zero : {{t}}"""
FLOAT_CLIP = """
    %in_low = arith.cmpf oge, {0}, {1} : {t}
    %nan = arith.cmpf uno, {0}, {0} : {t}
    %keep = arith.ori %in_low, %nan : i1
    %raised = arith.select %keep, {0}, {1} : {t}
    %in_high = arith.cmpf ole, %raised, {2} : {t}
    %still_nan = arith.cmpf uno, %raised, %raised : {t}
    %as_is = arith.ori %in_high, %still_nan : i1
    arith.select %as_is, %raised, {2} : {t}"""
FLOAT_SIGN = """
    %above = arith.cmpf ogt, {0}, #0.0 : {t}
    %below = arith.cmpf olt, {0}, #0.0 : {t}
    %nan = arith.cmpf uno, {0}, {0} : {t}
    %zero_or_nan = arith.select %nan, {0}, #0.0 : {t}
    %or_minus = arith.select %below, #-1.0, %zero_or_nan : {t}
    arith.select %above, #1.0, %or_minus : {t}"""
RAD2DEG = "arith.mulf {0}, #57.29577951308232 : {t}"
DEG2RAD = "arith.mulf {0}, #0.017453292519943295 : {t}"
HEAVISIDE = """
    %above = arith.cmpf ogt, {0}, #0.0 : {t}
    %below = arith.cmpf olt, {0}, #0.0 : {t}
    %zero = arith.cmpf oeq, {0}, #0.0 : {t}
    %or_nan = arith.select %zero, {1}, {0} : {t}
    %or_none = arith.select %below, #0.0, %or_nan : {t}
    arith.select %above, #1.0, %or_none : {t}"""
MODF_FRACTION = """
    %magnitude = math.absf {0} : {t}
    %infinite = arith.cmpf oeq, %magnitude, #inf : {t}
    %whole = math.trunc {0} : {t}
    %rest = arith.subf {0}, %whole : {t}
    %or_zero = arith.select %infinite, #0.0, %rest : {t}
    math.copysign %or_zero, {0} : {t}"""
RECIPROCAL = """
    %one = arith.cmpi eq, {0}, #1 : {t}
    %minus = arith.cmpi eq, {0}, #-1 : {t}
    %either = arith.ori %one, %minus : i1
    arith.select %either, {0}, #0 : {t}"""
# libm has no rsqrt, so not every pipeline takes math.rsqrt.
RSQRT = """
    %root = math.sqrt {0} : {t}
    arith.divf #1.0, %root : {t}"""
# The loop has one step for each bit of the exponent; the low bits of a product depend on low bits only, so it may wrap.
POWER = """
    %power:2 = scf.for %bit = #0:index to #{bits}:index step #1:index iter_args(%done = #1, %base = {0}) -> ({t}, {t}) {
      %shift = arith.index_cast %bit : index to {t}
      %shifted = arith.shrui {1}, %shift : {t}
      %set = arith.trunci %shifted : {t} to i1
      %product = arith.muli %done, %base : {t}
      %next = arith.select %set, %product, %done : {t}
      %squared = arith.muli %base, %base : {t}
      scf.yield %next, %squared : {t}, {t}
    }
    %power#0"""

_INSIDE = """
    %in = arith.cmpi ult, {1}, #{bits} : {t}
    %count = arith.select %in, {1}, #0 : {t}"""
LEFT_SHIFT = f"""{_INSIDE}
    %shifted = arith.shli {{0}}, %count : {{t}}
    arith.select %in, %shifted, #0 : {{t}}"""
LOGICAL_RIGHT_SHIFT = f"""{_INSIDE}
    %shifted = arith.shrui {{0}}, %count : {{t}}
    arith.select %in, %shifted, #0 : {{t}}"""
# A count below 0 is large as an unsigned number: it leaves only the sign, as does every count beyond the width.
RIGHT_SHIFT = """
    %count = arith.minui {1}, #{top} : {t}
    arith.shrsi {0}, %count : {t}"""
_HALF = """
    %in = arith.cmpi ult, {1}, #{bits} : {t}
    %some = arith.cmpi ne, {1}, #0 : {t}
    %rounds = arith.andi %in, %some : i1
    %least = arith.select %rounds, {1}, #1 : {t}
    %below = arith.subi %least, #1 : {t}
    %lowest = arith.shrui {0}, %below : {t}
    %bit = arith.andi %lowest, #1 : {t}
    %half = arith.select %rounds, %bit, #0 : {t}"""
ROUNDING_RIGHT_SHIFT = f"""{_HALF}
    %count = arith.minui {{1}}, #{{top}} : {{t}}
    %shifted = arith.shrsi {{0}}, %count : {{t}}
    arith.addi %shifted, %half : {{t}}"""
ROUNDING_RIGHT_SHIFT_UNSIGNED = f"""{_HALF}
    %count = arith.select %in, {{1}}, #0 : {{t}}
    %shifted = arith.shrui {{0}}, %count : {{t}}
    %or_zero = arith.select %in, %shifted, #0 : {{t}}
    arith.addi %or_zero, %half : {{t}}"""
# The highest bit that is shifted out is added to the result: this rounds as adding one half does, without overflow.
MULTIPLY_SHIFT = """
    %a = arith.extsi {0} : i32 to i64
    %b = arith.extsi {1} : i32 to i64
    %product = arith.muli %a, %b : i64
    %n = arith.extsi {2} : i8 to i64
    %some = arith.cmpi sgt, %n, #0:i64 : i64
    %all = arith.cmpi sgt, %n, #63:i64 : i64
    %least = arith.maxsi %n, #1:i64 : i64
    %count = arith.minsi %least, #63:i64 : i64
    %shifted = arith.shrsi %product, %count : i64
    %below = arith.subi %count, #1:i64 : i64
    %lowest = arith.shrsi %product, %below : i64
    %half = arith.andi %lowest, #1:i64 : i64
    %rounded = arith.addi %shifted, %half : i64
    %sign = arith.shrsi %product, #63:i64 : i64
    %or_sign = arith.select %all, %sign, %rounded : i64
    %scaled = arith.select %some, %or_sign, %product : i64
    arith.trunci %scaled : i64 to i32"""

# math.expm1 and math.log1p mean this, but LLVM's lowerings of them cancel near 0. Let u be the rounded exp(x) or 1 + x:
# log(u) and u - 1 share its rounding error, so their ratio is as exact as each of them (W. Kahan).
EXPM1 = """
    %u = math.exp {0} : {t}
    %less = arith.subf %u, #1.0 : {t}
    %log = math.log %u : {t}
    %ratio = arith.divf {0}, %log : {t}
    %near = arith.mulf %less, %ratio : {t}
    %tiny = arith.cmpf oeq, %u, #1.0 : {t}
    %far = arith.cmpf oeq, %less, #-1.0 : {t}
    %huge = arith.cmpf oeq, %u, #inf : {t}
    %plain = arith.ori %far, %huge : i1
    %or_less = arith.select %plain, %less, %near : {t}
    arith.select %tiny, {0}, %or_less : {t}"""
LOG1P = """
    %u = arith.addf {0}, #1.0 : {t}
    %less = arith.subf %u, #1.0 : {t}
    %log = math.log %u : {t}
    %ratio = arith.divf {0}, %less : {t}
    %near = arith.mulf %log, %ratio : {t}
    %tiny = arith.cmpf oeq, %u, #1.0 : {t}
    %huge = arith.cmpf oeq, %u, #inf : {t}
    %plain = arith.ori %tiny, %huge : i1
    arith.select %plain, {0}, %near : {t}"""
# The argument of exp is never positive, so it cannot overflow.
SIGMOID = """
    %magnitude = math.absf {0} : {t}
    %minus = arith.negf %magnitude : {t}
    %e = math.exp %minus : {t}
    %negative = arith.cmpf olt, {0}, #0.0 : {t}
    %over = arith.select %negative, %e, #1.0 : {t}
    %under = arith.addf #1.0, %e : {t}
    arith.divf %over, %under : {t}"""
# The larger magnitude times sqrt(1 + (smaller / larger)^2); the result is infinite if one operand is, even beside NaN.
HYPOT = """
    %a = math.absf {0} : {t}
    %b = math.absf {1} : {t}
    %ordered = arith.cmpf uge, %a, %b : {t}
    %large = arith.select %ordered, %a, %b : {t}
    %small = arith.select %ordered, %b, %a : {t}
    %zero = arith.cmpf oeq, %large, #0.0 : {t}
    %divisor = arith.select %zero, #1.0, %large : {t}
    %ratio = arith.divf %small, %divisor : {t}
    %squared = arith.mulf %ratio, %ratio : {t}
    %sum = arith.addf #1.0, %squared : {t}
    %root = math.sqrt %sum : {t}
    %length = arith.mulf %large, %root : {t}
    %inf_a = arith.cmpf oeq, %a, #inf : {t}
    %inf_b = arith.cmpf oeq, %b, #inf : {t}
    %inf = arith.ori %inf_a, %inf_b : i1
    arith.select %inf, #inf, %length : {t}"""


def tosa_negate(operands: tuple[DType, ...], result: DType) -> str:
    """Compute elements of less than 32 bits in a wider type, so that they do not wrap, and clamp the result."""
    loop = operands[0]
    if loop.bits >= 32:
        return "%sum = arith.addi {1}, {2} : {t}\narith.subi %sum, {0} : {t}"
    widen = "arith.extsi" if loop.kind == "signed" else "arith.extui"
    wide = "\n".join(f"%wide{at} = {widen} {{{at}}} : {{t}} to i32" for at in range(3))
    return f"""{wide}
        %sum = arith.addi %wide1, %wide2 : i32
        %exact = arith.subi %sum, %wide0 : i32
        %least = arith.maxsi %exact, #{loop.min}:i32 : i32
        %inside = arith.minsi %least, #{loop.max}:i32 : i32
        arith.trunci %inside : i32 to {{t}}"""


def _magnitudes(sign: str) -> str:
    return "\n".join(
        f"%size{at} = math.absi {{{at}}} : {{t}}"
        if sign == "signed"
        else f"%size{at} = arith.addi {{{at}}}, #0 : {{t}}"
        for at in range(2)
    )


# Euclid's algorithm takes the most steps for numbers of Fibonacci's: 93 for 64 bits. More do nothing.
_EUCLID = """
    %euclid:2 = scf.for %step = #0:index to #93:index step #1:index iter_args(%a = %size0, %b = %size1) -> ({t}, {t}) {
      %done = arith.cmpi eq, %b, #0 : {t}
      %divisor = arith.select %done, #1, %b : {t}
      %rest = arith.remui %a, %divisor : {t}
      %next = arith.select %done, %a, %b : {t}
      scf.yield %next, %rest : {t}, {t}
    }"""


def gcd(sign: str) -> str:
    """Spell the greatest common divisor of ``signed`` or ``unsigned`` integers."""
    return f"{_magnitudes(sign)}{_EUCLID}\n%euclid#0"


def lcm(sign: str) -> str:
    """Spell the least common multiple of ``signed`` or ``unsigned`` integers."""
    return f"""{_magnitudes(sign)}{_EUCLID}
    %none = arith.cmpi eq, %euclid#0, #0 : {{t}}
    %common = arith.select %none, #1, %euclid#0 : {{t}}
    %times = arith.divui %size0, %common : {{t}}
    arith.muli %times, %size1 : {{t}}"""


def bitwise_count(operands: tuple[DType, ...], result: DType) -> str:
    """Count the bits of the magnitude, in eight bits."""
    loop = operands[0]
    size = "%size = math.absi {0} : {t}" if loop.kind == "signed" else "%size = arith.addi {0}, #0 : {t}"
    if loop.bits == result.bits:
        return f"{size}\nmath.ctpop %size : {{t}}"
    return f"{size}\n%count = math.ctpop %size : {{t}}\narith.trunci %count : {{t}} to {{T}}"


def signbit(operands: tuple[DType, ...], result: DType) -> str:
    bits = 32 if compute_type(operands[0]) == "f32" else 64
    return f"%bits = arith.bitcast {{0}} : {{t}} to i{bits}\narith.cmpi slt, %bits, #0:i{bits} : i{bits}"


def filled(operands: tuple[DType, ...], result: DType) -> str:
    """Give the second operand, converted to the dtype of the first."""
    value = operands[1]
    if value is result:
        return "{1}"
    # A spelling's types and constants are those of the first operand, unless they say otherwise.
    own = compute_type(value)
    lines = cast_lines((value,), result.computed_in).replace("{0}", "{1}")
    lines = lines.replace("{t}", own).replace("{bits}", str(value.bits))
    return re.sub(r"(#-?[\w.]+)(?![\w.:])", rf"\1:{own}", lines)


def piece(text: str) -> str | Typed:
    """Return the spelling that a row names by ``@name`` and words.

    Examples
    --------
    >>> print(piece("@clip s").strip().splitlines()[0])
    %raised = arith.maxsi {0}, {1} : {t}
    """
    name, *words = text.removeprefix("@").split()
    found: str | Typed = globals()[name](*words) if words else globals()[name]
    return found
