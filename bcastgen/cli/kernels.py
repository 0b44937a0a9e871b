"""Makes the kernels that commands work on, from an expression or from the functions of an MLIR file.

In: a command line that has been read.  Out: a :class:`Kernel`.

    "a*b + c"  or  "(f32[?] a) -> a + 1"  or  model.mlir --function f
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from ..api.functions import from_text
from ..core.errors import ParseError
from ..core.options import options_of
from ..mlir.options import ReadOptions
from ..pipeline.options import OPTIONS
from .flags import add_flags, flag_names, flag_values, typed_flags
from .reading import add_reading

if TYPE_CHECKING:
    from ..kernel.kernel import Kernel
    from ..shape.dialect.program import Program

__all__ = ["EXPRESSION", "add_rules", "is_mlir", "read_kernel", "read_kernels", "read_programs", "typed_rules"]

_RULES = tuple(OPTIONS[name] for name in ("dynamic", "stretch", "rank_expansion"))


# The help of an argument that is a kernel.
EXPRESSION = 'as in "a*b + c", or with types: "(f32[?] a) -> a + 1"; or a .mlir file'


def add_rules(parser: argparse.ArgumentParser) -> None:
    """Add the flags that go with an expression or a file to a parser: how dims meet, and how MLIR is read."""
    add_flags(parser, _RULES)
    parser.add_argument("--function", metavar="NAME", help="of a .mlir file")
    add_reading(parser, _RULES)


def typed_rules(options: argparse.Namespace) -> list[str]:
    """Return the words of a command line for these flags, where they are not the defaults."""
    function = [] if options.function is None else ["--function", options.function]
    reading = (row for row in options_of(ReadOptions) if row not in _RULES)
    return [*typed_flags(options, _RULES), *function, *typed_flags(options, reading)]


def is_mlir(options: argparse.Namespace) -> bool:
    """Return whether a command is given an MLIR file."""
    return str(options.expression).endswith(".mlir")


def read_kernel(options: argparse.Namespace) -> Kernel:
    """Return the kernel that a command line describes."""
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
        **flag_values(options, _RULES),
    )


def read_kernels(options: argparse.Namespace) -> tuple[Kernel, ...]:
    """Return the kernels of all functions of an MLIR file."""
    _check_rules(options)
    from . import mlir_files  # noqa: PLC0415 - an expression does not wait for what reads MLIR

    return mlir_files.read_kernels(options)


def read_programs(options: argparse.Namespace) -> tuple[Program, ...]:
    """Return the shape programs of an MLIR file if all of its functions compute shapes, else an empty tuple."""
    if not is_mlir(options):
        return ()
    from . import mlir_files  # noqa: PLC0415 - an expression does not wait for what reads MLIR

    return mlir_files.read_programs(options)


def _check_rules(options: argparse.Namespace) -> None:
    """Refuse flags for expressions that a module's own types decide in MLIR."""
    rules = tuple(row for row in _RULES if row not in options_of(ReadOptions))
    if any(value != OPTIONS[name].default for name, value in flag_values(options, rules).items()):
        *others, last = (flag for row in rules for flag in flag_names(row))
        raise ParseError(f"{', '.join(others)} and {last} are for expressions, not for .mlir files")
