"""Rows of mathematical functions, which csrc's vmath computes.

In: nothing.  Out: rows, in the order in which they are listed.

    OPS["exp"].c_for((F32,), F32)  ->  "bcg_exp_f32({0})"
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ...core.dtypes import F64
from .. import dtype_rules as rules
from ..c_forms import NORMAL, CForms, RangeTest, between, up_to
from ..facts import Mlir
from ..row import Op

__all__ = ["FUNCTIONS", "as_float", "function"]


def function(
    name: str,
    doc: str,
    domain: tuple[float, float] = (-10.0, 10.0),
    *,
    arity: int = 1,
    aliases: tuple[str, ...] = (),
    reference: Callable[..., Any] | None = None,
    ulp: int = 4,
    ulp_of: float = 0.0,
    fast_ulp: int | None = None,
    scalar: bool = False,
    range_tests: tuple[RangeTest, ...] | Mapping[str, tuple[RangeTest, ...]] = (),
    pairs: tuple[str, ...] = (),
    cost: float = 4.0,
    mlir: str = "",
    pole: str = "",
    underflow: str = "",
) -> Op:
    """Return the row of a function that csrc has as `bcg_<name>_<dtype>`.

    With `fast_ulp` there is a `bcg_<name>_fast_<dtype>` of that bound. With `range_tests` there is a
    `bcg_<name>_common_<dtype>` for elements that pass them, for all floats or by dtype. With `scalar` compilers
    vectorise only that common case, which is right up to `BCG_<NAME>_COMMON_<DTYPE>`.
    """
    if scalar and not range_tests:
        most = f"BCG_{name.upper()}_COMMON_{{N}}"
        range_tests = (RangeTest("int", f"fabs{{f}}({{0}}) > {most}", "0", f"not |{{0}}| > {most}"),)
    tests = range_tests if isinstance(range_tests, Mapping) else {"float": range_tests}
    has_common_case = bool(range_tests)
    # A common case of only some dtypes has no form for math="fast".
    fast_common_case = fast_ulp is not None and has_common_case and not isinstance(range_tests, Mapping)
    operands = "{0}" if arity == 1 else "{0}, {1}"
    return Op(
        name,
        arity,
        rules.floating,
        f"bcg_{name}_{{t}}({operands})",
        doc,
        aliases=aliases,
        ulp=ulp,
        ulp_of=ulp_of,
        domain=domain,
        reference=reference,
        cost_tenths_ns=cost,
        mlir=Mlir({"float": mlir}) if mlir else None,
        forms=CForms(
            fast=None if fast_ulp is None else f"bcg_{name}_fast_{{t}}({operands})",
            fast_ulp=fast_ulp,
            range_tests=tests if has_common_case else None,
            common_case=dict.fromkeys(tests, f"bcg_{name}_common_{{t}}({operands})") if has_common_case else None,
            fast_common_case=f"bcg_{name}_fast_common_{{t}}({operands})" if fast_common_case else None,
            scalar=scalar,
            pairs=pairs,
        ),
        pole=pole,
        underflow=underflow,
    )


# ---- references for functions that NumPy lacks


def as_float(x: Any) -> Any:
    """Convert integers as NumPy does for its own functions."""
    x = np.asarray(x)
    return x if x.dtype.kind == "f" else x.astype(np.sqrt.resolve_dtypes((x.dtype, None))[1])


def _erf(x: Any) -> Any:
    x = as_float(x)
    return np.vectorize(math.erf, otypes=[np.float64])(x).astype(x.dtype)


def _erfc(x: Any) -> Any:
    x = as_float(x)
    return np.vectorize(math.erfc, otypes=[np.float64])(x).astype(x.dtype)


def _sigmoid(x: Any) -> Any:
    x = as_float(x)
    return (1 / (1 + np.exp(-x.astype(np.longdouble)))).astype(x.dtype)


def _rsqrt(x: Any) -> Any:
    x = as_float(x)
    return (1 / np.sqrt(x.astype(np.longdouble))).astype(x.dtype)


# log1p writes 1 + x as 2^k (1 + f); its common case makes 2^-k from bits, so that has to be a normal number.
_LOG1P = {
    "f32": (between(2.0**-126, 2.0**126, operand="1 + {0}"),),
    "f64": (between(2.0**-1022, 2.0**1022, F64, operand="1 + {0}"),),
}
_F32_TO_80 = {"f32": up_to("80")}
_CUBES = {"f32": (between(2.0**-64, 2.0**64),), "f64": (between(2.0**-512, 2.0**512, F64),)}
_ANGLES = {"f32": tuple(between(2.0**-32, 2.0**32, operand=f"fabs{{f}}({{{at}}})") for at in (0, 1))}
_UNIT = (-1.0, 1.0)
_PAIRS = ("f32", "f64")

FUNCTIONS: tuple[Op, ...] = (
    function(
        "exp",
        "e to the power of the operand.",
        ulp=1,
        range_tests=up_to("BCG_EXP_COMMON_{N}"),
        underflow="isfinite(a)",
        cost=3.0,
        mlir="math.exp",
    ),
    function(
        "exp2",
        "2 to the power of the operand.",
        ulp=1,
        range_tests=up_to("BCG_EXP2_COMMON_{N}"),
        underflow="isfinite(a) & ((r == 0) | (floor(real(a)) != a))",
        cost=3.0,
        mlir="math.exp2",
    ),
    function("expm1", "exp(x) - 1 without cancellation.", ulp=1, range_tests=_F32_TO_80, cost=4.5, mlir="@EXPM1"),
    function(
        "log",
        "Natural logarithm.",
        (0.0, 100.0),
        ulp=1,
        fast_ulp=4,
        range_tests=(NORMAL,),
        pole="a == 0",
        cost=4.5,
        mlir="math.log",
    ),
    function(
        "log2",
        "Logarithm to base 2.",
        (0.0, 100.0),
        ulp=1,
        fast_ulp=4,
        range_tests=(NORMAL,),
        pole="a == 0",
        cost=5.0,
        mlir="math.log2",
    ),
    function(
        "log10",
        "Logarithm to base 10.",
        (0.0, 100.0),
        ulp=1,
        fast_ulp=4,
        range_tests=(NORMAL,),
        pole="a == 0",
        cost=5.0,
        mlir="math.log10",
    ),
    function(
        "log1p",
        "log(1 + x) without cancellation.",
        (-1.0, 100.0),
        ulp=1,
        range_tests=_LOG1P,
        pairs=_PAIRS,
        pole="a == -1",
        cost=5.5,
        mlir="@LOG1P",
    ),
    function("sin", "Sine of an angle in radians.", ulp=1, fast_ulp=4, scalar=True, cost=5.0, mlir="math.sin"),
    function("cos", "Cosine of an angle in radians.", ulp=1, fast_ulp=4, scalar=True, cost=5.0, mlir="math.cos"),
    function(
        "tan",
        "Tangent of an angle in radians.",
        ulp=1,
        fast_ulp=4,
        scalar=True,
        pairs=_PAIRS,
        cost=7.0,
        mlir="math.tan",
    ),
    function("tanh", "Hyperbolic tangent.", ulp=1, fast_ulp=4, pairs=_PAIRS, cost=6.0, mlir="math.tanh"),
    function("sinh", "Hyperbolic sine.", ulp=1, fast_ulp=4, range_tests=_F32_TO_80, cost=5.5, mlir="math.sinh"),
    function("cosh", "Hyperbolic cosine.", ulp=1, range_tests=_F32_TO_80, cost=4.0, mlir="math.cosh"),
    function("arcsin", "Inverse sine, in radians.", _UNIT, aliases=("asin",), ulp=1, fast_ulp=4, mlir="math.asin"),
    function("arccos", "Inverse cosine, in radians.", _UNIT, aliases=("acos",), ulp=1, fast_ulp=4, mlir="math.acos"),
    function(
        "arctan",
        "Inverse tangent, in radians.",
        aliases=("atan",),
        ulp=1,
        fast_ulp=4,
        pairs=("f64",),
        cost=5.0,
        mlir="math.atan",
    ),
    function(
        "arctan2",
        "Angle of the point (second, first), in radians.",
        arity=2,
        aliases=("atan2",),
        ulp=1,
        fast_ulp=4,
        range_tests=_ANGLES,
        pairs=("f64",),
        cost=10.0,
        mlir="math.atan2",
    ),
    function(
        "arcsinh",
        "Inverse hyperbolic sine.",
        aliases=("asinh",),
        ulp=1,
        range_tests={"f32": (between(0.0, 2.0**63),)},
        cost=9.0,
        mlir="math.asinh",
    ),
    function(
        "arccosh",
        "Inverse hyperbolic cosine.",
        (1.0, 50.0),
        aliases=("acosh",),
        ulp=1,
        range_tests={"f32": (between(1.0, 2.0**63, operand="{0}"),)},
        cost=8.0,
        mlir="math.acosh",
    ),
    function(
        "arctanh",
        "Inverse hyperbolic tangent.",
        _UNIT,
        aliases=("atanh",),
        ulp=1,
        pairs=("f32",),
        pole="(a == 1) | (a == -1)",
        cost=8.0,
        mlir="math.atanh",
    ),
    function(
        "hypot", "Length of the hypotenuse, without overflow on the way.", arity=2, ulp=1, cost=4.0, mlir="@HYPOT"
    ),
    function("cbrt", "Cube root.", (-50.0, 50.0), ulp=1, fast_ulp=4, range_tests=_CUBES, cost=4.5, mlir="math.cbrt"),
    function("erf", "Error function.", (-4.0, 4.0), reference=_erf, ulp=1, fast_ulp=4, cost=6.0, mlir="math.erf"),
    function(
        "erfc",
        "1 - erf(x) without cancellation.",
        (-4.0, 10.0),
        reference=_erfc,
        ulp=2,
        fast_ulp=4,
        pairs=_PAIRS,
        cost=16.0,
        mlir="math.erfc",
    ),
    function(
        "sigmoid",
        "1 / (1 + exp(-x)).",
        aliases=("expit",),
        reference=_sigmoid,
        ulp=1,
        fast_ulp=4,
        range_tests=_F32_TO_80,
        pairs=_PAIRS,
        cost=6.0,
        mlir="@SIGMOID",
    ),
    function("rsqrt", "1 / sqrt(x).", (0.01, 100.0), reference=_rsqrt, ulp=1, cost=3.5, mlir="@RSQRT"),
)
