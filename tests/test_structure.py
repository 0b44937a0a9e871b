"""The house itself: tests mirror modules, rooms form floors, pages show them as they are, long files say why."""

from __future__ import annotations

import ast
import os
import pkgutil
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import bcastgen
import rooms
from bcastgen.core.dtypes import DTYPES
from bcastgen.ops.table import OPS
from sources import ROOT, of_the_sources

# Folders of tests that follow no module: what users see, goldens, tools, C, other people's projects.
FREE = {"behaviour", "cases", "support", "csrc", "c_project", "bench", "suites"}
LONGEST = 400
pytestmark = of_the_sources


def mirrored() -> list[Path]:
    return [path for path in sorted((ROOT / "tests").rglob("test_*.py")) if path.parts[len(ROOT.parts) + 1] not in FREE]


@pytest.mark.parametrize("path", [p for p in mirrored() if p != Path(__file__)], ids=lambda path: path.name)
def test_a_test_file_is_named_after_a_module(path):
    """``tests/loops/test_nest.py``, or with what it is about behind: ``test_nest_users.py``."""
    room = ROOT / "bcastgen" / path.relative_to(ROOT / "tests").parent
    names = {module.stem for module in room.glob("*.py")} - {"__init__"}
    said = path.stem.removeprefix("test_")
    assert any(said == name or said.startswith(f"{name}_") for name in names), f"{room} has no module {said!r}"


def test_rooms_form_floors_and_the_page_shows_them():
    page = ROOT / "docs" / "architecture.md"
    text = page.read_text(encoding="utf-8")
    found = re.search(r"(<!-- rooms: [^\n]*-->\n```text\n)(.*?)(```\n<!-- end -->)", text, re.DOTALL)
    if os.environ.get("BCASTGEN_UPDATE_CASES"):
        page.write_text(text.replace(found[0], found[1] + rooms.table() + found[3]))
        return
    assert found[2] == rooms.table(), "run with BCASTGEN_UPDATE_CASES=1 to rewrite it"


def test_circles_are_found(monkeypatch):
    with pytest.raises(ValueError, match="circle"):
        rooms.floors({"a": {"b"}, "b": {"a"}, "c": set()})
    assert rooms.floors({"a": {"b"}, "b": set()}) == [["b"], ["a"]]


def test_no_module_imports_in_a_circle():
    """For types and inside functions, too: `lint-imports` compares folders, this test single modules."""
    known = rooms.modules()
    levels = rooms.floors({name: rooms.imports(name, known) for name in known})
    assert sum(map(len, levels)) == len(known) and len(levels) > 20


