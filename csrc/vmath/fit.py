"""The polynomials of the vector functions: minimax fits, printed as C.

In: the name of an entry of ``FITS``.  Out: its coefficients, lowest power first, rounded to the dtype, and their error.

    $ python csrc/vmath/fit.py exp_f32
    /* Minimax fit exp_f32: error 2^-32.1 */
    0x1.fffffep-2f, 0x1.5554a8p-3f, ...

A fit is a plain polynomial in one variable; evenness, oddness and known leading terms are taken out of the target
beforehand: sin(x) = x + x s q(s) with s = x^2 is the target (sin(sqrt(s)) / sqrt(s) - 1) / s. The weight turns an error
of the polynomial into the one that counts: that of the function, relative to the function. The headers name the call
that made each polynomial; a new entry here and a run of this script is all that a new one needs (mpmath is a
development dependency). With ``--check`` every entry's error is printed.

The file is long because a fit is found by its name here: the table has all polynomials, each with the target it is of.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache

import mpmath
import numpy as np
from mpmath import mpf

__all__ = ["FITS", "Fit", "Fitted", "fitted"]

Real = Callable[[mpf], mpf]
_DIGITS = 60  # Targets lose digits to cancellation near 0.
_POINTS = 40  # The grid has so many for each coefficient.


@dataclass(frozen=True, slots=True)
class Fit:
    """A polynomial to find.

    Attributes
    ----------
    dtype : of the coefficients, f32 or f64.
    target : what the polynomial stands for.
    low, high : the interval; a target that has a limit at 0 only is never asked for it.
    degree : of the polynomial.
    weight : what an error of the polynomial is multiplied by to become the error that counts.
    pairs : how many leading coefficients are printed as two numbers, the second one what rounding took from the first.
    stepwise : whether each coefficient is rounded before the ones above it are found, so that they make good for it.
    """

    dtype: str
    target: Real
    low: mpf | float
    high: mpf | float
    degree: int
    weight: Real
    pairs: int = 0
    stepwise: bool = False


@dataclass(frozen=True, slots=True)
class Fitted:
    """Coefficients, lowest power first, as pairs of numbers of the dtype; and the largest weighted error."""

    coefficients: tuple[tuple[float, float], ...]
    error: float


def _grid(fit: Fit) -> list[mpf]:
    """Chebyshev points: they are dense where polynomials err most."""
    count = _POINTS * (fit.degree + 2)
    low, high = mpf(fit.low), mpf(fit.high)
    nodes = [mpmath.cos(mpmath.pi * (2 * k + 1) / (2 * count)) for k in reversed(range(count))]
    return [(low + high + node * (high - low)) / 2 for node in nodes]


def _alternation(errors: list[mpf], count: int) -> list[int]:
    """Places of that many largest errors with alternating signs."""
    places: list[int] = []
    for at, error in enumerate(errors):
        if places and (error > 0) == (errors[places[-1]] > 0):
            if abs(error) > abs(errors[places[-1]]):
                places[-1] = at
        else:
            places.append(at)
    while len(places) > count:
        places.pop(0 if abs(errors[places[0]]) < abs(errors[places[-1]]) else -1)
    return places


def _value(coefficients: list[mpf], x: mpf) -> mpf:
    value = mpf(0)
    for coefficient in reversed(coefficients):
        value = value * x + coefficient
    return value


def _minimax(fit: Fit, grid: list[mpf], wanted: list[mpf], weights: list[mpf]) -> list[mpf]:
    """Remez' exchange over the grid: the coefficients whose largest weighted error is least."""
    terms = fit.degree + 1
    places = [round((len(grid) - 1) * (1 - mpmath.cos(mpmath.pi * k / terms)) / 2) for k in range(terms + 1)]
    for _ in range(60):
        rows = [[*(grid[at] ** k for k in range(terms)), (-1) ** sign / weights[at]] for sign, at in enumerate(places)]
        *coefficients, level = mpmath.lu_solve(mpmath.matrix(rows), mpmath.matrix([wanted[at] for at in places]))
        errors = [w * (y - _value(coefficients, x)) for x, y, w in zip(grid, wanted, weights, strict=True)]
        if max(map(abs, errors)) <= abs(level) * mpf("1.001"):
            break
        places = _alternation(errors, terms + 1)
    return list(coefficients)


def _rounded(value: mpf, dtype: str) -> float:
    # Through a string: a float of 53 bits in between would round twice.
    return float(np.float32(mpmath.nstr(value, 40))) if dtype == "f32" else float(value)


