"""Emitted modules, compiled and called from Python by ctypes."""

from __future__ import annotations

import ctypes
import subprocess

import bcastgen as bg
from bcastgen.core.c_flags import LIBRARIES
from compile_flags import CONTRACT, QUICK, SHARED


class Array(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("extents", ctypes.POINTER(ctypes.c_int64)),
        ("byte_strides", ctypes.POINTER(ctypes.c_int64)),
        ("rank", ctypes.c_int32),
    )


class Diagnostic(ctypes.Structure):
    _fields_ = (
        ("operand", ctypes.c_int32),
        ("dim", ctypes.c_int32),
        ("against", ctypes.c_int32),
        ("expected", ctypes.c_int64),
        ("actual", ctypes.c_int64),
    )

    @property
    def facts(self):
        return self.operand, self.dim, self.against, self.expected, self.actual


def described(array):
    """The descriptor of an ndarray."""
    extents, strides = ((ctypes.c_int64 * 64)(*row) for row in (array.shape, array.strides))
    return Array(array.ctypes.data, extents, strides, array.ndim)


class Module:
    """An emitted module, compiled."""

    def __init__(self, kernels, directory, name, flags=(QUICK,), **form):
        source, *_ = bg.emit_c(kernels, directory, name, **form)
        library = directory / f"{name}.so"
        command = ["gcc", *flags, CONTRACT, *SHARED, source, *LIBRARIES, "-o", library]
        subprocess.run(command, check=True)
        self._library, self._name, self._single = ctypes.CDLL(str(library)), name, list(kernels) == [name]
        self.kernels = kernels

    def function(self, kernel, what=""):
        stem = self._name if self._single else f"{self._name}_{kernel}"
        return getattr(self._library, stem + what)

    def call(self, kernel, *arrays):
        """Return the status and the diagnostic of a call; a number is an extent."""
        why = Diagnostic()
        passed = [
            ctypes.c_int64(array) if isinstance(array, int) else ctypes.byref(described(array)) for array in arrays
        ]
        return self.function(kernel)(*passed, ctypes.byref(why)), why

    def say(self, kernel, status, why, size=400):
        """Return what a message function says, and the length that it tells."""
        tell = self.function(kernel, "_message")
        tell.restype = ctypes.c_size_t
        text = ctypes.create_string_buffer(b"\xa5" * (size + 8), size + 8)
        length = tell(status, None if why is None else ctypes.byref(why), text, ctypes.c_size_t(size))
        assert text.raw[size:] == b"\xa5" * 8
        return text.raw[:size].split(b"\0")[0].decode(), length
