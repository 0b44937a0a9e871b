"""Lane width: whether a nest computes all in lanes of one width, into which narrower operands are widened.

In: a nest.  Out: the bits of a lane; 0 where there is none for all.

    a : u8, s : f32;  a.astype(f32) * s            ->   32: of all numbers, only a's are widened
    a : i32, b : f32;  a.astype(f64) * b           ->   64
    a : u8;  (a.astype(u16) + 1 >> 1).astype(u8)   ->   0
"""

from __future__ import annotations

from ...core.dtypes import F32, F64, I32, DType
from ...ops.rows.conversions import CAST
from ..nest import Load, Nest, Statement
from .demanded_bits import shift_of

__all__ = ["is_cheap", "is_widened", "lane_bits"]

# A loop's statements occur in it twice, so long bodies take the compiler too long.
_MAX_STATEMENTS = 24


def is_widened(dtype: DType, bits: int) -> bool:
    """Whether one instruction makes lanes of so many bits of a vector of these numbers.

    Lanes of 32 bits are made of integers, those of 64 are doubles.

    Examples
    --------
    >>> from bcastgen.core.dtypes import F32, I32, dtype
    >>> is_widened(dtype("u8"), 32), is_widened(I32, 64), is_widened(F32, 64), is_widened(dtype("u32"), 64)
    (True, True, True, False)
    """
    if dtype.is_integer and dtype.bits in (8, 16):
        return bits > dtype.bits
    return bits == 64 and dtype in (I32, F32)


def lane_bits(nest: Nest) -> int:
    """Return the bits of the lanes that a nest computes in if operands are widened as they are read; 0 for none.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> lane_bits(from_text("(u8[?] a, f32[?] b) -> a.astype(f32) * b").compilation.program.nests[0])
    32
    """
    widths = {access.dtype.bits for access in nest.results}
    bits = min(widths, default=0)
    if len(widths) != 1 or bits not in (32, 64) or len(nest.body) > _MAX_STATEMENTS:
        return 0
    operands = [access.dtype for access in nest.operands]
    narrow = [is_widened(dtype, bits) for dtype in operands]
    rest = [dtype for dtype, widens in zip(operands, narrow, strict=True) if not widens]
    fit = all(_is_lane(dtype, bits) for dtype in (*rest, *(access.dtype for access in nest.results)))
    return bits if any(narrow) and fit and all(_stays(statement, bits) for statement in nest.body) else 0


def _stays(statement: Statement, bits: int) -> bool:
    """Whether a statement widens an operand, or computes in lanes of so many bits what vectors can."""
    source, target = statement.operand_dtypes[0], statement.dtype
    if not _is_lane(target, bits):
        return False
    if statement.op is CAST:
        widens = is_widened(source, bits) and isinstance(statement.operands[0], Load)
        return widens or (source is I32 and target is F32)
    return all(_is_lane(dtype, bits) for dtype in statement.operand_dtypes) and is_cheap(statement)


def is_cheap(statement: Statement) -> bool:
    """Whether a statement is as cheap in lanes as any other: no function, nor a shift by what is in arrays."""
    if statement.operand_dtypes[0].is_float:
        return statement.op.floats.in_words
    facts = statement.op.integers
    return facts.in_words and (not facts.shifts or shift_of(statement) is not None)


def _is_lane(dtype: DType, bits: int) -> bool:
    """Whether numbers of a dtype are lanes of so many bits: all of 32, and doubles."""
    return dtype is F64 if bits == 64 else dtype is F32 or (dtype.is_integer and dtype.bits == 32)
