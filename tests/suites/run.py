"""Other projects' tests on bcastgen's kernels: run, compared with the project itself, and with the list of exceptions.

    python tests/suites/run.py numpy                       NumPy's own tests of ufuncs, from the installed package
    python tests/suites/run.py numpy --update              the same; then write the exceptions and docs/suites.md
    python tests/suites/run.py numpy --suite test_umath --every 5
    python tests/suites/run.py array-api /path/to/array-api-tests
    python tests/suites/run.py onnx
    python tests/suites/run.py numexpr                     NumExpr's own tests, with bcastgen.numexpr in its place
    python tests/suites/run.py pandas                      pandas' tests of eval and query, with it as their engine

Each suite runs twice in a process of its own: once with the project itself behind the shim, once with kernels. Whatever
passes with the project has to pass with kernels, but for the lines of `exceptions/`: ``name of a test: reason``, where
``*`` stands for any text. A line for a test that passes is an error as well. Returns 1 if there is any.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = ROOT / "docs" / "suites.md"
NUMPY = ("test_umath", "test_umath_complex", "test_nep50_promotions", "test_mem_overlap", "test_ufunc")
NUMEXPR = ("test_numexpr",)
# pandas' test files, from the folder of its tests.
PANDAS = {"test_eval": "computation/test_eval.py", "test_query_eval": "frame/test_query_eval.py"}
ARRAY_API = ("test_operators_and_elementwise_functions", "test_special_cases")

# The first line of an error, and the reason that it is.
REASONS = (
    (r"bcastgen has no op (\w+)", r"there is no op \1"),
    (r"dtype 'c?(longdouble|float128|complex256|float96)'", "no long doubles"),
    (r"dtype '(complex\d+)'", r"no \1"),
    (r"dtype '(float8|float4|u?int4|u?int2)\w*'", r"no \1 of ml_dtypes"),
    (r"nan location mismatch", "0 is no power of two, so it is NaN, as in ml_dtypes"),
    (r"dtype 'object'", "no Python objects"),
    (r"dtype '[<|>]?[USV]\d*'|StringDType", "no text, bytes or fields"),
    (r"dtype '(datetime|timedelta)64", r"no \1s"),
    (r"dtype '[<>]?[Mm]8", r"no datetimes"),
    (r"unexpected keyword argument '(\w+)'", r"no \1="),
    (r"\(__array_ufunc__\)", "types with an __array_ufunc__ of their own"),
    (r"FloatingPointError|RuntimeWarning", "no floating-point warnings or errors"),
    (r"Python integer .* out of bounds", "Python integers beyond 64 bits"),
    (r"(array|Series) values are different", "the last digit of a function"),
    (r"Mismatched elements: \d+ / (6|24|96) ", "the last digit of a function, beside accumulate, which stays NumPy's"),
    (r"not raised by maximum|\(ACTUAL\), N", "__array_wrap__ of objects that are no arrays is not called"),
    (r"regex pattern did not match|Pattern '", "the message has other words"),
)

# Tests whose errors do not say the reason.
BY_TEST = {
    "TestSpecialMethods::test_priority": "__array_wrap__ of objects that are no arrays is not called",
    "TestSpecialMethods::test_failing_out_wrap": "an out's __array_wrap__ is not called: out itself is returned",
    "TestSpecialMethods::test_wrap_out": "an out's __array_wrap__ is not called: out itself is returned",
    "TestSpecialMethods::test_ufunc_override_out": "kernels of several results take out=None, too",
    "TestRemainder::test_float_remainder_overflow": "'invalid' is raised on the way, which no value tells",
    "TestUfunc::test_where_warns": "elements that the mask leaves out are 0, so that there is nothing to warn of",
    "test_nep50_weak_integers_with_inexact[e]": "a Python integer beyond a float's range is infinite, unwarned",
    "test_nep50_weak_integers_with_inexact[f]": "a Python integer beyond a float's range is infinite, unwarned",
    "test_nep50_weak_integers_with_inexact[F]": "a Python integer beyond a float's range is infinite, unwarned",
}


@dataclass(frozen=True)
class Outcomes:
    """What came of the tests of a suite: outcomes of the project itself and of kernels, and errors of the latter."""

    suite: str
    peer: Mapping[str, str]
    ours: Mapping[str, str]
    why: Mapping[str, str]

    @property
    def expected(self) -> tuple[str, ...]:
        """The tests that pass with the project itself."""
        return tuple(name for name, outcome in self.peer.items() if outcome == "passed")

    @property
    def failed(self) -> dict[str, str]:
        """The tests that pass with the project itself and not with kernels, and the reason of each."""
        return {
            name: BY_TEST.get(name) or reason_of(self.why.get(name, "it did not run"))
            for name in self.expected
            if self.ours.get(name) != "passed"
        }


def reason_of(error: str) -> str:
    """Return the reason that the first line of an error stands for, else that line."""
    flat = " ".join(error.split())
    for pattern, reason in REASONS:
        found = re.search(pattern, flat, re.IGNORECASE)
        if found:
            return found.expand(reason)
    return re.sub(r"0x[0-9a-f]+", "0x...", flat)[:110] or "an assertion without words"


def run_pytest(
    file: Path, root: Path, options: str, mode: str, every: int, more: Mapping[str, str]
) -> dict[str, list[str]]:
    """Run a test file in a process with these options of pytest, and return [outcome, error] of each test."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "outcomes"
        out.touch()
        environment = {
            **os.environ,
            **more,
            "PYTHONPATH": os.pathsep.join((str(HERE), *filter(None, [more.get("PYTHONPATH")]))),
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPYCACHEPREFIX": str(Path(folder) / "pycache"),
            "BCASTGEN_SUITES": mode,
            "BCASTGEN_SUITES_EVERY": str(every),
            "BCASTGEN_SUITES_OUTCOMES": str(out),
        }
        quiet = f"-q -p no:cacheprovider -p no:xdist --assert=plain --tb=no -W ignore -c {os.devnull} --rootdir={root}"
        command = [sys.executable, "-m", "pytest", *quiet.split(), *options.split(), str(file)]
        done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True)
        rows = [json.loads(line) for line in out.read_text(encoding="utf-8").splitlines()]
        if done.returncode not in (0, 1, 5) or "error" in done.stdout.splitlines()[-1]:
            raise SystemExit(f"pytest failed:\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}")
    found: dict[str, list[str]] = {}
    for row in rows:
        # An error behind a test that has passed is that test's.
        if found.get(row["test"], ["passed"])[0] == "passed":
            found[row["test"]] = [row["outcome"], row["why"]]
    return found


