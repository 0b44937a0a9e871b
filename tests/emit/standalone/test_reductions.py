"""Kernels with reductions in standalone C: the run time's bits, whatever the form, and what callers are told."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.c_flags import OPENMP_FLAGS
from bcastgen.emit.standalone import CForm
from c_harness import ADDRESS, LANGUAGES, MEMORY, STRICT, Case, Harness, compiler, emit_module
from compile_flags import QUICK
from long_runs import many
from reduction_c import differences
from reduction_programs import Program

EXP = "exp(x - max(x, axis=1, keepdims=True))"
SOFTMAX = f"(f32[?, ?] x) -> {EXP} / sum({EXP}, axis=1, keepdims=True)"
USUAL = CForm()
FAST = ("-O1",)
# Functions have the bits of the JIT where the machine multiplies and adds with one rounding.
NATIVE = ("-O1", "-march=native")


def programs(count, seed):
    random = np.random.default_rng(seed)
    return [Program(random) for _ in range(count)]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_random_programs_have_the_run_times_bits(tmp_path):
    assert not differences(programs(25, 1), tmp_path)


WORKSPACES = """
#include <stdio.h>
#include <stdlib.h>
#include "k.h"

int main(void)
{
    double x[] = {1, 2, 3, 4, 5, 6}, g[] = {1, 2, 3}, made[6];
    const int64_t extents[] = {2, 3}, three[] = {3};
    int64_t a_strides[2], b_strides[1], r_strides[2];
    const bcastgen_array a = bcastgen_dense(x, extents, 2, a_strides, sizeof *x);
    const bcastgen_array b = bcastgen_dense(g, three, 1, b_strides, sizeof *g);
    const bcastgen_result r = bcastgen_dense_result(made, extents, 2, r_strides, sizeof *made);
    bcastgen_diagnostic why;
    char text[200];
    size_t bytes = 0;
    k_workspace(&a, &b, &bytes, &why);
    void *const apart = malloc(bytes), *const places[] = {apart, NULL, made, x, g, made + 5};
    for (int at = 0; at < 6; at++) {
        const bcastgen_status status = k(&a, &b, &r, places[at], &why);
        k_message(status, &why, text, sizeof text);
        printf("%s\\n", text);
    }
    printf("%g %g %g\\n", x[0], g[2], made[5]);
    free(apart);
    return 0;
}
"""


@pytest.mark.parametrize("kind", ["gcc", "clang"])
def test_memory_that_is_lent_is_there_and_no_part_of_an_array(kind, tmp_path):
    bg.from_text("(f64[?,?] a, f64[?] b) -> a * sum(a*b, axis=0) + sum(exp(a - a), axis=1, keepdims=True)").emit_c(
        tmp_path, "k"
    )
    (tmp_path / "main.c").write_text(WORKSPACES)
    command = [compiler(kind), *LANGUAGES["c"], *STRICT, *ADDRESS, "main.c", "k.c", "-lm", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    said = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True).stdout.splitlines()
    assert said[0] == "no error" and said[-1] == f"1 3 {6 * (9 + 18) + 3}"
    assert "its data is a null pointer" in said[1]
    for line, array in zip(said[2:-1], ("'r'", "'a'", "'b'", "'r'"), strict=True):
        assert "overlaps" in line and array in line, line


# Loops around one without iterations would take an hour, so none of these may run.
ROWS = """
#include <stdio.h>
#include "k.h"

