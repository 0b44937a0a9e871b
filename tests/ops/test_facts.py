"""The facts on rows are true: each is held against the op's reference, over every pair of bytes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from bcastgen.core.dtypes import COMPUTED, F32, F64, dtype
from bcastgen.core.errors import BcastgenError
from bcastgen.expr.nodes import Constant
from bcastgen.loops.analysis.demanded_bits import operand_bits
from bcastgen.loops.nest import Load, Statement
from bcastgen.mlir.linalg import rows
from bcastgen.ops import bounds, internal_rows, ranges
from bcastgen.ops.bounds import UNKNOWN, Bounds, bounds_function, grain_of
from bcastgen.ops.ranges import range_of
from bcastgen.ops.rows.conversions import CAST
from bcastgen.ops.table import OPS

INTEGERS = [row for row in COMPUTED if row.is_integer]
INTERNAL = (
    *internal_rows.SATURATING.values(),
    *internal_rows.TRUNCATE.values(),
    internal_rows.TRUNCATE_FROM_ZERO,
    *(row for pair in internal_rows.OF_NUMBERS.values() for row in pair.values()),
)
ROWS = (*OPS.values(), *INTERNAL)
# No wider range says of these which numbers come, where what they are made of takes all values independently.
TIGHT = "add subtract multiply negative square absolute sign minimum maximum fmin fmax clip".split()


def named(fact):
    return [op for op in ROWS if fact(op)]


def loops_of(op, first):
    """The dtypes a row computes in, its first operand of this one, and of the result; None where it takes none such."""
    if op is CAST:
        return (first,), first
    if op.params:
        return None
    alike = (dtype("bool"), *(first,) * (op.arity - 1)) if op.selects else (first,) * op.arity
    # The last operand of TOSA's product is a count, an i8 whatever the others are.
    for kinds in (alike, (*alike[:-1], dtype("i8"))):
        try:
            loops, result = op.types(kinds)
        except BcastgenError:
            continue
        if loops[op.selects] is first:
            return loops, result
    return None


def grid(*values):
    """Every value of each beside every one of the others."""
    return np.meshgrid(*values, indexing="ij", sparse=True)


def low_bits(values, count):
    return np.asarray(values).astype(np.int64).view(np.uint64) & np.uint64((1 << count) - 1)


def evaluated(op, result, *operands):
    return np.asarray(op.evaluate(*operands, *([result] if op.params else [])))


def values_of(kind, arity):
    """Every byte, or of wider integers and of triples the ends and some between, in order."""
    info = np.iinfo(kind.np) if kind.is_integer else None
    if info is None:
        return np.array([False, True])
    if kind.bits == 8 and arity < 3:
        return np.arange(info.min, info.max + 1, dtype=kind.np)
    some = sampled(np.random.default_rng(kind.bits), kind, 6 if arity == 3 else 40).tolist()
    near = [0, 1, 2, 3, 7, 8, 15, 16, 17, 100, 255, 256, -1, -2, -3, -8, -16, info.min, info.min + 1, info.max]
    return np.unique(np.array([value for value in (*some, *near) if info.min <= value <= info.max], kind.np))


def boxes(random, values, count):
    """Pairs of places in ordered values: the ends, single ones, those about 0, then any."""
    last = len(values) - 1
    zero = min(int(np.searchsorted(values, 0)), last)
    fixed = [(0, last), (0, 0), (last, last), (zero, last), (0, zero), (zero, zero), (min(zero + 1, last), last)]
    return fixed + [tuple(sorted(random.integers(0, len(values), 2))) for _ in range(count)]


@pytest.mark.parametrize("kind", ["i8", "u8", "i16"])
@pytest.mark.parametrize("op", named(lambda op: op.integers.range), ids=lambda op: op.name)
def test_a_range_holds_every_value(op, kind):
    kind = dtype(kind)
    typed = loops_of(op, kind)
    if typed is None:
        pytest.skip("takes none")
    loops, result = typed
    if not result.is_integer:
        pytest.skip("gives none")
    values = [values_of(loop, op.arity) for loop in loops]
    table = evaluated(op, result, *grid(*values)).astype(np.int64)
    random, function = np.random.default_rng(1), range_of(op.integers.range)
    sides = [boxes(random, own, 60) for own in values]
    picked = [*itertools.product(*(side[:7] for side in sides)), *zip(*(side[7:] for side in sides), strict=True)]
    exact = 0
    for box in picked:
        range_ = function(*((int(own[low]), int(own[high])) for own, (low, high) in zip(values, box, strict=True)))
        if range_ is None or not (result.min <= range_[0] and range_[1] <= result.max):
            continue
        inside = table[tuple(slice(low, high + 1) for low, high in box)]
        assert range_[0] <= inside.min() and inside.max() <= range_[1], (box, range_)
        exact += range_ == (inside.min(), inside.max())
        assert op.name not in TIGHT or range_[1] == inside.max() or op.name == "square", (box, range_)
    assert exact, "it says nothing"


@pytest.mark.parametrize("op", [op for op in ROWS if op.definition is None and not op.params], ids=lambda op: op.name)
def test_bits_that_are_not_demanded_change_nothing(op):
    """For every row that computes with integers, whatever it says: all of its operands' dtypes, constants included."""
    random, tried = np.random.default_rng(3), set()
    for kind in INTEGERS:
        typed = loops_of(op, kind)
        # A row that demands something of its operands takes no others.
        if typed is None or not typed[1].is_integer or op.demand_for(typed[0]):
            continue
        loops, result = typed
        tried.add(op.name)
        samples = [sampled(random, loop, 400) for loop in loops]
        for constant in (None, 0, 1, 2, 3, 5, 7, 12, 31, 40, 100):
            if constant is not None and (op.arity < 2 or not loops[1].is_integer or constant > loops[1].max):
                continue
            operands = [Load(at) for at in range(op.arity)]
            given = list(samples)
            if constant is not None:
                operands[1] = Constant(constant, loops[1])
                given[1] = np.full(400, constant, loops[1].np)
            statement = Statement(op, tuple(operands), loops, (), result)
            for count in sorted({1, 2, 5, 8, 9, min(16, result.bits), result.bits} & set(range(result.bits + 1))):
                check_flips(op, statement, given, count, random)
    assert tried or not op.integers.demanded


