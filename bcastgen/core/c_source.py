"""A finished C source: what `emit` renders and `jit` compiles.

In: nothing.  Out: the value that crosses from one to the other, so that neither knows the other's insides.

    CSource("axpb", {"axpb.c": "...", "axpb.h": "..."}).text -> the text of axpb.c
"""

from __future__ import annotations

from collections.abc import Mapping

from .frozen import dataclass

__all__ = ["BUILDS", "CSource"]

# What may go with emitted C, beside a program that checks it.
BUILDS = {
    "cmake": "add a CMakeLists.txt",
    "meson": "add a meson.build",
    "makefile": "add a Makefile",
    "cffi": "add a Python wrapper, which needs cffi and NumPy",
}


@dataclass(frozen=True, slots=True)
class CSource:
    """C text ready to compile: file names and contents, the .c file first; `flags` are compiler flags of its own.

    `light` says that its loops are bound by memory, so that the widest vectors gain nothing.
    """

    name: str
    files: Mapping[str, str]
    flags: tuple[str, ...] = ()
    light: bool = False

    @property
    def text(self) -> str:
        """The translation unit itself, without its header."""
        return next(iter(self.files.values()))

    def __str__(self) -> str:
        return self.text
