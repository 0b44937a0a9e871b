"""Runs, evaluation on what is known, and verdicts; regions above all, since single ops are in the golden cases."""

from __future__ import annotations

import pytest

import bcastgen as bg
from bcastgen.core.errors import BroadcastError
from bcastgen.shape.dialect.interpret import Machine
from bcastgen.shape.dialect.values import UNKNOWN, UNRANKED, Shape, Size

shape = bg.shape


def num_elements(s):
    """The example of seed 002's text for reduce."""
    return shape.reduce(s, 1, lambda index, dim, acc: shape.mul(acc, dim))


COUNT = shape.program("shape_num_elements", num_elements, s="!shape.shape")


def test_reduce_computes_the_number_of_elements():
    assert COUNT.run((2, 3, 4)) == Size(24)
    assert COUNT.run(()) == Size(1)
    assert COUNT.evaluate((2, None)) == UNKNOWN
    assert COUNT.evaluate((2, 0)) == Size(0)


def test_reduce_of_an_unranked_shape_is_unknown_and_of_an_invalid_one_invalid():
    assert COUNT.evaluate(None) == UNKNOWN
    assert COUNT.run(Shape(error="lost")) == Size(error="lost")
    assert COUNT.check(None) is None
    assert COUNT.check(Shape(error="lost")) is False


def test_reduce_counts_dims_from_0():
    def weighted(s):
        return shape.reduce(s, 0, lambda index, dim, acc: shape.add(acc, shape.mul(index, dim)))

    assert shape.program("p", weighted, s="!shape.shape").run((5, 6, 7)) == Size(0 * 5 + 1 * 6 + 2 * 7)


def test_reduce_of_extents_computes_with_indices():
    def total(t):
        return shape.reduce(t, shape.constant(0), lambda index, dim, acc: shape.addi(acc, dim))

    built = shape.program("p", total, t="tensor<?xindex>")
    assert str(built.results[0].type) == "index"
    assert built.run((5, 6)) == 11
    assert built.evaluate(None) is None
    with pytest.raises(BroadcastError, match=r"operand 't' of program 'p' is \?, and a run needs numbers"):
        built.run(None)


def guarded(a, b):
    def body():
        return shape.debug_print(shape.broadcast(a, b))

    return shape.assuming(shape.cstr_broadcastable(a, b, error="batch sizes differ"), body)


GUARDED = shape.program("guarded", guarded, a="!shape.shape", b="!shape.shape")


def test_a_failed_witness_runs_nothing_after_it(capsys):
    assert GUARDED.run((2, 1), (3,)) == Shape.of(2, 3)
    assert capsys.readouterr().err == "[2, 3]\n"
    with pytest.raises(BroadcastError) as caught:
        GUARDED.run((2,), (3,))
    assert str(caught.value).startswith(
        "batch sizes differ: shape.cstr_broadcastable of %a = [2], %b = [3] does not hold (at test_interpret.py:"
    )
    assert capsys.readouterr().err == ""


def test_what_follows_the_region_does_not_run_either(capsys):
    def then(a, b):
        result = guarded(a, b)
        shape.debug_print(a)
        return result

    with pytest.raises(BroadcastError):
        shape.program("p", then, a="!shape.shape", b="!shape.shape").run((2,), (3,))
    assert capsys.readouterr().err == ""


def test_evaluation_prints_and_raises_nothing(capsys):
    assert GUARDED.evaluate((2,), (3,)) == Shape(error="batch sizes differ")
    assert GUARDED.evaluate((2, None), (3,)) == Shape.of(2, 3)
    assert capsys.readouterr().err == ""


def test_validity_without_raising():
    assert GUARDED.check((2, 1), (3,)) is True
    assert GUARDED.check((2,), (3,)) is False
    assert GUARDED.check((2, None), (3,)) is None
    assert GUARDED.check((None,), (1,)) is True


def test_the_first_failing_constraint_says_why():
    def two(a, b, c):
        both = shape.assuming_all(shape.cstr_eq(a, b, error="first"), shape.cstr_eq(a, c, error="second"))
        return shape.assuming(both, lambda: a)

    built = shape.program("p", two, a="!shape.shape", b="!shape.shape", c="!shape.shape")
    with pytest.raises(BroadcastError, match=r"^first: shape.cstr_eq of %a = \[2\], %b = \[3\]"):
        built.run((2,), (3,), (4,))
    with pytest.raises(BroadcastError, match=r"^second: shape.cstr_eq of %a = \[2\], %c = \[4\]"):
        built.run((2,), (2,), (4,))


