"""Compositions: what a function of NumPy's gives in a kernel is what NumPy gives, dtype and bits."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.errors import DTypeError, ParseError, TraceError
from bcastgen.expr.compositions import COMPOSITIONS
from bcastgen.expr.trace import is_tracer, trace

inf, nan = np.inf, np.nan
SPECIALS = [0.0, -0.0, inf, -inf, nan, 0.5, -1.5, 2.5, 1e-7, 6.25, -127.75, 1e4, 0.1, 1.005, 3.0]
DTYPES = ("bool", "int8", "uint8", "int16", "uint32", "int64", "float16", "float32", "float64")


def values_of(dtype):
    kind = np.dtype(dtype)
    if kind.kind == "f":
        return np.array(SPECIALS, kind)
    if kind.kind == "b":
        return np.array([True, False])
    info = np.iinfo(kind)
    return np.array([0, 1, 5, 15, 25, 99, 101, info.max, info.min], kind)


UNARY = {
    "round": np.round,
    "round_1": lambda x: np.round(x, 1),
    "round_2": lambda x: x.round(2),
    "around_-1": lambda x: np.around(x, decimals=-1),
    "round_-2": lambda x: np.round(x, -2),
    "round_400": lambda x: np.round(x, 400),
    "fix": np.fix,
    "sinc": np.sinc,
    "isposinf": np.isposinf,
    "isneginf": np.isneginf,
    "isclose_zero": lambda x: np.isclose(x, 0.0),
    "isclose_integer": lambda x: np.isclose(x, 1),
    "nan_to_num": np.nan_to_num,
    "nan_to_num_values": lambda x: np.nan_to_num(x, nan=1.5, posinf=7, neginf=-2.0),
    "nan_to_num_end": lambda x: np.nan_to_num(x, posinf=3.0),
    "zeros_like": np.zeros_like,
    "ones_like": lambda x: np.ones_like(x, dtype=np.float32),
    "full_like": lambda x: np.full_like(x, 1),
    "full_like_float": lambda x: np.full_like(x, 1.75),
    "full_like_as": lambda x: np.full_like(x, 1.75, dtype="i2"),
    "clip_low": lambda x: np.clip(x, 1, None),
    "clip_keywords": lambda x: np.clip(x, min=0, max=20),
    "clip_a": lambda x: np.clip(x, a_min=None, a_max=20),
    "clip_method": lambda x: x.clip(max=20),
    "select": lambda x: np.select([x > 20, x > 2], [x, 1], 0),
    "select_weak": lambda x: np.select([x > 20, x > 2], [2, 1.5]),
    "select_float": lambda x: np.select([np.isnan(x), x > 2], [np.float32(1), x], default=2.5),
    "piecewise": lambda x: np.piecewise(x, [x < 2, x > 20], [lambda v: v + v, 1, 0.5]),
    "modf": lambda x: np.modf(x),
    "frexp": lambda x: np.frexp(x),
    "divmod": lambda x: np.divmod(x, np.int8(3)),
    "divmod_builtin": lambda x: divmod(x, np.int8(3)),
    "rdivmod_builtin": lambda x: divmod(np.int8(100), x),
}


def same(got, wanted):
    got, wanted = (x if isinstance(x, tuple) else (x,) for x in (got, wanted))
    assert [x.dtype for x in got] == [x.dtype for x in wanted]
    for mine, theirs in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(mine, theirs)
        if theirs.dtype.kind == "f":
            number = ~np.isnan(theirs)
            np.testing.assert_array_equal(np.signbit(mine)[number], np.signbit(theirs)[number])


@pytest.mark.parametrize("dtype", DTYPES)
def test_they_are_numpys(dtype, differences):
    """All in one kernel; sinc by its bound, since NumPy's sine has one of its own."""
    x = values_of(dtype)
    with np.errstate(all="ignore"):
        wanted = {}
        for name, function in UNARY.items():
            if name == "sinc" and np.isnan(np.sinc(np.float16(0))):
                # Before NumPy 2.3 or so, 0 becomes a number that float16 does not hold.
                wanted[name] = np.where(x == 0, x.dtype.type(1), function(x))
                continue
            if "-" in name and np.dtype(dtype).kind in "iu" and "round" in name:
                # What lies beyond the dtype NumPy leaves to the machine.
                wanted[name] = function(np.where(np.abs(x.astype(float)) < 120, x, 0).astype(x.dtype))
                continue
            try:
                wanted[name] = function(x)
            except (TypeError, OverflowError):
                if name == "select":
                    continue  # For NumPy the number 1 is an int64 here, which it does not cast.
                with pytest.raises(bg.BcastgenError):
                    bg.jit(function)(x)
    names = list(wanted)

    def together(x):
        results = []
        for name in names:
            found = UNARY[name](x)
            results += (found,) if is_tracer(found) else found
        return tuple(results)

    results = iter(bg.jit(together)(x))
    for name in names:
        theirs = wanted[name] if isinstance(wanted[name], tuple) else (wanted[name],)
        for one in theirs:
            got = next(results)
            assert got.dtype == one.dtype, name
            if "-" in name and np.dtype(dtype).kind in "iu" and "round" in name:
                kept = np.abs(x.astype(float)) < 120
                assert (got[kept] == one[kept]).all(), name
                continue
            wrong = differences(got, one, 2 if name == "sinc" else 0, name in ("clip_low", "clip_keywords"))
            assert not wrong.any(), (name, x[wrong], got[wrong], one[wrong])