int main(void)
{
    const int64_t extents[] = {1000000000000, 0}, cube[] = {1000000, 1000000, 0};
    float made[2] = {7, 7};
    const bcastgen_array x = {NULL, extents, NULL, 2}, y = {NULL, cube, NULL, 3};
    const bcastgen_result none = {NULL, extents, NULL, 2}, total = {made, NULL, NULL, 0};
    bcastgen_diagnostic why;
    (void)x, (void)y, (void)none, (void)total;
    const int status = k(CALL, &why);
    printf("%d %g\\n", status, made[0]);
    return 0;
}
"""


@pytest.mark.parametrize(
    ("text", "call", "answer"),
    [
        ("(f32[?,?] x) -> sum(x)", "&x, &total", "0 0\n"),
        ("(f32[?,?,?] x) -> sum(x)", "&y, &total", "0 0\n"),
        ("(f32[?,?] x) -> x - mean(x, axis=1, keepdims=True)", "&x, &none", "0 7\n"),
        (SOFTMAX.replace("max(x, axis=1, keepdims=True)", "sum(x, axis=1, keepdims=True)"), "&x, &none", "0 7\n"),
        ("(f32[?,?] x) -> (x - mean(x, axis=1, keepdims=True), prod(x))", "&x, &none, &total", "0 1\n"),
        ("(i32[?,?] x, i32[?,?] y) -> sum(x ** y)", "&x, &x, &total", "0 0\n"),
    ],
)
@pytest.mark.parametrize("threads", [(), OPENMP_FLAGS], ids=["one", "openmp"])
def test_no_loop_runs_around_one_without_iterations(text, call, answer, threads, tmp_path):
    bg.from_text(text).emit_c(tmp_path, "k", openmp=bool(threads))
    rows = ROWS.replace("CALL", call)
    if "i32" in text:
        rows = rows.replace("float made[2]", "int32_t made[2]").replace("%d %g", "%d %d")
    (tmp_path / "main.c").write_text(rows)
    command = [compiler("gcc"), *LANGUAGES["c"], *STRICT, *threads, "main.c", "k.c", "-lm", "-o", "main"]
    subprocess.run(command, cwd=tmp_path, check=True)
    said = subprocess.run([tmp_path / "main"], capture_output=True, text=True, check=True, timeout=60)
    assert said.stdout == answer


@pytest.mark.slow
@pytest.mark.parametrize("build", [("gcc", ("-O2",)), ("clang", (QUICK, *ADDRESS)), ("clang", (QUICK, *MEMORY))])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_random_programs_in_every_build(build, tmp_path):
    assert not differences(programs(many(30, 60), 2), tmp_path, build)


@pytest.mark.parametrize("text", ["(i16[0, 3] x) -> x - mean(x)", "(i16[0, 3] x) -> x - sum(x)"])
@pytest.mark.parametrize("kind", ["gcc", pytest.param("clang", marks=pytest.mark.slow)])
def test_what_is_computed_for_results_without_elements_is_no_warning(text, kind, compile_strictly, tmp_path):
    (emitted,) = emit_module([bg.from_text(text, "k")], "k", CForm(static=True))
    compile_strictly(emitted.files, tmp_path, kind, "c")


def run(text, arrays, out, tmp_path, form=USUAL, kind="gcc", flags=FAST, places=None, change=("", "")):
    """Call a kernel's C; `places` are the arrays that share memory with an earlier one."""
    kernel = bg.from_text(text, "k")
    (emitted,) = emit_module([kernel], "k", form)
    emitted = replace(emitted, files={name: text.replace(*change) for name, text in emitted.files.items()})
    case = Case(emitted)
    for x in arrays:
        case.array(x)
    if places is None:
        case.array(out)
    else:
        case.arrays.append(case.arrays[places])
    (outcome,) = Harness([emitted], tmp_path).build(kind, flags).run(case)
    return kernel, outcome, outcome.values(len(arrays), out.dtype)


X = np.random.default_rng(3).normal(size=(37, 401)).astype(np.float32)


def test_another_order_has_other_bits(tmp_path):
    text = "(f32[?, ?] x) -> sum(x, axis=1)"
    kernel, _, got = run(text, [X], np.zeros(37, np.float32), tmp_path / "right")
    assert (got == kernel(X)).all()
    _, _, got = run(text, [X], np.zeros(37, np.float32), tmp_path / "wrong", change=("half = 8", "half = 1"))
    assert not np.allclose(got, kernel(X))


