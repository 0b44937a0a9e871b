"""`vectorize`: Numba's examples unchanged, and functions of scalars against Python element by element."""

from __future__ import annotations

import importlib
import math
import pickle
import sys

import numpy as np
import pytest

import bcastgen as bg
from bcastgen import vectorize


class _Type:
    """A type of Numba's as its documentation uses it: calling it makes a signature."""

    def __init__(self, name):
        self.name = name

    def __call__(self, *args):
        return _Signature(self, args)


class _Signature:
    def __init__(self, return_type, args):
        self.return_type, self.args = return_type, args


_Type.__module__ = "numba.core.types.scalars"
int32, int64, float32, float64 = map(_Type, ("int32", "int64", "float32", "float64"))


# ---- the examples of Numba's documentation ---------------------------------------------------------------------------


@vectorize([float64(float64, float64)])
def one_signature(x, y):
    return x + y


@vectorize([int32(int32, int32), int64(int64, int64), float32(float32, float32), float64(float64, float64)])
def f(x, y):
    return x + y


@vectorize
def g(x, y):
    return x * y


@vectorize
def divide(a, b):
    return a / b


@vectorize
def rel_diff(x, y):
    return 2 * (x - y) / (x + y)


@vectorize(["float32(float32, float32, float32)", "float64(float64, float64, float64)"], target="parallel")
def discriminant(a, b, c):
    return math.sqrt(b**2 - 4 * a * c)


@vectorize(["int64(int64)"], nopython=True, cache=True)
def scalar_computation(num):
    if num == 0:
        return 139
    elif num % 2 == 0:
        return num // 2
    return 3 * num + 1


@vectorize("float64(float64)", identity=0, fastmath=False)
def sinc(x):
    if x == 0.0:
        return 1.0
    else:
        return math.sin(x * math.pi) / (math.pi * x)


def test_the_documentation_of_numba():
    a = np.arange(6)
    assert f(a, a).tolist() == [0, 2, 4, 6, 8, 10]
    assert f(a, a).dtype == np.int64
    a = np.linspace(0, 1, 6)
    assert f(a, a).tolist() == [0.0, 0.4, 0.8, 1.2000000000000002, 1.6, 2.0]
    assert f(a.astype("f4"), a.astype("f4")).dtype == np.float32
    assert one_signature(np.float32(1), np.arange(3)).dtype == np.float64
    assert g(3, 4) == 12
    assert g(1.0, 2.0) == 2.0
    assert g(1, 2.0) == 2.0
    assert divide(2.0, 3.0) == divide(2, 3) == 2 / 3
    a = np.arange(10, dtype=np.float64)
    b = a * 2 + 1
    assert np.array_equal(rel_diff(a, b), 2 * (a - b) / (a + b))
    a, b, c = (np.linspace(1, 2, 50, dtype=np.float32) for _ in range(3))
    assert discriminant(a, 10 * b, c).dtype == np.float32
    np.testing.assert_allclose(discriminant(a, 10 * b, c), np.sqrt(100 * b * b - 4 * a * c), rtol=1e-6)
    assert scalar_computation(np.arange(5)).tolist() == [139, 4, 1, 10, 2]
    np.testing.assert_allclose(sinc(np.array([0.0, 0.5, 2.5])), np.sinc([0, 0.5, 2.5]), rtol=1e-14)


def test_a_signature_is_chosen_as_numpy_chooses_a_loop():
    assert f(np.uint8([255]), np.int32([1])).tolist() == [256]
    assert f(np.uint8([255]), np.int8([1])).dtype == np.int32
    assert f(np.float16([1]), np.int64([1])).dtype == np.float64
    assert f(np.int32([1]), 2).dtype == np.int32
    with pytest.raises(bg.RangeError):
        f(np.int32([1]), 2**40)
    with pytest.raises(bg.DTypeError, match=r"none of its signatures takes these without loss: int64\(int64\)"):
        scalar_computation(np.array([1.5]))
    with pytest.raises(TypeError):
        f(np.linspace(0, 1 + 1j, 6), 1)


