"""The workloads: one row each, a plain NumPy function and a builder of its operands.

In: a number of result elements and a seeded generator.  Out: operands of the row's dtypes, shapes and layouts.

    WORKLOADS["bias_f32"].build(32768, rng) -> (f32[128, 256], f32[256]),  function: x + b

One function serves everyone: NumPy runs it, ``bcastgen.jit`` traces it, Numba compiles it, JAX and torch run it with
their own namespace in the place of ``np``. Constants of f32 functions are NumPy scalars, because Numba (unlike the
others) takes a Python float for f64. The file is long because it is the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import isqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["QUICK", "WORKLOADS", "Array", "Operands", "Workload", "compulsory_bytes"]

Array = NDArray[Any]
Operands = tuple[Array, ...]
Rng = np.random.Generator
Build = Callable[[int, Rng], Operands]


@dataclass(frozen=True, slots=True)
class Workload:
    """One row.

    Attributes
    ----------
    name : unique, ending in the dtype it is about.
    kind : class of workloads that the report summarises together.
    function : the plain NumPy function.
    build : number of result elements, generator -> operands; 2-D and 4-D results come close to the number.
    result : name of the result's NumPy dtype.
    ulp : how far a correct implementation may be from NumPy's value, in units in the last place; 0: it is arithmetic.
    scale : the unit in the last place is taken at least at this magnitude (for sums of larger terms that cancel).
    ufunc : the NumPy ufunc that is the whole function, if one is: it can fill ``out`` itself.
    """

    name: str
    kind: str
    function: Callable[..., Any]
    build: Build
    result: str
    ulp: int = 0
    scale: float = 0.0
    ufunc: str | None = None


def compulsory_bytes(operands: Iterable[Array], result: Array) -> int:
    """Return the bytes that must move: each operand read once, the result written once."""
    return sum(array.nbytes for array in (*operands, result))


# ---- builders ----------------------------------------------------------------------------------------------------


def _sample(rng: Rng, dtype: str, shape: tuple[int, ...], low: float = -4.0, high: float = 4.0) -> Array:
    if dtype == "bool":
        return rng.random(shape, dtype=np.float32) < 0.5
    if dtype[0] != "f":
        info = np.iinfo(dtype)
        integers: Array = rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)
        return integers
    values: Array = rng.random(shape, dtype=np.float32 if dtype == "f4" else np.float64)
    values *= high - low
    values += low
    return values


def _rows(elements: int) -> tuple[int, int]:
    """Extents of the most square matrix: powers of two stay powers of two."""
    rows = 1 << (elements.bit_length() - 1) // 2 if elements & (elements - 1) == 0 else isqrt(elements)
    return rows, elements // rows


def _flat(count: int, dtype: str, low: float = -4.0, high: float = 4.0) -> Build:
    return lambda n, rng: tuple(_sample(rng, dtype, (n,), low, high) for _ in range(count))


def _matrix(dtype: str, *masks: str) -> Build:
    """Operands of rank 2 (or 1); a mask such as ``"r1"`` names its dims: rows, cols or a 1; ``"c"`` is a vector."""

    def build(n: int, rng: Rng) -> Operands:
        rows, cols = _rows(n)
        extent = {"r": rows, "c": cols, "1": 1}
        return tuple(_sample(rng, dtype, tuple(extent[dim] for dim in mask)) for mask in masks)

    return build


def _four_dims(n: int, rng: Rng) -> Operands:
    inner = max(2, min(24, round(n**0.25)))
    outer = max(1, n // inner**3)
    shapes = ((outer, 1, inner, inner), (inner, 1, inner), (1, inner, inner, 1))
    return tuple(_sample(rng, "f4", shape) for shape in shapes)


def _narrow(n: int, rng: Rng) -> Operands:
    return _sample(rng, "f4", (max(1, n // 3), 3)), _sample(rng, "f4", (3,))


def _transposed(n: int, rng: Rng) -> Operands:
    rows, cols = _rows(n)
    return _sample(rng, "f4", (rows, cols)), _sample(rng, "f4", (cols, rows)).T


def _fortran(n: int, rng: Rng) -> Operands:
    rows, cols = _rows(n)
    return _sample(rng, "f8", (cols, rows)).T, _sample(rng, "f8", (cols, rows)).T


def _strided(n: int, rng: Rng) -> Operands:
    return _sample(rng, "f4", (2 * n,))[::2], _sample(rng, "f4", (2 * n,))[::2]


def _reversed(n: int, rng: Rng) -> Operands:
    return _sample(rng, "f4", (n,))[::-1], _sample(rng, "f4", (n,))


def _options(n: int, rng: Rng) -> Operands:
    spot, strike = _sample(rng, "f8", (n,), 80.0, 120.0), _sample(rng, "f8", (n,), 80.0, 120.0)
    return spot, strike, _sample(rng, "f8", (n,), 0.25, 2.0)


def _select(n: int, rng: Rng) -> Operands:
    return _sample(rng, "bool", (n,)), _sample(rng, "f4", (n,)), _sample(rng, "f4", (n,))


# ---- functions ---------------------------------------------------------------------------------------------------

_ONE, _HALF, _TWO = np.float32(1), np.float32(0.5), np.float32(2)
_POLY8 = tuple(np.float32(c) for c in (0.03, -0.1, 0.2, -0.3, 0.4, -0.5, 0.6, -0.7, 0.8))
_GELU_INNER, _GELU_CUBE = np.float32(0.7978845608), np.float32(0.044715)
_SLOPE, _BYTE = np.float32(0.01), np.float32(1 / 255)
_RATE, _VOLATILITY = 0.03, 0.25


def _add(a: Any, b: Any) -> Any:
    return a + b


def _axpy(x: Any, y: Any) -> Any:
    return x * _TWO + y


def _norm3(x: Any, y: Any, z: Any) -> Any:
    return np.sqrt(x * x + y * y + z * z)


def _poly8(x: Any) -> Any:
    y = x * _POLY8[0] + _POLY8[1]
    for coefficient in _POLY8[2:]:
        y = y * x + coefficient
    return y


def _black_scholes(spot: Any, strike: Any, years: Any) -> Any:
    # The normal distribution in its tanh form, since NumPy has no erf; twice, since Numba would not compile a helper.
    spread = np.sqrt(years) * _VOLATILITY
    d1 = (np.log(spot / strike) + years * (_RATE + _VOLATILITY * _VOLATILITY / 2)) / spread
    d2 = d1 - spread
    p1 = (np.tanh((d1 * d1 * d1 * 0.044715 + d1) * 0.7978845608028654) + 1.0) * 0.5
    p2 = (np.tanh((d2 * d2 * d2 * 0.044715 + d2) * 0.7978845608028654) + 1.0) * 0.5
    return spot * p1 - strike * np.exp(years * -_RATE) * p2


def _gelu_tanh(x: Any) -> Any:
    return x * _HALF * (np.tanh((x * x * x * _GELU_CUBE + x) * _GELU_INNER) + _ONE)


def _silu(x: Any) -> Any:
    return x / (np.exp(-x) + _ONE)


def _softplus(x: Any) -> Any:
    return np.log1p(np.exp(-np.abs(x))) + np.maximum(x, x * _SLOPE)


def _exp(x: Any) -> Any:
    return np.exp(x)


def _log(x: Any) -> Any:
    return np.log(x)


def _sin(x: Any) -> Any:
    return np.sin(x)


def _tanh(x: Any) -> Any:
    return np.tanh(x)


def _multiply(a: Any, b: Any) -> Any:
    return a * b


def _layer_norm(x: Any, mean: Any, rstd: Any, gain: Any, bias: Any) -> Any:
    return (x - mean) * rstd * gain + bias


def _four(a: Any, b: Any, c: Any) -> Any:
    return a * b + c


def _pairwise(x1: Any, y1: Any, x2: Any, y2: Any) -> Any:
    return np.sqrt((x1 - x2) * (x1 - x2) + (y1 - y2) * (y1 - y2))


def _separable(a: Any, b: Any) -> Any:
    return np.exp(a) * np.sin(b)


def _blend_u8(a: Any, b: Any, alpha: Any) -> Any:
    w = alpha.astype(np.uint16)
    return ((a.astype(np.uint16) * w + b.astype(np.uint16) * (255 - w)) >> 8).astype(np.uint8)


def _average_u8(a: Any, b: Any) -> Any:
    return (a & b) + ((a ^ b) >> 1)


def _normalise_u8(x: Any) -> Any:
    return x * _BYTE - _HALF


def _clip_i32(x: Any) -> Any:
    return np.clip(x, -1_000_000, 1_000_000)


def _mix_i32(a: Any, b: Any) -> Any:
    return (a * b + a) ^ (b >> 3)


def _less(a: Any, b: Any) -> Any:
    return a < b


def _between(x: Any, low: Any, high: Any) -> Any:
    return (x >= low) & (x < high)


def _where(mask: Any, a: Any, b: Any) -> Any:
    return np.where(mask, a, b)


def _leaky_relu(x: Any) -> Any:
    return np.where(x > 0, x, x * _SLOPE)


def _masks(a: Any, b: Any, c: Any) -> Any:
    return (a & b) | ~c


_FUNCTIONS = (("exp", _exp, -10.0), ("log", _log, 0.01), ("sin", _sin, -10.0), ("tanh", _tanh, -10.0))

_ROWS = (
    Workload("add_f32", "contiguous", _add, _flat(2, "f4"), "float32", ufunc="add"),
    Workload("add_f64", "contiguous", _add, _flat(2, "f8"), "float64", ufunc="add"),
    Workload("axpy_f32", "contiguous", _axpy, _flat(2, "f4"), "float32", scale=8.0),
    Workload("poly8_f32", "chain", _poly8, _flat(1, "f4", -1.0, 1.0), "float32", scale=2.0),
    Workload("norm3_f32", "chain", _norm3, _flat(3, "f4"), "float32"),
    Workload("black_scholes_f64", "chain", _black_scholes, _options, "float64", ulp=64, scale=120.0),
    Workload("gelu_tanh_f32", "activation", _gelu_tanh, _flat(1, "f4"), "float32", ulp=16, scale=4.0),
    Workload("silu_f32", "activation", _silu, _flat(1, "f4"), "float32", ulp=16),
    Workload("softplus_f32", "activation", _softplus, _flat(1, "f4"), "float32", ulp=24, scale=1.0),
    Workload("leaky_relu_f32", "activation", _leaky_relu, _flat(1, "f4"), "float32"),
    *(
        Workload(f"{name}_{ours}", "function", function, _flat(1, numpy, low, 10.0), result, ulp=8, ufunc=name)
        for name, function, low in _FUNCTIONS
        for ours, numpy, result in (("f32", "f4", "float32"), ("f64", "f8", "float64"))
    ),
    Workload("outer_f64", "broadcast", _multiply, _matrix("f8", "r1", "1c"), "float64", ufunc="multiply"),
    Workload("bias_f32", "broadcast", _add, _matrix("f4", "rc", "c"), "float32", ufunc="add"),
    Workload("column_f32", "broadcast", _multiply, _matrix("f4", "rc", "r1"), "float32", ufunc="multiply"),
    Workload(
        "layer_norm_f32", "broadcast", _layer_norm, _matrix("f4", "rc", "r1", "r1", "c", "c"), "float32", scale=100.0
    ),
    Workload("four_dims_f32", "broadcast", _four, _four_dims, "float32", scale=16.0),
    Workload("pairwise_f64", "broadcast", _pairwise, _matrix("f8", "r1", "r1", "1c", "1c"), "float64"),
    Workload("separable_f32", "broadcast", _separable, _matrix("f4", "r1", "1c"), "float32", ulp=24),
    Workload("narrow3_f32", "broadcast", _add, _narrow, "float32", ufunc="add"),
    Workload("transposed_f32", "layout", _add, _transposed, "float32", ufunc="add"),
    Workload("strided_f32", "layout", _add, _strided, "float32", ufunc="add"),
    Workload("reversed_f32", "layout", _add, _reversed, "float32", ufunc="add"),
    Workload("fortran_f64", "layout", _add, _fortran, "float64", ufunc="add"),
    Workload("blend_u8", "integer", _blend_u8, _flat(3, "u1"), "uint8"),
    Workload("average_u8", "integer", _average_u8, _flat(2, "u1"), "uint8"),
    Workload("normalise_u8", "integer", _normalise_u8, _flat(1, "u1"), "float32", scale=1.0),
    Workload("clip_i32", "integer", _clip_i32, _flat(1, "i4"), "int32"),
    Workload("mix_i32", "integer", _mix_i32, _flat(2, "i4"), "int32"),
    Workload("less_f32", "bool", _less, _flat(2, "f4"), "bool", ufunc="less"),
    Workload("between_f32", "bool", _between, _flat(3, "f4"), "bool"),
    Workload("where_f32", "bool", _where, _select, "float32"),
    Workload("masks_bool", "bool", _masks, _flat(3, "bool"), "bool"),
)

WORKLOADS: dict[str, Workload] = {row.name: row for row in _ROWS}

# One of each class: what a quick run shows.
QUICK = ("add_f32", "poly8_f32", "gelu_tanh_f32", "sin_f64", "bias_f32", "transposed_f32", "blend_u8", "where_f32")
