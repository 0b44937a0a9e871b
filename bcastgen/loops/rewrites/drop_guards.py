"""Dropping guards: casts of floats to integers, and extrema of floats, without the checks that cannot fail.

In: a nest.  Out: one of the same results, bit for bit, with rows of :mod:`...ops.internal_rows`.

    x : f32;  clip(rint(x * 20), -128, 127).astype(int8)  ->  truncate(rint(x * 20), -128, 127) : i32, then its low byte
    x : u8;   (x * 0.5 + 3).astype(uint8)                 ->  truncate_number_within(x * 0.5 + 3) : i32, its low byte

A cast of a float checks for NaN and saturates. The check is dropped where :mod:`..analysis.float_bounds` proves that
there is no NaN, and saturation where it proves the range; a clip before the cast is dropped because saturation does its
work. An extremum needs no check for NaN of an operand that is proved to be a number.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ...core.dtypes import F32, F64, dtype
from ...core.frozen import dataclass, replace
from ...expr.nodes import Constant
from ...ops.bounds import Bounds
from ...ops.internal_rows import OF_NUMBERS, TRUNCATE, TRUNCATE_FROM_ZERO
from ...ops.rows.conversions import CAST
from ..analysis.float_bounds import bounds_of
from ..nest import Let, Nest, Statement, Value, users_of
from .rebuilt import rebuilt

__all__ = ["drop_guards"]

Users = Mapping[Value, Collection[int]]

_FLOATS = (F32, F64)
_I32 = dtype("i32")


@dataclass(frozen=True, slots=True)
class _Ends:
    """The two numbers that a value is clipped to."""

    low: float
    high: float

    def after(self, low: float, high: float) -> _Ends:
        """Return the ends of a value that is clipped to `low` and `high` first, and then to these."""
        return _Ends(min(max(low, self.low), self.high), min(max(high, self.low), self.high))

    def holds(self, x: Bounds, slack: float = 0.0) -> bool:
        """Whether clipping changes no value within the bounds; with a slack of 1, no value's whole part."""
        inside = self.low <= x.low and x.high <= self.high
        return inside or (self.low - slack < x.low and x.high < self.high + slack)


def drop_guards(nest: Nest) -> tuple[Nest, tuple[str, ...]]:
    """Return a nest whose casts to integers and extrema check only what may fail, and a line for each that changed.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> kernel = from_text("(f32[?] x) -> clip(x * 20, -128, 127).astype(int8)")
    >>> for statement in drop_guards(kernel.compilation.program.nests[0])[0].body:
    ...     print(statement.op.name, statement.dtype)
    multiply f32
    truncate i32
    cast i8
    """
    wanted = {at for at, statement in enumerate(nest.body) if _is_truncated(statement) or _is_extremum(statement)}
    if not wanted:
        return nest, ()
    bounds, users = bounds_of(nest), users_of(nest)
    replacements: dict[int, tuple[Statement, ...]] = {}
    for at in sorted(wanted):
        statement = nest.body[at]
        new = _truncated(nest, at, bounds, users) if _is_truncated(statement) else _extremum(statement, bounds)
        if new is not None:
            replacements[at] = new
    notes = (_note(nest, at, new[0], bounds) for at, new in replacements.items())
    return (rebuilt(nest, replacements) if replacements else nest), tuple(notes)


def _note(nest: Nest, at: int, new: Statement, bounds: list[Bounds]) -> str:
    """Return the line that says which statement replaces another, and why it may."""
    x = _bounds_of(new.operands[0], bounds)
    became = f"t{at} is {nest.spell(new)} instead of {nest.spell(nest.body[at])}"
    if new.op in (TRUNCATE[True, True], TRUNCATE[False, True], TRUNCATE_FROM_ZERO):
        return f"{became}: the conversion clips, so no clip or check of its range is needed" + (
            ", nor of NaN, which it never is" if new.op is TRUNCATE[False, True] else "; NaN still gives 0"
        )
    if x is not None and new.op in TRUNCATE.values():
        nan = "" if x.is_number else " or NaN"
        return f"{became}: it is in [{x.low:g}, {x.high:g}]{nan}, so its range needs no check"
    return f"{became}: this operand is never NaN"


