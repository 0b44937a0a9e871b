"""Kernels as commands are given them: an expression, or a function of a file of MLIR.

In: a command line that has been read.  Out: a :class:`Kernel`.

    "a*b + c"  or  "(f32[?] a) -> a + 1"  or  model.mlir --function f
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..api.functions import from_text
from ..core.errors import ParseError
from .reading import add_reading

if TYPE_CHECKING:
    from ..kernel.kernel import Kernel

__all__ = ["add_rules", "is_mlir", "read_kernel", "read_kernels"]


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Say what a command takes beside an expression or a file: how dims meet, and how MLIR is read."""
    # Not "trusted": what is undefined behaviour if it is wrong is asked for in code.
    parser.add_argument("--dynamic", choices=("numpy", "strict"), default="numpy", help="how unknown dims broadcast")
    parser.add_argument("--no-stretch", action="store_true", help="an extent of 1 meets no other")
    parser.add_argument("--no-rank-expansion", action="store_true", help="operands have as many dims as the result")
    parser.add_argument("--function", metavar="NAME", help="of a .mlir file")
    add_reading(parser)


def is_mlir(options: argparse.Namespace) -> bool:
    """Tell whether a command is given a file of MLIR."""
    return str(options.expression).endswith(".mlir")


def read_kernel(options: argparse.Namespace) -> Kernel:
    """Return the kernel of a command."""
    if is_mlir(options):
        _check_rules(options)
        from . import mlir_files  # noqa: PLC0415 - an expression does not wait for what reads MLIR

        return mlir_files.read_kernel(options)
    if options.function is not None:
        raise ParseError(f"--function {options.function!r} is for .mlir files")
    return from_text(
        options.expression,
        getattr(options, "name", None) or "kernel",
        getattr(options, "variants", None),
        dynamic=options.dynamic,
        rank_expansion=not options.no_rank_expansion,
        stretch=not options.no_stretch,
    )


def read_kernels(options: argparse.Namespace) -> tuple[Kernel, ...]:
    """Return the kernels of all functions of a file of MLIR."""
    _check_rules(options)
    from . import mlir_files  # noqa: PLC0415 - an expression does not wait for what reads MLIR

    return mlir_files.read_kernels(options)


def _check_rules(options: argparse.Namespace) -> None:
    """Refuse switches that say of an expression what MLIR's types say of a module."""
    if options.dynamic != "numpy" or options.no_stretch or options.no_rank_expansion:
        raise ParseError("--dynamic, --no-stretch and --no-rank-expansion are for expressions, not for .mlir files")
