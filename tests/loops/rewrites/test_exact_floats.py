"""Doubles become f32 where f32 holds each of them, with the same bits in every result; all others stay."""

from __future__ import annotations

import random

import numpy as np
import pytest

from bcastgen import from_text
from bcastgen.core.dtypes import BOOL, F64, dtype
from bcastgen.expr.build import Builder
from bcastgen.expr.infer import infer
from bcastgen.loops.lowering.lower import lower
from bcastgen.loops.rewrites.exact_floats import exact_floats
from bcastgen.ops.table import OPS
from bcastgen.shape.types.tensor_type import parse_type
from nests import nest_of, run

BYTES = np.arange(256).astype(np.uint8)
SHORT = np.unique(np.concatenate([np.arange(-300, 300), np.array([-32768, -32767, 32766, 32767])])).astype(np.int16)

# A text of one or two operands, and the same in NumPy.
BECOME = {
    "(u8[*] a, u8[*] b) -> (a*0.5 + b*0.5).astype(uint8)": lambda a, b: (a * 0.5 + b * 0.5).astype(np.uint8),
    "(u8[*] a, u8[*] b) -> (a/2 - b/4).astype(int16)": lambda a, b: (a / 2 - b / 4).astype(np.int16),
    "(u8[*] a, u8[*] b) -> clip(a*1.5 + 20, 0, 255).astype(uint8) + b": lambda a, b: (
        np.clip(a * 1.5 + 20, 0, 255).astype(np.uint8) + b
    ),
    "(u8[*] a, u8[*] b) -> a*0.75 > b": lambda a, b: a * 0.75 > b,
    "(u8[*] a, u8[*] b) -> signbit(a * -0.5 * b)": lambda a, b: np.signbit(a * -0.5 * b),
    "(u8[*] a, u8[*] b) -> (a*0.125*b).astype(f32)": lambda a, b: (a * 0.125 * b).astype(np.float32),
    "(u8[*] a, u8[*] b) -> rint(a*0.5 + b).astype(i64)": lambda a, b: np.rint(a * 0.5 + b).astype(np.int64),
    "(u8[*] a, u8[*] b) -> where(a > b, a*0.5, b - 0.25).astype(f16)": lambda a, b: np.where(
        a > b, a * 0.5, b - 0.25
    ).astype(np.float16),
    "(i16[*] a, i16[*] b) -> floor((a.astype(f64) + b)/2).astype(int16)": lambda a, b: np.floor(
        (a.astype(np.float64) + b) / 2
    ).astype(np.int16),
}


@pytest.mark.parametrize("text", BECOME)
def test_what_becomes_f32(text):
    nest, notes = exact_floats(nest_of(text))
    assert notes
    assert not any(F64 in (statement.dtype, *statement.operand_dtypes) for statement in nest.body)
    every = BYTES if "u8" in text else SHORT
    a, b = every[:, None], every
    found, expected = from_text(text)(a, b), BECOME[text](a, b)
    np.testing.assert_array_equal(found, expected, strict=True)
    if found.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


@pytest.mark.parametrize(
    "text",
    [
        "(u8[?] a) -> (a*0.3).astype(uint8)",
        "(u8[?] a) -> a*0.5",
        "(u8[?] a, f64[?] b) -> (a*0.5 > b)",
        "(i32[?] a) -> (a*0.5).astype(i32)",
        "(i16[?] a, i16[?] b) -> (a.astype(f64)*b).astype(i32)",
        "(u8[?] a) -> (a/3).astype(uint8)",
        "(u8[?] a) -> (a*0.5 + 2.0**20 + 0.001953125).astype(i32)",
        "(u8[?] a) -> sqrt(a*1.0).astype(f32)",
        "(u8[?] a) -> exp(a*0.5).astype(f32)",
        "(f32[?] a) -> (a.astype(f64)*0.5).astype(f32)",
        "(u8[?] a) -> (a*1e-200).astype(f32)",
        "(u8[?] a) -> a + 1",
    ],
)
def test_what_stays(text):
    """Constants, results and products that take more digits; doubles that are read or stored; rounding functions."""
    nest = nest_of(text)
    assert exact_floats(nest) == (nest, ())


SUMS = "add subtract multiply minimum maximum negative absolute square rint floor where".split()
NUMBERS = (0.0, -0.0, 0.5, -0.25, 1.0, 3.0, 1.5, -2.0, 127.5, 2.0**-20, 2.0**20, 0.1)


def random_program(chance):
    """Sums, products and choices of two small integers as doubles, which become something else in the end."""
    kinds = tuple(dtype(chance.choice("u8 i8 u16 i16 bool".split())) for _ in "ab")
    builder = Builder(("a", "b"))
    values = [builder.cast(one, F64) for one in builder.operands]
    for _ in range(chance.randint(1, 6)):
        op = OPS[chance.choice(SUMS)]
        operands = [chance.choice(values) for _ in range(op.arity - op.selects)]
        if len(operands) > 1 and chance.random() < 0.5:
            operands[chance.randrange(len(operands))] = builder.constant(chance.choice(NUMBERS))
        condition = (builder.apply(OPS["less"], (values[0], values[1])),) if op.selects else ()
        values.append(builder.apply(op, (*condition, *operands)))
    target = dtype(chance.choice("u8 i32 f32 i64 bool".split()))
    typed = infer(builder.finish((builder.cast(values[-1], target),)), kinds)
    return lower(typed, tuple(parse_type(f"{kind}[?]") for kind in kinds), result_names=("r",)).nests[0]


def edges(kind):
    if kind is BOOL:
        return np.array([False, True])
    info = np.iinfo(kind.np)
    return np.array([info.min, info.min + 1, 0, 1, 2, 3, 100, info.max - 1, info.max])


@pytest.mark.parametrize("first", range(0, 500, 50))
def test_random_programs_keep_their_values(first):
    """The interpreter of nests computes both; a third of the programs change."""
    changed = 0
    for seed in range(first, first + 50):
        nest = random_program(random.Random(seed))
        made, notes = exact_floats(nest)
        assert (made is nest) == (not notes)
        changed += made is not nest
        pick = np.random.default_rng(seed)
        arrays = [pick.choice(edges(access.dtype), 500).astype(access.dtype.np) for access in nest.operands]
        (wanted,), (got,) = run(nest, arrays)[1], run(made, arrays)[1]
        np.testing.assert_array_equal(got, wanted, strict=True, err_msg=f"seed {seed}")
        np.testing.assert_array_equal(np.copysign(1.0, got), np.copysign(1.0, wanted), err_msg=f"seed {seed}")
    assert changed > 10