def _pair(value: mpf, dtype: str) -> tuple[float, float]:
    high = _rounded(value, dtype)
    return high, _rounded(value - mpf(high), dtype)


def _stepwise(fit: Fit, grid: list[mpf], wanted: list[mpf], weights: list[mpf]) -> Iterator[tuple[float, float]]:
    """Round the lowest coefficient, and find the polynomial above it of what that leaves."""
    for degree in range(fit.degree, -1, -1):
        first = _rounded(_minimax(replace(fit, degree=degree), grid, wanted, weights)[0], fit.dtype)
        yield first, 0.0
        wanted = [(y - first) / x for x, y in zip(grid, wanted, strict=True)]
        weights = [w * x for x, w in zip(grid, weights, strict=True)]


def fitted(fit: Fit) -> Fitted:
    """Return the coefficients of a fit, rounded to its dtype.

    Examples
    --------
    >>> line = Fit("f64", mpmath.exp, 0, 1, 1, lambda x: mpf(1))
    >>> [round(first, 3) for first, _ in fitted(line).coefficients]
    [0.894, 1.718]
    """
    with mpmath.workdps(_DIGITS):
        grid = _grid(fit)
        wanted, weights = [fit.target(x) for x in grid], [fit.weight(x) for x in grid]
        if fit.stepwise:
            pairs = tuple(_stepwise(fit, grid, wanted, weights))
        else:
            pairs = tuple(_pair(value, fit.dtype) for value in _minimax(fit, grid, wanted, weights))
        stored = [mpf(first) + (second if at < fit.pairs else 0) for at, (first, second) in enumerate(pairs)]
        errors = (abs(w * (y - _value(stored, x))) for x, y, w in zip(grid, wanted, weights, strict=True))
        return Fitted(pairs, float(max(errors)))


def _literal(value: float, dtype: str) -> str:
    """As C has it: hexadecimal, without zeros at the end."""
    digits, _, exponent = value.hex().partition("p")
    return f"{digits.rstrip('0').rstrip('.') if '.' in digits else digits}p{exponent}{'f' * (dtype == 'f32')}"


def as_c(name: str) -> str:
    """Return the comment and the numbers that a header has."""
    fit, found = FITS[name], fitted(FITS[name])
    numbers = [
        " + ".join(_literal(x, fit.dtype) for x in pair[: 2 if at < fit.pairs else 1])
        for at, pair in enumerate(found.coefficients)
    ]
    return f"/* Minimax fit {name}: error 2^{np.log2(found.error):.1f} */\n{', '.join(numbers)}"


# ---- targets and weights -----------------------------------------------------------------------------------------

_SQRT_HALF, _SQRT_TWO = mpf("-0.2929"), mpf("0.4143")  # Just over sqrt(1/2) - 1 and sqrt(2) - 1.
_HALF_LN2 = mpf("0.3466")  # Just over half of log(2): what an argument reduced by multiples of it can be.


def _tail(function: Real, *leading: float) -> Real:
    """Return the rest of a function after its n leading terms, divided by x^n."""

    def target(x: mpf) -> mpf:
        return (function(x) - _value([mpf(c) for c in leading], x)) / x ** len(leading)

    return target


def _in_square(odd: Real) -> Real:
    """An odd function f as the g of f(x) = x g(x^2)."""
    return lambda s: odd(mpmath.sqrt(s)) / mpmath.sqrt(s)


def _odd_tail(dtype: str, odd: Real, high: mpf, degree: int) -> Fit:
    """The q of odd(x) = x + x s q(s), s = x^2, for s up to `high`."""
    return Fit(dtype, _tail(_in_square(odd), 1), 0, high, degree, lambda s: s / _in_square(odd)(s))


def _shifted(fit: Fit, middle: str) -> Fit:
    """The same polynomial of what x is beyond the middle, as C writes it, for which its lowest coefficient is exact."""
    at = mpf(float.fromhex(middle))
    return replace(
        fit,
        low=fit.low - at,
        high=fit.high - at,
        target=lambda u: fit.target(u + at),
        weight=lambda u: fit.weight(u + at),
    )


def _cos_tail(dtype: str, high: mpf, degree: int) -> Fit:
    """The q of cos(x) = 1 - s / 2 + s^2 q(s), s = x^2."""
    return Fit(
        dtype,
        _tail(lambda s: mpmath.cos(mpmath.sqrt(s)), 1, -0.5),
        0,
        high,
        degree,
        lambda s: s**2 / mpmath.cos(mpmath.sqrt(s)),
    )


