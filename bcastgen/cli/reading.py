"""How MLIR is read, as the command line says.

In: a command's parser, or what it has read.  Out: flags, or :class:`~..mlir.options.Options`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from ..core.options import Option, options_of
from ..mlir.options import ReadOptions
from .flags import add_flags, flag_values

__all__ = ["add_reading", "read_options"]


def add_reading(parser: argparse.ArgumentParser, there: Iterable[Option] = ()) -> None:
    """Say what reading MLIR takes, wherever it is read, beside the rows whose flags are `there` already."""
    known = tuple(there)
    add_flags(parser, (row for row in options_of(ReadOptions) if row not in known))


def read_options(options: argparse.Namespace) -> ReadOptions:
    """Return how MLIR is read, as the command line says."""
    return ReadOptions(**flag_values(options, options_of(ReadOptions)))