def test_an_invalid_shape_says_where_it_became_so():
    def extents(a, b):
        return shape.to_extent_tensor(shape.concat(shape.broadcast(a, b, error="batch"), a))

    built = shape.program("p", extents, a="!shape.shape", b="!shape.shape")
    with pytest.raises(BroadcastError) as caught:
        built.run((2,), (3,))
    text = str(caught.value)
    assert text.startswith("batch: shape.broadcast of %a = [2], %b = [3] is invalid (at test_interpret.py:")
    assert text.endswith("; shape.to_extent_tensor needs a valid one")
    assert caught.value.operand == "1"


def test_an_invalid_operand_is_named():
    built = shape.program("p", lambda s: shape.size_to_index(s), s="!shape.size")
    with pytest.raises(
        BroadcastError, match=r"why: operand 's' is invalid; shape\.size_to_index needs a valid operand 's'"
    ):
        built.run(Size(error="why"))


def test_a_run_needs_what_it_decides():
    with pytest.raises(BroadcastError, match=r"shape.size_to_index of %s = \? is not decided"):
        shape.program("p", lambda s: shape.size_to_index(s), s="!shape.size").run(None)
    with pytest.raises(BroadcastError, match=r"shape\.assuming of %0 = undecided is not decided"):
        GUARDED.run((None,), (3,))
    # Sizes and shapes may stay unknown.
    assert shape.program("p", lambda s: shape.rank(s), s="!shape.shape").run(None) == UNKNOWN


def test_a_verdict_on_what_may_be_invalid_is_left_open():
    def compared(a):
        wide = shape.broadcast(a, (3,))
        return shape.shape_eq(wide, (3,)), shape.cstr_eq(wide, (3,)), wide

    built = shape.program("p", compared, a="!shape.shape")
    # The broadcast of [?] is [3] wherever it is valid; where it is not, it equals nothing.
    same, witness, wide = built.evaluate((None,))
    assert (same, witness.passing, wide) == (None, None, Shape.of(3))
    assert built.evaluate((1,))[0] is True
    assert built.run((2,))[0] is False


def test_operands_are_counted():
    with pytest.raises(BroadcastError, match=r"program 'guarded' got 1 operands, expected %a: !shape.shape, %b"):
        GUARDED.run((2,))


def test_a_run_can_be_followed():
    machine = Machine(running=True)
    machine.execute(COUNT, ((2, 3),))
    assert [operation.name for operation, _, _ in machine.trace] == [
        "shape.const_size",
        *["shape.mul"] * 2,
        "shape.reduce",
    ]


def test_unranked_operands():
    assert GUARDED.evaluate(None, (3,)) == UNRANKED
    assert GUARDED.check(None, ()) is True


def test_a_product_of_unknown_extents_may_overflow():
    built = shape.program("p", lambda s: shape.num_elements(s), s="!shape.shape")
    assert built.check((None, 3)) is None
    assert built.check((2, 3)) is True
    assert built.check((2**62, 3)) is False

    def compared(s):
        one = shape.from_extents(shape.num_elements(s))
        return shape.cstr_eq(one, one)

    # Equal to itself, unless it overflows: then no shape is there to be equal.
    assert shape.program("p", compared, s="!shape.shape").evaluate((None, 3)).passing is None


def test_a_reduction_of_a_shape_that_may_prove_invalid_may_end_the_run():
    """Its results cannot be invalid, so there may be none; the shape is broadcast from two that may not fit."""

    def function(a, b):
        return shape.reduce(shape.broadcast(a, b), shape.constant(7), lambda index, extent, state: state)

    program = shape.program("p", function, a="!shape.shape", b="!shape.shape")
    assert [program.check((None,), (2,)), program.check((2,), (2,))] == [None, True]
    assert program.check((3,), (2,)) is False
    with pytest.raises(BroadcastError, match=r"shape\.reduce needs a valid"):
        program.run((3,), (2,))
