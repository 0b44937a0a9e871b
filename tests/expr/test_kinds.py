"""Functions that ask what kind of argument they have, called by NumPy and traced: never another result, silently."""

from __future__ import annotations

import numbers
import os
from pathlib import Path

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core import source_lines
from bcastgen.core.errors import TraceError
from bcastgen.expr.kinds import asking
from bcastgen.expr.trace import trace

ARGUMENTS = (np.arange(3.0), np.float32([[1, 2]]), np.array(2.0), np.float64(2.0), 2.0, 3, True, [1, 2])


def by_is(x):
    return x if type(x) is np.ndarray else x * 3


def by_issubclass(x):
    return x if issubclass(type(x), np.generic) else x * 3


def in_a_nested_function(x):
    def choose(y):
        return type(y) in (int, float)

    return x if choose(x) else x * 3


ASKING = [
    lambda x: x if isinstance(x, np.ndarray) else x * 3,
    lambda x: x if isinstance(x, (int, float)) else x * 3,
    lambda x: x if isinstance(x, numbers.Number) else x * 3,
    lambda x: x if isinstance(x + 1, np.generic) else x * 3,
    lambda x: x if np.isscalar(x) else x * 3,
    lambda x: x if type(x) == float else x * 3,  # noqa: E721
    lambda x: x if type(x) != np.ndarray else x * 3,  # noqa: E721
    lambda x: x if type(x) in (int, float) else x * 3,
    lambda x: x if x.__class__ is np.ndarray else x * 3,
    lambda x: x if hasattr(x, "shape") else x * 3,
    lambda x: x if np.ndim(x) else x * 3,
    lambda x: x if np.shape(x) == () else x * 3,
    lambda x: x if np.size(x) == 3 else x * 3,
    lambda x: x if x.ndim == 0 else x * 3,
    lambda x: x if x.dtype == np.float32 else x * 3,
    lambda x: x if callable(getattr(x, "cumsum", None)) else x * 3,
    lambda x: x if x is None else x * 3,
    by_is,
    by_issubclass,
    in_a_nested_function,
]


@pytest.mark.parametrize("function", ASKING)
def test_a_traced_function_gives_what_numpy_gives_or_is_refused(function):
    try:
        kernel = bg.jit(function)
    except TraceError as error:
        assert "while tracing" in str(error) or "not element-wise" in str(error)
        return
    for argument in ARGUMENTS:
        try:
            expected = function(np.asarray(argument) if isinstance(argument, list) else argument)
        except (AttributeError, TypeError):
            continue
        assert np.array_equal(kernel(argument), expected), argument


def test_all_but_is_none_are_refused():
    refused = 0
    for function in ASKING:
        try:
            bg.jit(function)
        except TraceError:
            refused += 1
    assert refused == len(ASKING) - 1


def test_a_signature_tells_shape_rank_and_dtype():
    def normal(x, y):
        assert (x.ndim, len(x), x.size, np.shape(x)) == (2, 2, 6, (2, 3))
        return (x / x.size + y).astype(x.dtype)

    kernel = bg.jit(normal, signature="(f32[2, 3] x, f32[?] y)")
    assert kernel(np.ones((2, 3), "f4"), np.zeros(3, "f4")).dtype == np.float32
    with pytest.raises(TraceError, match="the extent of dim 0 of an operand is not known"):
        bg.jit(lambda x: x * len(x), signature="(f32[?] x)")
    with pytest.raises(TraceError, match="the shape of an operand is not known"):
        bg.jit(lambda x: x * len(x), signature="(f32[*] x)")
    assert bg.jit(lambda x: x * x.ndim, signature="(f32[?] x)")(np.ones(2, "f4")).tolist() == [1, 1]
    with pytest.raises(TraceError, match="declare it by signature="):
        bg.jit(lambda x: (x + 1).ndim, signature="(f32[2] x)")


