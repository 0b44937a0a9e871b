"""Mutation testing: one small change at a time to the package, its C or its templates; the tests beside it must fail.

In: a number of changes, or files.  Out: each change that no test noticed, and the score.

    nice python tests/support/mutants.py --count 500 --seed 7 --keep mutants     # goes on where it ended
    python tests/support/mutants.py --file bcastgen/ops/ranges.py --count 20 --keep mutants

A change exchanges one operator, number or word outside of comments, texts and types: `OPERATORS`. It is made to a
copy of the checkout, and the tests that see its line run, the first that fails ends it. Which those are is found first,
by running each file of tests once (`mutant_table`), which needs Python 3.12; remove the directory when tests change.
What changes no result, but speed or precision within a bound, survives rightly: each survivor is for a person to judge.
"""

from __future__ import annotations

import argparse
import ast
import io
import itertools
import json
import random
import re
import sys
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mutant_sandbox import ROOT, Sandbox
from mutant_table import Table, Test, collect

__all__ = ["Mutant", "beside", "files", "hunt", "is_read", "mutants"]

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
    "csrc/vmath/bcg_complex": ["tests/behaviour/test_complex.py", "tests/csrc/test_complex_pairs.py"],
    "csrc/vmath/": ["tests/csrc/test_vmath.py", "tests/behaviour/test_accuracy.py"],
    "csrc/helpers/bcg_half.h": ["tests/core/test_float16.py", "tests/ops/test_casts.py"],
    "csrc/helpers/bcg_lanes.h": ["tests/loops/schedule/test_widened_reads.py"],
    "csrc/helpers/bcg_broadcast.h": ["tests/csrc/test_sizes.py", "tests/emit/standalone/test_module.py"],
    "csrc/helpers/bcg_extent.h": ["tests/csrc/test_sizes.py", "tests/emit/standalone/test_module.py"],
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
FEW = 5  # fewer tests than these that see a line are joined by those of its file and room
OWN_SECONDS = 10.0  # for those of its file that are not known to see it
MOST_SECONDS = 30.0  # of a processor, for the tests of one mutant


@dataclass(frozen=True)
class Mutant:
    path: str
    at: int  # the offset of the token
    right: str
    wrong: str
    line: int
    column: int = 1

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}: {self.right!r} -> {self.wrong!r}"

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
    """Return every change of a file, also those after which its language does not read it."""
    if path.endswith(".py"):
        known, found = _OF_PYTHON, list(_of_python(text))
    else:
        known, found = _OF_C, [(token.start(), token[0]) for token in _C_TOKEN.finditer(text)]
    made = []
    for at, token in found:
        if token in known:
            line, column = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
            made.append(Mutant(path, at, token, OPERATORS[token], line, column))
    return made


def is_read(path: str, text: str) -> bool:
    """Return whether Python reads a file's text; of C the compiler says so."""
    if not path.endswith(".py"):
        return True
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


def files() -> list[str]:
    """Return the files that are changed."""
    kinds = {"bcastgen": ["*.py"], "csrc": ["*.c", "*.h", "*.inc"], "templates": ["*.j2"]}
    found = [path for folder, globs in kinds.items() for glob in globs for path in (ROOT / folder).rglob(glob)]
    # Two are written when the package is built, one says how a page looks.
    left_out = ("_ffi.py", "_templates.py", "style.css.j2")
    return sorted(str(path.relative_to(ROOT)) for path in found if path.name not in left_out)


def hunt(sandbox: Sandbox, table: Table, mutant: Mutant, seconds: float = MOST_SECONDS) -> dict[str, Any]:
    """Return which test notices a change first ("" for none), the processor time of all, and how many they were."""
    text = (sandbox.root / mutant.path).read_text(encoding="utf-8")
    groups = beside(mutant.path)
    tests = table.tests_of(mutant.path, mutant.line, text, groups[0])
    seen = len(tests)
    # Programs in C that tests compile, and processes that they start, tell nobody which lines they run. What runs when
    # a module is imported, or once for all tests, is seen by few of them or none.
    own = table.tests_in(groups[0]) if Path(mutant.path).suffix != ".py" or len(groups) > 2 else []
    more = [test for group in groups for test in table.tests_in(group)] if seen < FEW else []
    first = _beginning(tests, 2.0)
    tests = list(dict.fromkeys((*first, *_beginning(own, OWN_SECONDS), *tests, *more)))
    found: dict[str, Any] = {"failed": "", "spent": 0.0, "seen": seen, "tests": 0}
    with sandbox.changed(mutant) as is_possible:
        if not is_possible:
            return {**found, "failed": "it does not compile"}
        while tests and found["spent"] < seconds:
            some = _beginning(tests, 2.0 if not found["tests"] else 15.0)
            tests = tests[len(some) :]
            expected = sum(test.seconds for test in some)
            limits = {"processor_seconds": int(4 * expected + 30), "seconds": 20 * expected + 200}
            said = sandbox.run([test.name for test in some], **limits)
            found["spent"] += said["spent"]
            found["tests"] += len(some)
            if said["failed"]:
                return {**found, "failed": said["failed"]}
    return found


def _beginning(tests: list[Test], seconds: float) -> list[Test]:
    """Return the first of some tests that take so long together; a file of tests takes time, too."""
    some: list[Test] = []
    files: set[str] = set()
    for test in tests:
        file = test.name.partition("::")[0]
        seconds -= test.seconds + (0.0 if file in files else 0.2)
        files.add(file)
        some.append(test)
        if seconds < 0:
            break
    return some


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--file", action="append", help="change this file; all by default")
    parser.add_argument("--keep", type=Path, required=True, help="a directory for what is found; a second run goes on")
    parser.add_argument("--seconds", type=float, default=MOST_SECONDS, help="processor time of one mutant's tests")
    parser.add_argument("--again", action="store_true", help="try those again that no test noticed")
    given = parser.parse_args()
    collect(given.keep)
    results = given.keep / "results.json"
    known: dict[str, dict[str, Any]] = json.loads(results.read_text()) if results.exists() else {}
    every = [one for path in given.file or files() for one in mutants(path, (ROOT / path).read_text(encoding="utf-8"))]
    random.Random(given.seed).shuffle(every)
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in {one.path for one in every}}
    readable = (one for one in every if is_read(one.path, one.applied(texts[one.path])))
    chosen = [*itertools.islice(readable, given.count)]
    table = Table(given.keep)
    with Sandbox(given.keep / "mutants") as sandbox:
        failed = sandbox.run(LAST[:1])["failed"]
        if failed:
            raise RuntimeError(f"{failed} without a change")
        for at, mutant in enumerate(chosen):
            name = str(mutant)
            if name not in known or (given.again and not known[name]["failed"]):
                known[name] = hunt(sandbox, table, mutant, given.seconds)
                results.write_text(json.dumps(known, indent=1))
            told = known[name]
            verdict = f"killed by {told['failed']}" if told["failed"] else "ALIVE"
            print(f"{at + 1}/{len(chosen)} {name} {told['spent']:.1f} s {verdict}", flush=True)
    told = [known[str(mutant)] for mutant in chosen]
    killed = [one for one in told if one["failed"]]
    spent = sum(one["spent"] for one in killed) / max(len(killed), 1)
    print(f"{len(killed)} of {len(chosen)} killed, {spent:.1f} s of a processor each; {len(every):,} are possible")
    return 0


if __name__ == "__main__":
    sys.exit(main())
