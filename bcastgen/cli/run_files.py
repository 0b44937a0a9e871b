"""The files of `bcastgen run`: arrays that it reads, and results that it writes.

In: paths.  Out: arrays; files that are either complete or absent.

    load_array("a.npy") -> array([1., 2.])        save_results({"r": array}, (Path("r.npy"),))
"""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..core.dtypes import BF16
from ..core.errors import ParseError
from ..shape.types.cursor import excerpt
from .tables import chosen_of, read_table

__all__ = ["load_array", "result_files", "save_results"]


# What files of other kinds begin with, and what to do with them.
_OTHERS = {
    b"\x89HDF": "an HDF5 file; read the array, write it by numpy.save, and give that file",
    b"\x80": "a pickle, which may run programs; write the array by numpy.save, and give that file",
}
# The bytes at a file's beginning that say what it is; and the longest header that NumPy takes.
_HEAD, _MOST_HEADER = 12, 10_000
# The longest table of text: a name may lead to a device that never ends.
_MOST_TEXT = 1 << 30
# Results are not written as these, though `load_array` reads some of them.
_NOT_WRITTEN = (".csv", ".tsv", ".txt", ".parquet", ".h5", ".hdf5", ".zarr", ".json", ".pkl")


def load_array(path: str, name: str = "") -> Any:
    """Return the array of a .npy file, or of an .npz, .csv or .parquet file the array or column of this name.

    An archive or a .parquet file of one array gives that one, whatever its name. A .csv file without headings gives
    the table of all its numbers. ``-`` is any of these on stdin, and a path may lead to a pipe.

    Raises
    ------
    ParseError
        If there is no array of numbers.
    """
    what = "what is on stdin" if path == "-" else path
    with contextlib.nullcontext(sys.stdin.buffer) if path == "-" else open(path, "rb") as stream:
        # Readers of archives go back and forth, which a pipe cannot, and no name says what comes out of one.
        piped = path == "-" or not stream.seekable()
        file: IO[bytes] = io.BytesIO(stream.read()) if piped else stream
        head = file.read(_HEAD)
        file.seek(0)
        if path.endswith(".csv") or (piped and _is_text(head)):
            # What Excel writes begins with a mark that utf-8-sig knows.
            text = file.read(_MOST_TEXT + 1)
            if len(text) > _MOST_TEXT:
                raise ParseError(f"{what} has more than {_MOST_TEXT} bytes; write the numbers by numpy.save")
            return read_table(what, text.decode("utf-8-sig", errors="replace"), name)
        if path.endswith(".parquet") or head.startswith(b"PAR1"):
            return _column(what, file, name)
        return _array(what, file, head, name)


def _is_text(head: bytes) -> bool:
    """Return whether bytes that a file begins with are text; the last character may be cut."""
    try:
        text = codecs.getincrementaldecoder("utf-8-sig")().decode(head)
    except UnicodeDecodeError:
        return False
    return head != b"" and all(each.isprintable() or each.isspace() for each in text)


def _array(what: str, file: IO[bytes], head: bytes, name: str) -> Any:
    """Return the array of a .npy file or an .npz archive, of which the first bytes are given."""
    try:
        if not head.startswith((b"\x93NUMPY", b"PK")):
            kind = next((kind for begin, kind in _OTHERS.items() if head.startswith(begin)), None)
            raise ParseError(f"{what} is not a .npy file of numbers" if kind is None else f"{what} is {kind}")
        _check_header(what, head)
        array = np.load(file, allow_pickle=False)
        if not isinstance(array, np.ndarray):
            chosen = chosen_of(f"{what} is an archive without an array", name, array.files)
            member = next(each for each in (f"{chosen}.npy", chosen) if each in array.zip.namelist())
            with array.zip.open(member) as opened:
                _check_header(f"{chosen!r} in {what}", opened.read(_HEAD))
            array = array[chosen]
    except (OSError, ParseError):
        raise
    except Exception as error:
        # NumPy's reader raises many kinds of errors: for syntax, archives, sizes, Python objects.
        told = (str(error) or type(error).__name__).splitlines()[0]
        why = "it has Python objects" if "allow_pickle" in told else told
        raise ParseError(f"{what} is not a .npy file of numbers ({why})") from None
    # A .npy file that numpy.save writes of bf16 says only that an element has two bytes.
    return array.view(BF16.np) if array.dtype == "V2" else array


