"""Machines other than this one: compilers for them, and what runs their programs.

In: nothing.  Out: rows of machines; where a tool is missing, tests skip and say which.

    machine = MACHINES["aarch64"]; program.build(directory, machine.compiler()); program.run(machine.command(path))
"""

from __future__ import annotations

import importlib.util
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from bcastgen.emit.standalone.target import find_target

# Reads a program of WASI's, and runs it with this process's streams.
_WASI = """\
import {readFile} from "node:fs/promises";
import {WASI} from "node:wasi";
const wasi = new WASI({version: "preview1", args: process.argv.slice(2)});
const module = await WebAssembly.compile(await readFile(process.argv[2]));
process.exitCode = wasi.start(await WebAssembly.instantiate(module, wasi.getImportObject()));
"""

# What Debian calls a machine.
_DEBIAN = {"aarch64": "arm64", "s390x": "s390x"}


def zig(*target):
    """The command of zig's C compiler for a machine."""
    if importlib.util.find_spec("ziglang") is None:
        pytest.skip("ziglang is not installed (pip install ziglang)")
    return [sys.executable, "-m", "ziglang", "cc", "-target", *target]


def tool(*names):
    """The path of the first of these programs."""
    for name in names:
        if found := shutil.which(name):
            return found
    pytest.skip(f"none of {', '.join(names)} is on the PATH")


@dataclass(frozen=True)
class Machine:
    """How to compile for a machine, what runs its programs, its byte order, and whether it has one rounding for fma.

    Programs for Linux are linked with its C library when they start: zig would compile another one for a minute.
    """

    zig: tuple[str, ...]
    runner: str
    order: str = "<"
    fma: bool = False

    def compiler(self):
        """The compiler's command."""
        return zig(*self.zig)

    def command(self, program):
        """The command that runs a program."""
        if self.runner != "node":
            emulated = self.runner.removeprefix("qemu-")
            library = Path(f"/usr/{emulated}-linux-gnu")
            if not library.is_dir():
                pytest.skip(f"there is no C library of {emulated} (apt install libc6-{_DEBIAN[emulated]}-cross)")
            return [tool(self.runner, f"{self.runner}-static"), "-L", str(library), str(program)]
        script = Path(program).with_name("wasi.mjs")
        script.write_text(_WASI)
        return [tool("node"), "--no-warnings", str(script), str(program)]


def _of(target, runner):
    row = find_target(target)
    return Machine(row.zig, runner, fma=row.fma)


MACHINES = {
    "aarch64": _of("aarch64", "qemu-aarch64"),
    "wasm32": _of("wasm32", "node"),
    # No target of ours, but of another byte order.
    "s390x": Machine(("s390x-linux-gnu",), "qemu-s390x", ">"),
}
