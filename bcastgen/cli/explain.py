"""``bcastgen explain``: prints every stage from an expression to C, or writes a page that shows them.

In: an expression, or a file of MLIR.  Out: text or HTML, on stdout or in a file.

    bcastgen explain "(f32[?] a) -> a + 1" --stage nest
    bcastgen explain "(f32[?, 4] a, f32[4] b) -> a * b" --html -o page.html
"""

from __future__ import annotations

import argparse
from difflib import get_close_matches
from pathlib import Path

from ..core.errors import ParseError
from .kernels import EXPRESSION, add_rules, read_kernel

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to its parser."""
    parser.add_argument("expression", help=EXPRESSION)
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--stage",
        metavar="NAME",
        help="print one stage only: expression, typed, nest, constraints, shape, schedule, c, or a rewrite",
    )
    form.add_argument("--html", action="store_true", help="one HTML page: operands drawn, nest and C side by side")
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file instead of stdout")
    add_rules(parser)


def run(options: argparse.Namespace) -> int:
    """Print or write the stages of a kernel, or one of them."""
    kernel = read_kernel(options)
    if options.stage is None:
        return _put(kernel.explain(html=options.html), options.output)
    stages = kernel.stages
    if options.stage not in stages:
        close = get_close_matches(options.stage, stages, 1)
        meant = f"did you mean {close[0]}? " if close else ""
        raise ParseError(f"no stage {options.stage!r}; {meant}the stages are {', '.join(stages)}")
    return _put(stages[options.stage], options.output)


def _put(text: str, file: str | None) -> int:
    if file is None or file == "-":
        print(text)
    else:
        Path(file).write_text(f"{text}\n", encoding="utf-8")
        print(f"wrote {file}")
    return 0
