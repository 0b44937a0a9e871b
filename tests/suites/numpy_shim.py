"""A pytest plugin: NumPy's own tests of ufuncs call bcastgen's kernels.

In: a test file of the installed NumPy.  Out: its tests, with `np.add(...)` and the like answered by `bg.add(...)`.

    python -m pytest -p numpy_shim .../numpy/_core/tests/test_umath.py

The module's ``np`` (and ``numpy._core.umath``, however it is called) is a copy in which each element-wise ufunc is a
:class:`Ufunc`: a call goes to the kernel as it stands, with the same arguments, and returns what the kernel returns.
Everything else (operators, methods such as ``np.add.reduce``, other functions) is NumPy's. With BCASTGEN_SUITES=peer
calls go to NumPy, too, through the same objects: what fails then fails because of the shim.

Nothing of NumPy's is changed: not its modules, nor its compiled files, since tests/suites/run.py gives them another
directory. `suite_plugin` chooses tests and writes what came of them.
"""

from __future__ import annotations

import ast
import os
import sys
from importlib.machinery import SourceFileLoader
from types import ModuleType
from typing import Any

import numpy as np
import numpy._core.umath

import bcastgen as bg

pytest_plugins = ("suite_plugin",)

IS_PEER = os.environ.get("BCASTGEN_SUITES") == "peer"
SUITES = ("test_umath", "test_umath_complex", "test_nep50_promotions", "test_mem_overlap", "test_ufunc")
# The modules whose ufuncs are NumPy's element-wise ones.
MODULES = ("numpy", "numpy._core", "numpy._core.umath", "numpy._core._multiarray_umath")


class _UfuncType(type):
    """`isinstance(x, np.ufunc)` is true of stand-ins, too."""

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, (np.ufunc, Ufunc))


class UfuncType(metaclass=_UfuncType):
    """What the copies have in place of ``np.ufunc``."""

    def __new__(cls, *_args: object) -> Any:
        raise TypeError("cannot create 'numpy.ufunc' instances")


class Ufunc:
    """A ufunc whose calls go to a kernel; all else of it is the ufunc's."""

    def __init__(self, ufunc: np.ufunc) -> None:
        self._ufunc = ufunc
        self.__name__ = ufunc.__name__
        self.__doc__ = ufunc.__doc__
        self._kernel: Any = None

    def __call__(self, *args: Any, **options: Any) -> Any:
        if IS_PEER or not _collected:
            return self._ufunc(*args, **options)
        if self._kernel is None:
            self._kernel = getattr(bg, self.__name__, None)
            if self._kernel is None:
                raise NotImplementedError(f"bcastgen has no op {self.__name__}")
            # NumPy's tests ask for what numpy.errstate says.
            self._kernel.errors = "numpy"
        return self._kernel(*args, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ufunc, name)

    def __repr__(self) -> str:
        return repr(self._ufunc)

    def __reduce__(self) -> Any:
        return stand_in, (self._ufunc,)


# While modules are imported, their own calls are NumPy's: a refusal would hide all of their tests.
_collected: list[bool] = []
_stand_ins: dict[int, Ufunc] = {}
_copies: dict[str, ModuleType] = {}


def stand_in(ufunc: np.ufunc) -> Any:
    """Return the one stand-in of a public ufunc that is element-wise; others stay as they are."""
    if ufunc.signature is not None or getattr(np, ufunc.__name__, None) is not ufunc:
        return ufunc
    return _stand_ins.setdefault(id(ufunc), Ufunc(ufunc))


def shimmed(module: ModuleType) -> ModuleType:
    """Return the copy of one of `MODULES` that has stand-ins; any other module itself."""
    if module.__name__ not in MODULES:
        return module
    if module.__name__ not in _copies:
        copy = _copies[module.__name__] = ModuleType(module.__name__, module.__doc__)
        for name, value in vars(module).items():
            if isinstance(value, np.ufunc):
                vars(copy)[name] = stand_in(value)
            elif value is np.ufunc:
                vars(copy)[name] = UfuncType
            elif isinstance(value, ModuleType):
                vars(copy)[name] = shimmed(value)
            else:
                vars(copy)[name] = value
    return _copies[module.__name__]


def _transformed(source: Any, path: str) -> ast.Module:
    """Return a test module in which each import of NumPy is followed by its replacement."""
    tree = ast.parse(source, path)
    body: list[ast.stmt] = []
    for statement in tree.body:
        body.append(statement)
        if isinstance(statement, ast.Import):
            for alias in statement.names:
                name = alias.asname or alias.name
                if alias.name in MODULES and "." not in name:
                    body += ast.parse(f"{name} = __import__('numpy_shim').shimmed({name})").body
    tree.body = body
    return tree


_compile = SourceFileLoader.source_to_code


def _source_to_code(self: Any, data: Any, path: Any, **options: Any) -> Any:
    if os.path.basename(os.path.dirname(str(path))) == "tests" and os.path.basename(str(path))[:-3] in SUITES:
        data = _transformed(data, str(path))
    return _compile(self, data, path, **options)


SourceFileLoader.source_to_code = _source_to_code  # type: ignore[method-assign]
assert sys.dont_write_bytecode and sys.pycache_prefix, "the changed modules must not reach NumPy's folder: use run.py"


def pytest_collection_finish() -> None:
    """From now on calls go to kernels."""
    _collected.append(True)
