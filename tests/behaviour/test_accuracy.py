"""Accuracy of the mathematical functions: no error passes the bound of its row, against mpmath at 50 digits.

Errors are in units in the last place of the true value. Special values are C99's (Annex F), which are NumPy's.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.api.op_kernels import op_kernel
from bcastgen.core.dtypes import BF16, F16, F32, F64
from bcastgen.core.resources import bench_module
from bcastgen.ops.table import OPS
from long_runs import many

truth = bench_module("truth")
FUNCTIONS = [op for op in OPS.values() if op.ulp]
FLOATS = (F16, BF16, F32, F64)
# Each function with the dtypes that it gives.
TYPED = [
    pytest.param(op, dtype, id=f"{op.name}-{dtype}")
    for op in FUNCTIONS
    for dtype in FLOATS
    if op.types((dtype,) * op.arity)[1] is dtype
]
inf, nan, pi = math.inf, math.nan, math.pi


def worst(op, dtype, count):
    """The largest error over so many samples, and where it is."""
    operands = truth.operands_of(op, dtype, count)
    errors = truth.errors_of(op, dtype, operands, op_kernel(op)(*operands))
    at = int(errors.argmax())
    return float(errors[at]), tuple(values[at].item() for values in operands)


def bound(op, dtype):
    """The row's, in ULPs; of a 16-bit float that of f32 and half a ULP more, of its own, from rounding."""
    return 0.5 + op.ulp * 2.0**-12 if dtype.is_float16 else op.ulp


@pytest.mark.parametrize(("op", "dtype"), TYPED)
def test_errors_are_within_the_row_s_bound(op, dtype):
    error, values = worst(op, dtype, many(500, 1000))
    assert error <= bound(op, dtype), f"{op.name}{values} is {error:.2f} ULP off, more than {bound(op, dtype)}"


@pytest.mark.slow
@pytest.mark.parametrize(("op", "dtype"), TYPED)
def test_errors_of_many_samples_are_within_the_row_s_bound(op, dtype):
    error, values = worst(op, dtype, many(4_000, 20_000))
    assert error <= bound(op, dtype), f"{op.name}{values} is {error:.2f} ULP off, more than {bound(op, dtype)}"


@pytest.mark.parametrize("name", ["logaddexp", "logaddexp2"])
def test_the_rounding_error_of_a_distance_counts(name):
    """Beside a tiny operand the result is log(1 + e^-d), below 1/2, where rows promise less than is kept here."""
    op, chance = OPS[name], np.random.default_rng(1)
    pair = 2.0 ** chance.uniform(-20, -8, 200), -chance.uniform(2, 9, 200)
    results, true = op_kernel(op)(*pair), truth.truths_of(op, pair)
    errors = [truth.error_in_ulps(got, wanted, F64) for got, wanted in zip(results.tolist(), true, strict=True)]
    assert max(errors) <= op.ulp
    np.testing.assert_array_equal(op_kernel(op)(*pair[::-1]), results)


