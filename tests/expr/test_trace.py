"""Tracing: what functions become, and what is refused with which cure."""

from __future__ import annotations

import operator

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.dtypes import F32
from bcastgen.core.errors import TraceError
from bcastgen.expr.infer import infer
from bcastgen.expr.nodes import Apply, topological
from bcastgen.expr.trace import _IN_PLACE, _OF_ONE, _OF_TWO, trace
from bcastgen.ops.dtype_rules import compare
from bcastgen.ops.table import OPS


def text(function, *names):
    return str(trace(function, names))


def test_operators_and_functions_become_rows():
    got = text(lambda a, b: np.exp(a) * b + 1, "a", "b")
    assert got == "expr (a, b)\n  t0 = exp(a)\n  t1 = multiply(t0, b)\n  t2 = add(t1, 1)\n  return t2"


def test_equal_values_are_one_node():
    expression = trace(lambda a, b: (a + b) * (a + b) + np.add(a, b), ("a", "b"))
    typed = infer(expression, (F32, F32)).expression
    assert sum(isinstance(node, Apply) for node in topological(typed.results)) == 3


def test_sharing_keeps_an_exponential_tree_small():
    def doubled(a):
        for _ in range(200):
            a = a + a
        return a

    assert len(topological(trace(doubled, ("a",)).results)) == 201


def test_deep_chains_do_not_recurse():
    def chain(a):
        for _ in range(20_000):
            a = a + 1
        return a

    assert len(topological(trace(chain, ("a",)).results)) == 20_002


def test_stand_ins_have_the_operators_that_rows_name():
    arities = {row.dunder: row.arity for row in OPS.values() if row.dunder}
    assert dict.fromkeys(_OF_ONE, 1) | dict.fromkeys(_OF_TWO + _IN_PLACE, 2) == arities
    assert {name for name in arities if hasattr(operator, f"__i{name}__")} == {*_IN_PLACE}


@pytest.mark.parametrize("op", [row for row in OPS.values() if row.dunder and row.arity == 2], ids=lambda row: row.name)
def test_every_binary_operator_works_from_both_sides(op):
    import operator

    # Python has no reflected comparisons: 2 < a arrives as a > 2.
    mirrored = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}
    name = op.dunder
    apply = getattr(operator, f"__{name}__")
    assert f"{op.name}(a, 2)" in text(lambda a: apply(a, 2), "a")
    reflected = text(lambda a: apply(2, a), "a")
    if name in mirrored or name in ("eq", "ne"):
        other = next(row for row in OPS.values() if row.dunder == mirrored.get(name, name))
        assert f"{other.name}(a, 2)" in reflected
    else:
        assert f"{op.name}(2, a)" in reflected


@pytest.mark.parametrize(
    "name", [row.name for row in OPS.values() if isinstance(getattr(np, row.name, None), np.ufunc)]
)
def test_every_numpy_ufunc_of_the_table_traces_to_its_row(name):
    names = ("a", "b", "c")[: OPS[name].arity]
    # Of Python numbers numpy.add gives a number with a dtype, unlike their operator.
    row = OPS[name]
    is_operator = row.dunder is not None and row.rule is not compare
    note = ", called=True" if is_operator or name == "conjugate" else ""
    assert f"t0 = {name}({', '.join(names)}{note})" in text(getattr(np, name), *names)


def test_numpy_functions_that_are_not_ufuncs():
    assert "where(t0, a, 0.5)" in text(lambda a: np.where(a > 0, a, 0.5), "a")
    assert "clip(a, 0, 1)" in text(lambda a: np.clip(a, 0, 1), "a")
    assert "minimum(a, 1, makes_array=True)" in text(lambda a: a.clip(max=1), "a")
    assert "round(a)" in text(np.round, "a")
    assert "cast(a, dtype=f32)" in text(lambda a: a.astype(np.float32), "a")


def test_numpy_scalars_stay_typed_and_python_scalars_weak():
    assert "add(a, 2)" in text(lambda a: a + 2, "a")
    assert "add(a, 2:i8)" in text(lambda a: a + np.int8(2), "a")
    assert "multiply(0.75:f32, a)" in text(lambda a: np.float32(0.75) * a, "a")
    assert "add(a, 3.0:f64)" in text(lambda a: a + np.array(3.0), "a")


def test_several_results():
    got = text(lambda a, b: (a + b, a - b), "a", "b")
    assert got.endswith("return t0, t1")


def branch(a):
    return a if a > 0 else -a


