"""Floats that become integers give what NumPy's clips and the table's casts give, however little is looked at."""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen import from_text, jit
from bcastgen.core.dtypes import dtype
from bcastgen.loops.interpret import interpret
from bcastgen.loops.rewrites.drop_guards import drop_guards
from bcastgen.ops.casts import cast_reference
from nests import nest_of

NARROW = ("i8", "u8", "i16", "u16")
INTEGERS = (*NARROW, "i32", "u32")


def ops_of(text):
    return [statement.op.name for statement in drop_guards(nest_of(text))[0].body]


def around(kind):
    """Floats at and beside every end that counts, and what is none."""
    ends = [0.0, 0.5, 1.0, 3.0, 5.5, *(float(2**bits) for bits in (7, 8, 15, 16, 23, 24, 31, 32, 53, 63, 64)), 1e30]
    ends = np.array([sign * end for end in ends for sign in (1, -1)], kind)
    beside = [np.nextafter(ends, kind(np.inf)), np.nextafter(ends, kind(-np.inf)), ends - 1, ends + 1, ends - kind(0.5)]
    return np.concatenate([ends, *beside, np.array([np.nan, -np.nan, np.inf, -np.inf, -0.0], kind)])


@pytest.mark.parametrize("to", INTEGERS)
@pytest.mark.parametrize("source", ["f32", "f64"])
@pytest.mark.parametrize(
    ("body", "function"),
    [
        ("clip(x, -3, 5.5)", lambda x: np.clip(x, -3, 5.5)),
        ("clip(x, 0, 255)", lambda x: np.clip(x, 0, 255)),
        ("clip(x, -0.5, 0.5)", lambda x: np.clip(x, -0.5, 0.5)),
        ("clip(x, 3, 7)", lambda x: np.clip(x, 3, 7)),
        ("clip(x, -7, -3)", lambda x: np.clip(x, -7, -3)),
        ("clip(x, -1e30, 1e30)", lambda x: np.clip(x, -1e30, 1e30)),
        ("clip(x, 9, 3)", lambda x: np.clip(x, 9, 3)),
        ("minimum(maximum(x, 0), 100)", lambda x: np.minimum(np.maximum(x, 0), 100)),
        ("maximum(minimum(100, x), -5)", lambda x: np.maximum(np.minimum(x, 100), -5)),
        ("clip(minimum(x, 3), -5, 7)", lambda x: np.clip(np.minimum(x, 3), -5, 7)),
        ("maximum(minimum(x, -20), -5)", lambda x: np.maximum(np.minimum(x, -20), -5)),
        ("maximum(x, 0)", lambda x: np.maximum(x, 0)),
        ("rint(clip(x, -40.5, 40.5))", lambda x: np.rint(np.clip(x, -40.5, 40.5))),
        ("x", lambda x: x),
    ],
)
def test_every_end(body, function, source, to):
    kernel = from_text(f"({source}[?] x) -> {body}.astype({dtype(to).numpy})".replace("x.astype", "(x).astype"))
    values = around({"f32": np.float32, "f64": np.float64}[source])
    with np.errstate(invalid="ignore"):
        expected = cast_reference(function(values).astype(values.dtype), dtype(to))
    np.testing.assert_array_equal(kernel(values), expected, strict=True)
    program = kernel.compilation.rewritten.program
    np.testing.assert_array_equal(interpret(program, (values,))[0], expected, strict=True)


@pytest.mark.parametrize("to", INTEGERS)
@pytest.mark.parametrize("wide", ["f32", "f64"])
@pytest.mark.parametrize("source", ["i8", "u8"])
@pytest.mark.parametrize("body", ["X", "X * 0.5", "X * 2 - 100", "X * 1e8", "sqrt(absolute(X))", "maximum(X, X * 3)"])
def test_every_byte(body, source, wide, to):
    """Of bounds that are known: in range, out of it, never NaN."""
    kernel = from_text(f"({source}[?] x) -> ({body}).astype({dtype(to).numpy})".replace("X", f"x.astype({wide})"))
    values = np.arange(256, dtype=np.uint8).view({"i8": np.int8, "u8": np.uint8}[source])
    x = values.astype({"f32": np.float32, "f64": np.float64}[wide])
    names = {"X": x, "sqrt": np.sqrt, "absolute": np.absolute, "maximum": np.maximum}
    expected = cast_reference(eval(body, names), dtype(to))
    np.testing.assert_array_equal(kernel(values), expected, strict=True)