def test_options_of_numba_that_would_change_something_are_refused():
    for options in ({"target": "cuda"}, {"forceobj": True}, {"nopython": False}):
        with pytest.raises(bg.BcastgenError, match="not available"):
            vectorize(**options)(lambda x: x)
    with pytest.raises(TypeError, match="unexpected"):
        vectorize(looplift=True)
    with pytest.raises(bg.ParseError, match="2 operands, the function 1"):
        vectorize(["float64(float64, float64)"])(lambda x: x)
    with pytest.raises(bg.ParseError, match="no signature"):
        vectorize(["float64[:](float64)"])(lambda x: x)


# ---- against Python --------------------------------------------------------------------------------------------------


def collatz(n):
    steps = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


def clamp(x, low, high):
    return min(max(x, low), high)


def quadrant(x, y):
    if not (x or y):
        return 0
    if x > 0 < y:
        return 1
    elif x < 0 and y > 0:
        return 2
    return 3 if x < 0 else 4


def first_root(x):
    for at in range(6):
        if at * at >= x:
            return at
    else:
        at = -1
    return at


def polar(x, y):
    r = math.hypot(x, y)
    return r, (math.atan2(y, x) if r else 0.0)


def helper(x, scale=2.0):
    return x * scale if x > 1 else x


def with_helper(x):
    return helper(x) + helper(x, scale=0.5) + abs(-x)


FLOATS = np.array([-3.0, -1.5, -0.0, 0.0, 0.5, 1.0, 2.5, 30.0])


@pytest.mark.parametrize(
    ("function", "operands", "options"),
    [
        (collatz, (np.arange(1, 30),), {"max_iterations": 120}),
        (clamp, (FLOATS[:, None], np.array([-1.0, 0.5]), 2.0), {}),
        (quadrant, (FLOATS[:, None], FLOATS), {}),
        (first_root, (np.arange(40),), {}),
        (with_helper, (FLOATS,), {}),
    ],
)
def test_functions_are_what_python_makes_of_each_element(function, operands, options):
    found = vectorize(function, **options)(*operands)
    assert np.array_equal(found, np.vectorize(function)(*operands))


def test_several_results_and_a_kernel_that_calls_others():
    r, angle = vectorize(polar)(FLOATS, 1.0)
    np.testing.assert_allclose(r, np.hypot(FLOATS, 1.0))
    np.testing.assert_allclose(angle, np.arctan2(1.0, FLOATS))
    inner = vectorize(clamp)
    outer = vectorize(lambda x: inner(x, -1.0, 1.0) + bg.exp(x) if x < 5 else np.float32(0))
    expected = np.where(FLOATS < 5, np.clip(FLOATS, -1, 1) + np.exp(FLOATS), 0)
    np.testing.assert_allclose(outer(FLOATS), expected, rtol=1e-15)
    # A function of arrays may call it, too, and one with a signature.
    np.testing.assert_allclose(bg.jit(lambda x: inner(x, -1.0, 1.0) * 2)(FLOATS), np.clip(FLOATS, -1, 1) * 2)
    np.testing.assert_allclose(bg.jit(lambda x: one_signature(x, 1.0) * 2)(FLOATS), (FLOATS + 1) * 2)
    with pytest.raises(bg.TraceError, match="which one is meant"):
        bg.jit(lambda x: f(x, x))


def test_a_result_has_the_shape_of_all_operands():
    assert vectorize(lambda x, y: x)(np.arange(3), np.zeros((2, 1))).shape == (2, 3)
    assert vectorize(lambda x: 1)(np.zeros((2, 3))).tolist() == [[1, 1, 1], [1, 1, 1]]
    with pytest.raises(bg.BroadcastError):
        vectorize(lambda x, y: x)(np.arange(3), np.zeros(2))


@vectorize(max_iterations=5)
def doubled(x):
    while x < 100:
        x = x * 2
    return x


