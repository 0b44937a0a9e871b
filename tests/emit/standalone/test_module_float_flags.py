"""Flags under which floats would not be what the C says: it does not compile with them, or its results are right."""

from __future__ import annotations

import platform
import re
import runpy
import shutil
import subprocess
import sys

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.c_flags import LIBRARIES, RESULT_FLAGS
from bcastgen.core.dtypes import F32, F64
from bcastgen.core.resources import bench_module
from bcastgen.ops.table import OPS
from c_harness import has_32_bits
from compile_flags import CONTRACT

truth = bench_module("truth")
pytestmark = pytest.mark.skipif(platform.machine() != "x86_64", reason="the flags are those of x86-64")

REFUSAL = "results would be wrong"
REORDERED = ["-ffast-math", "-ffinite-math-only", "-freciprocal-math"]
WIDER = ["-mfpmath=387", "-m32 -mfpmath=387"]
MODULES = {
    "functions": "(f32[?] a) -> exp(a)",
    "arithmetic": "(f64[?] a, f64[?] b) -> a + b*2",
    "compared": "(f64[?] a, f64[?] b) -> a < b",
    "halves": "(f16[?] a, f16[?] b) -> a + b",
    "quotient": "(i32[?] a, i32[?] b) -> a // b",
    "integers": "(i32[?] a, i32[?] b) -> a * b + 1",
}


def compiled(source, flags, *more):
    """What a compiler says of a file, or "" where it takes it."""
    command = ["gcc", "-O2", "-w", *flags.split(), *more, str(source)]
    return subprocess.run(command, check=False, capture_output=True, text=True).stderr


@pytest.fixture(params=[False, True], ids=["dynamic", "apart"])
def emitted(request, tmp_path):
    """Call ``emitted(name)`` for the path of a module's C, with its helpers in the same file or in one of their own."""

    def emit(name):
        kernel = bg.from_text(MODULES[name])
        return bg.emit_c({name: kernel}, tmp_path, name, helper_file=request.param)[0]

    return emit


@pytest.mark.parametrize("flags", REORDERED)
def test_what_floats_make_is_not_compiled_where_operations_are_reordered(flags, emitted):
    refused = {name for name in MODULES if REFUSAL in compiled(emitted(name), flags, "-fsyntax-only")}
    assert refused == set(MODULES) - {"integers"}


@pytest.mark.parametrize("flags", WIDER)
def test_floats_are_not_compiled_for_wider_registers(flags, emitted):
    if "-m32" in flags and not has_32_bits():
        pytest.skip("no C library of 32 bits: apt install gcc-multilib")
    refused = {name for name in MODULES if REFUSAL in compiled(emitted(name), flags, "-fsyntax-only")}
    assert refused == set(MODULES) - {"integers", "quotient"}


@pytest.mark.skipif(shutil.which("clang-19") is None, reason="no clang-19")
@pytest.mark.parametrize(
    "flags", ["-funsafe-math-optimizations", "-fassociative-math", "-freciprocal-math", "-fno-honor-nans"]
)
def test_clang_reorders_nothing_though_no_macro_tells_of_its_flag(flags, emitted):
    command = ["clang-19", "-O1", *flags.split(), "-S", "-emit-llvm", "-o", "-", str(emitted("functions"))]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert " fadd " in text or " fmul " in text
    assert not re.search(r"\bf(add|sub|mul|div)\b[^\n]*\b(reassoc|arcp|nsz|nnan|contract)\b", text)


def test_the_usual_flags_compile(emitted):
    flags = " ".join(flag.text for flag in RESULT_FLAGS)
    for name in MODULES:
        assert compiled(emitted(name), f"{flags} -march=native", "-fsyntax-only") == ""


def functions():
    """Every function of the table that keeps its operands' dtype, by its name in C and dtype."""
    rows = [(op, kind) for op in OPS.values() if op.ulp for kind in (F32, F64)]
    return {f"{op.name}_{kind}": (op, kind) for op, kind in rows if op.types((kind,) * op.arity)[1] is kind}


COUNT = 150


