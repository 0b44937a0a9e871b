"""Typing: NumPy 2's result dtypes, visible casts, and Python scalars that yield."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from bcastgen.core.dtypes import BF16, COMPUTED, F16, F32, F64, WEAK_COMPLEX, WEAK_FLOAT, WEAK_INT, DType, dtype
from bcastgen.core.errors import DomainError, DTypeError, RangeError
from bcastgen.expr.infer import infer
from bcastgen.expr.text import parse

SCALARS = {WEAK_INT: 1, WEAK_FLOAT: 1.0, WEAK_COMPLEX: 1j}


def result_of(text, *call_types):
    return infer(parse(text), call_types).result_dtypes[0]


def where(condition, x, y):
    """numpy.where, which has no dtype for bf16 beside what bf16 does not hold, where ufuncs have one."""
    try:
        return np.where(condition, x, y)
    except np.exceptions.DTypePromotionError:
        return np.minimum(x, y)


@pytest.mark.parametrize("text", ["a + b", "a * b", "a / b", "a // b", "a < b", "minimum(a, b)", "where(a, a, b)"])
def test_result_dtypes_are_numpys(text):
    for call_types in itertools.product((*COMPUTED, WEAK_INT, WEAK_FLOAT, WEAK_COMPLEX), repeat=2):
        if all(k in SCALARS for k in call_types):
            continue
        if BF16 in call_types:
            # ml_dtypes makes an f32 of a Python float beside a bf16; here it yields, as NEP 50 has it.
            call_types = tuple(BF16 if k is WEAK_FLOAT else k for k in call_types)
        a, b = (SCALARS[k] if k in SCALARS else np.ones(1, k.np) for k in call_types)
        try:
            expected = eval(text, {"a": a, "b": b, "where": where, "minimum": np.minimum})
        except TypeError:
            # NumPy has no floor_divide of complex numbers.
            with pytest.raises(DTypeError, match="not defined for complex numbers"):
                result_of(text, *call_types)
            continue
        assert result_of(text, *call_types).np == np.asarray(expected).dtype, (text, *map(str, call_types))


def test_python_arithmetic_stays_weak():
    # (hi - lo) is a Python float before it meets the array, so the array's f32 decides.
    assert result_of("(x - lo) / (hi - lo)", F32, WEAK_FLOAT, WEAK_FLOAT) is F32
    assert result_of("x * (n + 1)", F32, WEAK_INT) is F32
    assert result_of("x * exp(alpha)", F32, WEAK_FLOAT) is F64  # as numpy.exp of a Python float is a float64


def test_casts_are_nodes():
    typed = infer(parse("a + b"), (F32, dtype("i32")))
    assert "t0 = cast(a, dtype=f64) : f64" in str(typed)


def test_python_ints_must_fit():
    with pytest.raises(RangeError, match="Python integer 300 out of bounds for uint8"):
        infer(parse("a + 300"), (dtype("u8"),))
    assert result_of("a < 300", dtype("u8")).name == "bool"


def test_limits_of_python_ints_that_come_at_run_time():
    typed = infer(parse("a*n + m"), (dtype("u8"), WEAK_INT, WEAK_FLOAT))
    assert typed.limits == (None, (0, 255), None)
    assert infer(parse("a < n"), (dtype("u8"), WEAK_INT)).limits[1] == (-(2**63), 2**63 - 1)


def test_a_weak_value_computed_at_run_time_never_wraps_silently():
    with pytest.raises(DTypeError, match="computed from Python ints only meets u8"):
        infer(parse("a * (n + 1)"), (dtype("u8"), WEAK_INT))


def test_an_explicit_cast_does_not_make_the_scalar_strong_elsewhere():
    assert result_of("x * n + 0 * n.astype(f64).astype(f32)", F32, WEAK_FLOAT) is F32


def test_functions_of_bytes_are_float16_as_in_numpy():
    assert result_of("exp(a)", dtype("i8")).name == "f16"
    assert result_of("arctan2(a, b)", dtype("u8"), BF16) is BF16
    assert result_of("arctan2(a, b)", dtype("f16"), BF16) is F32


def test_python_floats_yield_to_16_bit_floats():
    for kind in (F16, BF16):
        typed = infer(parse("a * 0.1 + n"), (kind, WEAK_FLOAT))
        assert typed.result_dtypes == (kind,)
        assert f"multiply(a, {kind.nearest(0.1)}:{kind})" in str(typed)


@pytest.mark.parametrize("text", ["a - a", "-a"])
def test_bool_arithmetic_numpy_refuses(text):
    with pytest.raises(DTypeError, match="not defined for bool"):
        infer(parse(text), (dtype("bool"),))


def test_squares_and_negative_exponents():
    assert "square(a)" in str(infer(parse("a**2"), (dtype("i32"),)))
    with pytest.raises(DTypeError, match="an int8 for arrays, and an int64 for its scalars"):
        infer(parse("a**2"), (dtype("bool"),))
    assert "power(" in str(infer(parse("power(a, 2)"), (dtype("bool"),)))
    with pytest.raises(DomainError, match="negative integer powers"):
        infer(parse("a**-1"), (dtype("i32"),))
    assert result_of("a**-1", F32) is F32


@pytest.mark.parametrize(
    ("text", "kind", "op"),
    [
        ("a**2", "f32", "square(a)"),
        ("a**0.5", "f64", "sqrt(a)"),
        ("a**-1", "f16", "reciprocal(a)"),
        ("2**a", "f32", "exp2(a)"),
        ("a**3", "f32", "power(a, 3.0:f32)"),
        ("a**0.5", "i32", "power("),
        ("2**a", "i32", "power(2:i32, a)"),
        ("2.5**a", "f32", "power(2.5:f32, a)"),
    ],
)
def test_powers_by_python_numbers_are_what_numpy_takes_for_them(text, kind, op):
    typed = infer(parse(text), (dtype(kind),))
    assert op in str(typed)
    assert typed.result_dtypes[0].np == eval(text, {"a": np.ones(2, dtype(kind).np)}).dtype


def test_the_square_of_a_python_float_stays_weak():
    assert infer(parse("s**2 * a"), (WEAK_FLOAT, F32)).result_dtypes == (F32,)


def test_declared_dtypes():
    declared = (F32, F32)
    typed = infer(parse("x * alpha"), (F32, WEAK_FLOAT), declared)
    assert typed.result_dtypes == (F32,)
    assert typed.operand_dtypes == (F32, F64)
    with pytest.raises(DTypeError, match="operand 'x' has dtype f64, declared f32"):
        infer(parse("x * alpha"), (F64, WEAK_FLOAT), declared)


def test_every_node_of_a_typed_expression_has_a_dtype():
    from bcastgen.expr.nodes import topological

    typed = infer(parse("where(a > 0, a*b, b % 3) + 1"), (F32, dtype("i64")))
    assert all(isinstance(node.dtype, DType) for node in topological(typed.expression.results))
