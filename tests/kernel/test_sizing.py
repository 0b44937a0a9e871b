"""Sizing results without a call: by the guards alone, on both implementations of KernelBase, with a call's errors."""

from __future__ import annotations

import os
import random
import subprocess
import sys

import numpy as np
import pytest

import bcastgen as bg
from compile_flags import QUICK
from long_runs import many
from shape_kernels import arrays, make_calls, make_kernel
from shape_sides import product

WITHOUT_COMPILER = """
import bcastgen as bg, numpy as np
assert bg.jit(lambda a, b: a + b).result_shape((2, 1), (3,)) == (2, 3)
assert bg.jit(lambda a, b: (a & b) << 1).result_shape((2, 1), (3,)) == (2, 3)
assert bg.jit(lambda a: a.T + a).result_shape((2, 1)) == (2, 2)
assert bg.from_text("(f32[*] a, f32[*, 4] b) -> a + b").result_shape((3, 1), (2, 1, 4)) == (2, 3, 4)
assert bg.from_text("(f32[n, m] a, f32[m] b) -> (a + b, b * 2)").result_shape((3, 4), (4,)) == ((3, 4), (4,))
spread = bg.jit(lambda x: bg.broadcast_in_dim(x, (None, "k"), dims=(0,)))
assert spread.result_shape((3,), extents={"k": 5}) == (3, 5)
outer = bg.define_op("outer_less", "a, b", c="a - b", shape=lambda a, b: bg.shape.concat(a, b),
                     maps=["(d0, d1) -> (d0)", "(d0, d1) -> (d1)"])
assert outer.result_shape((3,), (4,)) == (3, 4)
kernel = bg.jit(lambda a, b: a + b, background=True)
assert kernel.result_shape((2, 1), (3,)) == (2, 3)
try:
    kernel.result_shape((2,), (3,))
except bg.BroadcastError as error:
    call = "kernel(a: [2], b: [3])"
    assert str(error) == f"operand 'b' dim 0 has extent 3, expected 1 or 2 (from 'a'), in {call}"
    print("sized", kernel.compilations)
"""


def implementation(code):
    """Code to run with the implementation of this name."""
    return f"import sys\nsys.modules['bcastgen._dispatch'] = None\n{code}"


@pytest.mark.parametrize("wrapped", [lambda code: code, implementation], ids=["extension", "cffi"])
def test_no_compiler_is_asked(wrapped, tmp_path):
    environment = {**os.environ, "BCASTGEN_CC": "/bin/false", "BCASTGEN_CACHE_DIR": str(tmp_path / "none")}
    command = [sys.executable, "-c", wrapped(WITHOUT_COMPILER)]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert (done.stdout, done.stderr) == ("sized 0\n", "")
    assert not list(tmp_path.rglob("*.so"))


def answer(call):
    """What a call returns, or all that its exception says."""
    try:
        return call()
    except Exception as error:
        return type(error), str(error), vars(error)


def shapes_of(results):
    return tuple(one.shape for one in results) if isinstance(results, tuple) else results.shape


def check(seed, kernels, calls, called):
    chance, refused, count = random.Random(seed), 0, 0
    for _ in range(kernels):
        model = make_kernel(chance)
        kernel = product(model)
        for call in make_calls(chance, model, calls):
            given = {"extents": dict(call.given)} if call.given else {}
            sized = answer(lambda k=kernel, c=call, g=given: k.result_shape(*c.extents, **g))
            slowly = answer(lambda k=kernel, c=call, g=given: k._result_shape(c.extents, g.get("extents")))
            assert sized == slowly, f"{model} of {call}"
            if called:
                done = answer(lambda k=kernel, c=call, g=given: shapes_of(k(*arrays(c), **g)))
                assert sized == done, f"{model} of {call}"
            refused += isinstance(sized[0], type) if sized else 0
            count += 1
    assert count / 5 < refused < count


def test_both_ways_say_the_same_of_random_kernels():
    check(7, 30, 20, called=False)


def test_a_call_says_the_same_of_random_kernels(monkeypatch):
    monkeypatch.setenv("BCASTGEN_CFLAGS", QUICK)
    check(8, 5, 40, called=True)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_a_call_says_the_same_of_many_random_kernels(monkeypatch, seed):
    monkeypatch.setenv("BCASTGEN_CFLAGS", QUICK)
    check(20 + seed, many(10, 25), 60, called=True)
    check(30 + seed, many(80, 200), 40, called=False)


def test_who_matched_first_is_told_in_a_call_too(monkeypatch):
    monkeypatch.setenv("BCASTGEN_CFLAGS", QUICK)
    strict = bg.from_text("(f64[?, ?] a, f64[*] b, f64[*] c) -> a + b + c", dynamic="strict")
    wrong = (2, 3), (2, 3), (2, 4)
    told = answer(lambda: strict.result_shape(*wrong))
    assert told == answer(lambda: strict(*map(np.ones, wrong)))
    assert told[2]["against"] == "a"


