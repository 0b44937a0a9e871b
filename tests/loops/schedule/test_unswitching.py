"""Selections whose condition is one value along a row: each row computes, and reads, one side only."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

import bcastgen as bg
from bcastgen import from_text
from bcastgen.loops.schedule.schedule import schedule
from bcastgen.loops.schedule.unswitching import masks
from bcastgen.loops.schedule.variants import MAX_VARIANTS, classes_of


def nest_of(text):
    (nest,) = from_text(text).compilation.rewritten.program.nests
    return nest


def sided(text):
    """Return, for each two-sided variant, its name and the operands that either side reads."""
    nest = nest_of(text)
    loops = schedule(nest).inline
    return {
        one.variant.name: tuple(
            " ".join(nest.operands[read.access].name for read in side.loop.reads) for side in (one.holds, one.fails)
        )
        for one in loops.sides
    }


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("(bool[*] m, f32[*] a, f32[*] b) -> where(m, a, b)", {"zero_m": ("a", "b")}),
        (
            "(bool[*] m, f32[*] a, f32[*] b, f32[*] c) -> where(m, a, b * c)",
            {"zero_m": ("a", "b c")},
        ),
        # Comparisons of elements hardly decide for a row; those of a number do, and so do several masks.
        ("(f32[*] x, f32[*] a) -> where(x > 0, a, a * x)", {}),
        ("(f32[] x, f32[*] a) -> where(x > 0, a, a * x)", {"zero_x": ("a", "x a")}),
        ("(bool[*] m, bool[*] k, f32[*] a) -> where(m & ~k, a, -a)", {"zero_m_k": ("a", "a")}),
        # What is expensive has the variant, too.
        ("(bool[*] m, f32[*] a, f32[*] b) -> where(m, arctan2(a, b), a)", {"zero_m": ("a b", "a")}),
        ("(bool[*] m, f32[*] a) -> where(m, a, 0)", {"zero_m": ("a", "")}),
        # Both selections by one condition are decided together.
        (
            "(bool[*] m, f32[*] a, f32[*] b) -> where(m, b, 2) * where(m, a, b)",
            {"zero_m": ("a b", "b")},
        ),
        # power has C of its own for exponents that are constants, whose last bits may differ.
        ("(bool[*] m, f32[*] a) -> power(a, where(m, 2.5, 0.3))", {}),
        ("(f32[*] a, f32[*] b) -> a + b", {}),
    ],
)
def test_which_variants_have_two_sides(text, found):
    got = sided(text)
    assert {name: tuple(map(set, map(str.split, reads))) for name, reads in got.items()} == {
        name: tuple(map(set, map(str.split, reads))) for name, reads in found.items()
    }


def test_the_variant_comes_right_after_the_first():
    names = [
        v.name
        for v in schedule(nest_of("(bool[*] m, f32[*] a, f32[*] b, f32[*] c) -> where(m, a, b*c)")).inline.variants
    ]
    assert names[:2] == ["unit", "zero_m"] and len(names) == len(set(names)) == MAX_VARIANTS


def test_types_decide_whether_an_operand_can_be_stationary():
    nest = nest_of("(bool[4, 8] m, f32[4, 8] a, f32[8] b) -> where(m, a, b)")
    possible = tuple(classes_of(access, ranked=True) for access in nest.operands)
    assert masks(nest, possible) == ()
    assert sided("(bool[] m, f32[*] a, f32[] b) -> where(m, a, b)") == {"zero_m_b": ("a", "b")}


EXPRESSIONS = {
    "product": (lambda m, a, b: np.where(m, a, a * b), "f4"),
    "both ways": (lambda m, a, b: np.where(m, a, b) - np.where(m, b * b, a), "f8"),
    "nested": (lambda m, a, b: np.where(m, np.where(a > b, a, 1), b), "f4"),
    "numbers": (lambda m, a, b: np.where(m, 1, np.where(m, b, a + b)), "f4"),
    "integers": (lambda m, a, b: np.where(m, a // 7, a ^ b), "i4"),
    "bytes": (lambda m, a, b: np.where(m, a, b & 15), "u1"),
    "halves": (lambda m, a, b: np.where(m, a * b, b), "f2"),
    "functions": (lambda m, a, b: np.where(m, np.tanh(np.exp(a)), np.sqrt(np.abs(b))), "f4"),
    "computed": (lambda m, a, b: np.where(m & (m | m), a, -b), "f8"),
    "several results": (lambda m, a, b: (np.where(m, a, b), a + b), "f4"),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_values_are_those_of_a_mask_with_the_result_s_shape(name):
    function, dtype = EXPRESSIONS[name]
    rng = np.random.default_rng(0)
    a, b = (rng.integers(0, 9, size=(2, 7, 301)) - 4 * (dtype != "u1")).astype(dtype)
    mask = np.array([1, 0, 0, 1, 1, 0, 1], bool)[:, None]
    kernel = bg.jit(function)
    whole = kernel(np.broadcast_to(mask, a.shape).copy(), a, b)
    for one in (mask, mask.astype("u1").view(bool)):
        for got, wanted in zip(np.atleast_3d(kernel(one, a, b)), np.atleast_3d(whole), strict=True):
            np.testing.assert_array_equal(got.view(np.uint8), wanted.view(np.uint8))
    # Rows that go backwards, that are turned, and that are read in place of the result.
    backwards = kernel(mask[::-1], a[::-1, ::-1], b.T.copy().T[::-1, ::-1])
    np.testing.assert_array_equal(np.asarray(backwards)[..., ::-1, ::-1], np.asarray(whole))
    if not isinstance(whole, tuple):
        inside = a.copy().astype(whole.dtype)
        kernel(mask, inside, b, out=inside)
        np.testing.assert_array_equal(inside, whole)


UNREADABLE = """
import ctypes, mmap
import numpy as np
import bcastgen as bg

def hidden(size):
    memory = mmap.mmap(-1, 4 * size)
    array = np.frombuffer(memory, np.float32)
    address = array.ctypes.data
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(address), ctypes.c_size_t(4 * size), 0) == 0
    return array.reshape(8, -1)

kernel = bg.jit(lambda m, a, b, c: np.where(m, a, b * c))
here, there, other = np.ones((8, 4096), np.float32), hidden(8 * 4096), hidden(8 * 4096)
yes, no = np.ones((8, 1), bool), np.zeros((8, 1), bool)
assert np.all(kernel(yes, here, there, other) == 1)
assert np.all(kernel(no, there, here, here + 1) == 2)
print("nothing was read", flush=True)
import os
os._exit(0)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the pages are Linux's")
@pytest.mark.parametrize("program", ["gcc", "clang-19"])
def test_nothing_is_read_for_the_side_that_is_not_taken(program, tmp_path):
    if shutil.which(program) is None:
        pytest.skip(f"there is no {program} here")
    environment = {**os.environ, "BCASTGEN_CC": program, "BCASTGEN_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", UNREADABLE], capture_output=True, text=True, env=environment)
    assert done.stdout == "nothing was read\n", (done.returncode, done.stderr)