def test_commands_of_pages_that_run_modules_of_tests_find_what_these_import():
    """Under pytest `tests/support` is on the path, so that no other test sees what is missing."""
    pages = "".join(path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs").glob("*.md")))
    modules = sorted(set(re.findall(r"python -m\s+(tests\.support\.\w+)", pages)))
    assert len(modules) > 2
    clean = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    for module in modules:
        command = [sys.executable, "-c", f"import runpy; runpy.run_module({module!r}, run_name='not main')"]
        done = subprocess.run(command, cwd=ROOT, env=clean, capture_output=True, text=True)
        assert done.returncode == 0, f"python -m {module}: {done.stderr}"


def test_every_module_is_one_whose_examples_run():
    """`behaviour/test_docstrings.py` goes over packages, which a folder without an ``__init__.py`` is not."""
    walked = {found.name for found in pkgutil.walk_packages(bcastgen.__path__, "bcastgen.")}
    assert set(rooms.modules()) - {"bcastgen"} <= walked


# Names that are two classes', and why.
SAME_NAME = {
    "Block": "MLIR's word: in MLIR text as it is read (`mlir/ir.py`), and in the shape dialect, which is verified",
    "Operation": "as Block",
    "Type": "as Block",
    "Value": "as Block",
    "Expression": "ours; NumExpr's module of that name has the other, which programs written for it import",
}


def test_a_name_is_one_class():
    """But for classes of one module's own, whose names begin with an underscore."""
    homes: dict[str, list[str]] = {}
    for path in sorted((ROOT / "bcastgen").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes.setdefault(node.name, []).append(f"{path.relative_to(ROOT)}:{node.lineno}")
    twice = {name: found for name, found in homes.items() if len(found) > 1}
    assert {name: found for name, found in twice.items() if name not in SAME_NAME} == {}
    assert {name for name in SAME_NAME if len(twice.get(name, ())) != 2} == set()


def test_an_import_inside_a_function_says_why_on_its_line():
    """That it is one is found by ruff (PLC0415), which takes any mark."""
    lines = [
        (path.name, line)
        for path in sorted((ROOT / "bcastgen").rglob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if "noqa: PLC0415" in line
    ]
    assert len(lines) > 50
    assert not [line for line in lines if not re.search(r"PLC0415 - \w+,? \w+", line[1])]


def test_every_module_is_in_a_room_that_says_what_it_is_for():
    known = rooms.modules()
    assert len(known) > 180
    for name, path in known.items():
        first = path.read_text(encoding="utf-8").partition("\n")[0]
        assert first.startswith('"""'), f"{name} does not say what it is"


def sources() -> list[Path]:
    folders = {
        "bcastgen": ("py",),
        "csrc": ("c", "h", "inc", "py"),
        "templates": ("j2",),
        "tests": ("py",),
        "bench": ("py",),
    }
    made = ("_ffi.py", "_templates.py")
    return [
        path
        for folder, suffixes in folders.items()
        for suffix in suffixes
        for path in sorted((ROOT / folder).rglob(f"*.{suffix}"))
        if path.name not in made
    ]


@pytest.mark.parametrize("path", sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_a_long_file_says_why(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    head = " ".join(lines[:40])
    assert len(lines) <= LONGEST or "long because" in head, (
        f"{len(lines)} lines: split it, or say at its top: The file is long because ..."
    )


def test_the_table_of_rooms_fits_the_page():
    assert max(map(len, textwrap.dedent(rooms.table()).splitlines())) <= 140


# Where names of ops may be string literals outside ops/, and why.
NAMES_ALLOWED = {
    "expr/text.py": "Python's operators by the dunder of their row; a chain of comparisons is a logical_and",
    "expr/source": "Python's logic, branches and functions, and math's, as rows",
    "expr/ufuncs.py": "what NumPy and SciPy call a row",
    "expr/text_reductions.py": "an argument of NumPy's reductions is called where",
    "expr/refusals.py": "arguments of NumPy's ufuncs, `where` among them",
    "expr/text_calls.py": "which methods and arguments of NumPy's text may give",
    "expr/trace.py": "which rows the methods of arrays are, by the arguments that NumPy gives them",
    "expr/compositions.py": "what NumPy's functions are made of",
    "integrations/dask_arrays.py": "an argument of NumPy's ufuncs",
    "integrations/zarr_arrays.py": "an argument of NumPy's ufuncs",
    "kernel/handed_over.py": "an argument of NumPy's ufuncs",
    "expr/constants.py": "attributes of Python numbers that are ops, too",
    "kernel/ufunc": "the arguments of NumPy's ufuncs, `where` among them",
    "runtime/float_errors.py": "NumPy's names of floating-point errors",
    "expr/infer.py": "NumPy's own rules of power, round and clip with Python numbers",
    "numexpr": "NumExpr's instructions and functions, and which rows they are",
    "mlir/tosa": "the names of TOSA's ops, and which rows they are or are spelled with",
    "shape/types/extent": "sums, products and quotients of extents, which are no ops on elements",
    "shape/dialect": "the names of the shape dialect's ops and of Python's functions",
}


def named_in(text: str) -> set[str]:
    """The ops of the table that string literals of a module name, alone or in a list of words; not its docstrings.

    A kind of dtype may have the name of an op.
    """
    tree, found = ast.parse(text), set()
    prose = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)) and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            words = node.value.split()
            found |= set(words) if words and set(words) <= set(OPS) else set()
    return found - {dtype.kind for dtype in DTYPES}


def test_no_op_is_named_outside_of_its_row():
    """What a stage has to know of an op is on its row, so that adding one touches one."""
    naming = {
        path.relative_to(ROOT / "bcastgen").as_posix(): names
        for path in sorted((ROOT / "bcastgen").rglob("*.py"))
        if not path.is_relative_to(ROOT / "bcastgen" / "ops") and (names := named_in(path.read_text(encoding="utf-8")))
    }
    other = {path: names for path, names in naming.items() if not path.startswith(tuple(NAMES_ALLOWED))}
    assert not other, "say it on the row (ops/facts.py), or compare with the row itself, as with CAST"
    assert {allowed for allowed in NAMES_ALLOWED if not any(path.startswith(allowed) for path in naming)} == set()


def test_names_of_ops_are_found():
    assert named_in('"""clip"""\nX = frozenset("add subtract".split())\nx.op.name == "clip"\ny = "clip it"') == {
        *("add", "subtract", "clip")
    }
