"""The inner loops of kernels: their C, and what they compute through the run time's plan of a call."""

from __future__ import annotations

import itertools
import random
import re
import shutil
import subprocess
from dataclasses import replace

import numpy as np
import pytest

from bcastgen.api.functions import from_text, jit
from bcastgen.api.op_kernels import op_kernel
from bcastgen.core.dtypes import F32, F64
from bcastgen.core.resources import bench_module
from bcastgen.expr.build import Builder
from bcastgen.kernel.kernel import Kernel
from bcastgen.ops.c_forms import CForms, RangeTest
from bcastgen.ops.table import OPS
from bcastgen.runtime.toolchain import cpu_features

exp, sin, sqrt, log = (op_kernel(OPS[name]) for name in ("exp", "sin", "sqrt", "log"))
truth = bench_module("truth")
KINDS = ("same", "column", "row", "scalar", "strided", "transposed")


def function_of(text, name):
    """The C function `name` of the kernel of a text."""
    source = from_text(text).source
    start = source.index(f"static void {name}(")
    return source[start : source.index("\n}\n", start)]


# ---- the C -----------------------------------------------------------------------------------------------------------


def test_a_row_loop_calls_the_typed_loop():
    rows = function_of("(f32[*] a, i8[*] b) -> a + b", "kernel_rows_unit")
    assert "for (int64_t row = 0; row < rows; row++)" in rows
    assert "(const int8_t *)(const void *)at1" in rows and "at1 += step1;" in rows
    assert "(float *)(void *)at2" in rows and "int64_t step2 = steps[2];" in rows


def test_a_kernel_without_demands_has_no_plan():
    source = from_text("(f32[*] a, f32[*] b) -> a + b").source
    assert "bcg_plan" not in source and "bcg_next" not in source and ".admits" not in source and "_any(" not in source
    assert ".admits = bcg_entry_admits" in from_text("(i32[*] a, i32[*] b) -> a**b").source


def test_maps_are_told_where_an_operand_is_not_aligned():
    source = jit(lambda a, b: a.T + b, signature="(f32[?, ?] a, f32[?] b)").source
    assert "_dims_a[] = {1, 0}" in source
    assert "_maps[] = {" in source and ", NULL, NULL};" in source
    assert ".maps" not in from_text("(f32[*] a, f32[*] b) -> a + b").source


def test_claims_alone_have_no_loops():
    source = from_text("(f32[n] a, f32[n] b) -> a + b").source
    assert source.count(".positions") == 1


def test_a_value_has_one_name_in_all_loops():
    text = "(f32[*] a, f32[*] b) -> exp(a) * log(b)"
    assert "t0_tile[i] = t0;" in function_of(text, "kernel_stage_t0_unit")
    assert "const float t0 = t0_tile[i];" in function_of(text, "kernel_staged_unit")
    assert "const float t0 = *t0_tile;" in function_of(text, "kernel_staged_zero_t0_tile")
    assert "bcg_exp_f32" in function_of(text, "kernel_unit")
    assert "bcg_exp_f32" not in function_of(text, "kernel_staged_unit")


def test_tiles_hold_values_as_c_computes_with_them():
    source = from_text("(f16[*] a, f16[*] b) -> exp(a) * b").source
    assert "float *t0_tile" in source and "uint16_t *t0_tile" not in source
    assert "bool *t1_tile" in from_text("(f32[*] a, f32[*] b) -> where(sqrt(a) > 1, b, 2)").source


def test_names_of_users_do_not_meet_those_of_tiles():
    source = from_text("(f32[*] t0_tile, f32[*] b) -> exp(t0_tile) * b").source
    assert "float *t0_tile_2" in source


# ---- values ----------------------------------------------------------------------------------------------------------


def operand(chance, kind, rows, columns, dtype):
    values = np.random.default_rng(chance.randrange(1 << 30)).uniform(0.5, 2.0, (rows, 2 * columns)).astype(dtype)
    match kind:
        case "same":
            return np.ascontiguousarray(values[:, :columns])
        case "column":
            return values[:, :1]
        case "row":
            return values[0, :columns]
        case "scalar":
            return values[0, 0]
        case "strided":
            return values[:, ::2]
        case "transposed":
            return np.asfortranarray(values[:, :columns])


