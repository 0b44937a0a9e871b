"""From functions of MLIR to kernels: seed 001's scenarios, attributes in every spelling, constants, claims, errors.

It is long because each spelling, each claim and each error is a case of its own.
"""

from pathlib import Path

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.dtypes import dtype

F32 = np.float32


def function(body, operands, results, name="main"):
    """Return the text of a function; `body` has its ops, a line each, and `return`."""
    lines = "\n".join(f"  {line.strip()}" for line in body.strip().splitlines())
    return f"func.func @{name}({operands}) -> {results} {{\n{lines}\n}}\n"


def binary(op, x, y, result, attributes=""):
    """Return a function of one op of two operands."""
    body = f"%0 = tosa.{op} %a, %b {attributes} : ({x}, {y}) -> {result}\nreturn %0 : {result}"
    return function(body, f"%a: {x}, %b: {y}", result)


def unary(op, x, result, attributes=""):
    """Return a function of one op of one operand."""
    return function(f"%0 = tosa.{op} %a {attributes} : ({x}) -> {result}\nreturn %0 : {result}", f"%a: {x}", result)


def shaped(*extents):
    """Return an array of these extents with different elements."""
    return (np.arange(np.prod(extents, dtype=int), dtype=F32) + 1).reshape(extents)


# Seed 001: the combinations of its current lowering, right ones and wrong ones, then the scenarios of its proposal.
SCENARIOS = {
    "dynamic": ("tensor<?x?xf32>", "tensor<?x?xf32>", "tensor<?x?xf32>", [((2, 3), (2, 3)), ((1, 3), (2, 1))]),
    "static 1 and dynamic": (
        "tensor<1x?xf32>",
        "tensor<?x?xf32>",
        "tensor<?x?xf32>",
        [((1, 3), (4, 3)), ((1, 1), (4, 3))],
    ),
    "static 1 and static": ("tensor<1x5xf32>", "tensor<3x5xf32>", "tensor<?x?xf32>", [((1, 5), (3, 5))]),
    "all static": ("tensor<3x5xf32>", "tensor<3x5xf32>", "tensor<?x?xf32>", [((3, 5), (3, 5))]),
    "static and dynamic": (
        "tensor<2x?xf32>",
        "tensor<?x?xf32>",
        "tensor<?x?xf32>",
        [((2, 3), (1, 3)), ((2, 1), (2, 4))],
    ),
    "static 2x2 and dynamic": (
        "tensor<2x2xf32>",
        "tensor<?x?xf32>",
        "tensor<?x?xf32>",
        [((2, 2), (2, 2)), ((2, 2), (1, 2))],
    ),
    "crossed": ("tensor<?x2xf32>", "tensor<2x?xf32>", "tensor<?x?xf32>", [((2, 2), (2, 2)), ((1, 2), (2, 1))]),
    "dynamic to static": (
        "tensor<?xf32>",
        "tensor<?xf32>",
        "tensor<5xf32>",
        [((5,), (1,)), ((1,), (5,)), ((5,), (5,))],
    ),
    "static to dynamic": ("tensor<5xf32>", "tensor<1xf32>", "tensor<?xf32>", [((5,), (1,))]),
    "rank 0": ("tensor<f32>", "tensor<f32>", "tensor<f32>", [((), ())]),
    "extent 0": ("tensor<?xf32>", "tensor<?xf32>", "tensor<?xf32>", [((0,), (1,)), ((0,), (0,)), ((1,), (0,))]),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenarios_of_seed_001(name):
    x, y, result, shapes = SCENARIOS[name]
    kernel = bg.from_mlir(binary("add", x, y, result))
    for first, second in shapes:
        a, b = shaped(*first), shaped(*second)
        np.testing.assert_array_equal(kernel(a, b), a + b)


def test_a_mismatch_at_run_time_is_an_error_with_operand_dim_and_both_sizes():
    kernel = bg.from_mlir(binary("add", "tensor<?x?xf32>", "tensor<?x?xf32>", "tensor<?x?xf32>"))
    with pytest.raises(bg.BroadcastError, match=r"2:8: .*operand 'b' dim 1 has extent 2, expected 1 or 3 \(from 'a'\)"):
        kernel(shaped(2, 3), shaped(2, 2))
    kernel = bg.from_mlir(binary("add", "tensor<?xf32>", "tensor<?xf32>", "tensor<?xf32>"))
    with pytest.raises(bg.BroadcastError, match="operand 'b' dim 0 has extent 3, expected 1 or 0"):
        kernel(shaped(0), shaped(3))


def test_static_to_dynamic_emits_no_check_of_the_result():
    kernel = bg.from_mlir(binary("add", "tensor<2x3xf32>", "tensor<1x3xf32>", "tensor<?x?xf32>"))
    lines = kernel.stages["constraints"].splitlines()
    assert not [line for line in lines if line.startswith("r.") and "checked" in line]
    asked = str(kernel.compilation.program.guards)
    assert "%0.0 = 2" in asked
    assert "RESULT" not in asked and "d.rank" not in asked


def test_dynamic_to_static_is_checked_at_run_time():
    kernel = bg.from_mlir(binary("add", "tensor<?xf32>", "tensor<?xf32>", "tensor<5xf32>"))
    for extents in ((4, 4), (1, 1), (4, 1)):
        with pytest.raises(bg.BroadcastError, match=r"^<mlir>:2:8: error: 'tosa.add' op result '%0' dim 0"):
            kernel(*(shaped(extent) for extent in extents))


def test_ranks_are_equal_unless_rank_expansion_is_asked_for():
    text = binary("add", "tensor<3x4xf32>", "tensor<2x3x4xf32>", "tensor<2x3x4xf32>")
    with pytest.raises(
        bg.BroadcastError, match=r"<mlir>:2:8: error: 'tosa.add' op operand '%b' has rank 3, expected 2"
    ):
        bg.from_mlir(text)
    a, b = shaped(3, 4), shaped(2, 3, 4)
    np.testing.assert_array_equal(bg.from_mlir(text, rank_expansion=True)(a, b), a + b)
    with pytest.raises(bg.BroadcastError, match="rank"):
        bg.from_mlir(binary("add", "tensor<f32>", "tensor<4xf32>", "tensor<4xf32>"))


def test_select_broadcasts_all_three():
    body = """%0 = tosa.select %c, %x, %y : (tensor<2x?xi1>, tensor<2x?xf32>, tensor<?x1xf32>) -> tensor<2x?xf32>
              return %0 : tensor<2x?xf32>"""
    kernel = bg.from_mlir(
        function(body, "%c: tensor<2x?xi1>, %x: tensor<2x?xf32>, %y: tensor<?x1xf32>", "tensor<2x?xf32>")
    )
    c, x, y = np.array([[True], [False]]), shaped(2, 3), -shaped(1, 1)
    np.testing.assert_array_equal(kernel(c, x, y), np.where(c, x, y))


def test_an_intermediate_that_says_more_than_its_operands_is_a_claim():
    body = """%0 = tosa.add %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<5xf32>
              %1 = tosa.mul %0, %c, %s : (tensor<5xf32>, tensor<?xf32>, tensor<1xi8>) -> tensor<?xf32>
              return %1 : tensor<?xf32>"""
    text = function(
        '%s = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>\n' + body,
        "%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32>",
        "tensor<?xf32>",
    )
    kernel = bg.from_mlir(text)
    a, b, c = shaped(5), shaped(1), shaped(5)
    np.testing.assert_array_equal(kernel(a, b, c), (a + b) * c)
    with pytest.raises(bg.BroadcastError, match=r"'%0' dim 0 has extent (1|5), expected (1|5)"):
        kernel(shaped(1), shaped(1), shaped(5))


def test_a_cast_of_an_operand_makes_it_static():
    body = """%0 = tensor.cast %a : tensor<?xf32> to tensor<5xf32>
              %1 = tosa.abs %0 : (tensor<5xf32>) -> tensor<5xf32>
              return %1 : tensor<5xf32>"""
    kernel = bg.from_mlir(function(body, "%a: tensor<?xf32>", "tensor<5xf32>"))
    np.testing.assert_array_equal(kernel(-shaped(5)), shaped(5))
    with pytest.raises(bg.BroadcastError, match="operand 'a' dim 0 has extent 1, expected 5"):
        kernel(shaped(1))


def test_a_cast_of_a_value_in_between_is_a_claim():
    body = """%0 = tosa.add %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
              %1 = tensor.cast %0 : tensor<?xf32> to tensor<5xf32>
              %2 = tosa.add %1, %c : (tensor<5xf32>, tensor<?xf32>) -> tensor<?xf32>
              return %2 : tensor<?xf32>"""
    kernel = bg.from_mlir(function(body, "%a: tensor<?xf32>, %b: tensor<?xf32>, %c: tensor<?xf32>", "tensor<?xf32>"))
    np.testing.assert_array_equal(kernel(shaped(5), shaped(1), shaped(1)), shaped(5) + 2)
    with pytest.raises(bg.BroadcastError, match="'%1' dim 0"):
        kernel(shaped(1), shaped(1), shaped(1))


def test_a_claim_on_what_is_returned_as_less_is_kept():
    body = """%0 = tosa.add %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<5xf32>
              %1 = tensor.cast %0 : tensor<5xf32> to tensor<?xf32>
              return %1 : tensor<?xf32>"""
    kernel = bg.from_mlir(function(body, "%a: tensor<?xf32>, %b: tensor<?xf32>", "tensor<?xf32>"))
    np.testing.assert_array_equal(kernel(shaped(5), shaped(1)), shaped(5) + 1)
    with pytest.raises(bg.BroadcastError, match="'%0' dim 0"):
        kernel(shaped(1), shaped(1))


def test_of_values_that_nothing_uses_nothing_is_asked():
    body = """%0 = tosa.add %a, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<5xf32>
              %1 = tensor.cast %a : tensor<?xf32> to tensor<4xf32>
              %2 = tosa.abs %a : (tensor<?xf32>) -> tensor<?xf32>
              return %2 : tensor<?xf32>"""
    kernel = bg.from_mlir(function(body, "%a: tensor<?xf32>, %b: tensor<?xf32>", "tensor<?xf32>"))
    np.testing.assert_array_equal(kernel(-shaped(3), shaped(2)), shaped(3))
    body = """%0 = tosa.add %a, %b : (tensor<2xf32>, tensor<3xf32>) -> tensor<?xf32>
              return %a : tensor<2xf32>"""
    with pytest.raises(bg.BroadcastError, match=r"<mlir>:2:8: error: 'tosa.add' op"):
        bg.from_mlir(function(body, "%a: tensor<2xf32>, %b: tensor<3xf32>", "tensor<2xf32>"))


def test_what_casts_say_of_an_operand_has_to_agree():
    body = """%0 = tensor.cast %a : tensor<?xf32> to tensor<5xf32>
              %1 = tensor.cast %a : tensor<?xf32> to tensor<4xf32>
              return %0, %1 : tensor<5xf32>, tensor<4xf32>"""
    with pytest.raises(bg.BroadcastError, match=r"3:8: error: 'tensor.cast' op operand 'a' dim 0 is cast to extent 4"):
        bg.from_mlir(function(body, "%a: tensor<?xf32>", "(tensor<5xf32>, tensor<4xf32>)"))


@pytest.mark.parametrize(
    ("before", "after", "extents"),
    [
        ("3x4", "1x3x4", (1, 3, 4)),
        ("1x1x4", "4", (4,)),
        ("1x3x1x4", "3x4x1", (3, 4, 1)),
        ("1", "", ()),
        ("", "1x1", (1, 1)),
        ("?x4", "1x?x4", (1, 3, 4)),
        ("?x4", "3x4x1", (3, 4, 1)),
    ],
)
def test_reshape_adds_and_drops_dims_of_extent_1(before, after, extents):
    source, target = (f"tensor<{shape}{'x' * bool(shape)}f32>" for shape in (before, after))
    new = [-1 if extent == "?" else int(extent) for extent in after.split("x") if extent]
    shape = f"dense<{new}> : tensor<{len(new)}xindex>" if new else "dense<> : tensor<0xindex>"
    body = f"""%s = "tosa.const_shape"() {{values = {shape}}} : () -> !tosa.shape<{len(new)}>
               %0 = "tosa.reshape"(%a, %s) : ({source}, !tosa.shape<{len(new)}>) -> {target}
               %1 = tosa.negate_ %0
               return %0 : {target}""".replace("%1 = tosa.negate_ %0\n", "")
    a = shaped(*(3 if extent == "?" else int(extent) for extent in before.split("x") if extent))
    result = bg.from_mlir(function(body, f"%a: {source}", target))(a)
    np.testing.assert_array_equal(result, a.reshape(extents))


def test_what_a_reshape_says_of_an_unknown_extent_is_asked():
    text = """func.func @f(%a: tensor<1x?xf32>) -> tensor<?xf32> {
      %0 = "tosa.reshape"(%a) {new_shape = array<i64: 3>} : (tensor<1x?xf32>) -> tensor<3xf32>
      %1 = tosa.exp %0 : (tensor<3xf32>) -> tensor<?xf32>
      return %1 : tensor<?xf32>
    }"""
    kernel = bg.from_mlir(text)
    assert kernel(np.zeros((1, 3), np.float32)).tolist() == [1, 1, 1]
    with pytest.raises(bg.BroadcastError, match="dim 0 has extent 3, expected 4"):
        kernel(np.zeros((1, 4), np.float32))


def test_a_reshape_that_moves_elements_is_refused_by_name():
    body = """%0 = "tosa.reshape"(%a) {new_shape = array<i64: 12>} : (tensor<3x4xf32>) -> tensor<12xf32>
              return %0 : tensor<12xf32>"""
    with pytest.raises(bg.ParseError, match=r"'tosa.reshape' op from tensor<3x4xf32> to tensor<12xf32> does more"):
        bg.from_mlir(function(body, "%a: tensor<3x4xf32>", "tensor<12xf32>"))


def test_constants_are_literals_or_arrays():
    body = """%one = "tosa.const"() <{values = dense<1.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
              %row = "tosa.const"() <{values = dense<[[1.0, 2.0, -0.0]]> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
              %0 = tosa.add %a, %one : (tensor<?x?xf32>, tensor<1x1xf32>) -> tensor<?x?xf32>
              %1 = tosa.sub %0, %row : (tensor<?x?xf32>, tensor<1x3xf32>) -> tensor<?x3xf32>
              return %1 : tensor<?x3xf32>"""
    kernel = bg.from_mlir(function(body, "%a: tensor<?x?xf32>", "tensor<?x3xf32>"))
    row = F32([[1, 2, -0.0]])
    for a in (shaped(2, 3), shaped(2, 1)):
        np.testing.assert_array_equal(kernel(a), a + 1 - row)
    with pytest.raises(bg.BroadcastError, match="extent 4"):
        kernel(shaped(2, 4))


def test_the_shape_of_a_constant_counts_even_if_it_is_one_number():
    body = """%c = "tosa.const"() <{values = dense<2.0> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
              %0 = tosa.add %a, %c : (tensor<?x?xf32>, tensor<1x3xf32>) -> tensor<?x?xf32>
              return %0, %c : tensor<?x?xf32>, tensor<1x3xf32>"""
    kernel = bg.from_mlir(function(body, "%a: tensor<?x?xf32>", "(tensor<?x?xf32>, tensor<1x3xf32>)"))
    total, constant = kernel(shaped(2, 1))
    np.testing.assert_array_equal(total, shaped(2, 1) + np.full((1, 3), 2, F32))
    np.testing.assert_array_equal(constant, np.full((1, 3), 2, F32))
    with pytest.raises(bg.BroadcastError):
        kernel(shaped(2, 2))


def test_a_chain_is_one_nest():
    lines = ["%v0 = tosa.abs %a : (tensor<?x8xf32>) -> tensor<?x8xf32>"]
    for at in range(1, 40):
        op, other = ("add", "%b") if at % 2 else ("sub", "%a")
        lines.append(f"%v{at} = tosa.{op} %v{at - 1}, {other} : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x8xf32>")
    lines.append("return %v39 : tensor<?x8xf32>")
    kernel = bg.from_mlir(function("\n".join(lines), "%a: tensor<?x8xf32>, %b: tensor<?x8xf32>", "tensor<?x8xf32>"))
    assert kernel.stages["nest"].count("nest (") == 1
    a, b = shaped(3, 8), shaped(1, 8)
    expected = np.abs(a)
    for at in range(1, 40):
        expected = expected + b if at % 2 else expected - a
    np.testing.assert_array_equal(kernel(a, b), expected)


def test_a_block_of_many_ops_and_results_is_one_nest():
    kernel = bg.from_mlir(Path(__file__).parents[1] / "support" / "quantised_block.mlir")
    nest = kernel.stages["nest"]
    assert nest.count("nest (") == 1
    assert nest.count(" = ") > 50 and len(kernel.results) == 6


NAN = float("nan")


def typed(array):
    """Return an array's type in MLIR."""
    return f"tensor<{''.join(f'{extent}x' for extent in array.shape)}{dtype(array.dtype).mlir}>"


CLAMPED = "{min_val = 0.0 : f32, max_val = 6.0 : f32}"
OLDER = "{min_fp = 0.0 : f32, max_fp = 6.0 : f32, min_int = -300 : i64, max_int = 6 : i64}"
POINTS = "{quantization_info = #tosa.unary_quant<input_zp = 3, output_zp = -5>}"
I8, I16, I32 = np.int8, np.int16, np.int32
LEAST = -(2**31)


@pytest.mark.parametrize(
    ("op", "attributes", "operands", "expected"),
    [
        ("clamp", CLAMPED, [F32([-1, 7, NAN])], F32([0, 6, NAN])),
        ("clamp", CLAMPED.replace("}", ", nan_mode = IGNORE}"), [F32([-1, 7, NAN])], F32([0, 6, 0])),
        ("clamp", OLDER, [F32([-1, 7])], F32([0, 6])),
        ("clamp", OLDER, [I8([-128, 7])], I8([-128, 6])),
        ("clamp", "{min_val = -1 : i8, max_val = 1 : i8}", [I8([-128, 0])], I8([-1, 0])),
        ("maximum", "", [F32([1, NAN]), F32([2, 1])], F32([2, NAN])),
        ("maximum", '{nan_mode = "IGNORE"}', [F32([1, NAN]), F32([2, 1])], F32([2, 1])),
        ("minimum", "{nan_mode = IGNORE}", [F32([1, NAN]), F32([2, 1])], F32([1, 1])),
        ("arithmetic_right_shift", "{round = true}", [I32([5, -5, -7]), I32([1, 1, 2])], I32([3, -2, -2])),
        ("arithmetic_right_shift", "{round = false}", [I32([5, -5, -7]), I32([1, 1, 2])], I32([2, -3, -2])),
        ("mul", "{shift = 0 : i8}", [I8([100, -128]), I8([100, -128])], I32([10000, 16384])),
        ("mul", "{shift = 1 : i8}", [I32([5, -5]), I32([3, 3])], I32([8, -7])),
        ("intdiv", "", [I32([7, -7, 1, LEAST]), I32([2, 2, 0, -1])], I32([3, -3, 0, LEAST])),
        ("int_div", "", [I32([7]), I32([2])], I32([3])),
        ("negate", POINTS, [I8([-128, -1, 0, 127])], I8([126, -1, -2, -128])),
        ("negate", "", [I16([-32768, 1])], I16([32767, -1])),
        ("negate", "", [F32([0.0, 1])], F32([-0.0, -1])),
        ("cast", "", [F32([0.5, 1.5, 2.5, -2.5, 1e20, NAN])], I8([0, 2, 2, -2, 127, 0])),
        ("cast", "{input_unsigned = true}", [I8([-1, 5])], I32([255, 5])),
        ("clz", "", [I32([1, 0, -1])], I32([31, 32, 0])),
        ("logical_right_shift", "", [I8([-128]), I8([1])], I8([64])),
        ("greater", "", [F32([1, NAN]), F32([0, 0])], np.array([True, False])),
    ],
)
def test_attributes_in_every_spelling(op, attributes, operands, expected):
    types = [typed(operand) for operand in operands]
    made = unary if len(operands) == 1 else binary
    result = bg.from_mlir(made(op, *types, typed(expected), attributes))(*operands)
    assert result.dtype == expected.dtype
    np.testing.assert_array_equal(result, expected)


def test_shift_and_zero_points_may_be_values():
    body = """%0 = tosa.mul %a, %b, %s : (tensor<?x2xi32>, tensor<1x2xi32>, tensor<1xi8>) -> tensor<?x2xi32>
              return %0 : tensor<?x2xi32>"""
    kernel = bg.from_mlir(
        function(body, "%a: tensor<?x2xi32>, %b: tensor<1x2xi32>, %s: tensor<1xi8>", "tensor<?x2xi32>")
    )
    a, b = np.int32([[5, -5], [1, 1]]), np.int32([[3, 3]])
    np.testing.assert_array_equal(kernel(a, b, np.int8([1])), [[8, -7], [2, 2]])
    np.testing.assert_array_equal(kernel(a, b, np.int8([0])), a * b)
    body = """%0 = tosa.negate %a, %i, %o : (tensor<i8>, tensor<1xi8>, tensor<1xi8>) -> tensor<i8>
              return %0 : tensor<i8>"""
    kernel = bg.from_mlir(function(body, "%a: tensor<i8>, %i: tensor<1xi8>, %o: tensor<1xi8>", "tensor<i8>"))
    assert kernel(np.int8(-128), np.int8([3]), np.int8([-5])) == 126


ERRORS = {
    "broadcast": (
        binary("add", "tensor<3xf32>", "tensor<2xf32>", "tensor<3xf32>"),
        bg.BroadcastError,
        "operand '%b' dim 0 has extent 2, expected 1 or 3 (from '%a')",
    ),
    "result": (
        binary("add", "tensor<3xf32>", "tensor<1xf32>", "tensor<4xf32>"),
        bg.BroadcastError,
        "result '%0' dim 0 has extent 4, expected 3 (from '%a'); results do not broadcast",
    ),
    "element types": (
        binary("add", "tensor<3xf32>", "tensor<3xi8>", "tensor<3xf32>"),
        bg.DTypeError,
        "operand '%b' has element type i8, expected f32 (that of '%a'); insert a tosa.cast",
    ),
    "no meaning": (
        unary("exp", "tensor<3xi32>", "tensor<3xi32>"),
        bg.DTypeError,
        "operand '%a' has element type i32, for which it is not defined",
    ),
    "result type": (
        binary("greater", "tensor<3xf32>", "tensor<3xf32>", "tensor<3xf32>"),
        bg.DTypeError,
        "result '%0' has element type f32, expected i1",
    ),
    "bounds": (
        unary("clamp", "tensor<3xf32>", "tensor<3xf32>", "{min_val = 2.0 : f32, max_val = 1.0 : f32}"),
        bg.ParseError,
        "min_val is 2.0 and max_val 1.0; expected min_val <= max_val",
    ),
    "attribute": (
        binary("add", "tensor<3xf32>", "tensor<3xf32>", "tensor<3xf32>", "{rounds = true}"),
        bg.ParseError,
        "attribute 'rounds' is unknown; it has none",
    ),
    "fp8": (
        unary("abs", "tensor<3xf8E4M3FN>", "tensor<3xf8E4M3FN>"),
        bg.DTypeError,
        "has element type f8E4M3FN, for which it is not defined; insert a tosa.cast",
    ),
    "zero point": (
        unary("negate", "tensor<3xi32>", "tensor<3xi32>", POINTS),
        bg.ParseError,
        "has a zero point of input1 other than 0; only i8 elements have one",
    ),
}


MALFORMED = {
    '"tosa.reshape"() : () -> tensor<3xf32>': "has 0 operands, expected 1 or 2",
    '"tensor.cast"(%a, %a) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>': "has 2 operands, expected 1",
    '"tosa.add"(%a) : (tensor<3xf32>) -> tensor<3xf32>': "has 1 operands, expected 2",
    '"tosa.const"(%a) {values = dense<1.0> : tensor<3xf32>} : (tensor<3xf32>) -> tensor<3xf32>': "has 1 operands",
    '"tosa.const"() {values = 1.0 : f32} : () -> tensor<3xf32>': "needs the attribute values = dense<...>",
    '"tosa.reshape"(%a) {new_shape = [3 : i64]} : (tensor<3xf32>) -> tensor<3xf32>': "write array<i64: 1, 3>",
    '"tosa.mul"(%a, %a) {shift = 0.5 : f32} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>': "expected an integer",
    '"tosa.clamp"(%a) {min_val = 0x7FC00000 : f32, max_val = 1.0 : f32} : (tensor<3xf32>) -> tensor<3xf32>': "is NaN",
    '"tosa.maximum"(%a, %a) {nan_mode = "NONE"} : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>': "PROPAGATE or IGN",
}


@pytest.mark.parametrize("line", MALFORMED)
def test_ops_that_are_malformed_are_errors_at_their_place(line):
    text = function(f"%0 = {line}\nreturn %0 : tensor<3xf32>", "%a: tensor<3xf32>", "tensor<3xf32>")
    with pytest.raises(bg.ParseError, match=r"^<mlir>:2:8: error: '") as caught:
        bg.from_mlir(text)
    assert MALFORMED[line] in str(caught.value)


def test_a_function_that_does_not_end_in_a_return_is_an_error():
    for text in ("func.func @f(%a: tensor<3xf32>) -> tensor<3xf32>", "func.func @f(%a: tensor<3xf32>) {\n}"):
        with pytest.raises(bg.ParseError, match="ends in a return"):
            bg.from_mlir(text)


@pytest.mark.parametrize("name", ERRORS)
def test_errors_are_located(name):
    text, kind, message = ERRORS[name]
    with pytest.raises(kind) as caught:
        bg.from_mlir(text, name="model.mlir")
    first, line, caret = str(caught.value).splitlines()
    assert message in first
    if name != "fp8":  # which its operand's type has already
        assert first.startswith("model.mlir:2:8: error: 'tosa.")
        assert line == text.splitlines()[1] and caret == "       ^"


def test_strict_types_take_the_tables_only():
    text = binary("add", "tensor<3xi8>", "tensor<3xi8>", "tensor<3xi8>")
    a = np.int8([100, 100, -1])
    np.testing.assert_array_equal(bg.from_mlir(text)(a, a), a + a)
    with pytest.raises(
        bg.DTypeError, match=r"\(i8, i8\) -> i8 is not in the specification's table; there are i32, i32"
    ):
        bg.from_mlir(text, strict_types=True)


def test_functions_are_chosen_by_name():
    one, two = (unary(op, "tensor<2xf32>", "tensor<2xf32>").replace("@main", f"@{op}") for op in ("abs", "exp"))
    np.testing.assert_array_equal(bg.from_mlir(one + two, "abs")(F32([-1, 2])), F32([1, 2]))
    with pytest.raises(bg.ParseError, match="several functions, and none is @main; there are @abs, @exp; name one"):
        bg.from_mlir(one + two)
    with pytest.raises(bg.ParseError, match="no function @cos; there are @abs, @exp"):
        bg.from_mlir(one + two, "cos")


def test_other_dialects_are_refused_by_name():
    body = """%0 = "linalg.exp"(%a) : (tensor<2xf32>) -> tensor<2xf32>
              return %0 : tensor<2xf32>"""
    with pytest.raises(bg.ParseError, match=r"'linalg.exp' op is neither element-wise nor a reduction"):
        bg.from_mlir(function(body, "%a: tensor<2xf32>", "tensor<2xf32>"))
    body = """%0 = "test.broadcastable"(%a) : (tensor<2xf32>) -> tensor<2xf32>
              return %0 : tensor<2xf32>"""
    with pytest.raises(bg.ParseError, match="has no meaning beyond its types"):
        bg.from_mlir(function(body, "%a: tensor<2xf32>", "tensor<2xf32>"))


def test_the_name_that_texts_give_a_division_is_answered_by_tosas():
    text = "func.func @f(%a: tensor<4xi32>) -> tensor<4xi32> {\n{}\nreturn %0 : tensor<4xi32>\n}"
    line = "%0 = tosa.div %a, %a : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>"
    with pytest.raises(bg.ParseError, match=r":2:6: error: 'tosa.div' op is none of TOSA's; write tosa.intdiv"):
        bg.from_mlir(text.replace("{}", line))


def test_what_ops_accept_one_by_one_may_be_certain_to_fail():
    body = """%0 = tosa.add %a, %a : (tensor<3xf32>, tensor<3xf32>) -> tensor<?xf32>
              %1 = tosa.add %0, %b : (tensor<?xf32>, tensor<4xf32>) -> tensor<4xf32>
              return %1 : tensor<4xf32>"""
    with pytest.raises(bg.BroadcastError, match=r"<mlir>:1:\d+: error: 'func.func' op @main operand 'b' dim 0"):
        bg.from_mlir(function(body, "%a: tensor<3xf32>, %b: tensor<4xf32>", "tensor<4xf32>"))


def test_names_of_operands_are_python_names():
    body = """%0 = tosa.add %arg0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
              %2 = tosa.sub %0, %a.b-$ : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
              return %2 : tensor<2xf32>"""
    kernel = bg.from_mlir(
        function(body, "%arg0: tensor<2xf32>, %1: tensor<2xf32>, %a.b-$: tensor<2xf32>", "tensor<2xf32>")
    )
    assert all(name.isidentifier() for name in kernel.operands) and len(set(kernel.operands)) == 3
    a = F32([1, 2])
    np.testing.assert_array_equal(kernel(a, a, a), a)
