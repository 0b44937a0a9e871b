"""The options of standalone C: one record, checked in one place.

In: options as users write them.  Out: a :class:`CForm`.

    CForm(variants=0, openmp=True)   ->   plain nests, threads by OpenMP where the work pays
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import field
from typing import NamedTuple

from ...core.c_source import BUILDS
from ...core.errors import BcastgenError
from ...core.frozen import dataclass
from ...core.options import VARIANTS, option, options_of
from .instruction_sets import find_sets
from .target import find_target

__all__ = ["EXCLUSIONS", "CForm", "Exclusion"]


class Exclusion(NamedTuple):
    """An option, those that it does not go with, and what is said where it is asked for with some of these."""

    option: str
    others: tuple[str, ...]
    reason: str
    cure: str = "leave {} out"

    def refusal(self, asked: Sequence[str]) -> str:
        """Return the message where these of the others are asked for."""
        *first, last = (one if one in BUILDS else f"{one}=" for one in asked)
        names = f"{', '.join(first)} and {last}" if first else last
        return f"{self.reason}; {self.cure.format(names)}"


EXCLUSIONS = (
    Exclusion(
        "static",
        ("pointers",),
        "static= has all extents in the types, pointers= takes some from the caller",
        "choose one",
    ),
    Exclusion(
        "unchecked",
        ("static", "pointers"),
        "unchecked= is for functions that check arrays, which those of static= and pointers= do not",
    ),
    Exclusion(
        "alignment",
        ("main", "cffi"),
        "alignment= has no checking program and no Python wrapper, whose arrays are not aligned",
    ),
    Exclusion("header_only", ("export", "helper_file", "build"), "header_only= has no library and no other header"),
    Exclusion("cpp", ("static", "pointers", "single_file"), "cpp= is for functions of bcastgen.h's arrays"),
    Exclusion("pointers", ("main", "cffi"), "pointers= has no checking program and no Python wrapper"),
    Exclusion("pointers", ("openmp",), "pointers= has no threads", "leave {} out, and share the rows among calls"),
    Exclusion(
        "targets",
        ("target", "freestanding", "header_only", "helper_file", "main"),
        "targets= needs the C library, has a file of its own for loops, and no bits that a program could check on "
        "every machine",
    ),
)
_NAMES = ", ".join(f'``"{name}"``' for name in BUILDS)


@dataclass(frozen=True, slots=True)
class CForm:
    """The form of a module of standalone C; each field says what it is for."""

    variants: int | None = field(default=VARIANTS.default, metadata={"option": VARIANTS})
    static: bool = option(False, "all extents are known: plain nested loops over pointers, no descriptors.")
    pointers: bool = option(
        False, "extents are known or have names, which are parameters: plain nested loops over pointers, no checks."
    )
    unchecked: bool = option(False, "each kernel has a function NAME_unchecked, too, which trusts its caller.")
    export: bool = option(False, "functions are marked as those that a shared library shows, on Windows, too.")
    abi: int = option(
        1,
        "the number of a shared library's interface, a part of its soname; raise it where arguments change.",
        metavar="N",
        least=1,
    )
    alignment: int | None = option(
        None,
        "callers promise that rows are aligned to so many bytes, 16, 32, 64 or 128: this is checked, and loops use it.",
        metavar="N",
        least=16,
    )
    freestanding: bool = option(False, "no library: only <stdint.h>, <stddef.h> and <stdbool.h>, and maths of its own.")
    openmp: bool = option(False, "threads by OpenMP, where the work pays.")
    target: str | None = option(
        None,
        "the machine that vectors are meant for, by name; None says nothing of it.",
        flag="the machine that vectors are meant for",
        metavar="NAME",
    )
    targets: tuple[str, ...] = option(
        (),
        "instruction sets that the .c holds beside that of the compiler's flags; a call takes the best that runs.",
        flag="instruction sets, with commas, that the .c holds beside its compiler's; a call takes the best that runs",
        metavar="NAMES",
        several=True,
    )
    single_file: bool = option(
        False, "what all modules share stands in the .c and .h; else in bcastgen.h, beside them."
    )
    header_only: bool = option(False, "one header, whose functions are static inline, and no .c.")
    cpp: bool = option(False, "bcastgen.hpp goes with it, for callers in C++20: views, and errors as exceptions.")
    helper_file: bool = option(
        False, "the module's helpers stand in a header of their own, NAME.helpers.h; else in the .c."
    )
    license: str | None = option(
        None,
        "the SPDX expression of a licence, which each file then begins with; None for none.",
        flag="begin each file with the SPDX line of a licence, such as MIT",
        metavar="SPDX",
    )
    verbose: bool = option(False, "the expression and the loop nests, as the compiler has them, end the .c.")
    main: bool = option(False, "a program that checks the module against a reference goes with it.")
    build: tuple[str, ...] = option((), f"what goes with it beside that: {_NAMES}.", parts=BUILDS)

    @property
    def is_plain(self) -> bool:
        """Whether functions take pointers to dense arrays, and no descriptors."""
        return self.static or self.pointers

    def _asks(self, name: str) -> bool:
        """Whether an option, or a build file, is asked for."""
        return name in self.build if name in BUILDS else bool(getattr(self, name))

    @property
    def arguments(self) -> str:
        """The options of a checked form that differ from their defaults, as arguments in Python, each after a comma."""
        given = ((row.name, getattr(self, row.name), row.default) for row in options_of(CForm))
        return "".join(f", {name}={value!r}" for name, value, default in given if value != default)

    def checked(self) -> CForm:
        """Return the form itself; refuse options that are wrong.

        Raises
        ------
        BcastgenError
            If the number of variants, the target, the licence or a build file is none.

        Examples
        --------
        >>> CForm(variants=-1).checked()
        Traceback (most recent call last):
        bcastgen.BcastgenError: variants is -1, expected 0 or more (0 is the one plain nest)
        """
        for row in options_of(CForm):
            row.check(getattr(self, row.name))
        if self.alignment not in (None, 16, 32, 64, 128):
            raise BcastgenError(f"alignment is {self.alignment}, expected 16, 32, 64 or 128")
        if self.abi is None:
            raise BcastgenError("abi is None, expected 1 or more")
        if self.target is not None:
            find_target(self.target)
        find_sets(self.targets)
        named = isinstance(self.license, str) and re.fullmatch(r"[\w.+()-]+( [\w.+()-]+)*", self.license, re.ASCII)
        if self.license is not None and not named:
            raise BcastgenError(
                f"license={self.license!r} is no SPDX expression; write one such as 'MIT OR Apache-2.0'"
            )
        for one in EXCLUSIONS:
            asked = tuple(filter(self._asks, one.others)) if self._asks(one.option) else ()
            if asked:
                raise BcastgenError(one.refusal(asked))
        return self
