"""Angles that are hard to reduce, both sides of the bounds of near forms, and constants of the headers of angles.

The rest that is checked of every function (bounds in all builds, special values, vector code) is test_vmath.py's.
"""

from __future__ import annotations

import functools
import math
import re

import mpmath
import numpy as np
import pytest

import vmath
from bcastgen.core.dtypes import F32, F64
from bcastgen.core.resources import csrc_file
from bcastgen.ops.table import OPS

NAMES = ("sin", "cos", "tan")
DTYPES = pytest.mark.parametrize("dtype", [F32, F64], ids=str)
HEADERS = "\n".join(csrc_file(f"bcg_vmath_{name}.h").read_text(encoding="utf-8") for name in ("angle", "sin_cos"))


def near_bound(dtype):
    """The largest magnitude near forms take."""
    (text,) = re.findall(rf"#define BCG_SIN_COMMON_{dtype.name.upper()} (\S+?)f?$", HEADERS, re.MULTILINE)
    return float.fromhex(text) if "x" in text else float(text)


@functools.cache
def hard_angles(dtype):
    """Of each binade the numbers closest to multiples of pi / 2: convergents m / k of pi / 2 over the binade's unit."""
    info = np.finfo(dtype.np)
    digits = info.nmant + 1
    found = []
    with mpmath.workprec(2600):
        for exponent in range(-digits, int(info.maxexp) - digits + 1):
            ratio = mpmath.pi / 2 / mpmath.mpf(2) ** exponent
            before, last = (0, 1), (1, 0)
            while last[0] < 2**digits:
                whole = int(ratio)
                before, last = last, (whole * last[0] + before[0], whole * last[1] + before[1])
                if ratio == whole:
                    break
                ratio = 1 / (ratio - whole)
            numerator = before[0]
            if numerator:
                times = (2**digits - 1) // numerator
                found += [math.ldexp(numerator, exponent), math.ldexp(numerator * times, exponent)]
    return np.array(sorted({x for x in found if 0 < x <= float(info.max)}), dtype.np)


def worst(name, dtype, values, results):
    """The largest error, against mpmath with digits for all of the angle."""
    with mpmath.workprec(1400):
        function = getattr(mpmath, name)
        return max(
            (vmath.exact_error(float(r), function(mpmath.mpf(float(x))), dtype.np), float(x))
            for x, r in zip(values, results, strict=True)
        )


@DTYPES
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("flags", vmath.ROUNDINGS.values(), ids=vmath.ROUNDINGS)
def test_angles_closest_to_multiples_of_half_pi(name, dtype, flags):
    values = hard_angles(dtype)
    assert values.size > 100
    for form, bound in ((name, OPS[name].ulp), (f"{name}_fast", OPS[name].forms.fast_ulp)):
        results = vmath.library(*flags).call(f"{form}_{dtype}", values)
        error, at = worst(name, dtype, values, results)
        assert error <= bound, f"{form}({at!r}) is {error:.2f} ULP off"


def test_the_hardest_angles_are_among_them():
    """The f64 closest to a multiple of pi / 2 is known to be 6381956970095103 * 2^797, about 2^-60.9 off."""
    values = hard_angles(F64)
    assert math.ldexp(6381956970095103, 797) in values.tolist()


@DTYPES
@pytest.mark.parametrize("name", NAMES)
def test_angles_of_every_magnitude(name, dtype):
    rng = np.random.default_rng(5)
    info = np.finfo(dtype.np)
    values = np.exp2(rng.uniform(-20, np.log2(float(info.max)) - 0.01, 300)).astype(dtype.np)
    results = vmath.library().call(f"{name}_{dtype}", values)
    error, at = worst(name, dtype, values, results)
    assert error <= OPS[name].ulp, f"{name}({at!r}) is {error:.2f} ULP off"


