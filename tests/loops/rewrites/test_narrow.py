"""Narrowed nests give the same bits as wide ones, on random programs at the ends of ranges; and what becomes narrow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bcastgen.api.functions import from_text
from bcastgen.core.dtypes import BOOL, COMPUTED, dtype
from bcastgen.core.errors import BcastgenError
from bcastgen.expr.build import Builder
from bcastgen.expr.infer import infer
from bcastgen.loops.analysis.integer_ranges import fits, ranges_of
from bcastgen.loops.lowering.lower import lower
from bcastgen.loops.rewrites.pipeline import rewrite
from bcastgen.ops.table import OPS
from bcastgen.shape.types.tensor_type import parse_type
from nests import nest_of, run

INTEGERS = [row for row in COMPUTED if row.is_integer]
# Ops that mean something for integers, whether or not anything is known of their range.
INTEGER_OPS = (
    "add subtract multiply negative square positive absolute sign floor_divide remainder minimum maximum fmax clip "
    "where bitwise_and bitwise_or bitwise_xor bitwise_invert left_shift right_shift equal less greater_equal "
    "reciprocal floor clz logical_not divide"
).split()
NUMBERS = (0, 1, 2, 3, 5, 7, 8, 15, 16, 100, 127, 128, 200, 255, 256, 1000, 65535, -1, -2, -3, -100, -128, 2**31 - 1)


def random_program(chance, steps):
    """A random program of integers, often narrow ones in wide arithmetic."""
    kinds = [dtype(chance.choice("u8 u8 i8 u16 i16 i32 u32 i64 u64 bool".split())) for _ in range(chance.randint(1, 3))]
    builder = Builder(tuple("abc"[: len(kinds)]))
    values = list(builder.operands)
    wide = dtype(chance.choice(("i16", "i32", "i64", "u32", "u64")))
    values += [builder.cast(value, wide) for value in values if chance.random() < 0.7]
    for _ in range(steps):
        op = OPS[chance.choice(INTEGER_OPS)]
        operands = [chance.choice(values[-4:]) for _ in range(op.arity)]
        if op.arity > 1 and chance.random() < 0.6:
            operands[chance.randrange(op.arity)] = builder.constant(chance.choice(NUMBERS))
        if op.name.endswith("_shift") and chance.random() < 0.9:
            operands[1] = builder.constant(chance.choice((0, 1, 4, 8, 15, 16, 17, 31, 40, 63)))
        values.append(builder.apply(op, tuple(operands)))
        if chance.random() < 0.3:
            values.append(builder.cast(values[-1], chance.choice([*INTEGERS, dtype("f64"), BOOL])))
        if chance.random() < 0.2:
            kind = dtype(chance.choice(("f32", "f64")))
            summands = [builder.cast(chance.choice(values[: len(kinds) + 2]), kind) for _ in range(2)]
            values.append(builder.apply(OPS[chance.choice(("add", "subtract", "multiply"))], tuple(summands)))
    last = [builder.cast(value, chance.choice(INTEGERS)) if chance.random() < 0.7 else value for value in values[-2:]]
    typed = infer(builder.finish(tuple(last)), tuple(kinds))
    return lower(typed, tuple(parse_type(f"{kind}[?]") for kind in kinds), result_names=("r", "s"))


def arrays_of(nest, samples, chance):
    seed = chance.randrange(2**32)
    pick = np.random.default_rng(seed)
    return [pick.choice(samples(access.dtype, 60, seed), 400).astype(access.dtype.np) for access in nest.operands]


def check(program, chance, samples):
    for nest, narrowed in zip(program.nests, rewrite(program).program.nests, strict=True):
        if nest.operands:
            check_nest(nest, narrowed, chance, samples)


def check_nest(nest, narrowed, chance, samples):
    arrays = arrays_of(nest, samples, chance)
    values, wanted = run(nest, arrays)
    for at, (value, range_) in enumerate(zip(values, ranges_of(nest), strict=True)):
        if range_ is not None:
            assert fits(range_, nest.body[at].dtype)
            assert range_[0] <= int(value.min()) and int(value.max()) <= range_[1], f"t{at} not in {range_}\n{nest}"
    _, got = run(narrowed, arrays)
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(one, other, strict=True, err_msg=f"{nest}\n{narrowed}")


@settings(
    max_examples=300, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(chance=st.randoms(use_true_random=False))
def test_random_programs_keep_their_values(chance, samples):
    try:
        program = random_program(chance, chance.randint(1, 9))
    except BcastgenError:
        # Some mean nothing: a shift of floats, a number that its dtype does not hold.
        return
    check(program, chance, samples)


BLEND = "(u8[?] a, u8[?] b, u8[?] w) -> ((a.astype(i32)*w + b.astype(i32)*(255 - w)) {} 255).astype(uint8)"

# The narrow dtypes, statement by statement; and why, of the first that is told.
CASES = {
    BLEND.format("//"): ("u16 u16 u16 u16 u16 u16 u16 u16 u8", "t2 is computed in u16, not i32: it is in [0, 65025]"),
    "(u8[?] a, u8[?] b) -> abs(a.astype(i64) - b).astype(uint8)": (
        "i16 i16 i16 i16 u8",
        "t2 is computed in i16, not i64: it is in [-255, 255]",
    ),
    # Three products of 255 are more than 16 bits hold; of those, 16 count.
    "(u8[?] a, u8[?] b) -> ((a.astype(i32)*255 + b.astype(i32)*510) >> 8).astype(uint8)": (
        "u16 u16 u16 u16 u16 u16 u8",
        "t1 is computed in u16, not i32: it is in [0, 65025]",
    ),
    "(i16[?] a, i16[?] b) -> a.astype(i64) * b": (
        "i32 i32 i32 i64",
        "t2 is computed in i32, not i64: it is in [-1073709056, 1073741824]",
    ),
    "(u8[?] a) -> a.astype(i64).astype(f32)": ("f32", "t1 takes u8, not i64: it is in [0, 255]"),
    "(u8[?] a) -> a.astype(i32) * 3 > 300": ("i16 i16 bool", "t1 is computed in i16, not i32: it is in [0, 765]"),
    "(u8[?] a, i64[] s) -> (a.astype(i64) * s).astype(uint8)": (
        "u8 u8",
        "t1 is computed in u8, not i64: its low 8 bits count",
    ),
    "(u8[?] a, u8[?] b) -> ((a.astype(i32) * b) << 7).astype(u16)": (
        "u16 u16 u16 u16",
        "t2 is computed in u16, not i32: it is in [0, 65025]",
    ),
    # The difference would do with 8 bits, but all around it are 16; and so it is where it is not of wide operands.
    "(u8[?] a, u8[?] w) -> (a.astype(u16) * (255 - w.astype(u16)) + w) >> 8": (
        "u16 u16 u16 u16 u16 u16",
        "",
    ),
    "(u8[?] a, u8[?] w) -> (a.astype(i16) - w) * (w + 1.0)": ("i16 i16 i16 f64 f64 f64 f64", ""),
    # Bytes become lanes of 32 bits as they are read; many ops gain more in narrow lanes.
    "(i8[?] a, i8[?] b) -> a.astype(f32) - b.astype(f32)": ("i32 i32 i32 f32", ""),
    "(u8[?] a, u8[?] b) -> (a.astype(i32) * b + a + b + 3).astype(f32)": (
        "u16 u16 u16 u16 u16 i32 i32 f32",
        "t2 is computed in u16, not i32: it is in [0, 65025]",
    ),
    # What floats select is computed in lanes of theirs, so that no mask is converted; also what is added to it.
    "(f64[?] a) -> where(a > 1.0, where(a > 2.0, 1, 0) + 1, 0)": ("bool bool i64 i64 i64", ""),
    "(f32[?] a) -> where(a > 1.0, where(a > 2.0, 1, 0) + 1, 0)": (
        "bool bool i32 i32 i32 i64",
        "t2 is computed in i32, not i64: it is in [0, 1]",
    ),
    "(f32[?] a, f64[?] b) -> where((a > 1.0) & (b > 1.0), 1, 0)": ("bool bool bool i64", ""),
    "(i8[?] a, f64[?] b) -> where(b > 1.0, a, 5).astype(i64)": ("bool i8 i64", ""),
    "(f64[?] a, f64[?] b) -> (a > b) * 1 + (b > 1.0) * 1": ("bool i64 i64 bool i64 i64 i64", ""),
    # Beside bytes that are read it would take eight times the lanes of each.
    "(u8[?] a, f64[?] b) -> a.astype(i32) * where(b > 1.0, np.int32(3), np.int32(1)) >> 1": (
        "bool i8 i16 i16 i16 i16 i32",
        "t2 is computed in i8, not i32: it is in [1, 3]",
    ),
    "(u8[?] a) -> where(a > 7, 1, 0)": (
        "bool i8 i64",
        "t1 is computed in u8, not i64: it and its operands are in [0, 255]",
    ),
    "(i32[?] a) -> a % 7 % 3": ("i32 u32 u32 i32", "t1 is computed in u32, not i32: it and its operands are in [0, 6]"),
    "(u16[?] a) -> a.astype(i32) % 7 * 2": (
        "u16 u16 i32",
        "t1 is computed in u16, not i32: it and its operands are in [0, 65535]",
    ),
}
# What comes in wide lanes, and what may need them, stays as it is.
KEPT = (
    "(i32[?] a, i32[?] b) -> (a + b).astype(uint8)",
    "(i32[?] a, i32[?] b) -> a.astype(i64) * b",
    "(u8[?] a, u8[?] b) -> a * b + 3",
    "(f32[?] a) -> a.astype(i32) + 1",
    "(u32[?] a) -> a.astype(i64) + 2**31",
    "(i64[?] a, u8[?] b) -> a >> (b & 7)",
)


def program_of(text):
    return from_text(text).compilation.program


@pytest.mark.parametrize("text", CASES)
def test_what_becomes_narrow(text):
    dtypes, why = CASES[text]
    rewritten = rewrite(program_of(text))
    (notes,) = (step.notes for step in rewritten.steps if step.rewrite.name == "narrow")
    assert " ".join(str(statement.dtype) for statement in rewritten.program.nests[0].body) == dtypes
    assert notes[:1] == ((why,) if why else ())


@pytest.mark.parametrize("text", KEPT)
def test_what_stays(text):
    program = program_of(text)
    assert rewrite(program).program is program
    assert not any(step.notes for step in rewrite(program).steps)


@pytest.mark.parametrize("text", [*CASES, *KEPT])
def test_every_value_of_each_operand(text, samples):
    """All bytes, and the ends of wider dtypes: the extremes of a range are reached."""
    nest = nest_of(text)
    edges = [
        np.arange(256).astype(np.uint8) if access.dtype.name == "u8" else samples(access.dtype, 60, 1)
        for access in nest.operands
    ]
    points = 40_000
    pick = np.random.default_rng(0)
    arrays = [pick.choice(np.concatenate([edge, edge[:1], edge[-1:]]), points) for edge in edges]
    for array, edge in zip(arrays, edges, strict=True):
        array[: 2 * edge.size] = np.concatenate([edge, edge])
    corners = np.array(np.meshgrid(*([0, -1] for _ in edges))).reshape(len(edges), -1)
    arrays = [np.concatenate([array, edge[corner]]) for array, edge, corner in zip(arrays, edges, corners, strict=True)]
    (wanted,), (got,) = run(nest, arrays)[1], run(rewrite(program_of(text)).program.nests[0], arrays)[1]
    np.testing.assert_array_equal(got, wanted, strict=True)


def test_sums_of_products_are_looked_at_as_a_whole():
    ranges = ranges_of(nest_of(BLEND.format("//")))
    assert ranges[-3:] == [(0, 65025), (0, 255), (0, 255)]
    # A value with itself is not independent of itself.
    (square,) = ranges_of(nest_of("(i8[?] a) -> a.astype(i32) * a"))[-1:]
    assert square == (-16256, 16384)


def test_every_op_of_integers_has_a_range_or_none_is_known():
    """A row either says what it does to ranges, or is NumPy's and named here, or is not NumPy's."""
    saying = {name for name, row in OPS.items() if row.integers.range}
    silent = set("power reciprocal bitwise_invert fmod gcd lcm bitwise_count full_like imag".split())
    integer = dtype("i32")
    giving = set()
    for name, row in OPS.items():
        try:
            _, result = row.types((integer,) * row.arity) if not row.params else ((), integer)
        except BcastgenError:
            continue
        giving |= {name} if result.is_integer else set()
    assert {"cast", "clip"} <= saying <= giving
    assert {name for name in giving - saying if name in np.__dict__} == silent & set(np.__dict__)


@pytest.mark.parametrize("text", CASES)
def test_kernels_give_the_values_of_numpy(text, samples):
    kernel = from_text(text)
    arrays = [samples(access.dtype, 100, 3)[:90] for access in nest_of(text).operands]
    arrays = [
        array if access.type.dims else array[0] for array, access in zip(arrays, nest_of(text).operands, strict=True)
    ]
    _, (wanted,) = run(nest_of(text), [np.broadcast_to(array, (90,)) for array in arrays])
    np.testing.assert_array_equal(kernel(*arrays), wanted, strict=True)


def test_a_constant_factor_is_no_count_of_bits():
    """tosa_multiply_shift ends in _shift, but its second operand is a factor: all bits of the first one count."""
    kernel = from_text("(i16[?] a, i16[?] b) -> tosa_multiply_shift(a.astype(int32) * b, 3, 20).astype(int8)")
    a, b = np.array([12345, -32768], np.int16), np.array([3333, 77], np.int16)
    wanted = (a.astype(np.int64) * b * 3 + (1 << 19)) >> 20
    np.testing.assert_array_equal(kernel(a, b), wanted.astype(np.int8), strict=True)
