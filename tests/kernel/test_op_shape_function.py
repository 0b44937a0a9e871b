"""Ops with shape functions of their own, called by the extension: with the answers and errors of the way in Python."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import bcastgen as bg
from bcastgen import shape as s
from compile_flags import QUICK

TWO = ["(d0, d1) -> (d0)", "(d0, d1) -> (d1)"]
SAME = ["(d0, d1) -> (d0, d1)"]


def joined(a, b):
    return s.concat(a, s.join(b, s.const_shape((3,)), error="b has to have 3"))


def required(a, b):
    return s.assuming(s.cstr_eq(a, b, error="as many of both"), lambda: s.concat(a, b))


def selected(a, b):
    wide = s.cmpi(s.size_to_index(s.get_extent(a, s.constant(0))), s.constant(2), predicate="sgt")
    return s.from_extents(s.select(wide, s.constant(3), s.constant(2)), s.rank(s.concat(a, b)))


def counted(a):
    total = s.reduce(a, s.const_size(0), lambda index, extent, sum: s.add(sum, extent))
    return s.from_extents(total, s.div(s.num_elements(a), s.const_size(2)))


def printed(a, b):
    return s.debug_print(s.concat(a, b))


def split(a):
    head, tail = s.split_at(a, s.constant(-1))
    return s.concat(tail, head)


def branched(a, b):
    wide = s.cmpi(s.size_to_index(s.num_elements(a)), s.constant(2), predicate="sgt")
    return s.if_(wide, lambda: s.concat(b, a), lambda: s.concat(a, s.join(b, s.const_shape((3,)), error="3 of b")))


def many(a, b):
    parts = [s.concat(a, b)]
    for _ in range(40):
        parts.append(s.max(parts[-1], s.concat(a, b)))
    sizes = [s.get_extent(a, s.const_size(0))]
    for _ in range(80):
        sizes.append(s.max(sizes[-1], s.get_extent(b, s.const_size(0))))
    return s.broadcast(*parts[-30:], s.from_extents(sizes[0], s.min(sizes[-1], s.get_extent(b, s.const_size(0)))))


def unused(a, b):
    s.cstr_eq(a, b, error="nobody asks")
    ends = s.reduce(a, s.const_witness(True), lambda at, extent, all_: s.assuming_all(all_, s.cstr_broadcastable(a, b)))
    return s.assuming(ends, lambda: s.concat(a, b))


FUNCTIONS = {
    "branched": (branched, TWO),
    "many": (many, TWO),
    "unused": (unused, TWO),
    "concat": (lambda a, b: s.concat(a, b), TWO),
    "joined": (joined, TWO),
    "required": (required, TWO),
    "selected": (selected, ["(d0, d1) -> (d0)", "(d0, d1) -> ()"]),
    "maximum": (lambda a, b: s.max(a, b), [*SAME, *SAME]),
    "invalid": (lambda a, b: s.from_extents(s.get_extent(a, s.constant(3))), ["(d0) -> (d0)", "(d0) -> (d0)"]),
    "rank": (lambda a, b: s.concat(a, b), ["(d0) -> (d0)", "(d0) -> ()"]),
    "scalars": (lambda a, b: s.broadcast(a, b), ["() -> ()", "() -> ()"]),
    "split": (split, ["(d0, d1) -> (d1, d0)"]),
    "counted": (counted, ["(d0, d1) -> (d1)"]),
    "printed": (printed, TWO),
}


def make(name):
    function, maps = FUNCTIONS[name]
    operands = "a, b" if len(maps) == 2 else "a"
    op = f"sized_{name}"
    c = "a - b" if len(maps) == 2 else "-a"
    return bg.define_op(op, operands, c=c, shape=function, maps=maps, replace=True), len(maps)


def answer(call):
    try:
        return call()
    except Exception as error:
        return type(error), str(error), vars(error)


def same(one, other):
    if isinstance(one, (np.ndarray, np.generic)) and type(one) is type(other):
        return one.dtype == other.dtype and np.array_equal(one, other)
    return not isinstance(one, (np.ndarray, np.generic)) and one == other


SHAPES = [(), (0,), (1,), (2,), (3,), (2, 3), (3, 3), (3, 1), (1, 1, 2)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_calls_answer_as_python_does(name, monkeypatch, capfd):
    monkeypatch.setenv("BCASTGEN_CFLAGS", QUICK)
    kernel, count = make(name)
    for shapes in itertools.product(SHAPES, repeat=count):
        arrays = [np.arange(np.prod(shape)).reshape(shape) + 1.0 for shape in shapes]
        done = answer(lambda a=arrays: kernel(*a))
        slowly = answer(lambda a=arrays: kernel._call_sized(tuple(a), {}))
        assert same(done, slowly), f"{name} of {shapes}: {done}, {slowly}"
        sized = answer(lambda s=shapes: kernel.result_shape(*s))
        assert sized == answer(lambda s=shapes: kernel._result_shape(s))
        has_shape = isinstance(done, (np.ndarray, np.generic))
        assert sized == (done.shape if has_shape else done), f"{name} of {shapes}"
        if isinstance(done, np.ndarray):
            out = np.full_like(done, -1)
            assert kernel(*arrays, out=out) is out
            assert np.array_equal(out, done)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_extension_runs_all_that_print_nothing(name, monkeypatch):
    kernel, count = make(name)
    arrays = []
    for shapes in itertools.product(SHAPES, repeat=count):
        sized = answer(lambda s=shapes: kernel.result_shape(*s))
        if sized and not isinstance(sized[0], type):
            arrays = list(map(np.ones, shapes))
            break
    monkeypatch.setattr(type(kernel), "_sizes", None)  # what Python sizes by
    if not arrays:
        assert name in ("invalid", "rank", "scalars")
    elif name == "printed":
        with pytest.raises(TypeError, match="not callable"):
            kernel(*arrays)
    else:
        kernel(*arrays)


@pytest.mark.parametrize("name", ["concat", "scalars"])
def test_arguments_of_every_kind(name):
    kernel, _ = make(name)
    lists = ([1.0, 2.0], [3.0]) if name == "concat" else (1.0, 2)
    expected = kernel(*map(np.asarray, lists))
    for arguments in (lists, tuple(map(np.asarray, lists)), [np.asarray(one).astype(">f8") for one in lists]):
        assert np.array_equal(kernel(*arguments), expected)
        assert np.array_equal(kernel(arguments[0], b=arguments[1]), expected)
    if name == "scalars":
        assert kernel(1, 2) == -1
        assert kernel(np.float32(1), True) == 0
        assert kernel(True, 1.5) == -0.5


def test_what_is_not_taken():
    kernel, _ = make("concat")
    x = np.ones(2)
    for arguments, names, message in (
        ((x,), {}, "takes from 2 to 3 positional arguments but 1 was given"),
        ((x, x, x, x), {}, "takes 2 positional"),
        ((x, x), {"c": 3}, "unexpected keyword argument 'c'"),
        ((x, x), {"out": 3}, "takes out as an ndarray"),
        ((x, x), {kernel.slots[0]: x}, "unexpected keyword argument"),
    ):
        with pytest.raises(TypeError, match=message):
            kernel(*arguments, **names)
    for call in (lambda **given: kernel.result_shape((2,), (3,), **given), lambda **given: kernel(x, x, **given)):
        with pytest.raises(bg.BroadcastError, match="no extents to be given; its shape functions say them"):
            call(extents={"k": 3})
        with pytest.raises(bg.BroadcastError, match="is what a shape function computes"):
            call(extents={kernel.slots[0]: 3})
        call(extents={})


def test_outs_that_do_not_fit_or_overlap():
    kernel, _ = make("concat")
    x = np.arange(3.0)
    with pytest.raises(bg.BroadcastError, match="result 'r' dim 1 has extent 2, expected 3"):
        kernel(x, x, out=np.empty((3, 2)))
    square = np.arange(9.0).reshape(3, 3)
    expected = kernel(square[0].copy(), square[1].copy())
    assert np.array_equal(kernel(square[0], square[1], out=square), expected)


def test_large_results_and_many_ranks():
    kernel, _ = make("concat")
    x, y = np.arange(3000.0), np.arange(400.0)
    assert np.array_equal(kernel(x, y), x[:, None] - y)
    assert np.array_equal(kernel(x[::2], y[::-1]), x[::2, None] - y[::-1])


def test_extents_are_given_by_the_extension_too(monkeypatch):
    monkeypatch.setenv("BCASTGEN_CFLAGS", QUICK)
    spread = bg.jit(
        lambda x: bg.broadcast_in_dim(x, (None, "k"), dims=(0,)) + bg.broadcast_in_dim(x, ("k", None), (1,))
    )
    x = np.arange(3.0)
    for extents in ({"k": 3}, {"k": np.int64(3)}, {"k": 4}, {"k": -1}, {"k": 2**62}, {"q": 3}, {}, None):
        for out in (None, np.empty((3, 3)), np.empty((3, 4)), np.empty(3)):
            done = answer(lambda e=extents, o=out: spread(x, extents=e, out=o))
            slowly = answer(lambda e=extents, o=out: spread._call_sized((x,), {"extents": e, "out": o}))
            assert same(done, slowly), f"{extents}, {out}: {done}, {slowly}"
