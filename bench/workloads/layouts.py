"""Workloads whose operands or results do not lie in C order.

In: nothing.  Out: ``ROWS``.

    transposed_f32: f32[r, c] + f32[c, r].T      into_strided_f32: out=f32[2 * n][::2]

The builders give whole arrays; ``view`` takes the operands from them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .operands import flat, inner_extents, rows, sample
from .row import Array, Build, Function, Operands, Rng, View, Workload

__all__ = ["ROWS"]

_QUARTER = np.float32(0.25)


def _add(a: Any, b: Any) -> Any:
    return a + b


def _fused(a: Any, b: Any, c: Any) -> Any:
    return (a + b) * c


def _scaled(x: Any) -> Any:
    return x * x


def _difference(a: Any, b: Any) -> Any:
    return a - b


def _stencil(here: Any, up: Any, down: Any, left: Any, right: Any) -> Any:
    return (up + down + left + right) * _QUARTER - here


def _magnitude(real: Any, imaginary: Any) -> Any:
    return np.sqrt(real * real + imaginary * imaginary)


def _select(mask: Any, a: Any, b: Any) -> Any:
    return np.where(mask, a, b)


def _exp_sum(a: Any, b: Any) -> Any:
    return np.exp(a) + b


def _matrices(*dtypes: str, turned: str) -> Build:
    """Build matrices [r, c], or [c, r] where ``turned`` has a T."""

    def build(n: int, rng: Rng) -> Operands:
        r, c = rows(n)
        each = zip(dtypes, turned, strict=True)
        return tuple(sample(rng, dtype, (c, r) if turn == "T" else (r, c)) for dtype, turn in each)

    return build


def _wider(dtype: str, count: int, extra: Callable[[int, int], tuple[int, int]]) -> Build:
    """Build matrices of the extents that ``extra`` makes of those of the result."""
    return lambda n, rng: tuple(sample(rng, dtype, extra(*rows(n))) for _ in range(count))


def _long(dtype: str, count: int, factor: int, more: int = 0) -> Build:
    return lambda n, rng: tuple(sample(rng, dtype, (factor * n + more,)) for _ in range(count))


def _into_strided(result: Array) -> Array:
    buffer: Array = np.zeros((*result.shape[:-1], 2 * result.shape[-1]), result.dtype)
    return buffer[..., ::2]


def _into_transposed(result: Array) -> Array:
    buffer: Array = np.zeros(result.shape[::-1], result.dtype)
    turned: Array = buffer.T
    return turned


def _into_rows(result: Array) -> Array:
    """A window of a wider array: whole lines, then a gap."""
    wider: Array = np.zeros((*result.shape[:-1], result.shape[-1] + 16), result.dtype)
    return wider[..., : result.shape[-1]]


def _cube(*masks: str) -> Build:
    return inner_extents("f4", {"p": 40, "q": 48}, *masks)


def _row(name: str, function: Function, build: Build, view: View, **more: Any) -> Workload:
    result = {"f32": "float32", "f64": "float64", "i16": "int16", "u8": "uint8"}[name.rpartition("_")[2]]
    return Workload(name, "layout", function, build, result, view=view, **more)


ROWS: tuple[Workload, ...] = (
    # transposed
    _row(
        "transposed_f32",
        _add,
        _matrices("f4", "f4", turned="CT"),
        lambda a, b: (a, b.T),
        ufunc="add",
        core=True,
        large=True,
    ),
    _row("transposed_f64", _add, _matrices("f8", "f8", turned="CT"), lambda a, b: (a, b.T), ufunc="add"),
    _row("transposed_i16", _add, _matrices("i2", "i2", turned="CT"), lambda a, b: (a, b.T), ufunc="add"),
    _row("transposed_u8", _add, _matrices("u1", "u1", turned="CT"), lambda a, b: (a, b.T), ufunc="add"),
    _row(
        "transposed_two_f32",
        _fused,
        _matrices("f4", "f4", "f4", turned="TCT"),
        lambda a, b, c: (a.T, b, c.T),
        scale=32.0,
    ),
    _row(
        "transposed_where_f32",
        _select,
        _matrices("?", "f4", "f4", turned="TCC"),
        lambda mask, a, b: (mask.T, a, b),
    ),
    _row("transposed_exp_f32", _exp_sum, _matrices("f4", "f4", turned="TC"), lambda a, b: (a.T, b), ulp=8, scale=64.0),
    _row(
        "transposed_bias_f32",
        _add,
        lambda n, rng: (sample(rng, "f4", rows(n)[::-1]), sample(rng, "f4", rows(n)[1:])),
        lambda a, b: (a.T, b),
        ufunc="add",
    ),
    # three dims permuted
    _row(
        "permuted_021_f32", _add, _cube("npq", "nqp"), lambda a, b: (a, b.transpose((0, 2, 1))), ufunc="add", core=True
    ),
    _row("permuted_102_f32", _add, _cube("npq", "pnq"), lambda a, b: (a, b.transpose((1, 0, 2))), ufunc="add"),
    _row("permuted_201_f32", _add, _cube("npq", "pqn"), lambda a, b: (a, b.transpose((2, 0, 1))), ufunc="add"),
    _row("permuted_210_f32", _add, _cube("npq", "qpn"), lambda a, b: (a, b.transpose((2, 1, 0))), ufunc="add"),
    _row(
        "permuted_mixed_f32",
        _fused,
        _cube("npq", "qnp", "pqn"),
        lambda a, b, c: (a, b.transpose((1, 2, 0)), c.transpose((2, 0, 1))),
        scale=32.0,
    ),
    # strided
    _row("strided_f32", _add, _long("f4", 2, 2), lambda a, b: (a[::2], b[::2]), ufunc="add", core=True, large=True),
    _row(
        "strided_one_f64",
        _add,
        lambda n, rng: (sample(rng, "f8", (n,)), sample(rng, "f8", (2 * n,))),
        lambda a, b: (a, b[::2]),
        ufunc="add",
    ),
    _row("strided3_f32", _add, _long("f4", 2, 3), lambda a, b: (a[::3], b[1::3]), ufunc="add"),
    _row(
        "strided_columns_f32",
        _add,
        _wider("f4", 2, lambda r, c: (r, 2 * c)),
        lambda a, b: (a[:, ::2], b[:, 1::2]),
        ufunc="add",
    ),
    _row(
        "strided_both_f32",
        _add,
        lambda n, rng: (sample(rng, "f4", (2 * rows(n)[0], 3 * rows(n)[1])), sample(rng, "f4", rows(n))),
        lambda a, b: (a[::2, ::3], b),
        ufunc="add",
    ),
    _row(
        "strided_rows_f32",
        _add,
        _wider("f4", 2, lambda r, c: (2 * r, c)),
        lambda a, b: (a[::2], b[::2]),
        ufunc="add",
    ),
    _row(
        "window_f32",
        _add,
        _wider("f4", 2, lambda r, c: (r + 3, c + 7)),
        lambda a, b: (a[3:, 7:], b[:-3, :-7]),
        ufunc="add",
    ),
    _row(
        "stencil_f32",
        _stencil,
        _wider("f4", 1, lambda r, c: (r + 2, c + 2)),
        lambda x: (x[1:-1, 1:-1], x[:-2, 1:-1], x[2:, 1:-1], x[1:-1, :-2], x[1:-1, 2:]),
        scale=16.0,
    ),
    _row(
        "difference_f64",
        _difference,
        _long("f8", 1, 1, 1),
        lambda x: (x[1:], x[:-1]),
        ufunc="subtract",
    ),
    _row(
        "interleaved_f32",
        _magnitude,
        lambda n, rng: (sample(rng, "f4", (n, 2)),),
        lambda x: (x[:, 0], x[:, 1]),
        core=True,
    ),
    _row(
        "planes_u8",
        lambda r, g, b: r // 4 + g // 2 + b // 4,
        lambda n, rng: (sample(rng, "u1", (n, 3)),),
        lambda x: (x[:, 0], x[:, 1], x[:, 2]),
    ),
    # reversed
    _row("reversed_f32", _add, flat("f4", "f4"), lambda a, b: (a[::-1], b), ufunc="add", core=True),
    _row("reversed_two_f64", _add, flat("f8", "f8"), lambda a, b: (a[::-1], b[::-1]), ufunc="add"),
    _row(
        "reversed_rows_f32",
        _add,
        _matrices("f4", "f4", turned="CC"),
        lambda a, b: (a[::-1, ::-1], b[::-1]),
        ufunc="add",
    ),
    # F order
    _row("fortran_f64", _add, _matrices("f8", "f8", turned="TT"), lambda a, b: (a.T, b.T), ufunc="add", core=True),
    _row(
        "fortran_bias_f32",
        _add,
        lambda n, rng: (sample(rng, "f4", rows(n)[::-1]), sample(rng, "f4", (rows(n)[0], 1))),
        lambda a, b: (a.T, b),
        ufunc="add",
    ),
    _row(
        "mixed_orders_f32", _fused, _matrices("f4", "f4", "f4", turned="TTC"), lambda a, b, c: (a.T, b.T, c), scale=32.0
    ),
    # results
    _row("into_strided_f32", _add, flat("f4", "f4"), lambda a, b: (a, b), ufunc="add", out=_into_strided, core=True),
    _row(
        "into_transposed_f32",
        _add,
        _matrices("f4", "f4", turned="CC"),
        lambda a, b: (a, b),
        ufunc="add",
        out=_into_transposed,
    ),
    _row("into_window_f32", _add, _matrices("f4", "f4", turned="CC"), lambda a, b: (a, b), ufunc="add", out=_into_rows),
    _row("into_strided_f64", _scaled, flat("f8"), lambda x: (x,), out=_into_strided),
)