@pytest.mark.parametrize(
    ("function", "cure"),
    [
        (branch, "numpy.where"),
        (lambda a: a[0], "before it comes into the kernel"),
        (lambda a: a.shape, "declare it by signature="),
        (lambda a: np.ndim(a), "declare it by signature="),
        (lambda a: np.zeros(a.size), "declare it by signature="),
        (lambda a: a.astype(a.dtype), "declare it by signature="),
        (lambda a: a.flat, "flat is not element-wise"),
        (lambda a: a @ a, "matrix product"),
        (lambda a: np.eye(2) @ a, "numpy.matmul is a product of vectors"),
        (lambda a: float(a), "keep to array operations"),
        (lambda a: list(a), "cannot be iterated"),
        (len, "the shape of an operand is not known"),
        (np.median, "numpy.median is not element-wise"),
        (np.subtract.reduce, "numpy.subtract.reduce is not element-wise"),
        (lambda a: np.add(a, 1, where=a > 0), "where= has no meaning"),
        (lambda a: 1 in a, "x in y needs the values"),
        (round, "write numpy.round"),
        (lambda a: np.vecdot(a, a), "numpy.vecdot is not element-wise; write "),
        (np.squeeze, "depends on extents"),
        (np.unwrap, "numpy.unwrap is not element-wise"),
        (lambda a: a + np.ones(3), "pass it in as an operand"),
        (lambda a: a + "x", "'x' is a str"),
        (lambda a: None, "returns None"),
        (lambda a: (), "empty tuple"),
        (lambda a: np.where(a), "three operands"),
        (np.asarray, "cannot become a NumPy array"),
        (lambda a: np.sum([a, a], 0), "write .* a . b for numpy.sum"),
        (lambda a: np.maximum.reduce([a, a, a]), "numpy.maximum.numpy.maximum.a, b., c. for numpy.maximum.reduce"),
        (lambda a: np.max([a, a, a], axis=0), "numpy.maximum.numpy.maximum.a, b., c. for .* and numpy.max"),
    ],
)
def test_what_cannot_be_traced_says_what_instead(function, cure):
    with pytest.raises(TraceError, match=cure.replace("(", r"\(")):
        trace(function, ("a",))


def test_code_of_the_array_api_standard_asks_an_operand_for_its_functions():
    def norm(x, y):
        xp = x.__array_namespace__(api_version="2023.12")
        return xp.sqrt(xp.where(x > 0, x, 0) ** 2 + y * y)

    x, y = np.float32([-1, 3]), np.float32([2, 4])
    assert np.array_equal(bg.jit(norm)(x, y), norm(x, y))
    with pytest.raises(ValueError, match="1999"):
        bg.jit(lambda x: x.__array_namespace__(api_version="1999"))


def test_assignment_is_refused():
    def assign(a):
        a[0] = 1
        return a

    with pytest.raises(TraceError, match="assignment"):
        trace(assign, ("a",))


def test_an_operand_of_another_trace_is_refused():
    leaked = []
    trace(lambda a: leaked.append(a) or a, ("a",))
    with pytest.raises(TraceError, match="another kernel"):
        trace(lambda b: b + leaked[0], ("b",))


def test_a_dtype_of_bool_is_that_of_a_test():
    """As in NumPy: operands are not converted, and Python integers compare as they are."""
    mask, values = np.array([False, True]), np.array([0.0, 2.5])
    kernel = bg.jit(lambda a, b, n: (np.less(a, -5, dtype=bool), np.greater(b, n, dtype=bool), np.isnan(b, dtype=bool)))
    assert [x.tolist() for x in kernel(mask, values, 2)] == [[False, False], [False, True], [False, False]]
    for wrong in (lambda a: np.add(a, 2, dtype=bool), lambda a: np.multiply(a, 2j, dtype="f4")):
        with pytest.raises(bg.DTypeError, match="cannot be cast to"):
            bg.jit(wrong)(mask)


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda x: np.nanmedian(x), r"numpy\.nanmedian is not element-wise .*, nor a reduction that kernels have"),
        (lambda x: np.nanargmax(x), r"write numpy\.where\(numpy\.isnan\(x\), -numpy\.inf, x\)\.argmax\(\)"),
        (lambda x: np.linalg.norm(x, axis=-1), r"abs\(x\) \*\* 2\)\.sum\(\)\) .* with axis= and keepdims= in the sum"),
        (lambda x: x.mean(dim="t"), "write axis= and the dim's number"),
        (lambda x: np.matmul(x, x), r"numpy\.matmul is a product of vectors"),
        (lambda x: np.add.outer(x, x), r"write numpy\.add\(a\[:, None\], b\)"),
    ],
    ids="nanmedian nanargmax norm dim matmul outer".split(),
)
def test_what_is_no_part_of_a_kernel_is_refused_with_the_cure(function, message):
    with pytest.raises(bg.TraceError, match=message):
        bg.jit(function)


@pytest.mark.parametrize(
    ("text", "cure"),
    [
        ("a ^ 2", r"a power is written a\*\*b"),
        ("a > 0 & a < 1", r"in parentheses, as in \(a > 0\) & \(a < 1\)"),
        ("a < 0 | a > 1", r"in parentheses, as in \(a < 0\) \| \(a > 1\)"),
    ],
)
def test_bits_of_floats_are_refused_with_what_was_meant(text, cure):
    with pytest.raises(bg.DTypeError, match=cure):
        bg.from_text(text)(np.ones(2))
