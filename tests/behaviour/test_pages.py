"""The README and every page of docs are true: their examples run, and their links lead somewhere."""

from __future__ import annotations

import doctest
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
# Its examples and files are of a changed copy of the package, in which another test runs them.
ELSEWHERE = {"extending.md"}
# What the examples of a page import, beside NumPy.
NEEDS = {"arrays.md": ("pandas", "xarray", "polars", "pyarrow", "torch", "jax", "dask.array", "zarr", "joblib")}


def identity(page):
    return page.name


@pytest.mark.parametrize(
    "page", [p for p in PAGES if ">>> " in p.read_text() and p.name not in ELSEWHERE], ids=identity
)
def test_the_examples_run(page):
    for needed in NEEDS.get(page.name, ()):
        pytest.importorskip(needed, reason=f"{needed} is not installed (pip install -e .[arrays,suites])")
    examples = len(re.findall(r"^>>> ", page.read_text(encoding="utf-8"), re.MULTILINE))
    failed, tried = doctest.testfile(str(page), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert tried == examples
    assert failed == 0


@pytest.mark.parametrize("page", PAGES, ids=identity)
def test_the_links_lead_somewhere(page):
    text = page.read_text(encoding="utf-8")
    links = re.findall(r"\]\(([^)#]+?)(?:#[^)]*)?\)", text)
    # Pages are named by their paths as well.
    named = re.findall(r"`((?:docs|tests|bench|csrc|templates)/[\w/.-]+\.\w+)`", text)
    missing = [link for link in links if not link.startswith("http") and not (page.parent / link).exists()]
    # The tests of an installed wheel have no sources beside them.
    here = [name for name in named if (ROOT / name.partition("/")[0]).is_dir()]
    gone = [name for name in here if not (ROOT / name).exists()] if page.name not in ELSEWHERE else []
    assert missing + gone == []


def test_every_page_is_in_the_readme():
    text = PAGES[0].read_text(encoding="utf-8")
    # The site's front page is the README itself.
    assert [page.name for page in PAGES[1:] if f"(docs/{page.name})" not in text] == ["index.md"]


def test_the_site_has_every_page_and_what_stands_beside_the_readme():
    trees = re.findall(r"```\{toctree\}(.*?)```", (ROOT / "docs" / "index.md").read_text(encoding="utf-8"), re.DOTALL)
    shown = {line for tree in trees for line in tree.splitlines() if re.fullmatch(r"[\w-]+", line)}
    assert shown == {path.stem for path in (ROOT / "docs").glob("*.*") if path.suffix in (".md", ".rst")} - {"index"}
    texts = [path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.rst")]
    assert {"CHANGELOG.md", "SECURITY.md", "CITATION.cff"} == {*re.findall(r"include:: \.\./(\S+)", "\n".join(texts))}


def test_the_pictures_are_what_their_script_draws():
    script = ROOT / "docs" / "pictures" / "draw.py"
    drawn = runpy.run_path(str(script))
    found = {path.stem: path.read_text(encoding="utf-8") for path in script.parent.glob("*.svg")}
    assert found == {name: drawn["draw"](*picture) for name, picture in drawn["PICTURES"].items()}
