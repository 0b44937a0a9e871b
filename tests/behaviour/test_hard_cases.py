"""Hard cases of the mathematical functions: operands chosen for what goes wrong there, against mpmath at 50 digits.

Of one operand: neighbours of the thresholds that the C itself compares with, of powers of 2 as operands and as results,
of 1 and of zeros, subnormal numbers, the ends of the range, and the floats next to multiples of pi / 2. Of two
operands: each special value with each other one.
"""

from __future__ import annotations

import functools
import math
import re

import mpmath
import numpy as np
import pytest

from bcastgen.api.op_kernels import op_kernel
from bcastgen.core.dtypes import F32, F64
from bcastgen.core.resources import bench_module
from bcastgen.emit.c_text.helpers import helper_text
from bcastgen.ops.table import OPS

truth = bench_module("truth")
FUNCTIONS = [op for op in OPS.values() if op.ulp]
# A number that is compared with, on either side, and in BCG_<NAME>_COMMON.
_NUMBER = r"(-?(?:0x[0-9a-f.]+p[+-]?\d+|\d+(?:\.\d*)?(?:e[+-]?\d+)?))f?\b"
_COMPARED = re.compile(rf"(?:[<>]=?\s*{_NUMBER}|{_NUMBER}\s*[<>]=?|#define \w+ {_NUMBER})")
# mpmath takes milliseconds for a value of these.
SLOW_TRUTHS = {"ndtri", "erfinv", "log_ndtr", "i0", "gammaln"}


def typed(arity):
    return [
        pytest.param(op, kind, id=f"{op.name}-{kind}")
        for op in FUNCTIONS
        for kind in (F32, F64)
        if op.arity == arity and op.types((kind,) * arity)[1] is kind
    ]


def thresholds(op, kind):
    """The numbers that the C of a function compares with."""
    text = helper_text(op.c_for((kind,) * op.arity, kind))
    found = (next(filter(None, groups)) for groups in _COMPARED.findall(text))
    return sorted({abs(float.fromhex(x)) if "x" in x else abs(float(x)) for x in found} - {0.0})


def neighbours(values, kind, reach=3):
    """Values of either sign, and the floats on each side of them."""
    with np.errstate(over="ignore"):
        values = np.array(values, np.float64).astype(kind.np)
    values = values[np.isfinite(values) & (values != 0)]
    bits = values.view(f"u{kind.bytes}")[:, None] + np.arange(-reach, reach + 1).astype(f"u{kind.bytes}")
    values = np.unique(bits.ravel().view(kind.np))
    values = values[np.isfinite(values) & (values != 0)]
    return np.concatenate([values, -values])