def test_extents_that_a_signature_declares_are_known_beside_those_it_leaves_open():
    x = np.arange(12.0).reshape(2, 2, 3)
    kernel = bg.jit(lambda x: x * x.shape[-1] + sum(x.shape[1:]), signature="(f64[?, 2, 3] x)")
    assert (kernel(x) == x * 3 + 5).all()
    for asks in (
        lambda x: x * x.shape[0],
        lambda x: x * x.size,
        lambda x: x if x.shape == (2, 2, 3) else -x,
        lambda x: x * sum(x.shape[:2]),
        lambda x: x if 2 in x.shape else -x,
    ):
        with pytest.raises(TraceError, match="the extent of dim 0 of an operand is not known"):
            bg.jit(asks, signature="(f64[?, 2, 3] x)")


@pytest.mark.parametrize(
    "function",
    [
        lambda x, s=-1: x.sum(axis=s),
        lambda x, s: np.max(x, s),
        lambda x, s=True: x.sum(0, keepdims=s),
        lambda x, s="f4": x.astype(s),
        lambda x, s=0: np.expand_dims(x, s),
        lambda x, s=3: sum(x for _ in range(s)),
        lambda x, s=(0, 1): np.clip(x, s[0], s[1]),
        lambda x, s=True: x if s else -x,
        lambda x, s=0: (x, -x)[s],
    ],
)
def test_a_parameter_that_is_no_array_is_named_with_the_cure(function):
    with pytest.raises(TraceError, match="if 's' is no array, decorate with static='s'"):
        bg.jit(function)


def test_the_package_asks_for_its_user_where_it_is_installed(monkeypatch):
    """Here the tests run beside a checkout; most users' package lies where packages are installed."""
    installed = f"{Path(bg.__file__).parents[1]}{os.sep}"
    monkeypatch.setattr(source_lines, "_INSTALLED", (installed,))
    assert source_lines.package_of(bg.__file__) == "bcastgen"
    with pytest.raises(TraceError, match="if 's' is no array, decorate with static='s'"):
        bg.jit(lambda x, s: np.max(x, s))


def test_a_parameter_that_is_called():
    with pytest.raises(TraceError, match="an operand is called, but is no function; decorate with static="):
        bg.jit(lambda f, x: f(x))


def test_type_of_other_values_is_pythons():
    def function(x, k=2):
        assert int is int
        assert str is str
        assert isinstance(int, type)
        return x * 2

    assert asking(function) is not function
    assert "multiply(x, 2)" in str(trace(function, ("x",)))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: np.where(x > 2, np.array(1.5), x),
        lambda x: np.where(np.array(True), np.array(1.5), x),
        lambda x: np.isclose(np.array(2.0), x),
        lambda x: np.clip(x, np.array(1.0), np.array(2.0)),
        lambda x: np.polyval(np.array([1.0, 2.0]), x),
        lambda x: np.select([x > 2, x > 1], [np.array(1.5), x], np.array(0.0)),
    ],
)
def test_arrays_of_one_number_beside_an_operand_are_numbers(function):
    """NumPy asks for the class of each argument to find whose function it is; that is no test of the user's."""
    x = np.arange(6.0)
    np.testing.assert_array_equal(bg.jit(function)(x), function(x))


def by_kind_then_wrong(x):
    if isinstance(x, np.ndarray):
        return x
    y = np.where(np.array(True), np.array(1.0), x)
    return float(y)


def test_the_test_of_a_kind_is_told_and_not_what_its_wrong_branch_does():
    with pytest.raises(bg.TraceError, match=r"array or a number .* at .*test_kinds\.py:") as caught:
        bg.jit(by_kind_then_wrong)
    first = by_kind_then_wrong.__code__.co_firstlineno
    assert f"test_kinds.py:{first + 1} in by_kind_then_wrong(x)" in str(caught.value)
    assert type(caught.value).__name__ == "TraceError"


def test_an_array_from_outside_is_named_beside_an_operand():
    with pytest.raises(bg.TraceError, match=r"^numpy\.interp is not element-wise"):
        bg.jit(lambda x: np.interp(x, np.arange(2.0), np.arange(2.0)))
    with pytest.raises(bg.TraceError, match=r"an array of shape \(3,\) from outside"):
        bg.jit(lambda x: np.clip(np.ones(3), x, 2))
