"""Writes emitted files to disk, each completely or not at all.

In: a :class:`CSource` and a directory.  Out: the paths.

    CSource("axpb", {"axpb.c": ..., "axpb.h": ...})   ->   DIR/axpb.c, DIR/axpb.h
"""

from __future__ import annotations

import os
from pathlib import Path

from ...core.c_source import CSource
from ...core.errors import BcastgenError
from ...core.system_errors import pass_on, system_errors_ignored

__all__ = ["write_sources"]


def write_sources(source: CSource, directory: str | Path) -> tuple[Path, ...]:
    """Write all files of a source under other names, then rename them, so that none is half-written.

    Raises
    ------
    BcastgenError
        If the directory cannot be made or written to; no final file is then changed.
    """
    folder = _folder(directory)
    paths = tuple(folder / name for name in source.files)
    asides = tuple(path.with_name(f".{path.name}.{os.getpid()}") for path in paths)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for aside, text in zip(asides, source.files.values(), strict=True):
            aside.write_text(text, encoding="utf-8")
        for aside, path in zip(asides, paths, strict=True):
            os.replace(aside, path)
    except OSError as error:
        pass_on(error)
        for aside in asides:
            with system_errors_ignored():
                aside.unlink()
        raise BcastgenError(f"cannot write to {folder}: {error.strerror}") from None
    return paths


def _folder(directory: str | Path) -> Path:
    try:
        if b"\0" not in os.fsencode(directory):
            return Path(directory)
    except (TypeError, ValueError):  # no path, or text that the file system cannot hold
        pass
    raise BcastgenError(f"directory={directory!r} is no path; give text, or a Path")