def outcomes(
    suite: str, file: Path, root: Path, options: str, every: int = 1, more: Mapping[str, str] | None = None
) -> Outcomes:
    """Run a test file with the project itself, then with kernels."""
    peer, ours = (run_pytest(file, root, options, mode, every, more or {}) for mode in ("peer", "ours"))
    return Outcomes(
        suite,
        {name: outcome for name, (outcome, _) in peer.items()},
        {name: outcome for name, (outcome, _) in ours.items()},
        {name: why for name, (_, why) in ours.items()},
    )


# ---- exceptions ------------------------------------------------------------------------------------------------------


def listed(suite: str) -> dict[str, str]:
    """Return the exceptions of a suite: patterns of names, and reasons."""
    path = HERE / "exceptions" / f"{suite}.txt"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    pairs = (line.rpartition(" -- ") for line in lines if line and not line.startswith("#"))
    return {pattern: reason for pattern, _, reason in pairs}


def matches(pattern: str, name: str) -> bool:
    """Whether a pattern, in which ``*`` is any text, is this name."""
    return re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name, re.DOTALL) is not None


def differences(found: Outcomes, exceptions: Iterable[str]) -> tuple[list[str], list[str]]:
    """Return the tests that fail and are not listed, and the lines of which some test passes."""
    patterns = list(exceptions)
    failed = found.failed
    unlisted = [name for name in failed if not any(matches(pattern, name) for pattern in patterns)]
    passing = [
        pattern for pattern in patterns if any(name not in failed and matches(pattern, name) for name in found.expected)
    ]
    return unlisted, passing


def grouped(found: Outcomes) -> dict[str, str]:
    """Return the exceptions that a run asks for: a pattern for all of a function, or for all of a parameter."""
    failed = found.failed
    patterns: dict[str, str] = {}
    for name, reason in failed.items():
        if any(matches(pattern, name) for pattern in patterns):
            continue
        base, bracket, parameters = name.partition("[")
        last = parameters.rstrip("]").rpartition("-")[2]
        for pattern in (f"{base}[*]", f"{base}[*-{last}]", name) if bracket else (name,):
            alike = [other for other in found.expected if matches(pattern, other)]
            if name in alike and all(failed.get(other) == reason for other in alike):
                patterns[pattern.replace("\n", "*")] = reason
                break
    return patterns


def write(found: Outcomes, version: str) -> None:
    """Write the exceptions of a suite."""
    rows = "".join(f"{pattern} -- {reason}\n" for pattern, reason in sorted(grouped(found).items()))
    head = f"# {found.suite} of {version}: tests that pass there and not with kernels; written by run.py --update\n"
    (HERE / "exceptions" / f"{found.suite}.txt").write_text(head + rows, encoding="utf-8")


def version_of(suite: str) -> str:
    """Return the version of the project that the exceptions of a suite are for."""
    path = HERE / "exceptions" / f"{suite}.txt"
    return path.read_text(encoding="utf-8").partition(" of ")[2].partition(":")[0]


# ---- the page --------------------------------------------------------------------------------------------------------


def show(found: Outcomes) -> str:
    """Return a suite's counts and its most frequent reasons."""
    reasons = Counter(found.failed.values()).most_common(12)
    lines = [
        f"{found.suite}: {len(found.expected)} pass with the project, {len(found.expected) - len(found.failed)} here"
    ]
    return "\n".join((*lines, *(f"  {count:5} {reason}" for reason, count in reasons)))


