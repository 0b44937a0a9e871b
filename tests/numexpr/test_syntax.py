"""Typed expressions: signatures and casts."""

import pytest

from bcastgen.numexpr.reading import read
from bcastgen.numexpr.syntax import postorder, typed


def ops(text, **kinds):
    return [node.opcode for node in typed(read(text, kinds)).allOf("op")]


def test_operands_are_cast_to_the_first_signature_that_takes_them():
    assert ops("a + b", a="int", b="float") == ["cast_fi", "add_fff"]
    assert ops("isnan(a)", a="int") == ["cast_fi", "isnan_bf"]
    assert ops("a * 2", a="double") == ["mul_ddd"]


def test_a_cast_may_take_two_steps():
    assert ops("sin(a)", a="bool") == ["cast_ib", "cast_fi", "sin_ff"]


def test_instructions_come_before_functions_and_leaves_are_copied():
    assert ops("sqrt(a)", a="double") == ["sqrt_dd"] and ops("sqrt(a)", a="complex") == ["sqrt_cc"]
    assert ops("a", a="bool") == ["copy_bb"] and ops("1") == ["copy_ii"]


def test_equal_nodes_are_one():
    root = typed(read("(a + 1) * (a + 1)", {}))
    assert root.children[0] is root.children[1] and len(postorder(root)) == 4


@pytest.mark.parametrize(
    ("text", "kinds", "name"),
    [
        ("a + b", {"a": "bytes", "b": "bytes"}, "'add_sss'"),
        ("a >= b", {"a": "bytes", "b": "int"}, "'ge_bsi'"),
        ("a > b", {"a": "complex", "b": "complex"}, "'gt_bcc'"),
        ("-a", {"a": "bool"}, "'neg_bb'"),
        ("sum(a)", {"a": "bool"}, "'sum_bbn'"),
    ],
)
def test_what_no_instruction_takes_is_refused_by_name(text, kinds, name):
    with pytest.raises(NotImplementedError, match=name):
        typed(read(text, kinds))


def test_a_reduction_is_last():
    assert ops("sum(a + 1)")[-1] == "sum_ddn"
    with pytest.raises(RuntimeError, match="must occur last"):
        typed(read("sum(a) + 1", {}))


def test_long_expressions_do_not_recurse():
    root = read("a", {})
    for _ in range(5000):
        root = root + 1.5
    assert typed(root).opcode == "add_ddd"
