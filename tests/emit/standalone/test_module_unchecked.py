"""The functions without checks: the results of the checked ones, for all calls that these take."""

from __future__ import annotations

import ctypes
import itertools
import re

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.c_flags import OPENMP_FLAGS
from bcastgen.expr.text import parse
from bcastgen.kernel.kernel import Kernel
from bcastgen.shape.types.tensor_type import parse_signature
from c_module import Module, described

WEIGHTS = np.array([1.0, 10.0, 100.0], np.float32)


def weighted():
    signature = parse_signature("(f32[?,3] a, f32[3] w)")
    return Kernel(parse("a * w", ("a", "w")), "weighted", ("a", "w"), 1, (WEIGHTS,), signature, constants=1)


# A plain nest, one of any rank, several results of one and of several nests, constants, elements that are refused.
KERNELS = {
    "plain": bg.from_text("(f32[?,?] a, f32[?,?] b) -> a + b*2"),
    "any_rank": bg.from_text("(f32[*] a, f32[*] b) -> a - b"),
    "pair": bg.from_text("(f32[?,?] a, f32[?] b) -> (a + b, a < b)"),
    "nests": bg.from_text("(f32[?,?] a, f32[?] b) -> (a + b, b * 2)"),
    "weighted": weighted(),
    "power": bg.from_text("(i32[?] a, i32[?] b) -> a ** b"),
    "staged": bg.from_text("(f32[?,?] x, f32[1,?] s) -> x * exp(s) + 1"),
}
SHAPES = {
    "plain": (((2, 3), (2, 3)), ((2, 3), (1, 3)), ((0, 3), (1, 1)), ((1, 1), (4, 5))),
    "any_rank": (((2, 3), (4, 1, 3)), ((), ()), ((5,), (1,)), ((0,), (1,))),
    "pair": (((2, 3), (3,)), ((2, 1), (3,))),
    "nests": (((2, 3), (3,)), ((2, 3), (1,))),
    "weighted": (((2, 3),), ((0, 3),)),
    "power": (((4,), (4,)), ((1,), (4,))),
    "staged": (((2, 9), (1, 9)), ((70, 3), (1, 1))),
}


@pytest.fixture(scope="module", params=[{}, {"variants": 0}, {"openmp": True, "single_file": True}], ids=str)
def module(request, tmp_path_factory):
    flags = ("-O1", *OPENMP_FLAGS) if "openmp" in request.param else ("-O1",)
    return Module(KERNELS, tmp_path_factory.mktemp("unchecked"), "u", flags, unchecked=True, **request.param)


@pytest.mark.parametrize("name", KERNELS)
def test_results_are_those_of_the_checked_function(name, module):
    kernel = KERNELS[name]
    for shapes in SHAPES[name]:
        kinds = [type_.dtype.np for _, type_ in kernel.signature.operands[: len(shapes)]]
        operands = [
            (np.arange(np.prod(shape)) % 5).astype(kind).reshape(shape)
            for shape, kind in zip(shapes, kinds, strict=True)
        ]
        wanted = kernel(*operands)
        wanted = wanted if isinstance(wanted, tuple) else (wanted,)
        checked, free = ([np.full(one.shape, 77, one.dtype) for one in wanted] for _ in range(2))
        assert module.call(name, *operands, *checked)[0] == 0
        function = module.function(name, "_unchecked")
        function.restype = None
        kept = [described(array) for array in (*operands, *free)]
        function(*map(ctypes.byref, kept))
        for one, other in zip(checked, free, strict=True):
            assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize(
    ("kernel", "form", "message"),
    [
        (bg.from_text("(f32[?,?] a) -> sum(a, axis=1)"), {}, "has reductions, and no function without checks"),
        (bg.from_text("(f32[3] a) -> -a"), {"static": True}, "functions that check arrays"),
        (bg.from_text("(f32[n] a) -> -a"), {"pointers": True}, "functions that check arrays"),
    ],
)
def test_what_has_none_is_refused(kernel, form, message, tmp_path):
    with pytest.raises(bg.BcastgenError, match=message):
        kernel.emit_c(tmp_path, unchecked=True, **form)
    assert not list(tmp_path.iterdir())


def test_a_kernel_may_be_called_like_one(tmp_path):
    _, header, *_ = bg.emit_c({"a_unchecked": KERNELS["plain"], "a": KERNELS["plain"]}, tmp_path, "m", unchecked=True)
    names = re.findall(r"^\w+ (m_\w+)\(", header.read_text(), re.MULTILINE)
    assert len(names) == len(set(names)) == 8


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "language"), tuple(itertools.product(("gcc", "clang"), ("c", "c++"))))
def test_no_compiler_warns(kind, language, compile_strictly, tmp_path):
    for form in ({}, {"variants": 0}, {"freestanding": True}):
        files = {path.name: path.read_text() for path in bg.emit_c(KERNELS, tmp_path, "u", unchecked=True, **form)}
        compile_strictly(files, tmp_path / "made", kind, language)
