"""The manifest of a cache entry, its file ``digest``: whom it was made for, and the digests of its other files.

In: an entry's path.  Out: its :class:`Manifest`, and whether the entry is whole.

    read_manifest(entry).about -> "add (a: f64, b: f64)"

Finding a kernel needs this; `entries` makes entries and removes them.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ...core.frozen import dataclass
from ...core.system_errors import pass_on
from ..toolchain import BINARY
from .files import is_our_directory, read_ours
from .identity import digest, is_digest

__all__ = ["MANIFEST", "Manifest", "entry_of", "header", "is_whole", "lines_of", "read_manifest"]

MANIFEST = "digest"
# The beginnings of the lines with the key, the origin and the description.
_HEADER = ("# bcastgen ", "# origin ", "# about ")


@dataclass(frozen=True, slots=True)
class Manifest:
    """The content of an entry's digest file.

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


def header(key: str, origin: str, about: str) -> str:
    """Return the text of a manifest in front of the files' lines."""
    values = (key, origin, " ".join(about.split()))
    return "".join(f"{start}{value}\n" for start, value in zip(_HEADER, values, strict=True))


def read_manifest(entry: Path) -> Manifest | None:
    """Return an entry's manifest, whether it is true or not; None if it has none."""
    try:
        text = read_ours(entry / MANIFEST).decode()
    except (OSError, ValueError) as error:
        pass_on(error)
        return None
    first = text.split("\n", len(_HEADER))[: len(_HEADER)]
    key, origin, about = (
        line.removeprefix(start) if line.startswith(start) else ""
        for line, start in zip([*first, "", "", ""], _HEADER, strict=False)
    )
    said = header(key, origin, about)
    if key != entry.name or not is_digest(key) or not is_digest(origin) or not text.startswith(said):
        return None
    return Manifest(origin, about, said, text[len(said) :])


def is_whole(entry: Path) -> bool:
    """Return whether an entry is there, complete, unchanged and this user's alone."""
    manifest = read_manifest(entry)
    try:
        return (
            manifest is not None
            and BINARY in manifest.names
            and manifest.lines == lines_of(entry, manifest.names)
            and is_our_directory(entry)
            and is_our_directory(entry.parent)
        )
    except (OSError, ValueError) as error:
        pass_on(error)
        return False


def lines_of(directory: Path, names: Iterable[str]) -> str:
    """Return the line of each file: its digest and its name."""
    return "".join(f"{digest(read_ours(directory / name))}  {name}\n" for name in names)
