"""Random programs with reductions in standalone C, under sanitizers: the run time's bits, and its refusals.

In: random programs of `reduction_programs`.  Out: what differs from the JIT.

    python -m tests.support.reduction_c 2000      runs so many programs; exits with 1 if one differs

Each program's kernel is emitted for operands of unknown extents, or for exactly those at hand, in a form of the module
that goes round; an operand of a caller in C may have any strides.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import bcastgen as bg
from bcastgen.core.dtypes import dtype
from bcastgen.emit.standalone import CForm

sys.path.insert(0, str(Path(__file__).parent))

from c_harness import ADDRESS, Case, Emitted, Harness, emit_module
from compile_flags import QUICK
from reduction_programs import Program

FORMS = (
    CForm(0),
    CForm(freestanding=True),
    CForm(helper_file=True),
    CForm(single_file=True),
    CForm(openmp=True),
    CForm(0, static=True),
)
# This many kernels are one program in C.
_BATCH = 60
BUILD = ("gcc", (QUICK, *ADDRESS))


class _Kernels:
    """The kernels of programs, each emitted once."""

    def __init__(self) -> None:
        self.made: dict[tuple[str, str], tuple[bg.Kernel, Emitted]] = {}

    def kernel(self, program: Program, form: CForm) -> tuple[bg.Kernel, Emitted]:
        """Return a program's kernel with types, and its C."""
        types = ", ".join(
            f"{dtype(x.dtype.name)}[{', '.join(str(n) if form.static else '?' for n in x.shape)}] {name}"
            for name, x in zip("xy", program.operands, strict=True)
        )
        key = (program.text + types, repr(form))
        if key not in self.made:
            kernel = bg.jit(program.function(), signature=f"({types})", name=f"p{len(self.made)}")
            (emitted,) = emit_module([kernel], kernel.__name__, form)
            self.made[key] = (kernel, emitted)
        return self.made[key]


def _calls(programs: Iterable[Program], kernels: _Kernels) -> Iterator[tuple[Program, Emitted, Any, str]]:
    """Yield for each program its C, what the JIT gives, and what it says if it refuses."""
    for number, program in enumerate(programs):
        form = FORMS[number % len(FORMS)]
        if form.static:
            program.operands = tuple(np.ascontiguousarray(x) for x in program.operands)
        try:
            kernel, emitted = kernels.kernel(program, form)
        except (bg.BcastgenError, TypeError) as error:
            if "no elements has no value" in str(error) or "has extent 0, expected 1" in str(error):
                continue
            if _is_refused_by_numpy(program):
                continue
            raise AssertionError(f"{program}: {error}") from error
        with np.errstate(all="ignore"):
            try:
                yield program, emitted, np.asarray(kernel(*program.operands)), ""
            except (bg.BroadcastError, bg.DomainError) as error:
                yield program, emitted, None, str(error)


def _is_refused_by_numpy(program: Program) -> bool:
    try:
        with np.errstate(all="ignore"):
            program.function()(*program.operands)
    except ValueError:
        return True
    return False


def differences(programs: Iterable[Program], directory: Path, build: tuple[str, tuple[str, ...]] = BUILD) -> list[str]:
    """Return what differs between the JIT and standalone C."""
    calls = list(_calls(programs, _Kernels()))
    used = {id(emitted): emitted for _, emitted, *_ in calls}
    harness = Harness(list(used.values()), directory)
    cases = []
    for program, emitted, expected, said in calls:
        case = Case(emitted)
        for x in program.operands:
            case.array(x)
        shape = () if expected is None else expected.shape
        if "outside the domain" in said:
            shape = program.kernel().result_shape(*(x.shape for x in program.operands))
        cases.append(case.array(np.zeros(shape, emitted.results[0].np)))
    outcomes = harness.build(build[0], build[1]).run(*cases)
    found = []
    for (program, emitted, expected, said), outcome in zip(calls, outcomes, strict=True):
        got = outcome.values(len(program.operands), emitted.results[0].np)
        what = _difference(expected, said, got, outcome.call.status, outcome.message)
        if what:
            found.append(f"{program} ({emitted.name}): {what}")
    return found


def _difference(expected: Any, said: str, got: Any, status: str, message: str) -> str:
    if expected is None and status == "DOMAIN" and not message:
        # C for known extents returns the status alone.
        return "" if "outside the domain" in said else f"{status}, expected {said!r}"
    if expected is None:
        return "" if message and said.startswith(message) else f"{status} {message!r}, expected {said!r}"
    if status not in ("OK", ""):
        return f"{status}: {message}"
    if got.dtype.kind in "fc":
        nan = np.isnan(got) & np.isnan(expected)
        same = (got == expected) & (np.signbit(got.real) == np.signbit(expected.real)) | nan
    else:
        same = got == expected
    return "" if np.all(same) else f"{got}, expected {expected}"


def main(count: int, seed: int = 0) -> int:
    """Run programs; return 1 if one differs."""
    random = np.random.default_rng(seed)
    for first in range(0, count, _BATCH):
        programs = [Program(random) for _ in range(min(_BATCH, count - first))]
        with tempfile.TemporaryDirectory() as directory:
            found = differences(programs, Path(directory))
        if found:
            print(f"among programs {first} to {first + len(programs)} of seed {seed}:", *found, sep="\n")
            return 1
    print(f"{count} programs have the same bits in standalone C")
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 2000, *map(int, sys.argv[2:3])))
