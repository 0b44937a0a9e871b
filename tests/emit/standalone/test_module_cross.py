"""Emitted C on other machines: it compiles without a warning and gives this machine's values, bit for bit.

Every op runs under emulators of machines with vectors of their own (NEON, WebAssembly), of another byte order and of
32 bits, without a C library. Functions are those of this machine on the same path: with one rounding of products and
sums, or with two.
"""

from __future__ import annotations

import functools
import random
import subprocess

import pytest

from bcastgen.core.c_flags import C_LANGUAGE, FREESTANDING_FLAGS, LIBRARIES, RESULT_FLAGS, WARNING_FLAGS
from bcastgen.emit.standalone import CForm
from bcastgen.emit.standalone.target import TARGETS
from c_harness import compiler
from compile_flags import QUICK
from foreign import MACHINES, zig
from long_runs import LONG
from value_programs import ValueProgram, differences
from value_programs import rows as rows_for

pytestmark = pytest.mark.slow
FLAGS = (*C_LANGUAGE, *WARNING_FLAGS, *(flag.text for flag in RESULT_FLAGS))
# Every row of floats, every fourth of the others.
ROWS = (*rows_for(("f32", "f64")), *rows_for(("f16", "i8", "u32", "i64", "u64"))[::4])
FEW = ROWS[::12]
COMPILED = {**{name: row.zig for name, row in TARGETS.items()}, "x86": ("x86-linux-gnu",)}


def rows_of(name):
    """What a machine runs: all rows in a long run, else a sixth of a mix that no other machine runs."""
    mixed = tuple(random.Random(7).sample(ROWS, len(ROWS)))
    return ROWS if LONG else mixed[list(MACHINES).index(name) :: 6]


@functools.cache
def program(rows, freestanding):
    return ValueProgram(rows, CForm(freestanding=freestanding))


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    """Call ``here(rows, fma)`` for this machine's results."""

    @functools.cache
    def results(rows, fma):
        command = [compiler("gcc"), QUICK, *FLAGS, *(("-march=x86-64-v3",) if fma else ())]
        made = program(rows, False)
        return made.run([made.build(tmp_path_factory.mktemp("here"), command, *LIBRARIES)])

    return results


@pytest.mark.parametrize("name", MACHINES)
def test_values_are_those_of_this_machine(name, here, tmp_path):
    machine, rows = MACHINES[name], rows_of(name)
    made = program(rows, True)
    path = made.build(tmp_path, [*machine.compiler(), "-O2", *FLAGS, *FREESTANDING_FLAGS])
    assert not differences(here(rows, machine.fma), made.run(machine.command(path), machine.order))


@pytest.mark.parametrize("name", COMPILED)
def test_targets_compile_without_a_warning(name, tmp_path):
    made = ValueProgram(FEW, CForm(target=name if name in TARGETS else None))
    made.write(tmp_path)
    command = [*zig(*COMPILED[name]), "-O1", *FLAGS, "-c", "m.c", "-o", "m.o"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and not done.stderr, done.stderr[:4000]
