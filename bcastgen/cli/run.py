"""``bcastgen run``: evaluates an expression over files and numbers.

In: an expression, or a file of MLIR; operands.  Out: results on stdout, or in files.

    bcastgen run "a*b + c" --in a=a.npy b=b.npy c=2 --out r.npy
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterable
from typing import Any

from ..core.errors import BcastgenError, ParseError
from ..shape.types.cursor import excerpt
from ..shape.types.dim import MAX_EXTENT
from .kernels import EXPRESSION, add_rules, read_kernel
from .run_files import load_array, result_files, save_results

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to its parser."""
    parser.add_argument("expression", help=EXPRESSION)
    several: dict[str, Any] = {"action": "extend", "nargs": "+", "default": []}
    parser.add_argument(
        "--in",
        dest="inputs",
        metavar="NAME=FILE",
        help="an operand: a number, or a .npy, .npz, .csv or .parquet file, its array or column NAME; - is stdin",
        **several,
    )
    parser.add_argument(
        "--extent", dest="extents", metavar="NAME=N", help="an extent that no operand determines", **several
    )
    parser.add_argument(
        "--out",
        metavar="FILE",
        help="the .npy file to write, one for each result, or one .npz for all; - is stdout (default: print them)",
        **several,
    )
    add_rules(parser)


def run(options: argparse.Namespace) -> int:
    """Evaluate over the given operands, and print or write the results."""
    kernel = read_kernel(options)
    if sum(text.partition("=")[2] == "-" for text in options.inputs) > 1:
        raise ParseError("--in gives stdin to several operands, and it is one file; give the others files of their own")
    operands = _by_name("--in", map(_operand, options.inputs))
    slots = tuple(kernel.operands[at] for at in kernel.expression.free_extents)
    names = tuple(name for name in kernel.operands if name not in slots)
    unknown = sorted(set(operands) - set(names))
    missing = [name for name in names if name not in operands]
    if unknown or missing:
        what = (
            f"--in gives '{unknown[0]}', which the expression does not name"
            if unknown
            else f"no value for '{missing[0]}'"
        )
        raise ParseError(f"{what}; the operands are {', '.join(names)}: give each as --in NAME=FILE.npy")
    extents = _by_name("--extent", map(_extent, options.extents))
    if extents and not slots:
        raise ParseError(f"--extent gives {next(iter(extents))!r}, but the operands determine every extent")
    files = result_files(options.out, kernel.results)
    given = {"extents": extents} if slots else {}
    try:
        result = kernel(*(operands[name] for name in names), **given)
    except BcastgenError:
        raise
    except ValueError as error:
        # NumPy raises this for a result that no memory can hold.
        raise BcastgenError(str(error)) from None
    if not files:
        text = str(result)
        print(text)
        if "..." in text:
            hint = "NumPy leaves elements out of a long text; --out r.npy writes all, or --out - to stdout"
            print(f"bcastgen: {hint}", file=sys.stderr)
        return 0
    values = result if isinstance(result, tuple) else (result,)
    for line in save_results(dict(zip(kernel.results, values, strict=True)), files):
        print(line)
    return 0


def _by_name(option: str, pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ParseError(f"{option} gives '{name}' twice; give each name once")
        found[name] = value
    return found


def _extent(text: str) -> tuple[str, int]:
    name, _, value = text.partition("=")
    if not (value.isascii() and value.isdigit()) or len(value) > len(str(MAX_EXTENT)) or int(value) > MAX_EXTENT:
        raise ParseError(f"--extent {excerpt(text)} is not NAME=N; write --extent n=3")
    return name, int(value)


def _operand(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise ParseError(f"--in {text!r} is not NAME=FILE; write --in a=a.npy or --in n=3")
    if value.lstrip("+-").isdigit() and len(value) > len(str(MAX_EXTENT)) + 2:
        # float() would read an integer of more digits than int() takes as an infinity.
        raise ParseError(f"--in {excerpt(text)}: the integer is beyond 64 bits; write a float")
    for number in (int, float):
        try:
            return name, number(value)
        except ValueError:
            continue
    if value != "-" and not value.endswith((".npy", ".npz", ".csv", ".parquet")) and not os.path.exists(value):
        raise ParseError(f"--in {excerpt(text)}: {excerpt(value)} is neither a number nor a file")
    return name, load_array(value, name)
