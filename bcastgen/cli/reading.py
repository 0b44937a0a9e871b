"""The flags of the command line that say how MLIR is read.

In: a command's parser, or what it has read.  Out: flags, or :class:`~..mlir.options.ReadOptions`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from ..core.options import Option, options_of
from ..mlir.options import ReadOptions
from .flags import add_flags, flag_values

__all__ = ["add_reading", "read_options"]


def add_reading(parser: argparse.ArgumentParser, there: Iterable[Option] = ()) -> None:
    """Add the flags for reading MLIR to a parser, except those of rows that are `there` already."""
    known = tuple(there)
    add_flags(parser, (row for row in options_of(ReadOptions) if row not in known))


def read_options(options: argparse.Namespace) -> ReadOptions:
    """Return the options for reading MLIR that the command line gives."""
    return ReadOptions(**flag_values(options, options_of(ReadOptions)))
