"""The functions of bcg_shape.h and its neighbours, compiled as a library, on values that tests write down easily.

A size is an int, ``"?"`` or an :class:`Error`; a shape is a tuple of sizes, ``"*"`` or an Error.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass

from bcastgen.core.c_flags import C_LANGUAGE
from bcastgen.core.resources import csrc_file
from compile_flags import SHARED, WARNED
from csrc_includes import CSRC_FLAGS


@dataclass(frozen=True)
class Error:
    message: int


UNIT = """
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#define BCG_STATUS(name, value, sentence) BCG_##name = value,
#define BCG_SHAPE_STATUS BCG_STATUS
typedef enum {
#include "bcg_status.def"
    BCG_LAST
} bcg_status;
"""
HEADERS = ("bcg_shape_value.h", "bcg_shape.h", "bcg_index.h")
INCLUDES = "".join(f'#include "{name}"\n' for name in HEADERS)
# All functions become the library's own.
EXPORTED = f"{UNIT}#define static\n#define inline\n{INCLUDES}"
STRUCTS = """
typedef struct { void *data; const int64_t *extents, *byte_strides; int32_t rank; } bcg_array;
typedef struct { int32_t operand, dim, against; int64_t expected, actual; } bcg_diagnostic;
typedef struct { int32_t rank; int64_t extents[64]; } bcg_shape;
"""


def encode_size(size):
    return -1 if size == "?" else -2 - size.message if isinstance(size, Error) else size


def decode_size(size):
    return "?" if size == -1 else Error(-2 - size) if size < -1 else size


class Library:
    """The functions of the header, taking and giving the reference's values."""

    def __init__(self, directory):
        import cffi

        texts = "".join(csrc_file(name).read_text() for name in HEADERS)
        prototypes = re.findall(r"^static inline ([^;{]*\))", texts, re.MULTILINE)
        (directory / "all.c").write_text(EXPORTED)
        flags = [*C_LANGUAGE, WARNED, "-Wall", "-Wextra", "-Werror", *SHARED]
        subprocess.run(["gcc", *flags, *CSRC_FLAGS, "all.c", "-o", "all.so"], cwd=directory, check=True, timeout=100)
        self.ffi = cffi.FFI()
        self.ffi.cdef(STRUCTS)
        self.ffi.cdef("".join(f"{text};\n" for text in prototypes).replace("bcg_status ", "int32_t "))
        self.c = self.ffi.dlopen(str(directory / "all.so"))
        self._kept = {}

    def shape(self, shape):
        """A bcg_shape; extents it does not have are rubbish."""
        if shape not in self._kept:
            made = self.ffi.new("bcg_shape *")
            made.extents[0:64] = [-(2**63)] * 64
            made.rank = len(shape) if isinstance(shape, tuple) else encode_size("?" if shape == "*" else shape)
            if isinstance(shape, tuple):
                made.extents[0 : len(shape)] = [encode_size(extent) for extent in shape]
            self._kept[shape] = made
        return self._kept[shape]

    def shapes(self, shapes):
        return len(shapes), self.ffi.new("bcg_shape *[]", [self.shape(shape) for shape in shapes])

    def read(self, made):
        if made.rank < 0:
            return "*" if made.rank == -1 else Error(-2 - made.rank)
        return tuple(map(decode_size, made.extents[0 : made.rank]))

    def to_shape(self, function, *arguments):
        result = self.ffi.new("bcg_shape *")
        result.extents[0:64] = [-(2**63)] * 64
        getattr(self.c, function)(*arguments, result)
        return self.read(result)

    def to_shapes(self, function, *arguments):
        first, second = self.ffi.new("bcg_shape *"), self.ffi.new("bcg_shape *")
        getattr(self.c, function)(*arguments, first, second)
        return self.read(first), self.read(second)
