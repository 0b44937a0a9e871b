"""Files of the cache: read only if no other user can have written them, written so that they are never half there.

In: paths.  Out: bytes, new directories, trees removed.

    read_ours(entry / "digest") -> b"# bcastgen 3f9a..."
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from ...core.forks import undivided
from ...core.system_errors import pass_on

__all__ = ["TEMPORARY", "is_our_directory", "is_ours", "make_aside", "read_ours", "remove", "write_whole"]

TEMPORARY = "tmp."


def is_ours(status: os.stat_result) -> bool:
    """Return whether a file belongs to this user, and no other user may write to it."""
    return status.st_uid == os.geteuid() and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def is_our_directory(path: Path) -> bool:
    """Return whether a path is a directory, and no link to one, that only this user can write to.

    Raises
    ------
    OSError
        If there is nothing.
    """
    status = path.lstat()
    return stat.S_ISDIR(status.st_mode) and is_ours(status)


# A file of the cache has some hundred kilobytes.
_MOST_BYTES = 1 << 28


def read_ours(path: Path) -> bytes:
    """Read a file; refuse symlinks, irregular files, and files that another user may write to.

    Raises
    ------
    OSError
        If it is none of this user's, or cannot be read.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with open(descriptor, "rb") as file:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or not is_ours(status):
            raise PermissionError(errno.EPERM, "not a regular file of this user's alone", str(path))
        if status.st_size > _MOST_BYTES:
            raise OSError(errno.EFBIG, "larger than what the cache writes", str(path))
        return file.read(_MOST_BYTES)


def write_whole(path: Path, text: str) -> None:
    """Write a small file under another name, then rename it, so that it is never half-written."""
    aside = path.with_name(f"{TEMPORARY}{path.name}.{os.getpid()}")
    aside.write_text(text, encoding="utf-8")
    aside.chmod(0o600)
    os.replace(aside, path)


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


def remove(path: Path) -> None:
    """Remove a file, a symlink or a tree, if it exists and as far as possible."""
    try:
        is_tree = stat.S_ISDIR(path.lstat().st_mode)
    except OSError as error:
        pass_on(error)
        return
    if not is_tree:
        path.unlink(missing_ok=True)
        return
    # Imported only here, since there is rarely a tree to remove.
    with undivided:
        import shutil  # noqa: PLC0415 - only where nothing can be kept

    shutil.rmtree(path, ignore_errors=True)
