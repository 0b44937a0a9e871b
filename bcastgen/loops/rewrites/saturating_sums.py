"""Saturating sums: replace sums of widened integers that are then clipped to the range of the narrow dtype.

In: a nest.  Out: one of the same results, bit for bit, that does not widen: machines have saturating sums.

    x, y : i16;  clip(x.astype(i32) + y.astype(i32), -32768, 32767)   ->   saturating_add(x, y).astype(i32)
"""

from __future__ import annotations

from ...core.dtypes import DType, dtype
from ...expr.nodes import Constant
from ...ops.internal_rows import SATURATING
from ...ops.rows.conversions import CAST
from ..nest import Let, Nest, Statement, Value
from .rebuilt import cast_of, rebuilt

__all__ = ["saturating_sums"]

_KINDS = {(kind.min, kind.max): kind for kind in map(dtype, ("i8", "i16", "i32"))}


def saturating_sums(nest: Nest) -> tuple[Nest, tuple[str, ...]]:
    """Return a nest in which sums that are clipped to their summands' dtype saturate instead, and a line for each.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> kernel = from_text("(i16[?] x, i16[?] y) -> clip(x.astype(i32) - y, -32768, 32767)")
    >>> for statement in saturating_sums(kernel.compilation.program.nests[0])[0].body:
    ...     print(statement.op.name, statement.dtype)
    saturating_subtract i16
    cast i32
    """
    clips = (at for at, s in enumerate(nest.body) if s.op.clamps == ("low", "high") and s.dtype.is_integer)
    replacements = {at: pair for at in clips if (pair := _saturated(nest, at)) is not None}
    notes = (
        f"t{at} is {nest.spell(first)} of {first.dtype} instead of {nest.spell(nest.body[at])}"
        for at, (first, _) in replacements.items()
    )
    return (rebuilt(nest, replacements) if replacements else nest), tuple(notes)


def _saturated(nest: Nest, at: int) -> tuple[Statement, Statement] | None:
    """Return the saturating sum and the cast that replace a clip of a sum, or None if it stays."""
    value, *ends = nest.body[at].operands
    numbers = [int(end.value) for end in ends if isinstance(end, Constant)]
    kind = _KINDS.get((numbers[0], numbers[1])) if len(numbers) == 2 else None
    if kind is None or not isinstance(value, Let) or nest.body[value.index].op.name not in SATURATING:
        return None
    total, wide = nest.body[value.index], nest.body[at].dtype
    summands = [_widened(nest, summand, kind) for summand in total.operands]
    # A sum in the narrow dtype itself wraps before it is clipped.
    if wide.bits <= kind.bits or total.dtype is not wide or None in summands:
        return None
    values = tuple(summand for summand in summands if summand is not None)
    sum_ = Statement(SATURATING[total.op.name], values, (kind, kind), (), kind)
    return sum_, cast_of(Let(-1), kind, wide)


def _widened(nest: Nest, value: Value, kind: DType) -> Value | None:
    """Return the value that a value is cast from, if it has the dtype `kind`, else None."""
    if not isinstance(value, Let):
        return None
    cast = nest.body[value.index]
    return cast.operands[0] if cast.op is CAST and cast.operand_dtypes[0] is kind else None
