"""Running the C compiler on a finished source.

In: a ``CSource`` and a :class:`~.toolchain.Toolchain`.  Out: the path of a shared object.

    compile_source(source, directory, tools) -> directory / "kernel.so"
"""

from __future__ import annotations

import re
import shlex
import struct
from pathlib import Path

from ..core.c_flags import FULL_WIDTH, LIBRARIES, LIGHT, LINES_ASSEMBLY, NO_START_FILES, WIDEST
from ..core.c_source import CSource
from ..core.errors import CompileError, RefusedFlagsError
from ..core.resources import csrc_file
from .processes import run
from .toolchain import BINARY, Toolchain, applies, cpu_features

__all__ = ["assembly_of", "compile_source"]

_NEEDS_LIBM = re.compile(r"\b(?:math|tgmath|complex)\.h\b|\b__builtin_")
# Refuses users' flags by their effect, however they are spelled: this header is put in front of the source that is
# compiled with them.
_GUARD = "bcg_flags.h"
_GUARDED = re.compile(r"(?:#error |: )\"?((?:results would be wrong|the kernel would crash)[^\"\n]*)")


def compile_source(source: CSource, directory: Path, tools: Toolchain) -> Path:
    """Write a source into a directory, compile it there, and return the path of the shared object.

    Parameters
    ----------
    source : the C; its first file is compiled, which may include the others.
    directory : an existing directory, best empty.
    tools : what :func:`toolchain` returned.

    Raises
    ------
    CompileError
        If the compiler cannot be run, fails, is killed or takes too long; the message holds the command line and what
        the compiler printed. The source stays in ``directory``.
    OSError
        If the source cannot be written.
    """
    unit, binary = _written(source, directory), directory / BINARY
    # After the source: the linker takes from a library only what was asked for before it. libm takes it 2 ms to open,
    # and most kernels need none of it.
    libraries = list(LIBRARIES) if any(map(_NEEDS_LIBM.search, source.files.values())) else []
    libraries += ["-lgcc"] if NO_START_FILES in tools.flags else []
    guard = _guard() if tools.given else ()
    command = [*tools.command, *_flags(source, tools), *guard, "-o", str(binary), str(unit), *libraries]
    verdict, output = run(command, directory)
    refused = _GUARDED.search(output) if verdict and guard else None
    if refused:
        verdict = f"was given flags that are refused ({' '.join(tools.given)}): {refused[1]}"
    if not verdict and not binary.is_file():
        verdict = f"succeeded but wrote no {BINARY} (does BCASTGEN_CFLAGS ask for another output?)"
    if verdict:
        kind = RefusedFlagsError if refused else CompileError
        raise kind(_report(verdict, command, unit, output))
    return binary


def assembly_of(source: CSource, directory: Path, tools: Toolchain) -> str:
    """Return the assembly that the compiler makes of a source as it compiles it, with the line of C of each part.

    Raises
    ------
    CompileError
        If the compiler cannot be run, fails, is killed or takes too long.
    """
    unit, text = _written(source, directory), directory / "kernel.s"
    command = [*tools.command, *_flags(source, tools), *LINES_ASSEMBLY, "-o", str(text), str(unit)]
    verdict, output = run(command, directory)
    if verdict:
        raise CompileError(_report(verdict, command, unit, output))
    return text.read_text(encoding="utf-8", errors="replace")


def _written(source: CSource, directory: Path) -> Path:
    """Write the files of a source into a directory, and return the one that is compiled."""
    for name, text in source.files.items():
        if not re.fullmatch(r"\w[\w.-]*\.[ch]", name):
            raise CompileError(f"the source file name {name!r} is not a plain name ending in .c or .h")
        (directory / name).write_text(text, encoding="utf-8")
    return directory / next(iter(source.files))


def _flags(source: CSource, tools: Toolchain) -> list[str]:
    """Return the flags that a source is compiled with."""
    light = source.light and FULL_WIDTH not in cpu_features().split()
    flags = [LIGHT if light and flag == WIDEST else flag for flag in tools.flags]
    return flags + [row.text for row in source.flags if applies(row, tools.kind)]


def _guard() -> tuple[str, ...]:
    """Return the flags that put `_GUARD` in front of the source; it refuses flags of the user's that would do harm."""
    return (f"-DBCG_FLAGS_POINTER={struct.calcsize('P')}", "-include", str(csrc_file(_GUARD)))


def _report(verdict: str, command: list[str], unit: Path, output: str) -> str:
    printed = output.strip() or "(it printed nothing)"
    return f"the C compiler {verdict}\ncommand: {shlex.join(command)}\nsource kept in: {unit}\noutput:\n{printed}"
