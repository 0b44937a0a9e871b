"""Calls that report floating-point errors, against NumPy's: what is reported, how, and from which threads."""

from __future__ import annotations

import itertools
import platform
import warnings

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.kernel import ufunc_attributes
from bcastgen.runtime.toolchain import cpu_features

EXACT = ["add", "subtract", "multiply", "divide", "square", "reciprocal", "sqrt", "negative", "absolute"]
BY_VALUES = ["less", "equal", "maximum", "fmin", "exp", "log", "log1p", "tanh", "arctanh", "remainder"]
BY_VALUES += ["isfinite", "hypot"]
UNDERFLOWS = ["exp", "exp2"]
# Where vectors have lanes without elements, values tell of all ops.
BY_FLAGS = [] if "sve" in cpu_features().split() else EXACT
VALUES = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 1e-300, 5e-324, 1e300, np.inf, -np.inf, np.nan, 710.0, 100.0, 1e-10]


def reported(function, *operands):
    """The errors that a call reports."""
    found = set()
    with np.errstate(all="call", call=lambda words, _flag: found.add(words)):
        function(*operands)
    return found


@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("name", EXACT + BY_VALUES)
def test_errors_are_numpys(name, dtype):
    ufunc = getattr(np, name)
    kernel = bg.from_text(f"{name}({', '.join('ab'[: ufunc.nin])})", name, errors="numpy")
    with np.errstate(all="ignore"):
        values = np.array(VALUES, dtype)
    for numbers in itertools.product(values, repeat=ufunc.nin):
        operands = [np.full(19, number) for number in numbers]
        wanted, found = reported(ufunc, *operands), reported(kernel, *operands)
        # Values tell of underflow where the row says when there is one.
        wanted -= set() if name in BY_FLAGS or name in UNDERFLOWS else {"underflow"}
        assert found == wanted, numbers


def test_values_tell_where_vectors_have_lanes_without_elements(monkeypatch):
    x = np.array([1, 1e-200])
    monkeypatch.setattr(ufunc_attributes, "cpu_features", lambda: "asimd fp svebf16")
    assert "underflow" in reported(bg.from_text("a * a", errors="numpy"), x)
    monkeypatch.setattr(ufunc_attributes, "cpu_features", lambda: "asimd fp sve svebf16")
    by_values = bg.from_text("a * a", errors="numpy")
    assert (reported(by_values, x), reported(by_values, 1 / x)) == (set(), {"overflow"})


@pytest.mark.parametrize("name", UNDERFLOWS)
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
def test_underflow_is_reported_where_results_are_not_exact(name, dtype):
    kernel = bg.from_text(f"{name}(a)", name, errors="numpy")
    info = np.finfo(dtype)
    least, none = info.minexp - info.nmant, np.full(7, info.minexp + 1, dtype)
    exact, lost = np.full(7, least + 1, dtype), np.full(7, least * 0.99, dtype)
    assert reported(kernel, np.full(7, 2 * least, dtype)) == reported(getattr(np, name), np.full(7, 2 * least, dtype))
    assert reported(kernel, np.array([-np.inf, np.nan, 0, 1], dtype)) == set()
    if name == "exp2":
        assert reported(kernel, none) == reported(kernel, exact) == set()
        assert reported(kernel, lost) == {"underflow"}


@pytest.mark.parametrize("name", UNDERFLOWS)
def test_complex_results_may_underflow_too(name):
    kernel = bg.from_text(f"{name}(a)", name, errors="numpy")
    assert reported(kernel, np.array([1 + 2j, 0])) == set()
    assert reported(kernel, np.array([-2000.5 + 2j])) == {"underflow"}


REDUCTIONS = ["sum", "prod", "min", "max", "mean", "var", "std", "any", "all", "argmin", "argmax", "count_nonzero"]
COMPARE = ["min", "max", "argmin", "argmax"]
# What is reduced, of an array of ones: as it lies, by flags that arithmetic raises, and by values that functions give.
REDUCED = {"itself": lambda x: x, "computed": lambda x: x * 2 - x, "function": lambda x: np.sqrt(np.exp(x - 1))}
SOME = [("computed", "f8"), ("computed", "f2"), ("function", "f4")]
CASES = [([name], "itself", "f8") for name in REDUCTIONS]
CASES += [([name], "itself", "f4") for name in ("sum", "prod", *COMPARE)]
CASES += [(names, *some) for names in (COMPARE, ["sum"], ["prod"], ["mean"]) for some in SOME]
CASES += [(["std"], "function", "f4")]
ELEMENTS = [[np.nan, 1.0], [1.0, np.nan], [np.inf, 2.0], [np.inf, -np.inf], [0.0, np.inf], [1.0, -0.0], ["max", "max"]]


