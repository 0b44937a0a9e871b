"""Accuracy of the mathematical functions: no error passes the bound of its row, against mpmath at 50 digits.

Errors are in units in the last place of the true value. Special values are C99's (Annex F), which are NumPy's.
"""

from __future__ import annotations

import functools
import math

import ml_dtypes
import mpmath
import numpy as np
import pytest

from bcastgen.api import op_kernel
from bcastgen.dtypes import BF16, F16, F32, F64
from bcastgen.ops import OPS

FUNCTIONS = [op for op in OPS.values() if op.ulp]
FLOATS = (F16, BF16, F32, F64)
inf, nan, pi = math.inf, math.nan, math.pi


def truth_of(op):
    """The function at mpmath's precision; most have the row's name there, or an alias of it."""
    if op.name == "rsqrt":
        return lambda x: 1 / mpmath.sqrt(x)
    return next(getattr(mpmath, name) for name in (op.name, *op.aliases) if hasattr(mpmath, name))


@functools.cache
def turning_points(dtype):
    """Where functions have zeros, poles and limits: their neighbourhoods are where accuracy is lost."""
    info = ml_dtypes.finfo(dtype.np)
    largest = float(np.log(np.longdouble(info.max)))
    least = float(np.log(np.longdouble(info.smallest_subnormal)))
    turns = [k * pi / 2 for k in (1, 2, 3, 4, 5, 6, 7, 8, 22, 355, 710, 104348, 3126535, 2**22, 2**40)]
    limits = [largest, least, largest / math.log(2), least / math.log(2), math.sqrt(info.max), math.sqrt(info.tiny)]
    points = np.array([0.5, 1.0, 2.0, math.e, 10.0, 0.84375, 1.25, 6.0, 9.0, 22.0, 709.0, *turns, *map(float, limits)])
    with np.errstate(over="ignore"):
        points = points.astype(dtype.np)
    return points[np.isfinite(points)]


