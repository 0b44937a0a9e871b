"""Names of NumPy and SciPy: `bcastgen` has each element-wise one, text reads it, functions may call it.

The lists are of what users call; what is missing from a list has its reason beside it.
"""

from __future__ import annotations

import fractions
import re

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.api.vectorize import vectorize
from bcastgen.expr.compositions import NUMPY_FUNCTIONS
from bcastgen.expr.reductions import BY_NUMPY
from bcastgen.expr.trace import trace

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


# Functions whose own code asks an operand for what no stand-in tells: the message says what that was and the cure.
CONVERTING = frozenset(
    """
    arange array asanyarray asarray asarray_chkfinite ascontiguousarray asfortranarray asmatrix astype bartlett
    base_repr binary_repr blackman block bmat broadcast_shapes choose column_stack concat concatenate
    datetime_data diag_indices dstack empty expand_dims eye format_float_positional format_float_scientific
    from_dlpack frombuffer fromfile fromfunction fromiter frompyfunc fromregex fromstring full genfromtxt
    get_include get_printoptions getbufsize geterr geterrcall hamming hanning histogramdd hstack identity in1d
    indices info isdtype isfortran isscalar issubdtype iterable kaiser lexsort load loadtxt mask_indices
    mintypecode moveaxis ndim nested_iters ones piecewise poly printoptions promote_types ravel_multi_index
    require roots row_stack savez savez_compressed select set_printoptions setbufsize seterr seterrcall shape
    show_config show_runtime size stack swapaxes test trapz tri tril_indices triu_indices typename vstack zeros
    """.split()
)


def refusal_of(function):
    """The error of a function of NumPy's on operands, of as many as it takes; None if a kernel has it."""
    for count in range(1, 5):
        try:
            trace(lambda *values: function(*values), tuple("abcd"[:count]))
        except bg.BcastgenError as error:
            return error
        except (AttributeError, TypeError, ValueError):
            continue
        return None
    return TypeError("it takes no operands")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "name",
    sorted(
        name
        for name in dir(np)
        if callable(getattr(np, name)) and not isinstance(getattr(np, name), type) and not name.startswith("_")
    ),
)
def test_every_function_of_numpy_is_there_or_refused_by_name(name):
    error = refusal_of(getattr(np, name))
    if error is None:
        assert name not in CONVERTING
        return
    assert isinstance(error, bg.BcastgenError) or name in CONVERTING
    message = str(error)
    by_name = message.startswith(("numpy.", f"{name}:"))
    assert by_name or name in CONVERTING, message
    if by_name:
        assert re.search(r"; (write|call|apply|compute|convert|name|give) ", message), message


ODD = [None, "x", b"x", np.str_("x"), [1, "x"], {}, object(), slice(1), ..., fractions.Fraction(1), [[1], [1, 2]], abs]


@pytest.mark.parametrize(
    "function",
    sorted({*NUMPY_FUNCTIONS, *(one for one in BY_NUMPY if callable(one))}, key=lambda one: one.__name__),
    ids=lambda one: one.__name__,
)
def test_what_no_array_is_made_of_is_refused(function):
    """Whatever a function of NumPy's is given beside an operand: a kernel, or an error of ours and no other."""
    for odd in ODD:
        for values in ((0,), (0, 1), (1, 0), (0, 1, 1), (1, 0, 0), (0, 0, 1)):
            try:
                bg.jit(lambda a, b, odd=odd, values=values: function(*(odd if one else a + b for one in values)))
            except (bg.BcastgenError, TypeError) as error:
                if not isinstance(error, bg.BcastgenError):
                    assert re.search(r"argument|positional|keyword|function", str(error)), (odd, values, error)


def test_numbers_beside_an_operand_make_polynomials_and_sets():
    given = ([1, -2, 3], [0.5], [], np.float32([1, 2]), (3, 5.0), range(3), np.array([1, np.nan]))

    def function(x):
        found = [np.isin(x, numbers, invert=invert) for numbers in (*given, 3) for invert in (False, True)]
        return *found, *(np.polyval(numbers, x) for numbers in given)

    kinds = [np.arange(6.0), np.arange(6, dtype="u1"), np.float32([0.5, np.inf, np.nan, 3, 5]), np.array([True, False])]
    for x in kinds:
        with np.errstate(all="ignore"):
            same(bg.jit(function)(x), function(x))
    x = np.arange(12.0).reshape(3, 4)
    for made in (lambda a: np.ptp(a), lambda a: np.ptp(a, axis=1, keepdims=True), lambda a: np.average(a, axis=0)):
        same(bg.jit(made)(x), made(x))
    same(bg.jit(lambda a: np.ptp(a))(np.int8([-128, 127])), np.ptp(np.int8([-128, 127])))


@pytest.mark.parametrize("bounds", [(-1000, None), (None, 1000), (-128, None), (None, 126), (0, 1000), (-1000, 1000)])
def test_integers_beyond_a_dtype_are_idle_bounds(bounds):
    x = np.int8([-128, -2, 0, 127])
    same(bg.jit(lambda a: np.clip(a, *bounds))(x), np.clip(x, *bounds))


def test_a_bound_that_leaves_no_value_is_refused_as_numpy_does():
    for bounds in ((1000, None), (None, -1000)):
        with pytest.raises(OverflowError):
            np.clip(np.int8([1]), *bounds)
        with pytest.raises(bg.RangeError, match="out of bounds for int8"):
            bg.jit(lambda a, bounds=bounds: np.clip(a, *bounds), static="bounds")(np.int8([1]))


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