CASES = {
    "outer": (lambda a, b: exp(a) * sqrt(b), lambda a, b: np.exp(a) * np.sqrt(b), 2),
    "nested": (lambda a, b, c: a * exp(b * log(c)), lambda a, b, c: a * np.exp(b * np.log(c)), 3),
    "results": (
        lambda a, b: (exp(a) + b, sqrt(b) * exp(a), a - 1),
        lambda a, b: (np.exp(a) + b, np.sqrt(b) * np.exp(a), a - 1),
        2,
    ),
    "nests": (lambda a, b, c: (exp(a) * b, sqrt(c) + 1), lambda a, b, c: (np.exp(a) * b, np.sqrt(c) + 1), 3),
    "mask": (
        lambda a, b, c: sqrt(a) * (log(b) > 0) + c,
        lambda a, b, c: np.sqrt(a) * (np.log(b) > 0) + c,
        3,
    ),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_staged_or_not_the_values_are_the_same(case, dtype):
    function, reference, count = CASES[case]
    kernel, chance = jit(function), random.Random(case)
    patterns = list(itertools.product(KINDS, repeat=count))
    for pattern in chance.sample(patterns, min(len(patterns), 40)):
        rows, columns = chance.choice([(3, 5), (40, 70), (1, 300), (300, 1), (7, 1000), (2, 3)])
        given = [operand(chance, kind, rows, columns, dtype) for kind in pattern]
        got, expected = kernel(*given), reference(*given)
        pairs = [(got, expected)] if not isinstance(expected, tuple) else zip(got, expected, strict=True)
        for value, wanted in pairs:
            assert (value.shape, value.dtype) == (np.shape(wanted), np.asarray(wanted).dtype)
            np.testing.assert_allclose(value, wanted, rtol=1e-5 if dtype == "f4" else 1e-13, err_msg=str(pattern))


def test_halves_in_tiles_round_where_the_values_do():
    kernel = jit(lambda a, b: exp(a) * b + exp(a))
    a, b = np.linspace(0, 1, 300, dtype="f2")[:, None], np.linspace(1, 2, 200, dtype="f2")
    whole = kernel(
        np.ascontiguousarray(np.broadcast_to(a, (300, 200))), np.ascontiguousarray(np.broadcast_to(b, (300, 200)))
    )
    np.testing.assert_array_equal(kernel(a, b), whole)


def test_a_hundred_operands():
    names = [f"x{at}" for at in range(100)]
    kernel = from_text(" + ".join(names))
    given = [np.float64(at) + np.arange(5.0) * (at % 3 == 0) for at in range(100)]
    np.testing.assert_array_equal(kernel(*given), np.sum([np.broadcast_to(x, 5) for x in given], axis=0))
    columns = [np.full((4, 1), x) if at % 2 else x for at, x in enumerate(np.arange(100.0))]
    np.testing.assert_array_equal(kernel(*columns), np.full((4, 1), 4950.0))


def long_chain(calls):
    def function(a, b):
        value = a
        for at in range(calls):
            value = exp(-value * b) if at % 3 == 0 else value * b + at % 7
        return value

    return function


def test_a_thousand_ops():
    kernel = jit(long_chain(400))
    assert len(kernel.compilation.program.nests[0].body) > 700
    a, b = np.linspace(0.1, 0.5, 1000), np.linspace(0.2, 0.9, 1000)
    value = a
    for at in range(400):
        value = np.exp(-value * b) if at % 3 == 0 else value * b + at % 7
    np.testing.assert_allclose(kernel(a, b), value, rtol=1e-11)
    assert "BCG_CALLED" in kernel.source


# ---- near forms ------------------------------------------------------------------------------------------------------


def probe(limit="100"):
    """A kernel of an op that adds 1, and where no element of a block is rare takes 1 away: values tell what ran."""
    name = f"probe_{limit}"  # which is all that the key holds of a row
    rare = {"float": (RangeTest("{V}", "{0}", limit, f"{{0}} <= {limit}"),)}
    forms = CForms(range_tests=rare, common_case="({0} - 1)", scalar=True)
    op = replace(OPS["sin"], name=name, c="({0} + 1)", forms=forms)
    builder = Builder(("a", "b"))
    a, b = builder.operands
    result = builder.apply(OPS["multiply"], (builder.apply(op, (builder.apply(OPS["add"], (a, b)),)), b))
    return Kernel(builder.finish((result,)), "probe", ("a", "b"))


@pytest.mark.parametrize("dtype", ["f4", "f8", "f2"])
def test_a_block_without_a_rare_element_takes_the_near_form(dtype):
    a, b = np.zeros(1000, dtype), np.ones(1000, dtype)
    kernel = probe()
    np.testing.assert_array_equal(kernel(a, b), np.zeros(1000, dtype))
    a[300] = 200
    expected = np.zeros(1000, dtype)
    expected[256:512], expected[300] = 2, 202
    np.testing.assert_array_equal(kernel(a, b), expected)


def test_what_is_rare_is_looked_for_among_values_that_the_body_makes():
    kernel = probe("1")
    np.testing.assert_array_equal(kernel(np.zeros(3), np.ones(3)), np.zeros(3))
    np.testing.assert_array_equal(kernel(np.float64([0, 0, 1]), np.ones(3)), np.float64([2, 2, 3]))
    assert "const double number0 = t0;" in kernel.source and "if (most0 > 1) {" in kernel.source


def test_plain_c_takes_the_full_form(tmp_path):
    source = probe().emit_c(tmp_path)[0].read_text()
    assert "most0" not in source and "t0 - 1" not in source and "t0 + 1" in source


def test_a_part_looks_at_what_earlier_ones_left():
    unit = function_of("(f32[*] a) -> sin(exp(a))", "kernel_unit")
    assert unit.count("const float t0 = t0_block[i - first];") == 3
    assert unit.count("bcg_exp_f32") == unit.count("bcg_exp_common_f32") == unit.count("bcg_sin_common_f32") == 1


def test_a_look_that_takes_a_function_is_not_worth_it():
    others = " * ".join(f"exp(a * {at}.0)" for at in range(2, 7))
    unit = function_of(f"(f64[*] a) -> log(exp(a)) * {others}", "kernel_unit")
    assert "bcg_log_common_f64" not in unit and "bcg_log_f64" in unit and "bcg_exp_common_f64" in unit


def is_near_for(op, dtype):
    return bool(op.range_tests_for((dtype,) * op.arity, dtype))


# Zeros, of either sign, and numbers that are no normal ones; small, large and very large ones.
RARE = [0.0, -0.0, 1e-310, -1e-40, 1e-39, np.inf, -np.inf, np.nan, 1e30, -1e22, 3e38, -1e15, 1e12, 7e6, -300.0]


@pytest.mark.parametrize("math", ["accurate", "fast"])
@pytest.mark.parametrize("name", [op.name for op in OPS.values() if is_near_for(op, F32)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_a_value_does_not_depend_on_its_neighbours(name, dtype, math):
    """A block of operands from the row's domain takes the near form, and with rare ones among them the full form."""
    op = OPS[name]
    kernel = from_text(f"{name}({', '.join('ab'[: op.arity])})", math=math)
    near, *others = np.random.default_rng(1).uniform(*op.domain, (op.arity, 3000)).astype(dtype)
    mixed = near.copy()
    mixed[::200] = RARE
    rare = np.arange(3000) % 200 == 0
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(kernel(mixed, *others)[~rare], kernel(near, *others)[~rare])
        alone = [kernel(*(x[at : at + 1] for x in (mixed, *others)))[0] for at in np.flatnonzero(rare)]
    np.testing.assert_array_equal(kernel(mixed, *others)[rare], alone)


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u4", "i8", "u8"])
def test_integer_powers_are_near_or_rare(dtype):
    base = np.arange(1000).astype(dtype)
    exponents = (np.arange(1000) % 64).astype(dtype)
    exponents[300], exponents[999] = 100, 64
    np.testing.assert_array_equal(op_kernel(OPS["power"])(base, exponents), base**exponents)


# ---- halves of a block side by side ----------------------------------------------------------------------------------


@pytest.mark.parametrize("text", ["(f32[*] a) -> tanh(a)", "(f64[*] a) -> log1p(a)", "(f32[*] a) -> a * tanh(exp(a))"])
def test_dear_functions_are_computed_in_pairs(text):
    source = function_of(text, "kernel_unit")
    assert source.count("if (BCG_PAIRS && end - first == 256)") == 1
    assert "other0 = " in source
    assert "#define BCG_PAIRS 1" in from_text(text).source


@pytest.mark.parametrize(
    "text",
    [
        "(f32[*] a) -> exp(a)",
        "(f32[*] a) -> tanh(a) * sigmoid(a)",
        "(f32[*] a) -> a ** 3",
        "(i32[*] a) -> a * a",
        "(f32[*] a) -> erf(a)",
    ],
)
def test_other_loops_are_not(text):
    assert "BCG_PAIRS" not in from_text(text).source


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize("name", ["tanh", "tan", "log1p", "arctan", "arctanh"])
def test_pairs_give_the_bits_of_points_one_by_one(name, dtype):
    values = np.linspace(-0.9, 0.9, 700).astype(dtype)
    values[[3, 130, 300, 500]] = [0.0, -0.0, 0.5, np.nan]
    function = jit(lambda a: getattr(np, name)(a))
    whole = function(values)
    parts = np.concatenate([function(values[at : at + 100]) for at in range(0, 700, 100)])
    np.testing.assert_array_equal(whole.view(np.uint8), parts.view(np.uint8))
    inside = values.copy()
    function(inside, out=inside)
    np.testing.assert_array_equal(inside.view(np.uint8), whole.view(np.uint8))


def test_what_later_parts_read_is_left_by_pairs():
    values = np.linspace(-3, 3, 777, dtype=np.float32)
    mish = from_text("(f32[*] a) -> a * tanh(log1p(exp(a)))")
    assert "t1_block[at - first + 32] = t1_1;" in mish.source
    exact = values * np.tanh(np.log1p(np.exp(values.astype(np.float64))))
    np.testing.assert_allclose(mish(values), exact, rtol=4e-7)


# ---- math="fast" -----------------------------------------------------------------------------------------------------

FAST = [op for op in OPS.values() if op.forms.fast is not None]


@pytest.mark.parametrize("dtype", [F32, F64], ids=str)
@pytest.mark.parametrize("op", FAST, ids=lambda op: op.name)
def test_fast_functions_keep_their_bound(op, dtype):
    names = "ab"[: op.arity]
    kernel = jit(
        eval(f"lambda {', '.join(names)}: function({', '.join(names)})", {"function": op_kernel(op)}), math="fast"
    )
    given = truth.operands_of(op, dtype, 500)
    errors = truth.errors_of(op, dtype, given, kernel(*given))
    assert errors.max() <= op.forms.fast_ulp, f"{op.name}({[x[errors.argmax()] for x in given]})"
    assert "_fast_" in kernel.source


STEPS = {
    "sums": (20, "x" + "*x + y)" * 20, 2),
    "differences": (20, "x" + "*x - y)" * 20, 2),
    "polynomial": (8, "x*0.3 + 0.1" + ")*x + 0.2" * 7, 1),
    "one difference": (1, "x*y - z", 3),
}


@pytest.mark.parametrize("name", STEPS)
@pytest.mark.parametrize("program", ["gcc", "clang-19"])
def test_fast_chains_are_contracted_in_the_instructions(program, name, monkeypatch, tmp_path):
    if "fma" not in cpu_features().split():
        pytest.skip("this processor has no instruction for it")
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program} here")
    monkeypatch.setenv("BCASTGEN_CC", program)
    steps, text, operands = STEPS[name]
    text = "(" * text.count(")") + text
    given = (np.random.default_rng(0).normal(size=(operands, 1000)) / 2).astype("f4")
    counts = {}
    for math in ("accurate", "fast"):
        monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(tmp_path / math))
        # Only the loop where all operands move: of two stationary ones the product is made outside of a loop.
        from_text(text, math=math, variants=0)(*given)
        (made,) = (tmp_path / math).rglob("kernel.so")
        listing = subprocess.run(["objdump", "-d", made], capture_output=True, text=True, check=True).stdout
        once = len(re.findall(r"\tvfn?m(?:add|sub)\d*ps", listing))
        twice = len(re.findall(r"\tv(?:mul|add|sub)ps", listing))
        counts[math] = once, twice
    assert counts["accurate"][0] == 0 and counts["accurate"][1] >= 2 * steps
    assert counts["fast"][0] >= steps
    assert counts["fast"][1] <= counts["fast"][0] / 10


@pytest.mark.parametrize("math", ["accurate", "fast"])
@pytest.mark.parametrize("program", ["gcc", "clang-19"])
def test_functions_leave_no_upper_halves_of_vectors_behind(program, math, monkeypatch, tmp_path):
    # The run time is compiled for SSE2: on Intel's processors its next instructions would wait for the upper halves.
    if "avx" not in cpu_features().split():
        pytest.skip("this processor has no such vectors")
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program} here")
    monkeypatch.setenv("BCASTGEN_CC", program)
    monkeypatch.setenv("BCASTGEN_CACHE_DIR", str(tmp_path))
    from_text("a*b + exp(c)", math=math)(*np.ones((3, 100), "f4"))
    (made,) = tmp_path.rglob("kernel.so")
    listing = subprocess.run(["objdump", "-d", made], capture_output=True, text=True, check=True).stdout
    wide = [function for function in re.split(r"\n(?=[0-9a-f]+ <)", listing) if re.search(r"%[yz]mm", function)]
    assert wide
    for function in wide:
        assert "vzeroupper" in function, function.splitlines()[0]


def test_fast_kernels_may_round_a_product_and_a_sum_once():
    exact, fast = (jit(lambda a, b, c: a * b + c, math=math) for math in ("accurate", "fast"))
    a, b, c = np.random.default_rng(0).normal(size=(3, 1000)).astype("f4")
    np.testing.assert_array_equal(exact(a, b, c), a * b + c)
    once = (a.astype("f8") * b + c).astype("f4")
    got = fast(a, b, c)
    assert np.all((got == once) | (got == a * b + c))
    assert exact.compilation.source.flags == () and fast.compilation.source.flags
    assert exact.compilation.key_parts != fast.compilation.key_parts
