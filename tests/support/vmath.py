"""Loops over the vector functions of csrc, compiled with chosen flags, and the errors of what they return.

In: flags.  Out: a :class:`Library`, whose functions take and return arrays.

    library("-ffp-contract=fast").call("exp_f64", x) -> array of the same dtype

The functions are found in the headers by their form ``static inline T bcg_<name>_<dtype>(T x, ...)``; everything that
is in a header is there to be called. For rows with a form for usual elements ``is_usual_<op>_<dtype>`` is 1 for these.
"""

from __future__ import annotations

import ctypes
import functools
import hashlib
import math
import os
import platform
import re
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import mpmath
import numpy as np

from bcastgen.core.c_flags import LIBRARIES
from bcastgen.core.dtypes import F32, F64
from bcastgen.core.resources import csrc_file, folder
from bcastgen.ops.table import OPS
from bcastgen.runtime.toolchain import cpu_features
from compile_flags import jit_flags
from csrc_includes import CSRC_FLAGS

HEADERS = tuple(sorted(path.name for path in (folder("csrc") / "vmath").glob("bcg_vmath*.h")))
X86 = platform.machine() == "x86_64"
# Every aarch64 has FMA; what any CPU of the kind can run needs a flag where kernels are compiled for this one.
ROUNDINGS = {"fma": (), "no-fma": ("-mno-fma", "-mno-avx512f")} if X86 else {"as it is": ()}
PORTABLE = ("-march=x86-64",) if X86 else ()
# As in kernels: gcc leaves larger functions as calls otherwise, and the loop scalar.
_INLINED = "-Dinline=inline __attribute__((always_inline))"
_FUNCTION = re.compile(r"^static inline (float|double) bcg_(\w+_f(?:32|64))\(((?:\1 \w+(?:, )?)+)\)", re.MULTILINE)
_NUMBER = {"float": np.float32, "double": np.float64}


def functions():
    """Name -> C type and number of operands of every function of the headers."""
    found = {}
    for header in HEADERS:
        for c_type, name, operands in _FUNCTION.findall(csrc_file(header).read_text(encoding="utf-8")):
            found[name] = (c_type, operands.count(",") + 1)
    return found


def usual_forms():
    """Op and dtype of every row with a form for usual elements."""
    pairs = ((op, dtype) for op in OPS.values() for dtype in (F32, F64))
    return [
        (op, dtype) for op, dtype in pairs if not op.forms.scalar and op.range_tests_for((dtype,) * op.arity, dtype)
    ]


def _looks():
    """Name -> C type, number of operands and C of whether an element is usual."""
    found = {}
    for op, dtype in usual_forms():
        excesses = op.range_tests_for((dtype,) * op.arity, dtype)
        texts = (f"(({excess.c})({excess.number})) <= {excess.most}" for excess in excesses)
        text = " && ".join(texts).replace("{0}", "a0[i]").replace("{1}", "a1[i]")
        found[f"is_usual_{op.name}_{dtype}"] = (dtype.c, op.arity, text)
    return found


def source():
    """C with a loop over each function."""
    lines = [f'#include "{header}"' for header in HEADERS]
    for name, (c_type, arity) in functions().items():
        values = ", ".join(f"a{at}[i]" for at in range(arity))
        lines += _loop(name, c_type, arity, f"bcg_{name}({values})")
    for name, look in _looks().items():
        lines += _loop(name, *look)
    return "\n".join(lines) + "\n"


def _loop(name, c_type, arity, text):
    taken = ", ".join(f"const {c_type} *restrict a{at}" for at in range(arity))
    return (
        f"void loop_{name}({taken}, {c_type} *restrict r, int64_t n)",
        f"{{ for (int64_t i = 0; i < n; i++) r[i] = {text}; }}",
    )


@dataclass(frozen=True)
class Library:
    """Compiled loops."""

    loops: ctypes.CDLL

    def call(self, name, *operands):
        """The function's values, element by element."""
        c_type, arity = (functions() | _looks())[name][:2]
        operands = [np.ascontiguousarray(x, _NUMBER[c_type]) for x in operands]
        assert len(operands) == arity
        result = np.empty_like(operands[0])
        pointers = [ctypes.c_void_p(x.ctypes.data) for x in (*operands, result)]
        getattr(self.loops, f"loop_{name}")(*pointers, ctypes.c_int64(result.size))
        return result


def _compiled(compiler, flags, output):
    """The path of what the loops compile to. It is kept beside the kernels, for all processes of a run and the next."""
    command = [compiler, *jit_flags(compiler), _INLINED, *flags, *output, *CSRC_FLAGS]
    version = subprocess.run([compiler, "--version"], check=True, capture_output=True, text=True).stdout
    texts = [path.read_text(encoding="utf-8") for path in sorted(folder("csrc").rglob("*.h"))]
    key = hashlib.sha256(repr((command, version, cpu_features(), source(), texts)).encode()).hexdigest()
    kept = Path(f"{os.environ['BCASTGEN_CACHE_DIR']}-vmath")
    kept.mkdir(parents=True, exist_ok=True)
    if not (kept / key).exists():
        with tempfile.TemporaryDirectory(dir=kept) as directory:
            text, made = Path(directory, "loops.c"), Path(directory, "loops.out")
            text.write_text(source(), encoding="utf-8")
            whole = [*command, str(text), "-o", str(made), *LIBRARIES]
            done = subprocess.run(whole, check=False, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr[:3000]
            os.replace(made, kept / key)
    return kept / key


@functools.cache
def library(*flags, compiler="gcc"):
    """Compile the loops; further flags come last."""
    return Library(ctypes.CDLL(str(_compiled(compiler, flags, ("-shared",)))))


def assembly(*flags, compiler="gcc"):
    """The loops' instructions."""
    return _compiled(compiler, flags, ("-S",)).read_text()


def errors(got, close):
    """Distances of f32 or f64 values from wider ones, in units of the last place; where both are special it is 0."""
    info = np.finfo(got.dtype)
    wide = close.astype(np.longdouble)
    with np.errstate(all="ignore"):
        exponent = np.frexp(np.clip(np.abs(wide), info.tiny, info.max))[1].astype(np.int64) - 1 - info.nmant
        beyond = np.ldexp(np.longdouble(1), info.maxexp)
        distance = np.abs(np.clip(got.astype(np.longdouble), -beyond, beyond) - np.clip(wide, -beyond, beyond))
        distance = np.ldexp(distance, -exponent)
    same = (np.isnan(got) & np.isnan(wide)) | (got == wide)
    return np.where(same, 0, np.where(np.isnan(distance), math.inf, distance)).astype(np.float64)


def exact_error(got, truth, dtype):
    """Distance of one value from a true one of mpmath, in units of the last place that the true one has."""
    info = np.finfo(dtype)
    if not isinstance(truth, mpmath.mpf) or mpmath.isnan(truth):
        return 0.0 if math.isnan(got) else math.inf
    if math.isnan(got):
        return math.inf
    beyond = mpmath.ldexp(1, int(info.maxexp))
    truth, got = (mpmath.sign(x) * min(abs(x), beyond) for x in (truth, mpmath.mpf(got)))
    exponent = max(mpmath.mag(truth) - 1, int(info.minexp)) if truth != 0 else int(info.minexp)
    if abs(truth) == beyond:
        exponent -= 1
    return float(mpmath.ldexp(abs(got - truth), int(info.nmant) - exponent))
