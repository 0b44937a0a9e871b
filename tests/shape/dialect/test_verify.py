"""Programs that are not well formed: one clear error with the op and the operand in it."""

from __future__ import annotations

import pytest

from bcastgen.core.errors import BroadcastError
from bcastgen.shape.dialect.program import Block, Operation, Program, Value
from bcastgen.shape.dialect.types import INDEX, SHAPE, SIZE, WITNESS, parse_type

A, B = Value("a", SHAPE), Value("b", SHAPE)
R, S, N, W = Value("r", SHAPE), Value("s", SHAPE), Value("n", SIZE), Value("w", WITNESS)


def built(*operations, operands=(A, B), results=()):
    return Program("p", Block(tuple(operands), tuple(operations)), tuple(results))


def concat(a, b, result):
    return Operation("shape.concat", (a, b), (result,), location="model.py:7")


def refused(program, message, operand):
    with pytest.raises(BroadcastError, match=message) as caught:
        program.verify()
    assert caught.value.operand == operand


def test_a_program_built_by_hand():
    program = built(concat(A, B, R), results=[R]).verify()
    assert str(program.run((2,), (3,))) == "[2, 3]"


def test_use_before_definition():
    refused(
        built(concat(S, A, R), concat(A, B, S)),
        r"shape\.concat \(at model\.py:7\): operand 's' is used before its definition; reorder",
        "s",
    )


def test_cyclic_definitions():
    refused(
        built(concat(S, A, R), concat(R, B, S)), "operand 's' is used before its definition, a cyclic definition", "s"
    )
    refused(built(concat(R, A, R)), "operand 'r' is its own result, a cyclic definition", "r")
    inner = Block((), (concat(A, B, S), Operation("shape.assuming_yield", (S,))))
    refused(
        built(Operation("shape.assuming", (Value("s", SHAPE),), (R,), (), (inner,))),
        "operand 's' is defined by its own region, a cyclic definition",
        "s",
    )


def test_values_nobody_defines():
    refused(built(concat(A, S, R)), "operand 's' is not defined; define it by an operation", "s")
    refused(built(results=[S]), "program 'p' returns 's', which it does not define", "s")


def test_values_of_a_region_end_with_it():
    inner = Block((), (concat(A, B, S), Operation("shape.assuming_yield")))
    region = Operation("shape.assuming", (W,), (), (), (inner,))
    refused(
        built(region, concat(S, A, R), operands=(A, B, W)), "operand 's' is defined inside a region that has ended", "s"
    )


def test_one_name_is_one_value():
    refused(built(concat(A, B, R), concat(A, B, R)), "shape.concat: 'r' is defined twice", "r")
    refused(built(operands=(A, A)), "program 'p': 'a' is defined twice", "a")
    other = Value("a", SIZE)
    refused(
        built(Operation("shape.add", (other, other), (N,))),
        "operand 'a' has type !shape.size, but is defined with",
        "a",
    )


def test_wrong_operand_types():
    refused(
        built(Operation("shape.add", (A, B), (N,))),
        r"shape\.add: operand 'a' \(lhs\) has type !shape\.shape, expected !shape\.size or index",
        "a",
    )
    refused(
        built(Operation("shape.rank", (A,), (Value("i", INDEX),))),
        "result 'i' has type index, but operand 'a' of type !shape.shape may be invalid, .* make it !shape.size",
        "a",
    )
    refused(
        built(Operation("shape.rank", (A,), (R,))),
        "result 'r' has type !shape.shape, expected !shape.size or index",
        "r",
    )
    refused(built(Operation("shape.join", (A, N), (R,)), operands=(A, N)), "takes and returns values of one type", None)


def test_wrong_counts():
    refused(built(Operation("shape.concat", (A,), (R,))), "shape.concat: has 1 operands, expected 2: lhs, rhs", None)
    refused(built(Operation("shape.cstr_broadcastable", (A,), (W,))), "has 1 operands, expected 2 or more", None)
    refused(built(Operation("shape.concat", (A, B))), "shape.concat: has 0 results, expected 1", None)
    refused(built(Operation("shape.concat", (A, B), (R,), (), (Block(),))), "has 1 regions, expected 0", None)
    refused(built(Operation("shape.reduce", (A, A), (R,))), "shape.reduce: has 0 regions, expected 1", None)