@pytest.mark.parametrize(
    ("text", "ops"),
    [
        ("(f32[?] x) -> clip(x, -128, 127).astype(int8)", ["truncate", "cast"]),
        ("(f32[?] x) -> (x * 3).astype(u16)", ["multiply", "truncate_from_zero", "cast"]),
        ("(u8[?] x) -> clip(x.astype(f32) * 3, 0, 255).astype(uint8)", ["cast", "multiply", "truncate_number", "cast"]),
        ("(u8[?] x) -> (x.astype(f32) * 0.5).astype(uint8)", ["cast", "multiply", "truncate_number_within", "cast"]),
        ("(f32[?] x) -> clip(x, 3, 7).astype(uint8)", ["clip", "truncate_within", "cast"]),
        ("(f32[?] x) -> clip(x, -9, 7).astype(i32)", ["truncate"]),
        ("(f32[?] x) -> clip(x, 3, 7).astype(i32)", ["clip", "truncate_within"]),
        ("(f32[?] x) -> clip(x, 0, 9).astype(u32)", ["truncate_from_zero", "cast"]),
        ("(f32[?] x) -> clip(x, 0, 3e9).astype(u32)", ["clip", "cast"]),
        ("(f32[?] x) -> x.astype(i32)", ["cast"]),
        ("(f32[?] x) -> clip(x, 0, 9).astype(u64)", ["clip", "cast"]),
        ("(f16[?] x) -> clip(x, 0, 9).astype(uint8)", ["clip", "cast"]),
        ("(i8[?] x, f32[?] y) -> maximum(x.astype(f32), y)", ["cast", "maximum_number_0"]),
        ("(i8[?] x, f32[?] y) -> minimum(y, x.astype(f32))", ["cast", "minimum_number_1"]),
        ("(f32[?] x, f32[?] y) -> minimum(y, x)", ["minimum"]),
        ("(f32[?] x) -> maximum(x, 0)", ["maximum"]),
    ],
)
def test_what_is_looked_at(text, ops):
    assert ops_of(text) == ops


def test_a_bound_that_is_nan():
    """NumPy's extremum with it is NaN everywhere, which is 0."""
    kernel = jit(lambda x: (np.minimum(x, np.nan).astype(np.int8), np.maximum(np.nan, x), np.maximum(3.0, x)))
    values = around(np.float64)
    narrow, wide, lifted = kernel(values)
    assert not narrow.any() and narrow.dtype == np.int8
    assert np.isnan(wide).all()
    np.testing.assert_array_equal(lifted, np.maximum(3.0, values), strict=True)


def test_a_clip_that_others_use_stays():
    text = "(f32[?] x) -> (clip(x, -9, 7).astype(int8), clip(x, -9, 7))"
    assert ops_of(text) == ["clip", "truncate_within", "cast"]
    values = around(np.float32)
    narrow, wide = from_text(text)(values)
    np.testing.assert_array_equal(wide, np.clip(values, np.float32(-9), np.float32(7)), strict=True)
    np.testing.assert_array_equal(narrow, cast_reference(wide, dtype("i8")), strict=True)


@pytest.mark.parametrize("name", ["minimum", "maximum"])
@pytest.mark.parametrize("first", [True, False])
def test_extrema_with_a_number(name, first):
    """NaN of the other operand comes through; of equal operands it is the first, zeros included."""
    order = "x.astype(f32), y" if first else "y, x.astype(f32)"
    kernel = from_text(f"(i8[*] x, f32[*] y) -> {name}({order})")
    x, y = np.arange(-128, 128).astype(np.int8)[:, None], around(np.float32)
    pair = (x.astype(np.float32), y) if first else (y, x.astype(np.float32))
    np.testing.assert_array_equal(kernel(x, y), getattr(np, name)(*pair), strict=True)
