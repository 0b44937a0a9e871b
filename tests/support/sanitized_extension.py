"""The package with its extension compiled under a sanitizer; programs run with it, and with kernels so compiled.

In: a directory and a sanitizer ("thread", "address").  Out: the package's objects; what a program said.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from collections.abc import Mapping
from pathlib import Path

import numpy as np

import bcastgen
from bcastgen.core.resources import CSRC_ROOMS, folder

__all__ = ["Sanitized"]

_UNITS = ("dispatch/dispatch", *(f"runtime/{part}" for part in ("run", "pack", "pool", "guards", "shape_code")))
_ROOMS = [f"-I{folder('csrc') / room}" for room in CSRC_ROOMS]
_PYTHON = [f"-I{np.get_include()}", f"-I{sysconfig.get_paths()['include']}"]
_LIBRARIES = {"thread": "libtsan.so", "address": "libasan.so"}


class Sanitized:
    """The package as it is, but for the extension, whose units are compiled into objects of `home`."""

    def __init__(self, home: Path, sanitizer: str) -> None:
        self.home, self._sanitizer = home, sanitizer
        self._flags = ("-fPIC", "-O0", "-g", "-fwrapv", f"-fsanitize={sanitizer}")
        (home / "bcastgen").mkdir()
        for path in Path(bcastgen.__file__).parent.iterdir():
            if not path.name.startswith(("_dispatch", "__pycache__")):
                (home / "bcastgen" / path.name).symlink_to(path)
        for unit in _UNITS:
            self.compile(folder("csrc") / f"{unit}.c", self._object(unit))

    @property
    def kernels(self) -> Path:
        """The directory of the kernels that programs compile."""
        return self.home / "kernels"

    def compile(self, unit: Path, to: Path) -> None:
        """Compile a file of C as the extension's are."""
        subprocess.run(["gcc", *self._flags, *_ROOMS, *_PYTHON, "-c", str(unit), "-o", str(to)], check=True)

    def run(
        self, *arguments: str, instead: Mapping[str, Path] | None = None, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """Link the extension, with other objects for some units, and run Python with these arguments."""
        objects = [str((instead or {}).get(unit, self._object(unit))) for unit in _UNITS]
        extension = self.home / "bcastgen" / f"_dispatch{sysconfig.get_config_var('EXT_SUFFIX')}"
        extension.unlink(missing_ok=True)
        command = ["gcc", "-shared", *self._flags, *objects, "-o", str(extension), "-lm", "-lpthread"]
        subprocess.run(command, check=True)
        variables = {
            **os.environ,
            "LD_PRELOAD": _library(_LIBRARIES[self._sanitizer]),
            "PYTHONPATH": str(self.home),
            "BCASTGEN_CFLAGS": f"-fsanitize={self._sanitizer} -g",
            "BCASTGEN_CACHE_DIR": str(self.kernels),
            "OPENBLAS_NUM_THREADS": "1",
            **environment,
        }
        options = {"cwd": self.home, "env": variables, "capture_output": True, "text": True, "timeout": 900}
        return subprocess.run([sys.executable, *arguments], errors="replace", check=False, **options)

    def _object(self, unit: str) -> Path:
        return self.home / f"{unit.rpartition('/')[2]}.o"


def _library(name: str) -> str:
    found = subprocess.run(["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True)
    return str(Path(found.stdout.strip()).resolve())
