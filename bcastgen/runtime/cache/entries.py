"""An entry of the cache: a directory of a source, its shared object, and a digest of both.

In: an entry's path; to make one, a source and the compiler.  Out: whether it is whole; an entry published by a rename.

    read_manifest(entry).about -> "add (a: f64, b: f64)"
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from ...core.c_source import CSource
from ...core.errors import CompileError
from ...core.frozen import dataclass
from ..toolchain import BINARY, Toolchain, compile_source
from .files import TEMPORARY, is_our_directory, make_aside, read_ours, remove
from .identity import digest

__all__ = [
    "FAILED",
    "LOCK",
    "MANIFEST",
    "Manifest",
    "compiled_aside",
    "discard",
    "entries",
    "entry_of",
    "is_whole",
    "publish",
    "read_manifest",
    "shards",
    "sweep",
]

MANIFEST = "digest"
LOCK = "lock"
FAILED = "failed."
_STALE_SECONDS = 6 * 3600
_HEADER = re.compile(r"# bcastgen ([0-9a-f]{64})\n# origin ([0-9a-f]{64})\n# about ([^\n]*)\n")


@dataclass(frozen=True, slots=True)
class Manifest:
    """What the digest file of an entry says.

    Attributes
    ----------
    origin : digest of the package, the compiler and the CPU that it was made by and for.
    about : the kernel's name and the types of its operands, for people.
    header, lines : its text: the lines about all this, and those of the files.
    """

    origin: str
    about: str
    header: str
    lines: str

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the entry's files."""
        return tuple(line.partition("  ")[2] for line in self.lines.splitlines())


def entry_of(directory: Path, key: str) -> Path:
    """Return where the entry of a key lies, or would."""
    return directory / key[:2] / key


def read_manifest(entry: Path) -> Manifest | None:
    """Return what an entry says of itself, whether it is true or not; None if it says nothing."""
    try:
        text = read_ours(entry / MANIFEST).decode()
    except (OSError, ValueError):
        return None
    header = _HEADER.match(text)
    if header is None or header[1] != entry.name:
        return None
    return Manifest(header[2], header[3], header[0], text[header.end() :])


def is_whole(entry: Path) -> bool:
    """Return whether an entry is there, complete, unchanged and this user's alone."""
    manifest = read_manifest(entry)
    try:
        return (
            manifest is not None
            and BINARY in manifest.names
            and manifest.lines == _lines(entry, manifest.names)
            and is_our_directory(entry)
            and is_our_directory(entry.parent)
        )
    except (OSError, ValueError):
        return False


def _lines(directory: Path, names: Iterable[str]) -> str:
    return "".join(f"{digest(read_ours(directory / name))}  {name}\n" for name in names)


@contextlib.contextmanager
def compiled_aside(entry: Path, source: CSource, tools: Toolchain, about: str, made_by: str) -> Iterator[Path]:
    """Compile a source beside its entry; yield the directory that :func:`publish` makes the entry.

    Raises
    ------
    CompileError
        If the compiler fails; the source is kept, and the message says where.
    OSError
        If it cannot be written.
    """
    aside = make_aside(entry.parent, TEMPORARY)
    failed = entry.with_name(FAILED + entry.name)
    remove(failed)
    try:
        compile_source(source, aside, tools)
        names = (*source.files, BINARY)
        for name in names:
            (aside / name).chmod(0o600)
        header = f"# bcastgen {entry.name}\n# origin {made_by}\n# about {' '.join(about.split())}\n"
        (aside / MANIFEST).write_text(header + _lines(aside, names), encoding="utf-8")
        (aside / MANIFEST).chmod(0o600)
        yield aside
    except CompileError as error:
        if not aside.exists():
            raise FileNotFoundError(2, "it was removed during a build", str(aside)) from error
        with contextlib.suppress(OSError):
            os.rename(aside, failed)
        # The message has the paths of the directory that has just been renamed.
        raise type(error)(str(error).replace(str(aside), str(failed))) from None
    finally:
        remove(aside)


def publish(aside: Path, entry: Path) -> None:
    """Give a finished directory its entry's name.

    Raises
    ------
    OSError
        If it cannot be renamed.
    """
    try:
        os.rename(aside, entry)
    except OSError:
        # A broken entry is in the way; or, on a file system without locks, another builder was first.
        if is_whole(entry):
            return
        if not discard(entry):
            raise
        os.rename(aside, entry)


def discard(entry: Path) -> bool:
    """Rename an entry, so that it vanishes at once, then remove it; return False if there was none."""
    aside = make_aside(entry.parent, TEMPORARY)
    try:
        os.rename(entry, aside / entry.name)
    except FileNotFoundError:
        return False
    finally:
        remove(aside)
    return True


def sweep(shard: Path, alone: bool, failed_too: bool = False) -> None:
    """Remove the remains of killed builds; with the lock (`alone`), no other build of this shard can be alive."""
    for path in shard.iterdir():
        mine = (alone and path.name.startswith(TEMPORARY)) or (failed_too and path.name.startswith(FAILED))
        if mine or (path.name.startswith((TEMPORARY, FAILED)) and _age(path) > _STALE_SECONDS):
            remove(path)


def _age(path: Path) -> float:
    try:
        return time.time() - path.lstat().st_mtime
    except OSError:
        return 0.0


def shards(directory: Path) -> Iterator[Path]:
    """Yield what is named as the directories of entries are, whatever it is."""
    for path in sorted(directory.iterdir()):
        if re.fullmatch("[0-9a-f]{2}", path.name):
            yield path


def entries(shard: Path) -> list[Path]:
    """Return what is named as entries are in a directory of this user's; nothing of any other."""
    try:
        if is_our_directory(shard):
            return sorted(path for path in shard.iterdir() if re.fullmatch("[0-9a-f]{64}", path.name))
    except FileNotFoundError:
        pass
    return []
