"""Opens a compiled kernel: a shared object that exports `bcg_entry`.

In: the path of a shared object.  Out: a :class:`Library`, which holds it open and knows where its entry lies.

    open_library(Path("kernel.so")).entry.operands -> 2

cffi's declarations come from `_ffi.py`, written when the package was built, so that loading a kernel parses no C.
A checkout without it, or whose headers have changed since (their fingerprints tell), parses the header instead.
"""

from __future__ import annotations

import contextlib
from functools import cache
from pathlib import Path
from typing import Any

from ..core.errors import CacheError
from ..core.forks import undivided
from ..core.frozen import dataclass
from ..core.system_errors import pass_on
from . import ffi_build

# Every kernel needs it, so it comes with the package; what is wrong with it, `ffi` finds out.
with contextlib.suppress(ImportError):
    from . import _ffi  # noqa: F401

__all__ = ["Library", "constant", "ffi", "open_library", "open_shared"]


@dataclass(frozen=True, slots=True)
class Library:
    """A loaded shared object; it stays loaded as long as this lives.

    Attributes
    ----------
    path : where it was loaded from.
    address : address of its `bcg_entry`.
    entry : the same as a cffi pointer, `const bcg_kernel *`.
    handle : what cffi holds it open by.
    """

    path: Path
    address: int
    entry: Any
    handle: Any


@cache
def ffi() -> Any:
    """Return the cffi FFI that knows bcg_abi.h and run.h."""
    try:
        with undivided:
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
        pass_on(error)
        raise CacheError(f"cannot load the kernel {path}: {error}") from error


def open_library(path: Path) -> Library:
    """Load a shared object and find its kernel.

    Raises
    ------
    CacheError
        If it cannot be loaded, exports no kernel, or one of another ABI version.
    """
    handle = open_shared(path)
    absent: tuple[type[Exception], ...] = (AttributeError, *_errors(ffi()))
    try:
        entry = ffi().addressof(handle, "bcg_entry")
    except absent as error:
        raise CacheError(f"{path} exports no bcg_entry, so it is not a kernel: {error}") from error
    version = constant("BCG_ABI_VERSION")
    if entry.abi_version != version:
        raise CacheError(f"the kernel {path} has ABI version {entry.abi_version}, this bcastgen {version}")
    return Library(path, int(ffi().cast("uintptr_t", entry)), entry, handle)
