"""The facts of a row beside its dtypes and its C: for the analyses and rewrites of loops, and for MLIR.

In: nothing.  Out: the records that rows hold.

    IntegerFacts("clip", any_width=True)   ->   ranges.clip gives the range of what is clipped; i16 will do for what
                                                i16 holds

They name functions of :mod:`.ranges` and :mod:`.bounds`, which are imported where a kernel is compiled, and not before.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..core.frozen import dataclass

__all__ = ["FloatFacts", "IntegerFacts", "Mlir"]


@dataclass(frozen=True, slots=True)
class IntegerFacts:
    """Facts of an op's integers, for :mod:`..loops`; none, unless the row says more.

    Attributes
    ----------
    range : the function of :mod:`.ranges` that gives the result's range; "" where it may be any number of its dtype.
    sum : what it makes of sums of products: "same", "plus", "minus", "negated", "times"; "" nothing that is one.
    demanded : the bits of operands that the low n bits of the result depend on: their low n ("low"), and no others
        than a constant operand has ("mask"); of a shift by a constant those of the first, as many fewer ("left") or
        more ("right"); "" all.
    any_width : whether a dtype that holds operands and result is enough to compute the same number.
    divides : whether it divides: machines do not in lanes of 8 bits, and faster without signs.
    in_words : whether it is as cheap in lanes of 16 and 32 bits as any operation.
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


@dataclass(frozen=True, slots=True)
class FloatFacts:
    """Facts of an op's floats of 32 and 64 bits; none, unless the row says more.

    Attributes
    ----------
    bounds : the function of :mod:`.bounds` that gives the result's bounds; "" where it may be any number, or NaN.
    in_words : whether it is as cheap in a vector as any operation.
    """

    bounds: str = ""
    in_words: bool = False


@dataclass(frozen=True, slots=True)
class Mlir:
    """How an op is spelled in the dialects arith and math, and what its C demands of operands there.

    Attributes
    ----------
    lines : for all dtypes or by kind of the first operand, "integer" for signed and unsigned: an op that takes all
        operands ("math.exp"), lines (with braces, see `mlir.linalg.rows`), or ``@name`` and words: what that module
        has under the name, a function of the words where it has one.
    demand : the lines of the condition that elements satisfy, where the row demands something.
    """

    lines: str | Mapping[str, str]
    demand: str = ""
