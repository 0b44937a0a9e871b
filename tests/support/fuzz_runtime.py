"""Coverage-guided fuzzing of the C that a call runs in: odometer, plan, tiles, copies, threads, and checks of memory.

In: a number of executions.  Out: a line, and exit status 1 if anything differs or a sanitizer reports.

    python tests/support/fuzz_runtime.py --runs 10000000 --corpus fuzz/runtime     # a second command goes on from it
    python tests/support/fuzz_runtime.py --input crash-1234                        # one input again

`tests/csrc/fuzz_runtime.c` says what is compared with what. libFuzzer, AddressSanitizer and the sanitizer of undefined
behaviour are clang's.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from bcastgen.core.c_flags import C_LANGUAGE, LIBRARIES
from bcastgen.core.resources import folder
from c_harness import compiler
from compile_flags import WARNED
from csrc_includes import CSRC_FLAGS
from fuzz_readers import Result

__all__ = ["build", "play"]

SOURCE = Path(__file__).parents[1] / "csrc" / "fuzz_runtime.c"
SANITIZE = ("-g1", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all", "-fno-omit-frame-pointer")
LONGEST = 160


def build(directory: Path, run_time: Path | None = None, optimise: str = WARNED) -> Path:
    """Compile the program; `run_time` has another run time than csrc's, for tests of it."""
    own = run_time or folder("csrc") / "runtime"
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


def play(program: Path, runs: int, seed: int, corpus: Path) -> Result:
    """Run the program; the corpus is read, and what is new is added to it."""
    corpus.mkdir(parents=True, exist_ok=True)
    options = [f"-runs={runs}", f"-seed={seed}", f"-max_len={LONGEST}", "-len_control=0", "-timeout=10"]
    command = [str(program), *options, f"-artifact_prefix={corpus.parent}/", str(corpus)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
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
