"""What two branches have in common, and `scf.if`, which is known by it while its condition is open."""

from __future__ import annotations

import itertools

import pytest

from bcastgen.core.dtypes import F32, I64
from bcastgen.core.errors import BroadcastError, TraceError
from bcastgen.shape.dialect.either import either
from bcastgen.shape.dialect.trace import op, program
from bcastgen.shape.dialect.values import ElementType, Shape, Size, ValueShape, Witness, instance_of
from bcastgen.shape.types.extent_expr import named

FAMILIES = [
    [Shape.of(2, 3), Shape.of(2, 4), Shape.of(None, 3), Shape.of(2), Shape(unranked=True), Shape(error="a"), Shape()],
    [Size(2), Size(3), Size(), Size(error="a")],
    [Witness(True), Witness(False, "a"), Witness(False, "b"), Witness()],
    [ElementType(F32), ElementType(I64), ElementType(), ElementType(error="a")],
    [ValueShape([2]), ValueShape([3]), ValueShape(None, Shape.of(None)), ValueShape(None, Shape.of(1, 2))],
    [(2, 3), (2, 4), (None, 3), (2,), None],
    [1, 2, None],
    [True, False, None],
]


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: type(family[0]).__name__)
def test_both_are_instances_and_nothing_more_specific_has_both(family):
    for a, b in itertools.product(family, repeat=2):
        common = either(a, b)
        assert instance_of(a, common) and instance_of(b, common), (a, b)
        for other in family:
            if instance_of(a, other) and instance_of(b, other):
                assert instance_of(common, other), (a, b, other)


def test_a_number_that_a_name_may_stand_for_is_not_its_extent():
    n = named("n")
    assert either(Shape.of(n, 2), Shape.of(4, 2)) == Shape.of(None, 2)
    assert either(Shape.of(n, 2), Shape.of(n, 3)) == Shape.of(n, None)
    assert either(Size(n), Size(4)) == Size() != either(Size(n), Size(n)) == Size(n)


def choice(first, second, **operands):
    return program("choice", lambda p, **rest: op("if_")(p, first(**rest), second(**rest)), p="i1", **operands)


def test_a_run_takes_one_branch():
    sized = choice(lambda a: lambda: op("rank")(a), lambda a: lambda: op("num_elements")(a), a="!shape.shape")
    assert sized.run(True, (2, 3)) == Size(2)
    assert sized.run(False, (2, 3)) == Size(6)
    assert sized.evaluate(None, (2, 1)) == Size(2)
    assert sized.evaluate(None, (2, 3)) == Size()
    with pytest.raises(BroadcastError, match=r"operand 'p' of program '\w+' is \?, and a run needs numbers"):
        sized.run(None, (2, 3))


def test_what_fails_in_one_branch_may_not_be_run():
    strict = choice(
        lambda a: lambda: op("assuming")(op("cstr_eq")(a, (1,), error="not 1"), lambda: a),
        lambda a: lambda: a,
        a="!shape.shape",
    )
    assert strict.run(False, (2,)) == Shape.of(2)
    assert (strict.check(None, (2,)), strict.check(True, (2,)), strict.check(None, (1,))) == (None, False, True)
    with pytest.raises(BroadcastError, match="not 1"):
        strict.run(True, (2,))
    assert "scf.if" in str(strict.fold())


def test_a_condition_that_is_known_leaves_one_branch():
    ranks = program(
        "ranks",
        lambda a: op("if_")(op("cmpi")(op("constant")(1), 2, predicate="slt"), lambda: op("rank")(a), lambda: 7),
        a="!shape.shape",
    )
    (only,) = ranks.fold().body.operations
    assert only.name == "shape.rank"


def test_branches_yield_the_same_types():
    with pytest.raises(BroadcastError, match=r"scf\.if.* its region's scf\.yield yields"):
        choice(lambda a: lambda: a, lambda a: lambda: op("rank")(a), a="!shape.shape")
    with pytest.raises(TraceError, match=r"scf\.if has 2 regions; pass a Python function for each"):
        program("one", lambda p: op("if_")(p, lambda: 1), p="i1")
