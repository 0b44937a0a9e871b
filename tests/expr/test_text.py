"""Expressions from text: the grammar that is allowed, and that nothing else gets through."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.errors import BcastgenError, DomainError, ParseError, RangeError
from bcastgen.expr.nodes import topological
from bcastgen.expr.text import MAX_TEXT, parse
from bcastgen.expr.trace import trace


@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("a*b + exp(c)", lambda a, b, c: a * b + np.exp(c)),
        ("-a**2 / ~b", lambda a, b: -(a**2) / ~b),
        ("where(a < b, a, 0.5)", lambda a, b: np.where(a < b, a, 0.5)),
        ("np.sin(a) + numpy.cos(a)", lambda a: np.sin(a) + np.cos(a)),
        ("np.pi * a + math.e", lambda a: np.pi * a + np.e),
        ("a.astype(float32) + b.astype('i1')", lambda a, b: a.astype(np.float32) + b.astype(np.int8)),
        ("float32(a)", lambda a: a.astype("f4")),
        ("asin(a) + pow(a, 2)", lambda a: np.arcsin(a) + np.power(a, 2)),
        ("a << 2 | b & 3 ^ 1", lambda a, b: a << 2 | b & 3 ^ 1),
        ("(a // b) % 5", lambda a, b: (a // b) % 5),
        ("0 < a <= 1", lambda a: np.logical_and(np.less(0, a), a <= 1)),
        ("a * (1 + 2**3)", lambda a: a * 9),
    ],
)
def test_text_means_what_the_function_does(text, function):
    names = tuple(operand.name for operand in parse(text).operands)
    assert str(parse(text)) == str(trace(function, names))


def test_operands_in_order_of_appearance():
    assert [operand.name for operand in parse("z*a + z + b").operands] == ["z", "a", "b"]


def test_given_names_are_a_closed_list():
    assert [operand.name for operand in parse("b", ("a", "b")).operands] == ["a", "b"]
    with pytest.raises(ParseError, match="unknown name 'c'; the operands are a, b"):
        parse("a + c", ("a", "b"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a +", "column 4: invalid syntax"),
        ("", "invalid syntax"),
        ("__import__('os').system('x')", "a str is not a number|only functions"),
        ("a.__class__", "no attribute '__class__'"),
        ("(lambda: 1)()", "only functions can be called|Lambda is not allowed"),
        ("[a for a in b]", "ListComp is not allowed"),
        ("f'{a}'", "JoinedStr is not allowed"),
        ("'a'", "a str is not a number"),
        ("None", "NoneType is not a number"),
        ("foo(a)", "unknown function 'foo'"),
        ("expp(a)", "did you mean exp"),
        ("summ(a)", "did you mean sum"),
        ("modff(a)", "did you mean modf"),
        ("nan_to_nums(a)", "did you mean nan_to_num"),
        ("cast(a)", "cast takes a dtype"),
        ("exp(a, b)", "exp takes 1 operand, got 2"),
        ("exp(x=a)", "by position"),
        ("a and b", "use &"),
        ("not a", "use &"),
        ("a if b else c", "use where"),
        ("a[0]", "indexing"),
        ("a @ b", "column 1: the operator @ is a matrix product, not element-wise; compute it outside the kernel"),
        ("a in b", "the operator in is of Python's objects, not element-wise"),
        ("a is not b", "the operator is not is of"),
        ("a > 1 && b", "column 7: && is no operator here; write &, which binds closer than comparisons"),
        ("a || b", r"column 3: \|\| is no operator here; write \|"),
        ("!a", "column 1: ! is no operator here; write ~"),
        ("a != !b", "column 6: ! is no operator here"),
        ("a !=", "invalid syntax"),
        ("(a := b)", "NamedExpr is not allowed"),
        ("exp(*a)", "Starred is not allowed"),
        ("a.astype(f32, b)", "astype takes"),
    ],
)
def test_everything_else_is_refused_with_its_column(text, message):
    with pytest.raises(ParseError, match=message):
        parse(text)


@pytest.mark.parametrize(
    "text",
    [
        "(" * 5000 + "a" + ")" * 5000,
        "-" * 200_000 + "a",
        "a" + "[0]" * 50_000,
        "9" * 10_000 + "+a",
        "a\0b",
        "\ud800",
        "a" * (MAX_TEXT + 1),
    ],
    ids=["parentheses", "minus", "subscripts", "digits", "nul", "surrogate", "long"],
)
def test_hostile_text_ends_in_an_error(text):
    with pytest.raises(BcastgenError):
        parse(text)


def test_a_very_long_sum_is_read_or_refused():
    # Python's own parser decides: 3.10 takes any depth here, later ones some thousands.
    try:
        expression = parse("+".join(["a"] * 70_000))
    except ParseError as error:
        assert "cannot be read" in str(error)
    else:
        assert len(topological(expression.results)) == 70_000


@pytest.mark.parametrize("text", ["a + 9**9**9", "a + (1 << 10**9)", "a + 10**400"])
def test_constants_cannot_grow_without_bounds(text):
    with pytest.raises(RangeError, match="out of bounds"):
        parse(text)


def test_a_constant_outside_its_domain_names_the_operation():
    with pytest.raises(DomainError, match=r"column 5: divide of the constants \[1, 0\]"):
        parse("a + 1/0")


def test_a_thousand_terms_are_fine():
    assert len(parse(" + ".join(f"a{at}" for at in range(1000))).operands) == 1000


def test_a_tuple_is_several_results():
    assert str(parse("(a + 1, b, a + 1)")).endswith("return t0, b, t0")
    with pytest.raises(ParseError, match="Tuple"):
        parse("()")
    with pytest.raises(ParseError, match="Tuple"):
        parse("a, (a, b)")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("astype(a, float32)", r"write x\.astype\(float32\)"),
        ("scipy.special.erf(a)", r"what scipy\.special\.erf is, text does not say; write erf\(\.\.\.\)"),
        ("max(a, b)", r"axis is a literal.*write maximum\(a, b\)"),
        ("a.tolist()", "tolist needs the values of an operand"),
    ],
)
def test_what_text_does_not_know_is_refused_with_the_cure(text, message):
    with pytest.raises(bg.ParseError, match=message):
        bg.from_text(text)
