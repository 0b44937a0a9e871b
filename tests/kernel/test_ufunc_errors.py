"""Calls that report floating-point errors, against NumPy's: what is reported, how, and from which threads."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

import bcastgen as bg

EXACT = ["add", "subtract", "multiply", "divide", "square", "reciprocal", "sqrt", "negative", "absolute"]
BY_VALUES = ["less", "equal", "maximum", "fmin", "exp", "log", "log1p", "tanh", "arctanh", "remainder"]
BY_VALUES += ["isfinite", "hypot"]
UNDERFLOWS = ["exp", "exp2"]
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
        wanted -= set() if name in EXACT or name in UNDERFLOWS else {"underflow"}
        assert found == wanted, numbers


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
