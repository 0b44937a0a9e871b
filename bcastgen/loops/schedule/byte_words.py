"""Words: bytes that are computed with in 16 or 32 bits, as many at a time as such a word has.

In: a nest.  Out: :class:`Words`: what is computed of each byte, and what is stored of it; None where that is no gain.

    (a.astype(u16) * w.astype(u16) >> 8).astype(uint8)   ->   of word & 255, then of word >> 8, in u16; low | high << 8
    (a * f32(0.5) + f32(3)).astype(uint8)             ->   of four bytes, each as a float; their whole parts in one word
    a * f32(0.5) + f32(3)                             ->   of four bytes that stand 16 apart: their floats are adjacent

A compiler that widens vectors of bytes takes them apart, and puts the results together again, by shuffles; the bytes
of a word cost an operation each, as cheap as any. It is worth it only where every statement stands in so many bits:
what is left in bytes would be widened, and what is wider taken apart all the same. Where results have 32 bits, the
bytes of a word are to stand as far apart as a vector is long: 64 bytes are turned first, by one shuffle. Operands of 32
bits have to stand still then: those that move take as long to read as bytes to widen.
"""

from __future__ import annotations

from ...core.dtypes import DType
from ...core.frozen import dataclass
from ..analysis.demanded_bits import LOW, shift_of
from ..nest import Apply, Let, Load, Nest, Value

__all__ = ["Words", "words_of"]

_WIDTHS = (16, 32)
# As cheap in C for integers of these bits, and for floats, as any operation of a vector.
_EXTREMA = frozenset(f"{name}{of}" for name in ("minimum", "maximum") for of in ("", "_number_0", "_number_1"))
_OF_INTEGERS = LOW - {"floor", "ceil", "trunc", "positive"} | _EXTREMA | {"absolute", "right_shift"}
_OF_FLOATS = _EXTREMA | frozenset(
    "add subtract multiply divide square sqrt absolute negative clip rint "
    "truncate truncate_number truncate_within truncate_number_within".split()
)
# Each statement stands in the loop once for every byte, which takes the compiler longer.
_MOST = 24


@dataclass(frozen=True, slots=True)
class Words:
    """The bits of a word, what is computed of each of its bytes, and of which values the low bits are the results'.

    If they are `turned`, results are these values themselves, and operands of 32 bits stand still.
    """

    bits: int
    statements: frozenset[int]
    stores: tuple[Value, ...]
    turned: bool = False


def words_of(nest: Nest) -> Words | None:
    """Return how a nest is computed in words, or None.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> kernel = from_text("(u8[?] a, u8[?] b) -> ((a.astype(u16) + b) >> 1).astype(uint8)")
    >>> words_of(kernel.compilation.program.nests[0]).bits
    16
    """
    kinds = {access.dtype for access in nest.operands}
    if len(nest.body) > _MOST or not any(map(_is_byte, kinds)):
        return None
    if all(_is_of(access.dtype, 32) for access in nest.results):
        fit = all(_is_byte(dtype) or _is_of(dtype, 32) for dtype in kinds)
        simple = fit and all(_is_simple(statement, 32) for statement in nest.body)
        return Words(32, frozenset(range(len(nest.body))), nest.stores, turned=True) if simple else None
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
            return Words(bits, statements, tuple(stores))
    return None


def _is_byte(dtype: DType) -> bool:
    return dtype.is_integer and dtype.bits == 8


def _narrows(statement: Apply, bits: int) -> bool:
    """Whether a statement makes a byte of an integer."""
    source = statement.operand_dtypes[0]
    return statement.op.name == "cast" and source.is_integer and source.bits == bits and _is_byte(statement.dtype)


def _is_simple(statement: Apply, bits: int) -> bool:
    """Whether a statement widens an operand's byte, or is a simple one in so many bits."""
    source, target = statement.operand_dtypes[0], statement.dtype
    if statement.op.name == "cast" and _is_byte(source):
        return isinstance(statement.operands[0], Load) and _is_of(target, bits)
    if not all(_is_of(dtype, bits) for dtype in (*statement.operand_dtypes, target)):
        return False
    if source.is_float:
        return statement.op.name in _OF_FLOATS
    shifts = statement.op.name.endswith("_shift")
    return statement.op.name in _OF_INTEGERS and (not shifts or shift_of(statement) is not None)


def _is_of(dtype: DType, bits: int) -> bool:
    """Whether it is of so many bits, in memory as in C."""
    return dtype.kind != "bool" and dtype.bits == bits and not dtype.is_float16
