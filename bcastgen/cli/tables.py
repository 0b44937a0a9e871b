"""Reads the numbers of .csv files for `bcastgen run`.

In: the file's text, and an operand's name.  Out: an array; else an error that says which line and column, and the cure.

    a,b            read_table("t.csv", text, "b")  ->  array([2., 4.])
    1,2            read_table("t.csv", text, "c")  ->  ParseError: t.csv has no column 'c'; it has 'a, b'
    3,4
"""

from __future__ import annotations

import csv
import warnings
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from ..core.errors import ParseError
from ..core.near_names import did_you_mean
from ..shape.types.cursor import excerpt

__all__ = ["chosen_of", "read_table"]

_SEPARATORS = {";": "semicolons", "\t": "tabs"}


def chosen_of(without: str, name: str, names: Sequence[str]) -> str:
    """Return this name where it is one of those there are, or the only one.

    Raises
    ------
    ParseError
        If it is neither, with the names that there are.
    """
    if name in names or len(names) == 1:
        return name if name in names else names[0]
    held = f"has {excerpt(', '.join(names))}" if names else "holds nothing"
    raise ParseError(f"{without} {name!r}; it {held}{did_you_mean(name, names)}")


def read_table(what: str, text: str, name: str = "") -> Any:
    """Return the column that this name heads; of a file without headings, or for no name, all numbers.

    A first line without numbers is headings; one heading alone may be any text, and what is below it is read.

    Raises
    ------
    ParseError
        If no column has the name, or what is asked for has other things than numbers.
    """
    lines = text.splitlines()
    first = next((at for at, line in enumerate(lines) if line.strip()), 0)
    headings = _headings(lines[first:])
    column = None
    if name and len(headings) > 1:
        if name not in headings:
            _check_separator(what, lines)
        column = headings.index(chosen_of(f"{what} has no column", name, headings))
        if headings.count(name) > 1:
            raise ParseError(f"{what} has {headings.count(name)} columns {name!r}; give each a heading of its own")
    skipped = first + bool(headings)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            return np.loadtxt(lines, delimiter=",", skiprows=skipped, usecols=column, quotechar='"')
    except (ValueError, UserWarning) as error:
        _refuse(what, lines, skipped, headings, column, str(error).splitlines()[0])


def _cells(line: str, separator: str = ",") -> list[str]:
    try:
        found = next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])
    except csv.Error:
        found = line.split(separator)
    return [cell.strip() for cell in found]


def _headings(lines: Sequence[str]) -> list[str]:
    """Return the headings in the first of these lines, none if it has a number."""
    found = _cells(lines[0]) if lines else []
    if not found or any(map(_is_number, found)):
        return []
    if not found[0].startswith("#"):
        return found
    # numpy.savetxt writes headings as a comment; another comment has not as many cells as the line below.
    found[0] = found[0].lstrip("# ")
    return found if len(lines) > 1 and len(_cells(lines[1])) == len(found) else [lines[0]]


def _check_separator(what: str, lines: Sequence[str]) -> None:
    """Refuse a table whose first line has other separators than commas."""
    first = next((line for line in lines if line.strip()), "")
    for mark, marks in _SEPARATORS.items():
        if len(_cells(first, mark)) > 1:
            raise ParseError(f"{what} has {marks} between its cells; write commas, and points in numbers")


def _refuse(
    what: str, lines: Sequence[str], skipped: int, headings: Sequence[str], column: int | None, why: str
) -> NoReturn:
    """Say which line or column is no numbers, and the cure; NumPy's words are for what this does not know."""
    rows = [
        (at, _cells(line))
        for at, line in enumerate(lines[skipped:], skipped + 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    _check_separator(what, lines)
    if not rows:
        raise ParseError(f"{what} is not a table of numbers (it has no rows)")
    width = len(headings) if len(headings) > 1 else len(rows[0][1])
    for at, cells in rows:
        if len(cells) != width and (column is None or column >= len(cells)):
            raise ParseError(
                f"{what} is not a table of numbers (line {at} has {len(cells)} of {width} cells); write them all"
            )
        for place in range(width) if column is None else (column,):
            if not _is_number(cells[place]):
                raise ParseError(_cell_told(what, at, cells[place], place, rows, headings))
    raise ParseError(f"{what} is not a table of numbers ({excerpt(why)})")


def _cell_told(
    what: str, at: int, cell: str, place: int, rows: Sequence[tuple[int, Sequence[str]]], headings: Sequence[str]
) -> str:
    """Return what is said of a cell that is no number."""
    named = len(headings) > 1
    column = f"column {headings[place]!r}" if named else f"column {place + 1}"
    if not cell:
        return f"{what}: {column} has no number in line {at}, and kernels know no missing values; write one, or nan"
    told = f"{what} is not a table of numbers: {column} has {excerpt(cell)} in line {at}"
    if not named:
        return f"{told}; leave the column out, or head each column by an operand's name"
    numbers = [
        heading
        for number, heading in enumerate(headings)
        if all(number < len(cells) and _is_number(cells[number]) for _, cells in rows)
    ]
    return (
        f"{told}; {'columns of numbers: ' + excerpt(', '.join(numbers)) if numbers else 'no column has numbers only'}"
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
