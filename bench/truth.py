"""What functions are held against: samples where accuracy is lost, true values by mpmath, errors in ULPs.

In: a row of the table of ops, a dtype.  Out: operands; then the errors of what a kernel gave for them.

    operands = operands_of(OPS["exp"], F32, 1000)
    errors_of(OPS["exp"], F32, operands, results)  ->  array([0.21, 0.5, ...])

Errors are in units in the last place that the true value has in the dtype, subnormals' unit being the least number;
what is beyond the largest number counts as the power of 2 after it. mpmath is a development dependency.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import mpmath
import numpy as np
from numpy.typing import NDArray

from bcastgen.core.dtypes import DType
from bcastgen.ops.row import Op

__all__ = ["Array", "error_in_ulps", "errors_of", "operands_of", "truth_of"]

Array = NDArray[Any]
Truth = Callable[..., Any]
# As np.finfo, of bf16 too; it carries no types.
_finfo: Callable[..., Any] = ml_dtypes.finfo
_DIGITS = 50


def _cbrt(x: Any) -> Any:
    return mpmath.sign(x) * mpmath.cbrt(abs(x))


def _rsqrt(x: Any) -> Any:
    return 1 / mpmath.sqrt(x)


def _erfc(x: Any) -> Any:
    """Far out mpmath fails, where the values are 0 and 2 to any precision that counts."""
    return mpmath.erfc(x) if abs(x) < 200 else mpmath.mpf(0 if x > 0 else 2)


def _below(x: Any) -> Any:
    return _erfc(-x / mpmath.sqrt(2)) / 2


def _log_ndtr(x: Any) -> Any:
    """Far out mpmath fails, where the continued fraction is soon exact."""
    if x > -100:
        return mpmath.log1p(-_below(-x)) if x > 0 else mpmath.log(_below(x))
    fraction = x
    for n in range(30, 0, -1):
        fraction = x + n / fraction
    return -x * x / 2 - mpmath.log(-fraction * mpmath.sqrt(2 * mpmath.pi))


def _logaddexp(x: Any, y: Any) -> Any:
    large, less = max(x, y), -abs(x - y)
    return large + (mpmath.log1p(mpmath.exp(less)) if less > -2000 else 0)


def _logaddexp2(x: Any, y: Any) -> Any:
    large, less = max(x, y), -abs(x - y)
    return large + (mpmath.log1p(mpmath.power(2, less)) / mpmath.log(2) if less > -3000 else 0)


def _softplus(x: Any) -> Any:
    return _logaddexp(x, mpmath.mpf(0)) if x > -1000 else mpmath.exp(max(x, -100000))


def _mish(x: Any) -> Any:
    if abs(x) > 2000:
        return x if x > 0 else mpmath.mpf(0)
    n = mpmath.exp(x) * (mpmath.exp(x) + 2)
    return x * n / (n + 2)


def _silu(x: Any) -> Any:
    return x / (1 + mpmath.exp(-x)) if x > -2000 else mpmath.mpf(0)


def _erfinv(x: Any) -> Any:
    """Halves find it where mpmath has too few digits near 1."""
    if abs(x) > 1:
        return mpmath.nan
    if abs(x) == 1:
        return mpmath.inf * x
    return mpmath.erfinv(x) if abs(x) < 0.9 else mpmath.sign(x) * _quantile((1 - abs(x)) / 2) / -mpmath.sqrt(2)


def _quantile(p: Any) -> Any:
    """The quantile of a probability up to 1/2, by Newton's steps on logarithms from a start of a few digits."""
    x = -mpmath.sqrt(-2 * mpmath.log(p))
    for _ in range(60):
        density = mpmath.exp(-x * x / 2) / mpmath.sqrt(2 * mpmath.pi)
        value = _below(x)
        step = (mpmath.log(value) - mpmath.log(p)) * value / density
        x -= step
        if abs(step) < abs(x) * mpmath.mpf(10) ** -40:
            break
    return x


def _ndtri(p: Any) -> Any:
    if not 0 <= p <= 1:
        return mpmath.nan
    if p in (0, 1):
        return mpmath.inf * (2 * p - 1)
    if abs(p - 0.5) < 0.1:
        return mpmath.erfinv(2 * p - 1) * mpmath.sqrt(2)
    return _quantile(p) if p < 0.5 else -_quantile(1 - p)


