"""``bcastgen opt``: reads MLIR text and prints a chosen stage.

In: a file, or stdin.  Out: text on stdout; errors, each with its place, on stderr.

    bcastgen opt model.mlir --to=linalg
    bcastgen opt --verify-only model.mlir
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from ..api.mlir_module import choose, entries, is_shape_function, kernel_of, program_of, verify_module
from ..core.errors import BcastgenError, ParseError
from ..mlir.ir import Function, Module
from ..mlir.options import VERSIONS
from ..mlir.read.parser import parse_module
from ..pipeline.compilation import MLIR_FORMS
from ..pipeline.stages import STAGES
from .flags import add_flags, flag_values
from .mlir_files import read_text
from .reading import add_reading, read_options

__all__ = ["add_arguments", "run"]

_STAGES = tuple(name for name in STAGES if name not in MLIR_FORMS)
_SPLIT = re.compile(r"^// -----.*$", re.MULTILINE)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to its parser."""
    parser.add_argument("file", help="MLIR text; - reads stdin")
    parser.add_argument("--to", choices=(*MLIR_FORMS, *_STAGES), help="what to print of each function")
    parser.add_argument("-o", "--output", metavar="FILE", help="where to print it (default: stdout)")
    parser.add_argument("--verify-only", action="store_true", help="print only what is wrong, as without --to")
    parser.add_argument("--function", metavar="NAME", help="this function only")
    parser.add_argument("--split-input-file", action="store_true", help="take the text as modules between // -----")
    add_flags(parser, (VERSIONS,))
    add_reading(parser)


def run(options: argparse.Namespace) -> int:
    """Print stages, or verify; return 1 if there is any error, else 0."""
    if options.to is None:
        # Without a stage there is nothing to print, so that reading and verifying is what is left to do.
        options.verify_only = True
    text, name = read_text(options.file)
    printed: list[str] = []
    failed = False
    for part, text_part in enumerate(_parts(text) if options.split_input_file else (text,)):
        if part and not options.verify_only:
            printed.append("// -----")
        try:
            module = parse_module(text_part, name)
            errors = _verify(module, options) if options.verify_only else _print(module, options, printed)
        except BcastgenError as error:
            errors = (error,)
        for wrong in errors:
            print(wrong, file=sys.stderr)
        failed = failed or bool(errors)
    _write(printed, options.output)
    return 1 if failed else 0


def _write(printed: list[str], output: str | None) -> None:
    text = "".join(f"{stage}\n" for stage in printed)
    if output is None or output == "-":
        sys.stdout.write(text)
    else:
        Path(output).write_text(text, encoding="utf-8")


def _parts(text: str) -> Iterator[str]:
    """Yield the modules between ``// -----`` lines, padded so that line numbers are those of the file."""
    start = lines = 0
    for end in (*(match.start() for match in _SPLIT.finditer(text)), len(text)):
        yield "\n" * lines + text[start:end]
        lines += text.count("\n", start, end)
        start = end


def _verify(module: Module, options: argparse.Namespace) -> tuple[BcastgenError, ...]:
    functions = module.functions if options.function is None else (choose(module, options.function),)
    return verify_module(module, read_options(options), functions)


def _print(module: Module, options: argparse.Namespace, printed: list[str]) -> tuple[BcastgenError, ...]:
    """Add each function's stage to `printed`, and return the errors of the functions that have no such stage."""
    functions = entries(module) if options.function is None else (choose(module, options.function),)
    found: list[BcastgenError] = []
    for function in functions:
        try:
            printed.append(_stage(function, module, options))
        except BcastgenError as error:
            found.append(error)
    return tuple(found)


def _stage(function: Function, module: Module, options: argparse.Namespace) -> str:
    if is_shape_function(function, module):
        if options.to != "shape":
            raise ParseError(f"{module.source.name}: @{function.name} computes shapes; print it with --to=shape")
        return str(program_of(function, module).fold())
    kernel = kernel_of(function, module, read_options(options))
    if options.to in MLIR_FORMS:
        return kernel.to_mlir(options.to, **flag_values(options, (VERSIONS,)))
    return kernel.stages[options.to]
