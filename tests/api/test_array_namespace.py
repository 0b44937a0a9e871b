"""The array API's element-wise functions are all there, are kernels, and give NumPy's dtypes and values."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg

# Of the standard, version 2024.12.
UNARY = """abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor imag isfinite isinf
isnan log log1p log2 log10 logical_not negative positive real reciprocal round sign signbit sin sinh square sqrt tan
tanh trunc""".split()
BINARY = """add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal
floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor maximum minimum
multiply nextafter not_equal pow remainder subtract""".split()
INTEGERS = ("bitwise_",)


@pytest.mark.parametrize("name", [*UNARY, *BINARY])
def test_a_function_is_a_kernel_with_numpys_results(name):
    xp = bg.array_namespace()
    function = getattr(xp, name)
    assert isinstance(function, bg.Kernel) and function is getattr(xp, name)
    kind = np.int64 if name.startswith(INTEGERS) else np.float64
    x = np.array([1, 2, 3] if kind is np.int64 or name == "acosh" else [0.25, 0.5, 1.0]).astype(kind)
    operands = (x,) if name in UNARY else (x, x[::-1].copy())
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(*operands)
    got = function(*operands)
    assert got.dtype == wanted.dtype
    np.testing.assert_allclose(got, wanted, rtol=1e-15)


def test_selection():
    xp = bg.array_namespace()
    x = xp.asarray([1.0, 5.0])
    assert xp.clip(x, 2, 4).tolist() == [2, 4] and xp.where(x > 2, x, 0).tolist() == [0, 5]


def test_what_is_beside_functions_is_numpys():
    xp = bg.array_namespace()
    assert xp is bg.array_namespace() and xp.__array_api_version__ == np.__array_api_version__
    assert xp.float32 is np.float32 and xp.pi == np.pi and xp.isdtype(xp.zeros(2).dtype, "real floating")
    for name in ("sum", "sort", "matmul", "nothing", "sigmoid", "_private"):
        with pytest.raises(AttributeError, match=f"has no '{name}'"):
            getattr(xp, name)


def test_names_can_be_completed():
    xp = bg.array_namespace()
    assert {*UNARY, *BINARY, "clip", "where", "float32", "pi"} <= {*dir(xp)}
    assert all(hasattr(xp, name) for name in dir(xp)) and "sum" not in dir(xp)
