"""Finds kernels on disk.

In: a key.  Out: the result of `load` for the path of a shared object, or None.

    find(key, open_library) -> a library

What is found is verified and loaded before anyone relies on it. `store` builds what is missing; most processes need
nothing of it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from ...core.errors import CacheError, CacheWarning
from ...core.logs import tell
from ..toolchain import BINARY
from .directory import cache_directory, own_directory
from .manifest import entry_of, is_whole, read_manifest
from .used import mark_used

__all__ = ["find", "itself", "loaded_from"]

# The entries that a warning has named.
_warned_of: set[str] = set()


def itself(path: Path) -> Path:
    """Load nothing."""
    return path


def find(key: str, load: Callable[[Path], Any] = itself) -> Any:
    """Return the loaded shared object of a complete and verified entry, or None if there is none that can be loaded.

    Parameters
    ----------
    key : from :func:`cache_key`.
    load : makes something of the path; raises CacheError if the file is no shared object of ours.
    """
    for directory in dict.fromkeys((cache_directory(), *own_directory())):
        entry = entry_of(directory, key)
        if is_whole(entry):
            loaded = loaded_from(entry, load)
            if loaded is not None:
                tell("found on disk %s: %s", partial(_about, entry), entry)
                return loaded
    return None


def _about(entry: Path) -> str:
    found = read_manifest(entry)
    return "" if found is None else found.about


def loaded_from(entry: Path, load: Callable[[Path], Any]) -> Any:
    """Load a whole entry; None, with a warning, if that fails."""
    try:
        loaded = load(entry / BINARY)
    except CacheError as error:
        # An entry that was removed meanwhile needs no warning.
        if entry.exists() and str(entry) not in _warned_of:
            _warned_of.add(str(entry))
            _warn(f"a kernel of the cache cannot be loaded, so it is built anew: {error}")
        return None
    mark_used(entry)
    return loaded


def _warn(message: str) -> None:
    warnings.warn(message, CacheWarning, stacklevel=4)
