"""Narrowed nests give the same bits as wide ones, on random programs at the ends of ranges; and what becomes narrow."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bcastgen.api import from_text
from bcastgen.dtypes import BOOL, DTYPES, dtype
from bcastgen.errors import BcastgenError
from bcastgen.expr.build import Builder
from bcastgen.expr.infer import infer
from bcastgen.loops.lower import lower
from bcastgen.loops.narrow import narrow
from bcastgen.loops.nest import Let, Load
from bcastgen.loops.ranges import RANGES, fits, ranges_of
from bcastgen.ops import OPS
from bcastgen.shape.tensor_type import parse_type

INTEGERS = [row for row in DTYPES if row.is_integer]
# Ops that mean something for integers, whether or not anything is known of their range.
INTEGER_OPS = (
    "add subtract multiply negative square positive absolute sign floor_divide remainder minimum maximum fmax clip where "
    "bitwise_and bitwise_or bitwise_xor bitwise_invert left_shift right_shift equal less greater_equal reciprocal floor "
    "clz logical_not divide"
).split()
NUMBERS = (0, 1, 2, 3, 5, 7, 8, 15, 16, 100, 127, 128, 200, 255, 256, 1000, 65535, -1, -2, -3, -100, -128, 2**31 - 1)


def random_nests(chance, steps):
    """The nests of a random program of integers, often narrow ones in wide arithmetic; none if it has no types."""
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
    last = [builder.cast(value, chance.choice(INTEGERS)) if chance.random() < 0.7 else value for value in values[-2:]]
    try:
        typed = infer(builder.finish(tuple(last)), tuple(kinds))
    except BcastgenError:
        return ()
    return lower(typed, tuple(parse_type(f"{kind}[?]") for kind in kinds), result_names=("r", "s")).nests


def run(nest, arrays):
    """The value of every statement, then what is stored, computed by the rows' references."""
    values = []

    def of(value, kind):
        match value:
            case Load():
                return arrays[value.access]
            case Let():
                return values[value.index]
        return np.asarray(value.value).astype(kind.np)

    for statement in nest.body:
        operands = []
        for value, kind in zip(statement.operands, statement.operand_dtypes, strict=True):
            operands.append(of(value, kind))
            assert operands[-1].dtype == kind.np, f"{statement.op.name} of {operands[-1].dtype}, not {kind}\n{nest}"
        made = statement.op.evaluate(*operands, *(parameter for _, parameter in statement.params))
        values.append(np.asarray(made).astype(statement.dtype.np))
    pairs = zip(nest.stores, nest.results, strict=True)
    stored = [np.broadcast_to(of(value, access.dtype), (arrays[0].size,)) for value, access in pairs]
    for value, access in zip(stored, nest.results, strict=True):
        assert value.dtype == access.dtype.np
    return values, stored


def arrays_of(nest, samples, chance):
    seed = chance.randrange(2**32)
    pick = np.random.default_rng(seed)
    return [pick.choice(samples(access.dtype, 60, seed), 400).astype(access.dtype.np) for access in nest.operands]


def check(nest, chance, samples):
    arrays = arrays_of(nest, samples, chance)
    values, wanted = run(nest, arrays)
    for at, (value, range_) in enumerate(zip(values, ranges_of(nest), strict=True)):
        if range_ is not None:
            assert fits(range_, nest.body[at].dtype)
            assert range_[0] <= int(value.min()) and int(value.max()) <= range_[1], f"t{at} not in {range_}\n{nest}"
    narrowed = narrow(nest)
    _, got = run(narrowed.nest, arrays)
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(one, other, strict=True, err_msg=f"{nest}\n{narrowed.nest}\n{narrowed.notes}")


@settings(
    max_examples=300, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)
@given(chance=st.randoms(use_true_random=False))
def test_random_programs_keep_their_values(chance, samples):
    for nest in random_nests(chance, chance.randint(1, 9)):
        if nest.operands:
            check(nest, chance, samples)
