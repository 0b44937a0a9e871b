"""Bounds of floats hold for whatever the operands are, and say when no NaN can come."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bcastgen import from_text
from bcastgen.loops.analysis.float_bounds import UNKNOWN, bounds_of
from compile_flags import QUICK
from long_runs import many


def last(text):
    return bounds_of(from_text(text).compilation.program.nests[0])[-1]


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("(u8[?] x) -> x.astype(f32)", 0.0, 255.0),
        ("(i16[?] x) -> x.astype(f64)", -32768.0, 32767.0),
        ("(bool[?] x) -> x.astype(f32)", 0.0, 1.0),
        ("(u8[?] x) -> -x.astype(f32)", -255.0, 0.0),
        ("(i8[?] x) -> absolute(x.astype(f64))", 0.0, 128.0),
        ("(u8[?] x) -> minimum(x.astype(f32), 9)", 0.0, 9.0),
        ("(u8[?] x) -> maximum(x.astype(f32), 9)", 9.0, 255.0),
        ("(i8[?] x) -> clip(x.astype(f32), -3, 5.5)", -3.0, 5.5),
        ("(i8[?] x) -> rint(clip(x.astype(f32), -3, 5.5))", -3.0, 6.0),
        ("(i8[?] x) -> floor(clip(x.astype(f32), -3.5, 5.5))", -4.0, 5.0),
        ("(i8[?] x) -> ceil(clip(x.astype(f32), -3.5, 5.5))", -3.0, 6.0),
        ("(i8[?] x) -> trunc(clip(x.astype(f32), -3.5, 5.5))", -3.0, 5.0),
        ("(bool[?] m, u8[?] x, i8[?] y) -> where(m, x.astype(f32), y.astype(f32))", -128.0, 255.0),
    ],
)
def test_exact_bounds(text, low, high):
    bounds = last(text)
    assert (bounds.low, bounds.high, bounds.is_number) == (low, high, True)


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("(u8[?] x) -> x.astype(f32) * 1.5 + 10", 10.0, 392.5),
        ("(u8[?] x) -> (x.astype(f32) - 128) / 127", -128 / 127, 1.0),
        ("(i8[?] x, i8[?] y) -> x.astype(f64) * y", -128.0 * 127, 128.0**2),
        ("(i8[?] x) -> square(x.astype(f32))", 0.0, 128.0**2),
        ("(u16[?] x) -> sqrt(x.astype(f64))", 0.0, math.sqrt(65535)),
        ("(i64[?] x) -> x.astype(f32)", -(2.0**63), 2.0**63),
        ("(u8[?] x) -> x.astype(f64) .astype(f32) * 3", 0.0, 765.0),
    ],
)
def test_bounds_a_float_further(text, low, high):
    bounds = last(text)
    assert bounds.is_number
    assert low - abs(low) * 1e-6 <= bounds.low <= low
    assert high <= bounds.high <= high + abs(high) * 1e-6
    # What is not negative stays so.
    assert bounds.low >= 0 or low < 0


@pytest.mark.parametrize(
    "text",
    [
        "(f32[?] x) -> x * 0",
        "(f32[?] x) -> maximum(x, 0) + 1",
        "(u8[?] x) -> 1 / x.astype(f32)",
        "(i8[?] x) -> sqrt(x.astype(f32))",
        "(u8[?] x) -> exp(x.astype(f32))",
        "(u8[?] x) -> x.astype(f16) * 3",
        "(i8[?] x) -> x.astype(f64) * 1e300 * 1e300",
    ],
)
def test_nothing_is_known(text):
    assert last(text) == UNKNOWN


def test_what_may_be_nan_has_bounds_all_the_same():
    bounds = last("(f32[?] x) -> minimum(maximum(x, 0), 6)")
    assert (bounds.low, bounds.high, bounds.is_number) == (0.0, 6.0, False)


def test_an_infinity_is_a_number_and_not_finite():
    bounds = last("(i64[?] x) -> x.astype(f64) * 1e300 * 1e8")
    assert bounds == UNKNOWN
    bounds = last("(i64[?] x) -> (x.astype(f64) * 1e100).astype(f32)")
    assert bounds.is_number and bounds.low == -math.inf and bounds.high == math.inf and not bounds.is_finite


@pytest.mark.parametrize("seed", range(many(20, 40)))
def test_random_expressions_stay_within(seed, monkeypatch):
    """Every statement's value lies between its bounds: of each, made a result of its own."""
    monkeypatch.setenv("BCASTGEN_CFLAGS", QUICK)
    random = np.random.default_rng(seed)
    kinds = random.choice(["i8", "u8", "i16", "u16"], 2)
    floats = random.choice(["f32", "f64"])
    values = [f"a.astype({floats})", f"b.astype({floats})"]
    for _ in range(6):
        x, y = random.choice(values, 2)
        constant = round(float(random.normal() * 10), 3)
        values.append(
            str(
                random.choice(
                    [
                        *(f"({x} {sign} {y})" for sign in "+-*"),
                        f"({x} * {constant})",
                        f"({x} / {constant or 1})",
                        f"minimum({x}, {y})",
                        f"maximum({x}, {constant})",
                        f"absolute({x})",
                        f"square({x})",
                        f"rint({x})",
                        f"clip({x}, {-abs(constant)}, {abs(constant)})",
                        f"sqrt(absolute({x}))",
                    ]
                )
            )
        )
    names = {"i8": "int8", "u8": "uint8", "i16": "int16", "u16": "uint16"}
    infos = [np.iinfo(names[kind]) for kind in kinds]
    a, b = (
        np.concatenate([[i.min, 0, 1, i.max], random.integers(i.min, i.max, 300, endpoint=True)]).astype(i.dtype)
        for i in infos
    )
    for value in values:
        kernel = from_text(f"({kinds[0]}[*] a, {kinds[1]}[*] b) -> {value} + 0 * a.astype({floats})")
        bounds = bounds_of(kernel.compilation.program.nests[0])[-1]
        result = kernel(a[:, None], b)
        if bounds.is_number:
            assert not np.isnan(result).any(), value
            assert bounds.low <= result.min(), value
            assert result.max() <= bounds.high, value