def test_a_row_of_a_softmax_needs_no_memory_and_may_replace_its_operand(tmp_path):
    kernel, outcome, got = run(SOFTMAX, [X.copy()], X, tmp_path, flags=NATIVE, places=0)
    assert outcome.call.status == "OK"
    assert (got == kernel(X)).all()
    header = kernel.emit_c(tmp_path / "out", "k")[1].read_text()
    assert "r may be x itself" in header
    assert "workspace" not in header


def test_a_result_may_not_be_an_operand_that_is_read_again(tmp_path):
    x = np.random.default_rng(4).normal(size=(5, 5)).astype(np.float32)
    _, outcome, _ = run("(f32[?, ?] x) -> x / sum(x[:, :], axis=0)", [x], x, tmp_path / "same", places=0)
    assert outcome.call.status == "OK"
    turned = bg.jit(lambda x: x / x.T.sum(axis=1, keepdims=True), signature="(f32[5, 5] x)", name="k")
    header = turned.emit_c(tmp_path / "turned", "k")[1].read_text()
    assert "may be x itself" not in header


def test_what_is_read_in_other_loops_is_in_the_callers_memory(tmp_path):
    text = "(f32[?, ?] x, f32[?, ?] y) -> max(x - mean(x, axis=0), axis=1), y + sum(x, axis=0)"
    kernel = bg.from_text(text, "k")
    y = np.ones((2, 1), np.float32)
    (emitted,) = emit_module([kernel], "k")
    assert emitted.workspace == "k_workspace"
    expected = kernel(X, y)
    case = Case(emitted).array(X).array(y)
    for one in expected:
        case.array(np.zeros_like(one))
    (outcome,) = Harness([emitted], tmp_path).build("gcc", (QUICK, *ADDRESS)).run(case)
    assert outcome.call.status == "OK"
    for at, one in enumerate(expected):
        assert (outcome.values(2 + at, np.float32) == one).all()


