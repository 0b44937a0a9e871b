"""Shape programs read from text: what is printed reads back equal; what others write; what is refused, and where."""

from __future__ import annotations

import random
from contextlib import redirect_stderr
from dataclasses import replace
from io import StringIO

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bcastgen as bg
import mlir_tools
import shape_programs
from bcastgen.core.errors import BcastgenError, BroadcastError, ParseError
from bcastgen.mlir.read.parser import parse_module
from bcastgen.mlir.shape.read_program import read_program
from bcastgen.shape.dialect.ops import ROWS
from bcastgen.shape.dialect.trace import op, program
from bcastgen.shape.dialect.values import Shape, Size, Witness
from long_runs import many
from shape_lines import LINES, one_op
from shape_reading import read, renamed
from shape_upstream import conflicting, has_errors, ran, surviving

RELAXED = settings(deadline=None, suppress_health_check=list(HealthCheck))
UPSTREAM_TYPES = tuple(type_ for type_ in shape_programs.TYPES if "element_type" not in type_)


def read_one(body, operands="", results="", name="f"):
    """The program of a function that has these lines."""
    arrow = f" -> {results}" if results else ""
    (found,) = read(f"func.func @{name}({operands}){arrow} {{\n{body}\n}}")
    return found


def refused(body, operands="", results="", error=ParseError):
    with pytest.raises(error) as caught:
        read_one(body, operands, results)
    return str(caught.value)


# ---- what is printed reads back --------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", LINES)
def test_golden_programs_read_back(line):
    built, _, _ = one_op(line)
    assert read(str(built)) == [built]
    assert read(str(built.fold())) == [built.fold()]


@RELAXED
@given(chance=st.randoms(use_true_random=False))
def test_random_programs_read_back(chance):
    built = shape_programs.make_program(chance)
    assert read(str(built)) == [built]
    assert read(str(built.fold())) == [built.fold()]


@pytest.mark.slow
def test_many_random_programs_read_back():
    chance = random.Random(0)
    seen = set()
    for _ in range(many(800, 2_000)):
        built = shape_programs.make_program(chance)
        assert read(str(built)) == [built]
        assert read(str(built.fold())) == [built.fold()]
        seen.update(operation.name for operation in built.body.walk())
    assert seen == set(ROWS)


def all_kernels():
    """Shape functions of kernels: every signature of the goldens, and some with facts, views and other rules."""
    texts = [
        "(f32[?,?] a, f32[?,?] b) -> a + b",
        "(f32[?] a, f32[*] b) -> a * b",
        "(f32[*] a, f32[*,2] b) -> a * b",
        "(f32[n,m] a, f32[?,?] b) -> a + b.T",
        "(f32[n] a, f32[n,?] b) -> broadcast_in_dim(a, b, (1,))",
        "(f32[n>=2,?!] a, f32[?,bcast] b) -> a + b",
        "(f32[n%2,m<=2] a, f32[m] b) -> a + b",
        "(f64[] a, bool[3,1] b, u8[?,?] c) -> where(b, c, a)",
    ]
    kernels = [bg.from_text(text) for text in texts]
    kernels += [bg.from_text(texts[0], **options) for options in ({"dynamic": "strict"}, {"rank_expansion": False})]
    return [replace(kernel.shape_function, name=f"k{at}") for at, kernel in enumerate(kernels)]


def test_shape_functions_of_kernels_read_back():
    """MLIR has no facts of dims, so what reads back has none; the text is the same, and so are its runs."""
    for built in all_kernels():
        (found,) = read(str(built))
        assert str(found) == str(built)
        ranks = [value.type.tensor.rank if value.type.tensor else value.type.length for value in built.operands]
        shapes = [(3, 2)[:rank] for rank in ranks]
        assert found.check(*shapes) == built.check(*shapes)


@pytest.mark.slow
@mlir_tools.needs_mlir
def test_mlir_opt_takes_shape_functions_of_kernels():
    programs = all_kernels()
    text = "\n".join(map(str, [*programs, *(replace(built.fold(), name=f"{built.name}f") for built in programs)]))
    printed = read(mlir_tools.checked_opt(text))
    assert [str(renamed(built)) for built in printed] == [str(renamed(built)) for built in read(text)]


def upstream_programs(count):
    """Random programs, the same each time: see tests/shape/dialect/test_printer_mlir.py."""
    chance = random.Random(0)
    return [replace(shape_programs.make_program(chance, UPSTREAM_TYPES), name=f"p{at}") for at in range(count)]


@pytest.mark.slow
@mlir_tools.needs_mlir
def test_what_mlir_opt_prints_of_many_programs_reads_back():
    drawn = upstream_programs(many(600, 2_000))
    text = "\n".join(map(str, drawn))
    wanted = list(map(renamed, drawn))
    for flags in ((), ("--mlir-print-op-generic",), ("--mlir-print-debuginfo",)):
        assert list(map(renamed, read(mlir_tools.checked_opt(text, *flags)))) == wanted