def sampled(random, kind, count):
    if kind.kind == "bool":
        return random.integers(0, 2, count).astype(bool)
    wide = np.frombuffer(random.bytes(count * kind.bytes), kind.np)
    near = random.integers(0, 100, count).astype(kind.np)
    return np.where(random.random(count) < 0.7, wide, near)


def check_flips(op, statement, given, count, random):
    low = low_bits(evaluated(op, statement.dtype, *given), count)
    for place, (value, kind) in enumerate(zip(given, statement.operand_dtypes, strict=True)):
        demanded = operand_bits(statement, place, count)
        if isinstance(statement.operands[place], Constant) or demanded >= kind.bits:
            continue
        unsigned = f"u{kind.bytes}"
        noise = sampled(random, kind, len(value)).view(unsigned) & np.asarray(
            (1 << kind.bits) - (1 << demanded), unsigned
        )
        changed = [*given]
        changed[place] = (value.view(unsigned) ^ noise).view(kind.np)
        again = low_bits(evaluated(op, statement.dtype, *changed), count)
        np.testing.assert_array_equal(again, low, err_msg=f"{kind} {count} bits demand {demanded} of operand {place}")


@pytest.mark.parametrize("op", named(lambda op: op.integers.any_width), ids=lambda op: op.name)
def test_any_width_that_holds_operands_and_result_gives_the_same(op):
    for narrow, wide in itertools.product(("i8", "u8"), ("i16", "i32", "i64")):
        typed = loops_of(op, dtype(narrow))
        # A narrowed statement gives the dtype it computes in, or a bool.
        assert not typed[1].is_integer or typed[1] is typed[0][-1], f"{op.name} gives {typed[1]} at any width"
        values = [values_of(dtype(narrow), op.arity)] * op.arity
        short = evaluated(op, typed[1], *grid(*values)).astype(np.int64)
        long = evaluated(op, None, *grid(*(own.astype(dtype(wide).np) for own in values))).astype(np.int64)
        holds = (np.iinfo(dtype(narrow).np).min <= long) & (long <= np.iinfo(dtype(narrow).np).max)
        np.testing.assert_array_equal(short[holds], long[holds])


@pytest.mark.parametrize("op", named(lambda op: op.integers.sum), ids=lambda op: op.name)
def test_sums_are_what_they_are_called(op):
    x, y = grid(np.arange(-50, 51), np.arange(-50, 51))
    means = {
        "same": lambda x: x,
        "negated": lambda x: -x,
        "plus": lambda x, y: x + y,
        "minus": lambda x, y: x - y,
        "times": lambda x, y: x * y,
    }
    operands = (x, y)[: op.arity]
    got = evaluated(op, dtype("i32"), *(value.astype(np.int32) for value in operands))
    np.testing.assert_array_equal(got, means[op.integers.sum](*operands))


@pytest.mark.parametrize("op", named(lambda op: op.by_power_of_two), ids=lambda op: op.name)
def test_powers_of_two_are_what_the_other_op_makes_of_them(op):
    name, number = op.by_power_of_two
    kinds = (F32, F64) if number == "inverse" else INTEGERS
    for kind in kinds:
        x = float_samples(kind) if kind.is_float else values_of(kind, 2)
        for exponent in range(kind.bits - (kind.kind == "signed") if kind.is_integer else 100):
            by = kind.np.type(2**exponent)
            other = {"exponent": exponent, "mask": int(by) - 1, "inverse": 1 / by}[number]
            np.testing.assert_array_equal(op.evaluate(x, by), OPS[name].evaluate(x, kind.np.type(other)))


