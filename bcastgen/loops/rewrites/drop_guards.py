"""Saturation: floats that become integers, and extrema of floats, without looking at what is known of them.

In: a nest.  Out: one of the same results, bit for bit, with rows of :mod:`..proved_ops`.

    x : f32;  clip(rint(x * 20), -128, 127).astype(int8)  ->  truncate(rint(x * 20), -128, 127) : i32, then its low byte
    x : u8;   (x * 0.5 + 3).astype(uint8)                   ->   truncate_number_within(x * 0.5 + 3) : i32, its low byte

A cast of a float looks whether it is NaN and saturates: not where bounds (:mod:`.bounds`) prove that it is no NaN, or
in range. Where it is clipped first, saturating does this. An extremum looks for NaN, but not where one is proved a
number.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from ...core.dtypes import F32, F64, dtype
from ...core.frozen import dataclass
from ...expr.nodes import Constant
from ...ops.internal_rows import LARGER, SMALLER, TRUNCATE
from ..analysis.float_bounds import Bounds, bounds_of
from ..nest import Apply, Let, Nest, Value, rebuilt, users_of

__all__ = ["saturating"]

Users = Mapping[Value, Collection[int]]

_FLOATS = (F32, F64)
_I32 = dtype("i32")
_EXTREMA = {"minimum": SMALLER, "maximum": LARGER}


@dataclass(frozen=True, slots=True)
class _Ends:
    """What a value is raised and lowered to."""

    low: float
    high: float

    def after(self, low: float, high: float) -> _Ends:
        """Return the ends of what is raised and lowered to these first."""
        return _Ends(min(max(low, self.low), self.high), min(max(high, self.low), self.high))

    def holds(self, x: Bounds, slack: float = 0.0) -> bool:
        """Whether all between the bounds stays as it is, its whole part at least where there is a slack of 1."""
        inside = self.low <= x.low and x.high <= self.high
        return inside or (self.low - slack < x.low and x.high < self.high + slack)


def saturating(nest: Nest) -> Nest:
    """Return a nest whose casts to integers, and extrema, look at no more than they have to.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> kernel = from_text("(f32[?] x) -> clip(x * 20, -128, 127).astype(int8)")
    >>> for statement in saturating(kernel.compilation.program.nests[0]).body:
    ...     print(statement.op.name, statement.dtype)
    multiply f32
    truncate i32
    cast i8
    """
    wanted = {at for at, statement in enumerate(nest.body) if _is_truncated(statement) or _is_extremum(statement)}
    if not wanted:
        return nest
    bounds, users = bounds_of(nest), users_of(nest)
    made: dict[int, tuple[Apply, ...]] = {}
    for at in wanted:
        statement = nest.body[at]
        new = _truncated(nest, at, bounds, users) if _is_truncated(statement) else _extremum(statement, bounds)
        if new is not None:
            made[at] = new
    return rebuilt(nest, made) if made else nest


def _is_truncated(statement: Apply) -> bool:
    """Whether it casts a float to an integer of at most 32 bits."""
    source, target = statement.operand_dtypes[0], statement.dtype
    return statement.op.name == "cast" and source in _FLOATS and target.is_integer and target.bits <= 32


def _is_extremum(statement: Apply) -> bool:
    """Whether it is one of floats, for which its row has no form of its own."""
    return statement.op.name in _EXTREMA and statement.dtype in _FLOATS and statement.constant is None


def _bounds_of(value: Value, bounds: list[Bounds]) -> Bounds | None:
    match value:
        case Constant():
            return Bounds(float(value.value), float(value.value), value.value == value.value)
        case Let():
            return bounds[value.index]
    return None


def _extremum(statement: Apply, bounds: list[Bounds]) -> tuple[Apply, ...] | None:
    for number in (1, 0):
        known = _bounds_of(statement.operands[number], bounds)
        if known is not None and known.is_number:
            return (replace(statement, op=_EXTREMA[statement.op.name][number]),)
    return None


def _truncated(nest: Nest, at: int, bounds: list[Bounds], users: Users) -> tuple[Apply, ...] | None:
    """Return the statements for a cast."""
    cast = nest.body[at]
    source, target = cast.operand_dtypes[0], cast.dtype
    whole = _Ends(float(target.min), float(target.max))
    value, ends = _unclipped(nest, at, whole, users)
    x = _bounds_of(value, bounds) or Bounds(-float("inf"), float("inf"), False)
    # Of the dtype's own ends the fraction beyond them is cut off.
    outside = not ends.holds(x, 1.0 if ends == whole else 0.0)
    # What the row gives is an i32, and the largest one is no f32.
    if target.bits == 32 and (ends.high if outside else x.high) >= 2.0**31 - 1:
        return None
    nan = not x.is_number
    operands: tuple[Value, ...] = (value,)
    if outside:
        operands = (value, Constant(ends.low or -0.0, source), Constant(ends.high, source))
    row = TRUNCATE[nan, outside]
    truncate = Apply(row, operands, (source,) * len(operands), (), _I32)
    return (truncate,) if target is _I32 else (truncate, replace(cast, operands=(Let(-1),), operand_dtypes=(_I32,)))


def _unclipped(nest: Nest, at: int, whole: _Ends, users: Users) -> tuple[Value, _Ends]:
    """Return what is cast, without the clips before it that nobody else uses, and the ends of all."""
    value, ends, user = nest.body[at].operands[0], whole, at
    while isinstance(value, Let) and users[value] == {user}:
        statement = nest.body[value.index]
        clip = _clip(statement)
        if clip is None:
            break
        x, low, high = clip
        inner = ends.after(low, high)
        # What the row can do: the ends have different signs.
        if not inner.low <= 0 < inner.high:
            break
        user, value, ends = value.index, x, inner
    return value, ends


def _clip(statement: Apply) -> tuple[Value, float, float] | None:
    """Return what a statement raises and lowers, if it does, and to which constants."""
    first, *rest = statement.operands
    if statement.op.name not in ("clip", "minimum", "maximum") or statement.dtype not in _FLOATS:
        return None
    if statement.op.name != "clip" and isinstance(first, Constant):
        first, rest = rest[0], [first]
    numbers = [float(value.value) for value in rest if isinstance(value, Constant) and value.value == value.value]
    if isinstance(first, Constant) or len(numbers) < len(rest):
        return None
    match statement.op.name:
        case "clip":
            return (first, numbers[0], numbers[1]) if numbers[0] <= numbers[1] else None
        case "minimum":
            return first, -float("inf"), numbers[0]
    return first, numbers[0], float("inf")
