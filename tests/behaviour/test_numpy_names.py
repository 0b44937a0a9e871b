"""Names of NumPy and SciPy: `bcastgen` has each element-wise one, text reads it, functions may call it.

The lists are of what users call; what is missing from a list has its reason beside it.
"""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.api.vectorize import vectorize

# Ufuncs of vectors and matrices are not element-wise.
UFUNCS = sorted(
    name
    for name in dir(np)
    if isinstance(getattr(np, name), np.ufunc) and getattr(np, name).signature is None and not name.startswith("_")
)
FUNCTIONS = (
    "angle around clip fix i0 imag isclose iscomplex isneginf isposinf isreal nan_to_num ones_like real round sinc "
    "where zeros_like"
).split()
# SciPy's are also found without SciPy, under their names there.
SPECIAL = (
    "cbrt erf erfc erfinv expit exp2 expm1 gammaln i0 log1p log_ndtr logit ndtr ndtri xlog1py xlogy softplus gelu silu "
    "mish"
).split()
METHODS = "astype clip conj conjugate round transpose".split()
PROPERTIES = "T imag mT real".split()
INTEGERS = {"bitwise_and", "bitwise_count", "bitwise_invert", "bitwise_not", "bitwise_or", "bitwise_xor", "gcd"} | {
    "invert", "lcm", "left_shift", "right_shift", "bitwise_left_shift", "bitwise_right_shift", "isnat", "ldexp"
}  # fmt: skip


def operands(name):
    """Operands that a function takes: as many as it has, integers where it takes these."""
    ufunc = getattr(np, name, None)
    count = ufunc.nin if isinstance(ufunc, np.ufunc) else {"clip": 3, "where": 3, "isclose": 2}.get(name, 1)
    count = 2 if name in ("xlogy", "xlog1py") else count
    kind = np.int64 if name in INTEGERS else np.float64
    values = [np.linspace(0.1, 0.9, 5), np.linspace(1, 2, 5), np.linspace(2, 3, 5)]
    return [(10 * x).astype(kind) if kind is np.int64 else x for x in values[:count]]


def several(value):
    return value if type(value) is tuple else (value,)


def same(got, expected):
    got, expected = several(got), several(expected)
    assert [np.asarray(x).dtype for x in got] == [np.asarray(x).dtype for x in expected]
    assert all(np.allclose(x, y, rtol=1e-12, equal_nan=True) for x, y in zip(got, expected, strict=True))


# What takes the same operands is one kernel.
GROUPS = {}
for each in (*UFUNCS, *FUNCTIONS):
    GROUPS.setdefault((len(operands(each)), each in INTEGERS), []).append(each)


@pytest.mark.parametrize("names", GROUPS.values(), ids=lambda names: names[0])
def test_numpy_s_functions_are_there_and_can_be_traced(names):
    given = operands(names[0])
    letters = ", ".join("abc"[: len(given)])

    def results(here, *values):
        """The results of all functions, those of several in a row."""
        return tuple(y for name in names for y in several(getattr(here, name)(*values)))

    def traced(here):
        return bg.jit(eval(f"lambda {letters}: results(here, {letters})", {"here": here, "results": results}), name="f")

    with np.errstate(all="ignore"):
        # NumPy's isnat takes times alone, a kernel their numbers.
        names = [name for name in names if name != "isnat"]
        expected = results(np, *given)
    same(traced(np)(*given), expected)
    same(traced(bg)(*given), expected)
    for name in names:
        own = getattr(bg, name)
        assert str(bg.from_text(f"{name}({letters})").expression) == str(own.expression), name


def test_special_functions_are_there_and_in_text():
    text = ", ".join(f"{name}({', '.join('ab'[: len(operands(name))])})" for name in SPECIAL)
    results = bg.from_text(f"({text})", name="special")(*operands("xlogy"))
    assert np.isfinite(results).all()
    kernel = bg.jit(lambda a, b: tuple(getattr(bg, x)(*(a, b)[: len(operands(x))]) for x in SPECIAL), name="special")
    same(kernel(*operands("xlogy")), results)


def test_scipy_s_functions_can_be_traced():
    special = pytest.importorskip("scipy.special")
    names = [name for name in SPECIAL if hasattr(special, name)]

    def function(a, b):
        return tuple(getattr(special, x)(*(a, b)[: len(operands(x))]) for x in names)

    same(bg.jit(function)(*operands("xlogy")), function(*operands("xlogy")))


@pytest.mark.parametrize("name", METHODS)
def test_methods_are_numpy_s(name):
    x = np.linspace(-2, 2, 12).reshape(3, 4)
    more = {"astype": (np.float32,), "clip": (-1.0, 1.0), "round": (1,)}.get(name, ())
    same(bg.jit(lambda a: getattr(a, name)(*more), name="called")(x), getattr(x, name)(*more))


@pytest.mark.parametrize("name", PROPERTIES)
def test_properties_are_numpy_s(name):
    x = np.linspace(-2, 2, 12).reshape(3, 4)
    kernel = bg.jit(lambda a: getattr(a, name) + 0, signature="(f64[?, ?] a) -> f64[?, ?]", name="read")
    same(kernel(x), getattr(x, name) + 0)


@pytest.mark.parametrize(
    "function",
    [
        lambda a: np.squeeze(a[:, None], axis=1),
        lambda a: np.expand_dims(a, 0),
        lambda a: np.swapaxes(a, 0, 1),
        lambda a: np.moveaxis(a, 0, 1),
        lambda a: np.matrix_transpose(a),
        lambda a: np.select([a < 0, a > 1], [a, 2 * a], 0.5),
        lambda a: np.full_like(a, 3),
        lambda a: np.piecewise(a, [a < 0], [lambda x: -x, 1.0]),
    ],
    ids="squeeze expand_dims swapaxes moveaxis matrix_transpose select full_like piecewise".split(),
)
def test_functions_of_shapes_and_choices_can_be_traced(function):
    x = np.linspace(-2, 2, 12).reshape(3, 4)
    same(bg.jit(function, name="traced", signature="(f64[?, ?] a) -> f64[*]")(x), function(x))


def test_functions_of_math_are_read():
    import math

    @vectorize
    def of_math(x):
        return math.lgamma(x) + math.erf(x) + math.hypot(x, 1.0)

    x = np.linspace(0.5, 3, 6)
    same(of_math(x), np.array([math.lgamma(v) + math.erf(v) + math.hypot(v, 1.0) for v in x]))


def test_nat_is_found_by_its_number():
    times = np.array(["2020-01-01", "NaT"], "M8[D]")
    assert bg.isnat(times.view("int64")).tolist() == np.isnat(times).tolist() == [False, True]
    with pytest.raises(bg.DTypeError, match="not supported"):
        bg.isnat(times)
    with pytest.raises(bg.DTypeError, match=r"numbers of times.*\.view\('int64'\)"):
        bg.isnat(np.zeros(2))
