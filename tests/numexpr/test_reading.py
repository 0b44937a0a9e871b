"""Texts of NumExpr's language: what is read, and what is refused with which error."""

import inspect
import sys

import numpy as np
import pytest

import bcastgen.numexpr as ne
from bcastgen.numexpr.expressions import ConstantNode
from bcastgen.numexpr.reading import check_text, read


@pytest.mark.parametrize(
    "text",
    [
        *("__builtins__", "lambda x: x", 'locals()["evaluate"]', "import os;", "os. cpu_count()", "a.b", "a .real.b"),
        *("(3+1).ᵇit_length()", "().__class__", "a[0]", "a.__class__", "{1:2}", "x.e5.f"),
    ],
)
def test_what_is_no_expression_is_forbidden(text):
    with pytest.raises(ValueError, match="forbidden control characters"):
        check_text(text)


@pytest.mark.parametrize(
    "text",
    [
        *("a*2.e-5", "a*2.2e5", "2.+a", "c.real", "c . imag", "1.5j", "3.j", "1.2e3+4.5e6j", "x == 'b:'", ".5*a"),
        *("__pd_eval_local_x + 1", "a__b", "x == ';'"),
    ],
)
def test_numbers_parts_and_texts_are_allowed(text):
    check_text(text)
    read(text, {})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("1 + 1", 2), ("2**40", 2**40), ("7.0 < 5", False), ("1 < 2 < 3", True), ("3 < 2 < a", False)),
        *(("1 if 2 > 1 else a", 1), ("0 or 5", 5), ("2 and 3", 3), ("not 1", False), ("(1+2j).imag", 2.0)),
        *(("~5", -6), ("-3 // 2", -2), ("'x'", "x")),
    ],
)
def test_numbers_are_pythons(text, value):
    made = read(text, {})
    assert isinstance(made, ConstantNode) and made.value == value and type(made.value) is type(value)


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("a and b", TypeError, "'&' instead of 'and'"),
        ("a < b < c", TypeError, "standard boolean"),
        ("not a", TypeError, "standard boolean"),
        ("a if b else c", TypeError, "standard boolean"),
        ("a < [0, 0]", TypeError, "List; pass an array by its name"),
        ("foo(a)", TypeError, "'foo' is no function; there are abs, arccos"),
        ("sum", TypeError, "unsupported expression type"),
        ("None", TypeError, "unsupported expression type"),
        ("a @ b", TypeError, "MatMult is no operator of elements"),
        ("a.b", ValueError, "Attribute is not allowed"),
        ("a[0]", ValueError, "Subscript is not allowed"),
        ("(lambda: 1)()", ValueError, "by their names"),
        ("sum(a, **b)", ValueError, "one by one"),
        ("1/0", ZeroDivisionError, "division"),
        ("9**9**9", OverflowError, "use a float"),
        ("2 +", SyntaxError, "invalid syntax"),
        ("import os", SyntaxError, "invalid syntax"),
        ("sin(a, foo=1)", TypeError, "foo"),
    ],
)
def test_the_rest_is_refused_without_being_run(text, error, words):
    with pytest.raises(error, match=words):
        read(text, {})


def test_kinds_of_variables_decide():
    assert read("a + 1", {"a": "float"}).astKind == "float"
    assert read("a + 1", {}).astKind == "double"
    assert read("a**2", {}, "aggressive").value == "mul" and read("a**2", {}).value == "pow"


def test_a_variable_is_one_node():
    made = read("a + a", {})
    assert made.children[0] is made.children[1]


def test_what_is_nested_deeper_than_python_calls_is_refused() -> None:
    """Python's parser takes more than that since 3.13 always, and before where few calls are left."""
    limit, depth = sys.getrecursionlimit(), len(inspect.stack(0))
    try:
        sys.setrecursionlimit(depth + 80)
        with pytest.raises(ValueError, match="the expression cannot be read"):
            read("-" * 150 + "a", {})
    finally:
        sys.setrecursionlimit(limit)
    assert read("-" * 150 + "a", {}).astKind == "double"


@pytest.mark.parametrize("text", ["'x'*10**9", "10**9*'x'", "b'x'*10**9", "'%1000000000d' % 5", "'%s' % a"])
def test_text_is_not_repeated_or_formatted(text):
    for whole in (text, f"contains({text}, 'y')"):
        with pytest.raises(TypeError, match="text has no operator"):
            ne.evaluate(whole, {"a": np.ones(2)}, {})
