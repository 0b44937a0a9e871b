"""Workloads on whole vectors: one operation, fused chains, activations.

In: nothing.  Out: ``ROWS``.

    add_f32: a + b      poly8_f32: a polynomial of degree 8      gelu_tanh_f32: x * 0.5 * (tanh(...) + 1)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bcastgen.ops.table import OPS

from ..spelling import Namespace, names, rebound
from .operands import NUMPY_DTYPES, flat, sample
from .row import Function, Operands, Rng, Workload

__all__ = ["ROWS"]

_BOTH = tuple(NUMPY_DTYPES.items())

# ---- one operation -----------------------------------------------------------------------------------------------


def _add(a: Any, b: Any) -> Any:
    return a + b


def _multiply(a: Any, b: Any) -> Any:
    return a * b


def _divide(a: Any, b: Any) -> Any:
    return a / b


def _maximum(a: Any, b: Any) -> Any:
    return np.maximum(a, b)


def _sqrt(x: Any) -> Any:
    return np.sqrt(x)


def _floor(x: Any) -> Any:
    return np.floor(x)


def _negative(x: Any) -> Any:
    return -x


_SIMPLE: tuple[tuple[str, Function, int, float], ...] = (
    ("add", _add, 2, -4.0),
    ("multiply", _multiply, 2, -4.0),
    ("divide", _divide, 2, 1.0),
    ("maximum", _maximum, 2, -4.0),
    ("sqrt", _sqrt, 1, 0.0),
    ("floor", _floor, 1, -4.0),
    ("negative", _negative, 1, -4.0),
)

# ---- chains of arithmetic, for each float ------------------------------------------------------------------------


def _axpy_like(of: type[np.floating[Any]]) -> Function:
    two = of(2)
    return lambda x, y: x * two + y


def _poly8_like(of: type[np.floating[Any]]) -> Function:
    c0, c1, c2, c3, c4, c5, c6, c7, c8 = (of(c) for c in (0.03, -0.1, 0.2, -0.3, 0.4, -0.5, 0.6, -0.7, 0.8))
    return lambda x: (
        (((((((x * c0 + c1) * x + c2) * x + c3) * x + c4) * x + c5) * x + c6) * x + c7) * x + c8
    )  # fmt: skip


def _steps40(x: Any, y: Any) -> Any:
    value = x
    for _ in range(40):
        value = value * x + y
    return value


def _norm3(x: Any, y: Any, z: Any) -> Any:
    return np.sqrt(x * x + y * y + z * z)


def _lerp(a: Any, b: Any, t: Any) -> Any:
    return a + (b - a) * t


def _sum6(a: Any, b: Any, c: Any, d: Any, e: Any, f: Any) -> Any:
    return a + b + c + d + e + f


def _logistic_like(of: type[np.floating[Any]]) -> Function:
    one, rate = of(1), of(3.5)

    def four_steps(x: Any) -> Any:
        x = rate * x * (one - x)
        x = rate * x * (one - x)
        x = rate * x * (one - x)
        return rate * x * (one - x)

    return four_steps


def _rational_like(of: type[np.floating[Any]]) -> Function:
    one, half, third = of(1), of(0.5), of(0.3)
    return lambda x, y: (x * x * half + y * third + one) / (x * x + y * y + one)


def _black_scholes_like(of: type[np.floating[Any]]) -> Function:
    one, half, cube, inner = of(1), of(0.5), of(0.044715), of(0.7978845608028654)
    drift, rate, volatility = of(0.03 + 0.25 * 0.25 / 2), of(-0.03), of(0.25)

    def black_scholes(spot: Any, strike: Any, years: Any) -> Any:
        # The normal distribution in its tanh form, since NumPy has no erf; twice: not everyone compiles a helper.
        spread = np.sqrt(years) * volatility
        d1 = (np.log(spot / strike) + years * drift) / spread
        d2 = d1 - spread
        p1 = (np.tanh((d1 * d1 * d1 * cube + d1) * inner) + one) * half
        p2 = (np.tanh((d2 * d2 * d2 * cube + d2) * inner) + one) * half
        return spot * p1 - strike * np.exp(years * rate) * p2

    return black_scholes


def _haversine(lat1: Any, lon1: Any, lat2: Any, lon2: Any) -> Any:
    a, b = np.sin((lat2 - lat1) * 0.5), np.sin((lon2 - lon1) * 0.5)
    return np.arcsin(np.sqrt(a * a + np.cos(lat1) * np.cos(lat2) * (b * b))) * 12742.0176


def _damped(t: Any, w: Any) -> Any:
    return np.exp(-(t * t)) * np.cos(w * t)


def _options(dtype: str) -> Any:
    def build(n: int, rng: Rng) -> Operands:
        spot, strike = sample(rng, dtype, (n,), 80.0, 120.0), sample(rng, dtype, (n,), 80.0, 120.0)
        return spot, strike, sample(rng, dtype, (n,), 0.25, 2.0)

    return build


def _chains(name: str, dtype: str) -> tuple[Workload, ...]:
    of = getattr(np, dtype)
    f32 = name == "f32"

    def row(stem: str, kind: str, function: Function, count: int, low: float, high: float, **more: Any) -> Workload:
        return Workload(f"{stem}_{name}", kind, function, flat(*[dtype] * count, low=low, high=high), dtype, **more)

    return (
        row("axpy", "contiguous", _axpy_like(of), 2, -4, 4, scale=8.0, core=f32),
        row("poly8", "chain", _poly8_like(of), 1, -1, 1, scale=2.0, core=True, large=f32),
        row("steps40", "chain", _steps40, 2, -0.5, 0.5, scale=2.0),
        row("norm3", "chain", _norm3, 3, -4, 4, core=f32),
        row("lerp", "chain", _lerp, 3, 0, 1, scale=1.0),
        row("sum6", "chain", _sum6, 6, -4, 4, scale=16.0),
        row("logistic4", "chain", _logistic_like(of), 1, 0, 1, ulp=2, scale=1.0),
        row("rational", "chain", _rational_like(of), 2, -4, 4, scale=1.0),
        row("damped", "chain", _damped, 2, -3, 3, ulp=16, scale=1.0),
        # The distribution is near 0 or 1 where what it multiplies is near 100.
        Workload(
            f"black_scholes_{name}",
            "chain",
            _black_scholes_like(of),
            _options(dtype),
            dtype,
            ulp=64,
            scale=120.0,
            core=not f32,
        ),
    )


# ---- activations -------------------------------------------------------------------------------------------------


def _activations(of: type[np.floating[Any]]) -> tuple[tuple[str, Function, float, float], ...]:
    """Name, function, bound in ULP and scale of each."""
    zero, one, half, slope, three, six = (of(value) for value in (0, 1, 0.5, 0.01, 3, 6))
    inner, cube, root_half = of(0.7978845608), of(0.044715), of(0.7071067811865476)
    return (
        ("relu", lambda x: np.maximum(x, zero), 0, 0),
        ("leaky_relu", lambda x: np.where(x > zero, x, x * slope), 0, 0),
        ("hard_swish", lambda x: x * np.minimum(np.maximum(x + three, zero), six) / six, 0, 4),
        ("gelu_tanh", lambda x: x * half * (np.tanh((x * x * x * cube + x) * inner) + one), 16, 4),
        ("gelu_erf", lambda x: x * half * (np.erf(x * root_half) + one), 16, 4),  # type: ignore[attr-defined]
        ("silu", lambda x: x / (np.exp(-x) + one), 16, 0),
        ("softplus", lambda x: np.log1p(np.exp(-np.abs(x))) + np.maximum(x, zero), 24, 1),
        ("elu", lambda x: np.where(x > zero, x, np.expm1(np.minimum(x, zero))), 8, 1),
        ("mish", lambda x: x * np.tanh(np.log1p(np.exp(x))), 32, 1),
        ("swiglu", lambda x, y: x / (np.exp(-x) + one) * y, 24, 0),
    )


def _reference(function: Function) -> Function | None:
    """Return the function with the table's references of what NumPy lacks, or None if it lacks nothing."""
    lacking = {name: OPS[name].reference for name in names(function) if name in OPS and not hasattr(np, name)}
    return rebound(function, Namespace(np, **lacking)) if lacking else None


