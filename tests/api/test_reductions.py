"""Reductions as functions: arguments mean what they mean for NumPy, and are refused where NumPy refuses them."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg

X = np.arange(12).reshape(3, 4)
F = X * 1.5
M = X > 3
U = X.astype("u1")
# What NumPy refuses is refused with its kind of error, or with one that is that as well.
CALLS = """
sum(X, axis=1); sum(X, axis=1.0); sum(X, axis=True); sum(X, axis=[0, 1]); sum(X, axis=np.array(1)); sum(X, axis=(0, 1))
sum(X, axis=(True,)); argmax(X, axis=True); argmax(X, axis=np.int8(1)); max(X, axis=5); sum(X, keepdims=1)
sum(X, keepdims='a'); sum(X, keepdims=np.True_)
sum(X, initial=np.nan); sum(X, initial=np.inf); sum(X, initial=2.7); sum(X, initial=1e300); sum(X, initial='a')
sum(X, initial=2**70); sum(X, initial=1j); sum(X, initial=np.float32(2.5)); sum(X, initial=np.array(2))
sum(X, initial=True); sum(F, initial=np.nan); prod(X, initial=None); sum(X, initial=-2.7)
max(U, initial=300); max(U, initial=np.nan); max(U, initial=2.7); max(U, initial=-5); max(U, initial=-1.0)
max(F, where=M); max(F, where=M, initial=-1); nanmax(F, where=M, initial=-1); min(F, where=M, initial=np.nan)
var(F, ddof=1.5); var(F, ddof=.5, axis=1); var(F, ddof=-1); var(F, ddof=True); std(F, ddof=5, axis=0)
var(F, ddof='a'); nanstd(F, ddof=1.5, axis=0); nanvar(F, ddof=np.float64(1)); std(F, ddof=np.array(1))
var(F, axis=0, ddof=2**31); var(F, axis=0, ddof=2**32 + 1); std(F, ddof=1e19); var(F, axis=0, ddof=-1e19)
var(F, ddof=np.inf); var(F, ddof=1e308, where=M); var(F, axis=0, ddof=2**31 - 1); var(F, axis=0, ddof=-(2**40))
nanmean(F, axis=0, where=np.array([1., 0., 2., 1.])); nanstd(F, where=F); nanvar(F, where=X); nansum(F, where=F)
var(F, axis=0, dtype='c16'); std(F, dtype='c8'); nanvar(F.astype('f2'), axis=0, mean=F.mean(axis=0))
var(F.astype('f2'), axis=0, mean=F.mean(axis=0)); nanvar(X, axis=0, mean=F.mean(axis=0))
sum(F, out=()); sum(F, out=(F, F)); sum(F, out=[[1], [1, 2]])
sum(X, 1, 'f4'); sum(X, 1, None, np.zeros(3, int)); sum(X, 1, 'f4', axis=1); any(X, 0, None, True)
sum(F, axis=1, out=np.zeros((2, 3))); sum(F, axis=1, out=np.zeros(3)); mean(F, out=np.zeros(()))
sum(F, axis=1, keepdims=True, out=np.zeros((3, 4))); mean(F, axis=0, out=np.zeros((1, 4)))
sum(X, where=True); sum(X, where=M); sum(X, where=np.True_); sum(X, where=False); sum(X, where=np.False_)
sum(X, where=[[True], [False], [True]]); sum(F, dtype=np.float32); sum(F, dtype='f4', axis=(1,))
"""


def outcome(module, call):
    try:
        return eval(f"module.{call}", {"module": module, "np": np, "X": X, "F": F, "M": M, "U": U})
    except Exception as error:
        return error


# Warnings of few elements are NumPy's alone.
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("call", [call.strip() for line in CALLS.splitlines() for call in line.split(";") if call])
def test_arguments_are_numpys(call):
    # A call before it with an equal value of another type makes another kernel.
    outcome(bg, call.replace("axis=1.0", "axis=1").replace("axis=True", "axis=1").replace("'a'", "1"))
    found, wanted = outcome(bg, call), outcome(np, call)
    if isinstance(wanted, Exception):
        # What NumPy will refuse, older ones take with a warning.
        kind = TypeError if isinstance(wanted, (TypeError, DeprecationWarning)) else type(wanted)
        assert isinstance(found, kind) and isinstance(found, bg.BcastgenError)
        return
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, 1e-3 if wanted.dtype == "f2" else 1e-6 if wanted.dtype == "c8" else 1e-14)


def test_zeros_of_both_signs_are_different_arguments():
    none = np.zeros((1, 0)) - 0.0
    assert np.signbit(bg.prod(none, axis=1, initial=-0.0)) and not np.signbit(bg.prod(none, axis=1, initial=0.0))


@pytest.mark.parametrize("name", ["var", "std", "nanvar", "nanstd"])
def test_a_mean_that_is_given_is_an_array_of_its_own(name):
    squares, middle = (F - F.mean(axis=1, keepdims=True)) ** 2, F.mean(axis=1, keepdims=True)
    wanted = squares.mean(axis=1) if name.endswith("var") else np.sqrt(squares.mean(axis=1))
    np.testing.assert_allclose(getattr(bg, name)(F, axis=1, mean=middle), wanted, 1e-14)
    np.testing.assert_allclose(getattr(bg, name)(F, 1, mean=middle, where=M | True), wanted, 1e-14)
    with pytest.raises(TypeError, match=rf"^{name}: ddof='x' is no real number"):
        getattr(bg, name)(F, ddof="x")
