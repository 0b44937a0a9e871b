"""Digests of all that decides a binary: its key, and the origin that it shares with all others of this installation.

In: texts, the toolchain, the package's files.  Out: digests of 64 hexadecimal digits.

    cache_key("a + b", "accurate", tools=toolchain())    -> "3f9a..."
    origin(toolchain())                                  -> "77c0...": the package, the compiler, its flags, the CPU
"""

from __future__ import annotations

import contextlib
import os
import platform
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from ...core.resources import package_files, package_folders
from ...core.system_errors import system_errors_ignored
from ..library import extension
from ..toolchain import Toolchain, cpu_features
from .directory import cache_directory
from .files import read_ours, write_whole

# Import the module beneath hashlib, since hashlib itself loads OpenSSL, which takes 3 ms.
try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

__all__ = ["PACKAGE", "cache_key", "digest", "digest_of", "is_digest", "origin"]

PACKAGE = "package."


def digest(data: bytes) -> str:
    """Return the digest of bytes, as ``b2sum -l 256`` prints it."""
    return blake2b(data, digest_size=32).hexdigest()


def is_digest(text: str) -> bool:
    """Return whether a text is a digest."""
    return len(text) == 64 and not text.strip("0123456789abcdef")


def digest_of(texts: Iterable[bytes]) -> str:
    """Return the digest of texts in this order."""
    # Each text is preceded by its length, so that ("ab", "c") and ("a", "bc") differ.
    return digest(b"".join(b"%d:%s" % (len(text), text) for text in texts))


def cache_key(*parts: str, tools: Toolchain) -> str:
    """Return the key of the binary that these parts decide, together with the package, the compiler and the CPU.

    Parameters
    ----------
    parts : everything else that decides the C: the typed expression, the options, user-defined ops.
    tools : the compiler and its flags.

    Examples
    --------
    >>> from bcastgen.runtime.toolchain import toolchain
    >>> len(cache_key("a + b", "accurate", tools=toolchain()))
    64
    """
    return digest_of((origin(tools).encode(), _digest_of_texts(parts).encode()))


def origin(tools: Toolchain) -> str:
    """Return the digest of all that binaries have in common which this installation makes with these tools."""
    # Only the name in the command's path counts (some programs act by it); the identity has the file itself.
    command = (os.path.basename(tools.command[0]), *tools.command[1:])
    machine = (platform.machine(), cpu_features())
    # The package's files include csrc/abi/bcg_abi.h, and with it the ABI version.
    groups = ((_package_digest(),), (tools.identity,), command, tools.flags, machine)
    return digest_of(_digest_of_texts(group).encode() for group in groups)


def _digest_of_texts(texts: Iterable[str]) -> str:
    return digest_of(text.encode() for text in texts)


@cache
def _package_digest() -> str:
    """Return the digest of the package's files; the cache keeps it under a digest of what the system says of them.

    Without the extension each process reads them all: to ask for their times in Python would take half as long.
    """
    kept = None if extension is None else cache_directory() / (PACKAGE + digest(extension.files_of(package_folders())))
    if kept is not None:
        with system_errors_ignored(), contextlib.suppress(ValueError):
            known = read_ours(kept).decode("ascii")
            if is_digest(known):
                return known
    texts = (text for file in package_files() for text in (os.path.basename(file).encode(), Path(file).read_bytes()))
    found = digest_of(texts)
    if kept is not None:
        with system_errors_ignored():
            write_whole(kept, found)
    return found
