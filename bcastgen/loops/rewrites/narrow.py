"""Narrowing: computes integer statements in the narrowest dtypes that their values, or the bits that count, allow.

In: a nest.  Out: one of the same results, bit for bit, and a line for each statement that became narrower.

    a, b, w : u8;  ((a.astype(i32)*w + b.astype(i32)*(255 - w)) >> 8).astype(uint8)  ->  in u16, twice the lanes of i32

Either of two reasons is enough. The narrow dtype holds the value's range (:mod:`..analysis.integer_ranges`). Or only
the value's low bits count (:mod:`..analysis.demanded_bits`), because a narrow dtype is stored in the end: low bits of
sums, products and bitwise ops depend on no higher bits of the operands. Operands of a wide dtype are not narrowed,
because that would add a conversion. A value stays wide if other users need it wide and its operands are wide anyway.
It also stays wide if a comparison of wide numbers selects it and no narrow operand is read for it: a mask has as many
lanes as the vectors that were compared, so a vector of narrow values would need several masks. And a few ops stay wide
where all lanes of a nest are (:mod:`..analysis.lane_width`): its operands are widened as they are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...core.dtypes import BOOL, COMPUTED, DType
from ...core.frozen import dataclass, replace
from ...expr.nodes import Constant
from ...ops.ranges import Range, range_of
from ...ops.rows.conversions import CAST
from ..analysis.demanded_bits import demanded_bits, mask_bits, shift_of
from ..analysis.integer_ranges import fits, ranges_of, whole
from ..analysis.lane_width import lane_bits
from ..nest import Let, Load, Nest, Statement, Value, users_of
from .rebuilt import BodyBuilder

__all__ = ["narrow"]

_WIDTHS = (8, 16, 32, 64)
_INTEGERS = {(row.kind, row.bits): row for row in COMPUTED if row.is_integer}
# So many ops on integers gain more in narrow lanes than it takes to widen their result.
_WORTH = 4
# The number of right low bits of a new value that equals the old one in full.
_EXACT = 1 << 16


@dataclass(frozen=True, slots=True)
class _Made:
    """The new value in an old one's place: its lowest `low` bits equal the old one's.

    `moves` is False if it is one value for all points; `lane` has the bits of the widest numbers that a bool compares.
    """

    value: Value
    dtype: DType
    low: int
    moves: bool
    lane: int = 0

    @property
    def width(self) -> int:
        """The bits of a vector lane that it needs: none if it is one value for all points."""
        return self.dtype.bits if self.moves else 0


def narrow(nest: Nest) -> tuple[Nest, tuple[str, ...]]:
    r"""Return a nest with its integer statements in the narrowest dtypes that change no result, and a line for each.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> kernel = from_text("(u8[?] a, u8[?] b) -> ((a.astype(i32) + b) >> 1).astype(uint8)")
    >>> print(*narrow(kernel.compilation.program.nests[0])[1], sep="\n")
    t2 is computed in i16, not i32: it is in [0, 510]
    t3 is computed in i16, not i32: it and its operands are in [0, 510]
    """
    return _Narrowing(nest).run() if _is_wide(nest) and not _stays(nest) else (nest, ())


def _stays(nest: Nest) -> bool:
    """Whether a nest has few ops on integers, and reads operands into lanes as wide as its results."""
    ops = sum(statement.op is not CAST and statement.dtype.is_integer for statement in nest.body)
    return ops < _WORTH and lane_bits(nest) > 0


def _is_wide(nest: Nest) -> bool:
    return any(d.is_integer and d.bits > 8 for statement in nest.body for d in statement.operand_dtypes)


class _Narrowing:
    """One run over a nest: `made` has the new value for each statement so far, `body` is the new body."""

    def __init__(self, nest: Nest) -> None:
        self.nest = nest
        self.ranges = ranges_of(nest)
        self.counts = demanded_bits(nest)
        self.users = users_of(nest)
        self.reads = _narrowest_reads(nest)
        self.made: list[_Made] = []
        self.body = BodyBuilder()
        self.changed = False
        self.notes: list[str] = []

    def run(self) -> tuple[Nest, tuple[str, ...]]:
        for at, statement in enumerate(self.nest.body):
            self.made.append(self._make(at, statement))
        pairs = zip(self.nest.stores, self.nest.results, strict=True)
        stores = tuple(self._as(value, access.dtype) for value, access in pairs)
        body = tuple(self.body.statements)
        dropped = len(self.nest.body) - len(body)
        if dropped > 0:
            casts = "1 cast is" if dropped == 1 else f"{dropped} casts are"
            self.notes.append(f"{casts} dropped, as nothing needs the dtype in between")
        changed = self.changed or dropped > 0
        return (replace(self.nest, body=body, stores=stores) if changed else self.nest), tuple(self.notes)

    def _make(self, at: int, statement: Statement) -> _Made:
        """Append the statements that replace one, and return their value."""
        op, facts = statement.op, statement.op.integers
        if op is CAST:
            return self._cast(at, statement)
        integers = all(dtype.is_integer for dtype in statement.operand_dtypes[op.selects :])
        if integers and (not facts.shifts or shift_of(statement) is not None):
            if facts.demanded in ("low", "mask", "left"):
                return self._low(at, statement)
            if facts.any_width:
                return self._value(at, statement)
        return self._apply(statement, statement.operand_dtypes, statement.dtype)

    def _cast(self, at: int, statement: Statement) -> _Made:
        """Rebuild a cast: leave it out if the value fits the target, or if no result depends on the bits it drops."""
        (value,), (source,), target = statement.operands, statement.operand_dtypes, statement.dtype
        stays = source.is_inexact or source.is_storage or target.is_float16 or target.is_storage
        if isinstance(value, Constant) or stays:
            return self._apply(statement, (source,), target)
        given = self._given(value, source)
        if source is BOOL and target.is_integer:
            return self._apply(statement, (BOOL,), _INTEGERS[target.kind, max(8, self._lane(at, value, target))])
        if not target.is_integer or source is BOOL:
            range_ = self._range(value, source)
            return self._apply(statement, (given.dtype,), target, why=f"it is in [{range_[0]}, {range_[1]}]")
        if given.low == _EXACT and target.bits >= given.dtype.bits and fits(self._range(value, source), target):
            return given
        if given.low >= target.bits and (target.bits < given.dtype.bits or self.counts[at] >= target.bits):
            return _Made(self._as(value, target), target, _EXACT, given.moves)
        return replace(given, low=min(given.low, target.bits))

    def _low(self, at: int, statement: Statement) -> _Made:
        """Make a statement that needs only the low bits of its operands."""
        first, own, range_ = int(statement.op.selects), statement.dtype, self._range(Let(at), statement.dtype)
        given = [self._given(value, own) for value in statement.operands[first:]]
        low, bits = min(one.low for one in given), max(one.width for one in given)
        if statement.op.integers.demanded == "left":
            low += shift_of(statement) or 0
        if low >= mask_bits(statement, own.bits):
            low = _EXACT
        bits = max(bits, min(_width_of(range_), _at_least(self.counts[at])))
        if first:
            bits = max(bits, self._lane(at, statement.operands[0], own))
        narrow, most = own, own.bits
        if low == _EXACT and not self._wraps(statement):
            most = max(_WIDTHS)
        bits = self._in_company(at, bits, most)
        if bits != own.bits:
            like = _kind_of(given, bits, own)
            bits_only = like if like.bits == bits else _INTEGERS["unsigned", bits]
            narrow = (_fitting(range_, bits, like) if low >= bits else None) or bits_only
        exact = low >= narrow.bits and fits(range_, narrow)
        dtypes = (*statement.operand_dtypes[:first], *(narrow,) * len(given))
        why = f"it is in [{range_[0]}, {range_[1]}]" if exact else f"its low {self.counts[at]} bits count"
        return self._apply(statement, dtypes, narrow, _EXACT if exact else min(low, narrow.bits), why)

    def _value(self, at: int, statement: Statement) -> _Made:
        """Make a statement that needs its operands' exact values; a right shift may need only their low bits."""
        pairs = list(zip(statement.operands, statement.operand_dtypes, strict=True))
        given = [self._given(value, dtype) for value, dtype in pairs]
        own, count = statement.operand_dtypes[0], shift_of(statement)
        if count is not None and given[0].low < _EXACT:
            narrow, why = given[0].dtype, f"its low {self.counts[at]} bits count"
            return self._apply(statement, (narrow, narrow), narrow, given[0].low - count, why)
        # A shift's count fits any dtype, so its range is left out.
        ranges = [self._range(value, dtype) for value, dtype in (pairs if count is None else pairs[:1])]
        if statement.dtype.is_integer:
            ranges.append(self._range(Let(at), statement.dtype))
        span = min(low for low, _ in ranges), max(high for _, high in ranges)
        narrow = _holding(span, given, own, statement.op.integers.divides)
        if narrow is own:
            return self._apply(statement, statement.operand_dtypes, statement.dtype)
        result = narrow if statement.dtype.is_integer else statement.dtype
        return self._apply(
            statement, (narrow,) * len(given), result, why=f"it and its operands are in [{span[0]}, {span[1]}]"
        )

    def _lane(self, at: int, condition: Value, own: DType) -> int:
        """Return the bits of a condition's mask, at most those of `own`; 0 if narrower integers are read beside it."""
        lane = self._given(condition, BOOL).lane
        return min(lane, own.bits) if lane <= self.reads[at] else 0

    def _wraps(self, statement: Statement) -> bool:
        """Whether a statement may wrap, so that a wider dtype would give another value."""
        function = range_of(statement.op.integers.range)
        pairs = zip(statement.operands, statement.operand_dtypes, strict=True)
        range_ = None if function is None else function(*(self._range(value, dtype) for value, dtype in pairs))
        return range_ is None or not fits(range_, statement.dtype)

    def _in_company(self, at: int, bits: int, most: int) -> int:
        """Return the width to compute a statement in: `bits`, or a wider one, up to `most`, if it saves conversions.

        The wider one is the least width in which its users take the value, if its operands are used as wide anyway.
        """
        wide = min(self._widths(Let(at), at), default=0)
        together = bits < wide <= most and all(
            isinstance(value, Constant) or max(self._widths(value, at), default=0) >= wide
            for value in self.nest.body[at].operands
        )
        return wide if together else bits

    def _widths(self, value: Value, but: int) -> Iterator[int]:
        """Yield the width in which each user of a value, except `but`, takes it; 0 if its result is no integer."""
        for user in self.users.get(value, ()):
            if user < 0:
                yield self.nest.results[~user].dtype.bits
            elif user != but and self.nest.body[user].op is CAST and self.nest.body[user].dtype.is_integer:
                yield from self._widths(Let(user), but)
            elif user != but:
                range_ = self.ranges[user] if self.nest.body[user].dtype.is_integer else None
                yield 0 if range_ is None else min(_width_of(range_), _at_least(self.counts[user]))

    # ---- statements and values ------------------------------------------------------------------------------------

    def _apply(
        self, statement: Statement, operands: tuple[DType, ...], result: DType, low: int = _EXACT, why: str = ""
    ) -> _Made:
        """Append a statement for operands and a result of these dtypes; `why` is the reason that the note gives."""
        pairs = list(zip(statement.operands, statement.operand_dtypes, strict=True))
        moves = any(self._given(value, dtype).moves for value, dtype in pairs)
        values = tuple(self._as(value, dtype) for value, dtype in zip(statement.operands, operands, strict=True))
        params = tuple((name, result) for name, _ in statement.params) if statement.op.converts else statement.params
        made = self.body.append(Statement(statement.op, values, operands, params, result))
        self.changed |= operands != statement.operand_dtypes or result is not statement.dtype
        if why and operands != statement.operand_dtypes:
            verb = "takes" if statement.op.converts else "is computed in"
            # There is one made value for each statement before this one, so their count is this one's number.
            self.notes.append(f"t{len(self.made)} {verb} {operands[-1]}, not {statement.operand_dtypes[-1]}: {why}")
        # A comparison of numbers that stand still is one bool for all points, which a vector takes as it is.
        wide = [max(one.lane, one.width * (one.dtype is not BOOL)) for one in (self._given(*pair) for pair in pairs)]
        return _Made(made, result, low, moves, max(wide, default=0) if result is BOOL else 0)

    def _given(self, value: Value, dtype: DType) -> _Made:
        """Return the new value in an old one's place; a constant takes the given dtype."""
        match value:
            case Let():
                return self.made[value.index]
            case Load():
                access = self.nest.operands[value.access]
                stationary = not access.map.open and all(index.dim is None for index in access.map.indices)
                return _Made(value, access.dtype, _EXACT, not stationary)
        return _Made(value, dtype, _EXACT, False)

    def _range(self, value: Value, dtype: DType) -> Range:
        match value:
            case Constant():
                return int(value.value), int(value.value)
            case Let():
                return self.ranges[value.index] or whole(dtype)
        return whole(dtype)

    def _as(self, value: Value, dtype: DType) -> Value:
        """Return the new value in an old one's place, cast to a dtype if it has another one."""
        if isinstance(value, Constant):
            return Constant(dtype.wrapped(int(value.value)), dtype) if dtype.is_integer else value
        given = self._given(value, dtype)
        if given.dtype is dtype:
            return given.value
        return self.body.cast(given.value, given.dtype, dtype)