_CORE_ACTIVATIONS = {"leaky_relu_f32", "gelu_tanh_f32", "gelu_erf_f32", "silu_f32", "softplus_f32"}

ROWS: tuple[Workload, ...] = (
    *(
        Workload(
            f"{stem}_{name}",
            "contiguous",
            function,
            flat(*[dtype] * count, low=low),
            dtype,
            ufunc=stem,
            core=stem == "add",
            large=stem == "add",
        )
        for stem, function, count, low in _SIMPLE
        for name, dtype in _BOTH
    ),
    *(row for name, dtype in _BOTH for row in _chains(name, dtype)),
    Workload(
        "haversine_f64", "chain", _haversine, flat(*["float64"] * 4, low=-1.2, high=1.2), "float64", ulp=32, scale=6e3
    ),
    *(
        Workload(
            f"{stem}_{name}",
            "activation",
            function,
            flat(*[dtype] * function.__code__.co_argcount),
            dtype,
            ulp=ulp,
            scale=scale,
            reference=_reference(function),
            core=f"{stem}_{name}" in _CORE_ACTIVATIONS,
            large=f"{stem}_{name}" in ("gelu_tanh_f32", "silu_f32"),
        )
        for name, dtype in _BOTH
        for stem, function, ulp, scale in _activations(getattr(np, dtype))
    ),
)
