"""Strength reduction: divisions of integers by powers of two as shifts and masks.

In: a nest.  Out: one of the same results, bit for bit, whose integers are shifted and masked instead of divided.

    a // 8, a % 8 : u16   ->   a >> 3, a & 7

Compilers do this too, but not everywhere: gcc does not vectorise the loop of an unsigned quotient, which is then ten
times as slow. All of them do it for floats, whose divisions stay as they are; only their cost is that of a product.
"""

from __future__ import annotations

from math import frexp

from ...core.frozen import replace
from ...expr.nodes import Constant
from ...ops.table import OPS
from ..nest import Nest, Statement
from .rebuilt import rebuilt

__all__ = ["strength_reduction", "without_division"]

# The largest exponent of a power of two whose reciprocal is a normal number of the dtype, by the dtype's bits.
_MOST_EXPONENT = {32: 126, 64: 1022}


def strength_reduction(nest: Nest) -> tuple[Nest, tuple[str, ...]]:
    """Return a nest in which no integer is divided by a constant power of two, and a line for each that was.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> strength_reduction(from_text("(u8[?] a) -> a // 8").compilation.program.nests[0])[1]
    ('t0 is right_shift(a, 3:u8) instead of floor_divide(a, 8:u8)',)
    """
    replacements: dict[int, tuple[Statement, ...]] = {}
    notes: list[str] = []
    for at, statement in enumerate(nest.body):
        new = statement if statement.dtype.is_float else without_division(statement)
        if new is not statement:
            replacements[at] = (new,)
            notes.append(f"t{at} is {nest.spell(new)} instead of {nest.spell(statement)}")
    return (rebuilt(nest, replacements) if replacements else nest), tuple(notes)


def without_division(statement: Statement) -> Statement:
    """Return the statement that replaces a division by a constant power of two; any other statement as it is.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> nest = from_text("(u8[?] a) -> a // 8").compilation.program.nests[0]
    >>> without_division(nest.body[0]).op.name
    'right_shift'
    """
    value, own = statement.constant, statement.operand_dtypes[-1]
    if value is None or isinstance(value, bool) or not value:
        return statement
    bits = int(value).bit_length() - 1 if own.is_integer and value > 0 else 0
    is_power = own.is_integer and value == 1 << bits
    match statement.op.by_power_of_two:
        case name, "exponent" if is_power:
            return _with(statement, name, bits)
        case name, "mask" if is_power:
            return _with(statement, name, int(value) - 1)
        case name, "inverse" if own.is_float:
            part, exponent = frexp(value)
            if abs(part) == 0.5 and abs(exponent) <= _MOST_EXPONENT[own.computed_in.bits]:
                return _with(statement, name, 1.0 / value)
    return statement


def _with(statement: Statement, name: str, value: float) -> Statement:
    constant = Constant(value, statement.operand_dtypes[-1])
    return replace(statement, op=OPS[name], operands=(*statement.operands[:-1], constant))
