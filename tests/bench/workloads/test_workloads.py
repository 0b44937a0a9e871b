"""Every row builds what it says, and our kernel computes what its NumPy function does."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.resources import bench_module
from bcastgen.ops.rows.special import SPECIAL
from bcastgen.ops.table import OPS
from compile_flags import QUICK
from long_runs import some

check = bench_module("check")
functions = bench_module("workloads.functions")
own = bench_module("peers.own")
peer = bench_module("peers.peer")
row = bench_module("workloads.row")
workloads = bench_module("workloads")
WORKLOADS = workloads.WORKLOADS
every_workload = pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS.keys())
NAMES = some(WORKLOADS, 70)
some_workloads = pytest.mark.parametrize("workload", [WORKLOADS[name] for name in NAMES], ids=NAMES)


def build(workload, elements=1024):
    return workload.operands(elements, np.random.default_rng(7))


def test_every_class_has_workloads_of_the_default_run_and_a_quick_one():
    kinds = {row.kind for row in WORKLOADS.values()}
    assert kinds == set(workloads.KINDS) >= {"contiguous", "chain", "activation", "function", "broadcast", "narrow"}
    assert kinds >= {"small-domain", "layout", "integer", "bool", "mixed", "reduction"}
    assert {row.kind for row in WORKLOADS.values() if row.core} == kinds
    assert {WORKLOADS[name].kind for name in workloads.QUICK} == kinds
    assert len(workloads.QUICK) == len(kinds)
    assert all(WORKLOADS[name].core for name in workloads.QUICK)


def test_every_function_of_the_table_has_a_workload_in_both_floats():
    bounded = {op.name for op in OPS.values() if op.ulp and not op.name.startswith("tosa")} - {
        op.name for op in SPECIAL
    }
    assert {op.name for op in functions.FUNCTIONS} == bounded >= {"exp", "arctan2", "erf", "power"}
    assert {f"{name}_{bits}" for name in bounded for bits in ("f32", "f64")} == {
        name for name, row in WORKLOADS.items() if row.kind == "function"
    }


@every_workload
@pytest.mark.parametrize("elements", [3, 16, 1000, 1 << 15])
def test_result_has_about_the_elements_and_the_dtype_of_the_row(workload, elements):
    operands = build(workload, elements)
    result = workload.expected(operands)
    assert result.dtype == workload.result
    size = result.size
    if workload.kind == "reduction":
        size = int(np.prod(np.broadcast_shapes(*(each.shape for each in operands))))
    assert 0.5 * elements <= size <= elements


@every_workload
def test_same_seed_gives_the_same_finite_values(workload):
    first, second = build(workload), build(workload)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    assert np.isfinite(workload.expected(first)).all()


@every_workload
def test_ufunc_is_the_whole_function(workload):
    if workload.ufunc is None:
        return
    operands = build(workload)
    assert np.array_equal(getattr(np, workload.ufunc)(*operands), workload.function(*operands))


@pytest.mark.parametrize("name", ["exp_f32", "exp_f64", "tan_f64", "erf_f32", "sigmoid_f64", "arctan2_f32"])
def test_references_are_those_of_a_wider_precision(name):
    operands = build(WORKLOADS[name])
    expected = WORKLOADS[name].expected(operands)
    assert expected.dtype == operands[0].dtype
    if hasattr(np, WORKLOADS[name].op):
        plain = getattr(np, WORKLOADS[name].op)(*operands)
        assert 0 < check.ulps(expected, plain) <= 4 or np.array_equal(expected, plain)


def test_activations_beyond_numpy_have_the_tables_reference():
    x = np.linspace(-3, 3, 7, dtype=np.float32)
    expected = WORKLOADS["gelu_erf_f32"].expected((x,))
    erf = OPS["erf"].reference(x.astype(np.float64) * 0.7071067811865476)
    assert np.allclose(expected, x * 0.5 * (erf + 1), rtol=1e-5)


def test_layouts_are_what_their_names_say():
    strides = {name: [op.strides for op in build(WORKLOADS[name])] for name in WORKLOADS}
    assert strides["transposed_f32"] == [(128, 4), (4, 128)]
    assert strides["strided_f32"] == [(8,), (8,)]
    assert strides["reversed_f32"] == [(-4,), (4,)]
    assert strides["fortran_f64"] == [(8, 256), (8, 256)]
    assert strides["interleaved_f32"] == [(8,), (8,)]
    assert strides["permuted_210_f32"][1][0] == 4


def test_broadcasts_are_what_their_names_say():
    shapes = {name: [op.shape for op in build(WORKLOADS[name], 1 << 15)] for name in WORKLOADS}
    assert shapes["outer_f64"] == [(128, 1), (1, 256)]
    assert shapes["bias_f32"] == [(128, 256), (256,)]
    assert shapes["column_f32"] == [(128, 256), (128, 1)]
    assert shapes["scalar_f32"] == [(128, 256), ()]
    assert shapes["narrow3_row_f32"] == [(10922, 3), (3,)]
    assert shapes["four_dims_23_f32"] == [(7, 1, 8, 23), (24, 1, 23), (1, 24, 8, 1)]


@pytest.mark.parametrize("name", [name for name, row in WORKLOADS.items() if row.out])
def test_buffers_of_the_row_have_the_results_extents_and_other_strides(name):
    expected = WORKLOADS[name].expected(build(WORKLOADS[name]))
    buffer = WORKLOADS[name].out(expected)
    assert buffer.shape == expected.shape
    assert buffer.dtype == expected.dtype
    assert buffer.strides != expected.strides


@pytest.mark.parametrize(
    ("array", "moved"),
    [
        (np.zeros((8, 16), np.float32), 512),
        (np.zeros((8, 16), np.float32).T, 512),
        (np.zeros(64, np.float32)[::-1], 256),
        # Of each line all moves, unless the elements are further apart.
        (np.zeros(64, np.float32)[::2], 32 * 8 - 4),
        (np.zeros(1 << 12, np.uint8)[::128], 32 * 64),
        (np.broadcast_to(np.zeros(3, np.float64), (100, 3)), 24),
        (np.broadcast_to(np.float32(0), (4, 4)), 4),
        (np.lib.stride_tricks.sliding_window_view(np.zeros(20, np.float32), 5), 80),
        (np.zeros((0, 5)), 0),
    ],
)
def test_traffic_is_what_memory_must_bring(array, moved):
    assert row.traffic(array) == moved


def agrees(workload, sizes):
    # The same kernel for all sizes, as a run has it.
    kernel = own._kernel(workload.function, "accurate")
    assert isinstance(kernel, bg.Kernel)
    before = kernel.compilations  # one function may be workloads of several dtypes
    for elements in sizes:
        operands = build(workload, elements)
        expected = workload.expected(operands)
        assert check.difference(expected, kernel(*operands), workload.ulp, workload.scale) is None
        out = (workload.out or np.empty_like)(expected)
        assert kernel(*operands, out=out) is out
        assert check.difference(expected, out, workload.ulp, workload.scale) is None
    assert kernel.compilations <= before + 1


@pytest.mark.parametrize("name", workloads.QUICK)
def test_our_kernel_agrees_with_numpy(name):
    agrees(WORKLOADS[name], (16, 1000, 1 << 15))


@pytest.mark.slow
@some_workloads
def test_our_kernel_agrees_with_numpy_on_every_workload(workload, monkeypatch):
    # A run of the benchmark compares what optimised kernels compute, too.
    monkeypatch.setenv("BCASTGEN_CFLAGS", QUICK)
    agrees(workload, (3, 16, 1000, 1 << 15))
