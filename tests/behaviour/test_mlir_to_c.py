"""The whole road of a real program: TOSA text, `bcastgen emit`, a C compiler, the numbers of the reference model."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import bcastgen
import conformance
from bcastgen.core.c_flags import LIBRARIES, WARNING_FLAGS
from bcastgen.core.errors import BroadcastError, statuses
from bcastgen.mlir.tosa.table import find_tosa
from compile_flags import LANGUAGES, SHARED, USERS

TOOLS = conformance.Tools.find()
pytestmark = [pytest.mark.slow, pytest.mark.skipif(TOOLS is None, reason=conformance.MISSING)]

BLOCK = Path(__file__).parents[1] / "support" / "quantised_block.mlir"
NAME = BLOCK.stem
WRITTEN = "2x6x5x8"
# Extents of batch, height and width; eight channels have constants of their own.
SHAPES = [(2, 6, 5), (1, 1, 1), (3, 1, 33), (1, 17, 16)]
CHANNELS = 8
DYNAMIC = ("?", "?", "?")
COMPILERS = {"gcc": "gcc", "clang": "clang-19"}
FLAGS = [*LANGUAGES["c"], *USERS, *WARNING_FLAGS, *SHARED]
DTYPES = [np.int8, np.bool_, np.int32, np.float32, np.float32, np.float32]


def variant(extents):
    """The block for other extents: of batch, height and width, each a number or "?"."""
    text = BLOCK.read_text(encoding="utf-8")
    batch, height, width = extents
    return text.replace(WRITTEN, f"{batch}x{height}x{width}x8").replace("2x1x1x8", f"{batch}x1x1x8")


def operands(extents, seed=0):
    random = np.random.default_rng([seed, *extents])
    shape, gate = (*extents, CHANNELS), (extents[0], 1, 1, CHANNELS)
    return [random.integers(-128, 128, each, np.int8) for each in (shape, shape, gate)]


@cache
def _reference(extents, folder):
    return TOOLS.evaluate(variant(extents), operands(extents), folder)


@pytest.fixture(scope="session")
def reference(tmp_path_factory):
    """Call ``reference(extents)`` for what the reference model computes."""
    folder = tmp_path_factory.mktemp("reference")
    return lambda extents: _reference(extents, folder / "x".join(map(str, extents)))


def agree(results, expected, gate):
    """Fail unless integers and the pre-activation are exact, and functions within TOSA's bounds."""
    for at, (result, wanted) in enumerate(zip(results[:4], expected[:4], strict=True)):
        assert result.dtype == wanted.dtype and result.shape == wanted.shape
        np.testing.assert_array_equal(result, wanted, err_msg=f"result {at}")
    z, weight = np.abs(expected[3].astype(float)), np.abs(gate.astype(float)) / 64
    # The specification's bounds, in units of 2^-23: of sigmoid 2 + 2|z|, of exp 3 + 2|x|, of two products 1, each of
    # the value; of tanh 12 + 8|z|, of the value or of 1/2 if that is more. The reference errs, too: twice that.
    gated, squashed = (np.abs(wanted.astype(float)) for wanted in expected[4:])
    bounds = [(6 + 2 * z + 2 * weight) * gated, (12 + 8 * z) * np.maximum(squashed, 0.5)]
    for result, wanted, bound in zip(results[4:], expected[4:], bounds, strict=True):
        error = np.abs(result.astype(float) - wanted.astype(float))
        assert (error <= 2 * bound * 2.0**-23).all(), error.max()


