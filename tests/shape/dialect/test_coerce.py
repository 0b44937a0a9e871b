"""Callers may write tuples, numbers, arrays and text for operands of shape programs."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.dtypes import F32
from bcastgen.core.errors import BroadcastError
from bcastgen.shape.dialect.coerce import coerce
from bcastgen.shape.dialect.program import Value
from bcastgen.shape.dialect.types import parse_type
from bcastgen.shape.dialect.values import UNRANKED, ElementType, Shape, Size, ValueShape, Witness, show
from bcastgen.shape.types.tensor_type import parse_type as parse_tensor_type

shape = bg.shape


def given(type_, value, running=False):
    return coerce(Value("a", parse_type(type_)), value, running)


@pytest.mark.parametrize(
    ("type_", "value", "wanted"),
    [
        ("!shape.shape", (2, None), Shape.of(2, None)),
        ("!shape.shape", [2], Shape.of(2)),
        ("!shape.shape", "[?, 3]", Shape.of(None, 3)),
        ("!shape.shape", "[*]", UNRANKED),
        ("!shape.shape", None, UNRANKED),
        ("!shape.shape", Shape(error="why"), Shape(error="why")),
        ("!shape.size", np.int32(3), Size(3)),
        ("!shape.element_type", "f32", ElementType(F32)),
        ("!shape.element_type", np.float32, ElementType(F32)),
        ("!shape.witness", True, Witness(True)),
        ("!shape.value_shape", np.zeros((2, 3)), ValueShape(np.zeros((2, 3)))),
        ("!shape.value_shape", Shape.of(None), ValueShape(None, Shape.of(None))),
        ("!shape.value_shape", "f32[?, 3]", ValueShape(None, Shape.of(None, 3))),
        ("index", -3, -3),
        ("i1", np.True_, True),
        ("tensor<?xindex>", (2, None), (2, None)),
        ("tensor<2xindex>", None, (None, None)),
        ("f32[?, 3]", np.zeros((2, 3)), Shape.of(2, 3)),
        ("f32[?, 3]", (2, 3), Shape.of(2, 3)),
        ("f32[?, 3]", "f32[*]", Shape.of(None, 3)),
        ("f32[?, 3]", None, Shape.of(None, 3)),
        ("f32[]", 7.0, Shape()),
    ],
)
def test_what_stands_for_a_value(type_, value, wanted):
    assert given(type_, value) == wanted


@pytest.mark.parametrize(
    ("type_", "value", "message"),
    [
        ("!shape.shape", 3, "operand 'a' is 3, expected a value of type !shape.shape"),
        ("!shape.shape", (2, -1), "operand 'a': dim 1 of a shape, -1 is no extent"),
        ("!shape.size", -1, "operand 'a': size -1 is no extent"),
        ("!shape.size", 1.5, "operand 'a': size 1.5 is no extent"),
        ("!shape.witness", 1, "operand 'a' is 1, expected a value of type !shape.witness"),
        ("index", 2**63, "operand 'a' is 9223372036854775808, expected a value of type index"),
        ("i1", 1, "operand 'a' is 1, expected a value of type i1"),
        ("tensor<2xindex>", (1, 2, 3), r"operand 'a' is \[1, 2, 3\], expected a value of type tensor<2xindex>"),
        ("tensor<?xindex>", (-1,), "operand 'a': dim 0 of a shape, -1 is no extent"),
        ("f32[?, 3]", np.zeros((2, 4)), r"operand 'a' is \[2, 4\], expected a value of type tensor<\?x3xf32>"),
        ("f32[?, 3]", Shape(error=""), r"operand 'a' is \[invalid\], expected"),
    ],
)
def test_what_does_not(type_, value, message):
    with pytest.raises(BroadcastError, match=message) as caught:
        given(type_, value)
    assert caught.value.operand == "a"


def test_a_function_is_called_when_the_program_runs():
    assert given("!shape.value_shape", lambda: np.zeros(4)) == ValueShape()
    assert given("!shape.value_shape", lambda: np.zeros(4), running=True).shape == Shape.of(4)


SHAPES = {"a": "!shape.shape", "b": "!shape.shape"}


def test_what_prints_as_invalid_reads_back():
    program = shape.program("p", lambda a, b: shape.broadcast(a, b), **SHAPES)
    assert str(program.evaluate("[*]", "[invalid]")) == "[invalid]"
    assert program.check("[2]", " [ invalid ] ") is False
    for type_ in ("f32[?]", "tensor<?xindex>"):
        with pytest.raises(BroadcastError, match=r"operand 't' is \[invalid\], expected a value of type"):
            shape.program("p", lambda t: t, t=type_).evaluate("[invalid]")


@pytest.mark.parametrize(
    "text", ["[n, 4]", "[n<=64, 4]", "[m + 2*n, min(m, n)]", "[n, n%8]", "[?>=2, 4]", "f32[?, m%8]", "tensor_type"]
)
def test_names_and_facts_are_kept(text):
    given = parse_tensor_type("f32[n, 3]") if text == "tensor_type" else text
    wanted = {"[n, n%8]": "[n%8, n%8]", "f32[?, m%8]": "[?, m%8]", "tensor_type": "[n, 3]"}.get(text, text)
    for type_ in ("!shape.shape", "f32[?, ?]", "tensor<?xindex>"):
        program = shape.program("p", lambda a: a, a=type_)
        result = program.evaluate(given)
        assert show(result) == wanted
        # What prints reads back: an extent that has no name stays one without.
        assert show(program.evaluate(show(result))) == wanted
    assert show(shape.program("p", lambda a: a, a="!shape.value_shape").evaluate(given)) == f"(?, {wanted})"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[k!, 4]", "says k! of a dim, and how a dim stretches is no fact of a shape; write k$"),
        ("[?~]", "says .~ of a dim, and how a dim stretches"),
        ("[*, k]", r"says k of a dim, and a shape of unknown rank has no dims; write \[\*\]$"),
        ("[-n - 1]", r"dim 0 is -n - 1, which is less than 0 for all extents; write one that may be more"),
        ("[*, ?>=2]", r"says .>=2 of a dim, and a shape of unknown rank has no dims"),
    ],
)
def test_what_a_shape_cannot_say_is_refused(text, message):
    for type_ in ("!shape.shape", "f32[?, ?]", "tensor<?xindex>", "!shape.value_shape"):
        program = shape.program("p", lambda a: a, a=type_)
        with pytest.raises(BroadcastError, match=f"^operand 'a': ('.*' )?{message}"):
            program.evaluate(text)


@pytest.mark.parametrize("type_", ["f32[n, 4]", "f32[?>=2]", "f32[*, m!]", "[n]"])
def test_the_type_of_a_programs_operand_has_no_names(type_):
    with pytest.raises(bg.BcastgenError, match=r"does not hold; write \? there, and give names and facts where"):
        shape.program("p", lambda a: a, a=type_)


def test_a_name_is_one_extent_in_all_operands():
    program = shape.program("p", lambda a, b: (a, b), **SHAPES)
    assert list(map(str, program.evaluate("[n>=2]", "[n<=64, m]"))) == ["[n>=2<=64]", "[n>=2<=64, m]"]
    assert list(map(str, program.evaluate("[n>=8]", "[n<=8]"))) == ["[8]", "[8]"]
    with pytest.raises(BroadcastError, match=r"operand 'b' is \[n<=2\], where n>=8 says something else of n; widen"):
        program.evaluate("[n>=8]", "[n<=2]")
    # An extent without a name is one extent in one operand, and another in the next.
    equal = shape.program("p", lambda a, b: (shape.shape_eq(a, a), shape.shape_eq(a, b)), **SHAPES)
    assert equal.evaluate("[?>=2]", "[?>=2]") == (True, None)


def test_extents_as_text():
    program = shape.program("p", lambda a: a, a="tensor<?xindex>")
    assert [program.evaluate(text) for text in ("[2, 3]", "[?, 3]", "[*]")] == [(2, 3), (None, 3), None]
    assert shape.program("p", lambda a: a, a="tensor<2xindex>").evaluate("[*]") == (None, None)
    with pytest.raises(BroadcastError, match="expected a value of type tensor<2xindex>"):
        shape.program("p", lambda a: a, a="tensor<2xindex>").evaluate("[1, 2, 3]")
