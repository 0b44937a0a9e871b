"""``bcastgen explain``: prints every stage from an expression to C.

In: an expression, or a file of MLIR.  Out: text on stdout.

    bcastgen explain "(f32[?] a) -> a + 1" --stage nest
"""

from __future__ import annotations

import argparse

from ..core.errors import ParseError
from .kernels import add_rules, read_kernel

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to its parser."""
    parser.add_argument("expression", help='as in "a*b + c", or with types: "(f32[?] a) -> a + 1"; or a .mlir file')
    parser.add_argument("--stage", metavar="NAME", help="print this stage only")
    add_rules(parser)


def run(options: argparse.Namespace) -> int:
    """Print the stages of a kernel, or one of them."""
    kernel = read_kernel(options)
    if options.stage is None:
        print(kernel.explain())
        return 0
    stages = kernel.stages
    if options.stage not in stages:
        raise ParseError(f"no stage {options.stage!r}; the stages are {', '.join(stages)}")
    print(stages[options.stage])
    return 0
