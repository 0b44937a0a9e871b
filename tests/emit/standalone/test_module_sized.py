"""Standalone C of ops with shape functions: it computes the extents itself, and says what the functions say."""

from __future__ import annotations

import random
import re

import numpy as np
import pytest

import bcastgen as bg
from c_harness import ADDRESS, Case, Harness, emit_module
from map_model import make_case

s = bg.shape
FAST = ("-O0", *ADDRESS)


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
        assert got.shape.status == got.call.status == "SIZES" and got.untouched
        assert re.match(rf"operand '[ab]' of {case.name} dim \d is (not|neither)", got.message)
    return refused


def test_emitted_ops_keep_to_their_maps(tmp_path):
    assert hold_to_the_model(range(4), 12, tmp_path) > 0


@pytest.mark.slow
def test_many_emitted_ops_keep_to_their_maps(tmp_path):
    assert hold_to_the_model(range(4, 36), 20, tmp_path, "clang") > 100


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