def _check_header(what: str, head: bytes) -> None:
    """Refuse what is no array, or says that its header is longer than NumPy takes, which it reads as a whole first."""
    if head.startswith(b"PK"):
        return
    if not head.startswith(b"\x93NUMPY"):
        raise ParseError(f"{what} is no array; give an archive that numpy.savez wrote")
    length = int.from_bytes(head[8 : 10 if head[6:7] == b"\x01" else 12], "little")
    if length > _MOST_HEADER:
        raise ParseError(f"{what} is not a .npy file of numbers (its header has {length} bytes)")


def _column(what: str, file: IO[bytes], name: str) -> Any:
    """Return a column of a .parquet file."""
    try:
        from pyarrow import ArrowException, parquet  # noqa: PLC0415 - only these files need it
    except ImportError:
        raise ParseError(f"{what} needs pyarrow, which is not installed; install it (pip install pyarrow)") from None
    try:
        opened = parquet.ParquetFile(file)
        chosen = chosen_of(f"{what} has no column", name, opened.schema_arrow.names)
        column = opened.read([chosen])[chosen]
    except (ArrowException, OSError) as error:
        why = (str(error) or type(error).__name__).splitlines()[0]
        raise ParseError(f"{what} is not a .parquet file ({excerpt(why)})") from None
    if column.null_count:
        raise ParseError(
            f"{what}: column {chosen!r} has {column.null_count} nulls, which no kernel reads; fill them first"
        )
    return column.to_numpy()


def result_files(given: Sequence[str], results: tuple[str, ...]) -> tuple[Path, ...]:
    """Return the files that results go to: one .npy per result, or one .npz for all.

    Raises
    ------
    ParseError
        If there are not as many files as results, or one is to be of another kind.
    """
    files = tuple(map(Path, given))
    other = next((file for file in files if file.suffix.lower() in _NOT_WRITTEN), None)
    if other is not None:
        raise ParseError(f"--out {other}: results are written as .npy or .npz; write {other.with_suffix('.npy')}")
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
        sys.stdout.buffer.write(_in_memory(files[0], held[0]))
        sys.stdout.flush()
        return []
    # A link leads to the file that is replaced; what is there and no file, such as a device, is written to.
    reals = [Path(os.path.realpath(path)) for path in files]
    asides = {
        real: real.with_name(f".{real.name}.{os.getpid()}") for real in reals if real.is_file() or not real.exists()
    }
    try:
        for path, real, one in zip(files, reals, held, strict=True):
            if real in asides:
                with _named_errors(path), asides[real].open("wb") as file:
                    _write(file, path, one)
        for path, real, one in zip(files, reals, held, strict=True):
            with _named_errors(path):
                if real in asides:
                    os.replace(asides[real], real)
                else:
                    real.write_bytes(_in_memory(path, one))
    finally:
        for aside in asides.values():
            aside.unlink(missing_ok=True)
    return [f"wrote {path}: {kind}" for path, kind in zip(files, kinds, strict=True)]


@contextlib.contextmanager
def _named_errors(path: Path) -> Iterator[None]:
    """Raise errors of the system with the path that the user gave."""
    try:
        yield
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def _in_memory(path: Path, arrays: Mapping[str, Any]) -> bytes:
    """Return what a file holds; NumPy before 2.1 asks a stream for its position, which a pipe has not."""
    file = io.BytesIO()
    _write(file, path, arrays)
    # No copy; and no view, which a traceback may hold for longer than the file.
    return file.getvalue()


def _write(file: IO[bytes], path: Path, arrays: Mapping[str, Any]) -> None:
    if path.suffix == ".npz":
        np.savez(file, allow_pickle=False, **arrays)
        return
    (array,) = arrays.values()
    np.save(file, array, allow_pickle=False)
