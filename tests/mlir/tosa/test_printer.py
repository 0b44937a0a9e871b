"""Expressions as TOSA: what is printed, what is refused, that mlir-opt verifies it, and that it can be read back."""

from __future__ import annotations

import random

import numpy as np
import pytest

import bcastgen as bg
import mlir_tools
from bcastgen.api.functions import jit
from bcastgen.api.op_kernels import op_kernel
from bcastgen.core.dtypes import BOOL, COMPUTED, F32, dtype
from bcastgen.core.errors import BcastgenError, BroadcastError
from bcastgen.expr.trace import converted
from bcastgen.loops.interpret import interpret
from bcastgen.mlir.tosa.printer import tosa_text
from bcastgen.mlir.tosa.spellings import spelling
from bcastgen.mlir.tosa.table import TOSA_OPS
from bcastgen.ops.rows.complex_parts import COMPLEX_PARTS
from bcastgen.ops.table import OPS
from compile_flags import QUICK
from expression_programs import EITHER_ZERO, make_program
from long_runs import many

TO_LINALG = "builtin.module(func.func(tosa-to-linalg-named,tosa-to-linalg,tosa-to-arith,tosa-to-tensor))"


def printed(kernel):
    compilation = kernel.compilation
    return tosa_text(compilation.typed, compilation.program, kernel.__name__)


def ops_of(kernel):
    """The ops of the printed text, in order, without constants and reshapes."""
    words = [line.split("tosa.")[1].split()[0] for line in printed(kernel).splitlines() if " = tosa." in line]
    return [word for word in words if word not in ("const_shape", "reshape")]


# ---- what is printed -------------------------------------------------------------------------------------------------


def test_a_whole_function():
    kernel = bg.from_text("(f32[?, 4] a, f32[4] b) -> a * 2 + b", "axpb")
    assert printed(kernel) == (
        "func.func @axpb(%a: tensor<?x4xf32>, %b: tensor<4xf32>) -> tensor<?x4xf32> {\n"
        '  %c2.0 = "tosa.const"() {values = dense<2.0> : tensor<1x1xf32>} : () -> tensor<1x1xf32>\n'
        '  %c0 = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>\n'
        "  %v0 = tosa.mul %a, %c2.0, %c0 : (tensor<?x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<?x4xf32>\n"
        "  %shape = tosa.const_shape {values = dense<[1, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>\n"
        "  %b_shaped = tosa.reshape %b, %shape : (tensor<4xf32>, !tosa.shape<2>) -> tensor<1x4xf32>\n"
        "  %v1 = tosa.add %v0, %b_shaped : (tensor<?x4xf32>, tensor<1x4xf32>) -> tensor<?x4xf32>\n"
        "  return %v1 : tensor<?x4xf32>\n"
        "}\n"
    )


@pytest.mark.parametrize(
    ("text", "ops"),
    [
        ("(f32[3] a, f32[3] b) -> a < b", "greater"),
        ("(f32[3] a, f32[3] b) -> a <= b", "greater_equal"),
        ("(i8[3] a, i8[3] b) -> a != b", "equal logical_not"),
        ("(f32[3] a) -> -a", "negate"),
        ("(i8[3] a) -> -a", "sub"),
        ("(f32[3] a) -> a ** 2", "mul"),
        ("(f32[3] a) -> clip(a, 0, 6)", "clamp"),
        ("(f32[3] a, f32[1] b) -> clip(a, b, 6)", "maximum minimum"),
        ("(f32[3] a) -> clip(a, 6, 0)", "maximum minimum"),
        ("(f32[3] a) -> a.astype(int8)", "greater ceil floor select cast"),
        ("(i8[3] a) -> a.astype(f32)", "cast"),
        ("(bool[3] a, bool[3] b) -> a + b * a", "logical_and logical_or"),
        ("(bool[3] a, bool[3] b) -> ~a & b", "logical_not logical_and"),
        ("(i32[3] a, i32[3] b) -> (a >> b) | (a << b)", "arithmetic_right_shift logical_left_shift bitwise_or"),
        ("(u32[3] a, u32[3] b) -> a >> b", "logical_right_shift"),
        ("(i8[3] a, i8[3] b) -> truncate_divide(a, b)", "cast cast intdiv cast"),
        ("(i32[3] a, i32[3] b) -> truncate_divide(a, b)", "intdiv"),
        ("(f32[3] a, f32[3] b) -> where(a > b, a, 0)", "greater select"),
        ("(f32[3] a) -> +a", ""),
        ("(i16[3] a) -> tosa_negate(a, 0, 0)", "negate"),
        ("(i8[3] a, i8[] b) -> tosa_negate(a, b, 1)", "negate"),
        ("(i32[3] a) -> tosa_negate(a, 1, 2)", "add sub"),
        ("(i8[3] a, i8[3] b) -> tosa_negate(a, b, 2)", "cast add cast sub maximum minimum cast"),
    ],
)
def test_rows_are_the_ops_that_mean_the_same(text, ops):
    assert ops_of(bg.from_text(text)) == ops.split()


