"""One C program that calls many emitted kernels, each one row of the table of ops, for any machine.

In: a form, compilers' command lines.  Out: results by kernel, of the same operands everywhere.

    program = ValueProgram(rows(("f32",)), CForm(freestanding=True))
    program.write(directory); run([*compiler, "main.c", "m.c"]); program.results(run(["./a.out"], program.operands()))

Operands come in by stdin and results go out by stdout, in the machine's byte order: all that wasm, too, has.
"""

from __future__ import annotations

import functools
import subprocess
from dataclasses import dataclass, field

import numpy as np

from bcastgen.api.op_kernels import op_kernel
from bcastgen.core.dtypes import dtype
from bcastgen.core.errors import DTypeError
from bcastgen.emit.standalone import CForm, render_module
from bcastgen.expr.trace import converted, trace
from bcastgen.ops.table import OPS
from bcastgen.pipeline.compilation import Compilation
from bcastgen.pipeline.options import Options
from bcastgen.shape.types.tensor_type import parse_type

COUNT = 1024
_MOST_OPERANDS = 3
_SIXTEEN_BITS = "add multiply divide floor_divide sqrt exp less where".split()
_CASTS = (("f32", "i8"), ("f64", "i32"), ("f64", "u64"), ("i64", "f32"), ("u64", "f16"), ("f64", "bf16"), ("i32", "u8"))


@dataclass(frozen=True)
class Row:
    """An op for operands of some dtypes."""

    name: str
    kinds: tuple[str, ...]
    function: object = field(compare=False)

    def part(self, form, fast=False):
        """The row as a part of a module."""
        types = tuple(parse_type(f"{kind}[?]") for kind in self.kinds)
        expression = trace(self.function, tuple("abc"[: len(types)]))
        options = Options(self.name, 0, math="fast" if fast else "accurate")
        compilation = Compilation(expression, tuple(map(dtype, self.kinds)), types, None, ("r",), options, None, 0)
        return compilation.standalone_part(self.name, form)


@functools.cache
def rows(kinds=("f32", "f64", "f16", "i8", "u32", "i64", "u64")):
    """Every op of the table that takes operands of these dtypes, all of one; then some casts of theirs."""
    found = []
    for op in OPS.values():
        for kind in kinds:
            given = ("bool", kind, kind) if op.name == "where" else (kind,) * op.arity
            if op.params or len(given) > _MOST_OPERANDS:
                continue
            # They are computed in f32.
            if dtype(kind).is_float16 and op.name not in _SIXTEEN_BITS:
                continue
            try:
                _, result = op.types(tuple(map(dtype, given)))
            except DTypeError:
                continue
            # Functions of integers are those of floats, after a conversion.
            if result.is_float and not dtype(kind).is_float and op.name != "divide":
                continue
            found.append(Row(f"of_{kind}_{op.name}", given, lambda *xs, op=op: op_kernel(op)(*xs)))
    for source, target in _CASTS:
        if source in kinds:
            cast = functools.partial(converted, target=dtype(target), op=OPS["cast"])
            found.append(Row(f"of_{source}_as_{target}", (source,), cast))
    return tuple(found)


