"""Programs without their element types compute what they computed with them."""

from __future__ import annotations

import random

import pytest

import shape_programs
from bcastgen.core.errors import BroadcastError
from bcastgen.shape.dialect.erase import without_element_types
from bcastgen.shape.dialect.interpret import Machine
from bcastgen.shape.dialect.ops import ROWS
from bcastgen.shape.dialect.trace import op, program
from bcastgen.shape.dialect.types import ELEMENT_TYPE


def outcome(made, operands):
    try:
        return [(one.value, one.cause) for one in Machine(running=True).execute(made, operands)]
    except BroadcastError as error:
        return str(error)


def test_random_programs():
    chance = random.Random(5)
    with_types = runs = 0
    for _ in range(900):
        made = shape_programs.make_program(chance)
        try:
            erased = without_element_types(made)
        except BroadcastError as error:
            assert "takes element types" in str(error)
            continue
        assert "element_type" not in str(erased)
        with_types += "element_type" in str(made)
        for _ in range(3):
            operands = shape_programs.make_operands(chance, made)[0]
            kept = [x for x, value in zip(operands, made.operands, strict=True) if value.type != ELEMENT_TYPE]
            before, after = outcome(made, operands), outcome(erased, kept)
            if not isinstance(before, str):
                before = [x for x, value in zip(before, made.results, strict=True) if value.type != ELEMENT_TYPE]
                runs += 1
            assert before == after, made
    assert with_types > 80 and runs > 300


def test_regions_lose_them():
    def body(a, t):
        def longer(_, extent, so_far, type_):
            return op("concat")(so_far, op("from_extents")(extent)), op("join")(type_, t)

        shape, type_ = op("reduce")(a, op("const_shape")((), type="!shape.shape"), t, longer)
        return op("assuming")(op("cstr_eq")(a, shape), lambda: (shape, type_))

    made = program("loops", body, a="!shape.shape", t="!shape.element_type")
    erased = without_element_types(made)
    assert str(erased.run((2, 3))) == "[2, 3]"
    assert str(made.run((2, 3), "f32")[0]) == "[2, 3]"


def test_no_op_makes_anything_else_of_an_element_type():
    takers = [row.name for row in ROWS.values() if any("element_type" in each.kinds for each in row.parameters)]
    assert takers == ["shape.join", "arith.select"]  # both give one


def test_a_loop_over_dims_that_only_joins_types_is_refused():
    def body(a, t):
        return op("rank")(a), op("reduce")(a, t, lambda _at, _extent, so_far: op("join")(so_far, t))

    made = program("loops", body, a="!shape.shape", t="!shape.element_type")
    with pytest.raises(BroadcastError, match=r"shape\.reduce .* takes element types, and has no form without them"):
        without_element_types(made)
