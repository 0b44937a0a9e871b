"""Byte words: loops that load a word of 16 or 32 bits at a time and compute with each of its bytes at the word's width.

In: a nest and its variants.  Out: :class:`ByteWords`: the statements for each byte, and the values to store; None where
words are no gain.

    (a.astype(u16) * w.astype(u16) >> 8).astype(uint8)  ->  word & 255, then word >> 8, in u16; stores low | high << 8
    (a * f32(0.5) + f32(3)).astype(uint8)               ->  four bytes, each as a float; stores their whole parts
    (a * 0.3 + b * 0.7).astype(uint8)                   ->  the same, each as a double

A compiler that widens vectors of bytes unpacks them and packs the results again by shuffles; extracting a byte from a
word costs one cheap operation. Words pay only where every statement computes at the word's width, since narrower ones
would be widened; or in doubles, where results are bytes: two vectors of them hold what a vector of words holds, in its
order (0.65 to 0.8 of the time). Where results have 32 bits, bytes are widened as they are read (:mod:`.widened_reads`).
"""

from __future__ import annotations

from ...core.dtypes import F64, DType
from ...core.frozen import dataclass, replace
from ...ops.rows.conversions import CAST
from ..analysis.lane_width import is_cheap
from ..nest import Let, Load, Nest, Statement, Value
from .variants import UNIT, ZERO, Variant

__all__ = ["ByteWords", "byte_words"]

_WIDTHS = (16, 32)
# Each statement is compiled once for every byte of a word, so long bodies take the compiler too long.
_MAX_STATEMENTS = 24


@dataclass(frozen=True, slots=True)
class ByteWords:
    """How a loop computes a word of bytes at a time.

    Attributes
    ----------
    bits : the width of a word, and of the computation with each of its bytes.
    statements : the statements computed for each byte.
    stores : the values whose low bytes are the results.
    variants : the variants that use words; the others occur too rarely, as words double a variant's compile time.
    """

    bits: int
    statements: frozenset[int]
    stores: tuple[Value, ...]
    variants: tuple[Variant, ...] = ()


def byte_words(nest: Nest, variants: tuple[Variant, ...]) -> ByteWords | None:
    """Return how a nest is computed in words, or None where words are no gain.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> kernel = from_text("(u8[?] a, u8[?] b) -> ((a.astype(u16) + b) >> 1).astype(uint8)")
    >>> byte_words(kernel.compilation.rewritten.program.nests[0], ()).bits
    16
    """
    words = _words(nest)
    if words is None:
        return None
    served = tuple(variant for variant in variants if _serves(nest, variant))
    return replace(words, variants=served)


def _serves(nest: Nest, variant: Variant) -> bool:
    """Whether what moves in a variant is adjacent bytes, and at most one operand stays, beside one that moves."""
    kinds = variant.operands
    return set(kinds) <= {UNIT, ZERO} and kinds.count(ZERO) <= min(1, len(kinds) - 1)


def _words(nest: Nest) -> ByteWords | None:
    """Return the words that a nest's values fit, without their variants; None if there are none."""
    kinds = {access.dtype for access in nest.operands}
    if len(nest.body) > _MAX_STATEMENTS or not any(map(_is_byte, kinds)):
        return None
    if not all(map(_is_byte, (*kinds, *(access.dtype for access in nest.results)))):
        return None
    for bits in _WIDTHS:
        last = {
            value.index for value in nest.stores if isinstance(value, Let) and _narrows(nest.body[value.index], bits)
        }
        if len(last) < len(set(nest.stores)):
            continue
        statements = frozenset(range(len(nest.body))) - last
        if all(_is_simple(nest.body[at], bits, bits == 32) for at in statements):
            stores = (nest.body[store.index].operands[0] for store in nest.stores if isinstance(store, Let))
            return ByteWords(bits, statements, tuple(stores))
    return None


def _is_byte(dtype: DType) -> bool:
    return dtype.is_integer and dtype.bits == 8


def _narrows(statement: Statement, bits: int) -> bool:
    """Whether a statement casts an integer of so many bits to a byte."""
    source = statement.operand_dtypes[0]
    return statement.op is CAST and source.is_integer and source.bits == bits and _is_byte(statement.dtype)


def _is_simple(statement: Statement, bits: int, wide: bool = False) -> bool:
    """Whether a statement widens a byte operand to so many bits, or computes in so many and may be in words.

    If `wide`, doubles may take the place of so many bits.
    """
    source, target = statement.operand_dtypes[0], statement.dtype
    if statement.op is CAST and _is_byte(source):
        return isinstance(statement.operands[0], Load) and (_is_of(target, bits) or (wide and target is F64))
    if not all(_is_of(dtype, bits) or (wide and dtype is F64) for dtype in (*statement.operand_dtypes, target)):
        return False
    return is_cheap(statement)


def _is_of(dtype: DType, bits: int) -> bool:
    """Whether a dtype has so many bits, in memory and in C."""
    return (dtype.is_integer or dtype.is_float) and dtype.bits == bits and not dtype.is_float16
