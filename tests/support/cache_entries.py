"""A small library in place of a kernel, for tests of the cache: built, called, and what builds leave behind."""

from __future__ import annotations

import ctypes
from pathlib import Path

from bcastgen.core.c_source import CSource
from bcastgen.runtime.cache import build, cache_key
from bcastgen.runtime.toolchain import Toolchain

SOURCE = CSource(
    "kernel",
    {
        "kernel.c": '#include "kernel.h"\n__attribute__((visibility("default"))) int answer(void) { return ANSWER; }\n',
        "kernel.h": "#define ANSWER 42\n",
    },
)


def made(tools: Toolchain, *parts: str) -> tuple[str, Path]:
    """Build an entry; return its key and the path of its shared object."""
    key = cache_key(*parts, tools=tools)
    path, compiled = build(key, lambda: SOURCE, tools)
    assert compiled
    return key, path


def answer(path: Path) -> int:
    """Call the library's function, which returns 42."""
    result: int = ctypes.CDLL(str(path)).answer()
    return result


def litter(directory: Path) -> list[Path]:
    """Return what killed and failed builds have left."""
    return [path for pattern in ("tmp.*", "failed.*") for path in directory.glob(f"*/{pattern}")]
