"""Standalone C of ops with shape functions: it computes the extents itself, and says what the functions say."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

import bcastgen as bg
from c_harness import ADDRESS, Case, Harness, emit_module
from compile_flags import QUICK
from long_runs import many
from map_model import make_case

s = bg.shape
FAST = (QUICK, *ADDRESS)


def typed(rank, name):
    return f"f64[{', '.join('?' * rank)}] {name}"


def hold_to_the_model(seeds, calls, directory, kind="gcc"):
    """Random ops, fused with others, under sanitizers; returns how many calls were refused."""
    cases = [make_case(random.Random(seed), f"emitted_{seed}") for seed in seeds]
    kernels = []
    for case in cases:
        op = case.define()
        types = ", ".join(typed(len(own), name) for own, name in zip(case.maps, "ab", strict=True))
        kernels.append(bg.from_text(f"({types}) -> {op.__name__}(a * 3, b + 1) - 1", case.name))
    emitted = emit_module(kernels, "sized")
    program = Harness(emitted, directory).build(kind, FAST)
    asked = []
    for at, case in enumerate(cases):
        chance = random.Random(f"calls of {case.name}")
        for _ in range(calls):
            shapes = case.shapes(chance, wrong=chance.random() < 0.4)
            draw = np.random.default_rng(at)
            arrays = [np.asarray(draw.integers(0, 50, shape), np.float64) for shape in shapes]
            asked.append((case, arrays, Case(emitted[at]).array(arrays[0]).array(arrays[1])))
            asked[-1][2].array(np.full(case.result, 7.0))
    refused = 0
    for (case, (a, b), _), got in zip(asked, program.run(*(call for _, _, call in asked)), strict=True):
        if case.fits([a.shape, b.shape]):
            assert got.shape.status == got.call.status == "OK"
            assert got.extents == (case.result,)
            assert np.array_equal(got.values(2, np.float64), case.value(a * 3, b + 1) - 1)
            continue
        refused += 1
        assert got.shape.status == got.call.status == "MAPPED" and got.untouched
        said = re.fullmatch(
            rf"(operand '[ab]' of {case.name} dim \d), by its map (1|d\d of its result|1 or d\d of its result), "
            r"has extent (\d+), expected (\d+)",
            got.message,
        )
        with pytest.raises(bg.BroadcastError) as error:
            kernels[cases.index(case)](a, b)
        # The same operand, dim and sizes as the error of the call in Python.
        assert str(error.value).startswith(f"{said[1]} has extent {said[3]}, expected ")
        assert (error.value.actual, error.value.expected) == (int(said[3]), int(said[4]))
    return refused


def test_emitted_ops_keep_to_their_maps(tmp_path):
    assert hold_to_the_model(range(4), 12, tmp_path) > 0


@pytest.mark.slow
def test_many_emitted_ops_keep_to_their_maps(tmp_path):
    assert hold_to_the_model(range(4, 4 + many(12, 32)), 20, tmp_path, "clang") > many(36, 100)


@pytest.fixture
def outer():
    return bg.define_op(
        "emitted_outer",
        "a, b",
        c="a - b",
        shape=lambda a, b: s.concat(a, s.join(b, b, error="b is not b")),
        maps=["(d0, d1) -> (d0)", "(d0, d1) -> (d1)"],
        replace=True,
    )


def test_values_on_the_way_several_ops_and_several_results(outer, tmp_path):
    kernel = bg.jit(
        lambda a, b, c: (outer(a + b, c) * 2, outer(c, a)),
        signature="(f64[?] a, f64[n] b, f64[?] c)",
        name="pairs",
    )
    plain = bg.from_text("(f64[?] a) -> a + 1", "plain")
    emitted = emit_module([kernel, plain], "several")
    program = Harness(emitted, tmp_path).build("gcc", FAST)
    one, two, three = np.ones(1), np.arange(2.0), np.arange(3.0)
    good = Case(emitted[0]).array(one).array(three).array(two).array(np.zeros((3, 2))).array(np.zeros((2, 1)))
    bad = Case(emitted[0]).array(two).array(three).array(two).array(np.zeros((3, 2))).array(np.zeros((2, 2)))
    got, refused, other = program.run(good, bad, Case(emitted[1]).array(two).array(np.zeros(2)))
    wanted = kernel(one, three, two)
    assert got.extents == tuple(value.shape for value in wanted)
    assert all(np.array_equal(got.values(3 + at, np.float64), value) for at, value in enumerate(wanted))
    assert refused.call.status == "SIZES" and refused.message == "operands of add do not broadcast"
    assert other.call.status == "OK"


@pytest.mark.parametrize(
    "function",
    [
        lambda op, a, b: op(a, b).sum(axis=1),
        lambda op, a, b: op(a, b).sum(axis=0) + op(a * 2, b).max(axis=0),
        lambda op, a, b: op(op(a, b).sum(axis=1), b) - op(a, b).min(),
    ],
)
def test_reductions(function, outer, tmp_path):
    kernel = bg.jit(lambda a, b: function(outer, a, b), signature="(f64[?] a, f64[?] b)", name="reduced")
    (emitted,) = emit_module([kernel], "reduced")
    program = Harness([emitted], tmp_path).build("gcc", FAST)
    a, b = np.array([3.0, 1.0]), np.array([5.0, 0.5, 2.0])
    wanted = kernel(a, b)
    good = Case(emitted).array(a).array(b).array(np.zeros(wanted.shape))
    wrong = Case(emitted).array(a).array(b).array(np.zeros((7,) * wanted.ndim))
    got, refused = program.run(good, wrong)
    assert got.call.status == "OK" and got.extents == (wanted.shape,)
    assert np.array_equal(got.values(2, np.float64), wanted)
    assert refused.shape.status == "OK" and refused.call.status == "RESULT"


def test_descriptors_are_checked_before_shape_functions_read_them(outer, tmp_path):
    kernel = bg.from_text("(f64[?] a, f64[?] b) -> emitted_outer(a, b)", "placed")
    (emitted,) = emit_module([kernel], "placed")
    program = Harness([emitted], tmp_path).build("gcc", FAST)
    two, result = np.arange(2.0), np.zeros((2, 2))

    def call(**options):
        return Case(emitted).array(two).view(0, (2,), (8,), **options).array(result)

    assert [got.call.status for got in program.run(call(), call(no_extents=True), call(rank=0))] == [
        "OK",
        "NULL_EXTENTS",
        "RANK",
    ]
    negative = Case(emitted).array(two).view(0, (-2,), (8,)).array(result)
    (got,) = program.run(negative)
    assert (got.call.status, got.call.operand, got.call.dim, got.call.actual) == ("NEGATIVE", 1, 0, -2)


def test_what_has_no_form_is_refused(outer, tmp_path):
    kernel = bg.from_text("(f64[?] a, f64[?] b) -> emitted_outer(a, b)", "placed")
    for form in ({"static": True}, {"main": True}, {"build": ("cffi",)}):
        with pytest.raises(bg.BcastgenError, match="placed has ops with shape functions"):
            kernel.emit_c(tmp_path, **form)
    with pytest.raises(bg.BroadcastError, match="known rank"):
        bg.jit(lambda a, b: outer(a, b)).emit_c(tmp_path)
    with pytest.raises(bg.BcastgenError, match="op 'emitted_outer', which define_op made, has no TOSA op"):
        kernel.to_mlir("tosa")
    kernel.emit_c(tmp_path, "free", freestanding=True)


def test_an_author_s_words_arrive_as_they_are(tmp_path):
    words = 'say "BCG_RANK" bcg_b */ ??= {dim} [x] <1 or > \\ ' + "a long sentence, " * 12
    bg.define_op(
        "worded",
        "a",
        c="a",
        shape=lambda a: s.join(a, s.const_shape((7,)), error=words),
        maps=["(d0) -> (d0)"],
        replace=True,
    )
    (emitted,) = emit_module([bg.from_text("(f64[?] a) -> worded(a)", "said")], "said")
    program = Harness([emitted], tmp_path).build("gcc", FAST)
    seven, six = np.zeros(7), np.zeros(6)
    good, bad = program.run(Case(emitted).array(seven).array(seven), Case(emitted).array(six).array(six))
    assert good.call.status == "OK" and bad.call.status == "SIZES"
    assert bad.message == words


@pytest.fixture
def copies():
    """An op that copies rows; a count decides how often, and at most four times."""
    return bg.define_op(
        "emitted_copies",
        "x, count",
        c="x",
        shape=lambda x, count: s.concat(s.from_extents(count), x),
        maps=["(d0, d1) -> (d1)", "index"],
        bound=lambda x: s.concat(s.const_shape((4,)), x),
        replace=True,
    )


@pytest.fixture
def tiles():
    def shape(x, counts):
        few = s.cstr_require(s.cmpi(s.get_extent(counts, 0), 4, predicate="sle"), msg="at most 4 copies of a row")
        return s.assuming(few, lambda: s.concat(counts, x))

    maps = ["(d0, d1, d2) -> (d2)", "tensor<2xindex>"]
    return bg.define_op("emitted_tiles", "x, counts", c="x", shape=shape, maps=maps, replace=True)


def jit(kernel, arrays):
    try:
        return kernel(*arrays)
    except bg.BroadcastError as error:
        return str(error)


def test_values_decide_extents_in_c_as_in_python(copies, tiles, tmp_path):
    """Integers of every type, lists of every stride, and all that is wrong with them, under sanitizers."""
    integers = ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64")
    text = "(f64[?] x, {0}[] values, {1}[?] other) -> emitted_copies(x * 2, values) + emitted_tiles(x, other) - values"
    pairs = list(zip(integers, integers[::-1], strict=True))
    kernels = [bg.from_text(text.format(*pair), f"valued_{'_'.join(pair)}") for pair in pairs]
    emitted = emit_module(kernels, "valued")
    program = Harness(emitted, tmp_path).build("gcc", FAST)
    chance, asked = random.Random(5), []
    numbers = (0, 1, 1, 2, 2, 3, 4, 4, 5, 127, -1, 2**63 - 1, -(2**63))
    for at in [index for index in range(len(pairs)) for _ in range(24)]:
        one, two = (np.dtype(name.replace("i", "int").replace("u", "uint")) for name in pairs[at])
        drawn = np.array([chance.choice(numbers) % 2**64 for _ in range(7)], np.uint64)
        count, counts = drawn[:1].astype(one).reshape(()), drawn[1:].astype(two)[:: chance.choice((1, -1, 2))]
        counts = counts[: chance.choice((2, 2, 2, 2, 1, 0))]
        x = np.arange(float(chance.choice((0, 1, 3))))
        wanted = jit(kernels[at], (x, count, counts))
        result = np.zeros(wanted.shape if isinstance(wanted, np.ndarray) else (1, 1, 1))
        asked.append((wanted, Case(emitted[at]).array(x).array(count).array(counts).array(result)))
    found = set()
    for (wanted, _), got in zip(asked, program.run(*(call for _, call in asked)), strict=True):
        if isinstance(wanted, np.ndarray):
            assert got.call.status == got.shape.status == "OK", got.message
            assert got.extents == (wanted.shape,) and np.array_equal(got.values(3, np.float64), wanted)
            found.add("OK")
            continue
        assert got.call.status == got.shape.status != "OK" and got.untouched
        found.add(got.message)
        if "its bound" in got.message:
            assert f"the extent {got.call.actual}, and its bound is {got.call.expected}" in wanted
        if got.message.endswith("of a row"):
            assert got.message in wanted
    assert {"OK", "at most 4 copies of a row", "a shape function refuses the operands"} <= found
    too_many = "the shape function of emitted_copies exceeds its bound: dim 0 of the result has extent 5, expected 4"
    assert too_many in found
    assert any("a value of more than 63 bits" in one for one in found)
    assert any("one below 0 or of more than 63 bits" in one for one in found)


def test_the_memory_of_values_is_checked_before_it_is_read(copies, tiles, tmp_path):
    kernel = bg.from_text("(f64[?] x, i32[] n, i64[?] m) -> emitted_copies(x, n) + emitted_tiles(x, m)", "taken")
    (emitted,) = emit_module([kernel], "taken")
    header = " ".join(emitted.files["taken.h"].split())
    assert re.search(
        r"Gives the extents of r, so that the caller can allocate them\. Reads the data of \w*n, m alone\.", header
    )
    program = Harness([emitted], tmp_path).build("gcc", FAST)
    x, result, two = np.ones(3), np.zeros((2, 2, 3)), np.int64([2, 2])

    def call(counts=two):
        return Case(emitted).array(x).array(np.array(2, np.int32)).array(counts).array(result)

    many = np.ones(65, np.int64)
    good, long = program.run(call(), call(counts=many))
    assert good.call.status == "OK" and long.call.status == "SIZES" and "more than 64 values" in long.message
    null = Case(emitted).array(x).view(None, (), ()).array(two).array(result)
    (got,) = program.run(null)
    assert (got.shape.status, got.shape.operand) == ("NULL_DATA", 1)


def test_values_that_c_cannot_take_are_refused(copies, tiles, tmp_path):
    with pytest.raises(bg.BcastgenError, match="'n' has no known rank"):
        bg.from_text("(f64[?] x, i64[*] n) -> emitted_copies(x, n)").emit_c(tmp_path)
    shaped = bg.define_op(
        "emitted_shaped",
        "x, shape",
        c="x",
        shape=lambda x, shape: s.value_as_shape(shape),
        maps=["(d0, d1) -> ()", "!shape.value_shape"],
        replace=True,
    )
    assert shaped(2.0, [1, 2]).shape == (1, 2)
    with pytest.raises(bg.BroadcastError, match="let its shape function take a tensor"):
        bg.from_text("(f64[] x, i64[2] n) -> emitted_shaped(x, n)").emit_c(tmp_path)