@pytest.mark.parametrize(
    "dtypes", [("float32", "int32"), ("float16", "float16"), ("int64", "float32"), ("bool", "int8")]
)
@pytest.mark.parametrize("equal_nan", [False, True])
def test_isclose_of_two(dtypes, equal_nan):
    a, b = (values_of(dtype) for dtype in dtypes)
    a, b = a[:, None], np.concatenate([b, b + b.dtype.type(1)])[None, :]
    with np.errstate(all="ignore"):
        wanted = np.isclose(a, b, rtol=1e-2, equal_nan=equal_nan)
    same(bg.jit(lambda a, b: np.isclose(a, b, rtol=1e-2, equal_nan=equal_nan))(a, b), wanted)


def test_the_package_and_text_know_them_by_name():
    x = np.array(SPECIALS)
    for name, (arity, _) in COMPOSITIONS.items():
        operands = (x, x[::-1])[:arity]
        with np.errstate(all="ignore"):
            wanted = getattr(np, name)(*operands)
        same(getattr(bg, name)(*operands), wanted)
        same(bg.from_text(f"{name}({', '.join('ab'[:arity])})")(*operands), wanted)
        assert getattr(bg, name).__doc__
    same(bg.from_text("round(a, 2) + isclose(a, 0.1, 0.5)")(x), np.round(x, 2) + np.isclose(x, 0.1, 0.5))
    same(bg.from_text("nan_to_num(a, True, 1.0)")(x), np.nan_to_num(x, nan=1.0))


def test_several_results_by_name_and_in_text():
    a, b = np.array([7.5, -7.5, 0.0]), np.array([2.0, 2.0, -3.0])
    same(bg.divmod(a, b), np.divmod(a, b))
    same(bg.modf(a), np.modf(a))
    same(bg.frexp(a), np.frexp(a))
    same(bg.from_text("(divmod(a, b), a + b)")(a, b), (*np.divmod(a, b), a + b))
    same(bg.from_text("frexp(a)")(a), np.frexp(a))
    with pytest.raises(ParseError, match="several results"):
        bg.from_text("modf(a) + 1")
    quotient, rest = bg.jit(lambda a, b: bg.divmod(a + 1, b))(a, b)
    same((quotient, rest), np.divmod(a + 1, b))


def plus_one(view):
    return lambda x: view(x) + 1


def test_views_are_numpys():
    x = np.arange(24.0).reshape(2, 3, 4)
    for view in (
        lambda x: np.swapaxes(x, 0, -1),
        lambda x: x.swapaxes(1, 2),
        lambda x: np.moveaxis(x, 0, -1),
        lambda x: np.moveaxis(x, [0, 2], [1, 0]),
        lambda x: x.mT,
        np.matrix_transpose,
        lambda x: np.permute_dims(x, (2, 0, 1)),
        lambda x: np.expand_dims(x, 1),
        lambda x: np.expand_dims(x, (0, 2)),
        lambda x: np.expand_dims(x, (-1, -3)),
        lambda x: np.squeeze(x[:, None], axis=1),
        lambda x: x[None, ..., None].squeeze((0, -1)),
    ):
        same(bg.jit(plus_one(view))(x), view(x) + 1)


@pytest.mark.parametrize(
    ("function", "cure"),
    [
        (lambda x: np.select([x > 0], []), "as many of both"),
        (lambda x: np.piecewise(x, [x > 0], [1, 2, 3]), "1 conditions and 3 functions"),
        (lambda x: np.expand_dims(x, (0, -1)), "from one end"),
        (lambda x: x.squeeze(), "name the dims"),
        (lambda x: np.nan_to_num(x, copy=False), "out=x"),
        (lambda x: np.zeros_like(x, shape=(3,)), "shape= has no meaning"),
    ],
)
def test_what_they_refuse_says_what_instead(function, cure):
    with pytest.raises(TraceError, match=cure):
        trace(function, ("x",))


def test_a_dim_that_is_squeezed_has_extent_1():
    with pytest.raises(bg.BroadcastError, match="expected 1"):
        bg.jit(lambda x: np.squeeze(x, 0) + 1)(np.ones((2, 3)))


def test_text_refuses_too_many_arguments():
    with pytest.raises(DTypeError, match="takes 1 operands and up to 0 numbers"):
        bg.from_text("sinc(a, 2)")