def test_threads_give_the_same_bits(tmp_path, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    x = np.random.default_rng(5).normal(size=(700, 500)).astype(np.float32)
    flags = ("-O1", *OPENMP_FLAGS)
    kernel, outcome, got = run(SOFTMAX, [x], np.zeros_like(x), tmp_path, CForm(openmp=True), flags=flags)
    assert "#pragma omp parallel for if (d0 * d1 > " in kernel.emit_c(tmp_path, "k", openmp=True)[0].read_text()
    assert outcome.call.status == "OK"
    _, _, alone = run(SOFTMAX, [x], np.zeros_like(x), tmp_path / "one", CForm(openmp=True))
    assert got.tobytes() == alone.tobytes()


def test_statuses_and_messages_are_pythons(tmp_path):
    empty = np.zeros((2, 0), np.float32)
    kernel, outcome, _ = run("(f32[?, ?] x) -> max(x, axis=1)", [empty], np.zeros(2, np.float32), tmp_path)
    with pytest.raises(bg.BroadcastError) as raised:
        kernel(empty)
    assert outcome.call.status == outcome.shape.status == "EMPTY"
    assert str(raised.value).startswith(outcome.message)
    _, outcome, _ = run("(f32[?, ?] x) -> sum(x, axis=1)", [X], np.zeros(36, np.float32), tmp_path / "result")
    assert (outcome.shape.status, outcome.call.status, outcome.extents) == ("OK", "RESULT", ((37,),))
    assert "result 'r' dim 0 has extent 36, expected 37" in outcome.message


def test_elements_are_looked_at_before_anything_is_written(tmp_path):
    x, y = np.arange(6), np.array([1, 2, -1, 0, 1, 3])
    _, outcome, _ = run("(i64[?] x, i64[?] y) -> sum(x ** y)", [x, y], np.zeros((), np.int64), tmp_path)
    assert outcome.call.status == "DOMAIN"
    assert outcome.untouched


def test_forms_that_reductions_do_not_have_are_refused(tmp_path):
    kernel = bg.from_text("(f32[?, ?] x) -> sum(x)", "k")
    for form in ({"main": True}, {"build": ("cffi",)}):
        with pytest.raises(bg.BcastgenError, match="k has reductions, for which there is no checking program"):
            kernel.emit_c(tmp_path, "k", **form)
    with pytest.raises(bg.BcastgenError, match="max of no elements has no value"):
        bg.from_text("(f32[0] x) -> max(x)", "k").emit_c(tmp_path, "k", static=True)
    with pytest.raises(bg.BcastgenError, match="operands of unknown rank; declare the rank"):
        bg.from_text("(f32[*] x) -> sum(x)", "k").emit_c(tmp_path, "k")


def test_kernels_of_a_module_share_trees(tmp_path):
    kernels = {
        "sum_f32": bg.from_text("(f32[?] x) -> sum(x)"),
        "mean": bg.from_text("(f32[?] x) -> mean(x)"),
        "plain": bg.from_text("(f32[?] x) -> x + 1"),
    }
    source, header, *_ = bg.emit_c(kernels, tmp_path, "m")
    assert len(re.findall(r"^} m_sum_f32;$", source.read_text(), re.MULTILINE)) == 1
    assert "m_v_sum_f32(" in header.read_text()


# Weights in the C are read in loops that reduce, in loops that store, and in both.
WEIGHTED = """func.func @k(%x: tensor<{rows}x5xf32>) -> (tensor<{rows}x5xf32>, tensor<{rows}x1xf32>) {{
  %w = "tosa.const"() {{values = dense<[[1.0, -2.0, 0.5, 3.0, 0.25]]> : tensor<1x5xf32>}} : () -> tensor<1x5xf32>
  %v = "tosa.const"() {{values = dense<[[4.0, 1.0, 0.5, -3.0, 2.0]]> : tensor<1x5xf32>}} : () -> tensor<1x5xf32>
  %a = tosa.add %x, %w : (tensor<{rows}x5xf32>, tensor<1x5xf32>) -> tensor<{rows}x5xf32>
  %m = tosa.reduce_sum %a {{axis = 1 : i32}} : (tensor<{rows}x5xf32>) -> tensor<{rows}x1xf32>
  %b = tosa.sub %a, %m : (tensor<{rows}x5xf32>, tensor<{rows}x1xf32>) -> tensor<{rows}x5xf32>
  %r = tosa.add %b, %v : (tensor<{rows}x5xf32>, tensor<1x5xf32>) -> tensor<{rows}x5xf32>
  return %r, %m : tensor<{rows}x5xf32>, tensor<{rows}x1xf32>
}}"""


@pytest.mark.parametrize(
    "form", [CForm(), CForm(single_file=True), CForm(static=True)], ids=["usual", "single", "static"]
)
@pytest.mark.parametrize("kind", ["gcc", pytest.param("clang", marks=pytest.mark.slow)])
def test_weights_are_data_of_the_c(form, kind, compile_strictly, tmp_path):
    kernel = bg.from_mlir(WEIGHTED.format(rows=6 if form.static else "?"))
    (emitted,) = emit_module([kernel], "k", form)
    compile_strictly(emitted.files, tmp_path / "strict", kind, "c")
    case = Case(emitted)
    x = np.random.default_rng(5).normal(size=(6, 5)).astype(np.float32)
    for array in (x, np.zeros((6, 5), np.float32), np.zeros((6, 1), np.float32)):
        case.array(array)
    flags = ("-O1",) if kind == "gcc" else (QUICK, *ADDRESS)
    (outcome,) = Harness([emitted], tmp_path).build(kind, flags).run(case)
    for at, expected in enumerate(kernel(x), 1):
        assert (outcome.values(at, np.float32) == expected).all()