@cache
def _under_tan(dtype: str, degree: int, over: int) -> tuple[mpf, ...]:
    """A d = 1 - s / 2 + d2 s^2 + .. for which tan(x) d / x is all but a polynomial of degree `over` in s = x^2."""
    with mpmath.workdps(_DIGITS):
        taylor = mpmath.taylor(mpmath.tan, 0, 2 * (degree + over) + 1)[1::2]
        places = range(over + 1, over + degree)
        rows = mpmath.matrix([[taylor[at - power] for power in range(2, degree + 1)] for at in places])
        solved = mpmath.lu_solve(rows, mpmath.matrix([taylor[at - 1] / 2 - taylor[at] for at in places]))
        return (mpf(1), mpf(-0.5), *(mpf(_rounded(value, dtype)) for value in solved))


def _tan_over(dtype: str, high: mpf, degree: int, over: int) -> Fit:
    """The q of tan(x) = x (1 + s q(s)) / d(s), s = x^2, with the d of `_under_tan`."""
    return _odd_tail(dtype, lambda x: mpmath.tan(x) * _value([*_under_tan(dtype, degree, over)], x**2), high, over - 1)


def _erfc_log2(dtype: str, high: float, degree: int) -> Fit:
    """The q of erfc(1 + t) = erfc(1) 2^(t q(t)), for an erf that is 1 - that."""
    return Fit(
        dtype,
        lambda t: mpmath.log(mpmath.erfc(1 + t) / mpmath.erfc(1), 2) / t,
        -0.0625,
        high,
        degree,
        lambda t: abs(t) * mpmath.erfc(1 + t) / mpmath.erf(1 + t),
    )


def _exp2_tail(dtype: str, degree: int) -> Fit:
    """The q of 2^x = 1 + x q(x), for |x| <= 1/2."""
    return Fit(
        dtype,
        lambda x: (_two_to(x) - 1) / x,
        mpf("-0.5"),
        mpf("0.5"),
        degree,
        lambda x: x / _two_to(x),
    )


def _erf_tail(dtype: str, degree: int) -> Fit:
    """The q of erf(x) = x + x q(s - 3/8), s = x^2."""
    erf = _in_square(mpmath.erf)
    return Fit(dtype, lambda u: erf(u + 0.375) - 1, -0.375, 0.51, degree, lambda u: 1 / erf(u + 0.375))


def _erf_near(high: float, middle: str) -> Fit:
    """The q of erf(x) = x + x q(s - middle), s = x^2, for |x| up to `high`."""
    erf = _in_square(mpmath.erf)
    return _shifted(Fit("f32", lambda s: erf(s) - 1, 0, mpf(high) ** 2, 6, lambda s: 1 / erf(s)), middle)


def _erf_far(low: float, high: float, middle: str, power: int, less: float) -> Fit:
    """The q of erf(x) = 1 - (less + q(x - middle))^power; at the end, beyond 3.92, that is to round to 1."""

    def root(x: mpf) -> mpf:
        return mpmath.root(mpmath.erfc(x), power)

    def weight(x: mpf) -> mpf:
        return power * max(root(x), mpf("0.03")) ** (power - 1) / mpmath.erf(x)

    return _shifted(Fit("f32", lambda x: root(x) - less, low, high, 6, weight), middle)


def _log2_of_ratio(s: mpf) -> mpf:
    """Return log2((1 + s) / (1 - s))."""
    return 2 * mpmath.atanh(s) / mpmath.ln2


def _log_over(dtype: str, base: int, degree: int, close: bool) -> Fit:
    """The q of log_base(1 + x) = x q(x), without what 1 / log(base) is in the dtype where it is to be close."""

    def target(x: mpf) -> mpf:
        whole = mpf(_rounded(1 / mpmath.log(base), dtype)) if close else mpf(0)
        return mpmath.log(1 + x) / (x * mpmath.log(base)) - whole

    return Fit(dtype, target, _SQRT_HALF, _SQRT_TWO, degree, lambda x: x * mpmath.log(base) / mpmath.log(1 + x))


def _log10_rest(x: mpf) -> mpf:
    return mpmath.log10(1 + x) / x - mpf(_rounded(1 / mpmath.ln10, "f32"))


