"""Coverage-guided fuzzing of the C that a call runs in: odometer, plan, tiles, copies, threads, and checks of memory.

In: a number of executions.  Out: a line, and exit status 1 if anything differs or a sanitizer reports.

    python tests/support/fuzz_runtime.py --runs 10000000 --corpus fuzz/runtime     # a second command goes on from it
    python tests/support/fuzz_runtime.py --input crash-1234                        # one input again

`tests/csrc/fuzz_runtime.c` says what is compared with what. libFuzzer, AddressSanitizer and the sanitizer of undefined
behaviour are clang's. The functions that reduce are left out: no call reaches them, and compiling them takes
most of the time.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bcastgen.core.c_flags import C_LANGUAGE, LIBRARIES
from bcastgen.core.resources import folder
from c_harness import compiler
from csrc_includes import CSRC_FLAGS
from fuzz_readers import Result

__all__ = ["Defect", "build", "play"]

SOURCE = Path(__file__).parents[1] / "csrc" / "fuzz_runtime.c"
# Programs run several times as fast as without optimisation.
SANITIZE = ("-O1", "-g1", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
LONGEST = 160


_NO_REDUCERS = """\
#include "run_steps.inc"

static const reducer *reducers_find(int32_t step, int32_t kind, int32_t bytes)
{
    (void)step, (void)kind, (void)bytes;
    return NULL;
}

static int reducers_compares(const reducer *how) { return how->step != 0; }
"""
# Whether the environment asks for a defect.
_HAS_DEFECT = """\
#include <stdlib.h>

static int has_defect(int number)
{
    static int asked = -1;
    if (asked < 0) asked = getenv("FUZZ_DEFECT") == NULL ? 0 : atoi(getenv("FUZZ_DEFECT"));
    return asked == number;
}

"""


@dataclass(frozen=True)
class Defect:
    """What a file of csrc/runtime says, and what a careless hand makes of it where `DEFECT` holds."""

    file: str
    right: str
    either: str


def build(directory: Path, defects: Sequence[Defect] = ()) -> Path:
    """Compile the program: with the run time's C, or one that may have these defects."""
    own = directory / "runtime"
    shutil.copytree(folder("csrc") / "runtime", own)
    (own / "run_reducers.inc").write_text(_NO_REDUCERS, encoding="utf-8")
    for number, defect in enumerate(defects, start=1):
        text = (own / defect.file).read_text(encoding="utf-8")
        assert text.count(defect.right) == 1, f"{defect.file} says {defect.right} {text.count(defect.right)} times"
        text = text.replace(defect.right, defect.either.replace("DEFECT", f"has_defect({number})"))
        (own / defect.file).write_text(text, encoding="utf-8")
    if defects:
        text = (own / "run.c").read_text(encoding="utf-8")
        (own / "run.c").write_text(_HAS_DEFECT + text, encoding="utf-8")
    program = directory / "fuzz"
    files = [SOURCE, *(own / f"{name}.c" for name in ("guards", "pack", "pool", "shape_code"))]
    command = [
        compiler("clang"),
        *C_LANGUAGE,
        *SANITIZE,
        f"-I{own}",
        *CSRC_FLAGS,
        *files,
        "-o",
        program,
        "-lpthread",
        *LIBRARIES,
    ]
    subprocess.run(list(map(str, command)), check=True)
    return program


def play(program: Path, runs: int, seed: int, corpus: Path, defect: int = 0) -> Result:
    """Run the program, with one of its defects or none; the corpus is read, and what is new is added to it."""
    corpus.mkdir(parents=True, exist_ok=True)
    options = [f"-runs={runs}", f"-seed={seed}", f"-max_len={LONGEST}", "-len_control=0", "-timeout=10"]
    command = [str(program), *options, f"-artifact_prefix={corpus.parent}/", str(corpus)]
    environment = {**os.environ, "FUZZ_DEFECT": str(defect)}
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=environment)
    return Result(done.stdout + done.stderr, done.returncode)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, help="a directory that keeps what is found, for the next run")
    parser.add_argument("--input", type=Path, help="run this input alone")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as aside:
        program = build(Path(aside))
        if given.input is not None:
            return subprocess.run([program, given.input]).returncode
        found = play(program, given.runs, given.seed, given.corpus or Path(aside) / "corpus")
    print(f"runtime, seed {given.seed}: {found}")
    return int(not found.is_right)


if __name__ == "__main__":
    sys.exit(main())
