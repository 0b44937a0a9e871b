"""The command line: finds the module of each command, and turns errors into messages and exit codes.

In: arguments.  Out: an exit code; results on stdout, errors as one line on stderr.

    bcastgen run "a*b + c" --in a=a.npy b=b.npy c=c.npy --out r.npy
    bcastgen emit "(f32[?,?] a, f32[?,?] b) -> a + b*2" --name axpb -o DIR
    bcastgen emit model.mlir -o DIR

A command's module has `add_arguments(parser)` and `run(options) -> exit code`. Only the module of the given command is
imported, so each module has its imports at its top.
"""

from __future__ import annotations

import argparse
import importlib
import io
import os
import re
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..core.errors import BcastgenError
from ..core.near_names import near_names
from ..core.version import __version__
from .parser import Parser

__all__ = ["COMMANDS", "main", "parser_of"]

# Each command is the module of this name beside this one.
COMMANDS = {
    "demo": "great-circle distances between the world's capitals, checked against NumPy and timed",
    "run": "evaluate an expression over numbers and files of arrays",
    "emit": "write standalone C: a .c, a .h, and bcastgen.h, which modules share",
    "explain": "print every stage: expression, types, loop nests, inner loops, C",
    "explorer": "show what becomes of an expression while you write it, in a browser on this machine",
    "opt": "read MLIR and print a stage, or verify it",
    "ops": "list the ops: name, operands, operator, accuracy, meaning",
    "bench": "compare with NumPy and the peers that are installed; see bcastgen bench --help",
    "cache": "show, check, clear or move the kernels kept on disk",
    "completion": "print the completion of these commands for bash, zsh or fish",
    "doctor": "check that this machine can compile and run a kernel",
}


def _prepare_streams() -> None:
    """Put empty streams for those that the shell has closed, and escape characters that a terminal cannot show."""
    sys.stdin = sys.stdin or open(os.devnull)  # noqa: SIM115 - as long as the process
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="backslashreplace")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; see ``bcastgen --help``.

    Parameters
    ----------
    arguments : the arguments without the program's name; by default the process's own.

    Returns
    -------
    int
        0 for success, 1 for an error of bcastgen or of a file, 2 for a command line that cannot be read.
    """
    if arguments is None:  # the process is the command's own
        _prepare_streams()
    given = list(sys.argv[1:] if arguments is None else arguments)
    name = given[0] if given and given[0] in COMMANDS else None
    if given and name is None and not given[0].startswith("-"):
        words = {name: name for name in COMMANDS} | {"help": "--help", "version": "--version"}
        near = near_names(given[:1], words)
        meant = f"did you mean {words[near[0]]}?" if near else f"the commands are {', '.join(COMMANDS)}"
        print(f"bcastgen: no command {given[0][:40]!r}; {meant}", file=sys.stderr)
        return 2
    module: Any = None if name is None else importlib.import_module(f".{name}", __package__)
    # The arguments of `bench` are its own parser's.
    options: Any = given[1:] if name == "bench" else parser_of(name, module).parse_args(given)
    try:
        with _warnings_of_one_line():
            status = int(module.run(options))
        sys.stdout.flush()
        return status
    except BcastgenError as error:
        # Errors with a place in a file are printed without the program's name, as compilers do.
        located = re.match(r".*:\d+:\d+: error: ", str(error))
        print(error if located else f"bcastgen: {error}", file=sys.stderr)
    except BrokenPipeError:
        # The reader has left; what is still buffered goes nowhere, so that Python's last flush does not complain.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        print(f"bcastgen: {error.filename or ''}: {error.strerror or error}", file=sys.stderr)
    except MemoryError as error:
        print(f"bcastgen: not enough memory: {error}", file=sys.stderr)
    return 1


@contextmanager
def _warnings_of_one_line() -> Iterator[None]:
    """Print warnings as errors are: where in Python they were raised is nothing to who types commands."""
    before = warnings.formatwarning
    warnings.formatwarning = lambda message, *_, **__: f"bcastgen: warning: {message}\n"
    try:
        yield
    finally:
        warnings.formatwarning = before


def parser_of(name: str | None, module: Any) -> argparse.ArgumentParser:
    """Return the parser of a command line that begins with this command, or with none."""
    parser = Parser(
        prog="bcastgen", description="Compile element-wise tensor expressions with broadcasting to C, and run them."
    )
    parser.add_argument("--version", action="version", version=f"bcastgen {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for command, text in COMMANDS.items():
        sub = commands.add_parser(command, help=text, description=text)
        if command == name:
            module.add_arguments(sub)
    return parser
