"""Parameters that are no operands: static ones, defaults of None, keywords only, `*args`, `self`."""

from __future__ import annotations

import functools
import pickle

import numpy as np
import pytest

import bcastgen as bg

X = np.arange(3.0)


@bg.jit(static=("mode", "times"))
def scaled(x, mode="twice", times=(1, 2)):
    for factor in times:
        x = x * factor if mode == "twice" else x / factor
    return x


def test_static_parameters_pick_a_kernel():
    assert scaled(X).tolist() == [0, 2, 4]
    assert scaled(X, "half").tolist() == [0, 0.5, 1]
    assert scaled(X, times=(3,)).tolist() == [0, 3, 6]
    assert scaled(X, mode="twice", times=(1, 2)).tolist() == [0, 2, 4]
    assert len(scaled._kernels) == 3
    out = np.empty(3)
    assert scaled(X, out=out) is out
    assert "multiply" in scaled.explain()
    assert pickle.loads(pickle.dumps(scaled)) is scaled


def test_equal_values_of_other_types_are_other_kernels():
    @bg.jit(static="k")
    def power(x, k):
        return x * k

    ones = np.ones(1, np.int8)
    assert [power(ones, k).dtype for k in (1, 1.0, True, np.int16(1))] == [np.int8, np.float64, np.int8, np.int16]
    assert np.signbit(power(X, -0.0)[1])
    assert not np.signbit(power(X, 0.0)[1])


def test_static_values_need_a_hash_and_a_parameter():
    with pytest.raises(bg.TraceError, match="static parameter 'mode' is a list"):
        scaled(X, ["twice"])
    with pytest.raises(bg.TraceError, match="no parameter of <lambda>"):
        bg.jit(lambda x: x, static="mode")
    with pytest.raises(TypeError, match="unexpected keyword argument 'made'"):
        scaled(X, made=1)


def test_a_default_of_none_is_static_where_it_is_left_out():
    @bg.jit
    def shifted(x, y=None):
        return x if y is None else x + y

    assert shifted(X).tolist() == [0, 1, 2]
    assert shifted(X, 1).tolist() == [1, 2, 3]
    assert shifted(X, y=X).tolist() == [0, 2, 4]
    assert shifted(X, None).tolist() == [0, 1, 2]


def test_keywords_only_and_several_operands():
    @bg.jit
    def weighted(*rows, weight):
        total = 0.0
        for row in rows:
            total = total + row * weight
        return total

    assert weighted(X, X, weight=2).tolist() == [0, 4, 8]
    assert weighted(X, weight=X).tolist() == [0, 1, 4]
    with pytest.raises(TypeError, match="missing a required"):
        weighted(X)
    keyword = bg.jit(lambda x, *, k: x * k)
    with pytest.raises(TypeError, match="too many positional"):
        keyword(X, 2)
    # Inside another kernel, too.
    assert bg.jit(lambda x: keyword(x, k=3) + 1)(X).tolist() == [1, 4, 7]


class Filter:
    gain = 2.0

    def __init__(self, offset):
        self.offset = offset
        self.taps = np.ones(3)

    @bg.jit
    def run(self, x, scale=1.0):
        return self.amplified(x) * scale + self.offset

    def amplified(self, x):
        return x * self.gain * self.sign

    @property
    def sign(self):
        return -1 if self.offset < 0 else 1

    @bg.jit
    def wrong(self, x):
        return x * self.taps

    @bg.vectorize
    def limited(self, x):
        if x > self.offset:
            return self.amplified(x)
        return 0.0


def test_methods_read_numbers_of_their_object_and_see_changes():
    one, other = Filter(1.0), Filter(-5.0)
    assert one.run(X).tolist() == [1, 3, 5]
    assert other.run(X).tolist() == [-5, -7, -9]
    assert Filter.run(one, X, scale=2).tolist() == [1, 5, 9]
    one.offset = 10.0
    assert one.run(X).tolist() == [10, 12, 14]
    one.gain = 1
    assert one.run(X).tolist() == [10, 11, 12]
    one.offset = 1.0
    assert one.limited(X).tolist() == [0, 0, 2]
    one.offset = 0.5
    assert one.limited(X).tolist() == [0, 1, 2]


