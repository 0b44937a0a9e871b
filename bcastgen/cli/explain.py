"""``bcastgen explain``: prints every stage from an expression to C, or writes a page that shows them.

In: an expression, or a file of MLIR.  Out: text or HTML, on stdout or in a file.

    bcastgen explain "(f32[?] a) -> a + 1" --stage nest
    bcastgen explain "(f32[?, 4] a, f32[4] b) -> a * b" --html -o page.html --shape a=1000000x4
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.errors import ParseError
from ..core.resources import bench_module
from ..pipeline.stages import STAGES
from .kernels import EXPRESSION, add_rules, read_kernel

if TYPE_CHECKING:
    from ..kernel.kernel import Kernel

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to its parser."""
    parser.add_argument("expression", help=EXPRESSION)
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--stage",
        metavar="NAME",
        help=f"print one stage only: {', '.join(STAGES)}, or a rewrite",
    )
    form.add_argument("--html", action="store_true", help="one HTML page: operands drawn, nest and C side by side")
    several: dict[str, Any] = {"action": "extend", "nargs": "+", "default": []}
    parser.add_argument(
        "--shape", metavar="NAME=NxM", help="measure calls, too: an operand of random values of this shape", **several
    )
    parser.add_argument(
        "--in", dest="inputs", metavar="NAME=FILE", help="the same, with an operand that is in a file", **several
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write to this file instead of stdout")
    add_rules(parser)


def run(options: argparse.Namespace) -> int:
    """Print or write the stages of a kernel, or one of them."""
    kernel = read_kernel(options)
    if options.stage is None:
        return _put(kernel.explain(html=options.html, operands=_operands(kernel, options)), options.output)
    if options.shape or options.inputs:
        raise ParseError("--shape and --in measure a call, which is no stage; leave --stage out")
    try:
        text = kernel.stages[options.stage]
    except KeyError as error:
        raise ParseError(error.args[0]) from None
    return _put(text, options.output)


def _operands(kernel: Kernel, options: argparse.Namespace) -> tuple[Any, ...] | None:
    """Return the operands of the calls to measure; None if none are asked for."""
    if not (options.shape or options.inputs):
        return None
    asked = argparse.Namespace(shape=options.shape, inputs=options.inputs, dtype="float64", seed=0)
    found: tuple[Any, ...] = bench_module("expression").operands_of(kernel, asked)
    return found


def _put(text: str, file: str | None) -> int:
    if file is None or file == "-":
        print(text)
    else:
        Path(file).write_text(f"{text}\n", encoding="utf-8")
        print(f"wrote {file}")
    return 0
