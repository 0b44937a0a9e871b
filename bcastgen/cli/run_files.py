"""The files of `bcastgen run`: arrays that it reads, and results that it writes.

In: paths.  Out: arrays; files that are either complete or absent.

    load_array("a.npy") -> array([1., 2.])        save_results({"r": array}, (Path("r.npy"),))
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..core.dtypes import BF16
from ..core.errors import ParseError
from ..shape.types.cursor import excerpt

__all__ = ["load_array", "result_files", "save_results"]


def load_array(path: str) -> Any:
    """Return the array of a .npy file.

    Raises
    ------
    ParseError
        If the file is no .npy file of numbers.
    """
    try:
        with open(path, "rb") as file:
            array = np.load(file, allow_pickle=False)
            names = None if isinstance(array, np.ndarray) else ", ".join(array.files)
    except OSError:
        raise
    except Exception as error:
        # NumPy's reader raises many kinds of errors: for syntax, archives, sizes.
        why = (str(error) or type(error).__name__).splitlines()[0]
        raise ParseError(f"{path} is not a .npy file of numbers ({why})") from None
    if names is not None:
        raise ParseError(f"{path} is an archive ({excerpt(names)}), not a .npy file; save the array alone")
    # A .npy file that numpy.save writes of bf16 says only that an element has two bytes.
    return array.view(BF16.np) if array.dtype == "V2" else array


def result_files(given: Sequence[str], results: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the files that results go to: one .npy per result, or one .npz for all.

    Raises
    ------
    ParseError
        If there are not as many files as results.
    """
    files = tuple(map(Path, given))
    archive = len(files) == 1 and files[0].suffix == ".npz"
    if files and not archive and len(files) != len(results):
        what = f"{len(results)} result{'s' * (len(results) > 1)} ({', '.join(results)})"
        raise ParseError(f"the expression has {what}, --out {len(files)}; give one .npy for each, or one .npz for all")
    if len({file.absolute() for file in files}) != len(files):
        raise ParseError("--out names a file twice; give each result one of its own")
    return files


def save_results(results: Mapping[str, Any], files: Sequence[Path]) -> list[str]:
    """Write all files completely or none; return one line per file that describes its contents."""
    kinds = [f"{result.dtype}{list(result.shape)}" for result in results.values()]
    held: list[Mapping[str, Any]] = [{name: result} for name, result in results.items()]
    if files[0].suffix == ".npz":
        kinds, held = [", ".join(map(" ".join, zip(results, kinds, strict=True)))], [results]
    asides = [path.with_name(f".{path.name}.{os.getpid()}") for path in files]
    try:
        for path, aside, one in zip(files, asides, held, strict=True):
            try:
                with aside.open("wb") as file:
                    _write(file, path, one)
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(path)) from None
        for path, aside in zip(files, asides, strict=True):
            os.replace(aside, path)
    finally:
        for aside in asides:
            aside.unlink(missing_ok=True)
    return [f"wrote {path}: {kind}" for path, kind in zip(files, kinds, strict=True)]


def _write(file: IO[bytes], path: Path, arrays: Mapping[str, Any]) -> None:
    if path.suffix == ".npz":
        np.savez(file, allow_pickle=False, **arrays)
        return
    (array,) = arrays.values()
    np.save(file, array, allow_pickle=False)
