"""Words: bytes that are computed with in 16 bits, two of them at a time in the halves of a word.

In: a nest.  Out: :class:`Words`: what is computed of each byte, and what is stored of it; None where that is no gain.

    (a.astype(u16) * w.astype(u16) >> 8).astype(u8)   ->   of word & 255, then of word >> 8, in u16; low | high << 8

A compiler that widens vectors of bytes takes them apart, and puts the results together again, by shuffles; the halves
of a word cost an operation each, as cheap as any. It is worth it only where every statement stands in 16 bits: what is
left in bytes would be widened, and what is wider taken apart all the same.
"""

from __future__ import annotations

from ..dtypes import DType
from ..records import dataclass
from .bits import LOW, shift_of
from .nest import Apply, Let, Load, Nest, Value

__all__ = ["Words", "words_of"]

# As cheap in C for 16 bits as any operation of a vector.
_SIMPLE = (LOW - {"floor", "ceil", "trunc", "positive"}) | frozenset(("minimum", "maximum", "absolute", "right_shift"))


@dataclass(frozen=True, slots=True)
class Words:
    """What is computed of each byte of a word, and of which values the low bits are the results' bytes."""

    statements: frozenset[int]
    stores: tuple[Value, ...]


def words_of(nest: Nest) -> Words | None:
    """Return how a nest is computed in the halves of words, or None.

    Examples
    --------
    >>> from ..api import from_text
    >>> kernel = from_text("(u8[?] a, u8[?] b) -> ((a.astype(u16) + b) >> 1).astype(u8)")
    >>> sorted(words_of(kernel.compilation.program.nests[0]).statements)
    [0, 1, 2, 3]
    """
    if not all(_is(access.dtype, 8) for access in (*nest.operands, *nest.results)):
        return None
    last = {value.index for value in nest.stores if isinstance(value, Let) and _casts(nest.body[value.index], 16, 8)}
    if len(last) < len(nest.stores):
        return None
    statements = frozenset(range(len(nest.body))) - last
    if not all(_is_simple(nest.body[at]) for at in statements):
        return None
    return Words(
        statements, tuple(nest.body[store.index].operands[0] for store in nest.stores if isinstance(store, Let))
    )


def _is(dtype: DType, bits: int) -> bool:
    return dtype.is_integer and dtype.bits == bits


def _casts(statement: Apply, source: int, target: int) -> bool:
    return statement.op.name == "cast" and _is(statement.operand_dtypes[0], source) and _is(statement.dtype, target)


def _is_simple(statement: Apply) -> bool:
    """Whether a statement widens an operand's byte, or is a simple one in 16 bits."""
    if _casts(statement, 8, 16):
        return isinstance(statement.operands[0], Load)
    return (
        statement.op.name in _SIMPLE
        and all(_is(dtype, 16) for dtype in (*statement.operand_dtypes, statement.dtype))
        and (not statement.op.name.endswith("_shift") or shift_of(statement) is not None)
    )
