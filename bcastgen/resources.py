"""Where the folders that are not Python packages lie: templates/, csrc/ and bench/.

In: a folder's name.  Out: its path, in a wheel (installed under the package), an editable install and a bare checkout
(beside the package) alike.

    folder("csrc") / "bcg_abi.h"
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

from .errors import BcastgenError

__all__ = ["bench_module", "folder", "package_files"]

_PACKAGE = Path(__file__).resolve().parent


@cache
def folder(name: str) -> Path:
    """Return the path of a resource folder (``"templates"``, ``"csrc"``, ``"bench"``).

    Raises
    ------
    BcastgenError
        If the installation lacks it.
    """
    for candidate in (_PACKAGE / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise BcastgenError(f"the folder {name!r} is missing beside or under {_PACKAGE}; reinstall bcastgen")


def package_files() -> list[Path]:
    """Return every file that decides what is generated: the package's Python, the templates and csrc, sorted."""
    # In a wheel bench/ lies under the package, too; it decides nothing.
    python = [path for path in _PACKAGE.rglob("*.py") if path.relative_to(_PACKAGE).parts[0] != "bench"]
    return sorted([*python, *folder("templates").rglob("*.j2"), *folder("csrc").glob("bcg_*")])


@cache
def bench_module(name: str) -> ModuleType:
    """Import a module of the bench folder as ``bcastgen.bench.<name>``, wherever the folder lies."""
    package = "bcastgen.bench"
    if package not in sys.modules:
        root = folder("bench")
        spec = importlib.util.spec_from_file_location(
            package, root / "__init__.py", submodule_search_locations=[str(root)]
        )
        if spec is None or spec.loader is None:
            raise BcastgenError(f"{root} is not a package; reinstall bcastgen")
        module = importlib.util.module_from_spec(spec)
        sys.modules[package] = module
        spec.loader.exec_module(module)
    return importlib.import_module(f"{package}.{name}")