@DTYPES
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("form", ["", "_fast"], ids=["accurate", "fast"])
def test_near_forms_give_the_bits_of_full_ones(name, form, dtype):
    bound = near_bound(dtype)
    values = np.random.default_rng(3).uniform(-bound, bound, 20_000).astype(dtype.np)
    values = np.concatenate([values, np.array([0.0, -0.0, bound, -bound, np.nan], dtype.np)])
    full = vmath.library().call(f"{name}{form}_{dtype}", values)
    near = vmath.library().call(f"{name}{form}_common_{dtype}", values)
    assert np.isnan(near[-1])
    assert np.array_equal(full.view(f"u{dtype.np.itemsize}")[:-1], near.view(f"u{dtype.np.itemsize}")[:-1])


@DTYPES
@pytest.mark.parametrize("name", NAMES)
def test_infinities_have_no_angle(name, dtype):
    values = np.array([np.inf, -np.inf, np.nan], dtype.np)
    assert np.isnan(vmath.library().call(f"{name}_{dtype}", values)).all()


@DTYPES
@pytest.mark.parametrize("form", ["", "_fast"], ids=["accurate", "fast"])
@pytest.mark.parametrize("flags", vmath.ROUNDINGS.values(), ids=vmath.ROUNDINGS)
def test_quadrants_of_arctan2(dtype, form, flags):
    info = np.finfo(dtype.np)
    least, most = float(info.smallest_subnormal), float(info.max)
    one = np.array([0.0, least, float(info.tiny), 0.5, 1, 3, most, np.inf, np.nan], dtype.np)
    y, x = (grid.ravel() for grid in np.meshgrid(np.concatenate([one, -one]), np.concatenate([one, -one])))
    got = vmath.library(*flags).call(f"arctan2{form}_{dtype}", y, x)
    with np.errstate(all="ignore"):
        close = np.arctan2(y.astype(np.longdouble), x.astype(np.longdouble))
    assert np.array_equal(np.isnan(got), np.isnan(close))
    number = ~np.isnan(close)
    assert np.array_equal(np.signbit(got[number]), np.signbit(close[number]))
    assert vmath.errors(got, close).max() <= (OPS["arctan2"].forms.fast_ulp if form else OPS["arctan2"].ulp)


def test_the_digits_of_two_over_pi():
    (table,) = re.findall(r"digits\[\] = \{(.*?)\}", HEADERS, re.DOTALL)
    words = [int(word, 16) for word in re.findall(r"0x\w+", table)]
    value = 0
    for word in words:
        value = value << 32 | word
    with mpmath.workprec(2000):
        # Two words of zeros come first, for angles near 1.
        assert value == int(mpmath.floor(2 / mpmath.pi * mpmath.mpf(2) ** (32 * (len(words) - 2))))
    # The largest exponent's window, and the word that is shifted into it.
    assert len(words) > (2046 - 1013) // 32 + 6


def parts_in(function):
    """The parts of pi that a function takes k times from its operand, where there is no FMA."""
    (body,) = re.findall(rf"^static inline \w+ {function}\(.*?\n{{\n(.*?)\n}}\n", HEADERS, re.DOTALL | re.MULTILINE)
    body = re.sub(r"#if.*?#else\n", "", body, flags=re.DOTALL)
    taken = re.findall(r"(?:- k \*|\(-k,) (0x1\.\w+p[+-]\d+)", body)
    added = re.findall(r"(?:= k \*|\(k,) (0x1\.\w+p[+-]\d+)", body)
    return {*map(float.fromhex, taken), *(-float.fromhex(text) for text in added)}


@pytest.mark.parametrize(
    ("function", "quarters", "bits"),
    [
        ("bcg_near_angle_f32", 1, 72),
        ("bcg_near_angle_f64", 1, 138),
        ("bcg_less_pi_f32", 2, 60),
        ("bcg_less_pi_f64", 2, 138),
    ],
)
def test_parts_of_pi_sum_to_it(function, quarters, bits):
    parts = parts_in(function)
    assert len(parts) > 3
    with mpmath.workprec(300):
        left = abs(mpmath.pi / 2 * quarters - sum(map(mpmath.mpf, parts)))
        assert left < mpmath.mpf(2) ** -bits
