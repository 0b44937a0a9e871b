"""Finds every C compiler of this machine, to check emitted C with each.

In: the PATH.  Out: :class:`Compiler` values.

    compilers()  ->  gcc 12.2.0 (gcc, g++), clang 19.1.7 (clang-19, clang++-19)

Kernels are compiled by one of them, which :mod:`.toolchain` chooses.
"""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import tempfile
from pathlib import Path

from ..core.frozen import dataclass
from ..core.system_errors import pass_on
from .processes import run

__all__ = ["Compiler", "compilers"]

_NAMES = re.compile(r"(gcc|clang)(-\d+)?")
_VERSION = re.compile(r"\d+(?:\.\d+)+")


@dataclass(frozen=True, slots=True)
class Compiler:
    """A C compiler, and its C++ compiler if that is installed.

    Attributes
    ----------
    kind : ``"gcc"``, ``"clang"`` or ``"zig"``.
    version : as it reports itself.
    c, cxx : programs and their leading arguments.
    """

    kind: str
    version: str
    c: tuple[str, ...]
    cxx: tuple[str, ...] | None

    def __str__(self) -> str:
        return f"{self.kind} {self.version}"


def compilers() -> tuple[Compiler, ...]:
    """Return every gcc and clang on the PATH, each once even if it has several names, and zig if it is installed."""
    found: dict[str, Compiler] = {}
    for directory in filter(None, os.environ.get("PATH", os.defpath).split(os.pathsep)):
        for name in sorted(_listed(directory)):
            match = _NAMES.fullmatch(name)
            path = Path(directory, name)
            if match is None or not _is_program(path):
                continue
            twin = path.with_name(f"{'g++' if match[1] == 'gcc' else 'clang++'}{match[2] or ''}")
            cxx = (str(twin),) if _is_program(twin) else None
            known = found.get(os.path.realpath(path))
            if known is None or (known.cxx is None and cxx is not None):
                found[os.path.realpath(path)] = Compiler(match[1], _version((str(path),)), (str(path),), cxx)
    return (*found.values(), *_zig())


def _listed(directory: str) -> list[str]:
    try:
        return os.listdir(directory)
    except OSError as error:
        pass_on(error)
        return []


def _is_program(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)


def _zig() -> tuple[Compiler, ...]:
    """Return zig, which is also a C compiler: clang with the libraries of every system. It may be a package."""
    programs = (Path(directory, "zig") for directory in os.environ.get("PATH", os.defpath).split(os.pathsep))
    path = next((str(program) for program in programs if _is_program(program)), None)
    if path is None and importlib.util.find_spec("ziglang") is None:
        return ()
    command = (path,) if path is not None else (sys.executable, "-m", "ziglang")
    return (Compiler("zig", _version((*command, "version"), ()), (*command, "cc"), (*command, "c++")),)


def _version(command: tuple[str, ...], ask: tuple[str, ...] = ("--version",)) -> str:
    with tempfile.TemporaryDirectory() as directory:
        verdict, output = run([*command, *ask], Path(directory))
    # gcc's first line has the version of its package in parentheses, before its own version.
    lines = re.sub(r"\([^)]*\)", "", output).splitlines()
    match = _VERSION.search(lines[0]) if lines and not verdict else None
    return match[0] if match else "of unknown version"
