"""Expressions as flat tuples: the same expression comes back, with its sharing, its ops and its names."""

import pickle

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.errors import BcastgenError
from bcastgen.expr.flat import flattened, restored
from bcastgen.expr.nodes import topological
from bcastgen.expr.text import parse
from bcastgen.expr.trace import trace
from bcastgen.ops.table import OPS


@pytest.mark.parametrize(
    "text",
    [
        "a",
        "a*b + exp(a*b)",
        "(a, a + 1, 2.5 * b)",
        "where(a > 0, -0.0, a) ** 2",
        "x.astype('f4')[:, None] + y.T",
        "transpose(x, (1, 0)) + True",
    ],
)
def test_the_same_expression_comes_back(text):
    expression = parse(text)
    flat = flattened(expression)
    again = restored(pickle.loads(pickle.dumps(flat)))
    assert str(again) == str(expression)
    assert flattened(again) == flat
    assert len(topological(again.roots)) == len(topological(expression.roots))


def test_constants_keep_type_and_sign():
    expression = trace(lambda x: (x + np.float32(0.1), x * -0.0, x + True, x + 2, x * np.inf), ("x",))
    assert str(restored(flattened(expression))) == str(expression)


def test_operands_that_nothing_reads_stay():
    expression = trace(lambda a, b: b + 1, ("a", "b"))
    assert [operand.name for operand in restored(flattened(expression)).operands] == ["a", "b"]


def test_depth_costs_no_recursion():
    def deep(x):
        for _ in range(5000):
            x = x + 1 - x
        return x

    flat = flattened(trace(deep, ("x",)))
    assert str(restored(pickle.loads(pickle.dumps(flat)))) == str(trace(deep, ("x",)))


def test_rows_of_the_table_are_names_and_come_back_as_the_rows():
    flat = flattened(parse("sin(a) + b"))
    assert flat[1] == ("sin", "add")
    assert all(node.op is OPS[node.op.name] for node in topological(restored(flat).results) if hasattr(node, "op"))


def test_an_op_that_is_missing_is_refused_by_name():
    flat = list(flattened(parse("sin(a)")))
    flat[1] = ("sine",)
    with pytest.raises(BcastgenError, match="no op 'sine'"):
        restored(tuple(flat))


def test_ops_with_shape_functions_keep_their_sizings():
    outer = bg.define_op(
        "flat_outer",
        "a, b",
        c="a - b",
        shape=lambda a, b: bg.shape.concat(a, b),
        maps=["(d0, d1) -> (d0)", "(d0, d1) -> (d1)"],
    )
    expression = bg.jit(lambda a, b, c: outer(a + 1, b) * c).expression
    again = restored(pickle.loads(pickle.dumps(flattened(expression))))
    assert str(again) == str(expression)
    assert again.sizings[0].op is expression.sizings[0].op
