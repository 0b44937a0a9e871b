"""Shape programs given to mlir-opt-22, and which of them may be compared with what LLVM makes of them.

In: programs.  Out: LLVM's text; those that its passes survive; a run of ours, and whether LLVM leaves such a run open.

    machine, results = ran(built, operands)
    if results is not None and not (conflicting(machine) or has_errors(machine)): ...
"""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace

import pytest

from bcastgen.core.errors import BroadcastError
from bcastgen.shape.dialect.interpret import Machine
from bcastgen.shape.dialect.row import lift


def tool(name):
    path = shutil.which(name)
    if path is None:
        pytest.fail(f"{name} is missing; install mlir-22-tools (Debian, apt.llvm.org)")
    return path


def mlir_opt(text, *passes):
    done = subprocess.run([tool("mlir-opt-22"), "-", *passes], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stderr[:3000]}\n{text[:20000]}"
    return done.stdout


def module(programs):
    return "\n".join(str(replace(built, name=f"p{number}")) for number, built in enumerate(programs))


def ran(built, operands):
    """The machine after a run and the results, or None where the run ends with an error."""
    machine = Machine(running=True)
    try:
        return machine, tuple(known.value for known in machine.execute(built, operands))
    except BroadcastError:
        return machine, None


def conflicting(machine):
    """Whether an `any` met operands that contradict each other: LLVM takes the last constant, or else the first."""
    return any(
        operation.name == "shape.any" and len(set(lift(operation, operands))) > 1
        for operation, operands, _ in machine.trace
    )


def surviving(programs, *passes):
    """The programs that LLVM's passes survive: some break on valid ones (the tests at the end say which)."""
    if not breaks(module(programs), passes):
        return programs
    half = len(programs) // 2
    # Few do: halves are fewer runs of mlir-opt than programs.
    return surviving(programs[:half], *passes) + surviving(programs[half:], *passes) if half else []


def breaks(text, passes):
    command = [tool("mlir-opt-22"), "-", *passes]
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False).returncode != 0


def has_errors(machine):
    """Whether something was invalid: no running code of LLVM's has such values, and a fold may pass over them."""
    return any(getattr(value, "is_invalid", False) for step in machine.trace for value in (*step[1], *step[2]))
