"""Which tests see a line: found once by running each file of tests by itself, kept, and asked for every mutant.

In: a place in the package, csrc or the templates.  Out: tests, those to be tried first first.

    collect(directory)                                  # minutes; goes on where it ended
    Table(directory).tests_of("bcastgen/ops/ranges.py", 80, text, [])    -> [Test("tests/ops/test_ranges.py::...", 0.1)]

Lines of Python and of templates come from `sys.monitoring`, those of the extension from gcc's -fsanitize-coverage, and
the helpers that a kernel's C holds from the text that is emitted.
"""

from __future__ import annotations

import pickle
import random
import re
import runpy
import subprocess
import tempfile
import zlib
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

from mutant_sandbox import ROOT, Sandbox

__all__ = ["Table", "Test", "collect"]

# What needs other packages, builds projects, or makes mutants itself.
LEFT_OUT = ("tests/integrations", "tests/suites", "tests/c_project", "tests/behaviour/test_mutants.py")
LONGEST = 120  # processor seconds of a file of tests
SLOW = 15.0  # a test that takes longer is not for mutants
_HELPER = re.compile(r"^static inline [\w ]+?[ *](bcg_\w+)\(|^}\s*(bcg_\w+);|^#define (BCG_\w+)", re.MULTILINE)


class Test(NamedTuple):
    name: str
    seconds: float


def collect(directory: Path) -> None:
    """Run every file of fast tests, and keep in the directory what each test sees; several processes share the work."""
    kept = directory / "seen"
    kept.mkdir(parents=True, exist_ok=True)
    files = sorted(str(one.relative_to(ROOT)) for one in (ROOT / "tests").rglob("test_*.py"))
    targets = {kept / file.replace("/", "-"): file for file in files if not file.startswith(LEFT_OUT)}
    missing = [target for target in targets if not target.exists()]
    random.shuffle(missing)
    if not missing:
        return
    with tempfile.TemporaryDirectory(dir=directory) as aside, Sandbox(Path(aside), records=True) as sandbox:
        for target in missing:
            if not target.exists():
                _record(sandbox, targets[target], Path(aside, "record"), target)


def _record(sandbox: Sandbox, file: str, record: Path, target: Path) -> None:
    """Run a file of tests, and keep which of them sees what."""
    record.unlink(missing_ok=True)
    log = str(record.with_name("log"))
    said = sandbox.run([file], record=str(record), processor_seconds=LONGEST, log=log)
    if not record.exists():
        print(f"{file}: {said['failed']}; it is tried again by the next run", flush=True)
        return
    seen: dict[str, Any] = pickle.loads(record.read_bytes())
    places = _addresses(sandbox.extension, [at for kind, at in seen["masks"] if kind == "extension"])
    masks: dict[tuple[str, Any], int] = defaultdict(int)
    for (kind, at), mask in seen["masks"].items():
        for place in places[at] if kind == "extension" else [_place(sandbox.root, kind, at)]:
            masks[place] |= mask
    record.write_bytes(zlib.compress(pickle.dumps({"tests": seen["tests"], "masks": dict(masks)}), 1))
    record.replace(target)
    right = sum(passed for _, passed, _ in seen["tests"])
    print(f"{file}: {right} of {len(seen['tests'])} tests pass, {said['spent']:.1f} s", flush=True)


def _place(root: Path, kind: str, at: Any) -> tuple[str, Any]:
    return (kind[len(str(root)) + 1 :] if kind.startswith(f"{root}/") else kind, at)


def _addresses(library: Path, addresses: list[int]) -> dict[int, list[tuple[str, int]]]:
    """Return the lines of C that each address comes from, inlined calls included."""
    asked = "\n".join(hex(at - 1) for at in addresses)
    done = subprocess.run(["addr2line", "-a", "-i", "-e", library], input=asked, capture_output=True, text=True)
    found: dict[int, list[tuple[str, int]]] = {}
    lines: list[tuple[str, int]] = []
    for line in done.stdout.splitlines():
        if line.startswith("0x"):
            found[int(line, 16) + 1] = lines = []
        elif "/csrc/" in line or line.startswith("csrc/"):
            path, _, number = line.partition(" ")[0].rpartition(":")
            if number.isdigit():
                lines.append((path[path.index("csrc/") :], int(number)))
    return found