@cache
def _under_log10() -> tuple[mpf, ...]:
    """The d = d0 + d1 x + d2 x^2 + x^3 of the quotient of two cubic polynomials that is closest to `_log10_rest`.

    Remez' exchange, with the error's factor 1 / d taken from the round before.
    """
    with mpmath.workdps(_DIGITS):
        last, terms, under = 299, 7, [mpf(1)]
        middle, half = (_SQRT_TWO + _SQRT_HALF) / 2, (_SQRT_TWO - _SQRT_HALF) / 2
        grid = [middle - half * mpmath.cos(mpmath.pi * (2 * k + 1) / (2 * last + 2)) for k in range(last + 1)]
        wanted = [_log10_rest(x) for x in grid]
        places = [round(last * (1 - mpmath.cos(mpmath.pi * k / terms)) / 2) for k in range(terms + 1)]
        for _ in range(10):
            rows = [
                [1, x, x**2, x**3, -y, -x * y, -(x**2) * y, (-1) ** sign * _value(under, x)]
                for sign, (x, y) in enumerate((grid[at], wanted[at]) for at in places)
            ]
            right = mpmath.matrix([grid[at] ** 3 * wanted[at] for at in places])
            *over, d0, d1, d2, _ = mpmath.lu_solve(mpmath.matrix(rows), right)
            under = [d0, d1, d2, mpf(1)]
            errors = [y - _value(over, x) / _value(under, x) for x, y in zip(grid, wanted, strict=True)]
            places = _alternation(errors, terms + 1)
        # Six units off the lowest coefficient is where those of the numerator round best.
        return (_rounded(d0, "f32") + mpf(6) / 2**20, *(mpf(_rounded(d, "f32")) for d in (d1, d2)), mpf(1))


def _log10_over() -> Fit:
    """The q of log10(1 + x) = x (c + q(x) / d(x)) with the c that is closest to 1 / log(10), and `_under_log10`'s d."""

    def under(x: mpf) -> mpf:
        return _value([*_under_log10()], x)

    def weight(x: mpf) -> mpf:
        return x / (under(x) * mpmath.log10(1 + x))

    return Fit("f32", lambda x: _log10_rest(x) * under(x), _SQRT_HALF, _SQRT_TWO, 3, weight)


def _power_tail(dtype: str, degree: int) -> Fit:
    """The q of log2(1 + x) = c0 s + c1 s^3 + s^5 q(s^2), s = x / (2 + x), c0 = 2 / log(2) and c1 = c0 / 3."""
    log2 = _in_square(_log2_of_ratio)
    return Fit(
        dtype,
        lambda z: (log2(z) - 2 / mpmath.ln2 - 2 * z / (3 * mpmath.ln2)) / z**2,
        0,
        mpf("0.02944"),
        degree,
        lambda z: z**2 / log2(z),
    )


def _power_exp2(dtype: str, degree: int) -> Fit:
    """The q of 2^x = 1 + x log(2) + x^2 q(x)."""
    return Fit(
        dtype,
        lambda x: (_two_to(x) - 1 - x * mpmath.ln2) / x**2,
        mpf("-0.5"),
        mpf("0.5"),
        degree,
        lambda x: x**2 / _two_to(x),
    )


def _cbrt_step(dtype: str) -> Fit:
    """The q of (1 - e)^(-1/3) = 1 + e q(e), for what the first guess leaves."""
    return Fit(
        dtype,
        lambda e: (1 / mpmath.cbrt(1 - e) - 1) / e,
        mpf("-0.1035"),
        mpf("0.1035"),
        2,
        lambda e: abs(e) * mpmath.cbrt(1 - e),
    )


def _erfc_scaled(dtype: str, middle: str, high: float, degree: int) -> Fit:
    """The q of erfc(x) = u e^(q(u - middle) - x^2), u = 1 / (1 + x / 2), for x from 1/2."""

    def target(v: mpf) -> mpf:
        u = v + mpf(middle)
        x = 2 / u - 2
        return mpmath.log(mpmath.erfc(x) / u) + x**2

    low = 1 / (1 + mpf(high) / 2) - mpf(middle)
    return Fit(dtype, target, low, mpf("0.8") - mpf(middle), degree, lambda v: mpf(1), 1)


def _gammaln_over(t: mpf) -> mpf:
    return mpmath.loggamma(2 + t) / t


def _i0_near(s: mpf) -> mpf:
    return mpmath.besseli(0, mpmath.sqrt(s))


