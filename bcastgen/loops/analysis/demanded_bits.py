"""Demanded bits: how many low bits of each integer in a nest the results depend on.

In: a nest.  Out: a number of bits for each statement; all bits of its dtype where the whole value counts.

    a, b : i32;  ((a + b) & 255).astype(uint8)   ->   8 of the sum, 8 of the mask, 8 of what is stored

Sums, products and bitwise ops need no more bits of their operands than count of the result. A mask needs only its own
bits; a right shift needs as many more bits as it drops.
"""

from __future__ import annotations

from ...expr.nodes import Constant
from ..nest import Let, Nest, Statement

__all__ = ["demanded_bits", "mask_bits", "operand_bits", "shift_of"]


def demanded_bits(nest: Nest) -> list[int]:
    """Return how many low bits of each statement's value count; all bits of its dtype stand for the whole value.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> demanded_bits(from_text("(i32[?] a, i32[?] b) -> (a + b) & 255").compilation.program.nests[0])
    [8, 32]
    """
    counts = [0] * len(nest.body)
    for value, access in zip(nest.stores, nest.results, strict=True):
        if isinstance(value, Let):
            counts[value.index] = access.dtype.bits
    for at in range(len(counts) - 1, -1, -1):
        statement = nest.body[at]
        for place, value in enumerate(statement.operands):
            if isinstance(value, Let):
                counts[value.index] = max(counts[value.index], operand_bits(statement, place, counts[at]))
    return counts


def operand_bits(statement: Statement, place: int, count: int) -> int:
    """Return how many low bits of an operand the low `count` bits of the result depend on."""
    dtype, demanded = statement.operand_dtypes[place], statement.op.integers.demanded
    every = dtype.bits
    if not demanded or not (dtype.is_integer and statement.dtype.is_integer):
        return every
    if not statement.op.integers.shifts:
        return min(count, every, mask_bits(statement, every))
    shift = shift_of(statement)
    if shift is None or place == 1:
        return every
    if demanded == "left":
        return max(1, min(count, every) - shift)
    return min(every, count + shift) if count < every else every


def mask_bits(statement: Statement, bits: int) -> int:
    """Return how many low bits a statement's constant mask leaves, at least one; `bits` if it has no such mask."""
    if statement.op.integers.demanded != "mask":
        return bits
    masks = [int(value.value) for value in statement.operands if isinstance(value, Constant)]
    return max(1, min((mask.bit_length() for mask in masks if mask >= 0), default=bits))


def shift_of(statement: Statement) -> int | None:
    """Return the count of a shift if it is a constant from 0 to 63, else None."""
    if not statement.op.integers.shifts:
        return None
    value = statement.operands[1]
    return int(value.value) if isinstance(value, Constant) and 0 <= value.value < 64 else None