def _logit(x: Any) -> Any:
    if 0 < x < 1:
        return mpmath.log(x) - mpmath.log1p(-x)
    return mpmath.inf * (2 * x - 1) if x in (0, 1) else mpmath.nan


def _xlogy(x: Any, y: Any) -> Any:
    return mpmath.mpf(0) if x == 0 else x * mpmath.log(y)


def _xlog1py(x: Any, y: Any) -> Any:
    return mpmath.mpf(0) if x == 0 else x * mpmath.log1p(y)


def _gammaln(x: Any) -> Any:
    """By the product of both gammas for negative numbers; infinite where one is."""
    if x > 0:
        return mpmath.loggamma(x)
    if x == mpmath.floor(x):
        return mpmath.inf
    with mpmath.extradps(400 if abs(x) < 400 else 0):
        return mpmath.log(mpmath.pi / abs(mpmath.sinpi(x))) - mpmath.loggamma(1 - x)


_OWN: dict[str, Truth] = {
    "gammaln": _gammaln,
    "i0": lambda x: mpmath.besseli(0, x) if abs(x) < 2000 else mpmath.inf,
    # mpmath has these from 1.4 on, and SymPy keeps it below that.
    "exp2": lambda x: mpmath.power(2, x),
    "log2": lambda x: mpmath.log(x) / mpmath.ln2,
    "cbrt": _cbrt,
    "rsqrt": _rsqrt,
    "erfc": _erfc,
    "rad2deg": mpmath.degrees,
    "deg2rad": mpmath.radians,
    "float_power": mpmath.power,
    "logaddexp": _logaddexp,
    "logaddexp2": _logaddexp2,
    "softplus": _softplus,
    "silu": _silu,
    "mish": _mish,
    "gelu": lambda x: x * _below(x),
    "ndtr": _below,
    "log_ndtr": _log_ndtr,
    "ndtri": _ndtri,
    "erfinv": _erfinv,
    "logit": _logit,
    "xlogy": _xlogy,
    "xlog1py": _xlog1py,
}


def truth_of(op: Op) -> Truth:
    """Return the function at mpmath's precision; most have the row's name there, or an alias of it."""
    if op.name in _OWN:
        return _OWN[op.name]
    found: Truth = next(getattr(mpmath, name) for name in (op.name, *op.aliases) if hasattr(mpmath, name))
    return found


@functools.cache
def _turning_points(dtype: DType) -> Array:
    """Where functions have zeros, poles and limits: their neighbourhoods are where accuracy is lost."""
    info = _finfo(dtype.np)
    largest = float(np.log(np.longdouble(info.max)))
    least = float(np.log(np.longdouble(info.smallest_subnormal)))
    turns = [k * math.pi / 2 for k in (1, 2, 3, 4, 5, 6, 7, 8, 22, 355, 710, 104348, 3126535, 2**22, 2**40)]
    limits = [largest, least, largest / math.log(2), least / math.log(2), math.sqrt(info.max), math.sqrt(info.tiny)]
    points = np.array([0.5, 1.0, 2.0, math.e, 10.0, 0.84375, 1.25, 6.0, 9.0, 22.0, 709.0, *turns, *map(float, limits)])
    with np.errstate(over="ignore"):
        points = points.astype(dtype.np)
    kept: Array = points[np.isfinite(points)]
    return kept