def test_methods_that_read_arrays_are_refused():
    with pytest.raises(bg.TraceError, match=r"self\.taps is a ndarray; .*pass this as an operand"):
        Filter(1.0).wrong(X)


@bg.jit(static="factor")
def times(x, factor=2, *, order=0.0):
    return x * factor + order


def test_keywords_of_ufuncs_are_those_of_the_call():
    out = np.full(3, -1.0)
    assert times(X, where=X > 1, out=out) is out and out.tolist() == [-1, -1, 4]
    assert times(X, 3, dtype="f4").dtype == np.float32
    # A parameter of the function's own is none of them.
    assert times(X, order=1.0).tolist() == [1, 3, 5]
    with pytest.raises(TypeError, match=r"times\(\) got an unexpected keyword argument 'mask'"):
        times(X, mask=True)


class Renamed:
    """Methods whose first parameters have other names."""

    gain = 3.0

    @bg.jit
    def scaled(this, x):
        return x * this.gain

    @bg.jit(static="times")
    def repeated(_, x, times=2):
        return x * times

    @bg.vectorize
    def limited(me, x):
        if x > me.gain:
            return me.gain
        return x

    @classmethod
    @bg.jit
    def of_class(cls, x):
        return x * cls.gain

    @staticmethod
    @bg.jit
    def of_no_one(x):
        return x.T + 1


def test_methods_need_no_parameter_called_self():
    one = Renamed()
    assert one.scaled(X).tolist() == Renamed.scaled(one, X).tolist() == (3 * X).tolist()
    one.gain = 2.0
    assert one.scaled(X).tolist() == (2 * X).tolist()
    assert one.repeated(X).tolist() == (2 * X).tolist() and one.repeated(X, times=5).tolist() == (5 * X).tolist()
    assert one.limited(X + 2).max() == 2
    assert one.of_class(X).tolist() == Renamed.of_class(X).tolist() == (3 * X).tolist()
    assert one.of_no_one(X).tolist() == Renamed.of_no_one(X).tolist() == (X + 1).tolist()


def test_a_classmethod_is_decorated_last():
    with pytest.raises(bg.TraceError, match="f is a classmethod, which cannot be called yet; put @classmethod above"):

        class _Wrong:
            @bg.jit
            @classmethod
            def f(cls, x):
                return x


def test_partials_bound_methods_and_objects_are_functions():
    class Times:
        def __init__(self, factor):
            self.factor = factor

        def __call__(self, x):
            return x * self.factor

        def method(self, x):
            return x * self.factor

    for function in (Times(3), Times(3).method, functools.partial(lambda a, x: x * a, 3)):
        assert bg.jit(function)(X).tolist() == (3 * X).tolist()
    with pytest.raises(bg.TraceError, match=r"no function written in Python.*lambda"):
        bg.vectorize(functools.partial(lambda a, x: x * a, 3))


def test_calls_of_one_form_are_taken_apart_alike():
    """Calls in turn, whose numbers of arguments, keywords and values differ, give what the function itself gives."""

    def plain(x, *more, n=2, sign="+", w=None):
        result = x * n if w is None else x * n * w
        for one in more:
            result = result + one
        return result if sign == "+" else -result

    compiled, held = bg.jit(plain, static=("n", "sign")), np.empty_like(X)
    calls = [
        (args, given)
        for args in ((X,), (X, X + 1), (X, X + 1, 3.0))
        for given in ({}, {"n": 3}, {"n": 3.0}, {"sign": "-"}, {"sign": "-", "n": 3}, {"w": X}, {"w": None}, {"w": 0.5})
    ]
    for args, given in (*calls, *reversed(calls)):
        wanted = plain(*args, **given)
        assert compiled(*args, **given).tolist() == wanted.tolist()
        assert compiled(*args, **given, out=held) is held and held.tolist() == wanted.tolist()


def test_a_call_of_operands_alone_is_still_checked():
    added = bg.jit(lambda *args: sum(args[1:], args[0]))
    for _ in range(2):
        assert added(X).tolist() == X.tolist()
        assert added(X, X).tolist() == (2 * X).tolist()
        with pytest.raises(bg.BroadcastError):
            added(X, np.ones(X.size + 1))
        with pytest.raises(bg.ArgumentError, match="q"):
            added(X, X, q=1)
