"""Shape functions in arith: the extents that a run gives, its refusals as assertions, and what is not written."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import bcastgen as bg
import mlir_tools
from bcastgen import shape as s
from bcastgen.core.errors import BcastgenError, BroadcastError
from bcastgen.mlir.linalg.block import TextBlock
from bcastgen.mlir.linalg.sizes import write_sizes

S = "!shape.shape"


def joined(a, b):
    return s.concat(a, s.join(b, s.const_shape((3,)), error="b has to have 3"))


def required(a, b):
    return s.assuming(s.cstr_eq(a, b, error="as many of both"), lambda: s.concat(a, b))


def unused(a, b):
    s.cstr_eq(a, b, error="nobody asks")
    return s.concat(a, b)


def counted(a, b):
    total = s.reduce(s.concat(a, b), s.const_size(0), lambda index, extent, sum_: s.add(sum_, extent))
    return s.from_extents(total, s.mul(s.num_elements(a), s.num_elements(b)), s.div(total, s.const_size(2)))


def chosen(a, b):
    first, other = (s.size_to_index(s.get_extent(one, s.const_size(0))) for one in (a, b))
    larger = s.select(s.cmpi(first, other, predicate="sgt"), first, other)
    return s.from_extents(larger, s.subi(larger, s.minsi(first, other)), s.remsi(larger, s.constant(2)))


def split(a, b):
    head, tail = s.split_at(a, s.constant(-1))
    return s.concat(tail, s.concat(head, s.max(a, s.broadcast(a, b, error="a and b do not broadcast"))))


def broadcastable(a, b):
    both = s.assuming_all(s.cstr_broadcastable(a, b), s.cstr_require(s.shape_eq(a, a), msg="itself"))
    return s.assuming(both, lambda: s.broadcast(a, b))


def below(a, b):
    first, other = (s.size_to_index(s.get_extent(one, s.const_size(0))) for one in (a, b))
    return s.from_extents(s.subi(first, other))


# A function, and the ranks it takes.
FUNCTIONS = {
    "concat": (lambda a, b: s.concat(a, b), 1, 2),
    "joined": (joined, 1, 1),
    "required": (required, 1, 1),
    "unused": (unused, 1, 1),
    "counted": (counted, 2, 1),
    "chosen": (chosen, 1, 1),
    "split": (split, 2, 1),
    "broadcastable": (broadcastable, 1, 2),
    "below": (below, 1, 1),
}
EXTENTS = (0, 1, 2, 3)


def program_of(name):
    return s.program(name, FUNCTIONS[name][0], a=S, b=S)


def function_text(name):
    """A function from tensors to the extents that a program gives for their shapes."""
    block, program, ranks = TextBlock(2), program_of(name), FUNCTIONS[name][1:]
    heads, given = [], []
    for operand, rank in zip("ab", ranks, strict=True):
        type_ = f"tensor<{'?x' * rank}i8>"
        heads.append(f"{block.name(operand)}: {type_}")
        dims = [block.constant(dim, "index") for dim in range(rank)]
        given.append(
            tuple(block.op(f"{operand}_{at}", f"tensor.dim %{operand}, {dim} : {type_}") for at, dim in enumerate(dims))
        )
    (extents,) = write_sizes(block, program, given)
    shown = [block.op("e", f"arith.index_cast {_index(block, one)} : index to i64") for one in extents]
    made = f"tensor<{len(shown)}xi64>"
    block.line(f"%made = tensor.from_elements {', '.join(shown)} : {made}")
    lines = "\n".join((*block.lines, f"  return %made : {made}"))
    return f"func.func @{name}({', '.join(heads)}) -> {made} {{\n{lines}\n}}\n"


def _index(block, extent):
    return extent if isinstance(extent, str) else block.constant(extent, "index")


def calls(name):
    program, (first, second) = program_of(name), FUNCTIONS[name][1:]
    for a in itertools.product(EXTENTS, repeat=first):
        for b in itertools.product(EXTENTS, repeat=second):
            try:
                found = program.run(a, b)
            except BroadcastError as error:
                yield (a, b), None, str(error)
                continue
            yield (a, b), None if found.error is not None else found.extents, found.error


def test_the_text_of_a_shape_function():
    assert (
        function_text("required")
        == """\
