"""The changes that CONTRIBUTING.md and docs/extending.md show are real: made to a copy of the package, they work.

The pages alone are followed: the sentence before a block of docs/extending.md says where it goes, and what is shown
behind the changes of a section is run.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import bcastgen
from bcastgen.core.resources import folder
from sources import ROOT, of_the_sources

pytestmark = of_the_sources

CHECK = """
import numpy as np, bcastgen as bg
from bcastgen.ops.table import OPS
a = np.linspace(-9, 9, 7)
assert "turns" in OPS
for got in (bg.turns(a), bg.evaluate("turns(a)"), bg.jit(lambda x: bg.turns(x))(a)):
    np.testing.assert_allclose(got, a / (2 * np.pi), rtol=4e-16)
assert bg.turns(a.astype("f4")).dtype == np.float32
print(bg.__file__)
"""


def block(language: str, holding: str, page: str = "CONTRIBUTING.md") -> str:
    text = (ROOT / page).read_text()
    return next(code for code in re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL) if holding in code)


def copied(target: Path) -> Path:
    """A copy of the package, with what it reads beside it."""
    shutil.copytree(Path(bcastgen.__file__).parent, target / "bcastgen", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("templates", "csrc"):
        if not (target / "bcastgen" / name).exists():
            shutil.copytree(folder(name), target / name)
    return target / "bcastgen"


def put(path: Path, after: str, text: str) -> None:
    """Put text behind a line that is there once."""
    before, line, rest = path.read_text().partition(after)
    assert line, f"{path.name} has no {after!r}"
    path.write_text(before + line + text + rest)


def environment(target: Path) -> dict[str, str]:
    return {"PATH": "/usr/bin:/bin", "BCASTGEN_CACHE_DIR": str(target / "cache"), "PYTHONPATH": str(target)}


def run(target: Path, check: str, given: str = "") -> None:
    """Run Python with the copy; the last thing it prints is where the package is."""
    safe = ["-P"] if sys.version_info >= (3, 11) else []
    done = subprocess.run(
        [sys.executable, *safe, "-c", check],
        input=given,
        capture_output=True,
        text=True,
        env=environment(target),
        cwd=target,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].startswith(str(target))


def test_the_example_adds_an_op(tmp_path):
    package = copied(tmp_path)
    put(package / "ops" / "rows" / "functions.py", "FUNCTIONS: tuple[Op, ...] = (\n", block("python", "turns"))
    header = next(tmp_path.rglob("bcg_vmath_log.h"))
    above, end, below = header.read_text().rpartition("\n#endif")
    header.write_text(f"{above}\n{block('c', 'turns')}{end}{below}")
    run(tmp_path, CHECK)


# ---- docs/extending.md -----------------------------------------------------------------------------------------------

PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
SECTIONS = {title: text for title, text in re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)}
# The last sentence before a block, which says where the block goes.
SENTENCE = re.compile(
    r"(?:(?P<new>New,)|First in `(?P<table>\w+)` of|(?P<end>At the end of)|In) `(?P<path>[\w/.]+)`"
    r"(?:, (?P<how>behind|in front of|instead of)\s`(?P<line>[^`]+)`)?(?:;[^`]*)?:\Z"
)
# The table's first column -> the section that shows it; of each row but that of a dtype.
SHOWN = {
    "an op": "An op of which something is known",
    "what is known of an op": "An op of which something is known",
    "what an op is for complex numbers": "An op for complex numbers",
    "a rewrite": "A rewrite",
    "an analysis": "An analysis",
    "a TOSA op": "A TOSA op",
    "an op of the shape dialect": "An op of the shape dialect",
    "a status": "A status",
    "an option of emitted C": "An option of emitted C",
    "an option of kernels": "An option of kernels",
    "a compiler flag": "A compiler flag",
    "a command": "A command",
    "a golden": "A golden",
}
EXAMPLES = """
import doctest, sys
import bcastgen
test = doctest.DocTestParser().get_doctest(sys.stdin.read(), {}, "docs/extending.md", "docs/extending.md", 0)
runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
said = []
runner.run(test, out=said.append)
assert test.examples and not runner.failures, "".join(said)
print(bcastgen.__file__)
"""


def blocks(section):
    """The paragraph before each block of a section, the block's language, and its text."""
    parts = re.split(r"^```(\w*)\n(.*?)^```$", section, flags=re.MULTILINE | re.DOTALL)
    paragraphs = (part.strip().rpartition("\n\n")[2] for part in parts[::3])
    return list(zip(paragraphs, parts[1::3], parts[2::3], strict=False))


