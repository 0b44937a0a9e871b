"""Sums of integers that are made wider first: as floats that hold them exactly, or to be clipped to their range again.

In: a nest.  Out: one of the same results, bit for bit.

    x, z : i8;   x.astype(f32) - z.astype(f32)                         ->   (x.astype(i32) - z.astype(i32)).astype(f32)
    x, y : i16;  clip(x.astype(i32) + y.astype(i32), -32768, 32767)    ->   saturating_add(x, y).astype(i32)

Of the first, one conversion of two is saved; how narrow the integers may be is for :mod:`.narrow` to say. Products are
left alone: of floats, 0 times a negative number is -0.0, while a sum of zeros that integers become has no sign. Of the
second nothing is widened: a sum that saturates is computed in the lanes of what it adds.
"""

from __future__ import annotations

from dataclasses import replace

from ...core.dtypes import F32, F64, DType, dtype
from ...expr.nodes import Constant
from ...ops.internal_rows import SATURATING
from ...ops.table import OPS
from ..analysis.integer_ranges import RANGES, Range, ranges_of, whole
from ..nest import Apply, Let, Nest, Value, rebuilt, users_of

__all__ = ["with_integer_sums", "with_saturating_sums"]

_SUMS = frozenset(("add", "subtract"))
# All integers of so many bits are floats of these bits. Machines turn no wider ones than i32 into floats as fast.
_DIGITS = {F32: 24, F64: 31}
_I32 = dtype("i32")
_SATURATING = {(kind.min, kind.max): kind for kind in map(dtype, ("i8", "i16", "i32"))}


def with_integer_sums(nest: Nest) -> Nest:
    """Return a nest that adds and subtracts what it makes floats of, not these.

    Examples
    --------
    >>> from bcastgen import from_text
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


def with_saturating_sums(nest: Nest) -> Nest:
    """Return a nest in which sums that are clipped to the range of what they add saturate instead.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> kernel = from_text("(i16[?] x, i16[?] y) -> clip(x.astype(i32) - y, -32768, 32767)")
    >>> for statement in with_saturating_sums(kernel.compilation.program.nests[0]).body:
    ...     print(statement.op.name, statement.dtype)
    saturating_subtract i16
    cast i32
    """
    found = {at: _saturated(nest, at) for at, s in enumerate(nest.body) if s.op.name == "clip" and s.dtype.is_integer}
    made = {at: statements for at, statements in found.items() if statements}
    return rebuilt(nest, made) if made else nest


def _saturated(nest: Nest, at: int) -> tuple[Apply, ...]:
    """Return what stands for a clip of a sum, if it is one to the range of what is added."""
    value, *ends = nest.body[at].operands
    numbers = [int(end.value) for end in ends if isinstance(end, Constant)]
    kind = _SATURATING.get((numbers[0], numbers[1])) if len(numbers) == 2 else None
    if kind is None or not isinstance(value, Let) or nest.body[value.index].op.name not in _SUMS:
        return ()
    total, wide = nest.body[value.index], nest.body[at].dtype
    summands = [_widened(nest, summand, kind) for summand in total.operands]
    # A sum in the dtype itself has wrapped before.
    if wide.bits <= kind.bits or total.dtype is not wide or None in summands:
        return ()
    values = tuple(summand for summand in summands if summand is not None)
    sum_ = Apply(SATURATING[total.op.name], values, (kind, kind), (), kind)
    return sum_, Apply(OPS["cast"], (Let(-1),), (kind,), (("dtype", wide),), wide)


def _widened(nest: Nest, value: Value, kind: DType) -> Value | None:
    """Return what a value is a cast of, if that has a dtype."""
    if not isinstance(value, Let):
        return None
    cast = nest.body[value.index]
    return cast.operands[0] if cast.op.name == "cast" and cast.operand_dtypes[0] is kind else None


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
