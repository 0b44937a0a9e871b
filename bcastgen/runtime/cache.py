"""The kernels on disk: each is found by its key, built at most once, never half-written, and verified when read.

In: the texts that decide a binary, and a function that renders its C.  Out: the path of a shared object.

    key = cache_key(expression, options, tools=tools)        -> "3f9a..."
    find(key) or build(key, render, tools)[0]                -> <cache>/3f/3f9a.../kernel.so

An entry is a directory that holds the source, ``kernel.so`` and a digest of both. It is written under another name and
renamed, so it exists only when it is complete. Reading an entry changes nothing; a build holds the lock of its shard,
which the system releases when the holder dies:

    <cache>/3f/lock         held during a build in this shard
    <cache>/3f/3f9a.../     an entry: kernel.c, kernel.so, digest (check it by hand: b2sum -l 256 -c digest)
    <cache>/3f/tmp.*        a build under way, or the remains of a killed one, which the next build here removes
    <cache>/package.*       the digest of the package's files, named by a digest of their names, sizes and times
    <cache>/3f/failed.*     the source of the last failed build of a key, for users to read; removed after some hours

Locks are per shard, not per key: they are never removed, so they must be few. Builds of two kernels in one shard wait
for each other, which is rare and harmless.
"""

from __future__ import annotations

import contextlib
import errno
import os
import platform
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from pathlib import Path

from ..core.c_source import CSource
from ..core.errors import CacheError, CompileError
from ..core.frozen import dataclass
from ..core.resources import package_files
from .directory import cache_directory, is_ours, make_aside, remove
from .lock import exclusive
from .toolchain import BINARY, Toolchain, compile_source, cpu_features

# Import the module beneath hashlib, since hashlib itself loads OpenSSL, which takes 3 ms.
try:
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

__all__ = ["CacheInfo", "build", "cache_directory", "cache_key", "clear", "digest_of", "find", "info"]

_DIGEST = "digest"
_LOCK = "lock"
_TEMPORARY = "tmp."
_FAILED = "failed."
_PACKAGE = "package."
_STALE_SECONDS = 6 * 3600


@dataclass(frozen=True, slots=True)
class CacheInfo:
    """The size of the cache: its complete entries, and the bytes of all its files."""

    directory: Path
    entries: int
    bytes: int

    def __str__(self) -> str:
        return f"{self.directory}: {self.entries} kernels, {self.bytes / 1e6:.1f} MB"


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
    # Only the name in the command's path counts (some programs act by it); the identity has the file itself.
    command = (os.path.basename(tools.command[0]), *tools.command[1:])
    machine = (platform.machine(), cpu_features())
    # The package's files include csrc/abi/bcg_abi.h, and with it the ABI version.
    groups = ((_package_digest(),), (tools.identity,), command, tools.flags, machine, parts)
    return digest_of(digest_of(text.encode() for text in group).encode() for group in groups)


def find(key: str) -> Path | None:
    """Return the shared object of a complete and verified entry, or None; change nothing."""
    entry = _entry(key)
    return entry / BINARY if _is_whole(entry) else None


def build(key: str, render: Callable[[], CSource], tools: Toolchain) -> tuple[Path, bool]:
    """Return the shared object of a key, and whether this call ran the compiler for it.

    If several threads and processes ask for one key, one of them builds and the others wait.

    Parameters
    ----------
    key : from :func:`cache_key`.
    render : returns the source; called only if the entry is missing or broken.
    tools : the compiler and its flags.

    Raises
    ------
    CompileError
        If the compiler fails; the source is kept, and the message says where.
    CacheError
        If the entry cannot be written (disk full, directory removed).
    """
    entry = _entry(key)
    with _as_cache_error(entry):
        entry.parent.mkdir(mode=0o700, exist_ok=True)
        if not _is_our_directory(entry.parent):
            raise CacheError(f"{entry.parent} is not a directory that only you can write to; remove it")
    with exclusive(entry.parent / _LOCK) as alone:
        if _is_whole(entry):
            return entry / BINARY, False
        source = render()
        with _as_cache_error(entry):
            _sweep(entry.parent, alone)
            _build_aside(entry, source, tools)
        return entry / BINARY, True


def info() -> CacheInfo:
    """Return the size of the cache."""
    directory = cache_directory()
    shards = _shards(directory)
    return CacheInfo(directory, sum(len(_entries(shard)) for shard in shards), sum(map(_bytes, shards)))


def clear() -> int:
    """Remove every entry, and the remains of killed or failed builds; return how many entries there were.

    Loaded kernels go on working, and a build under way finishes.
    """
    directory = cache_directory()
    removed = 0
    with _as_cache_error(directory):
        for kept in directory.glob(f"{_PACKAGE}*"):
            kept.unlink(missing_ok=True)
        for shard in _shards(directory):
            with exclusive(shard / _LOCK, wait=False) as alone:
                removed += sum(map(_discard, _entries(shard)))
                _sweep(shard, alone, failed_too=True)
    return removed


def _digest(data: bytes) -> str:
    return blake2b(data, digest_size=32).hexdigest()


