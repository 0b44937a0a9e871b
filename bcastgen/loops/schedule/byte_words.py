"""Byte words: bytes that are computed with in 16 or 32 bits, as many at a time as such a word has.

In: a nest, its variants.  Out: :class:`ByteWords`: what is computed of each byte, and what is stored of it; None where
that is no gain.

    (a.astype(u16) * w.astype(u16) >> 8).astype(uint8)  ->  of word & 255, then of word >> 8, in u16; low | high << 8
    (a * f32(0.5) + f32(3)).astype(uint8)               ->  of four bytes, each as a float; their whole parts in a word
    a * f32(0.5) + f32(3)                               ->  of four bytes that are 16 apart: their floats are adjacent

A compiler that widens vectors of bytes takes them apart, and puts the results together again, by shuffles; the bytes
of a word cost an operation each, as cheap as any. That pays only where every statement computes in so many bits: what
is left in bytes would be widened, and what is wider taken apart all the same. Where results have 32 bits, the bytes of
a word have to be as far apart as a vector is long: 64 bytes are deinterleaved first, by one shuffle. Operands of 32
bits have to be one value along the loop then: those that move take as long to read as bytes to widen.
"""

from __future__ import annotations

from dataclasses import replace

from ...core.dtypes import DType
from ...core.frozen import dataclass
from ...ops.table import CAST
from ..analysis.demanded_bits import shift_of
from ..nest import Apply, Let, Load, Nest, Value
from .variants import UNIT, ZERO, Variant

__all__ = ["ByteWords", "byte_words"]

_WIDTHS = (16, 32)
# Each statement is compiled once for every byte of a word, which takes the compiler longer.
_MAX_STATEMENTS = 24


@dataclass(frozen=True, slots=True)
class ByteWords:
    """How a loop goes a word of bytes at a time.

    Attributes
    ----------
    bits : of a word, in which each of its bytes is computed with.
    statements : what is computed of each byte.
    stores : the values whose low bytes are the results; if `deinterleaved`, the results themselves.
    deinterleaved : whether the bytes of a word are 16 apart, because results have as many bits as a word.
    variants : those that go so: each takes the compiler twice as long, and others are rare.
    """

    bits: int
    statements: frozenset[int]
    stores: tuple[Value, ...]
    deinterleaved: bool = False
    variants: tuple[Variant, ...] = ()


def byte_words(nest: Nest, variants: tuple[Variant, ...]) -> ByteWords | None:
    """Return how a nest is computed in words, or None.

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
    served = tuple(variant for variant in variants if _serves(nest, variant, words.deinterleaved))
    return replace(words, variants=served)


def _serves(nest: Nest, variant: Variant, deinterleaved: bool) -> bool:
    """Whether a variant is one in which all bytes move, or unless deinterleaved all but one, and nothing else does."""
    pairs = [(access.dtype.bytes == 1, kind) for access, kind in zip(nest.operands, variant.operands, strict=True)]
    if any(kind not in (UNIT, ZERO) or (kind == UNIT and not is_byte) for is_byte, kind in pairs):
        return False
    stationary = sum(kind == ZERO and is_byte for is_byte, kind in pairs)
    return stationary <= (0 if deinterleaved else min(1, len(pairs) - 1))


def _words(nest: Nest) -> ByteWords | None:
    """Return the words that a nest's values fit, before it is known which variants use them."""
    kinds = {access.dtype for access in nest.operands}
    if len(nest.body) > _MAX_STATEMENTS or not any(map(_is_byte, kinds)):
        return None
    if all(_is_of(access.dtype, 32) for access in nest.results):
        fit = all(_is_byte(dtype) or _is_of(dtype, 32) for dtype in kinds)
        simple = fit and all(_is_simple(statement, 32) for statement in nest.body)
        return ByteWords(32, frozenset(range(len(nest.body))), nest.stores, deinterleaved=True) if simple else None
    if not all(map(_is_byte, (*kinds, *(access.dtype for access in nest.results)))):
        return None
    for bits in _WIDTHS:
        last = {
            value.index for value in nest.stores if isinstance(value, Let) and _narrows(nest.body[value.index], bits)
        }
        if len(last) < len(set(nest.stores)):
            continue
        statements = frozenset(range(len(nest.body))) - last
        if all(_is_simple(nest.body[at], bits) for at in statements):
            stores = (nest.body[store.index].operands[0] for store in nest.stores if isinstance(store, Let))
            return ByteWords(bits, statements, tuple(stores))
    return None


def _is_byte(dtype: DType) -> bool:
    return dtype.is_integer and dtype.bits == 8


def _narrows(statement: Apply, bits: int) -> bool:
    """Whether a statement makes a byte of an integer."""
    source = statement.operand_dtypes[0]
    return statement.op is CAST and source.is_integer and source.bits == bits and _is_byte(statement.dtype)


def _is_simple(statement: Apply, bits: int) -> bool:
    """Whether a statement widens an operand's byte, or is a simple one in so many bits."""
    source, target = statement.operand_dtypes[0], statement.dtype
    if statement.op is CAST and _is_byte(source):
        return isinstance(statement.operands[0], Load) and _is_of(target, bits)
    if not all(_is_of(dtype, bits) for dtype in (*statement.operand_dtypes, target)):
        return False
    if source.is_float:
        return statement.op.floats.in_words
    facts = statement.op.integers
    return facts.in_words and (not facts.shifts or shift_of(statement) is not None)


def _is_of(dtype: DType, bits: int) -> bool:
    """Whether it is of so many bits, in memory as in C."""
    return dtype.kind != "bool" and dtype.bits == bits and not dtype.is_float16
