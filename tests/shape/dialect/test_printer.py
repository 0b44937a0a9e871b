"""The text of programs. That mlir-opt-22 reads it is for test_printer_mlir.py to say."""

from __future__ import annotations

import pytest

import bcastgen as bg

shape = bg.shape


def every_form(s, t, v, n, p):
    size = shape.get_extent(s, 1)
    head, tail = shape.split_at(s, -1)
    wide = shape.broadcast(head, tail, error="batch sizes differ")
    joined = shape.join(wide, s, error="same shape")
    witness = shape.assuming_all(shape.cstr_eq(s, joined), shape.cstr_require(p, msg="even"), shape.const_witness(True))
    chosen = shape.select(shape.cmpi(n, 3, predicate="slt"), shape.addi(n, 1), n)
    total = shape.assuming(witness, lambda: shape.reduce(joined, size, lambda index, dim, count: shape.mul(count, dim)))
    extents = shape.shape_of(t)
    return [total, chosen, shape.concat(extents, shape.const_shape((2,), type="tensor<?xindex>")), shape.debug_print(v)]


def test_every_form():
    built = shape.program("every", every_form, s="!shape.shape", t="f32[?, 3]", v="!shape.size", n="index", p="i1")
    assert str(built) == (
        """\
func.func @every(%s: !shape.shape, %t: tensor<?x3xf32>, %v: !shape.size, %n: index, %p: i1) -> (!shape.size, index, tensor<?xindex>, !shape.size) {
  %0 = shape.const_size 1
  %1 = shape.get_extent %s, %0 : !shape.shape, !shape.size -> !shape.size
  %2 = arith.constant -1 : index
  %3, %4 = "shape.split_at"(%s, %2) : (!shape.shape, index) -> (!shape.shape, !shape.shape)
  %5 = shape.broadcast %3, %4 {error = "batch sizes differ"} : !shape.shape, !shape.shape -> !shape.shape
  %6 = shape.meet %5, %s, error = "same shape" : !shape.shape, !shape.shape -> !shape.shape
  %7 = shape.cstr_eq %s, %6 : !shape.shape, !shape.shape
  %8 = shape.cstr_require %p, "even"
  %9 = shape.const_witness true
  %10 = shape.assuming_all %7, %8, %9
  %11 = arith.constant 3 : index
  %12 = arith.cmpi slt, %n, %11 : index
  %13 = arith.constant 1 : index
  %14 = arith.addi %n, %13 : index
  %15 = arith.select %12, %14, %n : index
  %21 = shape.assuming %10 -> (!shape.size) {
    %20 = shape.reduce(%6, %1) : !shape.shape -> (!shape.size) {
    ^bb0(%16: index, %17: !shape.size, %18: !shape.size):
      %19 = shape.mul %18, %17 : !shape.size, !shape.size -> !shape.size
      shape.yield %19 : !shape.size
    }
    shape.assuming_yield %20 : !shape.size
  }
  %22 = shape.shape_of %t : tensor<?x3xf32> -> tensor<2xindex>
  %static.23 = shape.const_shape [2] : tensor<1xindex>
  %23 = tensor.cast %static.23 : tensor<1xindex> to tensor<?xindex>
  %24 = shape.concat %22, %23 : tensor<2xindex>, tensor<?xindex> -> tensor<?xindex>
  %25 = "shape.debug_print"(%v) : (!shape.size) -> !shape.size
  return %21, %15, %24, %25 : !shape.size, index, tensor<?xindex>, !shape.size
}"""  # noqa: E501
    )


def test_a_program_without_operands_and_results():
    assert str(shape.program("nothing", lambda: None)) == "func.func @nothing() {\n  return\n}"
    assert '%0 = "shape.from_extents"() : () -> !shape.shape' in str(
        shape.program("scalar", lambda: shape.from_extents())
    )


def test_one_operation_prints_alone():
    built = shape.program("p", lambda s: shape.rank(s), s="!shape.shape")
    assert str(built.body.operations[0]) == "%0 = shape.rank %s : !shape.shape -> !shape.size"


def test_the_same_program_prints_the_same():
    texts = {str(shape.program("p", lambda s: shape.rank(s), s="!shape.shape").fold()) for _ in range(3)}
    assert len(texts) == 1


def test_names_have_mlirs_characters():
    built = shape.program("größe", lambda ü: shape.rank(ü), ü="!shape.shape")
    assert str(built).startswith("func.func @gr$uf6$udfe(%$ufc: !shape.shape)")
    assert "= shape.rank %$ufc : " in str(built)


@pytest.mark.parametrize("message", ["\udcff", "a\ud800x", 'é"\\', "\0"])
def test_a_message_of_any_characters_is_read_again(message):
    """A byte that is no UTF-8 is read as a lone surrogate."""
    built = shape.program(
        "checked", lambda s: shape.assuming(shape.cstr_require(True, msg=message), lambda: s), s="!shape.shape"
    )
    assert str(bg.shape_from_mlir(str(built))) == str(built)