def test_attributes_are_written():
    assert "{min_val = -1.0 : f32, max_val = 6.5 : f32}" in printed(bg.from_text("(f32[3] a) -> clip(a, -1, 6.5)"))
    assert "{min_val = -3 : i8, max_val = 100 : i8}" in printed(bg.from_text("(i8[3] a) -> clip(a, -3, 100)"))
    assert "{nan_mode = IGNORE}" in printed(bg.from_text("(f32[3] a) -> fmax(a, 0)"))
    assert "{round = true}" in printed(bg.from_text("(i8[3] a) -> rounding_right_shift(a, 2)"))
    assert "dense<0x7FF0000000000000>" in printed(bg.from_text("(f64[3] a) -> isinf(a)"))


def test_zero_points_and_shifts_have_rank_1():
    text = printed(bg.from_text("(i8[2, 3] a) -> tosa_negate(a, 3, -5)"))
    assert "tosa.negate %a, %c3, %c-5 : (tensor<2x3xi8>, tensor<1xi8>, tensor<1xi8>)" in text
    text = printed(bg.from_text("(i32[2, 3] a, i8[] s) -> tosa_multiply_shift(a, a, s)"))
    assert "tosa.mul %a, %a, %s_shaped : (tensor<2x3xi32>, tensor<2x3xi32>, tensor<1xi8>) -> tensor<2x3xi32>" in text
    with pytest.raises(BcastgenError, match=r"tosa\.mul takes one shift for all elements"):
        printed(bg.from_text("(i32[3] a, i8[3] s) -> tosa_multiply_shift(a, a, s)"))


def test_views_are_reshapes_transposes_and_choices():
    kernel = jit(lambda a, b: (a.T + b, bg.broadcast_to(b, (5, 7))), signature="(f32[7, 2] a, f32[?] b)", name="v")
    text = printed(kernel)
    assert "tosa.transpose %a {perms = array<i32: 1, 0>} : (tensor<7x2xf32>) -> tensor<2x7xf32>" in text
    assert "tosa.select %ctrue, %b_shaped, %b_shaped" in text
    assert "dense<[1, -1]> : tensor<2xindex>" in text
    kernel = jit(lambda a, b: a[:, None] * b, signature="(f32[?] a, f32[4] b)", name="outer")
    assert "dense<[-1, 1]> : tensor<2xindex>" in printed(kernel)


def test_what_a_declared_result_knows_is_in_the_types():
    kernel = bg.from_text("(f32[?] a, f32[?] b) -> a + b")
    kernel = jit(lambda a, b: a + b, signature="(f32[?] a, f32[?] b) -> f32[5]", name="f")
    assert "-> tensor<5xf32> {" in printed(kernel)
    assert "(tensor<?xf32>, tensor<?xf32>) -> tensor<5xf32>" in printed(kernel)
    kernel = jit(lambda a: a, signature="(f32[?] a) -> f32[5]", name="f")
    assert "tensor.cast %a : tensor<?xf32> to tensor<5xf32>" in printed(kernel)


def test_constant_arrays_are_constants():
    kernel = bg.from_text("(f32[?, 2] a, f32[2] w, bool[2] m) -> where(m, a * w, 0)")
    compilation = kernel.compilation
    constants = (np.float32([0.1, np.inf]), np.array([True, False]))
    text = tosa_text(compilation.typed, compilation.program, "f", constants)
    assert "func.func @f(%a: tensor<?x2xf32>) ->" in text
    assert "dense<[0.10000000149011612, 0x7F800000]> : tensor<2xf32>" in text
    assert "dense<[true, false]> : tensor<2xi1>" in text


# ---- what is refused -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("(f32[3] a, f32[3] b) -> arctan2(a, b)", BcastgenError, "row 'arctan2' of .f32, f32. has no TOSA op"),
        ("(f32[3] a, f32[3] b) -> a / b", BcastgenError, "row 'divide' .*print linalg"),
        ("(i32[3] a, i32[3] b) -> a // b", BcastgenError, "row 'floor_divide' of .i32, i32."),
        ("(i64[3] a, u64[3] b) -> a < b", BcastgenError, "row 'less' of .i64, u64."),
        ("(u32[3] a, u32[3] b) -> truncate_divide(a, b)", BcastgenError, "row 'truncate_divide' of .u32, u32."),
        ("(u8[3] a) -> rounding_right_shift(a, 1)", BcastgenError, "row 'rounding_right_shift' of .u8, u8."),
        ("(f32[*] a) -> a + 1", BroadcastError, "operand 'a' is f32.*TOSA needs ranks; declare them"),
        ("(f32[0] a) -> a + 1", BroadcastError, "operand 'a' is f32.0.*no extents of 0"),
        ("(f32[?, ?] a, f32[2, ?, ?] b) -> a + b", BroadcastError, "'a' is .* meets rank 3: TOSA reshapes one dim"),
    ],
)
def test_what_tosa_does_not_say_is_refused_by_name(text, error, message):
    with pytest.raises(error, match=message):
        printed(bg.from_text(text))


