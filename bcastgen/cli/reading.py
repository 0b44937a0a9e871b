"""How MLIR is read, as the command line says.

In: a command's parser, or what it has read.  Out: flags, or :class:`~..mlir.options.Options`.
"""

from __future__ import annotations

import argparse

from ..core.options import options_of
from ..mlir.options import ReadOptions
from .flags import add_flags, flag_values

__all__ = ["add_reading", "read_options"]


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Say what reading MLIR takes, wherever it is read."""
    add_flags(parser, options_of(ReadOptions))


def read_options(options: argparse.Namespace) -> ReadOptions:
    """Return how MLIR is read, as the command line says."""
    return ReadOptions(**flag_values(options, options_of(ReadOptions)))