def _narrowest_reads(nest: Nest) -> list[int]:
    """Return the bits of the narrowest integers read for what each statement is computed from or with; 64 for none."""
    # Integers that one statement takes or makes belong together: `above` leads from each to one that stands for all.
    above: dict[Value, Value] = {}
    least: dict[Value, int] = {}

    def top(value: Value) -> Value:
        while value in above:
            above[value] = above.get(above[value], above[value])
            value = above[value]
        return value

    for at, statement in enumerate(nest.body):
        if statement.dtype.is_integer:
            for value, dtype in zip(statement.operands, statement.operand_dtypes, strict=True):
                found = top(value)
                if dtype.is_integer and not isinstance(value, Constant) and found != Let(at):
                    bits = dtype.bits if isinstance(value, Load) else 64
                    above[found] = Let(at)
                    least[Let(at)] = min(least.get(Let(at), 64), least.get(found, 64), bits)
    return [least.get(top(Let(at)), 64) for at in range(len(nest.body))]


# ---- dtypes ----------------------------------------------------------------------------------------------------------


def _at_least(bits: int) -> int:
    return next(width for width in _WIDTHS if width >= bits)


def _width_of(range_: Range) -> int:
    """Return the bits of the narrowest dtype that holds a range."""
    return next(bits for bits in _WIDTHS if _fitting(range_, bits, _INTEGERS["signed", bits]) is not None)


def _fitting(range_: Range, bits: int, like: DType) -> DType | None:
    """Return a dtype of so many bits that holds a range, of the kind of `like` if possible; None if there is none."""
    kinds = (like.kind, *(kind for kind in ("signed", "unsigned") if kind != like.kind))
    return next((row for row in (_INTEGERS[kind, bits] for kind in kinds) if fits(range_, row)), None)


def _kind_of(given: Sequence[_Made], bits: int, own: DType) -> DType:
    """Return the dtype of the first moving operand of so many bits, which then needs no cast, or else `own`."""
    return next((one.dtype for one in given if one.moves and one.dtype.bits == bits), own)


def _holding(span: Range, given: Sequence[_Made], own: DType, division: bool) -> DType:
    """Return the dtype to compute in with exact operands whose values are in a range; `own` if no narrower one fits."""
    width = max(one.width for one in given)
    for bits in _WIDTHS:
        if max(width, 16 * division) <= bits < own.bits + division:
            like = _INTEGERS["unsigned", bits] if division else _kind_of(given, bits, own)
            found = _fitting(span, bits, like)
            if found is not None:
                return found
    return own
