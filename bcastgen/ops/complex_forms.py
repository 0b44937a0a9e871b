"""What ops of the table are for complex numbers.

In: the name of a row.  Out: its form for complex numbers, if NumPy has the op for them.

    FORMS["add"].c  ->  "bcg_add_{t}({0}, {1})"

A form calls `bcg_<name>_<dtype>` of csrc; a row without one refuses complex operands by name. This module is imported
where complex numbers are computed with or a kernel is compiled, and not before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .facts import ComplexForm

__all__ = ["FORMS"]


# ---- references: NumPy's own loops fuse products with sums where the machine can, for some strides


def _complex(re: Any, im: Any) -> Any:
    made = np.empty(np.broadcast(re, im).shape, np.result_type(re, np.complex64))
    made.real, made.imag = re, im
    return made


def _same(*operands: Any) -> list[Any]:
    kind = np.result_type(*operands)
    return [np.asarray(x).astype(kind) for x in operands]


def _multiply(x: Any, y: Any) -> Any:
    x, y = _same(x, y)
    return _complex(x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real)


def _divide(x: Any, y: Any) -> Any:
    x, y = _same(x, y)
    by_real = np.abs(y.real) >= np.abs(y.imag)
    large, small = np.where(by_real, y.real, y.imag), np.where(by_real, y.imag, y.real)
    ratio = small / large
    scale = 1 / (large + small * ratio)
    re = np.where(by_real, x.real + x.imag * ratio, x.real * ratio + x.imag) * scale
    im = np.where(by_real, x.imag - x.real * ratio, x.imag * ratio - x.real) * scale
    by_zero = y == 0
    return _complex(np.where(by_zero, x.real / np.abs(y.real), re), np.where(by_zero, x.imag / np.abs(y.real), im))


def _reciprocal(z: Any) -> Any:
    (z,) = _same(z)
    by_real = np.abs(z.imag) <= np.abs(z.real)
    large, small = np.where(by_real, z.real, z.imag), np.where(by_real, z.imag, z.real)
    ratio = small / large
    size = large + small * ratio
    one = ratio.dtype.type(1)
    return _complex(np.where(by_real, one, ratio) / size, np.where(by_real, -ratio, -one) / size)


def _form(name: str, arity: int = 1, **facts: Any) -> ComplexForm:
    return ComplexForm(f"bcg_{name}_{{t}}({', '.join(f'{{{at}}}' for at in range(arity))})", **facts)


def _common_case(name: str) -> dict[str, Any]:
    """Return the templates of the common case, a function of csrc by itself, and of the test for all other cases."""
    return {"common_case": f"bcg_{name}_common_{{t}}({{0}})", "is_rare": f"bcg_{name}_is_rare_{{t}}({{0}})"}


def _of(dialect: str, arity: int) -> str:
    """Return the spelling of an op of MLIR's dialect complex that gives a complex number."""
    return f"complex.{dialect} {', '.join(f'{{{at}}}' for at in range(arity))} : {{t}}"


FORMS: Mapping[str, ComplexForm] = {
    "add": _form("add", 2, mlir=_of("add", 2)),
    "subtract": _form("subtract", 2, mlir=_of("sub", 2)),
    "multiply": _form("multiply", 2, reference=_multiply, mlir=_of("mul", 2)),
    "divide": _form("divide", 2, reference=_divide, cost_tenths_ns=6.0, mlir=_of("div", 2)),
    "negative": _form("negative", mlir=_of("neg", 1)),
    "positive": ComplexForm("{0}", mlir="{0}"),
    "absolute": _form("absolute", is_real=True, ulp=1, cost_tenths_ns=5.0, mlir="complex.abs {0} : {t}"),
    "sign": _form("sign", ulp=2, cost_tenths_ns=8.0),
    "square": _form("square", reference=lambda z: _multiply(z, z), mlir="complex.mul {0}, {0} : {t}"),
    "reciprocal": _form("reciprocal", reference=_reciprocal, cost_tenths_ns=6.0),
    "rint": _form("rint"),
    "round": _form("rint"),
    **{name: _form(name, 2, cost_tenths_ns=1.5) for name in ("minimum", "maximum", "fmin", "fmax")},
    "clip": _form("clip", 3, cost_tenths_ns=3.0),
    "equal": _form("equal", 2, mlir="complex.eq {0}, {1} : {t}"),
    "not_equal": _form("not_equal", 2, mlir="complex.neq {0}, {1} : {t}"),
    **{name: _form(name, 2) for name in ("less", "less_equal", "greater", "greater_equal")},
    **{name: _form(name) for name in ("isnan", "isinf", "isfinite")},
    **{
        name: _form(
            name,
            ulp=ulp,
            by_norm=name == "expm1",
            cost_tenths_ns=cost,
            **(_common_case(name) if has_common_case else {}),
            mlir=f"complex.{spelled} {{0}} : {{t}}" if spelled else None,
        )
        for name, ulp, cost, has_common_case, spelled in (
            ("sqrt", 3, 60.0, True, "sqrt"),
            ("exp", 3, 60.0, True, "exp"),
            ("exp2", 4, 100.0, False, ""),
            ("expm1", 4, 150.0, False, "expm1"),
            ("log", 3, 120.0, True, "log"),
            ("log2", 3, 120.0, False, ""),
            ("log10", 3, 120.0, False, ""),
            ("log1p", 3, 120.0, False, "log1p"),
            ("sin", 3, 150.0, True, "sin"),
            ("cos", 3, 150.0, True, "cos"),
            ("tan", 6, 150.0, False, "tan"),
            ("sinh", 3, 150.0, True, ""),
            ("cosh", 3, 150.0, True, ""),
            ("tanh", 6, 150.0, False, "tanh"),
            ("arcsin", 4, 200.0, False, ""),
            ("arccos", 4, 200.0, False, ""),
            ("arctan", 4, 200.0, False, ""),
            ("arcsinh", 4, 200.0, False, ""),
            ("arccosh", 4, 200.0, False, ""),
            ("arctanh", 4, 200.0, False, ""),
        )
    },
    "power": _form("power", 2, ulp=4, by_norm=True, cost_tenths_ns=300.0, mlir=_of("pow", 2)),
    "float_power": _form("power", 2, ulp=4, by_norm=True, cost_tenths_ns=300.0, mlir=_of("pow", 2)),
    "conjugate": _form("conjugate", mlir=_of("conj", 1)),
    "real": _form("real", is_real=True, mlir="complex.re {0} : {t}"),
    "imag": _form("imag", is_real=True, mlir="complex.im {0} : {t}"),
    "angle": _form("angle_of", is_real=True, ulp=1, cost_tenths_ns=10.0, mlir="complex.angle {0} : {t}"),
    **{f"parts_{name}": ComplexForm("") for name in ("multiply", "divide")},
    "nan_to_num": ComplexForm("", cost_tenths_ns=1.5),
    "full_like": ComplexForm(""),
    "where": _form("where", 3, mlir="arith.select {0}, {1}, {2} : {T}"),
}
