"""Folding. That it changes no run is for test_random_programs.py; here, what it finds and what it leaves."""

from __future__ import annotations

import pytest

import bcastgen as bg
from bcastgen.core.errors import BroadcastError
from bcastgen.shape.dialect.ops import find_row
from bcastgen.shape.dialect.values import Size

shape = bg.shape
SHAPES = {"a": "!shape.shape", "b": "!shape.shape"}


def ops(function, **operands):
    """The names of the operations that are left."""
    return [
        find_row(operation.name).python for operation in shape.program("p", function, **operands).fold().body.walk()
    ]


def text(function, **operands):
    return str(shape.program("p", function, **operands).fold())


def test_constants():
    assert "shape.const_size 14" in text(lambda: shape.add(2, shape.mul(3, 4)))
    assert "shape.const_shape [2, 3]" in text(lambda: shape.broadcast((2, 1), (3,)))
    assert "const_shape [4, 5] : " in text(lambda: shape.split_at((4, 5, 6), -1)[0])
    assert "arith.constant true" in text(lambda: shape.is_broadcastable((2, 1), (3,)))
    assert "arith.constant 3 : index" in text(lambda t: shape.get_extent(shape.shape_of(t), 1), t="f32[?, 3]")
    assert "shape.const_size 2" in text(lambda t: shape.rank(shape.shape_of(t), type="!shape.size"), t="f32[?, 3]")


@pytest.mark.parametrize(("dim", "is_there"), [(0, True), (1, True), (2, False), (3, False), (-1, False)])
def test_an_extent_that_is_not_there_is_asked_for_although_nothing_uses_it(dim, is_there):
    def body(t):
        shape.get_extent(shape.shape_of(t), dim, type="index")
        return shape.shape_of(t)

    assert ("get_extent" not in ops(body, t="f32[?, 3]")) is is_there


def test_reductions_of_known_shapes():
    folded = text(lambda: shape.reduce((2, 3, 4), 1, lambda index, dim, acc: shape.mul(acc, dim)))
    assert "shape.const_size 24" in folded
    assert "reduce" not in folded


@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: shape.broadcast(a, a, ()),
        lambda a, b: shape.concat(a, ()),
        lambda a, b: shape.concat((), a),
        lambda a, b: shape.any(a, a),
        lambda a, b: shape.join(a, a),
        lambda a, b: shape.max(a, a),
        lambda a, b: shape.from_extent_tensor(shape.to_extent_tensor(a)),
    ],
)
def test_what_is_its_operand(function):
    folded = shape.program("p", function, **SHAPES).fold()
    assert folded.results == folded.operands[:1]


def test_sums_and_products_with_nothing_in_them():
    folded = shape.program("p", lambda n: shape.div(shape.mul(shape.add(n, 0), 1), 1), n="!shape.size").fold()
    assert folded.results == folded.operands


def test_repeated_operands_go():
    assert "shape.broadcast %a, %b :" in text(lambda a, b: shape.broadcast(a, b, a, ()), **SHAPES)
    assert "shape.cstr_eq %a, %b :" in text(lambda a, b: shape.cstr_eq(a, b, a, b), **SHAPES)
    assert "arith.constant true" in text(lambda a: shape.shape_eq(a, a), a="tensor<?xindex>")
    # A run ends at a predicate of what it does not know, so that this one stays.
    assert "shape.shape_eq %a, %a" in text(lambda a, b: shape.shape_eq(a, a), **SHAPES)


def test_a_constraint_that_a_run_decides_stays_though_nothing_uses_it():
    def unused(a, b):
        shape.cstr_eq(a, b)
        return a

    program = shape.program("p", unused, **SHAPES)
    assert "shape.cstr_eq %a, %b :" in str(program.fold())
    # One that passes for certain goes.
    assert ops(lambda a: (shape.cstr_eq((2,), (2,)), a)[1], a="!shape.shape") == []


def test_a_division_by_one_goes_and_one_of_one_stays():
    assert ops(lambda n: shape.div(n, 1), n="!shape.size") == []
    assert "div" in ops(lambda n: shape.div(1, n), n="!shape.size")
    assert "div" in ops(lambda n: shape.div(n, n), n="!shape.size")


def test_what_has_too_many_dims_stays_though_nothing_uses_it():
    def unused(t):
        shape.concat(t, t)
        return t

    # Of extents, which have no value that says they are invalid, it ends the run.
    assert ops(unused, t="tensor<32xindex>") == []
    assert ops(unused, t="tensor<33xindex>") == ["concat"]


def test_constraints_that_types_prove():
    def guarded(x, y):
        a, b = shape.shape_of(x), shape.shape_of(y)
        return shape.assuming(shape.cstr_broadcastable(a, b), lambda: shape.broadcast(a, b))

    assert ops(guarded, x="f32[?, 3]", y="f32[1, 3]") == ["shape_of", "const_shape", "broadcast"]
    assert ops(guarded, x="f32[2, 3]", y="f32[2, 1]") == ["const_shape"]
    assert "cstr_broadcastable" in ops(guarded, x="f32[?, 3]", y="f32[2, 3]")
    # Certain to fail: it stays, to fail in the run.
    assert ops(guarded, x="f32[4, 3]", y="f32[2, 3]")[-4:] == [
        "cstr_broadcastable",
        "assuming",
        "broadcast",
        "assuming_yield",
    ]


