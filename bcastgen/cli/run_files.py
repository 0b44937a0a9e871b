"""The files of `bcastgen run`: arrays that it reads, and results that it writes.

In: paths.  Out: arrays; files that are either complete or absent.

    load_array("a.npy") -> array([1., 2.])        save_results({"r": array}, (Path("r.npy"),))
"""

from __future__ import annotations

import contextlib
import io
import os
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..core.dtypes import BF16
from ..core.errors import ParseError
from ..shape.types.cursor import excerpt

__all__ = ["load_array", "result_files", "save_results"]


def load_array(path: str, name: str = "") -> Any:
    """Return the array of a .npy or .csv file, or of an .npz archive the one of this name, or its only one.

    A .csv file has numbers, and may have one line of headings; a .parquet file gives its column of this name, or its
    only one; ``-`` is a .npy file on stdin.

    Raises
    ------
    ParseError
        If there is no array of numbers.
    """
    if path.endswith(".csv"):
        return _table(path)
    if path.endswith(".parquet"):
        return _column(path, name)
    try:
        with contextlib.nullcontext(io.BytesIO(sys.stdin.buffer.read())) if path == "-" else open(path, "rb") as file:
            array = np.load(file, allow_pickle=False)
            if not isinstance(array, np.ndarray):
                array = _member(path, name, array)
    except (OSError, ParseError):
        raise
    except Exception as error:
        # NumPy's reader raises many kinds of errors: for syntax, archives, sizes.
        why = (str(error) or type(error).__name__).splitlines()[0]
        raise ParseError(f"{_shown(path)} is not a .npy file of numbers ({why})") from None
    # A .npy file that numpy.save writes of bf16 says only that an element has two bytes.
    return array.view(BF16.np) if array.dtype == "V2" else array


def _shown(path: str) -> str:
    return "what is on stdin" if path == "-" else path


def _member(path: str, name: str, archive: Any) -> Any:
    return archive[_chosen(f"{_shown(path)} is an archive without an array", name, archive.files)]


def _chosen(without: str, name: str, names: Sequence[str]) -> str:
    """Return this name where it is one of those there are, or the only one."""
    if name in names or len(names) == 1:
        return name if name in names else names[0]
    held = f"has {excerpt(', '.join(names))}" if names else "holds nothing"
    raise ParseError(f"{without} {name!r}; it {held}")


def _column(path: str, name: str) -> Any:
    """Return a column of a .parquet file."""
    with open(path, "rb") as file:
        try:
            from pyarrow import ArrowException, parquet  # noqa: PLC0415 - only these files need it
        except ImportError:
            raise ParseError(
                f"{path} needs pyarrow, which is not installed; install it (pip install pyarrow)"
            ) from None
        try:
            opened = parquet.ParquetFile(file)
            chosen = _chosen(f"{path} has no column", name, opened.schema_arrow.names)
            column = opened.read([chosen])[chosen]
        except (ArrowException, OSError) as error:
            why = (str(error) or type(error).__name__).splitlines()[0]
            raise ParseError(f"{path} is not a .parquet file ({excerpt(why)})") from None
    if column.null_count:
        raise ParseError(
            f"{path}: column {chosen!r} has {column.null_count} nulls, which no kernel reads; fill them first"
        )
    return column.to_numpy()


def _table(path: str) -> Any:
    """Return the numbers of a .csv file; a first line without any number is its headings."""
    lines = Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    headings = bool(lines) and not any(map(_is_number, lines[0].split(",")))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return np.loadtxt(lines, delimiter=",", skiprows=int(headings))
    except (ValueError, UserWarning) as error:
        why = str(error).splitlines()[0]
        raise ParseError(f"{path} is not a table of numbers ({excerpt(why)})") from None


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


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
    if str(files[0]) == "-":
        # NumPy before 2.1 asks a stream for its position, which a pipe has not.
        held_back = io.BytesIO()
        _write(held_back, files[0], held[0])
        sys.stdout.buffer.write(held_back.getbuffer())
        sys.stdout.flush()
        return []
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
