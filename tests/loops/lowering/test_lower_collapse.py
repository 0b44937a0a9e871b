"""Collapsed dims: dropped from the maps, looked at by the checks, and refused unless types say that they are 1."""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen.core.errors import BroadcastError
from bcastgen.expr.build import Builder
from bcastgen.expr.nodes import TypeAssertion
from bcastgen.expr.views import Broadcast, Collapse, NewAxes, Transpose, dims_of
from bcastgen.kernel.kernel import Kernel
from bcastgen.loops.interpret import interpret
from bcastgen.ops.table import OPS
from bcastgen.shape.inference.operand_use import Use
from bcastgen.shape.types.tensor_type import Signature, parse_type


def add(builder, x, y):
    return builder.apply(OPS["add"], (x, y))


def collapse(builder, x, *dims):
    return builder.remap(x, Collapse(dims))


def turned(builder, x, *axes):
    return builder.remap(x, Transpose(axes or None))


def kernel_of(types, function, claims=()):
    names, parsed = tuple("abc"[: len(types)]), tuple(map(parse_type, types))
    builder = Builder(names)
    result = function(builder, *builder.operands)
    said = tuple(TypeAssertion(result, f"%{at}", parse_type(type_)) for at, type_ in enumerate(claims))
    signature = Signature(tuple(zip(names, parsed, strict=True)), None, None)
    return Kernel(builder.finish((result,), type_assertions=said), "collapsed", names, 1, (), signature)


def numbers(*shape):
    return np.arange(1.0, 1.0 + np.prod(shape, dtype=int)).reshape(shape)


CASES = {
    "beside others": (
        ["f64[1,1,4]", "f64[?,1]"],
        lambda b, x, y: add(b, collapse(b, x, 0, 1), y),
        lambda x, y: x[0, 0] + y,
        [((1, 1, 4), (3, 1)), ((1, 1, 4), (0, 1))],
    ),
    "after a transposition": (
        ["f64[1,?,1]", "f64[?,?]"],
        lambda b, x, y: add(b, collapse(b, turned(b, x, 1, 0, 2), 1), y),
        lambda x, y: x.transpose(1, 0, 2)[:, 0] + y,
        [((1, 3, 1), (3, 4)), ((1, 1, 1), (3, 4))],
    ),
    "before a transposition": (
        ["f64[?,1,?]", "f64[?,?]"],
        lambda b, x, y: add(b, turned(b, collapse(b, x, 1)), y),
        lambda x, y: x[:, 0].T + y,
        [((2, 1, 3), (3, 2)), ((2, 1, 3), (1, 1))],
    ),
    "down to scalars": (
        ["f64[1,1]", "f64[1]"],
        lambda b, x, y: add(b, collapse(b, x, 0, 1), collapse(b, y, 0)),
        lambda x, y: x[0, 0] + y[0],
        [((1, 1), (1,))],
    ),
    "a scalar for any rank": (
        ["f64[1]", "f64[?,?]"],
        lambda b, x, y: add(b, collapse(b, x, 0), y),
        lambda x, y: x[0] + y,
        [((1,), (2, 3)), ((1,), (0, 3))],
    ),
    "of a computed value": (
        ["f64[1,?]", "f64[1,?]"],
        lambda b, x, y: collapse(b, add(b, x, y), 0),
        lambda x, y: (x + y)[0],
        [((1, 3), (1, 1)), ((1, 1), (1, 3)), ((1, 0), (1, 1))],
    ),
    "of what lower ranks meet": (
        ["f64[?]", "f64[1,1,?]"],
        lambda b, x, y: collapse(b, add(b, x, y), 0, 1),
        lambda x, y: (x + y)[0, 0],
        [((3,), (1, 1, 3)), ((1,), (1, 1, 3))],
    ),
    "of new dims": (
        ["f64[?]", "f64[?]"],
        lambda b, x, y: add(b, collapse(b, b.remap(x, NewAxes(("new", "dim"))), 0), y),
        lambda x, y: x + y,
        [((3,), (1,)), ((3,), (3,))],
    ),
    "inside of new dims": (
        ["f64[1,?]", "f64[?]"],
        lambda b, x, y: add(b, b.remap(collapse(b, x, 0), NewAxes(("dim", "new"))), y),
        lambda x, y: x[0][:, None] + y,
        [((1, 3), (4,)), ((1, 1), (1,))],
    ),
    "of an explicit broadcast": (
        ["f64[?]", "f64[?]"],
        lambda b, x, y: add(b, collapse(b, b.remap(x, Broadcast((1,), dims_of((1, 4)))), 0), y),
        lambda x, y: np.broadcast_to(x, (4,)) + y,
        [((1,), (4,)), ((4,), (1,))],
    ),
    "inside of an explicit broadcast": (
        ["f64[?,1]", "f64[?]"],
        lambda b, x, y: add(b, b.remap(collapse(b, x, 1), Broadcast((0,), dims_of((3, 4)))), y),
        lambda x, y: np.broadcast_to(x, (3, 4)) + y,
        [((3, 1), (4,)), ((1, 1), (1,))],
    ),
    "twice": (
        ["f64[1,?,1]", "f64[1]"],
        lambda b, x, y: add(b, collapse(b, collapse(b, x, 0), 1), y),
        lambda x, y: x[0, :, 0] + y,
        [((1, 3, 1), (1,))],
    ),
    "one operand through two maps": (
        ["f64[1,?]", "f64[?]"],
        lambda b, x, y: add(b, add(b, collapse(b, x, 0), y), b.remap(collapse(b, x, 0), NewAxes(("dim", "new")))),
        lambda x, y: x[0] + y + x[0][:, None],
        [((1, 3), (3,)), ((1, 3), (1,))],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_kernels_interpreter_and_program_are_numpys(name):
    types, function, oracle, shapes = CASES[name]
    kernel = kernel_of(types, function)
    for given in shapes:
        arrays = [numbers(*shape) for shape in given]
        expected = oracle(*arrays)
        for got in (kernel(*arrays), kernel(*(np.asfortranarray(array) for array in arrays))):
            np.testing.assert_array_equal(got, expected, strict=True)
        (ran,) = interpret(kernel.compilation.program, arrays)
        np.testing.assert_array_equal(ran, expected, strict=True)
        assert kernel.shape_function.run(*given) == kernel.result_shape(*given) == expected.shape


def ones(type_):
    return [at for at, dim in enumerate(parse_type(type_).dims) if dim.is_one]


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if ones(case[0][0])])
def test_what_is_declared_as_one_is_checked(name):
    types, function, _, (given, *_) = CASES[name]
    kernel, dim = kernel_of(types, function), ones(types[0])[0]
    wrong = tuple(2 if at == dim else extent for at, extent in enumerate(given[0]))
    with pytest.raises(BroadcastError, match=f"operand 'a' dim {dim} has extent 2, expected 1"):
        kernel.result_shape(wrong, *given[1:])
    with pytest.raises(BroadcastError):
        interpret(kernel.compilation.program, [np.ones(wrong), *map(np.ones, given[1:])])
    with pytest.raises(BroadcastError):
        kernel.shape_function.run(wrong, *given[1:])


