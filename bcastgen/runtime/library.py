"""Opens a compiled kernel: a shared object that exports `bcg_entry`.

In: the path of a shared object.  Out: a :class:`Library`, which holds it open and knows where its entry lies.

    open_library(Path("kernel.so")).address -> 140245102866912

The C extension opens it where it was built. All else goes through cffi, whose declarations come from `_ffi.py`,
written when the package was built, so that no C is parsed. A checkout without it, or whose headers have changed since
(their fingerprints tell), parses the headers instead.
"""

from __future__ import annotations

import contextlib
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from ..core.errors import CacheError
from ..core.forks import undivided
from ..core.frozen import dataclass
from ..core.system_errors import pass_on

# The extension, or None where the package was built without it.
extension: Any = None
with contextlib.suppress(ImportError):
    extension = import_module("bcastgen._dispatch")

__all__ = ["Library", "constant", "extension", "ffi", "open_library", "open_shared"]


@dataclass(frozen=True, slots=True)
class Library:
    """A loaded shared object; it stays loaded as long as this lives.

    Attributes
    ----------
    path : where it was loaded from.
    address : address of its `bcg_entry`, a `const bcg_kernel *`.
    handle : what holds it open.
    """

    path: Path
    address: int
    handle: Any


@cache
def ffi() -> Any:
    """Return the cffi FFI that knows bcg_abi.h and run.h."""
    with undivided:
        from . import ffi_build  # noqa: PLC0415 - the extension opens kernels without cffi

        try:
            from ._ffi import ffi as built  # noqa: PLC0415 - the build may not have written it
        except ImportError:
            return ffi_build.ffibuilder()
    fresh = _constants(built).get("BCG_FINGERPRINT") == ffi_build.fingerprint(ffi_build.header())
    return built if fresh else ffi_build.ffibuilder()


def _constants(source: Any) -> dict[str, int]:
    try:
        found: dict[str, int] = source.typeof("enum bcg_constants").relements
    except _errors(source):
        return {}
    return found


def _errors(source: Any) -> tuple[type[Exception], ...]:
    """Return what the FFI raises; the kind that parses has other exceptions than the built one."""
    if hasattr(source, "error"):
        return (source.error,)
    with undivided:
        from cffi import CDefError, FFIError  # noqa: PLC0415 - only where the build has not run cffi

    return CDefError, FFIError


@cache
def constant(name: str) -> int:
    """Return a number that bcg_abi.h defines.

    Examples
    --------
    >>> constant("BCG_MAX_RANK")
    64
    """
    return _constants(ffi())[name]


def open_shared(path: Path) -> Any:
    """Load a shared object of the cache.

    Raises
    ------
    CacheError
        If it cannot be loaded.
    """
    try:
        return ffi().dlopen(str(path.resolve()))
    except OSError as error:
        raise _unloadable(path, error) from error


def _unloadable(path: Path, error: OSError) -> CacheError:
    pass_on(error)
    return CacheError(f"cannot load the kernel {path}: {error}")


def open_library(path: Path) -> Library:
    """Load a shared object and find its kernel.

    Raises
    ------
    CacheError
        If it cannot be loaded, exports no kernel, or one of another ABI version.
    """
    handle, address, version = _opened_by_cffi(path) if extension is None else _opened(path)
    if not address:
        raise CacheError(f"{path} exports no bcg_entry, so it is not a kernel")
    ours = constant("BCG_ABI_VERSION") if extension is None else extension.BCG_ABI_VERSION
    if version != ours:
        raise CacheError(f"the kernel {path} has ABI version {version}, this bcastgen {ours}")
    return Library(path, address, handle)


def _opened(path: Path) -> tuple[Any, int, int]:
    try:
        return extension.open_kernel(str(path.resolve()))  # type: ignore[no-any-return]
    except OSError as error:
        raise _unloadable(path, error) from error


def _opened_by_cffi(path: Path) -> tuple[Any, int, int]:
    handle = open_shared(path)
    absent: tuple[type[Exception], ...] = (AttributeError, *_errors(ffi()))
    try:
        entry = ffi().addressof(handle, "bcg_entry")
    except absent:
        return handle, 0, 0
    return handle, int(ffi().cast("uintptr_t", entry)), entry.abi_version