def test_a_constraint_on_what_may_be_invalid_stays():
    assert "cstr_eq" in ops(lambda a, b: shape.cstr_eq(a, a), **SHAPES)
    assert ops(lambda t: shape.cstr_eq(t, t), t="tensor<?xindex>") == ["const_witness"]


def test_witnesses_that_pass_go_and_nested_ones_merge():
    def all_of(a, b):
        inner = shape.assuming_all(shape.cstr_eq(a, b), shape.const_witness(True))
        return shape.assuming_all(inner, inner, shape.const_witness(True))

    folded = shape.program("p", all_of, **SHAPES).fold()
    assert [find_row(operation.name).python for operation in folded.body.operations] == ["cstr_eq"]
    assert folded.results == folded.body.operations[0].results


def test_a_witness_that_fails_is_not_inlined():
    for witness in (lambda: shape.const_witness(False), lambda: shape.cstr_require(False, msg="never")):
        built = shape.program("p", lambda a: shape.assuming(witness(), lambda: shape.rank(a)), a="!shape.shape")  # noqa: B023
        assert "assuming" in str(built.fold())
        with pytest.raises(BroadcastError):
            built.fold().run((2,))


def test_what_may_end_a_run_stays_though_nobody_uses_it():
    def ends(a, b):
        shape.to_extent_tensor(shape.broadcast(a, b))
        return a

    assert ops(ends, **SHAPES) == ["broadcast", "to_extent_tensor"]

    def does_not(x, y):
        shape.to_extent_tensor(shape.broadcast(shape.shape_of(x), shape.shape_of(y), type="!shape.shape"))
        shape.num_elements(shape.concat((2,), (3,)))
        return x

    assert ops(does_not, x="f32[?, 3]", y="f32[1, 3]") == []


def test_effects_stay():
    assert ops(lambda a, b: (shape.debug_print(a), b)[1], **SHAPES) == ["debug_print"]


def test_regions_are_folded():
    folded = text(lambda a, b: shape.reduce(a, 0, lambda index, dim, acc: shape.add(acc, shape.mul(2, 3))), **SHAPES)
    assert "shape.const_size 6" in folded
    assert "mul" not in folded


def test_conversions_there_and_back():
    assert ops(lambda s: shape.index_to_size(shape.size_to_index(s)), s="!shape.size") == ["size_to_index"]
    # A negative index makes an invalid size, which ends the run: both stay.
    both = ["index_to_size", "size_to_index"]
    assert ops(lambda i: shape.size_to_index(shape.index_to_size(i)), i="index") == both


def test_any_is_decided_only_where_all_is_known():
    # At run time the shapes may contradict each other: then it is the first.
    assert "any" in ops(lambda a, b: shape.any(a, (2,)), **SHAPES)
    assert "const_shape [2, 3]" in text(lambda: shape.any((2, 3), (2, 3)))


def test_an_overflow_is_not_folded_away():
    assert "mul" in ops(lambda: shape.mul(2**62, 4))


def test_folding_twice_changes_nothing():
    folded = shape.program(
        "p", lambda a, b: shape.add(shape.rank(shape.concat(a, b)), shape.mul(2, 3)), **SHAPES
    ).fold()
    assert folded.fold() == folded


def test_any_is_not_folded_where_a_run_may_find_a_conflict():
    """On conflict the first operand is taken, so one that is known does not decide the result."""

    def body(v):
        return shape.any(v, v, shape.const_shape((1,), type="tensor<1xindex>"), type="tensor<?xindex>")

    program = shape.program("p", body, v="tensor<?xindex>")
    assert program.evaluate(None) == (1,)
    for extents in ((), (1,), (2,), (1, 1)):
        assert program.fold().run(extents) == program.run(extents) == extents


def test_nor_what_is_computed_of_it():
    """That the extents are valid does not say which they are."""

    def body(v):
        return shape.to_extent_tensor(shape.any(v, (2, 3)))

    program = shape.program("p", body, v="!shape.shape")
    assert program.fold().run((4,)) == program.run((4,)) == (4,)


def test_an_unused_predicate_ends_a_run_that_does_not_decide_it():
    """A run on unknown operands ends where it ended before; one of extents, which every run knows, is removed."""

    def function(a, b):
        shape.is_broadcastable(a, b)
        shape.shape_eq(a, a)
        return shape.rank(b)

    built = shape.program("f", function, a="!shape.shape", b="!shape.shape")
    for program in (built, built.fold()):
        assert program.run((3,), (2, 3)) == Size(2)
        for unknown in (None, (None, 3)):
            with pytest.raises(bg.BroadcastError, match=r"shape\.\w+ of %a = .* is not decided"):
                program.run(unknown, (2, 3))
    extents = shape.program("f", function, a="tensor<?xindex>", b="tensor<?xindex>")
    assert [operation.name for operation in extents.fold().body.operations] == ["shape.rank"]
