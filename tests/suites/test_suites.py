"""Other projects' tests, a part of them: what passes with the project passes with kernels, but for listed exceptions.

``python tests/suites/run.py`` runs all of them, and writes the lists; docs/suites.md has the counts.
"""

import importlib.util
import re
import sys
from pathlib import Path

import numpy as np
import pytest

from long_runs import many

HERE = Path(__file__).resolve().parent
spec = importlib.util.spec_from_file_location("suites_run", HERE / "run.py")
run = sys.modules["suites_run"] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(run)

# Every n-th test of a file: all together take half a minute of one core, and a few of it in a long run.
EVERY = {
    "test_umath": many(120, 12),
    "test_ufunc": many(48, 8),
    "test_umath_complex": many(24, 4),
    "test_nep50_promotions": many(24, 4),
    "test_mem_overlap": many(10, 5),
}


@pytest.mark.slow
@pytest.mark.parametrize("suite", run.NUMPY)
def test_numpys_own_tests(suite):
    recorded = run.version_of(suite)
    release = ".".join(np.__version__.split(".")[:2])
    if not recorded.startswith(f"NumPy {release}."):
        pytest.skip(f"the exceptions are those of {recorded}, not of {np.__version__}: tests/suites/run.py --update")
    found = run.numpy_outcomes(suite, EVERY[suite])
    assert len(found.expected) > 3
    unlisted, passing = run.differences(found, run.listed(suite))
    told = {name: found.failed[name] for name in unlisted}
    assert not told and not passing, f"fail, and are not listed: {told}; are listed, and pass: {passing}"


# As above, of NumExpr's tests and of pandas' about eval and query.
OTHERS = {
    "test_numexpr": ("numexpr", many(150, 60)),
    "test_eval": ("pandas", many(400, 200)),
    "test_query_eval": ("pandas", many(20, 15)),
}


@pytest.mark.slow
@pytest.mark.parametrize("suite", OTHERS)
def test_tests_of_numexpr_and_pandas_with_bcastgen_as_numexpr(suite):
    project, every = OTHERS[suite]
    module = pytest.importorskip(project, reason=f"{project} is not installed (pip install -e .[suites])")
    pytest.importorskip("numexpr", reason="numexpr is not installed (pip install -e .[suites])")
    recorded, version = run.version_of(suite).split()[1], module.__version__
    if recorded.split(".")[:2] != version.split(".")[:2]:
        pytest.skip(f"the exceptions are those of {recorded}, not of {version}: tests/suites/run.py {project} --update")
    found = (run.numexpr_outcomes if project == "numexpr" else run.pandas_outcomes)(suite, every)
    assert len(found.expected) > 20
    unlisted, passing = run.differences(found, run.listed(suite))
    told = {name: found.failed[name] for name in unlisted}
    assert not told and not passing, f"fail, and are not listed: {told}; are listed, and pass: {passing}"


def outcomes(failing, passing):
    names = {**dict.fromkeys(failing, "failed"), **dict.fromkeys(passing, "passed")}
    peer = dict.fromkeys(names, "passed") | {"T::skipped": "skipped", "T::broken": "failed"}
    return run.Outcomes("suite", peer, names, dict.fromkeys(failing, "NotImplementedError: bcastgen has no op gcd"))


def test_a_failure_has_to_be_listed_and_a_listed_one_has_to_fail():
    found = outcomes(["T::a[1]", "T::a[2]", "T::b"], ["T::c"])
    assert run.differences(found, ["T::a[*]", "T::b"]) == ([], [])
    assert run.differences(found, ["T::a[*]"]) == (["T::b"], [])
    assert run.differences(found, ["T::a[1]", "T::b", "T::c"]) == (["T::a[2]"], ["T::c"])
    assert found.failed["T::b"] == "there is no op gcd"


def test_a_pattern_stands_for_tests_that_fail_for_one_reason():
    alike = outcomes(["T::a[1-x]", "T::a[2-x]", "T::a[3-y]"], ["T::a[4-y]"])
    assert run.grouped(alike) == {"T::a[*-x]": "there is no op gcd", "T::a[3-y]": "there is no op gcd"}
    assert run.grouped(outcomes(["T::a[1]", "T::a[2]"], ["T::b"])) == {"T::a[*]": "there is no op gcd"}
    assert run.grouped(outcomes(["T::a[e]"], ["T::a[d]"])) == {"T::a[e]": "there is no op gcd"}


def test_a_test_that_did_not_run_has_failed():
    found = run.Outcomes("suite", {"T::a": "passed"}, {}, {})
    assert found.failed == {"T::a": "it did not run"}


def test_every_line_of_the_exceptions_has_its_reason_and_the_page_its_row():
    page = (HERE.parents[1] / "docs" / "suites.md").read_text(encoding="utf-8")
    for path in (HERE / "exceptions").glob("*.txt"):
        head, *lines = path.read_text(encoding="utf-8").splitlines()
        assert head.startswith(f"# {path.stem} of ")
        assert all(re.fullmatch(r".+ -- .+", line) for line in lines), path
        assert f"| {path.stem} |" in page
    assert {path.stem for path in (HERE / "exceptions").glob("*.txt")} >= set(run.NUMPY)