def all_along(names, values, axis):
    functions = [getattr(np, name) for name in names]
    if len(functions) == 1:
        return lambda x: functions[0](values(x), axis=axis)
    return lambda x: tuple(function(values(x), axis=axis) for function in functions)


@pytest.mark.parametrize(("names", "reduced", "dtype"), CASES)
def test_errors_of_reductions_are_numpys(names, reduced, dtype):
    """What compares is quiet, also of NaN, as NumPy is; what computes tells what it meets, wherever that lies."""
    functions = [all_along(names, REDUCED[reduced], axis) for axis in (1, None)]
    kernels = [bg.jit(function, name="reduced", errors="numpy") for function in functions]
    for pair in ELEMENTS:
        a, b = (np.finfo(dtype).max if value == "max" else value for value in pair)
        for shape in ((2, 3), (40, 50), (3, 700), (700, 3)):
            x = np.ones(shape, dtype)
            x[-1, 0], x[-1, -1], x[-2, -1] = a, b, b
            for layout in (x, x.T, np.repeat(x, 2, axis=1)[:, ::2]):
                for kernel, function in zip(kernels, functions, strict=True):
                    wanted, found = reported(function, layout), reported(kernel, layout)
                    assert found - {"underflow"} == wanted - {"underflow"}, (pair, shape, layout.strides)


@pytest.mark.parametrize("name", ["sum", "prod", "mean", "any", "all"])
def test_errors_of_no_elements(name):
    kernel = bg.jit(lambda x: getattr(np, name)(x, axis=1), name=name, errors="numpy")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's own words on an empty mean
        assert reported(kernel, np.ones((2, 0))) == reported(lambda x: getattr(np, name)(x, axis=1), np.ones((2, 0)))


