"""A copy of the checkout, in which one file at a time is changed and tests run, as cheaply as can be.

In: a change, tests.  Out: the first test that fails.

    with Sandbox(directory) as sandbox:
        sandbox.first_failure(mutant, ["tests/ops/test_ranges.py"])    -> "tests/ops/test_ranges.py::test_products"

Of the extension, the objects whose text has changed are compiled, lightly; of kernels and emitted C, what was not
compiled before (`compile_once`); and tests run in a child of a process that has imported what they need
(`mutant_server`).
"""

from __future__ import annotations

import itertools
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

import numpy

__all__ = ["ROOT", "Change", "Sandbox"]

ROOT = Path(__file__).resolve().parents[2]
COMPILERS = {"gcc": "gcc", "cc": "gcc", "g++": "g++", "c++": "g++", "clang": "clang", "clang-19": "clang-19"}
OF_THE_EXTENSION = ("csrc/runtime", "csrc/dispatch", "csrc/abi", "csrc/helpers")
# A test is expected to take its usual time; these are for what is wrong.
PROCESSOR_SECONDS, SECONDS = 60, 600


class Change(Protocol):
    """One change of one file."""

    @property
    def path(self) -> str:
        """Where, from the root of the checkout."""

    def applied(self, text: str) -> str:
        """Return the file's text with the change."""


class Sandbox:
    """A copy of the checkout with an extension of its own."""

    def __init__(self, directory: Path, records: bool = False) -> None:
        directory.mkdir(parents=True, exist_ok=True)
        self.root, self._kept, self._directory = directory / "checkout", directory / "compiled", directory
        command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in listed.splitlines():
            if (ROOT / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / name, self.root / name)
        self._kept.mkdir(exist_ok=True)
        once = directory / "once"
        once.mkdir(exist_ok=True)
        for name, of in COMPILERS.items():
            # The package tells a compiler by the name of the file that it is.
            shutil.copy(ROOT / "tests" / "support" / "compile_once.py", once / of)
            (once / of).chmod(0o755)
            if name != of and not (once / name).exists():
                (once / name).symlink_to(of)
        path = f"{once}:{os.environ['PATH']}"
        given = {"PYTHONPATH": str(self.root), "PYTHONSAFEPATH": "", "PATH": path, "COMPILE_ONCE": str(self._kept)}
        self._environment = {**os.environ, **given, "OPENBLAS_NUM_THREADS": "1"}
        self._environment.pop("PYTHONDONTWRITEBYTECODE", None)
        self.extension = self.root / "bcastgen" / f"_dispatch{sysconfig.get_config_var('EXT_SUFFIX')}"
        self._records = records
        if not self.build():
            raise RuntimeError("the extension cannot be compiled as it is; see Sandbox.build")
        self._made = self.extension.read_bytes()
        self._seconds = itertools.count(1_000_000_000)
        self._server: subprocess.Popen[str] | None = None

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *_: object) -> None:
        if self._server is not None:
            with self._server:
                pass  # closes its pipes, by which it ends, and waits

    def build(self) -> bool:
        """Compile the extension, as setup.py does, but quickly; return whether that is possible."""
        rooms = [f"-Icsrc/{room}" for room in ("abi", "helpers", "runtime", "dispatch")]
        python = [f"-I{numpy.get_include()}", f"-I{sysconfig.get_paths()['include']}"]
        # runtime.c, which includes others, is for what has no Python.h.
        runtime = sorted(str(one) for one in (self.root / "csrc" / "runtime").glob("*.c") if one.stem != "runtime")
        flags = ["-O1", "-fPIC", "-fwrapv", "-w", *rooms, *python]
        if self._records:
            flags += ["-gdwarf-4", "-fsanitize-coverage=trace-pc"]
        with tempfile.TemporaryDirectory() as aside:
            objects = []
            for number, file in enumerate(["csrc/dispatch/dispatch.c", *runtime]):
                objects.append(f"{aside}/{number}.o")
                if not self._compiled([*flags, "-c", file, "-o", objects[-1]]):
                    return False
            if self._records:
                hits = str(ROOT / "tests" / "support" / "hits.c")
                objects.append(f"{aside}/hits.o")
                self._compiled(["-O1", "-fPIC", "-c", hits, "-o", objects[-1]])
            return self._compiled(["-shared", *objects, "-o", str(self.extension), "-lm", "-lpthread"])

    def _compiled(self, arguments: list[str]) -> bool:
        done = subprocess.run(["gcc", *arguments], cwd=self.root, env=self._environment, capture_output=True)
        return done.returncode == 0

    @contextmanager
    def changed(self, change: Change) -> Iterator[bool]:
        """Make a change for a while; say whether what is changed can be compiled."""
        path = self.root / change.path
        text = path.read_text(encoding="utf-8")
        self._write(path, change.applied(text))
        is_built = change.path.startswith(OF_THE_EXTENSION)
        try:
            yield not is_built or self.build()
        finally:
            self._write(path, text)
            if is_built:
                self.extension.unlink(missing_ok=True)
                self.extension.write_bytes(self._made)

    def _write(self, path: Path, text: str) -> None:
        # Python compares times in whole seconds: no two texts have the same one.
        path.write_text(text, encoding="utf-8")
        os.utime(path, (at := next(self._seconds), at))

    def run(self, tests: Sequence[str], **more: Any) -> dict[str, Any]:
        """Run tests in a process of their own with a cache of their own; say which failed first, and what it took."""
        if self._server is None:
            command = [sys.executable, str(ROOT / "tests" / "support" / "mutant_server.py")]
            places = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
            self._server = subprocess.Popen(command, cwd=self.root, env=self._environment, text=True, **places)
        assert self._server.stdin is not None and self._server.stdout is not None
        with tempfile.TemporaryDirectory(dir=self._directory) as cache:
            limits = {"processor_seconds": PROCESSOR_SECONDS, "seconds": SECONDS}
            asked = {"tests": [*tests], "cache": cache, **limits, **more}
            self._server.stdin.write(json.dumps(asked) + "\n")
            self._server.stdin.flush()
            found: dict[str, Any] = json.loads(self._server.stdout.readline())
        return found

    def first_failure(self, change: Change, tests: Sequence[str]) -> str:
        """Return the first of some tests that fails with a change, or ""."""
        with self.changed(change) as is_possible:
            return str(self.run(tests)["failed"]) if is_possible else "it does not compile"
