"""Makes flags of the command line from rows of options.

In: rows.  Out: flags that a parser takes; the values that a command line gives, by the rows' names.

    rank_expansion, on by default   ->   --no-rank-expansion        build, of parts   ->   --cmake --meson ...
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from typing import Any

from ..core.options import Option

__all__ = ["add_flags", "flag_names", "flag_values", "typed_flags"]


def flag_names(row: Option) -> tuple[str, ...]:
    """Return the flags of an option, as they are typed.

    Examples
    --------
    >>> flag_names(Option("stretch", True, "...")), flag_names(Option("static", False, "...", flag=None))
    (('--no-stretch',), ())
    """
    word = row.name.replace("_", "-")
    if row.flag is None:
        return ()
    if row.parts is not None:
        return tuple(f"--{part}" for part in row.parts)
    if row.default is True:
        return (f"--no-{word}",)
    return (f"--{word}",)


def add_flags(parser: argparse.ArgumentParser, rows: Iterable[Option]) -> None:
    """Add the flags of options to a parser."""
    for row in rows:
        if row.flag is None:
            continue
        text, names = row.flag or row.doc.rstrip("."), flag_names(row)
        if row.parts is not None:
            for name, what in zip(names, row.parts.values(), strict=True):
                parser.add_argument(name, action="store_true", help=what)
        elif isinstance(row.default, bool):
            parser.add_argument(*names, action="store_true", help=text)
        else:
            kind = _several if row.several else str if row.least is None else int
            choices = row.offered or row.choices or None
            parser.add_argument(*names, type=kind, default=row.default, choices=choices, metavar=row.metavar, help=text)


def flag_values(options: argparse.Namespace, rows: Iterable[Option]) -> dict[str, Any]:
    """Return the value that a command line gives each option that has a flag."""
    found: dict[str, Any] = {}
    for row in rows:
        if row.flag is None:
            continue
        if row.parts is not None:
            found[row.name] = tuple(part for part in row.parts if getattr(options, part))
        elif row.default is True:
            found[row.name] = not getattr(options, f"no_{row.name}")
        else:
            found[row.name] = getattr(options, row.name)
    return found


def typed_flags(options: argparse.Namespace, rows: Iterable[Option]) -> list[str]:
    """Return the words of a command line that give options their values, where these are not the defaults."""
    words: list[str] = []
    for row in rows:
        if row.flag is None:
            continue
        if row.parts is not None:
            words += [f"--{part}" for part in row.parts if getattr(options, part)]
            continue
        (name,) = flag_names(row)
        value = getattr(options, name.removeprefix("--").replace("-", "_"))
        if isinstance(row.default, bool):
            words += [name] if value else []
        elif value != row.default:
            words += [name, ",".join(value) if row.several else str(value)]
    return words


def _several(text: str) -> tuple[str, ...]:
    """Return the names in a text with commas between them."""
    return tuple(name.strip() for name in text.split(","))
