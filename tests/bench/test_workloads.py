"""Every row builds what it says, and our kernel computes what its NumPy function does."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.resources import bench_module

workloads = bench_module("workloads")
check = bench_module("check")
WORKLOADS = workloads.WORKLOADS
KINDS = {"contiguous", "chain", "activation", "function", "broadcast", "layout", "integer", "bool"}
every_workload = pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS.keys())


def build(workload, elements=1024):
    return workload.build(elements, np.random.default_rng(7))


def test_every_class_has_a_workload_and_a_quick_one():
    assert {row.kind for row in WORKLOADS.values()} == KINDS
    assert [WORKLOADS[name].kind for name in workloads.QUICK] == sorted(
        KINDS, key=list(dict.fromkeys(row.kind for row in WORKLOADS.values())).index
    )


@every_workload
@pytest.mark.parametrize("elements", [16, 1000, 1024, 1 << 15])
def test_result_has_about_the_elements_and_the_dtype_of_the_row(workload, elements):
    result = workload.function(*build(workload, elements))
    assert result.dtype == workload.result
    assert 0.7 * elements <= result.size <= elements


@every_workload
def test_same_seed_gives_the_same_finite_values(workload):
    first, second = build(workload), build(workload)
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    assert np.isfinite(workload.function(*first)).all()


@every_workload
def test_ufunc_is_the_whole_function(workload):
    if workload.ufunc is None:
        return
    operands = build(workload)
    assert np.array_equal(getattr(np, workload.ufunc)(*operands), workload.function(*operands))


def test_layouts_are_what_their_names_say():
    strides = {name: [op.strides for op in build(WORKLOADS[name])] for name in WORKLOADS}
    assert strides["transposed_f32"] == [(128, 4), (4, 128)]
    assert strides["strided_f32"] == [(8,), (8,)]
    assert strides["reversed_f32"] == [(-4,), (4,)]
    assert strides["fortran_f64"] == [(8, 256), (8, 256)]


def test_broadcasts_are_what_their_names_say():
    shapes = {name: [op.shape for op in build(WORKLOADS[name])] for name in WORKLOADS}
    assert shapes["outer_f64"] == [(32, 1), (1, 32)]
    assert shapes["bias_f32"] == [(32, 32), (32,)]
    assert shapes["column_f32"] == [(32, 32), (32, 1)]
    assert shapes["narrow3_f32"] == [(341, 3), (3,)]
    assert all(1 in shape for shape in shapes["four_dims_f32"])


@pytest.mark.parametrize(("elements", "inner"), [(16, 2), (1 << 15, 13), (1 << 20, 24), (1 << 25, 24)])
def test_four_dims_keep_a_short_inner_extent(elements, inner):
    operands = WORKLOADS["four_dims_f32"].build(elements, np.random.default_rng(0))
    assert np.broadcast_shapes(*(op.shape for op in operands))[1:] == (inner,) * 3


def test_compulsory_bytes_count_each_operand_once():
    a, b = build(WORKLOADS["outer_f64"])
    assert workloads.compulsory_bytes((a, b), a * b) == 8 * (32 + 32 + 32 * 32)
    a, b = build(WORKLOADS["strided_f32"])
    assert workloads.compulsory_bytes((a, b), a + b) == 4 * 3 * 1024


@every_workload
def test_our_kernel_agrees_with_numpy(workload):
    kernel = bg.jit(workload.function)
    for elements in (16, 1000, 1 << 15):
        operands = build(workload, elements)
        expected = workload.function(*operands)
        assert check.difference(expected, kernel(*operands), workload.ulp, workload.scale) is None
        out = np.empty_like(expected)
        assert kernel(*operands, out=out) is out
        assert check.difference(expected, out, workload.ulp, workload.scale) is None
    assert kernel.compilations <= 1