def verdicts(values):
    """Values; of witnesses only whether they pass, since LLVM's folds forget messages."""
    return [value.passing if isinstance(value, Witness) else value for value in values]


def rounds_up(machine):
    """Whether a quotient lies between -1 and 0: LLVM folds it to 0."""
    return any(
        operation.name == "shape.div" and results[0] == -1 and abs(operands[0]) < abs(operands[1])
        for operation, operands, results in machine.trace
    )


@pytest.mark.slow
@mlir_tools.needs_mlir
def test_what_mlir_opt_makes_of_programs_runs_alike():
    """Its folds, read and run: the same results where nothing is invalid, but for what docs/shape-dialect.md lists."""
    drawn, chance = upstream_programs(many(500, 1_000)), random.Random(1)
    operands = {built.name: shape_programs.make_operands(chance, built)[0] for built in drawn}
    programs = surviving(drawn, "--canonicalize")
    module = parse_module(mlir_tools.checked_opt("\n".join(map(str, programs)), "--canonicalize"), "m.mlir")
    left_open = (conflicting, has_errors, rounds_up)
    compared = 0
    for function, built in zip(module.functions, programs, strict=True):
        with redirect_stderr(StringIO()):
            machine, results = ran(built, operands[built.name])
            if results is None or any(leaves(machine) for leaves in left_open):
                continue
            folded = read_program(function, module.source)
            assert verdicts(ran(folded, operands[built.name])[1]) == verdicts(results), f"{built}\n{folded}"
        compared += 1
    assert compared > 0.3 * len(drawn)


# ---- names, places, spellings ----------------------------------------------------------------------------------------


def test_operations_know_their_place():
    built = read_one("  %0 = shape.rank %s : !shape.shape -> !shape.size\n  return", "%s: !shape.shape")
    assert built.body.operations[0].location == "m.mlir:2:8"


def test_several_results_and_names_of_regions_get_names_of_their_own():
    built = read_one(
        """%0:2 = "shape.split_at"(%s, %c-1) : (!shape.shape, index) -> (!shape.shape, !shape.shape)
        %w = shape.const_witness true
        %1 = shape.assuming %w -> (!shape.size) {
          %x = shape.rank %0#0 : !shape.shape -> !shape.size
          shape.assuming_yield %x : !shape.size
        }
        %2 = shape.assuming %w -> (!shape.size) {
          %x = shape.rank %0#1 : !shape.shape -> !shape.size
          shape.assuming_yield %x : !shape.size
        }
        return %1, %2 : !shape.size, !shape.size""",
        "%s: !shape.shape, %c-1: index",
        "(!shape.size, !shape.size)",
    )
    assert built.run((2, 3, 4), -1) == (Size(2), Size(1))
    assert read(str(built)) == [built]


def test_a_name_of_the_printer_is_free_for_it():
    built = read_one(
        """%static.0 = shape.const_shape [2] : tensor<1xindex>
        %0 = tensor.cast %static.0 : tensor<1xindex> to tensor<?xindex>
        %1 = shape.concat %static.0, %0 : tensor<1xindex>, tensor<?xindex> -> tensor<?xindex>
        return %1 : tensor<?xindex>""",
        results="tensor<?xindex>",
    )
    assert built.run() == (2, 2)
    assert read(str(built)) == [built]


@pytest.mark.parametrize(("name", "wanted"), [('"a b"', "a_b"), ('"1x"', "_1x"), ("a.b", "a_b"), ('"\\C3\\BC"', "_")])
def test_a_function_name_that_is_no_identifier(name, wanted):
    assert read_one("return", name=name).name == wanted