class Array(ctypes.Structure):
    """What an emitted header calls an array."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("extents", ctypes.POINTER(ctypes.c_int64)),
        ("byte_strides", ctypes.POINTER(ctypes.c_int64)),
        ("rank", ctypes.c_int32),
    )

    @classmethod
    def of(cls, array):
        return cls(array.ctypes.data, (ctypes.c_int64 * 4)(*array.shape), (ctypes.c_int64 * 4)(*array.strides), 4)


class Diagnostic(ctypes.Structure):
    _fields_ = (
        *((name, ctypes.c_int32) for name in ("operand", "dim", "against")),
        *((name, ctypes.c_int64) for name in ("expected", "actual")),
    )


@dataclass
class Emitted:
    """An emitted block, compiled."""

    folder: Path
    library: ctypes.CDLL

    @classmethod
    def build(cls, text, folder, compiler):
        """Write the text, run the command line on it, compile what it writes without a warning."""
        folder.mkdir()
        source = folder / f"{NAME}.mlir"
        source.write_text(text, encoding="utf-8")
        command = [sys.executable, "-m", "bcastgen", "emit", str(source), "-o", str(folder / "out")]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        if shutil.which(compiler) is None:
            pytest.fail(f"no {compiler} on the PATH")
        library = folder / "block.so"
        command = [compiler, *FLAGS, "-o", str(library), *map(str, sorted((folder / "out").glob("*.c"))), *LIBRARIES]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:4000]
        return cls(folder / "out", ctypes.CDLL(str(library)))

    def shapes(self, given):
        """Ask the shape function for the extents of the results; returns its status, them, and its diagnostic."""
        extents = [(ctypes.c_int64 * 4)() for _ in DTYPES]
        why = Diagnostic()
        function = getattr(self.library, f"{NAME}_shape")
        status = function(*(ctypes.byref(Array.of(array)) for array in given), *extents, ctypes.byref(why))
        return status, [tuple(each) for each in extents], why

    def call(self, given):
        status, shapes, _ = self.shapes(given)
        assert status == 0
        results = [np.full(shape, 77, dtype) for shape, dtype in zip(shapes, DTYPES, strict=True)]
        arrays = [ctypes.byref(Array.of(array)) for array in (*given, *results)]
        assert getattr(self.library, NAME)(*arrays, None) == 0
        return results


def test_the_block_is_a_real_program():
    ops = re.findall(r"= tosa\.(\w+)", BLOCK.read_text(encoding="utf-8"))
    assert len(ops) >= 30 and len(set(ops)) >= 20
    assert all(find_tosa(op) for op in ops)


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """Call ``built(extents, compiler)`` for the emitted block of these extents, each built once."""
    folder = tmp_path_factory.mktemp("built")
    return cache(
        lambda extents, compiler: Emitted.build(
            variant(extents), folder / f"{'x'.join(map(str, extents))}_{compiler}", COMPILERS[compiler]
        )
    )


each_shape = pytest.mark.parametrize("extents", SHAPES, ids=lambda extents: "x".join(map(str, extents)))
each_compiler = pytest.mark.parametrize("compiler", COMPILERS)


@each_compiler
@each_shape
def test_emitted_c_computes_what_the_reference_model_does(extents, compiler, reference, built):
    given = operands(extents)
    agree(built(extents, compiler).call(given), reference(extents), given[2])


@each_shape
def test_kernels_in_this_process_compute_it_too(extents, reference):
    given = operands(extents)
    agree(bcastgen.from_mlir(variant(extents))(*given), reference(extents), given[2])


@each_compiler
@each_shape
def test_dynamic_dims_change_nothing(extents, compiler, built):
    """One dynamic block serves all extents, with the same bits as those that know theirs."""
    given = operands(extents)
    for ours, theirs in zip(built(DYNAMIC, compiler).call(given), built(extents, compiler).call(given), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@each_shape
def test_a_dynamic_kernel_serves_all_extents(extents, reference):
    given = operands(extents)
    agree(bcastgen.from_mlir(variant(DYNAMIC))(*given), reference(extents), given[2])


def test_a_wrong_extent_is_a_status_and_an_error(built):
    x, residual, gate = operands((2, 6, 5))
    status, _, why = built(DYNAMIC, "gcc").shapes([x, residual[:, :, :4], gate])
    assert statuses()[status][0] == "BROADCAST"
    assert (why.operand, why.dim, why.against, why.expected, why.actual) == (1, 2, 0, 5, 4)
    kernel = bcastgen.from_mlir(variant(DYNAMIC))
    with pytest.raises(BroadcastError, match=r"'residual' dim 2 has extent 4, expected 1 or 5 \(from 'x'\)"):
        kernel(x, residual[:, :, :4], gate)
    with pytest.raises(BroadcastError, match=r"'gate' dim 3 has extent 7, expected 8"):
        kernel(x, residual, gate[..., :7])
