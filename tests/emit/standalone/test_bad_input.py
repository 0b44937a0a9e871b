"""Numbers at the ends of their types, given to C between guard pages: refused with operand and dim, or harmless.

Random kernels meet one fault each in test_random.py, and a table of all statuses is in test_module_calls.py.
"""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen.api.functions import from_text
from bcastgen.emit.standalone import CForm
from c_harness import ADDRESS, Case, Harness, emit_module

MOST, LEAST = 2**63 - 1, -(2**63)
TEXTS = {
    "rows": "(f32[?,?] a, f32[?,?] b) -> a + b*2",
    "wild": "(f32[*] a, f32[*] b) -> a + b*2",
    "cube": "(f64[?,?,?] a) -> -a",
    "pairs": "(f32[?,2] a) -> a / 2",
    "power": "(i32[?] a, i32[?] b) -> a ** b",
    "function": "(f32[?,?] a) -> exp(a)",
    "half": "(f16[?] a) -> -a",
    "byte": "(u8[?] a, u8[?] b) -> a + b",
}
# Kernel -> descriptors of its arrays as (extents, strides), status, operand and dim. No array has an element of memory.
NUMBERS = [
    ("rows", [((2**32, 1), (4, 4)), ((1, 2**31), (4, 4)), ((2, 2), (8, 4))], "OVERFLOW", 2, -1),
    ("rows", [((MOST, MOST), (4, 4)), ((1, 1), (4, 4)), ((2, 2), (8, 4))], "OVERFLOW", 2, -1),
    ("rows", [((MOST, 2), (4, 4)), ((1, 1), (4, 4)), ((2, 2), (8, 4))], "OVERFLOW", 2, -1),
    ("wild", [((2**32, 1), (4, 4)), ((1, 2**31), (4, 4)), ((2, 2), (8, 4))], "OVERFLOW", 2, -1),
    ("wild", [((2,) * 63, (4,) * 63), ((2,) * 63, (4,) * 63), ((2,) * 63, (4,) * 63)], "OVERFLOW", 2, -1),
    ("wild", [((1,) * 65, (4,) * 65), ((1,), (4,)), ((1,) * 65, (4,) * 65)], "RANK", 0, -1),
    ("cube", [((2**21, 2**21, 2**21), (8, 8, 8)), ((1, 1, 1), (8, 8, 8))], "OVERFLOW", 1, -1),
    ("pairs", [((2**62, 2), (8, 4)), ((1, 2), (8, 4))], "OVERFLOW", 1, -1),
    ("function", [((MOST, MOST), (4, 4)), ((1, 1), (4, 4))], "OVERFLOW", 1, -1),
    ("rows", [((LEAST, 1), (4, 4)), ((1, 1), (4, 4)), ((1, 1), (4, 4))], "NEGATIVE", 0, 0),
    ("rows", [((1, 1), (4, 4)), ((1, -1), (4, 4)), ((1, 1), (4, 4))], "NEGATIVE", 1, 1),
    ("rows", [((1, 1), (4, 4)), ((1, 1), (4, 4)), ((1, LEAST), (4, 4))], "RESULT", 2, 1),
    ("wild", [((LEAST, 1), (4, 4)), ((1,), (4,)), ((1, 1), (4, 4))], "NEGATIVE", 0, 0),
    ("half", [((LEAST,), (2,)), ((1,), (2,))], "NEGATIVE", 0, 0),
    ("rows", [((2, 2), (MOST, 4)), ((2, 2), (8, 4)), ((2, 2), (8, 4))], "ALIGNMENT", 0, -1),
    ("rows", [((2, 2), (8, 4)), ((2, 2), (8, 4)), ((2, 2), (8, LEAST + 2))], "ALIGNMENT", 2, -1),
    ("power", [((3,), (4,)), ((4,), (4,)), ((4,), (4,))], "BROADCAST", 1, 0),
    ("byte", [((3,), (1,)), ((3,), (1,)), ((3,), (0,))], "OVERLAP", 2, -1),
]


@pytest.fixture(scope="module")
def kernels():
    made = [from_text(text, name) for name, text in TEXTS.items()]
    return dict(zip(TEXTS, emit_module(made, "bad", CForm()), strict=True))


@pytest.fixture(scope="module")
def harness(kernels, tmp_path_factory):
    return Harness(list(kernels.values()), tmp_path_factory.mktemp("bad"))


def check_numbers(kernels, program):
    cases = []
    for name, arrays, *_ in NUMBERS:
        case = Case(kernels[name])
        for extents, strides in arrays:
            # Of no size: the guard pages begin at once.
            case.view(case.hold(b""), extents, strides)
        cases.append(case)
    for got, (name, arrays, status, operand, dim) in zip(program.run(*cases), NUMBERS, strict=True):
        assert (got.call.status, got.call.operand, got.call.dim) == (status, operand, dim), (name, arrays, got.call)


def check_strides(kernels, program):
    """Strides that wrap around the address space: what spans it shares every byte with whatever there is."""
    cases = []
    for name in ("rows", "wild"):
        for stride in (MOST - 3, LEAST, 2**62, -(2**62)):
            case = Case(kernels[name])
            case.array(np.ones((1, 2), "f4")).array(np.ones((1, 1), "f4"))
            # One row: its stride is not read.
            cases.append(case.view(case.hold(bytes(8)), (1, 2), (stride, 4)))
    assert [got.call.status for got in program.run(*cases)] == ["OK"] * len(cases)


def check_empty(kernels, program):
    """Nothing is read of arrays without elements: neither data nor strides."""
    cases = []
    for name, shapes in (
        ("rows", [(0, 3), (1, 3), (0, 3)]),
        ("wild", [(MOST, 0), (1, 1), (MOST, 0)]),
        ("half", [(0,)] * 2),
    ):
        case = Case(kernels[name])
        for shape in shapes:
            case.view(None, shape, shape, no_strides=True)
        cases.append(case)
    assert [got.call.status for got in program.run(*cases)] == ["OK"] * len(cases)


CHECKS = [check_numbers, check_strides, check_empty]


@pytest.fixture(scope="module")
def sanitized(harness):
    return harness.build("gcc", ("-O0", *ADDRESS), guarded=True)


@pytest.mark.parametrize("check", CHECKS)
def test_under_sanitizers(check, kernels, sanitized):
    check(kernels, sanitized)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gcc", "clang"])
def test_in_optimised_code(kind, kernels, harness):
    program = harness.build(kind, ("-O3",), guarded=True)
    for check in CHECKS:
        check(kernels, program)