def write_page(found: Outcomes, version: str) -> None:
    """Write a suite's row in the table of docs/suites.md."""
    text = PAGE.read_text(encoding="utf-8")
    passing = len(found.expected) - len(found.failed)
    reasons = ", ".join(f"{reason} {count}" for reason, count in Counter(found.failed.values()).most_common(4))
    known = re.search(rf"^\| {re.escape(found.suite)} \|(?:[^|]*\|){{2}} ([\d,]+) \|.*$", text, re.MULTILINE)
    first = f"{passing:,}" if known is None else known[1]
    row = f"| {found.suite} | {version} | {len(found.expected):,} | {first} | {passing:,} | {reasons} |"
    made, count = (text, 0) if known is None else (text.replace(known[0], row), 1)
    PAGE.write_text(made if count else text.replace("<!-- end -->", f"{row}\n<!-- end -->"), encoding="utf-8")


# ---- suites ----------------------------------------------------------------------------------------------------------


def numpy_outcomes(suite: str, every: int = 1) -> Outcomes:
    """Run one of NumPy's own test files, from the installed package."""
    folder = Path(np._core.__file__).parent / "tests"
    return outcomes(suite, folder / f"{suite}.py", folder, "-p numpy_shim", every)


def array_api_outcomes(suite: str, folder: Path, every: int = 1) -> Outcomes:
    """Run one of the array API's test files, from a checkout of data-apis/array-api-tests."""
    more = {"ARRAY_API_TESTS_MODULE": "array_api_shim", "PYTHONPATH": str(folder)}
    options = "-p suite_plugin --max-examples=20 --derandomize --hypothesis-seed=0 --disable-deadline"
    return outcomes(suite, folder / "array_api_tests" / f"{suite}.py", folder, options, every, more)


def substituted(suite: str, file: Path, every: int) -> Outcomes:
    """Run a test file of the installed NumExpr or pandas: with NumExpr itself, then with bcastgen in its place.

    The file is copied, so that it is no module of the package that it tests. Processes that its tests start find the
    stand-in as well, since it is on the path.
    """
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / f"{suite}.py"
        copy.write_bytes(file.read_bytes())
        conftest = file.parents[2] / "conftest.py" if "pandas" in file.parts else None
        if conftest is not None:
            (Path(folder) / "conftest.py").write_text("from pandas.conftest import *\n", encoding="utf-8")
        peer, ours = (
            run_pytest(copy, Path(folder), "-p suite_plugin", mode, every, {"PYTHONPATH": path})
            for mode, path in (("peer", ""), ("ours", str(HERE / "stand_ins")))
        )
    return Outcomes(
        suite,
        {name: outcome for name, (outcome, _) in peer.items()},
        {name: outcome for name, (outcome, _) in ours.items()},
        {name: why for name, (_, why) in ours.items()},
    )


def numexpr_outcomes(suite: str, every: int = 1) -> Outcomes:
    """Run NumExpr's own tests, from the installed package."""
    import numexpr

    return substituted(suite, Path(numexpr.__file__).parent / "tests" / f"{suite}.py", every)


def pandas_outcomes(suite: str, every: int = 1) -> Outcomes:
    """Run one of pandas' test files about eval and query, from the installed package."""
    import pandas

    return substituted(suite, Path(pandas.__file__).parent / "tests" / PANDAS[suite], every)


def main() -> int:
    """Run what the command line names; return 1 if a suite differs from its exceptions."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("project", choices=("numpy", "array-api", "onnx", "numexpr", "pandas"))
    parser.add_argument("path", nargs="?", type=Path, help="array-api: the checkout of data-apis/array-api-tests")
    parser.add_argument("--suite", action="append", help="only this file; may be repeated")
    parser.add_argument("--every", type=int, default=1, help="every n-th test only, chosen by its name")
    parser.add_argument("--update", action="store_true", help="write the exceptions and the page's counts")
    options = parser.parse_args()
    differs = False
    suites = {"numpy": NUMPY, "array-api": ARRAY_API, "onnx": ("onnx",), "numexpr": NUMEXPR, "pandas": tuple(PANDAS)}
    for suite in options.suite or suites[options.project]:
        if options.project == "numpy":
            found, version = numpy_outcomes(suite, options.every), f"NumPy {np.__version__}"
        elif options.project == "array-api":
            found, version = array_api_outcomes(suite, options.path.resolve(), options.every), "array-api-tests"
        elif options.project == "numexpr":
            found, version = numexpr_outcomes(suite, options.every), f"NumExpr {metadata.version('numexpr')}"
        elif options.project == "pandas":
            found, version = pandas_outcomes(suite, options.every), f"pandas {metadata.version('pandas')}"
        else:
            from onnx_nodes import onnx_outcomes, onnx_version

            found, version = onnx_outcomes(), f"ONNX {onnx_version()}"
        print(show(found), flush=True)
        if options.update:
            write(found, version)
            write_page(found, version)
            continue
        unlisted, passing = differences(found, listed(suite))
        for line in unlisted:
            print(f"  fails, and is not listed: {line}: {found.failed[line]}")
        for line in passing:
            print(f"  is listed, and passes: {line}")
        differs = differs or bool(unlisted or passing)
    return int(differs)


if __name__ == "__main__":
    sys.exit(main())