def test_users_ops_and_shapes_of_others_are_refused(monkeypatch):
    from bcastgen.ops import table as ops

    monkeypatch.setattr(ops.DEFINED, "rows", {})
    bg.define_op("halved", c="x / 2")
    with pytest.raises(BcastgenError, match="op 'halved', which define_op made of C, has no TOSA op"):
        printed(bg.from_text("(f32[3] a) -> halved(a)"))
    like = jit(lambda a, b: bg.broadcast_to(a, b), signature="(f32[?] a, f32[?] b)", name="f")
    with pytest.raises(BcastgenError, match="shape of operand 'b' has no TOSA op"):
        printed(like)


# ---- every row -------------------------------------------------------------------------------------------------------

# Rows without a counterpart for any dtype.
REFUSED = """arccos arccosh arcsin arcsinh arctan arctan2 arctanh bitwise_count cbrt copysign cosh deg2rad
    divide erfc erfinv exp2 expm1 fabs float_power floor_divide fmod frexp_exponent frexp_mantissa full_like
    gammaln gcd gelu heaviside hypot i0 isnat lcm ldexp log10 log1p log2 log_ndtr logaddexp logaddexp2 logit mish
    modf_fraction modf_whole nan_to_num ndtr ndtri nextafter rad2deg remainder rint round signbit silu sinh softplus
    spacing sqrt tan xlog1py xlogy""".split()


# TOSA has no complex numbers.
KINDS = [kind for kind in COMPUTED if kind.name != "bf16" and not kind.is_complex]


def rows_for(kind):
    """(op, cast's target or None, reference to print and to call) for every row that takes operands of one dtype."""
    for op in OPS.values():
        targets = [target for target in COMPUTED if target is not kind] if op.params else [None]
        for target in targets:
            try:
                loops, result = ((kind,), target) if op.params else op.types((kind,) * op.arity)
                spelling(op, loops, result)
            except BcastgenError:
                continue
            if op.name == "tosa_multiply_shift" or "bf16" in (str(kind), str(target), str(result)):
                continue
            yield op, target


def apply(op, target, operands):
    return converted(operands[0], target, op) if op.params else op_kernel(op)(*operands)


def kernel_of(kind, rows, signature):
    rows = list(rows)
    return jit(
        lambda a, b, c: tuple(apply(op, target, [a, b, c][: op.arity]) for op, target in rows),
        signature=signature,
        name=f"rows_{kind}",
    )


def test_only_these_rows_have_no_counterpart():
    found = {op.name for kind in KINDS for op, _ in rows_for(kind)}
    named = {op.row for op in TOSA_OPS} | {op.integer_row for op in TOSA_OPS if op.integer_row}
    unspelled = {*REFUSED, *(op.name for op in COMPLEX_PARTS), "tosa_multiply_shift"}
    assert set(OPS) - found == unspelled, "what TOSA lacks belongs in REFUSED, the others in spellings.py"
    assert not named & set(REFUSED)


@mlir_tools.needs_mlir
@pytest.mark.slow
@pytest.mark.parametrize("kind", [kind for kind in KINDS], ids=str)
def test_mlir_opt_verifies_every_row(kind):
    rows = list(rows_for(kind))
    text = printed(kernel_of(kind, rows, f"({kind}[?, 4] a, {kind}[4] b, {kind}[3, 1] c)"))
    text += printed(kernel_of(f"scalar_{kind}", rows, f"({kind}[] a, {kind}[] b, {kind}[] c)"))
    shown = mlir_tools.checked_opt(text)
    assert shown.count("tosa.") >= len(rows)


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, id=str(kind), marks=[] if kind.name in ("bool", "i8", "f32") else pytest.mark.slow)
        for kind in KINDS
    ],
)
def test_the_text_means_the_same_again(kind, samples, differences, monkeypatch):
    # What is compared is what the text means; optimised, it compiles for long.
    monkeypatch.setenv("BCASTGEN_CFLAGS", QUICK)
    rows = list(rows_for(kind))
    kernel = kernel_of(kind, rows, f"({kind}[?, 1] a, {kind}[?] b, {kind}[1, 1] c)")
    again = bg.from_mlir(printed(kernel))
    a, b, c = samples(kind, 3)[:, None], samples(kind, 3, 1), samples(kind)[-2:-1, None]
    if kind is BOOL:
        a, b, c = np.array([[True], [False]]), np.array([True, False]), np.array([[True]])
    for (op, target), expected, got in zip(rows, kernel(a, b, c), again(a, b, c), strict=True):
        assert got.dtype == expected.dtype
        assert not differences(got, expected, 0, op.name in EITHER_ZERO).any(), f"{op.name} {target or ''}"
    assert printed(again) == printed(bg.from_mlir(printed(again)))