@pytest.mark.parametrize("exponent", [3, 4])
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_powers_by_constants_keep_the_bound_and_the_special_values(dtype, exponent, differences):
    op = OPS["power"]
    base, _ = truth.operands_of(op, dtype, 2000)
    with np.errstate(all="ignore"):
        specials = np.array([0.0, -0.0, inf, -inf, nan, 1e-320, -1e-120, 1e200, -2.0]).astype(dtype.np)
    base = np.concatenate([base, -base, specials])
    got = bg.jit(lambda a: a**exponent)(base)
    exponents = np.full_like(base, exponent)
    errors = truth.errors_of(op, dtype, (base, exponents), got)
    assert errors.max() <= bound(op, dtype), f"{base[errors.argmax()]}**{exponent}"
    assert not differences(got, op_kernel(op)(base, exponents), op.ulp_for(dtype)).any()


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
    "arcsinh": [*_ODD, *odd((inf, inf))],
    "arccosh": [(1.0, 0.0), (inf, inf), (0.5, nan), (-1.0, nan), (-inf, nan), (nan, nan)],
    "arctanh": [*_ODD, *odd((1.0, inf)), *even((1.5, nan), (inf, nan))],
    "cbrt": [*_ODD, *odd((inf, inf), (8.0, 2.0), (27.0, 3.0), (0.125, 0.5))],
    "erf": [*_ODD, *odd((inf, 1.0))],
    "erfc": [*even((0.0, 1.0)), (inf, 0.0), (-inf, 2.0), (nan, nan)],
    "sigmoid": [*even((0.0, 0.5)), (inf, 1.0), (-inf, 0.0), (nan, nan)],
    "rad2deg": [*_ODD, *odd((inf, inf), (pi, 180.0))],
    "deg2rad": [*_ODD, *odd((inf, inf))],
    "logaddexp": [
        *((inf, inf, inf), (inf, -inf, inf), (-inf, inf, inf), (-inf, -inf, -inf), (-inf, 3.0, 3.0), (nan, inf, nan)),
        *((nan, 1.0, nan), (1.0, nan, nan), (1000.0, 0.0, 1000.0), (-1000.0, 0.0, 0.0)),
    ],
    "logaddexp2": [
        *((inf, inf, inf), (inf, -inf, inf), (-inf, inf, inf), (-inf, -inf, -inf), (-inf, 3.0, 3.0), (nan, inf, nan)),
        *((nan, 1.0, nan), (1.0, nan, nan), (3.0, 3.0, 4.0), (-1.0, -1.0, 0.0)),
    ],
    "softplus": [(-inf, 0.0), (inf, inf), (nan, nan), (1e9, 1e9), (-1e9, 0.0)],
    "silu": [*odd((0.0, 0.0)), (inf, inf), (-inf, -0.0), (nan, nan), (1e9, 1e9), (-1e9, -0.0)],
    "mish": [*odd((0.0, 0.0)), (inf, inf), (-inf, -0.0), (nan, nan), (1e9, 1e9), (-1e9, -0.0)],
    "gelu": [*odd((0.0, 0.0)), (inf, inf), (nan, nan), (1e9, 1e9), (-1e9, -0.0), (-inf, -0.0)],
    "ndtr": [*even((0.0, 0.5)), (-inf, 0.0), (inf, 1.0), (nan, nan), (-1e9, 0.0), (1e9, 1.0)],
    "log_ndtr": [(-inf, -inf), (inf, -0.0), (1e9, -0.0), (nan, nan)],
    "ndtri": [(0.5, 0.0), *even((0.0, -inf)), (1.0, inf), (-1.0, nan), (2.0, nan), (inf, nan), (-inf, nan), (nan, nan)],
    "erfinv": [*_ODD, *odd((1.0, inf)), *even((2.0, nan), (inf, nan))],
    "logit": [*even((0.0, -inf)), (1.0, inf), (0.5, 0.0), (-1.0, nan), (2.0, nan), (inf, nan), (-inf, nan), (nan, nan)],
    "xlogy": [
        *((0.0, 0.0, 0.0), (0.0, inf, 0.0), (0.0, -1.0, 0.0), (0.0, nan, nan), (-0.0, 2.0, 0.0), (1.0, 0.0, -inf)),
        *((nan, 2.0, nan), (inf, 1.0, nan), (2.0, 1.0, 0.0), (2.0, -1.0, nan), (inf, inf, inf)),
    ],
    "xlog1py": [
        *((0.0, -1.0, 0.0), (0.0, inf, 0.0), (0.0, -2.0, 0.0), (0.0, nan, nan), (-0.0, 2.0, 0.0), (1.0, -1.0, -inf)),
        *((nan, 2.0, nan), (inf, 0.0, nan), (2.0, 0.0, 0.0), (2.0, -2.0, nan), (inf, inf, inf)),
    ],
    "gammaln": [
        *even((0.0, inf), (inf, inf)),
        *((1.0, 0.0), (2.0, 0.0), (-1.0, inf), (-2.0, inf), (-40.0, inf), (-1e9, inf), (nan, nan)),
        # Its largest finite value is that of 2.55e305.
        *((2.6e305, inf), (1e308, inf), (-1e308, inf)),
    ],
    "i0": [*even((0.0, 1.0), (inf, inf), (1e9, inf)), (nan, nan)],
    "rsqrt": [*odd((0.0, inf)), (inf, 0.0), (4.0, 0.5), (-1.0, nan), (-inf, nan), (nan, nan)],
}
SPECIAL["float_power"] = SPECIAL["power"]


def test_every_function_has_special_values():
    assert set(SPECIAL) == {op.name for op in FUNCTIONS}


@pytest.mark.parametrize(("op", "dtype"), TYPED)
def test_special_values_are_those_of_annex_f(op, dtype, differences):
    with np.errstate(over="ignore"):
        *operands, expected = (np.array(column).astype(dtype.np) for column in zip(*SPECIAL[op.name], strict=True))
    got = op_kernel(op)(*operands)
    # Multiples of pi are not whole: they are as exact as any other value.
    rounded = np.isin(np.abs(expected), np.array([pi / 4, pi / 2, 3 * pi / 4, pi], dtype.np))
    wrong = np.where(rounded, differences(got, expected, op.ulp_for(dtype)), differences(got, expected))
    rows = np.array(SPECIAL[op.name])[wrong]
    assert not wrong.any(), f"operands and expected result {rows.tolist()}; got {got[wrong].tolist()}"