def digest_of(texts: Iterable[bytes]) -> str:
    """Return the digest of texts in this order."""
    # Each text is preceded by its length, so that ("ab", "c") and ("a", "bc") differ.
    return _digest(b"".join(b"%d:%s" % (len(text), text) for text in texts))


@cache
def _package_digest() -> str:
    """Return the digest of the package's files; the cache keeps it under a digest of their sizes and times."""
    files = package_files()
    status = [file.stat() for file in files]
    stamps = (f"{os.fspath(file)}:{one.st_size}:{one.st_mtime_ns}" for file, one in zip(files, status, strict=True))
    kept = cache_directory() / (_PACKAGE + digest_of(map(str.encode, stamps)))
    with contextlib.suppress(OSError, ValueError):
        known = _read(kept).decode("ascii")
        if len(known) == 64 and not known.strip("0123456789abcdef"):
            return known
    digest = digest_of(text for file in files for text in (file.name.encode(), Path(file).read_bytes()))
    with contextlib.suppress(OSError):
        _keep(kept, digest)
    return digest


def _keep(path: Path, text: str) -> None:
    """Write a small file under another name, then rename it, so that it is never half-written."""
    aside = path.with_name(f"{_TEMPORARY}{path.name}.{os.getpid()}")
    aside.write_text(text, encoding="ascii")
    aside.chmod(0o600)
    os.replace(aside, path)


def _entry(key: str) -> Path:
    return cache_directory() / key[:2] / key


def _is_whole(entry: Path) -> bool:
    try:
        text = _read(entry / _DIGEST).decode()
        names = [line.partition("  ")[2] for line in text.splitlines()[1:]]
        whole = BINARY in names and text == _manifest(entry.name, entry, names)
        return whole and _is_our_directory(entry) and _is_our_directory(entry.parent)
    except (OSError, ValueError):
        return False


def _is_our_directory(path: Path) -> bool:
    status = path.lstat()
    return stat.S_ISDIR(status.st_mode) and is_ours(status)


def _manifest(key: str, directory: Path, names: Iterable[str]) -> str:
    lines = [f"{_digest(_read(directory / name))}  {name}\n" for name in names]
    return "".join([f"# bcastgen {key}\n", *lines])


def _read(path: Path) -> bytes:
    """Read a file; refuse symlinks, irregular files, and files that another user may write to."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or not is_ours(status):
            raise PermissionError(errno.EPERM, "not a regular file of this user's alone", str(path))
        return file.read()


def _build_aside(entry: Path, source: CSource, tools: Toolchain) -> None:
    aside = make_aside(entry.parent, _TEMPORARY)
    failed = entry.with_name(_FAILED + entry.name)
    remove(failed)
    try:
        compile_source(source, aside, tools)
        names = (*source.files, BINARY)
        for name in names:
            (aside / name).chmod(0o600)
        (aside / _DIGEST).write_text(_manifest(entry.name, aside, names))
        (aside / _DIGEST).chmod(0o600)
        _publish(aside, entry)
    except CompileError as error:
        with contextlib.suppress(OSError):
            os.rename(aside, failed)
        # The message has the paths of the directory that has just been renamed.
        raise CompileError(str(error).replace(str(aside), str(failed))) from None
    finally:
        remove(aside)


def _publish(aside: Path, entry: Path) -> None:
    try:
        os.rename(aside, entry)
    except OSError:
        # A broken entry is in the way; or, on a file system without locks, another builder was first.
        if _is_whole(entry):
            return
        if not _discard(entry):
            raise
        os.rename(aside, entry)


def _discard(entry: Path) -> bool:
    """Rename an entry, so that it vanishes at once, then remove it; return False if there was none."""
    aside = make_aside(entry.parent, _TEMPORARY)
    try:
        os.rename(entry, aside / entry.name)
    except FileNotFoundError:
        return False
    finally:
        remove(aside)
    return True


def _sweep(shard: Path, alone: bool, failed_too: bool = False) -> None:
    """Remove the remains of killed builds; with the lock (`alone`), no other build of this shard can be alive."""
    for path in shard.iterdir():
        mine = (alone and path.name.startswith(_TEMPORARY)) or (failed_too and path.name.startswith(_FAILED))
        if mine or (path.name.startswith((_TEMPORARY, _FAILED)) and _age(path) > _STALE_SECONDS):
            remove(path)


def _age(path: Path) -> float:
    try:
        return time.time() - path.lstat().st_mtime
    except OSError:
        return 0.0


def _shards(directory: Path) -> list[Path]:
    return [path for path in directory.iterdir() if re.fullmatch("[0-9a-f]{2}", path.name)]


def _entries(shard: Path) -> list[Path]:
    return [path for path in shard.iterdir() if re.fullmatch("[0-9a-f]{64}", path.name)]


def _bytes(shard: Path) -> int:
    total = 0
    for where, _, names in os.walk(shard):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(where, name)).st_size
    return total


@contextlib.contextmanager
def _as_cache_error(path: Path) -> Iterator[None]:
    try:
        yield
    except CacheError:
        raise
    except OSError as error:
        raise CacheError(
            f"cannot write {path}: {error.strerror}; free some space, or set BCASTGEN_CACHE_DIR to another directory"
        ) from error
