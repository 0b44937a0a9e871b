"""Sums of integers as floats: where the float holds them all exactly, sums of the integers, then made floats.

In: a nest.  Out: one of the same results, bit for bit.

    x, z : i8;  x.astype(f32) - z.astype(f32)   ->   (x.astype(i32) - z.astype(i32)).astype(f32)

One conversion of two is saved; how narrow the integers may be is for :mod:`.narrow` to say. Products are left alone: of
floats, 0 times a negative number is -0.0, while a sum of zeros that integers become has no sign.
"""

from __future__ import annotations

from dataclasses import replace

from ..dtypes import F32, F64, DType, dtype
from ..expr.nodes import Constant
from ..ops import OPS
from .nest import Apply, Let, Nest, Value, users_of
from .ranges import RANGES, Range, ranges_of, whole

__all__ = ["with_integer_sums"]

_SUMS = frozenset(("add", "subtract"))
# All integers of so many bits are floats of these bits. Machines turn no wider ones than i32 into floats as fast.
_DIGITS = {F32: 24, F64: 31}
_I32 = dtype("i32")


def with_integer_sums(nest: Nest) -> Nest:
    """Return a nest that adds and subtracts what it makes floats of, not these.

    Examples
    --------
    >>> from ..api import from_text
    >>> kernel = from_text("(i8[?] x, i8[?] z) -> x.astype(f32) - z.astype(f32)")
    >>> for statement in with_integer_sums(kernel.compilation.program.nests[0]).body:
    ...     print(statement.op.name, statement.dtype)
    cast i32
    cast i32
    subtract i32
    cast f32
    """
    sums = _sums(nest)
    if not sums:
        return nest
    gone = {value for at in sums for value in nest.body[at].operands}
    body: list[Apply] = []
    places: dict[Value, Value] = {}

    def append(statement: Apply) -> Value:
        body.append(statement)
        return Let(len(body) - 1)

    def cast(value: Value, source: DType, target: DType) -> Value:
        return append(Apply(OPS["cast"], (value,), (source,), (("dtype", target),), target))

    def now(value: Value) -> Value:
        return places.get(value, value)

    for at, statement in enumerate(nest.body):
        if at in sums:
            casts = [nest.body[value.index] for value in statement.operands if isinstance(value, Let)]
            summands = tuple(cast(now(one.operands[0]), one.operand_dtypes[0], _I32) for one in casts)
            total = append(replace(statement, operands=summands, operand_dtypes=(_I32, _I32), dtype=_I32))
            places[Let(at)] = cast(total, _I32, statement.dtype)
        elif Let(at) not in gone:
            places[Let(at)] = append(replace(statement, operands=tuple(map(now, statement.operands))))
    return replace(nest, body=tuple(body), stores=tuple(map(now, nest.stores)))


def _sums(nest: Nest) -> set[int]:
    """Return which statements add two casts that nothing else uses, of integers whose sum the float holds."""
    users, ranges = users_of(nest), ranges_of(nest)

    def between(value: Value, user: int) -> Range | None:
        """Return what the integer lies between whose cast a value is, if that is for this user alone."""
        if not isinstance(value, Let) or users[value] != {user}:
            return None
        cast = nest.body[value.index]
        source = cast.operands[0]
        if cast.op.name != "cast" or not cast.operand_dtypes[0].is_integer or isinstance(source, Constant):
            return None
        return (ranges[source.index] if isinstance(source, Let) else None) or whole(cast.operand_dtypes[0])

    def is_exact(at: int) -> bool:
        statement = nest.body[at]
        x, y = (between(value, at) for value in statement.operands)
        if x is None or y is None or statement.operands[0] == statement.operands[1]:
            return False
        total, most = RANGES[statement.op.name](x, y), (1 << _DIGITS[statement.dtype]) - 1
        return total is not None and all(-most <= low and high <= most for low, high in (x, y, total))

    of_floats = (at for at, s in enumerate(nest.body) if s.op.name in _SUMS and s.dtype in _DIGITS)
    return {at for at in of_floats if is_exact(at)}
