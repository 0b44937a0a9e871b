"""The command line: one function a subcommand.

In: arguments.  Out: an exit code; results on stdout, errors as one line on stderr.

    bcastgen run "a*b + c" --in a=a.npy b=b.npy c=c.npy --out r.npy
    bcastgen emit "(f32[?,?] a, f32[?,?] b) -> a + b*2" --name axpb -o DIR
    bcastgen emit model.mlir -o DIR
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..core.c_source import BUILDS
from ..core.errors import BcastgenError, ParseError

if TYPE_CHECKING:
    from ..kernel.kernel import Kernel

__all__ = ["main"]

# The largest extent.
_MOST = 2**63 - 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line; see ``bcastgen --help``.

    Parameters
    ----------
    arguments : without the program's name; by default the process's own.

    Returns
    -------
    int
        0, 1 for an error of bcastgen or of a file, 2 for a command line that cannot be read.
    """
    # The arguments of `bench` are its own parser's.
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["bench"]:
        return _bench(given[1:])
    options = _parser().parse_args(given)
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        return command(options)
    except BcastgenError as error:
        # What is wrong in a file says so itself, as compilers do.
        located = re.match(r".*:\d+:\d+: error: ", str(error))
        print(error if located else f"bcastgen: {error}", file=sys.stderr)
    except BrokenPipeError:
        return 0
    except OSError as error:
        print(f"bcastgen: {error.filename or ''}: {error.strerror or error}", file=sys.stderr)
    except MemoryError as error:
        print(f"bcastgen: not enough memory: {error}", file=sys.stderr)
    return 1


def _parser() -> argparse.ArgumentParser:
    from ..core.version import __version__
    from . import opt

    parser = argparse.ArgumentParser(
        prog="bcastgen", description="Compile element-wise tensor expressions with broadcasting to C, and run them."
    )
    parser.add_argument("--version", action="version", version=f"bcastgen {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")

    def add(name: str, command: Callable[[argparse.Namespace], int], text: str) -> argparse.ArgumentParser:
        sub = commands.add_parser(name, help=text, description=text)
        sub.set_defaults(command=command)
        return sub

    add("demo", _demo, "great-circle distances between the world's capitals, checked against NumPy and timed")

    run = add("run", _run, "evaluate an expression over .npy files")
    run.add_argument("expression", help='as in "a*b + c", or with types: "(f32[?] a) -> a + 1"; or a .mlir file')
    several: dict[str, Any] = {"action": "extend", "nargs": "+", "default": []}
    run.add_argument("--in", dest="inputs", metavar="NAME=FILE", help="an operand: a .npy file or a number", **several)
    run.add_argument(
        "--extent", dest="extents", metavar="NAME=N", help="an extent that no operand determines", **several
    )
    run.add_argument(
        "--out",
        metavar="FILE",
        help="the .npy file to write, one for each result, or one .npz for all; without it results are printed",
        **several,
    )

    emit = add("emit", _emit, "write standalone C: one .c and one .h")
    emit.add_argument(
        "expression",
        help='best with types: "(f32[?,?] a, f32[?,?] b) -> a + b*2"; or a .mlir file, all of its functions',
    )
    emit.add_argument("-o", "--output", default=".", metavar="DIR", help="where to write (default: here)")
    emit.add_argument("--name", help="of the files, the functions and the prefix of every name (default: kernel)")
    _add_form(emit)

    explain = add("explain", _explain, "print every stage: expression, types, loop nests, inner loops, C")
    explain.add_argument("expression", help='as in "a*b + c", or with types: "(f32[?] a) -> a + 1"; or a .mlir file')
    explain.add_argument("--stage", metavar="NAME", help="print this stage only")

    for command in (run, emit, explain):
        # Not "trusted": what is undefined behaviour if it is wrong is asked for in code.
        command.add_argument(
            "--dynamic", choices=("numpy", "strict"), default="numpy", help="how unknown dims broadcast"
        )
        command.add_argument("--no-stretch", action="store_true", help="an extent of 1 meets no other")
        command.add_argument(
            "--no-rank-expansion", action="store_true", help="operands have as many dims as the result"
        )
        command.add_argument("--function", metavar="NAME", help="of a .mlir file")
        opt.add_reading(command)

    sub = add("opt", opt.run, "read MLIR and print a stage, or verify it")
    opt.add_arguments(sub)

    add("ops", _ops, "list the ops: name, operands, operator, accuracy, meaning")

    # Listed for --help; `bench` reads its own arguments.
    add("bench", _demo, "compare with NumPy and the peers that are installed; see bcastgen bench --help")

    cache = add("cache", _cache, "what is kept on disk")
    cache.add_argument("action", choices=("info", "clear"), help="show how much there is, or remove it")

    add("doctor", _doctor, "check that this machine can compile and run a kernel")
    return parser


def _add_form(emit: argparse.ArgumentParser) -> None:
    """Add the options of :func:`bcastgen.emit_c`."""
    emit.add_argument("--variants", type=int, metavar="N", help="specialised inner loops; 0 for the one plain nest")
    emit.add_argument("--static", action="store_true", help="all extents are known: plain loops over pointers")
    emit.add_argument("--freestanding", action="store_true", help="no library: maths of its own")
    emit.add_argument("--openmp", action="store_true", help="threads by OpenMP, where the work pays")
    emit.add_argument("--target", metavar="NAME", help="the machine that vectors are meant for")
    emit.add_argument(
        "--single-file",
        action=argparse.BooleanOptionalAction,
        default=True,
        help="the helpers stand in the .c, or in a header of their own",
    )
    emit.add_argument("--main", action="store_true", help="add a program that checks the C against a reference")
    for name, text in BUILDS.items():
        emit.add_argument(f"--{name}", action="store_true", help=text)
    emit.add_argument("--check", action="store_true", help="compile it with every compiler there is, warnings errors")


