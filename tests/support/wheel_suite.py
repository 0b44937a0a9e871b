"""The tests, run by another Python on an installed wheel: an sdist, a wheel of it, a venv, and no checkout beside it.

In: an interpreter, a directory.  Out: a line for some files each, and exit status 1 if a test fails.

    python tests/support/wheel_suite.py --python python3.13 --keep wheels        # goes on where it ended
    python tests/support/wheel_suite.py --python python3.10 --keep wheels --room ops --room kernel
    python tests/support/wheel_suite.py --python python3.12 --keep wheels --again     # with the sources as they are now

A room is a folder of tests; what has passed is not run again. The tests are those of the sdist, beside which
nothing lies that the wheel should hold. Packages come from where pip takes them.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

__all__ = ["main", "must_run"]

ROOT = Path(__file__).resolve().parents[2]
PART = 8  # files, so that a run which is stopped loses little
# What the wheel holds: the tests have to find it there.
INSTALLED = ("bcastgen", "csrc", "templates", "bench", "setup.py", "bcastgen.egg-info")


class Suite:
    """The tests of an sdist beside a venv that has the wheel."""

    def __init__(self, python: str, keep: Path) -> None:
        asked = [python, "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3] + getattr(sys, 'abiflags', ''))"]
        self.version = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
        self.home = keep.resolve() / self.version
        self.tests, self.python = self.home / "sdist", self.home / "venv" / "bin" / "python"
        self._results = self.home / "results.json"
        self._base = python
        self.known: dict[str, Any] = json.loads(self._results.read_text()) if self._results.exists() else {}

    def install(self, again: bool = False) -> None:
        """Make venv, sdist and wheel, unless they are there; `again` makes the two of the sources as they are now."""
        made = self.home / "made"
        pip = [str(self.python), "-m", "pip", "--quiet", "--disable-pip-version-check"]
        if not made.exists():
            shutil.rmtree(self.home, ignore_errors=True)
            self.home.mkdir(parents=True)
            must_run([self._base, "-m", "venv", str(self.python.parents[1])])
            must_run([*pip, "install", "--no-compile", "build"])
        elif not again:
            return
        for folder in (self.home / "dist", self.tests):
            shutil.rmtree(folder, ignore_errors=True)
        # The sdist first, and the wheel from that: what the sdist lacks, the wheel lacks.
        must_run([str(self.python), "-m", "build", "--outdir", str(self.home / "dist"), str(ROOT)])
        [sdist], [wheel] = ([*(self.home / "dist").glob(kind)] for kind in ("*.tar.gz", "*.whl"))
        must_run([*pip, "install", "--no-compile", f"{wheel}[test]"])
        must_run([*pip, "install", "--no-compile", "--force-reinstall", "--no-deps", str(wheel)])
        must_run(["tar", "-xf", str(sdist), "-C", str(self.home)])
        (self.home / sdist.name.removesuffix(".tar.gz")).rename(self.tests)
        for name in INSTALLED:
            shutil.rmtree(self.tests / name, ignore_errors=True)
            (self.tests / name).unlink(missing_ok=True)
        made.write_text(f"{wheel.name}\n")

    def parts(self, rooms: list[str]) -> dict[str, list[str]]:
        """Return the files of tests of some rooms, or of all, by parts: some of one folder."""
        found = {}
        for folder in sorted({path.parent for path in (self.tests / "tests").rglob("test_*.py")}):
            name = str(folder.relative_to(self.tests))
            if rooms and not any((name + "/").startswith(f"tests/{room}/") for room in rooms):
                continue
            files = sorted(f"{name}/{path.name}" for path in folder.glob("test_*.py"))
            for first in range(0, len(files), PART):
                found[f"{name} {first // PART + 1}"] = files[first : first + PART]
        return found

    def run(self, part: str, files: list[str], more: list[str]) -> str:
        """Run the tests of some files; return what pytest says at its end."""
        begun = time.perf_counter()
        environment = {**os.environ, "BCASTGEN_CACHE_DIR": str(self.home / "kernels")}
        command = [str(self.python), "-m", "pytest", "-q", "-p", "no:cacheprovider", *files, *more]
        place = {"cwd": self.tests, "env": environment, "capture_output": True, "text": True}
        done = subprocess.run(command, errors="replace", **place)
        (self.home / f"{part.replace('/', '-').replace(' ', '-')}.log").write_text(done.stdout + done.stderr)
        last = (done.stdout.strip().splitlines() or [done.stderr.strip()[-200:]])[-1].strip("= ")
        # 5: all tests of the part are slow ones.
        self.known[part] = {"passed": done.returncode in (0, 5), "said": re.sub(r" in [\d.]+s.*", "", last)}
        self._results.write_text(json.dumps(self.known, indent=1))
        return f"{self.known[part]['said']}, {time.perf_counter() - begun:.0f} s"

    def count(self, word: str) -> int:
        """Return how many tests of all parts have ended so: passed, failed, skipped."""
        found = (re.search(rf"(\d+) {word}", one["said"]) for one in self.known.values())
        return sum(int(match[1]) for match in found if match)


def must_run(command: list[str]) -> None:
    """Run a command; end with what it said if it fails."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")


def main() -> int:
    """Build what is missing, and run the rooms that have not passed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", default=sys.executable, help="the interpreter to test with")
    parser.add_argument("--keep", type=Path, required=True, help="a directory for all that is made")
    parser.add_argument("--room", action="append", help="a folder of tests; all by default")
    parser.add_argument("--fresh", action="store_true", help="build all again, and forget what has passed")
    parser.add_argument("--again", action="store_true", help="build sdist and wheel again, and run what has not passed")
    parser.add_argument("pytest", nargs="*", help="arguments for pytest")
    given = parser.parse_args()
    suite = Suite(given.python, given.keep)
    if given.fresh:
        (suite.home / "made").unlink(missing_ok=True)
        suite.known.clear()
    suite.install(given.again)
    parts = suite.parts(given.room or [])
    for part, files in parts.items():
        if not suite.known.get(part, {}).get("passed"):
            print(f"Python {suite.version}, {part}: {suite.run(part, files, given.pytest)}", flush=True)
    counts = ", ".join(f"{suite.count(word)} {word}" for word in ("passed", "failed", "skipped"))
    print(f"Python {suite.version}: {counts} so far")
    return int(not all(suite.known[part]["passed"] for part in parts))


if __name__ == "__main__":
    sys.exit(main())
