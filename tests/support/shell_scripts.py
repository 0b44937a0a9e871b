"""Shell scripts that stand for compilers, and an environment that names none.

In: a path, and what the script does.  Out: the path of a program.

    script(tmp_path / "cc", "exit 1")
"""

from __future__ import annotations

import sys
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import pytest

__all__ = ["plain_environment", "script"]


@pytest.fixture
def plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide which compiler and flags the environment names, and the compiler that may be a package."""
    nothing = ModuleType("ziglang")
    nothing.__spec__ = ModuleSpec("ziglang", None, is_package=True)
    monkeypatch.setitem(sys.modules, "ziglang", nothing)
    for variable in ("BCASTGEN_CC", "BCASTGEN_CFLAGS", "CC"):
        monkeypatch.delenv(variable, raising=False)


def script(path: Path, body: str) -> Path:
    """Write a shell script that can be run, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)
    return path
