"""Where the folders that are not Python packages are: templates/, csrc/ and bench/.

In: a folder's name.  Out: its path, in a wheel (installed under the package), an editable install and a bare checkout
(beside the package) alike.

    csrc_file("bcg_abi.h")
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from functools import cache
from pathlib import Path
from types import ModuleType

from .errors import BcastgenError

__all__ = ["CSRC_ROOMS", "bare_source_tree", "bench_module", "csrc_file", "folder", "package_files", "package_folders"]

_PACKAGE = Path(__file__).resolve().parents[1]

# The folders of csrc, in which a compiler looks for included files.
CSRC_ROOMS = ("abi", "helpers", "vmath", "runtime", "dispatch")


def bare_source_tree() -> Path | None:
    """Return the checkout that the package is imported from, if the extension was not built there; else None.

    Python started in a checkout imports the package from there, also where it is installed elsewhere.
    """
    checkout = _PACKAGE.parent
    is_bare = (checkout / "setup.py").is_file() and not any(_PACKAGE.glob("_dispatch.*"))
    return checkout if is_bare else None


@cache
def folder(name: str) -> Path:
    """Return the path of a resource folder (``"templates"``, ``"csrc"``, ``"bench"``).

    Raises
    ------
    BcastgenError
        If the installation lacks the folder.
    """
    for candidate in (_PACKAGE / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise BcastgenError(f"the folder {name!r} is missing beside or under {_PACKAGE}; reinstall bcastgen")


@cache
def csrc_file(name: str) -> Path:
    """Return the path of a file of csrc, whichever of its folders it is in.

    Raises
    ------
    BcastgenError
        If the installation lacks it.

    Examples
    --------
    >>> csrc_file("bcg_abi.h").parent.name
    'abi'
    """
    room = _rooms_of_files().get(name)
    if room is None:
        raise BcastgenError(f"the file {name!r} is missing under {folder('csrc')}; reinstall bcastgen")
    return Path(room, name)


@cache
def _rooms_of_files() -> dict[str, str]:
    """Return the folder of each file of csrc: to look for a file in each folder takes ten times as long."""
    rooms = [f"{folder('csrc')}/{room}" for room in CSRC_ROOMS]
    return {name: room for room in rooms if os.path.isdir(room) for name in os.listdir(room)}


# The folders whose files decide the C of a kernel. Folders that read or print MLIR, print standalone C, or
# ask for a kernel (the request is in the key itself) are left out, since a first call from disk looks at each file.
_DECIDING_ROOMS = (
    "core",
    "emit",
    "emit/c_text",
    "emit/kernel",
    "emit/templating",
    "expr",
    "kernel",
    "loops",
    "loops/analysis",
    "loops/guard_program",
    "loops/guards",
    "loops/lowering",
    "loops/rewrites",
    "loops/schedule",
    "ops",
    "ops/rows",
    "pipeline",
    "runtime",
    "runtime/cache",
    "shape",
    "shape/inference",
    "shape/types",
)


def package_folders() -> tuple[str, ...]:
    """Return the path of every folder of which files decide the binary of a kernel: Python, templates and csrc."""
    python = [f"{_PACKAGE}/{room}" for room in _DECIDING_ROOMS]
    sources = [f"{folder('csrc')}/{room}" for room in ("abi", "helpers", "vmath")]
    return (*python, str(folder("templates")), f"{folder('templates')}/parts", *sources)


def package_files() -> list[str]:
    """Return the path of every file that decides the binary of a kernel, sorted."""
    suffixes = (".py", ".j2", ".h", ".def")
    paths = (f"{place}/{name}" for place in package_folders() for name in os.listdir(place) if name.endswith(suffixes))
    # An editor's lock is a link to no file.
    return sorted(path for path in paths if os.path.isfile(path))


@cache
def bench_module(name: str) -> ModuleType:
    """Import a module of the bench folder as ``bcastgen.bench.<name>``, wherever the folder is."""
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