def _two_to(x: mpf) -> mpf:
    """Return 2^x, rounded once; what is left of it near 0 keeps its digits."""
    with mpmath.extradps(_DIGITS):
        value = mpmath.power(2, x)
    return +value


def _i0_far(u: mpf) -> mpf:
    return mpmath.besseli(0, 1 / u) * mpmath.exp(-1 / u) / mpmath.sqrt(u)


FITS = {
    # e^x = 1 + x + x^2/2 + x^3 q(x)
    "exp_f32": Fit("f32", _tail(mpmath.exp, 1, 1, 0.5), -_HALF_LN2, _HALF_LN2, 4, lambda x: x**3 / mpmath.exp(x)),
    "exp_f64": Fit("f64", _tail(mpmath.exp, 1, 1, 0.5), -_HALF_LN2, _HALF_LN2, 9, lambda x: x**3 / mpmath.exp(x)),
    # tanh(x) = x + x s q(s), s = x^2, up to log(2) / 4
    "tanh_f32": replace(_odd_tail("f32", mpmath.tanh, mpf("0.03008"), 2), stepwise=True),
    "tanh_f64": _odd_tail("f64", mpmath.tanh, mpf("0.03008"), 5),
    # log(1 + x) = 2 s + s^3 q(s^2) with s = x / (2 + x), for 1 + x from sqrt(1/2) to sqrt(2)
    "log_f64": Fit(
        "f64",
        _tail(_in_square(lambda s: 2 * mpmath.atanh(s)), 2),
        0,
        mpf("0.02944"),
        6,
        lambda z: mpmath.sqrt(z) * z / (2 * mpmath.atanh(mpmath.sqrt(z))),
    ),
    "log_fast_f64": Fit(
        "f64",
        _tail(_in_square(lambda s: 2 * mpmath.atanh(s)), 2),
        0,
        mpf("0.02944"),
        5,
        lambda z: mpmath.sqrt(z) * z / (2 * mpmath.atanh(mpmath.sqrt(z))),
    ),
    # log2(1 + x) and 2^x of powers
    "power_f32": _power_tail("f32", 2),
    "power_f64": _power_tail("f64", 6),
    "power_exp2_f32": _power_exp2("f32", 4),
    "power_exp2_f64": _power_exp2("f64", 9),
    # m^(-1/3) = start (1 - e)^(-1/3)
    "cbrt_f32": _cbrt_step("f32"),
    "cbrt_f64": _cbrt_step("f64"),
    # 2^x = 1 + x log(2) + x^2 q(x)
    "exp2_f32": Fit(
        "f32",
        lambda x: (_two_to(x) - 1 - x * mpmath.ln2) / x**2,
        mpf("-0.5"),
        mpf("0.5"),
        5,
        lambda x: x**2 / _two_to(x),
    ),
    "exp2_f64": Fit(
        "f64",
        lambda x: (_two_to(x) - 1 - x * mpmath.ln2) / x**2,
        mpf("-0.5"),
        mpf("0.5"),
        10,
        lambda x: x**2 / _two_to(x),
    ),
    # log(1 + x) = x - x^2/2 + x^3 q(x)
    "log_f32": Fit("f32", _tail(mpmath.log1p, 0, 1, -0.5), _SQRT_HALF, _SQRT_TWO, 7, lambda x: x**3 / mpmath.log1p(x)),
    # atanh(x) = x + x s q(s), up to 1 / 2
    "arctanh_f32": replace(_odd_tail("f32", mpmath.atanh, mpf("0.25"), 5), stepwise=True),
    "arctanh_f64": _odd_tail("f64", mpmath.atanh, mpf("0.25"), 13),
    # log_b(1 + x) = x q(x)
    "log2_f32": _log_over("f32", 2, 9, True),
    "log10_f32": _log_over("f32", 10, 9, True),
    "log10_over_f32": _log10_over(),
    "log2_fast_f32": _log_over("f32", 2, 8, False),
    "log10_fast_f32": _log_over("f32", 10, 8, False),
}

# Just over the squares of pi / 4 and pi / 2; in f32, what is rounded to multiples of pi / 2 may lie further off.
_EIGHTH, _EIGHTH_F32, _QUARTER = mpf("0.61686"), mpf("0.64"), mpf("2.46742")
_TAN_EIGHTH = mpf("0.17158")  # Just over the square of tan(pi / 8).