func.func @required(%a: tensor<?xi8>, %b: tensor<?xi8>) -> tensor<2xi64> {
  %c0 = arith.constant 0 : index
  %a_0 = tensor.dim %a, %c0 : tensor<?xi8>
  %b_0 = tensor.dim %b, %c0 : tensor<?xi8>
  %holds = arith.cmpi eq, %a_0, %b_0 : index
  cf.assert %holds, "as many of both"
  %e = arith.index_cast %a_0 : index to i64
  %e_1 = arith.index_cast %b_0 : index to i64
  %made = tensor.from_elements %e, %e_1 : tensor<2xi64>
  return %made : tensor<2xi64>
}
"""
    )


@mlir_tools.needs_mlir
def test_mlir_opt_takes_them():
    mlir_tools.checked_opt("".join(map(function_text, FUNCTIONS)))


@pytest.mark.slow
@mlir_tools.needs_native
def test_they_give_the_extents_of_a_run_and_refuse_what_it_refuses(tmp_path):
    native = mlir_tools.Native.compile("".join(map(function_text, FUNCTIONS)), tmp_path / "sizes")
    refused, ran = {}, 0
    for name in FUNCTIONS:
        for shapes, extents, error in calls(name):
            operands = [np.zeros(shape, np.int8) for shape in shapes]
            if extents is None:
                refused.setdefault(name, (operands, error))
                continue
            (got,) = native.call(name, operands, [(np.int64, 1)])
            assert tuple(got) == extents, (name, shapes)
            ran += 1
    assert ran > 200
    assert set(refused) == {"joined", "required", "split", "broadcastable", "below"}
    work = [(name, operands, [(np.int64, 1)]) for name, (operands, _) in refused.items()]
    says = dict(zip(refused, native.refusals(work), strict=True))
    for name, message in (("joined", "b has to have 3"), ("required", "as many of both"), ("split", "a and b do not")):
        assert says[name].startswith(message)
        assert message in refused[name][1]
    assert says["broadcastable"].startswith("shape.cstr_broadcastable does not hold (at test_sizes.py:")
    assert says["below"].startswith("shape.from_extents is invalid (at test_sizes.py:")


@pytest.mark.slow
@mlir_tools.needs_native
def test_a_product_with_an_extent_of_0_is_0_whatever_the_others_are(tmp_path):

    def product(a, b):
        return s.from_extents(s.num_elements(a), s.add(s.get_extent(a, s.const_size(0)), s.num_elements(b)))

    FUNCTIONS["product"] = (product, 3, 1)
    try:
        text = function_text("product")
    finally:
        del FUNCTIONS["product"]
    native = mlir_tools.Native.compile(text, tmp_path / "product")
    huge, none = np.empty((2**31, 2**31, 0), np.int8), np.empty(0, np.int8)
    (got,) = native.call("product", [np.empty((5, 0, 2), np.int8), none], [(np.int64, 1)])
    assert got.tolist() == [0, 5]
    (got,) = native.call("product", [huge, np.ones(3, np.int8)], [(np.int64, 1)])
    assert got.tolist() == [0, 2**31 + 3]


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda a, b: s.if_(s.shape_eq(a, b), lambda: a, lambda: b), r"no form of scf\.if \(at test_sizes\.py:"),
        (lambda a, b: s.from_extents(s.get_extent(a, s.get_extent(b, 0))), "its dim is no number that is known"),
        (lambda a, b: s.from_extents(s.get_extent(a, 4)), "there is no dim 4 in rank 1"),
        (lambda a, b: s.concat(a, s.debug_print(b)), r"no form of shape\.debug_print"),
        (lambda a, b: s.max(a, s.concat(a, b)), "maxsi of shapes of ranks 1 and 2"),
    ],
)
def test_what_is_not_written_is_refused_by_name(function, message):
    with pytest.raises(BcastgenError, match=message):
        write_sizes(TextBlock(2), s.program("f", function, a=S, b=S), [("%a",), ("%b",)])


def test_values_are_read_once_and_checked():
    copies = bg.define_op(
        "copies_to_print",
        "x, counts",
        c="x",
        shape=lambda x, counts: s.concat(counts, x),
        maps=["(d0, d1, d2) -> (d2)", "tensor<2xindex>"],
        replace=True,
    )
    assert copies(1 + np.zeros(1), [1, 1]).shape == (1, 1, 1)
    text = bg.from_text("(f32[?] x, u16[2] n) -> copies_to_print(x, n)").to_mlir()
    assert text.count("tensor.extract %n[") == text.count("arith.index_castui") == 2
    assert text.count("a value of n is below 0, or has more than 63 bits") == 2
    with pytest.raises(BroadcastError, match="how many values of 'n' decide extents; declare it"):
        bg.from_text("(f32[?] x, u16[?] n) -> copies_to_print(x, n)").to_mlir()
    with pytest.raises(BroadcastError, match="expected integers"):
        bg.from_text("(f32[?] x, f32[2] n) -> copies_to_print(x, n)").to_mlir()