@mlir_tools.needs_mlir
@pytest.mark.parametrize("text", ["(bf16[?, 4] a, bf16[4] b) -> a * 2 + where(isfinite(a), b, 0.1)"])
def test_bf16_needs_no_numpy_dtype(text):
    mlir_tools.checked_opt(printed(bg.from_text(text)))


def random_kernels(count, seed):
    """(kernel, operands) of random programs over dims that are partly known, as far as TOSA has them."""
    chance, found = random.Random(seed), 0
    for _ in range(100 * count):
        if found == count:
            return
        program = make_program(chance, True, chance.randint(1, 5))
        domain = [chance.choice((1, 2, 3)) for _ in range(chance.randint(0, 3))]
        shapes = [
            tuple(1 if chance.random() < 0.3 else extent for extent in domain[chance.randint(0, len(domain)) :])
            for _ in program.call_types
        ]
        types = (
            f"{kind}[{', '.join('?' if chance.random() < 0.4 else str(extent) for extent in shape)}] {name}"
            for kind, shape, name in zip(program.call_types, shapes, program.names, strict=True)
        )
        if not program.steps or any(kind.name == "bf16" for kind in program.call_types):
            continue
        names = ", ".join(program.names)
        function = eval(f"lambda {names}: run(({names},))", {"run": program.written})
        try:
            kernel = jit(function, signature=f"({', '.join(types)})", name=f"program{found}")
            printed(kernel)
        except BcastgenError:
            continue
        found += 1
        yield kernel, program.call_types, shapes
    raise AssertionError(f"{found} of {100 * count} programs are kernels that TOSA has")


@mlir_tools.needs_mlir
@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_random_programs_are_verified_and_read_back(seed, samples, differences):
    draw, texts = np.random.default_rng(seed), []
    for kernel, call_types, shapes in random_kernels(many(50, 150), seed):
        texts.append(printed(kernel))
        again = bg.from_mlir(texts[-1])
        operands = [draw.choice(samples(kind, 5, seed), shape) for kind, shape in zip(call_types, shapes, strict=True)]
        expected, got = (interpret(each.compilation.program, operands) for each in (kernel, again))
        for x, y in zip(expected, got, strict=True):
            assert x.dtype == y.dtype
            assert x.shape == y.shape
            assert not differences(y, x, 0, True).any(), texts[-1]
    mlir_tools.checked_opt("".join(texts))


@mlir_tools.needs_native
@pytest.mark.slow
@pytest.mark.parametrize("kind", [F32, dtype("f64"), dtype("i32"), dtype("i8"), dtype("i64")], ids=str)
def test_llvm_computes_the_same(kind, samples, differences, tmp_path):
    """What LLVM makes of the text, on values for which the specification says what comes out."""
    skipped = {
        "truncate_divide",
        "left_shift",
        "right_shift",
        "rounding_right_shift",
        "logical_right_shift",
        "absolute",
    }
    skipped |= {"cast", "tosa_cast", "power"} if kind.is_float else set()
    # Integers of other signs are not lowered by LLVM.
    rows = [
        (op, target)
        for op, target in rows_for(kind)
        if op.name not in skipped and not (target is not None and (target.kind == "unsigned" or target.name == "f16"))
    ]
    kernel = kernel_of(kind, rows, f"({kind}[3, 4] a, {kind}[4] b, {kind}[3, 1] c)")
    lowered = mlir_tools.checked_opt(printed(kernel), f"--pass-pipeline={TO_LINALG}")
    # The functions, without the module around them.
    maps, functions = lowered.rsplit("}", 1)[0].split("module {\n")
    native = mlir_tools.Native.compile(maps + functions, tmp_path / "rows")
    draw = np.random.default_rng(0)
    a, b, c = (
        draw.uniform(-9, 9, shape).astype(kind.np) if kind.is_float else draw.integers(-100, 100, shape, kind.np)
        for shape in ((3, 4), (4,), (3, 1))
    )
    wanted = kernel(a, b, c)
    got = native.call(kernel.__name__, [a, b, c], [(result.dtype, result.ndim) for result in wanted])
    for (op, target), expected, found in zip(rows, wanted, got, strict=True):
        ulp = 2 * op.ulp if expected.dtype.kind == "f" else 0
        assert not differences(found, expected, ulp, op.name in EITHER_ZERO).any(), f"{op.name} {target or ''}"
