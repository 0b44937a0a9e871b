"""The kernels on disk: each is found by its key, built at most once, never half-written, and verified when read.

In: the texts that decide a binary, and a function that renders its C.  Out: a shared object, loaded.

    key = cache_key(expression, options, tools=tools)                    -> "3f9a..."
    find(key, load) or build(key, render, tools, load)[0]                -> load(<cache>/3f/3f9a.../kernel.so)

An entry is a directory that holds the source, ``kernel.so`` and a digest of both. It is written under another name,
loaded, and renamed, so it exists only when it is complete and can be loaded. A build holds the lock of its shard, which
the system releases when the holder dies:

    <cache>/3f/lock         held during a build in this shard
    <cache>/3f/3f9a.../     an entry: kernel.c, kernel.so, digest (check it by hand: b2sum -l 256 -c digest)
    <cache>/3f/tmp.*        a build under way, or the remains of a killed one, which the next build here removes
    <cache>/3f/failed.*     the source of the last failed build of a key, for users to read; removed after some hours
    <cache>/package.*       the digest of the package's files, named by a digest of their names, sizes and times
    <cache>/bytes           how many bytes were there and came since: a line for each build
    <cache>/used.*          the keys that a living process has loaded, which holds the lock of the file

Locks are per shard, not per key: they are never removed, so they must be few. Builds of two kernels in one shard wait
for each other, which is rare and harmless.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...core.forks import undivided
from .directory import cache_directory
from .identity import cache_key, digest_of
from .lookup import find

if TYPE_CHECKING:
    from .store import build

__all__ = ["build", "cache_directory", "cache_key", "digest_of", "find"]


def __getattr__(name: str) -> Any:
    # A kernel that is found needs nothing of what builds one: locks, the running of a compiler.
    if name != "build":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    with undivided:
        from .store import build  # noqa: PLC0415 - only where a kernel is built
    return build
