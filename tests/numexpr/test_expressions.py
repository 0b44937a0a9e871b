"""Expressions of NumExpr's: nodes, their kinds, and what operators make of constants."""

import numpy as np
import pytest

import bcastgen.numexpr as ne
from bcastgen.numexpr.expressions import ConstantNode, E, OpNode, RawNode, VariableNode, common_kind, context, functions


@pytest.fixture
def aggressive():
    before, context.optimization = context.optimization, "aggressive"
    yield
    context.optimization = before


def variable(kind):
    return VariableNode("a", kind)


def test_a_value_has_the_last_kind_of_its_operands():
    assert (variable("long") + variable("float")).astKind == "float"
    assert (variable("float") + 2).astKind == "float"
    assert (variable("float") + 2.0).astKind == "double"
    assert (variable("int") / variable("int")).astKind == "double"
    assert (variable("int") < 2).astKind == "bool"


def test_operators_keep_their_operands_order():
    made = 7 - E.a
    assert made.value == "sub" and [child.value for child in made.children] == [7, "a"]
    assert [child.value for child in (E.a > 2).children] == ["a", 2]
    assert (E.a < 2).value == "gt" and (E.a <= 2).value == "ge"


def test_sums_of_bools_are_or_and_products_are_and():
    assert (variable("bool") + variable("bool")).value == "or"
    assert (variable("bool") * variable("bool")).value == "and"


def test_constants_are_computed_at_once():
    assert isinstance(ConstantNode(3) + 4, ConstantNode)
    assert functions["sqrt"](4).value == 2 and functions["sqrt"](4).astKind == "double"
    assert (-ConstantNode(2)).value == -2 and ConstantNode(1 + 2j).imag.value == 2.0
    assert functions["where"](True, E.a, 2).value == "a"


def test_functions_of_integers_are_doubles_but_for_a_few():
    assert functions["sin"](variable("int")).astKind == "double"
    assert [functions[name](variable("int")).astKind for name in ("round", "sign", "copy", "abs")] == [
        *("int", "int", "int", "double")
    ]
    assert functions["sin"](variable("float")).astKind == "float"
    assert functions["maximum"](variable("float"), 1).astKind == "double"
    assert functions["isnan"](variable("float")).astKind == "bool"
    assert functions["conj"](variable("float")).astKind == "complex"


@pytest.mark.usefixtures("aggressive")
def test_whole_powers_are_products():
    assert (variable("int") ** 3).value == "mul" and (variable("int") ** 3).astKind == "int"
    assert (variable("int") ** 0).value == "ones_like"
    assert (variable("int") ** 2.5).astKind == "double"
    assert (variable("float") ** -1.0).value == "div"
    assert (E.a**51).value == "pow"
    with pytest.raises(ValueError, match="negative integer powers"):
        variable("int") ** -1


@pytest.mark.usefixtures("aggressive")
def test_a_quotient_by_a_constant_is_a_product_where_kinds_are_alike():
    assert (E.a / 4.0).value == "mul" and (E.a / 4).value == "div" and (E.a / 0.0).value == "div"


def test_without_optimization_ops_are_as_written():
    assert (E.a**2).value == "pow" and (E.a / 4.0).value == "div"


@pytest.mark.parametrize("optimization", ["none", "moderate", "aggressive"])
@pytest.mark.parametrize("exponent", [-1.0, 0, 0.5, 1, 2, 3, 2.5, 51])
def test_powers_are_numpys_however_they_are_optimised(optimization, exponent):
    x = np.array([0.5, 1.0, 2.25, 4.0])
    found = ne.evaluate(f"x**{exponent}", {"x": x}, {}, optimization=optimization)
    np.testing.assert_allclose(found, x**exponent, rtol=1e-14)


def test_axes_are_checked():
    assert isinstance(functions["sum"](E.a, 1).children[1], RawNode)
    assert functions["sum"](E.a).children[1].value == 255
    for axis, words in ((-1, "negative axis"), (300, "encode")):
        with pytest.raises(ValueError, match=words):
            functions["sum"](E.a, axis)


def test_a_node_has_no_truth_value_and_meets_no_list():
    with pytest.raises(TypeError, match="'&' instead of 'and'"):
        bool(E.a > 1)
    with pytest.raises(TypeError, match="list"):
        E.a.__add__([1])
    with pytest.raises(TypeError, match="strings can only"):
        common_kind((E.a, ConstantNode("x")))


def test_text_of_nodes():
    assert repr(E.a + 1) == "OpNode(add, double, (VariableNode(a, double, ()), ConstantNode(1, int, ())))"
    assert repr(RawNode(2)) == "RawNode(2)" and (+E.a).value == "a" and (~E.a).value == "invert"
    assert OpNode("neg", (E.a,)).real.astKind == "double"
    with pytest.raises(AttributeError):
        E._private  # noqa: B018 - it is asked for


def test_kinds_of_numpy_scalars():
    assert (E.a + np.float32(1)).astKind == "double" and (variable("float") + np.float32(1)).astKind == "float"


@pytest.mark.parametrize(("condition", "at"), [(True, 1), (1, 1), (False, 2), (0, 2)])
def test_a_number_chooses_between_numbers_and_arrays(condition, at):
    """By itself, whatever is chosen: each of these is true where another is not."""
    for given in ((0, VariableNode("a", "double")), (2.5, 0), (VariableNode("a", "int"), 7)):
        chosen = functions["where"](ConstantNode(condition), *given)
        wanted = (condition, *given)[at]
        assert chosen is wanted or (isinstance(chosen, ConstantNode) and chosen.value == wanted)
