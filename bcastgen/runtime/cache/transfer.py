"""Takes kernels to another machine of the same kind: a container's image, a continuous-integration cache.

In: an archive's path.  Out: how many entries it got or gave.

    export_to(Path("kernels.tar.gz"))  -> 12
    import_from(Path("kernels.tar.gz")) -> 12

An archive holds programs. Whoever imports one runs what its author compiled.
"""

from __future__ import annotations

import os
import re
import stat
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

from ...core.errors import CacheError
from ...core.system_errors import pass_on
from ..lock import exclusive
from .directory import build_directory, cache_directory
from .entries import LOCK, entries, publish, shards
from .files import TEMPORARY, make_aside, remove
from .manifest import MANIFEST, entry_of, is_whole

__all__ = ["export_to", "import_from"]

_MEMBER = re.compile(r"([0-9a-f]{64})/(\w[\w.-]*)")
# Bounds of what is read: an entry has some files of some hundred kilobytes.
_MOST_FILES, _MOST_BYTES = 16, 1 << 26


def export_to(path: Path) -> int:
    """Write every whole entry into an archive (tar, gzip); return how many there are.

    Raises
    ------
    CacheError
        If the archive cannot be written.
    """
    whole = [entry for shard in shards(cache_directory()) for entry in entries(shard) if is_whole(entry)]
    try:
        with tarfile.open(path, "w:gz", format=tarfile.USTAR_FORMAT) as archive:
            for entry in whole:
                for file in sorted(entry.iterdir()):
                    archive.add(file, f"{entry.name}/{file.name}", recursive=False, filter=_anonymous)
    except OSError as error:
        pass_on(error)
        raise CacheError(f"cannot write {path}: {error.strerror}") from error
    return len(whole)


def _anonymous(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Leave out who made a file."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


def import_from(path: Path) -> int:
    """Take the entries of an archive that are not there yet; return how many these are.

    An entry is taken only if it is whole: its files are those of its digest, and nothing else is written anywhere.

    Raises
    ------
    CacheError
        If the file is no archive of kernels, or the cache cannot be written to.
    """
    directory, taken = build_directory(), 0
    aside = None
    try:
        aside = make_aside(directory, TEMPORARY)
        with tarfile.open(path, _mode(path), tarinfo=_Plain) as archive:
            for key in _unpacked(archive, aside, path):
                taken += _taken(aside / key, entry_of(directory, key), path)
    except (tarfile.TarError, EOFError, ValueError, OverflowError, zlib.error) as error:
        # What tarfile says is a list of what each of its formats lacks.
        why = "is no archive of kernels, or only the beginning of one"
        raise CacheError(f"{path} {why}; give a file that `bcastgen cache export` wrote") from error
    except OSError as error:
        pass_on(error)
        raise CacheError(f"cannot import {path}: {error}") from error
    finally:
        if aside is not None:
            remove(aside)
    return taken


# Members that say something of the next one: tarfile reads them whole, whatever their size, and one within the other.
_OF_THE_NEXT = (
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.GNUTYPE_SPARSE),
)


class _Plain(tarfile.TarInfo):
    """A member of an archive of which no member says something of the next one, as `export_to` writes it."""

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _Plain:
        """Return the member that a header block describes.

        Raises
        ------
        tarfile.ReadError
            If it says something of the next one.
        """
        made = super().frombuf(buf, encoding, errors)
        if made.type in _OF_THE_NEXT:
            raise tarfile.ReadError(f"a header of type {made.type!r}")
        return made


def _mode(path: Path) -> Literal["r:", "r:gz"]:
    """Return how tarfile opens an archive: gzip or none; other kinds of compression may begin with zeros without end.

    Raises
    ------
    CacheError
        If the path leads to no file.
    """
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise CacheError(f"{path} is no file; give one that `bcastgen cache export` wrote")
        return "r:gz" if file.read(2) == b"\x1f\x8b" else "r:"


def _unpacked(archive: tarfile.TarFile, aside: Path, path: Path) -> Iterator[str]:
    """Write the files of one entry after the other; yield its key when the next one begins."""
    key, count = "", 0
    for member in archive:
        name = _MEMBER.fullmatch(member.name)
        if name is None or not member.isreg() or member.size > _MOST_BYTES:
            raise CacheError(f"{path} is no archive of kernels: it holds {member.name!r}; nothing more is taken")
        if name[1] != key:
            if key:
                yield key
            key, count = name[1], 0
            (aside / key).mkdir(mode=0o700)
        count += 1
        content = archive.extractfile(member)
        if count > _MOST_FILES or content is None:
            raise CacheError(f"{path} is no archive of kernels: entry {key} has too many files; nothing more is taken")
        file = aside / key / name[2]
        with open(file, "xb") as out:
            file.chmod(0o600)
            out.write(content.read())
    if key:
        yield key


def _taken(unpacked: Path, entry: Path, path: Path) -> bool:
    """Make an unpacked directory an entry, if there is none of its name yet."""
    shard = unpacked.parent / entry.parent.name
    shard.mkdir(mode=0o700, exist_ok=True)
    moved = unpacked.rename(shard / entry.name)
    names = {file.name for file in moved.iterdir()}
    if not is_whole(moved) or MANIFEST not in names:
        raise CacheError(f"{path} holds a damaged kernel {entry.name[:12]}...; export the cache again")
    entry.parent.mkdir(mode=0o700, exist_ok=True)
    with exclusive(entry.parent / LOCK):
        if is_whole(entry):
            return False
        publish(moved, entry)
    return True
