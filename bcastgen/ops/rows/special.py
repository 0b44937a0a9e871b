"""Rows of functions that are made of others: angles, sums of logarithms, probabilities, activations.

In: nothing.  Out: rows, in the order in which they are listed.

    OPS["logit"].c_for((F64,), F64)  ->  "bcg_logit_f64({0})"

NumPy lacks most of them; their references compute in a wider dtype as far as it has one, and are no faster than needed.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.dtypes import F64, DType
from ...core.frozen import replace
from .. import dtype_rules as rules
from ..c_forms import CForms
from ..facts import Mlir
from ..row import Op
from .functions import as_float, function

__all__ = ["SPECIAL"]

_WIDE = np.longdouble
_PI = _WIDE("3.14159265358979323846264338327950288")


def _softplus(x: Any) -> Any:
    x = as_float(x)
    return np.logaddexp(x, x.dtype.type(0))


def _silu(x: Any) -> Any:
    x = as_float(x)
    wide = x.astype(_WIDE)
    return np.where(np.isneginf(wide), -0.0, wide / (1 + np.exp(-wide))).astype(x.dtype)


def _mish(x: Any) -> Any:
    x = as_float(x)
    wide = x.astype(_WIDE)
    e = np.exp(np.minimum(wide, 60))
    n = e * (e + 2)
    return np.where(np.isneginf(wide), -0.0, wide * (n / (n + 2))).astype(x.dtype)


def _erfc(z: Any) -> Any:
    """Return erfc of wide numbers: of small ones by a series, beyond by a continued fraction."""
    size = np.abs(z)
    near, far = np.minimum(size, 2), np.maximum(size, 2)
    term = total = near
    for n in range(1, 70):
        term = term * (2 * near * near / (2 * n + 1))
        total = total + term
    below = 1 - 2 / np.sqrt(_PI) * np.exp(-near * near) * total
    fraction = far
    for n in range(120, 0, -1):
        fraction = far + _WIDE(n) / 2 / fraction
    beyond = np.exp(-far * far) / np.sqrt(_PI) / fraction
    right = np.where(size < 2, below, np.where(np.isinf(size), 0, beyond))
    return np.where(np.isnan(z), z, np.where(z < 0, 2 - right, right))


def _below(x: Any) -> Any:
    return _erfc(-x / np.sqrt(_WIDE(2))) / 2


def _ndtr(x: Any) -> Any:
    x = as_float(x)
    return _below(x.astype(_WIDE)).astype(x.dtype)


def _gelu(x: Any) -> Any:
    x = as_float(x)
    wide = x.astype(_WIDE)
    return np.where(np.isinf(wide), np.where(wide > 0, wide, -0.0), wide * _below(wide)).astype(x.dtype)


def _log_ndtr(x: Any) -> Any:
    x = as_float(x)
    wide = x.astype(_WIDE)
    size = np.maximum(-wide, 10)
    fraction = size
    for n in range(60, 0, -1):
        fraction = size + n / fraction
    far = -size * size / 2 - np.log(np.sqrt(2 * _PI) * fraction)
    close = np.where(wide > 0, np.log1p(-_below(-np.abs(wide))), np.log(_below(np.maximum(wide, -10))))
    return np.where(wide < -10, far, close).astype(x.dtype)


def _logit(x: Any) -> Any:
    x = as_float(x)
    wide = x.astype(_WIDE)
    return np.where(wide < 0.25, np.log(wide) - np.log1p(-wide), 2 * np.arctanh(2 * wide - 1)).astype(x.dtype)


def _xlogy(x: Any, y: Any) -> Any:
    x, y = _alike(x, y)
    return np.where((x == 0) & ~np.isnan(y), x.dtype.type(0), x * np.log(y))


def _xlog1py(x: Any, y: Any) -> Any:
    x, y = _alike(x, y)
    return np.where((x == 0) & ~np.isnan(y), x.dtype.type(0), x * np.log1p(y))


def _alike(x: Any, y: Any) -> tuple[Any, Any]:
    loop = np.hypot(x, y).dtype
    return np.asarray(x).astype(loop), np.asarray(y).astype(loop)


def _quantile(p: float, rest: float) -> float:
    """Return the number that a normally distributed one is less than with probability p = 1 - rest."""
    from statistics import NormalDist  # noqa: PLC0415 - it takes longer to import than all rows

    if not (p >= 0 and rest >= 0):
        return math.nan
    if p == 0 or rest == 0:
        return math.copysign(math.inf, p - rest)
    return NormalDist().inv_cdf(p) if p <= rest else -NormalDist().inv_cdf(rest)


def _polished(start: Any, probability: Any) -> Any:
    """Return a quantile to more digits: one step of Newton's from a start, on the side where no digits cancel."""
    inside = np.where(np.isfinite(start), start, 0)
    size = -np.abs(inside)
    density = np.exp(-size * size / 2) / np.sqrt(2 * _PI)
    better = size - (_below(size) - probability) / density
    return np.where(np.isfinite(start), np.copysign(better, start), start)