def _is_truncated(statement: Statement) -> bool:
    """Whether a statement casts an f32 or f64 to an integer of at most 32 bits."""
    source, target = statement.operand_dtypes[0], statement.dtype
    known = target.is_integer and target.bits <= 32 and not target.is_storage
    return statement.op is CAST and source in _FLOATS and known


def _is_extremum(statement: Statement) -> bool:
    """Whether a statement is an extremum of floats whose last operand is no constant, for which its row has a form."""
    return statement.op.name in OF_NUMBERS and statement.dtype in _FLOATS and statement.constant is None


def _bounds_of(value: Value, bounds: list[Bounds]) -> Bounds | None:
    match value:
        case Constant():
            return Bounds(float(value.value), float(value.value), value.value == value.value)
        case Let():
            return bounds[value.index]
    return None


def _extremum(statement: Statement, bounds: list[Bounds]) -> tuple[Statement, ...] | None:
    for number in (1, 0):
        known = _bounds_of(statement.operands[number], bounds)
        if known is not None and known.is_number:
            return (replace(statement, op=OF_NUMBERS[statement.op.name][number]),)
    return None


def _truncated(nest: Nest, at: int, bounds: list[Bounds], users: Users) -> tuple[Statement, ...] | None:
    """Return the statements that replace a cast, or None if it has to stay."""
    cast = nest.body[at]
    source, target = cast.operand_dtypes[0], cast.dtype
    whole = _Ends(float(target.min), float(target.max))
    value, ends = _unclipped(nest, at, whole, users)
    x = _bounds_of(value, bounds) or Bounds(-float("inf"), float("inf"), False)
    # Truncation cuts off a fraction beyond the dtype's own ends.
    outside = not ends.holds(x, 1.0 if ends == whole else 0.0)
    # The row returns an i32, and f32 cannot represent the largest i32.
    if target.bits == 32 and (ends.high if outside else x.high) >= 2.0**31 - 1:
        return None
    nan = not x.is_number
    operands: tuple[Value, ...] = (value,)
    if outside:
        operands = (value, Constant(ends.low or -0.0, source), Constant(ends.high, source))
    row = TRUNCATE[nan, outside]
    if nan and outside and ends.low == 0:
        row, operands = TRUNCATE_FROM_ZERO, (value, operands[2])
    truncate = Statement(row, operands, (source,) * len(operands), (), _I32)
    return (truncate,) if target is _I32 else (truncate, replace(cast, operands=(Let(-1),), operand_dtypes=(_I32,)))


def _unclipped(nest: Nest, at: int, whole: _Ends, users: Users) -> tuple[Value, _Ends]:
    """Return the value to cast, without the clips before the cast that nothing else uses, and the ends of them all."""
    value, ends, user = nest.body[at].operands[0], whole, at
    while isinstance(value, Let) and users[value] == {user}:
        statement = nest.body[value.index]
        clip = _clip(statement)
        if clip is None:
            break
        x, low, high = clip
        inner = ends.after(low, high)
        # The row needs a low end of at most 0 and a high end above 0.
        if not inner.low <= 0 < inner.high:
            break
        user, value, ends = value.index, x, inner
    return value, ends


def _clip(statement: Statement) -> tuple[Value, float, float] | None:
    """Return the value that a statement clips, with the constants it clips to; None if it is no such clip."""
    first, *rest = statement.operands
    if not statement.op.clamps or statement.dtype not in _FLOATS:
        return None
    if len(rest) == 1 and isinstance(first, Constant):
        first, rest = rest[0], [first]
    numbers = [float(value.value) for value in rest if isinstance(value, Constant) and value.value == value.value]
    if isinstance(first, Constant) or len(numbers) < len(rest):
        return None
    ends = dict(zip(statement.op.clamps, numbers, strict=True))
    low, high = ends.get("low", -float("inf")), ends.get("high", float("inf"))
    return (first, low, high) if low <= high else None