def test_dtypes_have_no_say():
    floats = bg.define_op("doubled_here", "x", c="x * 2", dtypes="f32->f32; f64->f64")
    bits = bg.define_op("masked_here", "x", c="x & 1", dtypes="u8->f64")
    for function in (
        lambda a, b: a & b,
        lambda a, b: np.logical_and(a, b),
        lambda a, b: a - b,
        lambda a, b: (a << 1) + np.sin(b),
        lambda a, b: np.where(a, b, 0),
        lambda a, b: floats(a) + (b << 1),
        lambda a, b: bits(a) + b,
    ):
        assert bg.jit(function).result_shape((2, 1), (3,)) == (2, 3)


def test_dtypes_that_no_operand_may_have():
    with pytest.raises(bg.DTypeError, match="bitwise_and"):
        bg.jit(lambda a: a & 1.5).result_shape((3,))


def test_declared_dtypes_are_looked_at():
    declared = bg.jit(lambda a, b: a & b, signature="(f32[?] a, f32[?] b) -> f32[?]")
    with pytest.raises(bg.DTypeError, match="bitwise_and"):
        declared.result_shape((2,), (2,))
    single = bg.from_text("(f32[?] x) -> broadcast_in_dim(x, (None, k), (0,))")
    assert single.result_shape((3,), extents={"k": 2}) == (3, 2)


def test_names_that_are_left_out():
    beside = bg.from_text("(f64[?] a, f64[?, ?] b) -> broadcast_to(a, (p, n)) + b")
    assert beside.result_shape((1,), (3, 4)) == (3, 4) == beside(np.ones(1), np.ones((3, 4))).shape
    assert beside.result_shape((1,), (3, 4), extents={"n": 4}) == (3, 4)
    assert beside.result_shape((1,), (3, 4), extents=None) == (3, 4)
    with pytest.raises(bg.BroadcastError, match="extents has no 'q'"):
        beside.result_shape((1,), (3, 4), extents={"q": 4})
    spread = bg.jit(lambda x: bg.broadcast_in_dim(x, (None, "k"), dims=(0,)))
    for _ in range(2):
        with pytest.raises(bg.BroadcastError, match="dim 1 has an extent that no operand determines"):
            spread.result_shape((3,))
        assert spread.result_shape((3,), extents={"k": 4}) == (3, 4)
    assert spread.result_shape((3,), extents={"k": np.int64(4)}) == (3, 4)


def test_what_takes_no_extents():
    with pytest.raises(TypeError, match=r"add\.result_shape\(\) has no extents to be given"):
        bg.add.result_shape((3,), (3,), extents={})
    with pytest.raises(TypeError):
        bg.add.result_shape((3,), (3,), shapes=1)


def test_arrays_lists_and_numbers_stand_for_shapes():
    add = bg.jit(lambda a, b: a + b)
    for shape in ((3,), [3], 3, np.ones(3), np.ones(3, "U1"), (np.int32(3),)):
        assert add.result_shape((2, 1), shape) == (2, 3)


def test_of_many_operands_dims_and_results():
    names = [f"a{at}" for at in range(40)]
    kernel = bg.from_text(" + ".join(names))
    assert kernel.result_shape(*((1,) * (at % 20) for at in range(40))) == (1,) * 19
    results = bg.from_text(f"({', '.join(f'f64[?] {name}' for name in names)}) -> ({', '.join(names)})")
    assert results.result_shape(*((at,) for at in range(40))) == tuple((at,) for at in range(40))
    assert bg.add.result_shape((1,) * 64, (2,)) == (1,) * 63 + (2,)


def test_results_beyond_memory():
    with pytest.raises(bg.BroadcastError, match=r"result 'r' has elements of 8 bytes, and more than"):
        bg.jit(lambda a, b: a + b).result_shape((2**40, 1), (2**40,))
    small = bg.from_text("(u8[?, 1] a, u8[?] b) -> a + b")
    assert small.result_shape((2**31, 1), (2**31,)) == (2**31, 2**31)


def test_an_array_that_the_hook_reshapes():
    shape = np.ones((2, 3))

    class Late(bg.Kernel):
        def _guard_code(self, *given):
            shape.resize((6, 1), refcheck=False)
            return super()._guard_code(*given)

    add = bg.jit(lambda a, b: a + b)
    late = Late(add.expression, "late", ("a", "b"))
    assert late.result_shape(shape, (1,)) == (6, 1)


def test_a_hook_that_fails():
    class Broken(bg.Kernel):
        def _guard_code(self, *given):
            return given

    broken = Broken(bg.jit(lambda a: -a).expression, "broken", ("a",))
    if "_dispatch" in type(broken).__mro__[2].__module__:
        with pytest.raises(TypeError, match="has to return bytes"):
            broken.result_shape((1,))
