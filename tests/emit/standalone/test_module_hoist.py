"""A value that types prove to depend on the last dim alone is computed once a block, into a tile on the stack."""

from __future__ import annotations

import re

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.c_flags import OPENMP_FLAGS
from c_module import Module

KERNELS = {
    "row": bg.from_text("(f32[?,?] x, f32[1,?] s) -> x * exp(s) + 1"),
    "vector": bg.from_text("(f64[?,?,?] x, f64[?] s) -> x + sin(s) * s"),
    "two": bg.from_text("(f64[?,?] x, f64[?] s, f64[?] t) -> x * exp(s) + log(t) * exp(s)"),
    "half": bg.from_text("(f16[?,?] x, f16[?] s) -> x - tanh(s)"),
    "asks": bg.from_text("(i32[?,?] x, f32[?] s, i32[?] n) -> (x ** n) * exp(s)"),
    "outs": bg.jit(lambda x, s: (x * bg.exp(s), x + 1), signature="(f32[?,4500] x, f32[4500] s)"),
}
SMALL = bg.from_text("(f32[?,?] x, f32[1,?] s) -> x * (s + 1)")


def tiles(path):
    return re.findall(r"^ *(\w+) (\w+_tile)\[(\d+)\];", path.read_text(), re.MULTILINE)


def operands_of(kernel, extent, chance):
    """Operands that fit, some of them not adjacent."""
    made = []
    for _, type_ in kernel.signature.operands:
        extents = [3 if dim.extent is None else dim.extent for dim in type_.dims]
        if type_.dims[-1].extent is None:
            extents[-1] = extent
        values = chance.integers(1, 9, (*extents[:-1], extents[-1] * 2)).astype(type_.dtype.np)
        made.append([values[..., ::2], values[..., : extents[-1]].copy(), values[..., ::-2]][chance.integers(3)])
    return made


@pytest.fixture(scope="module", params=["usual", "plain", "threads", "alone"])
def module(request, tmp_path_factory):
    form = {"usual": {}, "plain": {"variants": 0}, "threads": {"openmp": True}, "alone": {"freestanding": True}}
    flags = ("-O1", *OPENMP_FLAGS) if request.param == "threads" else ("-O1",)
    return Module(KERNELS, tmp_path_factory.mktemp("hoist"), "hoist", flags, **form[request.param])


@pytest.mark.parametrize("extent", [0, 1, 5, 1024, 2049, 4097, 9000])
@pytest.mark.parametrize("name", KERNELS)
def test_values_are_those_of_a_call(name, extent, module):
    kernel, chance = KERNELS[name], np.random.default_rng(extent)
    operands = operands_of(kernel, extent, chance)
    made = kernel(*operands)
    wanted = made if isinstance(made, tuple) else (made,)
    results = [np.full((*each.shape[:-1], each.shape[-1] * 2), 7, each.dtype)[..., ::2] for each in wanted]
    status, _ = module.call(name, *operands, *results)
    assert status == 0
    for got, expected in zip(results, wanted, strict=True):
        if name == "half" or got.dtype.kind == "i":
            np.testing.assert_array_equal(got, expected)
        else:
            np.testing.assert_array_max_ulp(got, expected, 4)


def test_tiles_take_16_kib_at_most(tmp_path):
    bytes_of = {"float": 4, "double": 8}
    for name, kernel in KERNELS.items():
        found = tiles(kernel.emit_c(tmp_path, name)[0])
        # Beside a power of integers a function costs nothing.
        assert found or name == "asks"
        assert sum(bytes_of[c] * int(points) for c, _, points in found) <= 16 * 1024
        assert not tiles(kernel.emit_c(tmp_path, name, variants=0)[0])


def test_what_is_cheap_is_not_kept(tmp_path):
    assert not tiles(SMALL.emit_c(tmp_path, "small")[0])