def _demo(_options: argparse.Namespace) -> int:
    from ..core.resources import bench_module

    result: int = bench_module("demo").run()
    return result


def _bench(arguments: list[str]) -> int:
    from ..core.resources import bench_module

    result: int = bench_module("runner").main(arguments)
    return result


def _is_mlir(options: argparse.Namespace) -> bool:
    return str(options.expression).endswith(".mlir")


def _kernel(options: argparse.Namespace) -> Kernel:
    if _is_mlir(options):
        from .opt import read_kernel

        return read_kernel(options)
    from ..api.functions import from_text

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


def _run(options: argparse.Namespace) -> int:
    from .run_files import result_files, save_results

    kernel = _kernel(options)
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
        # NumPy's, of a result that no memory can hold.
        raise BcastgenError(str(error)) from None
    if not files:
        print(result)
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
    from ..shape.types.cursor import excerpt

    name, _, value = text.partition("=")
    if not (value.isascii() and value.isdigit()) or len(value) > len(str(_MOST)) or int(value) > _MOST:
        raise ParseError(f"--extent {excerpt(text)} is not NAME=N; write --extent n=3")
    return name, int(value)


def _operand(text: str) -> tuple[str, Any]:

    from ..shape.types.cursor import excerpt
    from .run_files import load_array

    name, equals, value = text.partition("=")
    if not equals:
        raise ParseError(f"--in {text!r} is not NAME=FILE; write --in a=a.npy or --in n=3")
    if value.lstrip("+-").isdigit() and len(value) > len(str(_MOST)) + 2:
        # More digits than Python reads are an infinite float.
        raise ParseError(f"--in {excerpt(text)}: the integer is beyond 64 bits; write a float")
    for number in (int, float):
        try:
            return name, number(value)
        except ValueError:
            continue
    return name, load_array(value)


def _emit(options: argparse.Namespace) -> int:
    from ..api.standalone_c import emit_c

    build = [name for name in BUILDS if getattr(options, name)]
    kernels, name = _module(options)
    paths = emit_c(
        kernels,
        options.output,
        name,
        options.variants,
        static=options.static,
        freestanding=options.freestanding,
        openmp=options.openmp,
        target=options.target,
        single_file=options.single_file,
        main=options.main,
        build=build,
    )
    for path in paths:
        print(path)
    return _check(paths, options) if options.check else 0


def _check(paths: Sequence[Path], options: argparse.Namespace) -> int:
    """Compile what was written, and say how it went."""
    from ..emit.standalone import CForm
    from .check_emitted import check_files

    files = {path.name: path.read_text(encoding="utf-8") for path in paths}
    form = CForm(freestanding=options.freestanding, openmp=options.openmp, target=options.target)
    well = True
    for finding in check_files(files, form):
        print(finding, flush=True)
        well = well and finding.ok
    return 0 if well else 1


def _module(options: argparse.Namespace) -> tuple[Mapping[str, Kernel], str]:
    """Return what a module is made of, and its name: the one that is asked for, the only kernel's, or the file's."""
    if not _is_mlir(options) or options.function is not None:
        kernel = _kernel(options)
        name = options.name or kernel.__name__
        return {name: kernel}, name
    from .opt import read_kernels

    kernels = read_kernels(options)
    if len(kernels) == 1:
        name = options.name or kernels[0].__name__
        return {name: kernels[0]}, name
    named: dict[str, Kernel] = {}
    for kernel in kernels:
        # Python, and C, have fewer characters for names than MLIR.
        same = sum(re.fullmatch(rf"{kernel.__name__}(_\d+)?", name) is not None for name in named)
        named[f"{kernel.__name__}_{same + 1}" if kernel.__name__ in named else kernel.__name__] = kernel
    return named, options.name or Path(options.expression).stem


def _explain(options: argparse.Namespace) -> int:
    kernel = _kernel(options)
    if options.stage is None:
        print(kernel.explain())
        return 0
    stages = kernel.stages
    if options.stage not in stages:
        raise ParseError(f"no stage {options.stage!r}; the stages are {', '.join(stages)}")
    print(stages[options.stage])
    return 0


def _ops(_options: argparse.Namespace) -> int:
    from ..ops.table import known_ops

    rows = [
        (op.name, str(op.arity), op.dunder or "", "exact" if op.ulp == 0 else f"{op.ulp} ULP", op.doc)
        for op in known_ops()
    ]
    header = ("op", "operands", "operator", "accuracy", "meaning")
    widths = [max(len(row[at]) for row in (header, *rows)) for at in range(4)]
    for row in (header, *rows):
        print("  ".join([*(text.ljust(width) for text, width in zip(row, widths, strict=False)), row[-1]]).rstrip())
    return 0


def _cache(options: argparse.Namespace) -> int:
    from ..runtime.cache import clear, info

    print(info() if options.action == "info" else f"removed {clear()} kernels")
    return 0


def _doctor(_options: argparse.Namespace) -> int:
    from .doctor import examine

    healthy = True
    for finding in examine():
        print(finding)
        healthy = healthy and finding.ok
    return 0 if healthy else 1
