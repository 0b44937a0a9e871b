"""Operations in generic form, regions, and the rules of names: one definition, in sight, of the type its uses say."""

import pytest

from bcastgen.core.errors import ParseError
from bcastgen.mlir.ir import Source
from bcastgen.mlir.read.forms import find_form
from bcastgen.mlir.read.operations import Operations
from bcastgen.mlir.read.parser import parse_module


def operation(text):
    reader = Operations(Source("m", text), find_form)
    found = reader.parse()
    assert reader.lexer.kind == "end"
    return found


def body(text):
    return parse_module(f"func.func @f(%a: i1, %b: index) {{\n{text}\nreturn }}").functions[0].body.operations


def test_an_operation_of_an_unknown_dialect():
    found = operation(
        '%0:2, %x = "x.y"() <{p = 1 : i8}> ({}, {^bb0(%a: i1): }) {q} : () -> (i1, index, !a.b<2>) loc("f":1:2)'
    )
    assert (found.name, str(found.location.column)) == ("x.y", "12")
    assert [(value.name, value.type.text) for value in found.results] == [
        ("0#0", "i1"),
        ("0#1", "index"),
        ("x", "!a.b<2>"),
    ]
    assert found.attributes["p"].value == 1
    assert found.attributes["q"] is True
    assert [len(region.arguments) for region in found.regions] == [0, 1]


def test_results_of_several_are_named_by_number():
    found = body('%0:2 = "x.y"() : () -> (i1, index)\n"x.z"(%0, %0#0, %0#1, %a#0) : (i1, i1, index, i1) -> ()')
    first, second = found[0].results
    assert found[1].operands[:3] == (first, first, second)
    assert found[1].operands[3].name == "a"


def test_results_without_a_name():
    assert [value.name for value in body('"x.y"() : () -> (i1, i1)')[0].results] == ["", ""]


def test_regions_see_the_values_around_them_and_keep_their_own():
    found = body(
        '"x.y"() ({\n %c = "x.z"(%a) : (i1) -> i1\n }, {\n %c = "x.z"(%a) : (i1) -> i1\n }) : () -> ()\n'
        '%c = "x.z"(%b) : (index) -> i1'
    )
    inner = [region.operations[0] for region in found[0].regions]
    assert inner[0].operands == inner[1].operands
    assert inner[0].results != inner[1].results


def test_functions_see_nothing_around_them():
    text = '%a = "x.y"() : () -> i1\nfunc.func @f() { %a = "x.y"() : () -> index return }\n"x.z"(%a) : (i1) -> ()'
    assert len(parse_module(text).functions) == 1
    with pytest.raises(ParseError, match="use of '%a', which is not defined before"):
        parse_module('%a = "x.y"() : () -> i1\nfunc.func @f() { "x.z"(%a) : (i1) -> () return }')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            '%c = "x.y"() : () -> i1\n%c = "x.y"() : () -> i1',
            "3:1: error: redefinition of '%c'\n%c = \"x.y\"() : () -> i1\n^",
        ),
        (
            '%a:2 = "x.y"() : () -> (i1, i1)',
            "2:1: error: redefinition of '%a'\n%a:2 = \"x.y\"() : () -> (i1, i1)\n^",
        ),
        (
            '"x.y"(%c) : (i1) -> ()',
            "2:7: error: use of '%c', which is not defined before\n\"x.y\"(%c) : (i1) -> ()\n      ^",
        ),
        (
            '"x.y"(%a,\n  %a) : (i1, index) -> ()',
            "3:3: error: %a is of type i1, but is used here as index\n  %a) : (i1, index) -> ()\n  ^",
        ),
    ],
)
def test_rules_of_names_show_the_place(text, message):
    with pytest.raises(ParseError) as caught:
        parse_module(f"func.func @f(%a: i1, %b: index) {{\n{text}\nreturn }}", "m")
    assert str(caught.value) == f"m:{message}"


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ('"x.y"() ({ %a = "x.z"() : () -> i1 }) : () -> ()', 12, "redefinition of '%a'"),
        ('"x.y"() ({ ^bb0(%a: i1): }) : () -> ()', 17, "redefinition of '%a'"),
        ('"x.y"() ({ ^bb0(%c: i1, %c: i1): }) : () -> ()', 25, "redefinition of '%c'"),
        ('%c = "x.y"(%c) : (i1) -> i1', 12, "use of '%c', which is not defined before"),
        ('"x.y"() ({ %c = "x.y"() : () -> i1 }) : () -> () "x.y"(%c) : (i1) -> ()', 56, "use of '%c'"),
        ('%c:2 = "x.y"() : () -> (i1, i1) "x.y"(%c#2) : (i1) -> ()', 39, "%c has no result number 2"),
        ('"x.y"(%a#1) : (i1) -> ()', 7, "%a has no result number 1"),
        ('%c#0 = "x.y"() : () -> i1', 1, "a result's name has no '#', found '%c#0'"),
        ('%c:0 = "x.y"() : () -> i1', 4, "expected a number of results of 1 or more, found '0'"),
        ('%c:9999999999 = "x.y"() : () -> i1', 4, "expected a number of results of 1 or more, found '9999999999'"),
        ('%c, %d = "x.y"() : () -> i1', 1, "'x.y' has 1 result, and 2 names for them"),
        ('%c = "x.y"() : () -> ()', 1, "'x.y' has 0 results, and 1 name for them"),
        ('%c:3 = "x.y"() : () -> (i1, i1)', 1, "'x.y' has 2 results, and 3 names for them"),
        ('"x.y"(%a) : () -> ()', 1, "'x.y' has 1 operand, and 0 types for them"),
        ('"x.y"(%a, %b) : (i1) -> ()', 1, "'x.y' has 2 operands, and 1 type for them"),
        ('"x.y"(%a, ) : (i1) -> ()', 11, "expected an operand such as %0, found ')'"),
        ('"x.y"() [^bb1] : () -> ()', 9, "'x.y' has successors, which are not read here"),
        ('"x.y"() ({ ^a: "x.z"() : () -> () ^b: }) : () -> ()', 35, "a region of several blocks is not read here"),
        ('"x.y"() <{a = 1}> {a = 1} : () -> ()', 19, "'x.y' has the attribute 'a' twice"),
        ('"x.y"() <{a = 1} : () -> ()', 18, "expected '>', found ':'"),
        ('"x.y"() : i1', 11, "expected '(', found 'i1'"),
        ('"x.y"() : () i1', 14, "expected '->', found 'i1'"),
        ('"x.y"() : () -> () loc 3', 24, "expected '(' behind 'loc', found '3'"),
        ('"x.y"', 6, "expected '(', found the end of the text"),
        ('%c "x.y"()', 4, "expected ',', found '\"x.y\"'"),
        ("%c = 3", 6, "expected an operation, found '3'"),
        (
            "%c = linalg.generic {a = 1}",
            6,
            "'linalg.generic' has a custom form that is not read here; "
            "print the module in generic form (mlir-opt --mlir-print-op-generic)",
        ),
        ("tosa.while_loop (%a)", 1, "'tosa.while_loop' has a custom form that is not read here"),
        ('"x.y"() ({' * 5000, 1000, "nested deeper than 100 levels"),
    ],
)
def test_faults(text, column, message):
    head = "func.func @f(%a: i1, %b: index) {\n"
    with pytest.raises(ParseError) as caught:
        parse_module(head + text + ("\nreturn }" if len(text) < 1000 and text != '"x.y"' else ""), "m")
    assert str(caught.value).startswith(f"m:2:{column}: error: {message}")