def draw(op, dtype, count, seed):
    """Samples of one operand: from the row's domain, of every magnitude, and beside the points where things turn."""
    random = np.random.default_rng(seed)
    info = ml_dtypes.finfo(dtype.np)
    near = random.uniform(*op.domain, count // 4)
    magnitudes = np.exp2(random.uniform(np.log2(float(info.smallest_subnormal)), info.maxexp, count // 4))
    moderate = np.exp2(random.uniform(-info.nmant - 6, 12, count // 4))
    points = random.choice(turning_points(dtype), count - 3 * (count // 4)).astype(np.float64)
    steps = random.integers(-4, 5, points.size) * float(info.eps) + random.choice([0, 1], points.size) * np.exp2(
        random.uniform(-info.nmant, -4, points.size)
    )
    rest = np.concatenate([magnitudes, moderate, points * (1 + steps)]) * random.choice([-1, 1], count - near.size)
    with np.errstate(over="ignore"):
        drawn = np.concatenate([near, rest]).astype(dtype.np)
    return random.permutation(drawn[np.isfinite(drawn)])


def power_operands(dtype, count, seed):
    """Bases and exponents whose power is mostly neither 0 nor an infinity; negative bases have whole exponents."""
    random = np.random.default_rng(seed)
    base = np.abs(draw(OPS["power"], dtype, count, seed))
    base[: count // 4] = 1 + base[: count // 4] * random.choice([-1, 1], count // 4) % 0.01
    base = np.where(base == 0, dtype.np.type(1.5), base).astype(dtype.np)
    info = ml_dtypes.finfo(dtype.np)
    reach = info.maxexp / np.maximum(np.abs(np.log2(base.astype(np.float64))), 1e-300)
    exponent = np.clip(reach * random.uniform(-1.1, 1.1, base.size), float(info.min), float(info.max))
    whole = random.random(base.size) < 0.4
    base = np.where(whole, base * random.choice([-1, 1], base.size), base).astype(dtype.np)
    return base, np.where(whole, np.rint(exponent), exponent).astype(dtype.np)


def operands_of(op, dtype, count):
    if op.name == "power":
        return power_operands(dtype, count, 0)
    drawn = [draw(op, dtype, count, seed) for seed in range(op.arity)]
    return [values[: min(map(len, drawn))] for values in drawn]


def error_in_ulps(got, truth, dtype):
    """Distance of a result from the true value, in units of the last place that the true value has in the dtype."""
    info = ml_dtypes.finfo(dtype.np)
    if not isinstance(truth, mpmath.mpf) or mpmath.isnan(truth):
        return 0.0 if math.isnan(got) else inf  # A complex value: outside the function's real domain.
    if math.isnan(got):
        return inf
    # What is beyond the largest number counts as the power of 2 after it, and so does an infinity.
    beyond = mpmath.ldexp(1, int(info.maxexp))
    truth, got = (mpmath.sign(x) * min(abs(x), beyond) for x in (truth, mpmath.mpf(got)))
    exponent = max(mpmath.mag(truth) - 1, int(info.minexp)) if truth != 0 else int(info.minexp)
    if abs(truth) == beyond:
        exponent -= 1
    return float(mpmath.ldexp(abs(got - truth), int(info.nmant) - exponent))


def worst(op, dtype, count):
    """The largest error over so many samples, and where it is."""
    operands = operands_of(op, dtype, count)
    results = op_kernel(op)(*operands)
    truth = truth_of(op)
    found = (0.0, ())
    with mpmath.workdps(50):
        for got, *values in zip(results.tolist(), *(x.tolist() for x in operands), strict=True):
            exact = truth(*map(mpmath.mpf, values))
            found = max(found, (error_in_ulps(got, exact, dtype), tuple(values)))
    return found


def bound(op, dtype):
    """The row's, in ULPs; of a 16-bit float that of f32 and half a ULP more, of its own, from rounding."""
    return 0.5 + op.ulp * 2.0**-12 if dtype.is_half else op.ulp


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("op", FUNCTIONS, ids=lambda op: op.name)
def test_errors_are_within_the_row_s_bound(op, dtype):
    error, values = worst(op, dtype, 1000)
    assert error <= bound(op, dtype), f"{op.name}{values} is {error:.2f} ULP off, more than {bound(op, dtype)}"


@pytest.mark.slow
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("op", FUNCTIONS, ids=lambda op: op.name)
def test_errors_of_many_samples_are_within_the_row_s_bound(op, dtype):
    error, values = worst(op, dtype, 20_000)
    assert error <= bound(op, dtype), f"{op.name}{values} is {error:.2f} ULP off, more than {bound(op, dtype)}"


def odd(*rows):
    """Rows, and what they are with the first operand's sign changed."""
    return [*rows, *((-x, *rest, -result) for x, *rest, result in rows)]


def even(*rows):
    return [*rows, *((-x, *rest, result) for x, *rest, result in rows)]


_LOG = [*even((0.0, -inf)), (1.0, 0.0), (-1.0, nan), (-inf, nan), (inf, inf), (nan, nan)]
_EXP = [*even((0.0, 1.0)), (-inf, 0.0), (inf, inf), (1e9, inf), (-1e9, 0.0), (nan, nan)]
_ODD = [*odd((0.0, 0.0)), (nan, nan)]

# Operands, then the result.
SPECIAL = {
    "exp": _EXP,
    "exp2": [*_EXP, (10.0, 1024.0), (-1.0, 0.5)],
    "expm1": [*odd((0.0, 0.0)), (-inf, -1.0), (inf, inf), (nan, nan)],
    "log": _LOG,
    "log2": [*_LOG, (1024.0, 10.0)],
    "log10": [*_LOG, (1000.0, 3.0)],
    "log1p": [*odd((0.0, 0.0)), (-1.0, -inf), (-2.0, nan), (-inf, nan), (inf, inf), (nan, nan)],
    "sin": [*_ODD, (inf, nan), (-inf, nan)],
    "cos": [*even((0.0, 1.0)), (inf, nan), (-inf, nan), (nan, nan)],
    "tan": [*_ODD, (inf, nan), (-inf, nan)],
    "tanh": [*_ODD, *odd((inf, 1.0))],
    "sinh": [*_ODD, *odd((inf, inf))],
    "cosh": [*even((0.0, 1.0), (inf, inf)), (nan, nan)],
    "arcsin": [*_ODD, *odd((1.0, pi / 2)), (1.5, nan), (-inf, nan)],
    "arccos": [(1.0, 0.0), (-1.0, pi), *even((0.0, pi / 2)), (1.5, nan), (-inf, nan), (nan, nan)],
    "arctan": [*_ODD, *odd((inf, pi / 2))],
    "arctan2": [
        *odd((0.0, -0.0, pi), (0.0, 0.0, 0.0), (0.0, -1.0, pi), (0.0, 1.0, 0.0), (0.0, -inf, pi), (0.0, inf, 0.0)),
        *odd((1.0, -0.0, pi / 2), (1.0, 0.0, pi / 2), (1.0, -inf, pi), (1.0, inf, 0.0)),
        *odd((inf, 1.0, pi / 2), (inf, -inf, 3 * pi / 4), (inf, inf, pi / 4)),
        *((nan, 1.0, nan), (1.0, nan, nan)),
    ],
    "hypot": [
        *even((3.0, 0.0, 3.0), (3.0, -4.0, 5.0), (inf, nan, inf), (inf, 1.0, inf)),
        *((nan, -inf, inf), (nan, 1.0, nan)),
    ],
    "power": [
        *odd((0.0, -3.0, inf), (0.0, 3.0, 0.0), (inf, -3.0, 0.0), (inf, 3.0, inf)),
        *even((0.0, -2.0, inf), (0.0, -1.5, inf), (0.0, -inf, inf), (0.0, 2.0, 0.0), (0.0, 1.5, 0.0), (0.0, inf, 0.0)),
        *even((inf, -2.0, 0.0), (inf, -1.5, 0.0), (inf, 2.0, inf), (inf, 1.5, inf)),
        *even((0.5, -inf, inf), (2.0, -inf, 0.0), (0.5, inf, 0.0), (2.0, inf, inf), (1.0, inf, 1.0), (1.0, -inf, 1.0)),
        *even((2.0, 0.0, 1.0), (nan, 0.0, 1.0), (inf, -0.0, 1.0), (0.0, 0.0, 1.0)),
        *((1.0, nan, 1.0), (-1.0, nan, nan), (nan, 1.0, nan), (2.0, nan, nan), (-2.0, 0.5, nan)),
    ],
    "erf": [*_ODD, *odd((inf, 1.0))],
    "sigmoid": [*even((0.0, 0.5)), (inf, 1.0), (-inf, 0.0), (nan, nan)],
    "rsqrt": [*odd((0.0, inf)), (inf, 0.0), (4.0, 0.5), (-1.0, nan), (-inf, nan), (nan, nan)],
}


def test_every_function_has_special_values():
    assert set(SPECIAL) == {op.name for op in FUNCTIONS}


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize("op", FUNCTIONS, ids=lambda op: op.name)
def test_special_values_are_those_of_annex_f(op, dtype, differences):
    with np.errstate(over="ignore"):
        *operands, expected = (np.array(column).astype(dtype.np) for column in zip(*SPECIAL[op.name], strict=True))
    got = op_kernel(op)(*operands)
    # Multiples of pi are not whole: they are as exact as any other value.
    rounded = np.isin(np.abs(expected), np.array([pi / 4, pi / 2, 3 * pi / 4, pi], dtype.np))
    wrong = np.where(rounded, differences(got, expected, op.ulp_for(dtype)), differences(got, expected))
    rows = np.array(SPECIAL[op.name])[wrong]
    assert not wrong.any(), f"operands and expected result {rows.tolist()}; got {got[wrong].tolist()}"
