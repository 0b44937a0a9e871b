"""Shape programs of two kinds of text: functions of a library, and operations in branches."""

from __future__ import annotations

from contextlib import redirect_stderr
from io import StringIO

import pytest

import bcastgen as bg
import mlir_tools
from bcastgen.core.errors import ParseError
from bcastgen.shape.dialect.values import Shape, Size, ValueShape
from shape_reading import read, renamed

BRANCHES = """
func.func @f(%p: i1, %a: !shape.shape) -> !shape.size {
  %0 = scf.if %p -> (!shape.size) {
    %1 = shape.rank %a : !shape.shape -> !shape.size
    scf.yield %1 : !shape.size
  } else {
    %2 = shape.const_size 7
    scf.yield %2 : !shape.size
  }
  scf.if %p {
    "shape.debug_print"(%0) : (!shape.size) -> !shape.size
  }
  return %0 : !shape.size
}
"""


def test_branches_that_are_not_there_are_empty():
    (found,) = read(BRANCHES)
    assert read(str(found)) == [found]
    said = StringIO()
    with redirect_stderr(said):
        assert [found.run(flag, (3, 4)) for flag in (True, False)] == [Size(2), Size(7)]
    assert said.getvalue() == "2\n"


@pytest.mark.slow
@mlir_tools.needs_mlir
@pytest.mark.parametrize("flags", [(), ("--mlir-print-op-generic",)])
def test_branches_read_as_llvm_prints_them(flags):
    (found,) = read(mlir_tools.checked_opt(BRANCHES, *flags))
    assert renamed(found) == renamed(read(BRANCHES)[0])


LIBRARY = """
func.func @same(%a: !shape.shape) -> !shape.shape {
  return %a : !shape.shape
}
shape.function_library @lib {
  shape.func @same(%arg: !shape.value_shape) -> !shape.shape {
    %0 = shape.shape_of %arg : !shape.value_shape -> !shape.shape
    shape.return %0 : !shape.shape
  }
  shape.func private @twice(%arg: !shape.value_shape, %w: !shape.witness) -> !shape.shape {
    %n = arith.constant 1 : index
    %0 = shape.shape_of %arg : !shape.value_shape -> !shape.shape
    %1 = shape.assuming %w -> (!shape.shape) {
      %2 = shape.concat %0, %0 : !shape.shape, !shape.shape -> !shape.shape
      shape.assuming_yield %2 : !shape.shape
    }
    shape.return %1 : !shape.shape
  }
} mapping { foo.bar = @same, foo.baz = @twice }
"""


def test_functions_of_a_library_are_programs():
    outer, same, twice = read(LIBRARY)
    assert (outer.name, same.name, twice.name) == ("same", "same", "twice")
    assert same.run(ValueShape([4])) == Shape.of(1)
    assert twice.run(ValueShape([4]), True) == Shape.of(1, 1)
    assert bg.shape_from_mlir(LIBRARY, "twice") == twice


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("@twice(%arg", "@same(%arg", "m.mlir:10:3: error: redefinition of the function '@same'"),
        ("mapping {", "maping {", "m.mlir:19:3: error: expected 'mapping' behind the functions of a library"),
        ("shape.return %1 : !shape.shape", "", "does not end in a return"),
    ],
)
def test_libraries_that_are_none(old, new, message):
    assert old in LIBRARY
    with pytest.raises(ParseError, match=message):
        read(LIBRARY.replace(old, new))


@pytest.mark.slow
@mlir_tools.needs_mlir
@pytest.mark.parametrize("flags", [(), ("--mlir-print-op-generic",), ("--mlir-print-debuginfo",)])
def test_libraries_read_as_llvm_prints_them(flags):
    """Its custom form leaves the dialect out of all names in a library."""
    found = read(mlir_tools.checked_opt(LIBRARY, *flags))
    assert list(map(renamed, found)) == list(map(renamed, read(LIBRARY)))
