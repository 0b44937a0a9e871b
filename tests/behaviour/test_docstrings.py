"""The examples in docstrings run, and give what they say."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import bcastgen

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def modules():
    """Every module of the package but the command line's entry and what the build writes."""
    for found in pkgutil.walk_packages(bcastgen.__path__, "bcastgen."):
        if not found.name.endswith(("__main__", "._dispatch", "._ffi", "._templates")) and ".bench" not in found.name:
            yield found.name


# Modules that are of another library's arrays import it.
OTHERS = "bcastgen.integrations."


def imported(name):
    """A module; None where the library whose arrays it is of is not installed."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if not name.startswith(OTHERS) or error.name.startswith("bcastgen"):
            raise
        return None


@pytest.mark.parametrize("name", list(modules()))
def test_examples(name, monkeypatch, tmp_path):
    module = imported(name)
    if module is None:
        pytest.skip("the library whose arrays it is of is not installed (pip install -e .[arrays])")
    monkeypatch.chdir(tmp_path)
    failed, tried = 0, 0
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for test in doctest.DocTestFinder(exclude_empty=True).find(module, name):
        result = runner.run(test, out=report.append)
        failed, tried = failed + result.failed, tried + result.attempted
    assert failed == 0, "".join(report)


def test_there_are_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    found = {name: module for name in modules() if (module := imported(name)) is not None}
    assert sum(len(test.examples) for name, module in found.items() for test in finder.find(module, name)) > 150
