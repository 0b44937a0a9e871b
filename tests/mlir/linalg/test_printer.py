"""Nests as linalg: the text, that LLVM takes it, that it computes what kernels do, and that it asks what they ask."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import bcastgen as bg
import mlir_tools
from bcastgen.core.errors import BcastgenError, BroadcastError
from bcastgen.mlir.linalg.printer import linalg_text
from bcastgen.ops import table
from bcastgen.ops.table import OPS


def text_of(kernel, name="f", versions=0):
    """The text of a kernel under a name, constants included."""
    program = kernel.compilation.program
    return linalg_text(program, name, kernel.constant_values, versions, kernel._linalg_sizes())


# ---- the text --------------------------------------------------------------------------------------------------------

STRETCHING = """\
func.func @f(%a: tensor<?x4xf32>, %b: tensor<?xf32>, %c: tensor<1x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %b_0 = tensor.dim %b, %c0 : tensor<?xf32>
  %c1 = arith.constant 1 : index
  %b_0_is_1 = arith.cmpi eq, %b_0, %c1 : index
  %c4 = arith.constant 4 : index
  %b_0_is_4 = arith.cmpi eq, %b_0, %c4 : index
  %fits = arith.ori %b_0_is_1, %b_0_is_4 : i1
  cf.assert %fits, "b.0 in {1, 4} does not hold"
  %a_0 = tensor.dim %a, %c0 : tensor<?x4xf32>
  %empty = tensor.empty(%a_0) : tensor<?x4xf32>
  %r = linalg.generic {
    indexing_maps = [
      affine_map<(d0, d1) -> (d0, d1)>,
      affine_map<(d0, d1) -> (0, d1)>,
      affine_map<(d0, d1) -> (d0, d1)>
    ],
    iterator_types = ["parallel", "parallel"]
  } ins(%a, %c : tensor<?x4xf32>, tensor<1x4xf32>) outs(%empty : tensor<?x4xf32>) {
  ^bb0(%in_a: f32, %in_c: f32, %out_r: f32):
    %i1 = linalg.index 1 : index
    %at = arith.select %b_0_is_1, %c0, %i1 : index
    %in_b = tensor.extract %b[%at] : tensor<?xf32>
    %c2.0_f32 = arith.constant 2.0 : f32
    %t0 = arith.mulf %in_b, %c2.0_f32 : f32
    %t1 = arith.addf %in_a, %t0 : f32
    %t2 = arith.subf %t1, %in_c : f32
    linalg.yield %t2 : f32
  } -> tensor<?x4xf32>
  return %r : tensor<?x4xf32>
}
"""


def test_what_cannot_stretch_is_mapped_and_what_may_is_read_in_the_body():
    assert text_of(bg.from_text("(f32[?, 4] a, f32[?] b, f32[1, 4] c) -> a + b*2 - c")) == STRETCHING


def test_the_extent_of_a_meeting_is_the_first_one_that_is_not_1():
    text = text_of(bg.from_text("(f32[?] a, f32[?] b, f32[?] c) -> a + b + c"))
    chain = [line.strip() for line in text.splitlines() if "= arith.select" in line][:2]
    assert chain == [
        "%d0 = arith.select %a_0_is_1, %b_0, %a_0 : index",
        "%d0_1 = arith.select %d0_is_1, %c_0, %d0 : index",
    ]
    assert "max" not in text


def test_no_rank_no_text():
    with pytest.raises(BroadcastError, match=r"'b' is f32\[\*\], but linalg needs ranks; declare them") as caught:
        text_of(bg.from_text("(f32[4] a, f32[*] b) -> a + b"))
    assert caught.value.operand == "b"


def test_ops_of_users_are_refused_by_name():
    halve = bg.define_op("halve_linalg", ("x",), c="ldexp(x, -1)", dtypes="same float")
    with pytest.raises(BcastgenError, match="linalg has no op for 'halve_linalg', which define_op made of C"):
        text_of(bg.jit(lambda a: halve(a), signature="(f32[4] a)"))


def test_rows_without_a_spelling_are_refused_by_name(monkeypatch):
    # Rows are frozen.
    monkeypatch.setitem(table._rows.by_any_name, "erf", replace(OPS["erf"], mlir=None))
    with pytest.raises(BcastgenError, match=r"linalg has no op for row 'erf' of \(f32\) that means the same"):
        text_of(bg.from_text("(f32[4] a) -> erf(a)"))


def test_what_is_checked_twice_is_asserted_once():
    text = text_of(bg.from_mlir(CLAIMED), "claimed")
    asserted = [line for line in text.splitlines() if "cf.assert" in line]
    assert len(asserted) == len(set(asserted)) == 4


def test_checks_stand_before_everything_else():
    text = text_of(PROGRAMS["several_nests"][0])
    assert text.rindex("cf.assert") < text.index("tensor.empty")


def test_constants_of_the_kernel_are_no_operands():
    head, first, *_ = text_of(bg.from_mlir(CLAIMED), "claimed").splitlines()
    assert head == "func.func @claimed(%a: tensor<?x4xf32>, %b: tensor<?x?xf32>) -> tensor<?x4xf32> {"
    assert first == "  %w = arith.constant dense<[[1.0, 2.0, 3.0, -0.5]]> : tensor<1x4xf32>"


@pytest.mark.parametrize(
    ("name", "shown"),
    [("f", "@f"), ("a.b$c_1", "@a.b$c_1"), ("2x", '@"2x"'), ('x"\\', r'@"x\22\5C"'), ("é", r'@"\C3\A9"')],
)
def test_names_of_functions_are_escaped(name, shown):
    head = text_of(bg.from_text("(f32[4] a) -> a + 1"), name).partition("(")[0]
    assert head == f"func.func {shown}"


# ---- what is compiled and run ----------------------------------------------------------------------------------------

# Name: a kernel, shapes it takes, and shapes it refuses, with the constraint.
PROGRAMS = {
    "one_operand": (bg.from_text("(f32[?] a) -> a * 2"), [((0,),), ((1,),), ((5,),)], []),
    "no_dims": (bg.from_text("(i64[] a, i64[] b) -> a // b"), [((), ())], []),
    "static": (bg.from_text("(f64[2, 3] a, f64[3] b, f64[2, 1] c) -> a * b - c"), [((2, 3), (3,), (2, 1))], []),
    "stretching": (
        bg.from_text("(f32[?, ?] a, f32[?, ?] b) -> a * b + 1"),
        [((2, 3), (2, 3)), ((1, 3), (2, 1)), ((0, 1), (1, 3)), ((0, 3), (1, 1)), ((1, 1), (0, 0)), ((1, 1), (1, 1))],
        [(((2, 3), (3, 3)), "b.0 in {1, d0}"), (((2, 3), (2, 0)), "b.1 in {1, d1}")],
    ),
    "three_meet": (
        bg.from_text("(i16[?] a, i16[?, ?] b, i16[?, 1, ?] c) -> a * b + c"),
        [((4,), (1, 1), (2, 1, 4)), ((1,), (3, 4), (1, 1, 1)), ((1,), (0, 1), (2, 1, 0))],
        [(((4,), (1, 1), (2, 1, 3)), "c.2 in {1, d2}")],
    ),
    "symbols": (
        bg.from_text("(f32[n, m] a, f32[m] b, f32[n, 1] c) -> (a - b) / c"),
        [((2, 3), (3,), (2, 1)), ((0, 1), (1,), (0, 1))],
        [(((2, 3), (1,), (2, 1)), "b.0 = a.1 (m)"), (((1, 3), (3,), (2, 1)), "c.0 = a.0 (n)")],
    ),
    "facts": (
        bg.from_text("(f32[n>=2, m%4] a, f32[?<=8!, ?] b) -> a + b"),
        [((2, 4), (2, 1)), ((8, 0), (8, 0))],
        [
            (((1, 4), (1, 4)), "a.0 >= 2"),
            (((2, 3), (2, 1)), "a.1 % 4 = 0"),
            (((9, 4), (9, 4)), "b.0 <= 8"),
            (((2, 4), (1, 4)), "b.0 = d0"),
        ],
    ),
    "transposed": (
        bg.from_text("(f32[?, ?] a, f32[?, ?] b) -> transpose(a) + b"),
        [((2, 3), (3, 2)), ((1, 3), (3, 2)), ((2, 3), (1, 1))],
        [(((2, 3), (2, 3)), "b.0 in {1, d0}")],
    ),
    "two_maps": (
        bg.from_text("(f32[n, n] a) -> a * transpose(a)"),
        [((3, 3),), ((1, 1),)],
        [(((2, 3),), "a.1 = a.0 (n)")],
    ),
    "outer": (bg.from_text("(f32[?] a, f32[?] b) -> a[:, None] * b"), [((2,), (3,)), ((1,), (0,))], []),
    "broadcast": (
        bg.from_text("(f32[?] a, f32[n, 4] b) -> broadcast_in_dim(a, (n, 4), dims=(1,)) - b"),
        [((4,), (3, 4)), ((1,), (3, 4))],
        [(((3,), (3, 4)), "a.0 in {1, 4}")],
    ),
    "declared": (
        bg.jit(lambda a, b: a + b, signature="(f32[?, ?] a, f32[?, ?] b) -> f32[n, 4]"),
        [((2, 4), (1, 1)), ((1, 1), (0, 4))],
        [(((2, 3), (2, 3)), "r.1 = 4 = d1"), (((2, 1), (1, 1)), "r.1 = 4 = d1")],
    ),
    "less_declared": (
        bg.jit(lambda a, b: a + b, signature="(f32[2, 4] a, f32[?, ?] b) -> f32[?, ?]"),
        [((2, 4), (1, 1)), ((2, 4), (2, 4))],
        [(((2, 4), (3, 1)), "b.0 in {1, 2}")],
    ),
    "square_declared": (
        bg.jit(lambda a, b: a + b, signature="(f32[?, ?] a, f32[?, ?] b) -> f32[k, k]"),
        [((2, 1), (1, 2)), ((1, 1), (1, 1))],
        [(((2, 1), (1, 3)), "r.1 = r.0 (k)")],
    ),
    "at_least_declared": (
        bg.jit(lambda a: -a, signature="(i32[?] a) -> i32[k>=2%2]"),
        [((2,),), ((6,),)],
        [(((0,),), "r.0 >= 2"), (((3,),), "r.0 % 2 = 0")],
    ),
    "several": (
        bg.jit(lambda a, b: (a + b, a * b, a > b), signature="(u8[?, 4] a, u8[?] b)"),
        [((2, 4), (1,)), ((0, 4), (4,))],
        [(((2, 4), (2,)), "b.0 in {1, 4}")],
    ),
    "several_nests": (
        bg.jit(lambda a, b: (a + 1, a * b, ~b), signature="(i32[?] a, i32[?, ?] b)"),
        [((3,), (2, 3)), ((1,), (2, 3)), ((3,), (0, 1))],
        [(((3,), (2, 2)), "b.1 in {1, d1}")],
    ),
    "bools": (
        bg.from_text("(bool[?] a, f64[?] b, f64[] c) -> where(a, b, c)"),
        [((1,), (3,), ()), ((3,), (1,), ())],
        [],
    ),
    "constant": (bg.jit(lambda a: (a, a * 0 + 3), signature="(f32[?] a)"), [((3,),)], []),
    "shadowing": (
        bg.from_text("(f32[?] c0, f32[?] d0, f32[?] t0, f32[?] r, f32[?] empty) -> c0 + d0 * t0 - r * empty + 2"),
        [((1,), (3,), (1,), (3,), (1,))],
        [],
    ),
    "strict": (
        bg.from_text("(f32[?, ?] a, f32[?, 1] b) -> a + b", dynamic="strict"),
        [((2, 3), (2, 1)), ((1, 1), (1, 1))],
        [(((1, 3), (2, 1)), "b.0 = d0")],
    ),
}


CLAIMED = """
func.func @claimed(%a: tensor<?x4xf32>, %b: tensor<?x?xf32>) -> tensor<?x4xf32> {
  %w = "tosa.const"() {values = dense<[[1.0, 2.0, 3.0, -0.5]]> : tensor<1x4xf32>} : () -> tensor<1x4xf32>
  %shift = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %0 = tosa.add %a, %b : (tensor<?x4xf32>, tensor<?x?xf32>) -> tensor<3x4xf32>
  %1 = tosa.mul %0, %w, %shift : (tensor<3x4xf32>, tensor<1x4xf32>, tensor<1xi8>) -> tensor<?x4xf32>
  return %1 : tensor<?x4xf32>
}
"""
QUANTISED = """
func.func @quantised(%a: tensor<?x4xi32>, %b: tensor<?x1xi32>, %shift: tensor<1xi8>) -> tensor<?x4xi8> {
  %zero = "tosa.const"() {values = dense<3> : tensor<1xi8>} : () -> tensor<1xi8>
  %0 = tosa.mul %a, %b, %shift : (tensor<?x4xi32>, tensor<?x1xi32>, tensor<1xi8>) -> tensor<?x4xi32>
  %1 = tosa.cast %0 : (tensor<?x4xi32>) -> tensor<?x4xi8>
  %2 = tosa.negate %1, %zero, %zero : (tensor<?x4xi8>, tensor<1xi8>, tensor<1xi8>) -> tensor<?x4xi8>
  return %2 : tensor<?x4xi8>
}
"""
OUTER = bg.define_op(
    "outer_in_linalg",
    "a, b",
    c="a < b ? a - b : -2*a",
    dtypes="same number",
    shape=lambda a, b: bg.shape.concat(a, b),
    maps=["(d0, d1) -> (d0)", "(d0, d1) -> (d1|0)"],
)
COPIES = bg.define_op(
    "copies_in_linalg",
    "x, counts",
    c="x",
    dtypes="same number",
    shape=lambda x, counts: bg.shape.concat(counts, bg.shape.broadcast(x, bg.shape.const_shape((4,)), error="1 or 4")),
    maps=["(d0, d1, d2) -> (d2|0)", "tensor<2xindex>"],
)
PROGRAMS |= {
    "shape_function": (
        bg.from_text("(f32[?] a, f32[?] b, f32[?] c) -> outer_in_linalg(a * 2, b + c) * c"),
        [((2,), (3,), (3,)), ((0,), (1,), (3,)), ((1,), (1,), (1,))],
        [],
    ),
    "nested_shape_functions": (
        bg.from_text("(i64[?] a, i64[?] b) -> outer_in_linalg(a, b) + transpose(outer_in_linalg(b, a))"),
        [((2,), (3,)), ((0,), (1,))],
        [],
    ),
    "values": (
        bg.from_text("(i32[?] x, u8[2] n) -> copies_in_linalg(x + 1, n) * 2"),
        [((4,), (2,)), ((1,), (2,))],
        [],
    ),
    "claimed": (
        bg.from_mlir(CLAIMED),
        [((3, 4), (3, 4)), ((1, 4), (3, 1)), ((3, 4), (1, 4))],
        [(((1, 4), (1, 4)), "%0.0 = 3 = d0"), (((3, 4), (2, 4)), "b.0 in {1, d0}")],
    ),
    "quantised": (bg.from_mlir(QUANTISED), [((2, 4), (2, 1), (1,)), ((1, 4), (0, 1), (1,))], []),
}


# What stands before the lowering: the text as it is, or what makes loops of it good ones.
GOOD = tuple("--canonicalize --cse --linalg-fuse-elementwise-ops --linalg-fold-unit-extent-dims --sccp".split())
# Each with the number of versions.
PIPELINES = {
    "as_it_is": ((), 0),
    "fused": (GOOD, 0),
    "one_version": ((), 1),
    "all_versions": (GOOD, 100),
}


@pytest.fixture(scope="module", params=PIPELINES)
def native(request, tmp_path_factory):
    passes, versions = PIPELINES[request.param]
    text = "\n".join(text_of(kernel, name, versions) for name, (kernel, _, _) in PROGRAMS.items())
    passes = (*passes, *mlir_tools.LOWERING)
    return mlir_tools.Native.compile(text, tmp_path_factory.mktemp("linalg") / "programs", passes)


def arrays(kernel, shapes, seed=0):
    random = np.random.default_rng(seed)
    types = [type_ for _, type_ in kernel.compilation.program.operands]
    given = zip(shapes, types[: len(shapes)], strict=True)
    return [random.integers(0, 9, shape).astype(type_.dtype.np) for shape, type_ in given]


def results_of(kernel):
    return [(type_.dtype.np, len(type_.dims)) for _, type_ in kernel.compilation.program.results]


@pytest.mark.slow
@mlir_tools.needs_native
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_computes_what_the_kernel_does(name, native, differences):
    kernel, calls, _ = PROGRAMS[name]
    for seed, shapes in enumerate(calls):
        operands = arrays(kernel, shapes, seed)
        expected = kernel(*operands)
        got = native.call(name, operands, results_of(kernel))
        for mine, theirs in zip(expected if isinstance(expected, tuple) else (expected,), got, strict=True):
            assert theirs.shape == np.shape(mine)
            assert not differences(theirs, np.asarray(mine)).any(), shapes


@pytest.mark.slow
@mlir_tools.needs_native
def test_what_does_not_fit_ends_in_the_constraint(native):
    refused = [(name, shapes, said) for name, (_, _, calls) in PROGRAMS.items() for shapes, said in calls]
    work = []
    for name, shapes, _ in refused:
        kernel = PROGRAMS[name][0]
        with pytest.raises(BroadcastError):
            kernel(*arrays(kernel, shapes))
        work.append((name, arrays(kernel, shapes), results_of(kernel)))
    expected = [f"{said} does not hold" for _, _, said in refused]
    assert native.refusals(work) == expected


@pytest.mark.slow
@mlir_tools.needs_native
def test_an_extent_of_the_caller_is_that_of_an_operand_that_is_not_read(tmp_path):
    text = text_of(bg.from_text("(f32[?] a) -> broadcast_to(a, (n, 4))"))
    assert text.startswith("func.func @f(%a: tensor<?xf32>, %n: tensor<?xi8>) -> tensor<?x4xf32> {")
    (got,) = mlir_tools.Native.compile(text, tmp_path / "f").call(
        "f", [np.float32([1, 2, 3, 4]), np.empty(3, np.uint8)], [(np.float32, 2)]
    )
    assert got.tolist() == [[1, 2, 3, 4]] * 3
