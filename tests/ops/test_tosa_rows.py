"""The rows TOSA has and NumPy has not: values stated here, whole 8-bit domains, and exact arithmetic for the rest."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.api.functions import jit
from bcastgen.core.dtypes import COMPUTED, F32, F64, dtype
from bcastgen.core.errors import DTypeError, RangeError
from bcastgen.expr.trace import converted
from bcastgen.loops.interpret import interpret
from bcastgen.ops.table import OPS
from bcastgen.ops.tosa_rows import TOSA_ROWS

INTEGERS = [kind for kind in COMPUTED if kind.is_integer]
SIGNED = [kind for kind in INTEGERS if kind.kind == "signed"]
EIGHT = [kind for kind in INTEGERS if kind.bits == 8]


def cast_kernel(target):
    return jit(lambda a: converted(a, target, OPS["tosa_cast"]), name="tosa_cast")


def wrapped(value, kind):
    """The value of a dtype that has the low bits of an integer."""
    return (value - kind.min) % (1 << kind.bits) + kind.min


# What the rows mean, on Python's integers.


def negate(x, in_zero, out_zero, kind):
    exact = in_zero + out_zero - x
    return min(max(exact, kind.min), kind.max) if kind.bits < 32 else wrapped(exact, kind)


def divide(x, y, kind):
    return wrapped(int(Fraction(x, y)), kind) if y else 0


def round_shift(x, n, kind):
    if not 0 <= n < kind.bits:
        return -1 if x < 0 else 0
    return wrapped((x + (1 << n >> 1)) >> n, kind)


def zero_shift(x, n, kind):
    return wrapped(x % (1 << kind.bits) >> n, kind) if 0 <= n < kind.bits else 0


def zeros(x, kind):
    return kind.bits - (x % (1 << kind.bits)).bit_length()


def multiply_shift(x, y, shift):
    places = max(shift, 0)
    exact = (x * y + (1 << places >> 1)) >> places if places < 64 else (-1 if x * y < 0 else 0)
    return wrapped(exact, dtype("i32"))


BINARY = {"truncate_divide": divide, "rounding_right_shift": round_shift, "logical_right_shift": zero_shift}


def every(kind):
    return np.arange(kind.min, kind.max + 1).astype(kind.np)


def test_the_table_has_the_rows():
    assert {row.name for row in TOSA_ROWS} <= set(OPS)
    assert {name for name in dir(bg) if name in OPS} >= {row.name for row in TOSA_ROWS if not row.params}


@pytest.mark.parametrize("kind", EIGHT, ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_every_pair_of_8_bit_integers(name, kind):
    x, y = every(kind)[:, None], every(kind)[None, :]
    expected = [[BINARY[name](int(a), int(b), kind) for b in y[0]] for a in x[:, 0]]
    for got in (getattr(bg, name)(x, y), OPS[name].evaluate(x, y)):
        assert got.dtype == kind.np
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("kind", INTEGERS, ids=str)
@pytest.mark.parametrize("name", BINARY)
def test_edges_of_wider_integers(name, kind, samples):
    x, y = samples(kind, 20, 1)[:, None], samples(kind, 20, 2)[None, :]
    expected = np.array([[BINARY[name](int(a), int(b), kind) for b in y[0]] for a in x[:, 0]], kind.np)
    for got in (getattr(bg, name)(x, y), OPS[name].evaluate(x, y)):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("kind", INTEGERS, ids=str)
def test_leading_zeros(kind, samples):
    x = every(kind) if kind.bits <= 16 else samples(kind, 500, 3)
    x = np.concatenate([x, np.array([1 << at for at in range(kind.bits - 1)], kind.np)])
    expected = [zeros(int(value), kind) for value in x]
    for got in (bg.clz(x), OPS["clz"].evaluate(x)):
        assert got.dtype == kind.np
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("kind", INTEGERS, ids=str)
def test_negation_with_zero_points(kind, samples):
    x = every(kind) if kind.bits == 8 else samples(kind, 20, 4)
    zero = samples(kind)
    x, first, second = x[:, None, None], zero[None, :, None], zero[None, None, :]
    expected = [[[negate(int(a), int(b), int(c), kind) for c in zero] for b in zero] for a in x.ravel()]
    for got in (bg.tosa_negate(x, first, second), OPS["tosa_negate"].evaluate(x, first, second)):
        assert got.dtype == kind.np
        np.testing.assert_array_equal(got, np.array(expected, kind.np))


def test_products_are_shifted_once_for_every_shift(samples):
    x, shift = samples(dtype("i32"), 6, 5), every(dtype("i8"))
    a, b, c = x[:, None, None], x[None, :, None], shift[None, None, :]
    expected = np.array([[[multiply_shift(int(p), int(q), int(s)) for s in shift] for q in x] for p in x], np.int32)
    for got in (bg.tosa_multiply_shift(a, b, c), OPS["tosa_multiply_shift"].evaluate(a, b, c)):
        assert got.dtype == np.int32
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    ("name", "operands", "expected"),
    [
        ("tosa_multiply_shift", ([5, -5], [3, 3], np.int8(1)), [8, -7]),
        ("tosa_multiply_shift", ([-(2**31)], [-(2**31)], np.int8(63)), [1]),
        ("rounding_right_shift", ([5, -5, -7, 5], [1, 1, 2, 0]), [3, -2, -2, 5]),
        ("truncate_divide", ([-7, 7, -(2**31), 5], [2, -2, -1, 0]), [-3, -3, -(2**31), 0]),
        ("logical_right_shift", ([-1, -1, 8], [31, 32, 2]), [1, 0, 2]),
        ("clz", ([0, 1, -1, 2**30],), [32, 31, 0, 1]),
        ("tosa_negate", ([-(2**31), 7], 0, 0), [-(2**31), -7]),
    ],
)
def test_values_that_the_specification_gives(name, operands, expected):
    given = [np.array(x, np.int32) if isinstance(x, list) else x for x in operands]
    assert getattr(bg, name)(*given).tolist() == expected


def test_negation_saturates_8_bits():
    assert bg.tosa_negate(np.int8([-128, -1, 0, 127]), 3, -5).tolist() == [126, -1, -2, -128]
    assert bg.tosa_negate(np.int8([-128]), 0, 0).tolist() == [127]


# ---- tosa_cast -------------------------------------------------------------------------------------------------------


def nearest(value, kind):
    """The integer nearest to a float, halves to even, in the range of a dtype; exact."""
    if np.isnan(value):
        return 0
    if np.isinf(value):
        return kind.max if value > 0 else kind.min
    return min(max(round(Fraction(float(value))), kind.min), kind.max)


def around_the_ends(source):
    """Halves, and the floats next to each end of each integer dtype."""
    ends = [0.0, *(float(end) for kind in INTEGERS for end in (kind.min, kind.max))]
    halves = np.arange(-260, 260.5, 0.5)
    values = np.concatenate([ends, *(np.add(ends, step) for step in (-1.5, -1, -0.5, 0.5, 1, 1.5)), halves])
    values = values.astype(source.np)
    both = [np.nextafter(values, source.np.type(way)) for way in (-np.inf, np.inf)]
    specials = np.array([np.nan, np.inf, -np.inf, -0.0, 0.49999997, -0.3, 1e20, -1e20], source.np)
    return np.concatenate([values, *both, specials])


@pytest.mark.parametrize("target", INTEGERS, ids=str)
@pytest.mark.parametrize("source", [F32, F64], ids=str)
def test_floats_go_to_the_nearest_integer_and_saturate(source, target, samples):
    x = np.concatenate([around_the_ends(source), samples(source, 300, 6)])
    expected = np.array([nearest(value, target) for value in x], target.np)
    for got in (cast_kernel(target)(x), OPS["tosa_cast"].evaluate(x, target)):
        assert got.dtype == target.np
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("target", INTEGERS, ids=str)
@pytest.mark.parametrize("source", ["f16", "bf16"])
def test_every_16_bit_float_goes_to_the_nearest_integer(source, target):
    if source == "bf16":
        pytest.importorskip("ml_dtypes")
    x = np.arange(1 << 16).astype(np.uint16).view(dtype(source).np)
    with np.errstate(invalid="ignore"):
        exact = x.astype(np.float64)
    expected = np.array([nearest(value, target) for value in exact], target.np)
    for got in (cast_kernel(target)(x), OPS["tosa_cast"].evaluate(x, target)):
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("source", INTEGERS, ids=str)
def test_integers_wrap_and_round_once(source, samples):
    x = samples(source, 300, 7)
    if source.bits == 64:
        # Between two f32, just above the middle, which an f64 on the way would make the middle.
        x = np.concatenate([x, np.array([2**60 + 2**36 + 1, 2**60 - 2**35 - 1], source.np)])
    for target in INTEGERS:
        assert cast_kernel(target)(x).tolist() == [wrapped(int(value), target) for value in x]
    for target in (F32, F64):
        got = cast_kernel(target)(x)
        for value, shown in zip(x, got, strict=True):
            apart = abs(Fraction(float(shown)) - int(value))
            beside = [np.nextafter(shown, target.np.type(way)) for way in (-np.inf, np.inf)]
            assert all(apart <= abs(Fraction(float(other)) - int(value)) for other in beside), (value, shown)


def test_bools_are_0_and_1_and_what_is_not_0_is_true():
    bools = np.array([False, True])
    for target in COMPUTED:
        if target.name != "bf16":
            assert cast_kernel(target)(bools).tolist() == [0, 1]
    to_bool = cast_kernel(dtype("bool"))
    assert to_bool(np.array([0.0, -0.0, 0.3, np.nan, np.inf])).tolist() == [False, False, True, True, True]
    assert to_bool(np.int8([0, -1, 2])).tolist() == [False, True, True]


def test_floats_narrow_with_one_rounding():
    got = cast_kernel(dtype("f16"))(np.array([65519.0, 65520.0, 1 + 2.0**-11 + 2.0**-40, 2.0**-25]))
    assert got.tolist() == [65504.0, np.inf, 1 + 2.0**-10, 0.0]


@pytest.mark.parametrize("target", SIGNED, ids=str)
@pytest.mark.parametrize("kind", [F32, F64], ids=str)
def test_a_cast_to_an_integer_forgets_the_sign_of_a_zero(kind, target):
    """As a compiler that takes (float)(int)x for rint(x) would not; alone in its loop, which is when gcc does."""
    kernel = jit(lambda a: converted(a, target, OPS["tosa_cast"]).astype(kind.np))
    for value in (-0.3, -0.0, 0.3):
        assert not np.signbit(kernel(np.full(67, value, kind.np))).any(), value


# ---- Python scalars, refusals, the interpreter -----------------------------------------------------------------------


def test_python_scalars_are_operands():
    assert cast_kernel(dtype("i8"))(2.5) == 2
    assert cast_kernel(dtype("i8"))(300) == 44
    assert bg.clz(5) == 61
    assert bg.truncate_divide(np.int8(-7), 2) == -3
    assert bg.tosa_multiply_shift(5, 3, 1) == 8


def test_constants_are_folded_as_they_are_computed():
    kernel = jit(
        lambda a: a + bg.truncate_divide(np.int8(-7), 2) + bg.clz(np.int8(1)) + bg.tosa_negate(np.int8(1), 0, 0)
    )
    assert kernel(np.int8([0])).tolist() == [-3 + 7 - 1]
    with pytest.raises((RangeError, DTypeError)):
        jit(lambda a: a + bg.truncate_divide(np.int8(7), 300))(np.int8([0]))


@pytest.mark.parametrize(
    "name", ["clz", "truncate_divide", "logical_right_shift", "rounding_right_shift", "tosa_negate"]
)
def test_floats_are_refused(name):
    with pytest.raises(DTypeError, match=rf"{name}\(f32.*integers only"):
        getattr(bg, name)(*[np.float32([1])] * OPS[name].arity)


def test_a_shift_of_another_dtype_is_refused():
    with pytest.raises(DTypeError, match="i32,i32,i8->i32"):
        bg.tosa_multiply_shift(np.int32([1]), np.int32([1]), np.int32([1]))


def test_the_interpreter_agrees():
    @jit
    def every_row(a, b):
        shift = converted(b, dtype("i8"), OPS["tosa_cast"])
        return (
            bg.tosa_multiply_shift(a, b, shift),
            bg.tosa_negate(bg.rounding_right_shift(a, b), b, 1),
            bg.clz(bg.logical_right_shift(a, b)),
            converted(bg.truncate_divide(a, b) * 0.5, dtype("i16"), OPS["tosa_cast"]),
        )

    values = np.int32([-(2**31), -9, -1, 0, 1, 3, 33, 2**31 - 1])
    a, b = values[:, None], values[None, :]
    got = every_row(a, b)
    compilation = every_row.compilation
    for mine, theirs in itertools.zip_longest(got, interpret(compilation.program, (a, b))):
        np.testing.assert_array_equal(mine, theirs)