def _ndtri(x: Any) -> Any:
    x = as_float(x)
    wide = x.astype(_WIDE)
    start = np.vectorize(_quantile, otypes=[_WIDE])(wide, 1 - wide)
    middle = (wide - 0.5) * np.sqrt(2 * _PI)
    return np.where(np.abs(middle) < 1e-6, middle, _polished(start, np.minimum(wide, 1 - wide))).astype(x.dtype)


def _erfinv(x: Any) -> Any:
    x = as_float(x)
    wide = x.astype(_WIDE)
    start = np.vectorize(_quantile, otypes=[_WIDE])((1 + wide) / 2, (1 - wide) / 2)
    found = _polished(start, (1 - np.abs(wide)) / 2) / np.sqrt(_WIDE(2))
    # Near 0 the series of erfinv, since 1 + x has lost digits of x.
    square = wide * wide * _PI
    near = wide * np.sqrt(_PI) / 2 * (1 + square * (1 / _WIDE(12) + square * (7 / _WIDE(480) + square * 127 / 40320)))
    return np.where(np.abs(wide) < 1e-2, near, found).astype(x.dtype)


def _zeta_less_1() -> Any:
    """Return zeta(k) - 1 for k from 2 to 45: the sum of some terms, and the rest by the Euler-Maclaurin formula."""
    k, n = np.arange(2, 46, dtype=_WIDE)[:, None], _WIDE(40)
    series = _WIDE(1)
    for at, ratio in ((7, 39.6), (5, 40), (3, 42), (1, 60)):
        series = 1 - (k + at) * (k + at + 1) / (_WIDE(ratio) * n * n) * series
    ends = n**-k / 2 + k * n ** (-k - 1) / 12 * series
    return ((np.arange(2, 40, dtype=_WIDE) ** -k).sum(axis=1, keepdims=True) + n ** (1 - k) / (k - 1) + ends)[:, 0]


def _gammaln(x: Any) -> Any:
    x = as_float(x)
    wide = x.astype(_WIDE)
    # Up to 20: the value at 2 + t, |t| <= 1/2, and a factor or divisor k + t for each whole k between 2 and x.
    close = np.where(np.abs(wide) < 20, wide, 1)
    whole = np.rint(close)
    t = close - whole
    gamma = _WIDE("0.57721566490153286060651209008240243104")
    total = t * (1 - gamma)
    for k, coefficient in enumerate(_zeta_less_1(), 2):
        total = total + coefficient * (-t) ** k / k
    product = np.ones_like(t)
    for k in range(-20, 21):
        product = product * np.where((k >= 2) & (k < whole), k + t, 1)
        product = product / np.where((k >= whole) & (k < 2), k + t, 1)
    near = total + np.where(np.isinf(product), np.inf, np.log(np.abs(np.where(np.isinf(product), 1, product))))
    # Beyond: Stirling's series; for a negative number the reflection formula, too.
    size = np.where(np.abs(wide) < 20, 20, np.abs(wide))
    series = 1 - 1 / (30 * size**2) * (1 - 2 / (7 * size**2) * (1 - 3 / (4 * size**2) * (1 - 140 / (99 * size**2))))
    far = (size - 0.5) * np.log(size) - size + np.log(2 * _PI) / 2 + series / (12 * size)
    sine = np.abs(np.sin(_PI * (wide - np.rint(wide))))
    left = np.where(sine == 0, np.inf, np.log(_PI / np.where(sine == 0, 1, sine)) - np.log(size) - far)
    beyond = np.where(wide > 0, far, left)
    value = np.where(np.abs(wide) < 20, near, np.where(np.isinf(wide), np.inf, beyond))
    return np.where(np.isnan(wide), wide, value).astype(x.dtype)


