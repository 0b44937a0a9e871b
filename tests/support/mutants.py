"""Mutation testing: one small change at a time to the package, its C or its templates; the tests beside it must fail.

In: a number of changes, or files.  Out: each change that no test noticed, and the score.

    nice python tests/support/mutants.py --count 500 --seed 7 --resume mutants.json     # hours; goes on where it ended
    python tests/support/mutants.py --file bcastgen/ops/ranges.py --count 20

A change exchanges one operator, number or word outside of comments, texts and types: `OPERATORS`. It is made to a
copy of the checkout. The tests of a file are those of its name, then those of its room, then some that see all of a
kernel; the first that fails ends it. What changes no result, but speed or precision within a bound, survives rightly:
each survivor is for a person to judge.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import os
import random
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy

from bcastgen.core.c_flags import LIBRARIES
from compile_flags import SHARED

__all__ = ["Mutant", "Sandbox", "beside", "mutants"]

ROOT = Path(__file__).resolve().parents[2]
# A token, and what a careless hand writes in its place.
OPERATORS = {
    **{"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+", "*": "+", "//": "*"},
    **{"&&": "||", "||": "&&", "&": "|", "|": "&", "<<": ">>", ">>": "<<", "%": "+", "+=": "-=", "-=": "+="},
    **{"and": "or", "or": "and", "not": "", "True": "False", "False": "True", "min": "max", "max": "min"},
    **{"any": "all", "all": "any", "is": "is not", "in": "not in", "0": "1", "1": "2", "2": "1", "64": "63"},
    **{"continue": "break", "break": "continue", "!": "", "++": "--", "--": "++"},
}
_OF_C = set(OPERATORS) - {"and", "or", "not", "True", "False", "min", "max", "any", "all", "is", "in", "*", "//", "-"}
_OF_PYTHON = set(OPERATORS) - {"&&", "||", "!", "++", "--", "*"}
_C_TOKEN = re.compile(
    r"/\*.*?\*/|//[^\n]*|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'|^[ \t]*\#(?:[^\n\\]|\\.)*"
    r"|\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}"
    r"|[A-Za-z_]\w*|0[xX]\w+|\d[\w.]*|<<=?|>>=?|<=|>=|==|!=|&&|\|\||\+\+|--|->|[-+*/%&|^]=|.",
    re.DOTALL | re.MULTILINE,
)
# Tests of what has none of its name: by the beginning of a path.
ROOMS = {
    "csrc/vmath/": ["tests/csrc/test_vmath.py", "tests/behaviour/test_accuracy.py"],
    "csrc/helpers/bcg_half.h": ["tests/core/test_float16.py", "tests/ops/test_casts.py"],
    "csrc/helpers/bcg_shape": ["tests/emit/shape_program"],
    "csrc/helpers/": ["tests/emit/standalone", "tests/ops/test_casts.py"],
    "csrc/runtime/pack": ["tests/csrc/test_pack.py"],
    "csrc/runtime/pool": ["tests/csrc/test_pool.py"],
    "csrc/runtime/guards": ["tests/csrc/test_guards.py"],
    "csrc/runtime/shape": ["tests/emit/shape_program"],
    "csrc/runtime/": ["tests/behaviour/test_layouts.py", "tests/behaviour/test_reductions.py"],
    "csrc/dispatch/": ["tests/runtime"],
    "csrc/abi/": ["tests/core/test_errors.py"],
    "templates/page": ["tests/page"],
    "templates/shape": ["tests/emit/shape_program"],
    "templates/": ["tests/emit"],
}
LAST = ["tests/behaviour/test_cases.py", "tests/behaviour/test_values.py", "tests/behaviour/test_random_programs.py"]
SECONDS = 900


@dataclass(frozen=True)
class Mutant:
    path: str
    at: int  # the offset of the token
    right: str
    wrong: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.right!r} -> {self.wrong!r}"

    def applied(self, text: str) -> str:
        assert text.startswith(self.right, self.at), f"{self} is of another text"
        return text[: self.at] + self.wrong + text[self.at + len(self.right) :]


def _of_python(text: str) -> Iterator[tuple[int, str]]:
    """Yield the tokens of code that runs: no imports, no annotations, no defaults of nothing."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    idle: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        types = [node] if isinstance(node, (ast.Import, ast.ImportFrom)) else []
        types += [part for part in (getattr(node, "annotation", None), getattr(node, "returns", None)) if part]
        for part in types:
            idle |= {*range(part.lineno, part.end_lineno + 1)}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.OP, tokenize.NAME, tokenize.NUMBER) and token.start[0] not in idle:
            line = text[starts[token.start[0] - 1] : starts[token.start[0]]]
            yield starts[token.start[0] - 1] + token.start[1], "" if line.lstrip().startswith("for ") else token.string


def mutants(path: str, text: str) -> list[Mutant]:
    """Return every change of a file that its language reads."""
    if path.endswith(".py"):
        known, found = _OF_PYTHON, list(_of_python(text))
    else:
        known, found = _OF_C, [(token.start(), token[0]) for token in _C_TOKEN.finditer(text)]
    made = []
    for at, token in found:
        if token in known:
            made.append(Mutant(path, at, token, OPERATORS[token], text.count("\n", 0, at) + 1))
    if not path.endswith(".py"):
        return made
    return [one for one in made if _is_python(one.applied(text))]


def _is_python(text: str) -> bool:
    try:
        compile(text, "", "exec")
    except SyntaxError:
        return False
    return True


