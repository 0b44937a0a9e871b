"""The facts of a row beside its dtypes and its C: for the analyses and rewrites of loops, and for MLIR.

In: nothing.  Out: the records that rows hold.

    IntegerFacts("clip", any_width=True)   ->   ranges.clip gives the range of what is clipped; i16 will do for what
                                                i16 holds

They name functions of :mod:`.ranges` and :mod:`.bounds`, which are imported where a kernel is compiled, and not before.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..core.frozen import dataclass

__all__ = ["UNCHANGED", "ComplexForm", "FloatFacts", "IntegerFacts", "Mlir"]


@dataclass(frozen=True, slots=True)
class IntegerFacts:
    """Facts of an op on integers, for :mod:`..loops`; the defaults claim nothing.

    Attributes
    ----------
    range : the function of :mod:`.ranges` that gives the result's range; "" if it may be any number of its dtype.
    sum : the op's effect on sums of products: "same", "plus", "minus", "negated", "times"; "" if its result is no sum.
    demanded : the bits of the operands that the low n bits of the result depend on: their low n ("low"), or of these
        only the bits that a constant operand has ("mask"); in a shift by a constant count, the low n minus count
        ("left") or n plus count ("right") of the first operand; "" means all bits.
    any_width : whether any dtype that holds the operands and the result gives the same number.
    divides : whether the op divides: machines have no division in lanes of 8 bits, and unsigned division is faster.
    in_words : whether the op is as cheap in lanes of 16 and 32 bits as any other.
    """

    range: str = ""
    sum: str = ""
    demanded: str = ""
    any_width: bool = False
    divides: bool = False
    in_words: bool = False

    @property
    def shifts(self) -> bool:
        """Whether its second operand counts bits."""
        return self.demanded in ("left", "right")


# The facts of ops that return an integer unchanged; a cast does so if its dtype holds the integer.
UNCHANGED = IntegerFacts("same", "same", "low")


@dataclass(frozen=True, slots=True)
class FloatFacts:
    """Facts of an op on floats of 32 and 64 bits; the defaults claim nothing.

    Attributes
    ----------
    bounds : the function of :mod:`.bounds` that gives the result's bounds; "" if it may be any number, or NaN.
    in_words : whether the op is as cheap in a vector as any other.
    in_divider : whether the CPU's divider computes it, in the same time an element for vectors of all widths.
    """

    bounds: str = ""
    in_words: bool = False
    in_divider: bool = False


@dataclass(frozen=True, slots=True)
class ComplexForm:
    """What an op is for complex operands.

    Attributes
    ----------
    c : C template; ``{t}`` is the complex dtype, ``{r}`` that of its parts; "" if the row's own C knows complex dtypes.
    common_case, is_rare : C template that compilers vectorise, as they do not `c`, and one of the test that is true
        where it is not right; "" if there are none.
    is_real : whether the result is a real number, of the parts' dtype.
    ulp : bound on the error of each part, in its units in the last place; 0 means bit-identical to NumPy's formula, in
        its order and without contraction.
    by_norm : whether these units are those of the result's absolute value, since a part may be a small difference.
    cost_tenths_ns : cost of an element of 64 bits in a loop.
    domain : interval that test samples of both parts are drawn from.
    reference : NumPy-like function that the values are checked against; None means the row's own.
    mlir : its spelling in the dialect complex; None if that has no counterpart of the same meaning.
    """

    c: str
    common_case: str = ""
    is_rare: str = ""
    is_real: bool = False
    ulp: int = 0
    by_norm: bool = False
    cost_tenths_ns: float = 0.8
    domain: tuple[float, float] = (-10.0, 10.0)
    reference: Callable[..., Any] | None = None
    mlir: str | None = None


@dataclass(frozen=True, slots=True)
class Mlir:
    """The spelling of an op in the dialects arith and math, and the condition that it demands of elements there.

    Attributes
    ----------
    lines : for all dtypes or by kind of the first operand, "integer" for signed and unsigned: an op that takes all
        operands ("math.exp"), lines (with braces, see `mlir.linalg.rows`), or ``@name`` and words: what that module
        has under the name, a function of the words where it has one.
    demand : the lines of the condition that elements satisfy, where the row demands something.
    """

    lines: str | Mapping[str, str]
    demand: str = ""