class Table:
    """What `collect` has kept."""

    def __init__(self, directory: Path) -> None:
        self.tests: list[Test] = []
        self._masks: dict[str, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        for file in sorted((directory / "seen").iterdir()):
            seen = pickle.loads(zlib.decompress(file.read_bytes()))
            first, usable = len(self.tests), 0
            for at, (name, passed, seconds) in enumerate(seen["tests"]):
                self.tests.append(Test(name, seconds if passed else SLOW))
                usable |= (passed and seconds < SLOW) << at
            for (path, place), mask in seen["masks"].items():
                self._masks[path][place] |= (mask & usable) << first

    @cached_property
    def _functions(self) -> list[int]:
        """Return how many tests of its function come before each test."""
        counts: dict[str, int] = defaultdict(int)
        found = []
        for test in self.tests:
            function = test.name.partition("[")[0]
            found.append(counts[function])
            counts[function] += 1
        return found

    def tests_in(self, files: Iterable[str]) -> list[Test]:
        """Return the tests of some files and folders that pass, the fastest first."""
        wanted = tuple(files)
        return sorted(
            (test for test in self.tests if test.seconds < SLOW and test.name.startswith(wanted)),
            key=lambda test: test.seconds,
        )

    def tests_of(self, path: str, line: int, text: str, own: Iterable[str]) -> list[Test]:
        """Return the tests that see a line; of equals those of its own files and the fastest first.

        Of a function with many cases, a few come first, then the others.
        """
        mask, files = self._mask(path, line, text), tuple(own)
        found = []
        while mask:
            at = (mask & -mask).bit_length() - 1
            mask &= mask - 1
            test, place = self.tests[at], self._functions[at]
            found.append((place.bit_length(), not test.name.startswith(files), test.seconds, test))
        return [test for *_, test in sorted(found)]

    def _mask(self, path: str, line: int, text: str) -> int:
        places = self._masks.get(path, {})
        if path.endswith(".j2"):
            return self._of_template(path, line, text)
        mask = places.get(line, 0)
        if not mask and path.startswith("csrc"):
            mask = self._of_helper(text, line)
        return mask or self._near(places, line)

    def _near(self, places: dict[Any, int], line: int) -> int:
        """Return the tests of a line near it, which it may go on, or which gcc has merged with it."""
        for near in (*range(line - 1, line - 6, -1), line + 1, line + 2):
            if places.get(near):
                return places[near]
        return 0

    def _of_helper(self, text: str, line: int) -> int:
        """Return the tests whose kernels hold the definition that a line is in."""
        lines = text.split("\n")
        begin, end = line - 1, line - 1
        while begin > 0 and lines[begin - 1]:
            begin -= 1
        while end < len(lines) and lines[end]:
            end += 1
        mask = 0
        for found in _HELPER.findall("\n".join(lines[begin:end])):
            for name in filter(None, found):
                mask |= self._masks["helper"].get(name, 0)
        return mask

    def _of_template(self, path: str, line: int, text: str) -> int:
        """Return the tests that run what jinja made of a line."""
        # As setup.py does: with no package around it.
        environment = runpy.run_path(str(ROOT / "bcastgen/emit/templating/build.py"))["environment"]
        made = str(environment(ROOT / "templates").compile(text, path.removeprefix("templates/"), raw=True))
        debug = re.findall(r"debug_info = '([^']*)'", made)
        pairs = [tuple(map(int, pair.split("="))) for pair in (debug[-1].split("&") if debug and debug[-1] else [])]
        masks = {place: mask for key in self._masks if key.endswith(path) for place, mask in self._masks[key].items()}
        near = max((of for of, _ in pairs if of <= line), default=0)
        mask = 0
        for of, python in pairs:
            if of == near:
                for place in range(python, python + 4):
                    mask |= masks.get(place, 0)
        return mask
