"""Samples stay inside their interval; masks and fixed inner extents give the shapes they name."""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen.core.resources import bench_module

operands = bench_module("workloads.operands")


def rng():
    return np.random.default_rng(5)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
def test_samples_of_floats_are_inside_the_interval(dtype):
    values = operands.sample(rng(), dtype, (20_000,), 0.0, 1.0)
    assert values.dtype == dtype
    assert 0 < values.min() < 0.01
    assert values.max() < 1 or dtype == "f2"


@pytest.mark.parametrize("dtype", ["u1", "i2", "i4", "i8"])
def test_samples_of_integers_are_from_the_whole_range(dtype):
    info = np.iinfo(dtype)
    values = operands.sample(rng(), dtype, (20_000,))
    assert values.dtype == dtype
    assert values.min() < info.min + (info.max - info.min) // 64
    assert values.max() > info.max - (info.max // 32)


def test_samples_of_bools_are_even():
    assert 0.4 < operands.sample(rng(), "?", (10_000,)).mean() < 0.6


@pytest.mark.parametrize(("elements", "extents"), [(16, (4, 4)), (32, (4, 8)), (1000, (31, 32)), (3, (1, 3))])
def test_rows_are_as_square_as_can_be(elements, extents):
    assert operands.rows(elements) == extents


def test_masks_name_extents_and_each_operand_may_have_its_dtype():
    built = operands.matrix(("f4", "?", "f8"), "rc", "r1", "")(64, rng())
    assert [(op.shape, op.dtype.char) for op in built] == [((8, 8), "f"), ((8, 1), "?"), ((), "d")]


@pytest.mark.parametrize(
    ("elements", "shape"), [(1 << 15, (59, 24, 23)), (552, (1, 24, 23)), (16, (1, 4, 4)), (1, (1, 1, 1))]
)
def test_inner_extents_shrink_only_where_there_are_fewer_elements(elements, shape):
    (built,) = operands.inner_extents("f4", {"p": 24, "k": 23}, "npk")(elements, rng())
    assert built.shape == shape
