"""Reads the MLIR files that commands are given.

In: a path, or - for stdin.  Out: its text, or the kernels of its functions.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..api.mlir_module import choose, entries, is_shape_function, kernel_of, program_of
from ..core.errors import ParseError
from ..mlir.read.parser import parse_module
from .reading import read_options

if TYPE_CHECKING:
    from ..kernel.kernel import Kernel
    from ..shape.dialect.program import Program

__all__ = ["read_kernel", "read_kernels", "read_programs", "read_text"]


def read_kernel(options: argparse.Namespace) -> Kernel:
    """Return the kernel of the function that a command line names in an MLIR file."""
    text, name = read_text(options.expression)
    module = parse_module(text, name)
    return kernel_of(choose(module, options.function), module, read_options(options))


def read_kernels(options: argparse.Namespace) -> tuple[Kernel, ...]:
    """Return the kernels of all functions of a file."""
    text, name = read_text(options.expression)
    module = parse_module(text, name)
    if not module.functions:
        raise ParseError(f"{name}: the module has no function")
    return tuple(kernel_of(function, module, read_options(options)) for function in entries(module))


def read_programs(options: argparse.Namespace) -> tuple[Program, ...]:
    """Return a file's shape programs if all of its functions, or the named one, compute shapes, else an empty tuple."""
    text, name = read_text(options.expression)
    module = parse_module(text, name)
    functions = entries(module) if options.function is None else (choose(module, options.function),)
    if not all(is_shape_function(function, module) for function in functions):
        return ()
    return tuple(program_of(function, module) for function in functions)


def read_text(file: str) -> tuple[str, str]:
    """Return a file's text and its name; - is stdin.

    Raises
    ------
    ParseError
        If it is not text.
    """
    try:
        if file == "-":
            return sys.stdin.buffer.read().decode(), "<stdin>"
        return Path(file).read_text(encoding="utf-8"), file
    except UnicodeDecodeError as error:
        raise ParseError(f"{file} is no text in UTF-8 ({error.reason} at byte {error.start})") from None
