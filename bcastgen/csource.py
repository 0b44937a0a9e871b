"""A finished C source: what `emit` renders and `jit` compiles.

In: nothing.  Out: the value that crosses from one to the other, so that neither knows the other's insides.

    CSource("axpb", {"axpb.c": "...", "axpb.h": "..."}).text -> the text of axpb.c
"""

from __future__ import annotations

from collections.abc import Mapping

from .records import dataclass

__all__ = ["CSource"]


@dataclass(frozen=True, slots=True)
class CSource:
    """C text ready to compile: file names and contents, the .c file first; `flags` are compiler flags of its own."""

    name: str
    files: Mapping[str, str]
    flags: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The translation unit itself, without its header."""
        return next(iter(self.files.values()))

    def __str__(self) -> str:
        return self.text
