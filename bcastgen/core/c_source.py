"""A finished C source: what `emit` renders and `jit` compiles.

In: nothing.  Out: the value that crosses from one to the other, so that neither knows the other's insides.

    CSource("axpb", {"axpb.c": "...", "axpb.h": "..."}).text -> the text of axpb.c
"""

from __future__ import annotations

from collections.abc import Mapping

from .frozen import dataclass

__all__ = ["BUILDS", "C_WARNING_FLAGS", "RESULT_FLAGS", "WARNING_FLAGS", "CSource", "Flag"]

# What may go with emitted C, beside a program that checks it.
BUILDS = {
    "cmake": "add a CMakeLists.txt",
    "meson": "add a meson.build",
    "makefile": "add a Makefile",
    "cffi": "add a Python wrapper, which needs cffi and NumPy",
}


@dataclass(frozen=True, slots=True)
class Flag:
    """One compiler flag, why it is passed, and when: for these compilers, machines and CPU feature (all: empty)."""

    text: str
    reason: str
    kinds: tuple[str, ...] = ()
    machines: tuple[str, ...] = ()
    feature: str = ""


# What C of ours is compiled with, by whomever: with the last flag it gives one result everywhere, and the others change
# none. Nothing may stand behind it that undoes it.
RESULT_FLAGS = (
    Flag("-fno-math-errno", "gcc keeps loops with sqrt and the like scalar otherwise; changes no result"),
    Flag("-fno-trapping-math", "gcc keeps compares and selects scalar otherwise; the C allows for what it changes"),
    Flag("-ffp-contract=off", "a*b + c rounds twice, as in NumPy; last, so that nothing undoes it"),
)

# Emitted C compiles with these, as C and as C++; and with those that only C has.
WARNING_FLAGS = tuple("-Wall -Wextra -Wconversion -Wshadow -Wcast-qual -pedantic -Werror".split())
C_WARNING_FLAGS = ("-Wstrict-prototypes",)


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
