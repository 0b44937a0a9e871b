"""What functions of complex numbers are held against: samples where accuracy is lost, true values by mpmath, errors.

In: an op and a complex dtype.  Out: samples, and the errors of results in units in the last place (ULP).

    errors_of(OPS["sqrt"], C128, samples, results)   ->   by the result's absolute value, and by each part of its own

mpmath computes with so many digits that neither the square of a tiny part beside 1 nor a difference from 1 is lost.
mpmath is a development dependency.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath
import numpy as np

from bcastgen.core.dtypes import C128, DType
from bcastgen.ops.row import Op

__all__ = ["COMPLEX_FUNCTIONS", "complex_errors_of", "complex_samples"]

Array = np.ndarray[Any, np.dtype[Any]]
_BITS = 2400

# Those of one operand, by the row's name.
COMPLEX_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    **{name: getattr(mpmath, name) for name in ("exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{f"arc{name}": getattr(mpmath, f"a{name}") for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "absolute": abs,
    "angle": mpmath.arg,
    "sign": lambda z: z / abs(z),
    "exp2": lambda z: mpmath.power(2, z),
    "expm1": lambda z: mpmath.exp(z) - 1,
    "log1p": lambda z: mpmath.log(1 + z),
    "log2": lambda z: mpmath.log(z) / mpmath.log(2),
    "log10": lambda z: mpmath.log(z) / mpmath.log(10),
}


def complex_samples(kind: DType, count: int, seed: int = 0) -> Array:
    """Return about so many numbers: of every magnitude, near the unit circle, 1, i, and multiples of a right angle."""
    random, each = np.random.default_rng(seed), max(count // 9, 1)
    widest = 900 if kind is C128 else 110

    def spread(low: int, high: int) -> Array:
        sizes = random.uniform(1, 2, each) * 2.0 ** random.integers(low, high, each)
        return np.asarray(random.choice([-1, 1], each) * sizes)

    turns = random.integers(-20, 20, each) * np.pi / 2
    on_circle = np.exp(1j * random.uniform(-np.pi, np.pi, each))
    parts = (
        spread(-3, 4) + 1j * spread(-3, 4),
        spread(-20, 4) + 1j * spread(-20, 4),
        spread(-widest, widest) + 1j * spread(-widest, widest),
        (1 + spread(-60, -10)) * on_circle,
        1 + spread(-50, 0) + 1j * spread(-50, 0),
        -1 + spread(-50, 0) + 1j * spread(-50, 0),
        spread(-50, 2) + 1j * (1 + spread(-50, -1)),
        turns + spread(-40, -2) + 1j * spread(-8, 3),
        spread(-8, 3) + 1j * (turns + spread(-40, -2)),
    )
    return np.asarray(np.concatenate(parts).astype(kind.np))


def complex_errors_of(op: Op, kind: DType, operands: Array, results: Array) -> tuple[Array, Array]:
    """Return each result's errors in ULPs: by its absolute value, and the larger of those by either part's own.

    A true value beyond the largest number counts as no error if the result is infinite or as large.
    """
    info = np.finfo(kind.part.np)
    least, digits = int(info.minexp) - int(info.nmant), int(info.nmant) + 1

    def unit(size: Any) -> Any:
        return mpmath.ldexp(1, max(int(mpmath.mag(size)) - digits, least) if size != 0 else least)

    by_size, by_part = [], []
    with mpmath.workprec(_BITS):
        for value, result in zip(operands.tolist(), results.tolist(), strict=True):
            true = mpmath.mpc(COMPLEX_FUNCTIONS[op.name](mpmath.mpc(value)))
            got = complex(result)
            if max(abs(true.real), abs(true.imag)) >= float(info.max):
                by_size.append(0.0)
                by_part.append(0.0)
                continue
            if not np.isfinite(got):
                by_size.append(np.inf)
                by_part.append(np.inf)
                continue
            parts = (true.real, got.real), (true.imag, got.imag)
            off = [abs(true_part - mpmath.mpf(part)) for true_part, part in parts]
            by_size.append(float(max(off) / unit(abs(true))))
            by_part.append(float(max(one / unit(true_part) for one, (true_part, _) in zip(off, parts, strict=True))))
    return np.array(by_size), np.array(by_part)