def _i0(x: Any) -> Any:
    x = np.asarray(x)
    x = x if x.dtype.kind == "f" else x.astype(np.float64)
    size = np.abs(x.astype(_WIDE))
    near, far = np.minimum(size, 40), np.maximum(size, 40)
    term = total = np.ones_like(near)
    for k in range(1, 100):
        term = term * (near / 2 / k) ** 2
        total = total + term
    term = series = np.ones_like(far)
    for k in range(1, 50):
        term = term * (2 * k - 1) ** 2 / (8 * k * far)
        series = series + term
    root = np.exp(np.minimum(far, 2000) / 2)
    beyond = root * (series / np.sqrt(2 * _PI * far)) * root
    return np.where(size < 40, total, np.where(np.isinf(size), size, beyond)).astype(x.dtype)


def _floats(op: str, operands: rules.Types) -> rules.Converted:
    """Return the dtype of functions, of integers f64, as numpy.i0 does."""
    return rules.floating(op, tuple(F64 if isinstance(x, DType) and not x.is_inexact else x for x in operands))


SPECIAL: tuple[Op, ...] = (
    function("rad2deg", "Angle in degrees of one in radians.", aliases=("degrees",), ulp=1, cost=0.5, mlir="@RAD2DEG"),
    function(
        "deg2rad",
        "Angle in radians of one in degrees.",
        (-360.0, 360.0),
        aliases=("radians",),
        ulp=1,
        cost=0.5,
        mlir="@DEG2RAD",
    ),
    Op(
        "float_power",
        2,
        rules.double,
        "bcg_power_f64({0}, {1})",
        "Power in f64 or c128, whatever the operands.",
        ulp=1,
        domain=(0.0, 8.0),
        cost_tenths_ns=26.0,
        forms=CForms(pairs=("f64",)),
        mlir=Mlir({"float": "math.powf"}),
    ),
    function(
        "logaddexp",
        "log(exp(x) + exp(y)), without overflow on the way; below 1/2 the error is in units of 1/2.",
        arity=2,
        ulp=2,
        ulp_of=0.5,
        cost=15.0,
    ),
    function(
        "logaddexp2",
        "log2(2**x + 2**y), without overflow on the way; below 1/2 the error is in units of 1/2.",
        arity=2,
        ulp=3,
        ulp_of=0.5,
        cost=15.0,
    ),
    function("softplus", "log(1 + exp(x)).", reference=_softplus, ulp=2, cost=15.0),
    function("silu", "x * sigmoid(x).", reference=_silu, ulp=3, cost=15.0),
    function("mish", "x * tanh(softplus(x)).", reference=_mish, ulp=5, cost=12.0),
    function("gelu", "x * ndtr(x).", reference=_gelu, ulp=3, cost=30.0),
    function("ndtr", "Probability that a normally distributed number is less.", reference=_ndtr, ulp=2, cost=30.0),
    function("log_ndtr", "log(ndtr(x)).", reference=_log_ndtr, ulp=4, cost=80.0),
    function("ndtri", "The number of which ndtr is the operand.", (0.0, 1.0), reference=_ndtri, ulp=3, cost=70.0),
    function("erfinv", "The number of which erf is the operand.", (-1.0, 1.0), reference=_erfinv, ulp=2, cost=70.0),
    function(
        "gammaln",
        "Logarithm of the gamma function's absolute value; infinite at 0 and at negative whole numbers.",
        (-10.0, 20.0),
        aliases=("lgamma",),
        reference=_gammaln,
        ulp=3,
        cost=90.0,
    ),
    replace(
        function("i0", "Modified Bessel function of the first kind, order 0.", reference=_i0, ulp=4, cost=55.0),
        rule=_floats,
    ),
    function("logit", "log(x / (1 - x)).", (0.0, 1.0), reference=_logit, ulp=2, cost=25.0),
    function("xlogy", "x * log(y); 0 where x is.", (0.0, 50.0), arity=2, reference=_xlogy, ulp=2, cost=9.0),
    function("xlog1py", "x * log1p(y); 0 where x is.", (-1.0, 50.0), arity=2, reference=_xlog1py, ulp=2, cost=10.0),
)