def _draw(op: Op, dtype: DType, count: int, seed: int) -> Array:
    """Samples of one operand: from the row's domain, of every magnitude, and beside the points where things turn."""
    random = np.random.default_rng(seed)
    info = _finfo(dtype.np)
    near = random.uniform(*op.domain, count // 4)
    magnitudes = np.exp2(random.uniform(np.log2(float(info.smallest_subnormal)), info.maxexp, count // 4))
    moderate = np.exp2(random.uniform(-info.nmant - 6, 12, count // 4))
    points = random.choice(_turning_points(dtype), count - 3 * (count // 4)).astype(np.float64)
    steps = random.integers(-4, 5, points.size) * float(info.eps) + random.choice([0, 1], points.size) * np.exp2(
        random.uniform(-info.nmant, -4, points.size)
    )
    rest = np.concatenate([magnitudes, moderate, points * (1 + steps)]) * random.choice([-1, 1], count - near.size)
    with np.errstate(over="ignore"):
        drawn = np.concatenate([near, rest]).astype(dtype.np)
    shuffled: Array = random.permutation(drawn[np.isfinite(drawn)])
    return shuffled


def _power_operands(op: Op, dtype: DType, count: int, seed: int) -> tuple[Array, Array]:
    """Bases and exponents whose power is mostly neither 0 nor an infinity; negative bases have whole exponents."""
    random = np.random.default_rng(seed)
    base = np.abs(_draw(op, dtype, count, seed))
    base[: count // 4] = 1 + base[: count // 4] * random.choice([-1, 1], count // 4) % 0.01
    base = np.where(base == 0, dtype.np.type(1.5), base).astype(dtype.np)
    info = _finfo(dtype.np)
    reach = info.maxexp / np.maximum(np.abs(np.log2(base.astype(np.float64))), 1e-300)
    exponent = np.clip(reach * random.uniform(-1.1, 1.1, base.size), float(info.min), float(info.max))
    whole = random.random(base.size) < 0.4
    base = np.where(whole, base * random.choice([-1, 1], base.size), base).astype(dtype.np)
    return base, np.where(whole, np.rint(exponent), exponent).astype(dtype.np)


def operands_of(op: Op, dtype: DType, count: int, seed: int = 0) -> tuple[Array, ...]:
    """Return about so many samples of each operand."""
    if op.name in ("power", "float_power"):
        return _power_operands(op, dtype, count, seed)
    drawn = [_draw(op, dtype, count, seed + at) for at in range(op.arity)]
    return tuple(values[: min(map(len, drawn))] for values in drawn)


def error_in_ulps(got: float, truth: Any, dtype: DType, least_size: float = 0.0) -> float:
    """Return the distance of a result from the true value; a complex one is outside the function's real domain.

    With `least_size` the unit is at least that of a result of this magnitude.

    Examples
    --------
    >>> from bcastgen.core.dtypes import F64
    >>> error_in_ulps(1.0, mpmath.mpf(1) + mpmath.mpf(2) ** -54, F64)
    0.25
    """
    digits, least, most = _exponents(dtype)
    if least_size:
        least = max(least, math.frexp(least_size)[1] - 1)
    if isinstance(truth, mpmath.mpf) and truth and math.isfinite(got) and (magnitude := mpmath.mag(truth)) <= most:
        # As below, in half the time: no limit is near.
        return float(mpmath.ldexp(abs(truth - got), digits - max(magnitude - 1, least)))
    if not isinstance(truth, mpmath.mpf) or mpmath.isnan(truth):
        return 0.0 if math.isnan(got) else math.inf
    if math.isnan(got):
        return math.inf
    beyond = mpmath.ldexp(1, most)
    truth, close = (mpmath.sign(x) * min(abs(x), beyond) for x in (truth, mpmath.mpf(got)))
    exponent = max(mpmath.mag(truth) - 1, least) if truth != 0 else least
    if abs(truth) == beyond:
        exponent -= 1
    return float(mpmath.ldexp(abs(close - truth), digits - exponent))


@functools.cache
def _exponents(dtype: DType) -> tuple[int, int, int]:
    """Digits of a mantissa, the exponent of the smallest normal number, and that of what is beyond all numbers."""
    info = _finfo(dtype.np)
    return int(info.nmant), int(info.minexp), int(info.maxexp)


def truths_of(op: Op, operands: Sequence[Array]) -> list[Any]:
    """Return the true value of each result."""
    truth = truth_of(op)
    with mpmath.workdps(_DIGITS):
        return [truth(*map(mpmath.mpf, values)) for values in zip(*(x.tolist() for x in operands), strict=True)]


def errors_of(
    op: Op, dtype: DType, operands: Sequence[Array], results: Array, truths: Sequence[Any] | None = None
) -> Array:
    """Return the error of each result; `truths` are what :func:`truths_of` returned, if it was asked before."""
    true = truths_of(op, operands) if truths is None else truths
    with mpmath.workdps(_DIGITS):
        return np.array(
            [error_in_ulps(got, value, dtype, op.ulp_of) for got, value in zip(results.tolist(), true, strict=True)]
        )