def samples(op, kind):
    return tuple(np.resize(operand, COUNT) for operand in truth.operands_of(op, kind, COUNT))


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """A program that writes what every function makes of its samples; and the folder it is in."""
    directory = tmp_path_factory.mktemp("functions")
    kernels, calls = {}, []
    for name, (op, kind) in functions().items():
        operands = [f"x{at}" for at in range(op.arity)]
        signature = ", ".join(f"{kind}[{COUNT}] {operand}" for operand in operands)
        kernels[f"of_{name}"] = bg.from_text(f"({signature}) -> {op.name}({', '.join(operands)})")
        taken = ", ".join(f"{kind}_in[{at}]" for at in range(op.arity))
        reads = f"fread({kind}_in, sizeof {kind}_in[0], {op.arity}, in) != {op.arity}"
        calls.append(f"    if ({reads}) return 1;\n    m_of_{name}({taken}, {kind}_out); {kind}_write(out);\n")
    bg.emit_c(kernels, directory, "m", static=True)
    declared = "".join(
        f"static {kind.c} {kind}_in[2][{COUNT}], {kind}_out[{COUNT}];\n"
        f"static void {kind}_write(FILE *out) {{ fwrite({kind}_out, sizeof {kind}_out, 1, out); }}\n"
        for kind in (F32, F64)
    )
    (directory / "main.c").write_text(
        f'#include <stdio.h>\n#include "m.h"\n{declared}int main(void)\n{{\n    FILE *in = fopen("in", "rb"), *out = '
        f'fopen("out", "wb");\n    if (!in || !out) return 1;\n{"".join(calls)}    return fclose(out);\n}}\n'
    )
    with open(directory / "in", "wb") as file:
        for op, kind in functions().values():
            for operand in samples(op, kind):
                file.write(operand.tobytes())
    return directory


RUN = [
    *(f"{compiler} {flags}" for compiler in ("gcc", "clang-19") for flags in ("-m32", "-m32 -msse2 -mfpmath=sse")),
    *("gcc -m32 -std=c11", "gcc -mfpmath=387", "gcc -ffast-math", "gcc", "gcc -march=native"),
    "clang-19",
]


@pytest.mark.slow
@pytest.mark.parametrize("command", RUN)
def test_functions_are_right_or_not_compiled(command, program):
    compiler, *flags = command.split()
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    if "-m32" in flags and not has_32_bits():
        pytest.skip("no C library of 32 bits: apt install gcc-multilib")
    line = [compiler, *flags, "-O2", CONTRACT, "-w", "main.c", "m.c", "-o", "program", *LIBRARIES]
    done = subprocess.run(line, cwd=program, check=False, capture_output=True, text=True)
    if done.returncode:
        assert REFUSAL in done.stderr
        assert not {"-mfpmath=sse", "-march=native"} & {*flags}
        assert flags
        return
    subprocess.run(["./program"], cwd=program, check=True)
    with open(program / "out", "rb") as file:
        for name, (op, kind) in functions().items():
            operands = samples(op, kind)
            got = np.frombuffer(file.read(COUNT * kind.bytes), kind.np)
            errors = truth.errors_of(op, kind, operands, got)
            assert errors.max() <= op.ulp, f"{name} is {errors.max():.2f} ULP off"


def test_the_wrapper_for_python_of_32_bits_has_the_flags(tmp_path, monkeypatch):
    bg.emit_c({"k": bg.from_text(MODULES["functions"])}, tmp_path, "k", build=("cffi",))
    usual = runpy.run_path(str(tmp_path / "k_cffi.py"))["_OPTIONS"]
    monkeypatch.setattr(sys, "maxsize", 2**31 - 1)
    narrow = runpy.run_path(str(tmp_path / "k_cffi.py"))["_OPTIONS"]
    assert narrow == [*usual, "-msse2", "-mfpmath=sse"]
    assert REFUSAL not in compiled(tmp_path / "k.c", " ".join(narrow), "-fsyntax-only")


def test_headers_tell_the_flags_that_results_depend_on(tmp_path):
    def said(text, **form):
        _, header, *_ = bg.emit_c({"k": bg.from_text(text)}, tmp_path, "k", **form)
        return " ".join(header.read_text().replace("\n *", " ").split())

    bits = "Compile with -ffp-contract=off: results then have the same bits, those of a NaN apart, for every other flag"
    bits += ", compiler and machine"
    assert f"{bits}. Not for -ffast-math" in said(MODULES["arithmetic"])
    assert f"{bits}, but for functions" in said(MODULES["functions"])
    assert "-ffp-contract" not in said(MODULES["integers"])