FITS |= {
    # sin(x) = x + x s q(s) and cos(x) = 1 - s / 2 + s^2 q(s), s = x^2, up to pi / 4; the sine also up to pi / 2
    "sin_f64": _odd_tail("f64", mpmath.sin, _EIGHTH, 5),
    "cos_f64": _cos_tail("f64", _EIGHTH, 5),
    "sin_half_turn_f32": _odd_tail("f32", mpmath.sin, _QUARTER, 3),
    "sin_half_turn_wide": _odd_tail("f64", mpmath.sin, _QUARTER, 3),
    "sin_half_turn_f64": _odd_tail("f64", mpmath.sin, _QUARTER, 6),
    # tan(x) = x (1 + s q(s)) / d(s)
    "tan_f32": replace(_odd_tail("f32", mpmath.tan, _EIGHTH_F32, 6), stepwise=True),
    "tan_fast_f32": _tan_over("f32", _EIGHTH_F32, 3, 3),
    "tan_f64": _tan_over("f64", _EIGHTH, 5, 4),
    # arctan(x) = x + x s q(s), up to 1, and up to tan(pi / 8); arcsin(x) = x + x s q(s), up to 1 / 2
    "arctan_f32": _shifted(_odd_tail("f32", mpmath.atan, mpf(1), 8), "0x1.06p-1"),
    "arctan_fast_f32": _odd_tail("f32", mpmath.atan, mpf(1), 8),
    "arctan_f64": _odd_tail("f64", mpmath.atan, _TAN_EIGHTH, 10),
    "arcsin_f32": _odd_tail("f32", mpmath.asin, mpf("0.25"), 4),
    "arcsin_f64": _odd_tail("f64", mpmath.asin, mpf("0.25"), 12),
    # erf(x) = x + x q(s - 3/8), s = x^2, up to 15/16, and 1 - erfc(1) 2^(t q(t)), t = x - 1, beyond;
    # 2^x = 1 + x q(x) and e^x = 1 + x + x^2 q(x)
    "erf_near_f32": _erf_near(1, "0x1p-1"),
    "erf_far_f32": _erf_far(1, 4, "0x1.1p+0", 6, 0.75),
    "erf_near_fast_f32": _erf_near(1.375, "0x1.8p-1"),
    "erf_far_fast_f32": _erf_far(1.375, 4.0625, "0x1.6p+0", 4, 0),
    "erf_f32": _erf_tail("f32", 6),
    "erf_f64": _erf_tail("f64", 11),
    "erf_log_f64": _erfc_log2("f64", 4.95, 17),
    "erf_power_f64": _exp2_tail("f64", 10),
    "erf_fast_f32": _erf_tail("f32", 5),
    "erf_fast_f64": _erf_tail("f64", 10),
    "erf_log_fast_f64": _erfc_log2("f64", 4.95, 15),
    "erf_power_fast_f64": _exp2_tail("f64", 9),
    "erfc_f32": _erfc_scaled("f32", "0.5", 10.5, 9),
    "erfc_f64": _erfc_scaled("f64", "0.4375", 28, 23),
    "erf_exp_f32": Fit("f32", _tail(mpmath.exp, 1, 1), -_HALF_LN2, _HALF_LN2, 4, lambda x: x**2 / mpmath.exp(x)),
    "erf_exp_f64": Fit("f64", _tail(mpmath.exp, 1, 1), -_HALF_LN2, _HALF_LN2, 9, lambda x: x**2 / mpmath.exp(x)),
}

FITS |= {
    # gammaln(2 + t) = t q(t)
    "gammaln_f64": Fit("f64", _gammaln_over, mpf("-0.5"), mpf("0.5"), 17, lambda t: 1 / _gammaln_over(t), pairs=1),
    # i0(x) = q(x^2), up to 8; from there on e^x q(1 / x - 1 / 16) / sqrt(x)
    "i0_near_f64": Fit("f64", _i0_near, 0, 64, 15, lambda s: 1 / _i0_near(s)),
    "i0_far_f64": _shifted(Fit("f64", _i0_far, mpf("0.0005"), mpf("0.125"), 22, lambda u: 1 / _i0_far(u)), "0x1p-4"),
}


def main(names: list[str]) -> int:
    """Print the fits that the command line names."""
    unknown = [name for name in names if name not in FITS and name != "--check"]
    if unknown or not names:
        print(f"usage: python csrc/vmath/fit.py NAME..., or --check; the names are {', '.join(FITS)}", file=sys.stderr)
        return 2
    for name in FITS if "--check" in names else names:
        print(as_c(name) if "--check" not in names else as_c(name).partition("\n")[0])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
