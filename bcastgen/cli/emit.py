"""``bcastgen emit``: writes standalone C.

In: an expression, or a file of MLIR with all of its functions.  Out: files, and their names on stdout.

    bcastgen emit "(f32[?,?] a, f32[?,?] b) -> a + b*2" --name axpb -o DIR
"""

from __future__ import annotations

import argparse
import re
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..api.standalone_c import emit_shape, module_source
from ..core.errors import ParseError
from ..core.options import options_of
from ..core.progress import Progress
from ..emit.standalone import CForm, write_sources
from .check_emitted import check_files
from .flags import add_flags, flag_values, typed_flags
from .kernels import add_rules, is_mlir, read_kernel, read_kernels, read_programs, typed_rules

if TYPE_CHECKING:
    from ..kernel.kernel import Kernel
    from ..shape.dialect.program import Program

__all__ = ["add_arguments", "run"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the command's arguments to its parser."""
    parser.add_argument(
        "expression",
        help='best with types: "(f32[?,?] a, f32[?,?] b) -> a + b*2"; or a .mlir file, all of its functions',
    )
    parser.add_argument("-o", "--output", default=".", metavar="DIR", help="where to write (default: here)")
    parser.add_argument("--name", help="of the files, the functions and the prefix of every name (default: kernel)")
    add_flags(parser, options_of(CForm))
    parser.add_argument(
        "--check", action="store_true", help="compile it with each compiler found here; a warning is an error"
    )
    add_rules(parser)


def run(options: argparse.Namespace) -> int:
    """Write the C, and check it with the compilers if asked to."""
    if options.output == "-":
        raise ParseError("-o -: C is several files, which stdout does not take; give a directory (./- is one named -)")
    if options.name is not None and not (options.name.isascii() and options.name.isidentifier()):
        written = re.sub(r"\W", "_", options.name, flags=re.ASCII)
        raise ParseError(f"--name {options.name!r} is no name in C; write {written if written.isidentifier() else 'k'}")
    form = flag_values(options, options_of(CForm))
    programs = read_programs(options)
    if programs:
        paths = _emit_shapes(programs, options, form)
    else:
        kernels, name = _module(options)
        given = [] if options.name is None else ["--name", options.name]
        flags = [*given, *typed_flags(options, options_of(CForm)), *typed_rules(options)]
        made_by = shlex.join(["bcastgen", "emit", options.expression, *flags])
        with Progress("emit", len(kernels)) as progress:
            source = module_source(kernels, name, CForm(**form), made_by, progress.step)
        paths = write_sources(source, options.output)
        if source.name != name:
            print(f"bcastgen: C has other things called {name}; the module is {source.name}", file=sys.stderr)
    for path in paths:
        print(path)
    return _check(paths, options) if options.check else 0


def _emit_shapes(
    programs: Sequence[Program], options: argparse.Namespace, form: Mapping[str, object]
) -> tuple[Path, ...]:
    """Write a .c and a .h per shape program; it has no loops, so switches that change loops are refused."""
    others = [name for name, value in form.items() if value != getattr(CForm(), name)]
    if others:
        raise ParseError(f"{options.expression} computes shapes, and {', '.join(others)} is for kernels; leave it out")
    if options.name is not None and len(programs) > 1:
        raise ParseError(f"{options.expression} has several functions, a file each; choose one by --function")
    return tuple(path for each in programs for path in emit_shape(each, options.output, options.name))


def _check(paths: Sequence[Path], options: argparse.Namespace) -> int:
    """Compile the written files, print each finding, and return the exit code."""
    files = {path.name: path.read_text(encoding="utf-8") for path in paths}
    form = CForm(
        freestanding=options.freestanding,
        openmp=options.openmp,
        target=options.target,
        header_only=options.header_only,
    )
    well = True
    for finding in check_files(files, form):
        print(finding, flush=True)
        well = well and finding.ok
    return 0 if well else 1


def _module(options: argparse.Namespace) -> tuple[Mapping[str, Kernel], str]:
    """Return a module's kernels, and its name: the one that is asked for, the only kernel's, or the file's."""
    if not is_mlir(options) or options.function is not None:
        kernel = read_kernel(options)
        name = options.name or kernel.__name__
        return {name: kernel}, name
    kernels = read_kernels(options)
    if len(kernels) == 1:
        name = options.name or kernels[0].__name__
        return {name: kernels[0]}, name
    named: dict[str, Kernel] = {}
    for kernel in kernels:
        # Names in Python and C have fewer characters than in MLIR, so two of MLIR's may become the same.
        same = sum(re.fullmatch(rf"{kernel.__name__}(_\d+)?", name) is not None for name in named)
        named[f"{kernel.__name__}_{same + 1}" if kernel.__name__ in named else kernel.__name__] = kernel
    return named, options.name or re.sub(r"\W|^(?=\d)", "_", Path(options.expression).stem)
