"""The lowest versions that pyproject.toml allows of what bcastgen needs: a part of the tests runs with them.

They are installed in an environment of their own, and import this checkout with its compiled call path.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import venv
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
# What the part of the tests needs, whichever version.
TOOLS = ("pytest", "hypothesis", "mpmath", "ml_dtypes")
TESTS = (
    *("tests/behaviour/test_readme.py", "tests/behaviour/test_types.py", "tests/runtime/test_base.py"),
    *("tests/cli/test_run_files.py", "tests/api/test_functions.py", "tests/emit/templating"),
)


def lowest():
    """Return the requirements of the package, each pinned to its lower bound."""
    (listed,) = re.findall(r"^dependencies = \[(.*)\]$", PROJECT, re.MULTILINE)
    return [f"{name}=={bound}" for name, bound in re.findall(r'"([\w-]+)>=([\d.]+)"', listed)]


def test_every_requirement_has_a_lower_bound_which_the_build_has_too():
    (needed,) = re.findall(r"^dependencies = \[(.*)\]$", PROJECT, re.MULTILINE)
    (building,) = re.findall(r"^requires = \[(.*)\]$", PROJECT, re.MULTILINE)
    assert len(lowest()) == needed.count('"') // 2 == 3
    assert set(needed.split(", ")) <= set(building.split(", "))


def test_the_authors_are_those_to_cite():
    cited = re.findall(r"^ +- name: (.+)$", (ROOT / "CITATION.cff").read_text(encoding="utf-8"), re.MULTILINE)
    assert cited and re.findall(r'^authors = \[\{ name = "(.+?)" \}\]$', PROJECT, re.MULTILINE) == cited


def test_every_extra_for_users_is_told_on_the_page_of_deployment():
    extras = re.search(r"\[project.optional-dependencies\]\n(.*?)\n\[", PROJECT, re.DOTALL)[1]
    there = {*re.findall(r"^(\w+) = \[", extras, re.MULTILINE)}
    page = (ROOT / "docs" / "deployment.md").read_text(encoding="utf-8")
    table = page.partition("| extra | for |")[2].partition("\n\n")[0]
    told = {name for cell in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", cell)}
    assert told == there - {"test", "dev", "cross", "suites", "fuzz", "docs"}
    assert {"bench", "dask", "pandas", "html", "compiler"} <= told


@pytest.mark.slow
def test_a_part_of_the_tests_passes_with_the_lowest_versions(tmp_path):
    home = tmp_path / "env"
    venv.create(home, with_pip=True)
    python = str(home / "bin" / "python")
    install = [python, "-m", "pip", "install", "-q", "--only-binary=:all:", "--no-compile", "--retries=1"]
    done = subprocess.run([*install, *lowest(), *TOOLS], capture_output=True, text=True, check=False)
    if done.returncode:
        why = next((line for line in done.stderr.splitlines() if line.startswith("ERROR")), "no message")
        pytest.skip(f"pip finds no wheels of the lowest versions for Python {sys.version.split()[0]}: {why}")
    names = ("BCASTGEN_CACHE_DIR", "HOME", "LANG", "PATH", "TMPDIR")
    environment = {name: os.environ[name] for name in names if name in os.environ} | {"PYTHONPATH": str(ROOT)}
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "addopts=", "--import-mode=importlib"]
    done = subprocess.run(
        [*command, "-m", "not slow", *TESTS], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-1000:]
    shown = (
        "import numpy, cffi, importlib.metadata as m; print(numpy.__version__, cffi.__version__, m.version('jinja2'))"
    )
    versions = subprocess.run([python, "-c", shown], capture_output=True, text=True, check=True).stdout.split()
    bounds = [pin.partition("==")[2] for pin in lowest()]
    assert all(f"{version}.".startswith(f"{bound}.") for version, bound in zip(versions, bounds, strict=True))