def follow(section, target):
    """Make every change that a section asks for."""
    for paragraph, language, text in blocks(section):
        if language in ("pycon", "sh"):
            continue
        said = SENTENCE.search(paragraph)
        assert said is not None, f"where does this go?\n{paragraph}\n{text}"
        path = target / said["path"]
        if said["new"]:
            path.write_text(text)
        elif said["end"]:
            path.write_text(f"{path.read_text()}\n\n{text}")
        else:
            lines = path.read_text().splitlines(keepends=True)
            # A table's first line ends in a bracket.
            begins = re.compile(re.escape(said["line"]) if said["line"] else rf"{said['table']}\b.*[(\[{{]\n")
            wanted = [at for at, line in enumerate(lines) if begins.match(line)]
            assert len(wanted) == 1, f"{said['path']} has {len(wanted)} lines like {begins.pattern!r}"
            (at,) = wanted
            put_there = {"in front of": [text, lines[at]], "instead of": [text]}
            lines[at : at + 1] = put_there.get(said["how"], [lines[at], text])
            path.write_text("".join(lines))


@pytest.fixture(scope="module")
def extended(tmp_path_factory):
    """A copy of the package with all that the page adds."""
    target = tmp_path_factory.mktemp("extended")
    copied(target)
    shutil.copytree(ROOT / "tests" / "cases", target / "tests" / "cases")
    for section in SECTIONS.values():
        follow(section, target)
    return target


def test_every_kind_of_change_is_shown_but_one():
    table = re.findall(r"^\| (.+?) \| .+ \| .+ \|$", PAGE, re.MULTILINE)
    assert set(table) - {"to add", "a dtype"} == SHOWN.keys()
    assert set(SHOWN.values()) == SECTIONS.keys()


@pytest.mark.parametrize("title", [title for title, text in SECTIONS.items() if "```pycon" in text])
def test_what_the_page_adds_does_what_it_shows(title, extended):
    shown = "".join(text for _, language, text in blocks(SECTIONS[title]) if language == "pycon")
    run(extended, EXAMPLES, shown)


def test_what_the_page_adds_keeps_to_the_style(extended):
    shutil.copy(ROOT / "pyproject.toml", extended / "pyproject.toml")
    pytest.importorskip("ruff", reason="the extra dev has ruff, the extra test has not")
    made = "_templates.py,_ffi.py"
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--extend-exclude", made, "bcastgen"]
    done = subprocess.run(command, cwd=extended, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def tests_of(extended):
    """Put the tests that the page names beside what it adds."""
    for name in ("tests/behaviour/test_cases.py", "tests/ops/test_facts.py", "tests/conftest.py", "pyproject.toml"):
        (extended / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, extended / name)
    shutil.copytree(ROOT / "tests" / "support", extended / "tests" / "support", dirs_exist_ok=True)


def run_tests(extended, command):
    done = subprocess.run(
        command, shell=True, cwd=extended, env=environment(extended), capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and " passed" in done.stdout, done.stdout + done.stderr


SAFE = f"{sys.executable}{' -P' if sys.version_info >= (3, 11) else ''} -m pytest"


@pytest.mark.slow
def test_what_the_page_says_of_its_op_holds(extended):
    tests_of(extended)
    run_tests(extended, f"{SAFE} tests/ops/test_facts.py -k relu")


@pytest.mark.slow
def test_the_c_of_the_page_s_rewrite_has_no_warning(extended):
    tests_of(extended)
    case = extended / "tests" / "cases" / "choice.case"
    case.write_text("program (bool[?] m, f32[?] x) -> where(m, x, x) + 1\n")
    run_tests(extended, f"BCASTGEN_UPDATE_CASES=1 {SAFE} tests/behaviour/test_cases.py -k choice")
    run_tests(extended, f"{SAFE} tests/behaviour/test_cases.py -k choice")
    assert "== same_choice\n" in case.read_text()


@pytest.mark.slow
def test_the_page_s_golden_is_written_and_then_compared(extended):
    (command,) = [text for _, language, text in blocks(SECTIONS["A golden"]) if language == "sh"]
    tests_of(extended)
    command = command.strip().replace(".venv/bin/python -m pytest", SAFE)
    for line in (command, command.removeprefix("BCASTGEN_UPDATE_CASES=1 ")):
        run_tests(extended, line)
        assert "== c\n" in (extended / "tests" / "cases" / "shown.case").read_text()
