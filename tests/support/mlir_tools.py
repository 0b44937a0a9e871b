"""LLVM 22's own tools for tests: its verifier and passes, and programs compiled by them and called with arrays.

In: text of MLIR.  Out: what mlir-opt-22 says of it, or a :class:`Native` library whose functions take ndarrays.

    run_opt(text, "--canonicalize").stdout
    Native.compile(text, tmp_path / "programs").call("add", [a, b], [(np.float32, 2)])
"""

from __future__ import annotations

import ctypes
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pytest

from bcastgen.core.c_flags import LIBRARIES

OPT, RUNNER, LINKER = "mlir-opt-22", "mlir-runner-22", "gcc"
# The passes from func, linalg, tensor, arith, math, scf and cf to LLVM's dialect.
LOWERING = (
    "--one-shot-bufferize=bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map",
    *"""--convert-linalg-to-loops --convert-scf-to-cf --llvm-request-c-wrappers --expand-strided-metadata --lower-affine
    --arith-expand=include-bf16 --convert-math-to-llvm --convert-math-to-libm --convert-arith-to-llvm
    --convert-index-to-llvm --finalize-memref-to-llvm --convert-cf-to-llvm --convert-func-to-llvm
    --reconcile-unrealized-casts""".split(),
)


def missing(*tools):
    """Name the first of these tools that is not on the PATH, or return None."""
    return next((tool for tool in tools if shutil.which(tool) is None), None)


needs_mlir = pytest.mark.skipif(missing(OPT) is not None, reason=f"{OPT} is missing; install mlir-22-tools")
needs_native = pytest.mark.skipif(
    missing(OPT, RUNNER, LINKER) is not None,
    reason=f"{missing(OPT, RUNNER, LINKER)} is missing; install mlir-22-tools and gcc",
)


def run_opt(text, *flags):
    """Run mlir-opt-22 on a text; the result's `returncode`, `stdout` and `stderr` are its own."""
    return subprocess.run([OPT, "-", *flags], input=text, capture_output=True, text=True, check=False)


def checked_opt(text, *flags):
    """Return what mlir-opt-22 prints; fail with its errors, and with the text, where it refuses."""
    done = run_opt(text, *flags)
    assert done.returncode == 0, f"{done.stderr[:4000]}\n{text[:20000]}"
    return done.stdout


def _run(command, text=""):
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{command[0]}: {done.stderr[:4000]}"


def _sixteen():
    """The library of MLIR that rounds to bf16, which libgcc has from 13 on only; CPUs with AVX512-BF16 need none."""
    found = shutil.which(RUNNER)
    return sorted((Path(found).resolve().parents[1] / "lib").glob("libmlir_float16_utils.so*")) if found else []


class Native:
    """Functions on tensors, compiled by LLVM; operands and results are ndarrays.

    A call ends the process if a `cf.assert` of the function fails: LLVM prints the message and aborts.
    """

    def __init__(self, library):
        self.path = str(library)
        self.library = ctypes.CDLL(self.path)

    @classmethod
    def compile(cls, text, stem, lowering=LOWERING):
        """Compile the functions of a module; files are named `stem` with suffixes."""
        made, library = Path(stem).with_suffix(".o"), Path(stem).with_suffix(".so")
        # The runner keeps the object it makes of a module to run one function, which does nothing.
        lowered = checked_opt(f"{text}\nfunc.func @main() {{ return }}", *lowering)
        run = [
            RUNNER,
            "-e",
            "main",
            "--entry-point-result=void",
            "-O1",
            *(f"--shared-libs={one}" for one in _sixteen()),
        ]
        _run([*run, "--dump-object-file", f"--object-filename={made}"], lowered)
        linked = [f"-Wl,--no-as-needed,-rpath,{one.parent},{one}" for one in _sixteen()]
        _run([LINKER, "-shared", str(made), *linked, "-o", str(library), *LIBRARIES])
        return cls(library)

    def refusals(self, calls):
        """Make calls that end the process, each in one of its own; return what each printed.

        A call is a function's name, its operands, and the (dtype, rank) of its results.
        """
        work = pickle.dumps((self.path, calls))
        done = subprocess.run([sys.executable, __file__], input=work, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        return pickle.loads(done.stdout)

    def call(self, name, operands, results):
        """Call a function with arrays; `results` are the (dtype, rank) of what it returns. Returns a list of arrays."""
        arrays = [np.ascontiguousarray(operand).reshape(np.shape(operand)) for operand in operands]
        given = [describe(array) for array in arrays]
        fields = [(f"r{at}", memref(rank)) for at, (_, rank) in enumerate(results)]
        returned = type("Results", (ctypes.Structure,), {"_fields_": fields})()
        function = getattr(self.library, f"_mlir_ciface_{name}")
        function.restype = None
        function(*[ctypes.byref(returned)] * bool(results), *map(ctypes.byref, given))
        return [read(getattr(returned, f"r{at}"), dtype, rank) for at, (dtype, rank) in enumerate(results)]


def memref(rank):
    """Return the C struct that LLVM passes a memref of a rank in."""
    extents = [(field, ctypes.c_int64 * rank) for field in ("extents", "strides")] if rank else []
    fields = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p), ("offset", ctypes.c_int64), *extents]
    return type(f"Memref{rank}", (ctypes.Structure,), {"_fields_": fields})


def describe(array):
    """Return the descriptor of a contiguous array."""
    made = memref(array.ndim)()
    made.allocated = made.aligned = array.ctypes.data
    for at, (extent, stride) in enumerate(zip(array.shape, array.strides, strict=True)):
        made.extents[at], made.strides[at] = extent, stride // array.itemsize
    return made


def read(descriptor, dtype, rank):
    """Return a copy of what a descriptor describes, in the extents that it says."""
    shape = tuple(descriptor.extents) if rank else ()
    strides = tuple(descriptor.strides) if rank else ()
    dtype, count = np.dtype(dtype), int(np.prod(shape, dtype=np.int64))
    if count == 0:
        return np.empty(shape, dtype)
    last = sum((extent - 1) * stride for extent, stride in zip(shape, strides, strict=True))
    held = (ctypes.c_char * ((last + 1) * dtype.itemsize)).from_address(
        descriptor.aligned + descriptor.offset * dtype.itemsize
    )
    flat = np.frombuffer(held, dtype)
    view = np.lib.stride_tricks.as_strided(flat, shape, [stride * dtype.itemsize for stride in strides])
    return view.copy()


def _refusal(library, name, operands, results):
    """Return what a call prints before it ends its process, or say that it does not end."""
    with tempfile.TemporaryFile() as printed:
        child = os.fork()
        if child == 0:
            os.dup2(printed.fileno(), 1)
            # abort does not write the output that C has buffered.
            libc = ctypes.CDLL(None)
            libc.setvbuf(ctypes.c_void_p.in_dll(libc, "stdout"), None, 2, ctypes.c_size_t(0))
            library.call(name, operands, results)
            os._exit(0)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        printed.seek(0)
        text = printed.read().decode().rstrip("\n")
    return text if status == -signal.SIGABRT else f"ends with {status}: {text}"


if __name__ == "__main__":
    path, calls = pickle.loads(sys.stdin.buffer.read())
    sys.stdout.buffer.write(pickle.dumps([_refusal(Native(path), *call) for call in calls]))
