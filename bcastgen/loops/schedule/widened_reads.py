"""Widened reads: loops that read a vector of narrow numbers, and widen it, by one instruction.

In: a nest and its variants.  Out: :class:`WidenedReads`; None where nothing narrow is read.

    a : u8, s : f32;  a.astype(f32) * s   ->   eight bytes of a become eight integers of 32 bits, for AVX2
    a : i32, b : f32;  a * b in f64       ->   four of each become doubles

gcc loads as many narrow numbers as a vector holds, and takes them apart by shuffles: bytes to floats take twice as long
(Zen 3, 0.13 ns for 0.06). clang widens as it loads.
"""

from __future__ import annotations

from ...core.frozen import dataclass
from ..analysis.lane_width import is_widened, lane_bits
from ..nest import Nest
from .variants import UNIT, ZERO, Variant

__all__ = ["WidenedReads", "widened_reads"]


@dataclass(frozen=True, slots=True)
class WidenedReads:
    """How a loop reads numbers that are narrower than its lanes.

    Attributes
    ----------
    bits : the bits of a lane.
    variants : the variants in which such numbers move, element by element.
    """

    bits: int
    variants: tuple[Variant, ...]


def widened_reads(nest: Nest, variants: tuple[Variant, ...]) -> WidenedReads | None:
    r"""Return how a nest's narrow numbers are read, or None where none is.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> loop = from_text("(u8[?] a, f32[] s) -> a.astype(f32) * s").compilation.schedules[0].inline
    >>> print(loop.widened.bits, *loop.widened.variants, sep="\n")
    32
    unit: operands (unit, unit), results unit
    zero_s: operands (unit, zero), results unit
    """
    bits = lane_bits(nest)
    served = tuple(variant for variant in variants if _serves(nest, variant, bits)) if bits else ()
    return WidenedReads(bits, served) if served else None


def _serves(nest: Nest, variant: Variant, bits: int) -> bool:
    """Whether narrow numbers move along a variant, and what moves is adjacent."""
    moving = {access.dtype for access, kind in zip(nest.operands, variant.operands, strict=True) if kind == UNIT}
    return set(variant.operands) <= {UNIT, ZERO} and any(is_widened(dtype, bits) for dtype in moving)
