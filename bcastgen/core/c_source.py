"""A finished C source: what `emit` renders and `runtime` compiles.

In: nothing.  Out: the value that `emit` passes to `runtime`, so that neither knows the other's internals.

    CSource("axpb", {"axpb.c": "...", "axpb.h": "..."}).text -> the text of axpb.c
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from .frozen import dataclass

if TYPE_CHECKING:
    from .c_flags import Flag

__all__ = ["BUILDS", "CSource"]

# The build files that may go with emitted C, beside a program that checks it.
BUILDS = {
    "cmake": "add a CMakeLists.txt",
    "meson": "add a meson.build",
    "makefile": "add a Makefile",
    "cffi": "add a Python wrapper, which needs cffi and NumPy",
}


@dataclass(frozen=True, slots=True)
class CSource:
    """C text ready to compile: file names and contents, the .c file first; `flags` are further flags for its compiler.

    `light` says that its loops are bound by memory, so that the widest vectors gain nothing.
    """

    name: str
    files: Mapping[str, str]
    flags: tuple[Flag, ...] = ()
    light: bool = False

    @property
    def text(self) -> str:
        """The text of the .c file."""
        return next(iter(self.files.values()))

    def __str__(self) -> str:
        return self.text