@pytest.mark.parametrize(
    ("line", "operand", "type_", "given_", "wanted"),
    [
        ("%0 = tensor.dim %t, %c1 : tensor<2x?xf32>", "tensor<2x?xf32>", "index", (2, 5), 5),
        ("%0 = tensor.dim %t, %c0 : tensor<?xindex>", "tensor<?xindex>", "index", (7, 8, 9), 3),
        ("%0 = tensor.extract %t[%c1] : tensor<?xindex>", "tensor<?xindex>", "index", (7, 8, 9), 8),
        ("%0 = tensor.rank %t : tensor<*xf32>", "tensor<*xf32>", "index", (7, 8, 9), 3),
        ("%0 = tensor.cast %t : tensor<1xindex> to tensor<?xindex>", "tensor<1xindex>", "tensor<?xindex>", (7,), (7,)),
        ("%0 = tensor.cast %t : tensor<?xindex> to tensor<1xindex>", "tensor<?xindex>", "tensor<1xindex>", (7,), (7,)),
        ("%0 = tensor.from_elements %t, %c1 : tensor<2xindex>", "index", "tensor<2xindex>", 9, (9, 1)),
        ("%0 = arith.constant dense<[1, 2]> : tensor<2xindex>", "index", "tensor<2xindex>", 9, (1, 2)),
        ("%0 = arith.constant dense<3> : tensor<2xindex>", "index", "tensor<2xindex>", 9, (3, 3)),
        ('%0 = "arith.cmpi"(%t, %c1) <{predicate = 6 : i64}> : (index, index) -> i1', "index", "i1", 0, True),
        ("%0 = index.rems %t, %c1", "index", "index", 9, 0),
        ("%0 = index.shru %t, %c1", "index", "index", -1, 2**63 - 1),
        ("%0 = index.cmp ult(%t, %c1)", "index", "i1", -1, False),
        ("%0 = index.constant -3", "index", "index", 9, -3),
        ("%0 = index.bool.constant true", "index", "i1", 9, True),
        ("%i0 = index.constant 0\n%0 = tensor.dim %t, %i0 : tensor<?xindex>", "tensor<?xindex>", "index", (7, 8), 2),
        ("%0 = arith.addi %t, %c1 overflow<nsw> : index", "index", "index", 9, 10),
        ('%0 = "shape.join"(%t, %t): (!shape.size,!shape.size)->!shape.size', "!shape.size", "!shape.size", 9, Size(9)),
        ('%0 = "shape.rank"(%t) {my.note = "x"} : (!shape.shape) -> index', "tensor<?xindex>", "index", (1, 2), 2),
    ],
)  # fmt: skip
def test_what_others_write(line, operand, type_, given_, wanted):
    line = line.replace("(!shape.shape) -> index", "(tensor<?xindex>) -> index")
    constants = "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n"
    built = read_one(f"{constants}{line}\nreturn %0 : {type_}", f"%t: {operand}", type_)
    assert built.run(given_) == wanted
    assert read(str(built)) == [built]


def test_a_cast_that_does_not_fit_ends_the_run():
    line = "%0 = tensor.cast %t : tensor<?xindex> to tensor<2xindex>\nreturn %0 : tensor<2xindex>"
    built = read_one(line, "%t: tensor<?xindex>", "tensor<2xindex>")
    with pytest.raises(BroadcastError, match=r"to_extent_tensor of %t = \[1, 2, 3\]"):
        built.run((1, 2, 3))


def test_seed_002_over_tensors():
    """Shapes of tensor operands, a constraint on them, and a region that relies on it."""
    built = read_one(
        """%0 = shape.shape_of %a : tensor<?x4xf32> -> tensor<2xindex>
        %1 = shape.shape_of %b : tensor<?xf32> -> tensor<1xindex>
        %2 = shape.cstr_broadcastable %0, %1 {error = "no batch"} : tensor<2xindex>, tensor<1xindex>
        %3 = shape.assuming %2 -> (tensor<2xindex>) {
          %4 = shape.broadcast %0, %1 : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
          shape.assuming_yield %4 : tensor<2xindex>
        }
        return %3 : tensor<2xindex>""",
        "%a: tensor<?x4xf32>, %b: tensor<?xf32>",
        "tensor<2xindex>",
    )
    assert built.run((3, 4), (1,)) == (3, 4)
    with pytest.raises(BroadcastError, match=r"no batch: .*m\.mlir:4:14"):
        built.run((3, 4), (2,))