@pytest.mark.parametrize("op", named(lambda op: op.clamps), ids=lambda op: op.name)
def test_ends_of_clamps_are_ends(op):
    values = np.array([-np.inf, -5, -1.5, -0.0, 0.0, 1, 3.25, 7, np.inf, np.nan])
    operands = np.broadcast_arrays(*grid(*[values] * op.arity))
    wanted = operands[0]
    for end, which in zip(operands[1:], op.clamps, strict=True):
        wanted = np.maximum(wanted, end) if which == "low" else np.minimum(wanted, end)
    np.testing.assert_array_equal(op.evaluate(*operands), wanted)


def float_samples(kind):
    info = np.finfo(kind.np)
    numbers = [0.0, 1e-40, info.tiny, 0.1, 0.5, 1, 1.5, 2.5, 3, 100.25, 2.0**24, 1e19, float(info.max), np.inf]
    return np.unique(np.array([sign * number for number in numbers for sign in (-1, 1)]).astype(kind.np))


@pytest.mark.parametrize("kind", [F32, F64], ids=str)
@pytest.mark.parametrize("op", named(lambda op: op.floats.bounds), ids=lambda op: op.name)
def test_bounds_hold_every_float(op, kind):
    random, function = np.random.default_rng(5), bounds_function(op.floats.bounds)
    ordered = float_samples(kind)
    known = 0
    operands = op.arity - op.selects
    for _ in range(400):
        places = [sorted(random.integers(0, len(ordered), 2)) for _ in range(operands)]
        given = [Bounds(float(ordered[low]), float(ordered[high]), random.random() < 0.8) for low, high in places]
        found = function(kind, *given)
        values = [
            np.concatenate([ordered[low : high + 1], [] if own.is_number else [kind.np.type(np.nan)]]).astype(kind.np)
            for (low, high), own in zip(places, given, strict=True)
        ]
        got = np.asarray(op.evaluate(*grid(*([np.array([False, True])] * op.selects), *values)))
        assert got.dtype == kind.np
        assert not (found.is_number and np.isnan(got).any()), (given, found)
        inside = np.isnan(got) | ((found.low <= got) & (got <= found.high))
        assert inside.all(), (given, found)
        known += found != UNKNOWN
    assert known, "it says nothing"


@pytest.mark.parametrize("kind", [F32, F64], ids=str)
@pytest.mark.parametrize("op", named(lambda op: op.floats.bounds), ids=lambda op: op.name)
def test_results_are_multiples_of_their_grain(op, kind):
    random, function = np.random.default_rng(6), bounds_function(op.floats.bounds)
    known = 0
    for _ in range(300):
        grains = [2.0 ** int(random.integers(-9, 9)) for _ in range(op.arity - op.selects)]
        values = [
            (random.integers(-(2 ** int(random.integers(1, 40))), 2**30, 9) * grain).astype(kind.np) for grain in grains
        ]
        given = [
            Bounds(float(own.min()), float(own.max()), True, grain) for own, grain in zip(values, grains, strict=True)
        ]
        found = function(kind, *given)
        if found.grain and found.is_finite:
            got = np.asarray(op.evaluate(*grid(*([np.array([False, True])] * op.selects), *values)), np.float64)
            assert not np.fmod(got, found.grain).any(), (given, found)
            known += 1
    # Quotients by numbers that are no power of two, and roots, are multiples of nothing that is known.
    assert known or op.floats.bounds in ("divide", "square_root"), "it says nothing"


@pytest.mark.parametrize("by", [2.0, 0.5, -8.0, 1.0, 3.0, 0.75])
def test_quotients_by_powers_of_two_keep_their_grain(by):
    found = bounds.divide(F64, Bounds(-7.0, 9.0, True, 0.5), Bounds(by, by, True, grain_of(by)))
    assert found.grain == (0.5 / abs(by) if abs(by) in (0.5, 1, 2, 8) else 0)


@pytest.mark.parametrize("number", [1.0, 1.5, 0.1, -20.0, 2.0**-1074, 2.0**100, 3e300])
def test_the_grain_of_a_number_divides_it_and_no_larger_one_does(number):
    grain = grain_of(number)
    assert grain == 2.0 ** round(math.log2(grain))
    assert math.fmod(number, grain) == 0
    assert grain == 2.0**60 or math.fmod(number, 2 * grain) != 0


def test_every_function_is_named_by_a_row_and_every_name_is_a_function():
    helpers = {"range_of", "bounds_function", "around", "grain_of", "dataclass", "DType"}
    for module, used in ((ranges, {op.integers.range for op in ROWS}), (bounds, {op.floats.bounds for op in ROWS})):
        functions = {
            name for name, value in vars(module).items() if callable(value) and not name.startswith("_")
        } - helpers
        assert functions - {"Callable", "Bounds", "Range"} == used - {""}


def test_every_spelling_that_a_row_names_is_there_and_each_is_named():
    texts = [
        text
        for op in ROWS
        if op.mlir
        for text in ([op.mlir.lines] if isinstance(op.mlir.lines, str) else op.mlir.lines.values())
    ]
    used = {text[1:].split()[0] for text in texts if text.startswith("@")}
    assert all(rows.piece(text) for text in texts if text.startswith("@"))
    assert {name for name in vars(rows) if name.isupper() and not name.startswith("_")} <= used