@functools.cache
def next_to_quarter_turns(kind):
    """The floats of each exponent that are closest to a multiple of pi / 2, by continued fractions."""
    digits, found = {F32: 24, F64: 53}[kind], []
    with mpmath.workdps(700):
        for exponent in range(-2, {F32: 104, F64: 971}[kind], {F32: 3, F64: 19}[kind]):
            ratio = mpmath.ldexp(2 / mpmath.pi, exponent)
            before, denominator, rest = 0, 1, ratio
            while denominator < 2**digits:
                if denominator * 2 >= 2**digits:
                    found.append(math.ldexp(denominator, exponent))
                whole = mpmath.floor(rest)
                rest = 1 / (rest - whole)
                before, denominator = denominator, int(mpmath.floor(rest)) * denominator + before
            # A multiple of the last one has all digits, too, and is almost as close.
            found.append(math.ldexp(before * (2**digits // max(before, 1)), exponent))
    return [*found, math.ldexp(6381956970095103, 797)]


def cases(op, kind):
    """Operands of a function of one operand, sorted by where they come from."""
    info = np.finfo(kind.np)
    ones = [1 + sign * 2.0**-k for k in (1, 2, 5, 9, 14, 20, 23, 30, 45, 52) for sign in (1, -1)]
    small = [info.smallest_subnormal * k for k in (1, 2, 3, 1000)] + [float(info.tiny) * x for x in (0.5, 1, 1.5)]
    ends = [float(info.max), float(info.max) / 2, float(info.eps), *map(float, truth._turning_points(kind))]
    chosen = [
        neighbours(thresholds(op, kind), kind),
        neighbours([*ones, 1.0, 2.0, 0.5, math.e], kind, 2),
        neighbours(small, kind, 1),
        neighbours(ends, kind, 1),
    ]
    if op.name in ("sin", "cos", "tan"):
        chosen.append(neighbours(next_to_quarter_turns(kind), kind, 0))
    # Results next to a power of 2, where a unit in the last place changes: those of many samples that are closest.
    (many,) = truth.operands_of(op, kind, 40_000, 5)
    with np.errstate(all="ignore"):
        size = np.abs(np.asarray(op_kernel(op)(many), np.float64))
        distance = np.abs(np.log2(size) - np.rint(np.log2(size)))
    places = np.argsort(np.where(np.isfinite(distance) & (distance > 0), distance, 1))[:60]
    return np.concatenate([*chosen, many[places]])


@pytest.mark.parametrize(("op", "kind"), typed(1))
def test_no_error_passes_the_bound_where_things_turn(op, kind):
    given = cases(op, kind)
    most = 40 if op.name in SLOW_TRUTHS else 200
    given = given[:: max(1, len(given) // most)] if kind is F64 or len(given) > most else given
    hold(op, kind, (given,))


@pytest.mark.slow
@pytest.mark.parametrize(("op", "kind"), [one for one in typed(1) if one.values[0].name not in SLOW_TRUTHS])
def test_no_error_passes_the_bound_in_any_hard_case(op, kind):
    hold(op, kind, (cases(op, kind),))


SPECIAL = """
    0.0 5e-324 1e-310 2.3e-308 1e-200 1e-45 1e-40 1.2e-38 1e-20 1e-9 0.25 0.5 0.99999994 0.9999999999999999 1.0
    1.0000001 1.0000000000000002 1.5 2.0 3.0 4.0 10.5 127.0 128.0 709.0 1074.0 16777215.0 9007199254740991.0
    9007199254740992.0 9.223372036854775808e18 1e19 3e38 1e100 1.7e308 inf nan"""


@pytest.mark.parametrize(("op", "kind"), typed(2))
def test_functions_of_two_operands_over_all_pairs_of_special_values(op, kind):
    with np.errstate(over="ignore"):
        values = np.unique(np.array(SPECIAL.split(), np.float64).astype(kind.np))
    values = np.concatenate([values, -values])
    x, y = map(np.ravel, np.meshgrid(values, values))
    got, expected = op_kernel(op)(x, y), np.asarray(op.evaluate(x, y))
    # NumPy decides beside zeros, infinities and NaN, and on signs; mpmath on all other values.
    special = ~(np.isfinite(x) & np.isfinite(y)) | (x == 0) | (y == 0)
    with np.errstate(all="ignore"):
        unit = np.maximum(np.spacing(np.abs(np.nan_to_num(expected))), np.spacing(kind.np.type(op.ulp_of)))
        wrong = ~((got == expected) | (np.isnan(got) & np.isnan(expected)) | (abs(got - expected) <= op.ulp * unit))
    wrong |= (np.signbit(got) != np.signbit(expected)) & ~np.isnan(got) & (op.ulp_of == 0)
    shown = list(zip(*(column[special & wrong] for column in (x, y, got, expected)), strict=True))
    assert not shown, shown[:8]
    hold(op, kind, (x[~special], y[~special]))


def hold(op, kind, given):
    """Every error is within the bound of the row."""
    with np.errstate(all="ignore"):
        errors = truth.errors_of(op, kind, given, op_kernel(op)(*given))
    at = int(errors.argmax())
    assert errors[at] <= op.ulp_for(kind), f"{op.name}{[x[at].item().hex() for x in given]}: {errors[at]:.3f} ULP"


def test_thresholds_are_found_in_the_c():
    assert {18.5, 0.0625} <= set(thresholds(OPS["gammaln"], F64))
    assert all(thresholds(OPS[name], kind) for name in ("exp", "log1p", "erfc") for kind in (F32, F64))
