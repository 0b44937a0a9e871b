"""What is combined where it lies is combined in vectors: gcc once made none of them, or kept them in memory."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess

import pytest

from bcastgen.runtime.base import implementation

# A function of the run time, and the instruction that combines its elements in vectors of 32 bytes.
COMBINE = {
    **{f"sum_{kind}_whole": "vpaddw" for kind in ("i8", "u8", "bool")},
    **{f"sum_{kind}_whole": "vpaddd" for kind in ("i16", "u16")},
    **{f"sum_{kind}_whole": "vpaddq" for kind in ("i32", "u32", "64")},
    **{f"add_{kind}_whole": f"vaddp{kind_[0]}" for kind, kind_ in (("f32", "s"), ("f64", "d"))},
    **{
        f"{name}_{kind}_rows": f"v{name}p{letter}"
        for name in ("min", "max")
        for kind, letter in (("f32", "s"), ("f64", "d"))
    },
}


@pytest.fixture(scope="module")
def assembly():
    if platform.machine() != "x86_64" or shutil.which("objdump") is None or implementation != "extension":
        pytest.skip("this reads the x86-64 assembly of the extension with objdump")
    from bcastgen import _dispatch

    command = ["objdump", "-d", "--no-show-raw-insn", _dispatch.__file__]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = dict(re.findall(r"^[0-9a-f]+ <(\S+)\.avx2>:\n(.*?)(?:\n\n|\Z)", text, re.MULTILINE | re.DOTALL))
    if not found:
        pytest.skip("this compiler makes no functions for several instruction sets")
    return found


@pytest.mark.parametrize(("name", "instruction"), COMBINE.items())
def test_loops_combine_vectors(assembly, name, instruction):
    own = [line.split("\t")[-1] for line in assembly[name].splitlines()]
    assert sum(instruction in line and "%ymm" in line for line in own) >= 4
    # gcc keeps vectors that are wider than the machine's in memory, and copies them in halves.
    halves = re.compile(r"vmov[a-z]+\s+%xmm\d+,-?(0x[0-9a-f]+)?\(%r")
    assert not name.startswith("sum") or not any(map(halves.search, own))
