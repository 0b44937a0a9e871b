"""The public names are in two lists that tools read and one that Python does; they say the same."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import bcastgen as bg


def typed(module):
    """What the file of a module imports for type checkers: module -> names."""
    tree = ast.parse(Path(module.__file__).read_text(encoding="utf-8"))
    block = next(node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING")
    return {node.module: {alias.name for alias in node.names} for node in block.body if node.names[0].name != "*"}


@pytest.mark.parametrize(("module", "room"), [(bg, ""), (bg.shape, "dialect.")], ids=["bcastgen", "shape"])
def test_type_checkers_see_what_python_finds(module, room):
    homes = {f"{room}{home}": set(names) for home, names in module._HOMES.items()}
    assert typed(module) == homes
    assert {name for names in homes.values() for name in names} <= set(module.__all__)


def test_all_that_is_public_is_there_and_nothing_else_is_said_to_be():
    tree = ast.parse(Path(bg.__file__).read_text(encoding="utf-8"))
    imports = [node for node in tree.body if isinstance(node, ast.ImportFrom) and node.level]
    eager = {alias.asname or alias.name for node in imports for alias in node.names}
    lazy = {name for names in bg._HOMES.values() for name in names}
    assert not eager & lazy
    assert set(bg.__all__) == lazy | {name for name in eager if not name.startswith("_") or name == "__version__"}
    assert all(hasattr(module, name) for module in (bg, bg.shape) for name in module.__all__)


def test_completion_offers_all_that_is_ready():
    """Those of `api/op_types.pyi`, which a test keeps equal to the tables; aliases are found, and not offered."""
    assert {"add", "sum", "divmod", "isclose", "jit"} <= set(dir(bg))
    assert all(hasattr(bg, name) for name in dir(bg))


def test_a_name_that_is_not_there_is_compared_with_those_that_are():
    code = "import bcastgen; bcastgen.sigmod"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stderr
    assert told.endswith("AttributeError: module 'bcastgen' has no attribute 'sigmod'. Did you mean: 'sigmoid'?\n")
