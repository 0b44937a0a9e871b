"""`bcastgen.numexpr` in NumExpr's place: what imports ``numexpr``, or has imported it, finds bcastgen's.

In: nothing.  Out: :func:`install`, and :func:`uninstall`, which undoes it.

    import bcastgen.numexpr; bcastgen.numexpr.install()
    df.query("a > b")    # pandas: computed by bcastgen's kernels

NumExpr need not be installed. No file is changed.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import importlib.util
import sys
from types import ModuleType, TracebackType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from unittest import TestResult, TestSuite

__all__ = ["Installed", "install", "uninstall"]

_NAME, _HERE = "numexpr", __name__.rpartition(".")[0]
_PARTS = ("expressions", "interpreter", "necompiler", "utils", "version")
_MISSING = object()


class Installed:
    """What :func:`install` changed; a context that undoes it at its end."""

    def __enter__(self) -> Installed:
        return self

    def __exit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        uninstall()


# The modules and attributes as they were, each with what it belongs to.
_modules: dict[str, Any] = {}
_attributes: list[tuple[ModuleType, str, Any]] = []


def _ours() -> dict[str, ModuleType]:
    """Return our modules by NumExpr's names of them."""
    return {
        _NAME: sys.modules[_HERE],
        **{f"{_NAME}.{part}": importlib.import_module(f"{_HERE}.{part}") for part in _PARTS},
    }


def _set(module: ModuleType, name: str, value: Any) -> None:
    _attributes.append((module, name, vars(module).get(name, _MISSING)))
    setattr(module, name, value)


def install() -> Installed:
    """Put this package in NumExpr's place in this process, before or after others have imported NumExpr.

    ``import numexpr`` gives this package from then on; modules that have NumExpr, its modules or its public functions
    as globals get ours instead. A pandas that was imported without NumExpr learns that there is one.

    Returns
    -------
    Installed
        A context: ``with install(): ...`` undoes it at the end, as :func:`uninstall` does.

    Examples
    --------
    >>> import numpy as np
    >>> with install():
    ...     import numexpr
    ...     numexpr.__name__
    'bcastgen.numexpr'
    """
    if _modules:
        return Installed()
    ours = _ours()
    face = ours[_NAME]
    before = {name: sys.modules.get(name, _MISSING) for name in ours}
    swapped: dict[int, Any] = {}
    for name, module in ours.items():
        old = before[name]
        if old is _MISSING:
            continue
        swapped[id(old)] = module
        if name == _NAME:
            public = {key for key in face.__all__ if callable(getattr(old, key, None))}
            swapped.update({id(getattr(old, key)): getattr(face, key) for key in public})
    _modules.update(before)
    sys.modules.update(ours)
    for name, holder in list(sys.modules.items()):
        if swapped and isinstance(holder, ModuleType) and name.partition(".")[0] not in (_NAME, "bcastgen"):
            for key, value in list(vars(holder).items()):
                if id(value) in swapped and not key.startswith("__"):
                    _set(holder, key, swapped[id(value)])
    _tell_pandas(face)
    return Installed()


def _tell_pandas(face: ModuleType) -> None:
    """Let a pandas that looked for NumExpr and found none use this package."""
    check = sys.modules.get("pandas.core.computation.check")
    if check is None or getattr(check, "NUMEXPR_INSTALLED", True):
        return
    for name, value in (("ne", face), ("NUMEXPR_INSTALLED", True), ("NUMEXPR_BLOCKED_VERSION", None)):
        _set(check, name, value)
    computing = sys.modules.get("pandas.core.computation.expressions")
    if computing is not None:
        for name, value in (("ne", face), ("NUMEXPR_INSTALLED", True), ("USE_NUMEXPR", True)):
            _set(computing, name, value)
        for name in ("evaluate", "where"):
            if hasattr(computing, f"_{name}_numexpr"):
                _set(computing, f"_{name}", getattr(computing, f"_{name}_numexpr"))


def uninstall() -> None:
    """Undo :func:`install`: whatever it replaced is as it was."""
    for module, name, value in reversed(_attributes):
        if value is _MISSING:
            vars(module).pop(name, None)
        else:
            setattr(module, name, value)
    _attributes.clear()
    for name, module in _modules.items():
        if module is _MISSING:
            sys.modules.pop(name, None)
        else:
            sys.modules[name] = module
    _modules.clear()


def _tests() -> ModuleType:
    """Return NumExpr's test module, which has this package as ``numexpr``."""
    found = importlib.machinery.PathFinder.find_spec(_NAME)
    if found is None or not found.submodule_search_locations:
        raise ImportError("NumExpr is not installed, and its tests come from it: pip install numexpr")
    path = f"{found.submodule_search_locations[0]}/tests/test_numexpr.py"
    spec = importlib.util.spec_from_file_location("bcastgen_numexpr_tests", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run_tests(verbosity: int) -> TestResult:
    """Run NumExpr's tests with this package in its place."""
    from unittest import TextTestRunner  # noqa: PLC0415 - it takes a tenth of this package's import, and is for tests

    with install():
        suite: TestSuite = _tests().suite()
        return TextTestRunner(verbosity=verbosity).run(suite)
