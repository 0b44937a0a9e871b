"""How MLIR is read, as the command line says.

In: a command's parser, or what it has read.  Out: flags, or :class:`~..mlir.options.Options`.
"""

from __future__ import annotations

import argparse

from ..mlir.options import Options

__all__ = ["add_reading", "read_options"]


def add_reading(parser: argparse.ArgumentParser) -> None:
    """Say what reading MLIR takes, wherever it is read."""
    parser.add_argument("--rank-expansion", action="store_true", help="in MLIR: operands may have fewer dims")
    parser.add_argument("--strict-types", action="store_true", help="in MLIR: element types of TOSA's tables only")


def read_options(options: argparse.Namespace) -> Options:
    """Return how MLIR is read, as the command line says."""
    return Options(options.rank_expansion, options.strict_types)