def test_seed_002_reduce():
    built = read_one(
        """%0 = shape.const_size 1
        %1 = "shape.reduce"(%shape, %0) ({
          ^bb0(%index: index, %dim: !shape.size, %lci: !shape.size):
            %acc = "shape.mul"(%lci, %dim) : (!shape.size, !shape.size) -> !shape.size
            shape.yield %acc : !shape.size
          }) : (!shape.shape, !shape.size) -> (!shape.size)
        return %1 : !shape.size""",
        "%shape: !shape.shape",
        "!shape.size",
    )
    assert built.run((2, 3, 4)) == Size(24)
    assert built.run(Shape(error="lost")) == Size(error="lost")


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "operands", "message"),
    [
        ('"shape.func_shape"(%s) : (!shape.shape) -> ()\nreturn', "%s: !shape.shape", "'shape.func_shape' is no op of"),
        ('"add"(%s, %s) : (index, index) -> ()\nreturn', "%s: index", "'add' is no op of a shape program"),
        ('"func.call"() {callee = @g} : () -> ()\nreturn', "", "'func.call' is no op of a shape program"),
        ("return", "%t: i64", "type i64 is none of a shape program's; use !shape.shape,"),
        ("return", "%t: tensor<2xf80>", "type tensor<2xf80> is none of a shape program's"),
        ("return", "%t: vector<2xf32>", "type vector<2xf32> is none of a shape program's"),
        ("return", "%t: tensor<1000000000xindex>", "has 1000000000 extents, expected at most 64"),
        (
            "%0 = tensor.cast %t : tensor<?xf32> to tensor<2xf32>\nreturn",
            "%t: tensor<?xf32>",
            "'tensor.cast' from tensor<?xf32> to tensor<2xf32> is no op of a shape program",
        ),
        (
            '%0 = "tensor.cast"(%t) : (tensor<3xindex>) -> tensor<2xindex>\nreturn',
            "%t: tensor<3xindex>",
            "'tensor.cast' from tensor<3xindex> to tensor<2xindex> cannot be",
        ),
        ("%0 = tensor.dim %t, %i : tensor<?xindex>\nreturn", "%t: tensor<?xindex>, %i: index", "not a constant 0"),
        ('%0 = "tensor.cast"() : () -> tensor<2xindex>\nreturn', "", "has 0 operands and 1 results, expected 1 and 1"),
    ],
)
def test_refuses_by_name(body, operands, message):
    found = refused(body, operands)
    assert found.startswith("m.mlir:")
    assert message in found.splitlines()[0]


@pytest.mark.parametrize(
    ("body", "operands", "message"),
    [
        ("%0 = shape.const_size -1\nreturn", "", "m.mlir:2:6: error: shape.const_size: has the value -1"),
        ("%0 = shape.const_shape [-1] : !shape.shape\nreturn", "", "expected 0 or more"),
        (
            '%0 = "shape.const_shape"() <{shape = dense<[1]> : tensor<1xindex>}> : () -> tensor<2xindex>\nreturn',
            "",
            "has 1 extents, expected 2 as its type says",
        ),
        (
            '%0 = "shape.rank"(%s) {depth = 3} : (!shape.shape) -> !shape.size\nreturn',
            "%s: !shape.shape",
            "m.mlir:2:6: error: shape.rank: attribute 'depth' is unknown",
        ),
        (
            '%0 = "shape.add"(%s) : (index) -> index\nreturn',
            "%s: index",
            "m.mlir:2:6: error: shape.add: has 1 operands, expected 2: lhs, rhs",
        ),
        (
            '%0 = "arith.cmpi"(%s, %s) <{predicate = 10 : i64}> : (index, index) -> i1\nreturn',
            "%s: index",
            "attribute 'predicate' is 10, expected eq, ne",
        ),
        (
            '"shape.assuming"(%w) ({\n%0 = shape.const_size 1\n}) : (!shape.witness) -> ()\nreturn',
            "%w: !shape.witness",
            "its region ends in shape.const_size, expected shape.assuming_yield",
        ),
    ],
)
def test_refuses_what_is_not_as_its_row_says(body, operands, message):
    found = refused(body, operands, error=BroadcastError)
    assert found.startswith("m.mlir:2:")
    assert message in found.splitlines()[0]


def test_a_declaration_has_no_program():
    with pytest.raises(ParseError, match=r"m\.mlir:1:\d+: error: function 'f' has no body"):
        read("func.func @f(%s: !shape.shape)")


def test_results_are_those_of_the_function():
    found = refused("return %s : index", "%s: index", "!shape.size")
    assert "m.mlir:2:1: error: returns index, expected !shape.size as function 'f' says" in found


def test_a_value_of_a_region_that_has_ended():
    body = """%w = shape.const_witness true
    "shape.assuming"(%w) ({
      %0 = shape.const_size 1
      "shape.assuming_yield"() : () -> ()
    }) : (!shape.witness) -> ()
    return %0 : !shape.size"""
    found = refused(body, results="!shape.size", error=BcastgenError)
    assert found.startswith("m.mlir:7:")


def test_programs_made_by_hand_and_by_text_are_one():
    by_hand = program("outer", lambda a, b: op("concat")(a, b), a="!shape.shape", b="!shape.shape")
    text = """func.func @outer(%a: !shape.shape, %b: !shape.shape) -> !shape.shape {
      %0 = shape.concat %a, %b : !shape.shape, !shape.shape -> !shape.shape
      return %0 : !shape.shape
    }"""
    assert read(text) == [by_hand]


@pytest.mark.parametrize("reads", [bg.shape_from_mlir, bg.from_mlir])
@pytest.mark.parametrize("given", [3, b"func.func @f() { return }", None])
def test_what_is_no_text_is_refused(reads, given):
    with pytest.raises(ParseError, match=rf"MLIR is text, or the pathlib\.Path of a file, not {type(given).__name__}"):
        reads(given)