def test_an_element_that_needs_more_rounds_than_the_bound_ends_the_call():
    out = np.full(4, 7)
    assert doubled(np.array([4, 50, 200])).tolist() == [128, 100, 200]
    for given in (np.array([4, 50, 3, 200]), np.float32([4, 50, 3, 200]), np.int8([4, 50, 3, 101])):
        with pytest.raises(bg.DomainError, match=r"after the most rounds .* max_iterations.*in doubled\(x: \[4\]"):
            doubled(given, out=out, casting="unsafe")
    assert out.tolist() == [7] * 4
    assert doubled(np.array([4, 3]), where=[True, False]).tolist() == [128, 0]
    assert bg.jit(lambda x: doubled(x) + 1)(np.array([4])).tolist() == [129]
    with pytest.raises(bg.DomainError, match="max_iterations"):
        bg.jit(lambda x: doubled(x) + 1)(np.array([3]))
    with pytest.raises(bg.DomainError, match="max_iterations"):
        pickle.loads(pickle.dumps(doubled))(3)


def test_only_elements_that_come_to_a_loop_have_to_end_it():
    @vectorize(max_iterations=5)
    def f(x, wanted):
        if wanted:
            while x < 100:
                x = x * 2
                if x == 48:
                    break
        else:
            x = -x
        return x, x + 1

    x = np.array([4, 3, 1, 24])
    assert [one.tolist() for one in f(x, x != 1)] == [[128, 48, -1, 48], [129, 49, 0, 49]]
    with pytest.raises(bg.DomainError, match="max_iterations"):
        f(x, True)


@pytest.mark.parametrize("form", [{}, {"static": True}])
def test_emitted_c_refuses_such_elements_by_a_status(form, tmp_path):
    extents = "4" if form else "?"
    kernel = bg.jit(lambda x: doubled(x), signature=f"(i32[{extents}] x)", name="doubled")
    source, *_ = kernel.emit_c(tmp_path, **form)
    assert ("DOUBLED_ENDLESS" if form else "BCASTGEN_ENDLESS") in source.read_text()


def test_static_parameters_decide_how_often_loops_run():
    @vectorize(static="order")
    def series(x, order=2):
        total = 1.0
        for at in range(order):
            total += x ** (at + 1)
        return total

    assert series(np.array([2.0])).tolist() == [7.0]
    assert series(np.array([2.0]), order=3).tolist() == [15.0]
    assert series(np.array([2.0]), 0).tolist() == [1.0]


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda x: np.sum(x) * 2, "sum has nothing to reduce"),
        (lambda x: x / np.max(x), "max has nothing to reduce"),
        (lambda x: x - x.mean(), "each operand is one element"),
        (lambda x: total_of(x), "sum has nothing to reduce"),
        (lambda x: np.expand_dims(x, 0), "there are no dims to move or add"),
    ],
)
def test_an_operand_is_one_element_of_which_nothing_is_reduced_or_moved(function, why):
    """numpy.sum(x) added up the whole array: what no function of numbers means."""
    with pytest.raises(bg.TraceError, match=why):
        vectorize(function)


total_of = bg.jit(lambda x: x.sum())


def test_a_function_that_calls_itself_is_told_so():
    # At decoration, so that the name is not there yet.
    with pytest.raises(bg.TraceError, match=r"fall\(\) calls itself.*write a loop"):

        @vectorize
        def fall(x):
            return fall(x - 1) if x > 0 else x


def test_functions_without_source_are_refused():
    names = {}
    exec("def made(x): return x", names)
    with pytest.raises(bg.TraceError, match="put it into a file"):
        vectorize(names["made"])
    with pytest.raises(bg.TraceError, match="no function written in Python"):
        vectorize(np.sin)


def test_a_module_that_is_edited_and_imported_again_is_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.dont_write_bytecode", True)
    monkeypatch.syspath_prepend(tmp_path)
    for at, body in enumerate(("return x if x > 0 else 0.0", "y = 2 * x\n    return y if y > 1 else 1.0")):
        (tmp_path / "edited_module.py").write_text(f"def f(x):\n    {body}\n", encoding="utf-8")
        importlib.invalidate_caches()
        sys.modules.pop("edited_module", None)
        kernel = vectorize(importlib.import_module("edited_module").f)
        assert kernel(np.array([-1.0, 3.0])).tolist() == ([0.0, 3.0], [1.0, 6.0])[at]
    sys.modules.pop("edited_module", None)