@functools.cache
def values(kind):
    """Three operands of a dtype: its special values against each other, any bits, and numbers of a usual size."""
    random, np_dtype = np.random.default_rng(sum(map(ord, kind))), dtype(kind).np
    size = np_dtype.itemsize
    found = []
    for at in range(_MOST_OPERANDS):
        bits = np.frombuffer(random.bytes(COUNT * size), f"u{size}").copy()
        if np_dtype.kind == "b":
            found.append((bits & 1).astype(np_dtype))
            continue
        numbers = bits.view(np_dtype)
        usual = slice(COUNT // 2, None)
        if np_dtype.kind in "iu":
            numbers[usual] = random.integers(0, 70, COUNT // 2)
        else:
            scale = 10.0 ** random.integers(-3, 4, COUNT // 2)
            numbers[usual] = (random.standard_normal(COUNT // 2) * scale).astype(np_dtype)
            special = np.array([0.0, -0.0, 0.5, 1, -1, 1.5, 2.5, -2.5, np.inf, -np.inf, np.nan, 3e-5], np_dtype)
            grid = np.repeat(special, 12) if at == 0 else np.tile(np.roll(special, at - 1), 12)
            numbers[: grid.size] = grid
        found.append(numbers)
    return tuple(found)


def _call(row):
    arrays = ", ".join(f"&given[{KINDS.index(kind)}][{at}]" for at, kind in enumerate(row.kinds))
    return f"    answer((int)m_{row.name}({arrays}, &made, NULL), sizeof({{result}}));"


KINDS = ("bool", "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f16", "bf16", "f32", "f64")
_MAIN = """\
#include <stdio.h>
#include <string.h>

#include "m.h"

static uint64_t operands[%(kinds)d][3][%(count)d];
/* Arrays are aligned to their elements, the largest of which have 16 bytes. */
static _Alignas(16) uint64_t result[2 * %(count)d];
static bcastgen_array given[%(kinds)d][3];
static const int64_t extents[] = {%(count)d};
static int64_t steps[%(kinds)d];
static int64_t step;
static bcastgen_result made;

static void answer(int status, size_t bytes)
{
    const unsigned char said = (unsigned char)status;
    (void)fwrite(&said, 1, 1, stdout);
    (void)fwrite(result, bytes, %(count)d, stdout);
    memset(result, 0, sizeof result);
}

int main(void)
{
    static const int sizes[] = {%(sizes)s};
    for (int kind = 0; kind < %(kinds)d; kind++) {
        steps[kind] = sizes[kind];
        for (int at = 0; at < 3; at++) {
            if (fread(operands[kind][at], (size_t)sizes[kind], %(count)d, stdin) != %(count)d) return 1;
            given[kind][at].data = operands[kind][at];
            given[kind][at].extents = extents;
            given[kind][at].byte_strides = &steps[kind];
            given[kind][at].rank = 1;
        }
    }
    made.data = result;
    made.extents = extents;
    made.byte_strides = &step;
    made.rank = 1;
%(calls)s
    return fflush(stdout) != 0;
}
"""


class ValueProgram:
    """A module of rows, and a main that calls each."""

    def __init__(self, chosen, form=None, fast=False):
        form = form or CForm()
        parts = [row.part(form, fast) for row in chosen]
        self.results_of = {row.name: part.typed.result_dtypes[0] for row, part in zip(chosen, parts, strict=True)}
        source = render_module("m", parts, form)
        calls = []
        for row in chosen:
            result = self.results_of[row.name]
            calls += [f"    step = {result.bytes};", _call(row).format(result=f"uint8_t[{result.bytes}]")]
        sizes = ", ".join(str(dtype(kind).bytes) for kind in KINDS)
        filled = {"kinds": len(KINDS), "count": COUNT, "sizes": sizes, "calls": "\n".join(calls)}
        self.files = {**source.files, "main.c": _MAIN % filled}

    def write(self, directory):
        """Write the module and main.c."""
        directory.mkdir(parents=True, exist_ok=True)
        for name, text in self.files.items():
            (directory / name).write_text(text)

    def build(self, directory, command, *libraries):
        """Compile it with a command line, and return the program's path."""
        self.write(directory)
        whole = [*command, "m.c", "main.c", "-o", "program", *libraries]
        done = subprocess.run(whole, cwd=directory, capture_output=True, text=True, check=False)
        assert done.returncode == 0 and not done.stderr, f"{' '.join(whole)}\n{done.stderr[:4000]}"
        return next(path for path in directory.iterdir() if path.name in ("program", "program.exe"))

    def run(self, command, order="<"):
        """Run it and return the status and the results of each kernel; `order` is the machine's."""
        stream = b"".join(x.astype(x.dtype.newbyteorder(order)).tobytes() for kind in KINDS for x in values(kind))
        done = subprocess.run(command, input=stream, capture_output=True, check=False)
        assert done.returncode == 0, (command, done.stderr[:2000])
        found, at = {}, 0
        for name, result in self.results_of.items():
            read = np.frombuffer(done.stdout, result.np.newbyteorder(order), COUNT, at + 1)
            found[name] = (done.stdout[at], read.astype(result.np))
            at += 1 + COUNT * result.bytes
        assert at == len(done.stdout)
        return found


def differences(some, others):
    """Name and number of elements of each result that is not the same, bit for bit; NaN is any NaN."""
    found = {}
    for name, (status, result) in some.items():
        other_status, other = others[name]
        if result.dtype.kind == "c":
            result, other = (x.view(x.real.dtype) for x in (result, other))
        same = result.view(f"u{result.itemsize}") == other.view(f"u{result.itemsize}")
        if result.dtype.kind not in "biu":
            same |= (result != result) & (other != other)
        if status != other_status or not same.all():
            found[name] = int((~same).sum())
    return found
