"""Declares compiled kernels and the runtime to cffi, from csrc/abi/bcg_abi.h and csrc/runtime/run.h alone.

In: these headers.  Out: `ffibuilder()`, from which setuptools (`cffi_modules`) writes `bcastgen/runtime/_ffi.py`.

    #define BCG_MAX_RANK 64            enum bcg_constants { BCG_MAX_RANK = 64, ..., BCG_FINGERPRINT = 385054913 };
    typedef struct {...} bcg_array; -> typedef struct {...} bcg_array; ... extern bcg_kernel bcg_entry;

Setuptools runs this file by its path, outside of the package, so it imports nothing of bcastgen.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

# The module beneath hashlib, as in `cache.identity`, which needs it anyway.
try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

__all__ = ["declarations", "ffibuilder", "fingerprint", "header"]


def header() -> str:
    """Return the text of bcg_abi.h and run.h, from under the package (a wheel) or beside it (a checkout)."""
    package = Path(__file__).resolve().parent.parent
    folders = (package / "csrc", package.parent / "csrc")
    found = next((path for path in folders if path.is_dir()), folders[0])
    return b"\n".join((found / name).read_bytes() for name in ("abi/bcg_abi.h", "runtime/run.h")).decode()


def fingerprint(text: str) -> int:
    """Return the number that `_ffi.py` keeps to show which headers it was written from."""
    return int.from_bytes(blake2b(text.encode(), digest_size=4).digest(), "little")


def declarations(text: str) -> str:
    """Return the declarations for cffi: the headers' numbers and types, and the symbol that every kernel exports.

    Examples
    --------
    >>> print(declarations("#define BCG_MAX_RANK 64").splitlines()[0])
    enum bcg_constants { BCG_MAX_RANK = 64, BCG_FINGERPRINT = 1979305386 };
    """
    numbers = [number.replace(" ", " = ") for number in re.findall(r"^#define (\w+ \d+)$", text, re.MULTILINE)]
    numbers.append(f"BCG_FINGERPRINT = {fingerprint(text)}")
    types = [line for line in text.splitlines() if not line.startswith("#")]
    return "\n".join((f"enum bcg_constants {{ {', '.join(numbers)} }};", *types, "extern bcg_kernel bcg_entry;"))


def ffibuilder() -> Any:
    """Return the FFI that cffi's setuptools hook writes to `_ffi.py`; it also works as it is."""
    import cffi  # noqa: PLC0415 - slow, and not needed where the build has run it

    builder = cffi.FFI()
    builder.set_source("bcastgen.runtime._ffi", None)
    builder.cdef(declarations(header()))
    return builder