@pytest.mark.parametrize(
    ("function", "operand"),
    [
        (lambda x: x.var(ddof=3), np.arange(3.0)),
        (lambda x: x.std(axis=0, ddof=4), np.ones((3, 2)) * [[1], [2], [4]]),
        (lambda x: x.var(ddof=1), np.arange(3.0)),
        (lambda x: x.mean(axis=0, where=x > 1), np.arange(6.0).reshape(3, 2)),
        (lambda x: 1 / x + np.exp(x), np.array([0, 1 + 1j])),
        (lambda x: np.exp(x) / 0, np.array([0, 1 + 1j])),
        (lambda x: (x.astype("F") / 0).sum(), np.array([1.0, 2.0])),
    ],
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_quotients_by_zero_are_told_as_such(function, operand):
    assert reported(bg.jit(function, errors="numpy"), operand) == reported(function, operand)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("name", ["sum", "max", "argmin", "mean"])
def test_errors_of_large_reductions(name, threads):
    """Parts of one result, and results of many parts; a nest that shares its pass with others."""
    function = getattr(np, name)
    pair = bg.jit(lambda x: (function(x), x - np.max(x, axis=1, keepdims=True)), errors="numpy", threads=threads)
    alone = bg.jit(lambda x: function(x), errors="numpy", threads=threads)
    x = np.ones((300, 3000))
    for value in (1.0, np.nan, np.inf):
        x[200, 2000] = value
        assert reported(alone, x) == reported(function, x), value
        wanted = reported(function, x) | reported(lambda x: x - np.max(x, axis=1, keepdims=True), x)
        assert reported(pair, x) == wanted, value


def test_views_and_reductions_in_a_chain_have_points_of_their_own():
    kernel = bg.jit(lambda x, y: np.exp(x).T + np.log(y), name="mixed", errors="numpy")
    x, y = np.ones((2, 3)), np.ones((3, 2))
    assert reported(kernel, x, y) == set()
    assert reported(kernel, x * 1000, y) == {"overflow"}
    assert reported(kernel, x, y - 1) == {"divide by zero"}
    kernel = bg.jit(lambda x: np.log(np.exp(x).sum(axis=1)) / 2, name="logsum", errors="numpy")
    assert reported(kernel, x) == set()
    assert reported(kernel, x * 1000) == reported(lambda x: np.log(np.exp(x).sum(axis=1)) / 2, x * 1000)
    assert reported(kernel, -np.inf * x) == {"divide by zero"}
    # What gives its dtype alone has points of its own, too.
    kernel = bg.jit(lambda x: np.nanmean(x, axis=1), name="numbers", errors="numpy")
    assert reported(kernel, x * [1, np.nan, 3]) == set()
    assert reported(kernel, x * np.nan) == {"invalid value"}
    assert reported(kernel, x * 1e308) == {"overflow"}


# How C makes a 16-bit float: by an instruction where there is one for vectors, or by integers.
HALVES = ["", "-mno-avx512f -mno-f16c"] if platform.machine() == "x86_64" else [""]


@pytest.mark.parametrize("flags", HALVES)
@pytest.mark.parametrize("text", ["a * 2 + a", "a * a - a", "(a + a) / a", "-(a + 16) * 0", "a + a"])
def test_16_bit_floats_overflow_anywhere_in_a_chain(text, flags, monkeypatch):
    monkeypatch.setenv("BCASTGEN_CFLAGS", flags)
    kernel = bg.from_text(text, errors="numpy")
    for value in (65504, 32752, 240, 1, np.inf, np.nan):
        a = np.full(21, value, "f2")
        assert reported(kernel, a) - {"underflow"} == reported(lambda a: eval(text), a) - {"underflow"}, value


def test_integers_divided_by_zero():
    for name in ("floor_divide", "remainder"):
        kernel = bg.from_text(f"{name}(a, b)", name, errors="numpy")
        assert reported(kernel, np.arange(3), np.arange(3)) == reported(getattr(np, name), np.arange(3), np.arange(3))
        assert reported(kernel, np.arange(3), np.arange(1, 4)) == set()


def test_a_kernel_of_several_ops_reports_what_one_after_the_other_does():
    kernel = bg.jit(lambda a, b: np.maximum(np.log(a) / b, 0), errors="numpy")
    assert reported(kernel, np.array([1.0, 2.0]), 2.0) == set()
    assert reported(kernel, np.array([np.nan, np.inf]), 2.0) == set()
    assert reported(kernel, np.array([1.0, 0.0]), 2.0) == {"divide by zero"}
    assert reported(kernel, np.array([2.0, -1.0]), 0.0) == {"divide by zero", "invalid value"}
    assert reported(kernel, np.array([2.0]), 1e-310) == {"overflow"}


def test_nobody_looks_unless_asked():
    kernel = bg.jit(lambda a, b: a / b)
    with np.errstate(all="raise"):
        kernel(1.0, np.zeros(3))
        kernel.errors = "numpy"
        with pytest.raises(FloatingPointError, match="divide by zero encountered in kernel"):
            kernel(1.0, np.zeros(3))
        assert kernel.errors == "numpy"
        kernel.errors = "ignore"
        kernel(1.0, np.zeros(3))
    with pytest.raises(bg.BcastgenError, match="errors='maybe' is not available; use 'ignore' or 'numpy'"):
        kernel.errors = "maybe"


@pytest.mark.parametrize("threads", [1, 2])
def test_every_part_of_a_large_call_counts(threads):
    kernel = bg.jit(lambda a, b: a / b, errors="numpy", threads=threads)
    a, b = np.ones(1_000_000), np.ones(1_000_000)
    assert reported(kernel, a, b) == set()
    for at in (0, 500_000, 999_999):
        b[at] = 0
        assert reported(kernel, a, b) == {"divide by zero"}
        b[at] = 1
    # What was raised before does not count.
    with np.errstate(all="ignore"):
        np.ones(3) / np.zeros(3)
    assert reported(kernel, a, b) == set()


def test_the_ways_of_errstate(capfd):
    kernel = bg.jit(lambda a, b: a / b, name="ratio", errors="numpy")
    ones, zeros = np.ones(3), np.zeros(3)
    with warnings.catch_warnings(record=True) as caught, np.errstate(divide="warn"):
        warnings.simplefilter("always")
        kernel(ones, zeros)
    assert [(w.category, str(w.message), w.filename) for w in caught] == [
        (RuntimeWarning, "divide by zero encountered in ratio", __file__)
    ]

    class Log:
        def __init__(self):
            self.lines = []

        def write(self, line):
            self.lines.append(line)

    log = Log()
    with np.errstate(divide="log", call=log):
        kernel(ones, zeros)
    assert log.lines == ["Warning: divide by zero encountered in ratio\n"]
    with np.errstate(divide="call", call=None), pytest.raises(NameError, match=r"divide by zero.*ratio"):
        kernel(ones, zeros)
    out = np.zeros(3)
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        kernel(ones, zeros, out=out)
    assert np.isinf(out).all()


def test_evaluate_reports_too():
    a, b = np.ones(3), np.zeros(3)  # noqa: F841 - the text names them
    with np.errstate(all="raise"):
        assert np.isinf(bg.evaluate("a / b")).all()
        with pytest.raises(FloatingPointError):
            bg.evaluate("a / b", errors="numpy")
        assert np.array_equal(bg.evaluate("a / b", errors="numpy", where=b > 0, out=np.full(3, 7.0)), [7, 7, 7])


def test_overlapping_outs_are_read_first():
    kernel = bg.jit(lambda a, b: np.log(a) + b, errors="numpy")
    block = np.arange(6.0)
    with np.errstate(divide="call", call=lambda *_: None):
        wanted = np.log(block[:-1]) + 1
        kernel(block[:-1], 1, out=block[1:])
    assert np.allclose(block[1:], wanted, rtol=1e-15, atol=0)


def warned(function, *operands):
    with warnings.catch_warnings(record=True) as found, np.errstate(all="warn"):
        warnings.simplefilter("always")
        function(*operands)
    return sorted({str(one.message).partition(" encountered")[0] for one in found})


@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod", "divmod", "divide", "add"])
def test_integers_raise_what_numpy_reports(name):
    kernel = bg.jit(lambda a, b: getattr(np, name)(a, b), name=name, errors="numpy")
    for dtype in ("int8", "int64", "uint32"):
        ends = np.iinfo(dtype)
        values = [ends.min, ends.max, 0, 1, 7, *([-1, -7] if ends.min < 0 else [])]
        for a, b in itertools.product(np.array(values, dtype), repeat=2):
            given = np.array([a]), np.array([b])
            assert warned(kernel, *given) == warned(getattr(np, name), *given), (dtype, a, b)


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint64"])
def test_floats_that_an_integer_does_not_hold_are_invalid(dtype):
    kernel = bg.jit(lambda x: x.astype(dtype), errors="numpy")
    low, high = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    held = [0.0, -0.5, 1.5, float(low), np.nextafter(float(high + 1), 0)]
    beyond = [np.nan, np.inf, -np.inf, float(high + 1), float(2 * low - 2048), 1e30]
    assert warned(kernel, np.array(held)) == []
    for value in beyond:
        assert warned(kernel, np.array([value])) == ["invalid value"], value
    assert warned(kernel, np.array([-1, 2**40])) == []


@pytest.mark.parametrize("signature", [None, "(f64[n] a, f64[n] b)"])
@pytest.mark.parametrize("text", ["a / b", "log(a - 1) + b", "sqrt(-a) + b", "exp(a * 1000) + b"])
@pytest.mark.parametrize("mode", ["compiled", "disabled", "background"])
def test_errors_do_not_depend_on_who_answers(mode, text, signature, monkeypatch, tmp_path):
    """The binary, or NumPy where nothing is compiled, or not yet."""
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(tmp_path))
    if mode == "disabled":
        monkeypatch.setenv("BCASTGEN_DISABLE", "1")
    function = eval(f"lambda a, b: {text}", {name: getattr(np, name) for name in ("log", "sqrt", "exp")})
    options = {"name": "mine", "errors": "numpy", "signature": signature, "background": mode == "background"}
    kernel = bg.jit(function, **options)
    a, b = np.ones(3), np.zeros(3)
    assert reported(kernel, a, b) == reported(function, a, b) != set()
    with np.errstate(all="raise"), pytest.raises(FloatingPointError, match="encountered in mine"):
        kernel(a, b)
    assert reported(kernel, a + 1, b + 1) == reported(function, a + 1, b + 1)
    assert kernel.wait()