def test_wrong_attributes():
    refused(built(Operation("shape.concat", (A, B), (R,), (("error", "x"),))), "attribute 'error' is unknown", None)
    refused(
        built(Operation("shape.broadcast", (A, B), (R,), (("error", 3),))), "attribute 'error' is 3, expected str", None
    )
    refused(built(Operation("shape.const_size", (), (N,), (("value", -1),))), "has the value -1, expected 0 to", None)
    refused(built(Operation("shape.const_size", (), (N,), (("value", True),))), "attribute 'value' is True", None)
    refused(
        built(Operation("shape.const_shape", (), (R,), (("shape", (1, "n")),))), "expected a tuple of integers", None
    )
    i1 = Value("c", parse_type("i1"))
    refused(
        built(
            Operation("arith.cmpi", (Value("i", INDEX),) * 2, (i1,), (("predicate", "lt"),)),
            operands=(Value("i", INDEX),),
        ),
        "attribute 'predicate' is 'lt', expected eq, ne, slt",
        None,
    )
    extents = Value("t", parse_type("tensor<3xindex>"))
    refused(
        built(Operation("shape.const_shape", (), (extents,), (("shape", (1, 2)),))), "has 2 extents, expected 3", None
    )
    refused(
        built(Operation("shape.const_shape", (), (R,), (("shape", (1,) * 65),))),
        "has 65 extents, expected at most 64",
        None,
    )


def test_unknown_ops():
    refused(
        built(Operation("shape.jion", (A, B), (R,))), "'shape.jion' is no op of the shape dialect; use one of", None
    )


def reduction(body, results=(N,)):
    initial = (Value("z", SIZE),)
    arguments = (Value("i", INDEX), Value("d", SIZE), Value("acc", SIZE))
    zero = Operation("shape.const_size", (), (Value("z", SIZE),), (("value", 0),))
    return built(
        zero, Operation("shape.reduce", (A, *initial), results, (), (Block(arguments, body),)), results=results
    )


def test_regions_that_yield_the_wrong_type():
    good = Operation("shape.yield", (Value("acc", SIZE),))
    reduction((good,)).verify()
    refused(
        reduction((Operation("shape.yield", (Value("i", INDEX),)),)),
        r"shape\.reduce: its region's shape\.yield yields index, expected !shape\.size \(operand 'i'\)",
        "i",
    )
    refused(reduction((Operation("shape.yield"),)), "yields nothing, expected !shape.size", None)
    refused(reduction(()), "its region ends in nothing, expected shape.yield", None)
    refused(
        reduction((Operation("shape.assuming_yield", good.operands),)), "ends in shape.assuming_yield, expected", None
    )
    refused(reduction((good, good)), "its region has shape.yield before its end", None)
    refused(reduction((good,), (R,)), "shape.reduce: it returns !shape.shape, expected !shape.size", "r")


def test_regions_that_take_the_wrong_types():
    block = Block((Value("i", INDEX), Value("d", INDEX)), (Operation("shape.yield"),))
    refused(built(Operation("shape.reduce", (A,), (), (), (block,))), "shape.reduce", None)
    zero = Operation("shape.const_size", (), (N,), (("value", 0),))
    refused(
        built(zero, Operation("shape.reduce", (A, N), (Value("x", SIZE),), (), (block,))),
        "shape.reduce: its region takes index, index, expected index, !shape.size, !shape.size",
        "d",
    )


def test_yields_stand_in_regions():
    refused(built(Operation("shape.yield", (A,))), "shape.yield: stands outside a region", None)


def test_names_of_programs():
    with pytest.raises(BroadcastError, match="program name 'a b' is no identifier"):
        Program("a b", Block(), ()).verify()