def test_maps_do_not_show_what_is_dropped():
    types, function, *_ = CASES["beside others"]
    program = kernel_of(types, function).compilation.program
    assert "a : tensor<4xf64>    (d0, d1) -> (d1)" in str(program)
    assert "a.0 = 1; a.1 = 1; a.2 = 4" in str(program)
    assert [index.dim for index in program.nests[0].operands[0].map.indices] == [None, None, 1]


@pytest.mark.parametrize(
    ("types", "function", "message"),
    [
        (["f64[?,4]"], lambda b, x: collapse(b, x, 0), r"operand 'a' dim 0 has extent \?, expected 1"),
        (["f64[2,4]"], lambda b, x: collapse(b, x, 0), "operand 'a' dim 0 has extent 2, expected 1"),
        (["f64[n,4]"], lambda b, x: collapse(b, turned(b, x), 1), "operand 'a' dim 0 has extent n, expected 1"),
        (["f64[1,4]", "f64[?,4]"], lambda b, x, y: collapse(b, add(b, x, y), 0), r"'b' dim 0 has extent \?"),
        (["f64[*]"], lambda b, x: collapse(b, x, 0), "needs operands of known rank"),
        (
            ["f64[1]"],
            lambda b, x: collapse(b, b.remap(x, Broadcast((1,), dims_of((2, 4)))), 0),
            r"broadcast\[shape=\[2, 4\], dims=\[1\]\] dim 0 has extent 2, expected 1",
        ),
        (
            ["f64[1]"],
            lambda b, x: collapse(b, b.remap(x, Broadcast((1,), dims_of((None, 4)))), 0),
            r"dim 0 has extent \?, expected 1",
        ),
        (
            ["f64[1]", "f64[?,4]"],
            lambda b, x, y: collapse(b, b.remap(x, Broadcast((1,), None), y), 0),
            r"operand 'b' dim 0 has extent \?, expected 1",
        ),
    ],
)
def test_only_static_ones_are_collapsed(types, function, message):
    with pytest.raises(BroadcastError, match=message):
        _ = kernel_of(types, function).compilation.program


def test_claims_of_collapsed_values():
    kernel = kernel_of(["f64[1,?]", "f64[?]"], lambda b, x, y: add(b, collapse(b, x, 0), y), ["f64[3]"])
    assert kernel(np.ones((1, 3)), np.ones(1)).tolist() == [2.0] * 3
    with pytest.raises(BroadcastError, match="'%0' dim 0 has extent 3, expected 1"):
        kernel(np.ones((1, 1)), np.ones(1))


def test_a_use_leaves_out_what_is_dropped():
    use = Use("a", parse_type("f64[1,?,4]"), (None, 2, 1))
    assert [(position, own) for position, own, _ in use.aligned] == [(2, 1), (1, 2)]
    assert (use.dropped, use.span) == ((0,), 2)
    with pytest.raises(BroadcastError, match="expected different ones of 1 or more"):
        Use("a", parse_type("f64[1,?,4]"), (None, 1, 1))
