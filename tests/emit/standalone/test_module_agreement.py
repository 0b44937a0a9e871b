"""gcc and clang, optimised or not, give the same bits, and those of the JIT.

Arithmetic needs nothing but -ffp-contract=off for it: test_module_random.py compiles it for any machine and compares it
with the JIT's own, vectorised code. What functions give in the last place depends on whether a product and a sum are
one operation: here are kernels of functions, on the JIT's path (-march=native), and on the other one among themselves.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.c_flags import LIBRARIES
from c_corpus import NATIVE, PLAIN, SANITIZED
from compile_flags import CONTRACT
from long_runs import many


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 100 + many(1, 4)))
def test_functions(seed, corpus, tmp_path):
    kernels = corpus(seed, many(10, 30), functions=True, faults=1)
    kernels.check(tmp_path / "native", NATIVE)
    kernels.check(tmp_path / "plain", PLAIN, expected=False)
    # What sanitizers look for does not depend on the last bit.
    kernels.check(tmp_path / "sanitized", SANITIZED, expected=False)


# Rounded to the second type between two operations of the first one, so many elements side by side; in the last chain
# the rounding is between two functions.
CHAINS = {
    f"{wide}_{narrow}_{count}": (f"({wide}[3, {count}] a) -> {text}", count)
    for wide, narrow, text in (
        ("f64", "f32", "f64(f32(a*3))*1.5"),
        ("f64", "f16", "f64(f16(a*3))*1.5"),
        ("f32", "f16", "f32(f16(a*3))*1.5"),
        ("c128", "c64", "c128(c64(a*3))*1.5"),
        ("c64", "c64", "expm1(expm1(a))"),
    )
    for count in (1, 2, 3, 4, 8)
}


@pytest.mark.parametrize("flags", ["-O2", "-O3", "-O3 -mavx2", "-O3 -march=native"])
@pytest.mark.parametrize("compiler", ["gcc", "clang-19"])
def test_neighbours_are_rounded_between_operations(compiler, flags, tmp_path):
    # gcc 12 forgets a double's rounding to float where it vectorises straight lines of code.
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} on this machine")
    if "-mavx2" in flags and not _runs_avx2():
        pytest.skip("this machine has no AVX2")
    kernels = {name: bg.from_text(text) for name, (text, _) in CHAINS.items()}
    bg.emit_c(kernels, tmp_path, "chains", static=True)
    optimised, plain = (_compiled(tmp_path, compiler, level) for level in (flags, "-O0" + flags[3:]))
    for name, (_, count) in CHAINS.items():
        values = _values(name, (3, count))
        got, wanted = (_called(library, f"chains_{name}", values) for library in (optimised, plain))
        assert got.tobytes() == wanted.tobytes(), f"{name}: {got} is not {wanted}"
        if not name.startswith("c64"):
            assert got.tobytes() == kernels[name](values).tobytes(), name


def _values(name, shape):
    """Values for a kernel; in functions of complex numbers with parts so small that rounding them shows."""
    values = np.linspace(0.1, 1.7, shape[0] * shape[1]).reshape(shape) / 3
    if name.startswith("c64"):
        return (1 + 1j * np.float32(1e-45) * np.arange(values.size).reshape(shape)).astype(np.complex64)
    if name.startswith("c128"):
        return values - 1.1j * values
    return values.astype({"f64": np.float64, "f32": np.float32}[name[:3]])


def _runs_avx2():
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        return " avx2 " in lines.read()


def _compiled(directory, compiler, flags):
    path = directory / f"chains{flags.replace(' ', '')}.so"
    command = [
        compiler,
        *flags.split(),
        CONTRACT,
        "-shared",
        "-fPIC",
        "-o",
        path,
        directory / "chains.c",
        *LIBRARIES,
    ]
    subprocess.run(command, check=True)
    return ctypes.CDLL(str(path))


def _called(library, name, values):
    result = np.empty_like(values)
    getattr(library, name)(values.ctypes.data_as(ctypes.c_void_p), result.ctypes.data_as(ctypes.c_void_p))
    return result
