"""The cache directory, and the check that no other user can put a kernel there.

In: ``BCASTGEN_CACHE_DIR``, ``XDG_CACHE_HOME``, ``HOME``.  Out: a directory that only this user can write to.

    cache_directory() -> /home/ada/.cache/bcastgen
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from ..core.errors import CacheError
from ..core.forks import undivided

__all__ = ["cache_directory", "is_ours", "make_aside", "remove"]

_PRIVATE: dict[int, Path] = {}


def cache_directory() -> Path:
    """Return the directory of the cache, created if need be.

    It is ``BCASTGEN_CACHE_DIR``, else ``$XDG_CACHE_HOME/bcastgen``, else ``~/.cache/bcastgen``. If the default is not
    writable, it is a private directory that lives as long as this process.

    Raises
    ------
    CacheError
        If the directory is not safe (another user owns or may write it), or ``BCASTGEN_CACHE_DIR`` cannot be used.
    """
    explicit = os.environ.get("BCASTGEN_CACHE_DIR")
    try:
        return _prepared(os.path.expanduser(explicit) if explicit else _default_path())
    except CacheError:
        raise
    except OSError as error:
        if explicit:
            raise CacheError(
                f"the cache directory {explicit} cannot be used: {error.strerror}; "
                "set BCASTGEN_CACHE_DIR to a directory that you can write to"
            ) from error
        return _private_directory(str(error))


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
        # cffi opens libraries by paths that are text.
        raise OSError(errno.EILSEQ, "its path is no text in UTF-8", str(real)) from None
    os.makedirs(path, mode=0o700, exist_ok=True)
    status = real.stat()
    cure = "or set BCASTGEN_CACHE_DIR to a directory of your own"
    if status.st_uid != os.geteuid():
        owners = f"uid {status.st_uid}, not to you (uid {os.geteuid()})"
        raise CacheError(f"the cache directory {real} belongs to {owners}; remove it, {cure}")
    if not is_ours(status):
        mode = f"{stat.S_IMODE(status.st_mode):o}"
        raise CacheError(f"the cache directory {real} is writable by others (mode {mode}); chmod go-w {real}, {cure}")
    if not os.access(real, os.W_OK | os.X_OK):
        raise PermissionError(errno.EACCES, "it is not writable", str(real))
    return real


def _private_directory(reason: str) -> Path:
    """Return a temporary cache for this process; a forked child gets another, since its parent removes this one."""
    owner = os.getpid()
    if owner not in _PRIVATE:
        with undivided:
            import atexit  # noqa: PLC0415 - only where nothing can be kept
            import logging  # noqa: PLC0415 - only where nothing can be kept
            import tempfile  # noqa: PLC0415 - only where nothing can be kept

        directory = _PRIVATE[owner] = Path(tempfile.mkdtemp(prefix="bcastgen-"))
        atexit.register(lambda: remove(directory) if os.getpid() == owner else None)
        logging.getLogger("bcastgen").warning(
            "kernels are not kept beyond this process: %s; set BCASTGEN_CACHE_DIR to a writable directory", reason
        )
    return _PRIVATE[owner]


def is_ours(status: os.stat_result) -> bool:
    """Return whether a file belongs to this user, and no other user may write to it."""
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def remove(path: Path) -> None:
    """Remove a file, a symlink or a tree, if it exists and as far as possible."""
    try:
        is_tree = stat.S_ISDIR(path.lstat().st_mode)
    except OSError:
        return
    if not is_tree:
        path.unlink(missing_ok=True)
        return
    # Imported only here, since there is rarely a tree to remove.
    with undivided:
        import shutil  # noqa: PLC0415 - only where nothing can be kept

    shutil.rmtree(path, ignore_errors=True)


def make_aside(parent: Path, prefix: str) -> Path:
    """Make a directory with a new name, for this user alone: `tempfile.mkdtemp` without its imports."""
    for _ in range(100):
        path = parent / f"{prefix}{os.urandom(6).hex()}"
        try:
            path.mkdir(mode=0o700)
        except FileExistsError:
            continue
        return path
    raise FileExistsError(errno.EEXIST, "there is no new name for a directory", str(parent))