def beside(path: str) -> list[list[str]]:
    """Return the tests that look at a file, in the order in which they are run."""
    place = Path(path)
    own: list[str] = []
    if path.endswith(".py"):
        room = ROOT / "tests" / Path(*place.parts[1:-1])
        own = sorted(str(one.relative_to(ROOT)) for one in room.glob(f"test_{place.stem}*.py"))
        rest = [str(room.relative_to(ROOT))] if room.is_dir() and room.name != "tests" else []
    else:
        rest = next(tests for begin, tests in ROOMS.items() if path.startswith(begin))
    return [tests for tests in (own, rest, LAST) if tests]


class Sandbox:
    """A copy of the checkout, in which one file at a time is changed."""

    def __init__(self, directory: Path) -> None:
        self.root = directory / "checkout"
        listed = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for name in listed.splitlines():
            if (ROOT / name).is_file():
                (self.root / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(ROOT / name, self.root / name)
        self.environment = {**os.environ, "BCASTGEN_CACHE_DIR": str(directory / "cache"), "PYTHONSAFEPATH": ""}
        self.environment["PYTHONPATH"] = str(self.root)
        self.extension = self.root / "bcastgen" / f"_dispatch{sysconfig.get_config_var('EXT_SUFFIX')}"
        if not self.build():
            raise RuntimeError("the extension cannot be compiled as it is; see Sandbox.build")
        self.made = self.extension.read_bytes()
        self.passing: dict[tuple[str, ...], bool] = {}

    def build(self) -> bool:
        """Compile the extension, as setup.py does; return whether that is possible."""
        rooms = [f"-Icsrc/{room}" for room in ("abi", "helpers", "runtime", "dispatch")]
        python = [f"-I{numpy.get_include()}", f"-I{sysconfig.get_paths()['include']}"]
        # runtime.c, which includes others, is for what has no Python.h.
        runtime = sorted(str(one) for one in (self.root / "csrc" / "runtime").glob("*.c") if one.stem != "runtime")
        files = [*rooms, *python, "csrc/dispatch/dispatch.c", *runtime, "-o", str(self.extension), *LIBRARIES]
        made = subprocess.run(["gcc", *SHARED, "-O1", "-fwrapv", *files], cwd=self.root, capture_output=True)
        check = f"import bcastgen._dispatch as made; assert made.__file__ == {str(self.extension)!r}"
        return made.returncode == 0 and self._run("-c", check).returncode == 0

    def _run(self, *arguments: str, seconds: float = SECONDS) -> subprocess.CompletedProcess[bytes]:
        command = [sys.executable, *arguments]
        return subprocess.run(command, cwd=self.root, env=self.environment, capture_output=True, timeout=seconds)

    def try_tests(self, tests: list[str], seconds: float = SECONDS) -> bool:
        """Return whether tests pass."""
        try:
            done = self._run("-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests, seconds=seconds)
        except subprocess.TimeoutExpired:
            return False
        return done.returncode == 0

    def is_killed(self, mutant: Mutant, groups: list[list[str]] | None = None) -> bool:
        """Return whether the tests of a file notice a change of it; without the change they have to pass."""
        groups = groups or beside(mutant.path)
        for tests in groups:
            if tuple(tests) not in self.passing:
                self.passing[tuple(tests)] = self.try_tests(tests)
            if not self.passing[tuple(tests)]:
                raise RuntimeError(f"{' '.join(tests)} fails without a change")
        path = self.root / mutant.path
        text = path.read_text(encoding="utf-8")
        is_built = mutant.path.startswith(("csrc/runtime", "csrc/dispatch", "csrc/abi"))
        path.write_text(mutant.applied(text), encoding="utf-8")
        try:
            if is_built and not self.build():
                return True
            return not all(self.try_tests(tests) for tests in groups)
        finally:
            path.write_text(text, encoding="utf-8")
            if is_built:
                self.extension.unlink(missing_ok=True)
                self.extension.write_bytes(self.made)


def files() -> list[str]:
    """Return the files that are changed."""
    kinds = {"bcastgen": ["*.py"], "csrc": ["*.c", "*.h", "*.inc"], "templates": ["*.j2"]}
    found = [path for folder, globs in kinds.items() for glob in globs for path in (ROOT / folder).rglob(glob)]
    return sorted(str(path.relative_to(ROOT)) for path in found if path.name != "_templates.py")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--file", action="append", help="change this file; all by default")
    parser.add_argument("--resume", type=Path, help="keeps what was found; a second command goes on")
    given = parser.parse_args()
    known: dict[str, bool] = json.loads(given.resume.read_text()) if given.resume and given.resume.exists() else {}
    every = [one for path in given.file or files() for one in mutants(path, (ROOT / path).read_text(encoding="utf-8"))]
    chosen = random.Random(given.seed).sample(every, min(given.count, len(every)))
    with tempfile.TemporaryDirectory() as directory:
        sandbox = Sandbox(Path(directory))
        for at, mutant in enumerate(chosen):
            if str(mutant) not in known:
                known[str(mutant)] = sandbox.is_killed(mutant)
                if given.resume:
                    given.resume.write_text(json.dumps(known, indent=1))
            print(f"{at + 1}/{len(chosen)} {'killed' if known[str(mutant)] else 'ALIVE'} {mutant}", flush=True)
    killed = sum(known[str(mutant)] for mutant in chosen)
    print(f"{killed} of {len(chosen)} killed, of {len(every):,} possible")
    return 0


if __name__ == "__main__":
    sys.exit(main())
