"""The cache directory, and the check that no other user can put a kernel there.

In: ``BCASTGEN_CACHE_DIR``, ``XDG_CACHE_HOME``, ``HOME``.  Out: a directory that only this user can write to.

    cache_directory()  -> /home/ada/.cache/bcastgen
    build_directory()  -> the same; or, where nothing can be written, a private one for as long as this process lives
"""

from __future__ import annotations

import errno
import os
import stat
import warnings
from collections.abc import Iterator
from pathlib import Path

from ...core.errors import CacheWarning
from ...core.forks import undivided
from ...core.system_errors import pass_on
from .files import is_ours, remove

__all__ = ["build_directory", "cache_directory", "own_directory", "private_directory"]

_PRIVATE: dict[int, Path] = {}
_CURE = "set BCASTGEN_CACHE_DIR to a directory of your own that you can write to and run programs from"


def cache_directory() -> Path:
    """Return the directory where kernels are looked for, created if need be.

    It is ``BCASTGEN_CACHE_DIR``, else ``$XDG_CACHE_HOME/bcastgen``, else ``~/.cache/bcastgen``. If that is not safe
    (another user owns or may write it), cannot be made or read, or no program can be run from it, it is a private
    directory that lives as long as this process, and a warning says so once.

    Warns
    -----
    CacheWarning
        If it is private.
    """
    explicit = os.environ.get("BCASTGEN_CACHE_DIR")
    try:
        return _prepared(os.path.expanduser(explicit) if explicit else _default_path())
    except OSError as error:
        pass_on(error)
        place = "the cache directory" if error.filename is None else f"the cache directory {error.filename}"
        return private_directory(f"{place} cannot be used: {error.strerror}")


def build_directory() -> Path:
    """Return the directory where kernels are built: where they are looked for, if it can be written to.

    Warns
    -----
    CacheWarning
        If it is a private one.
    """
    directory = cache_directory()
    if os.access(directory, os.W_OK | os.X_OK):
        return directory
    return private_directory(f"the cache directory {directory} is not writable")


def private_directory(reason: str) -> Path:
    """Return a temporary cache for this process; a forked child gets another, since its parent removes this one.

    Parameters
    ----------
    reason : why there is no other, for the warning that the first call gives.
    """
    owner = os.getpid()
    if owner not in _PRIVATE:
        with undivided:
            import atexit  # noqa: PLC0415 - only where nothing can be kept
            import tempfile  # noqa: PLC0415 - only where nothing can be kept

        place = next(_places(tempfile.gettempdir()), None)
        directory = _PRIVATE[owner] = Path(tempfile.mkdtemp(prefix="bcastgen-", dir=place))
        atexit.register(lambda: remove(directory) if os.getpid() == owner else None)
        warnings.warn(f"kernels are not kept beyond this process, since {reason}; {_CURE}", CacheWarning, stacklevel=2)
    return _PRIVATE[owner]


def own_directory() -> tuple[Path, ...]:
    """Return the private directory of this process, if it has one."""
    return tuple(directory for owner, directory in _PRIVATE.items() if owner == os.getpid())


def _places(usual: str) -> Iterator[str]:
    """Yield where a temporary directory may lie that can be written to and that programs can be run from."""
    for place in (usual, os.environ.get("XDG_RUNTIME_DIR"), "/dev/shm", "/var/tmp"):
        if place and os.access(place, os.W_OK | os.X_OK) and not _forbids_programs(place):
            yield place


def _default_path() -> str:
    # The XDG specification says to ignore a relative path.
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.expanduser("~/.cache")
    if not os.path.isabs(base):
        raise FileNotFoundError(errno.ENOENT, "there is no home directory")
    return os.path.join(base, "bcastgen")


def _prepared(path: str) -> Path:
    """Create a cache directory and check that no other user can put a binary into it."""
    real = Path(os.path.realpath(path))
    try:
        str(real).encode()
    except UnicodeEncodeError:
        # Libraries are opened by paths that are text in UTF-8.
        raise OSError(errno.EILSEQ, "its path is no text in UTF-8", ascii(str(real))) from None
    if not real.is_dir():
        try:
            os.makedirs(path, mode=0o700, exist_ok=True)
        except RecursionError:
            raise OSError(errno.ENAMETOOLONG, "its path has too many parts", str(real)) from None
    status = real.stat()
    if status.st_uid != os.geteuid():
        owners = f"it belongs to uid {status.st_uid}, not to you (uid {os.geteuid()})"
        raise PermissionError(errno.EPERM, owners, str(real))
    if not is_ours(status):
        mode = f"{stat.S_IMODE(status.st_mode):o}"
        raise PermissionError(errno.EPERM, f"it is writable by others (mode {mode}); chmod go-w {real}", str(real))
    if not os.access(real, os.R_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "it is not readable", str(real))
    if _forbids_programs(real):
        raise PermissionError(errno.EACCES, "its file system is mounted noexec", str(real))
    return real


def _forbids_programs(path: str | Path) -> bool:
    """Return whether shared objects there cannot be loaded."""
    noexec = getattr(os, "ST_NOEXEC", 0)
    return bool(noexec and os.statvfs(path).f_flag & noexec)
