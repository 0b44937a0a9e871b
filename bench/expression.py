"""One's own expression as a workload, and its table: each contestant's time, and how far from the limit it is.

In: the arguments of ``bcastgen bench EXPRESSION``.  Out: a :class:`Workload` and the number of its elements; a table.

    "a*b + exp(b)" --shape a=1000x1,b=1x1000  ->  lambda a, b: a*b + np.exp(b), over f64[1000, 1] and f64[1, 1000]

The text is first read by bcastgen's own parser, which lets numbers, operands and known functions pass and nothing else;
what is left is compiled as the function that every contestant runs.
"""

from __future__ import annotations

import argparse
import ast
import math
from collections.abc import Iterable, Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from bcastgen.api.functions import from_text
from bcastgen.cli.run_files import load_array
from bcastgen.core.dtypes import dtype
from bcastgen.core.errors import BcastgenError
from bcastgen.expr.nodes import Apply, Reduce, topological
from bcastgen.kernel.kernel import Kernel
from bcastgen.shape.types.tensor_type import TensorType

from .peers import AGAIN
from .report import time_text
from .results import Cell, Timing
from .spelling import NoForm
from .workloads import Array, Workload
from .workloads.operands import sample

__all__ = ["add_arguments", "columns", "notes", "operands_of", "table", "workload_of"]

# Peers may contract and reorder: results are compared at the magnitude of the largest number there is.
_ULP = 64.0
# So much faster than the limit a call is only found to be if something else ran while the limit was measured.
_BUSY = 1.1
# More than any memory holds; NumPy counts bytes in 63 bits.
_MOST_ELEMENTS = 1 << 59


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the expression and its operands."""
    parser.add_argument(
        "expression", nargs="?", help='your own, as in "a*b + exp(c)"; without it the workloads are run'
    )
    several: dict[str, Any] = {"action": "extend", "nargs": "+", "default": []}
    parser.add_argument("--shape", metavar="NAME=NxM", help="an operand of random values of this shape", **several)
    parser.add_argument(
        "--in", dest="inputs", metavar="NAME=FILE", help="an operand in a .npy, .npz, .csv or .parquet file", **several
    )
    parser.add_argument(
        "--dtype", default="float64", help="of the operands of --shape without a type (default: float64)"
    )
    parser.add_argument("--markdown", action="store_true", help="print the table of an expression as Markdown")


def workload_of(arguments: argparse.Namespace) -> tuple[Workload, int]:
    """Return the expression as a workload, and how many elements its largest array has.

    Raises
    ------
    BcastgenError
        If it cannot be read, an operand is missing, or shapes do not fit.
    """
    kernel = from_text(arguments.expression)
    arrays = operands_of(kernel, arguments)
    function = _function(kernel, arguments.expression, arrays)
    result = kernel(*arrays)
    if isinstance(result, tuple):
        raise BcastgenError(f"the expression has {len(result)} results; bench one of them")
    nodes = topological(kernel.expression.roots)
    reduces = any(isinstance(node, Reduce) for node in nodes)
    # Rows say what is exact of real numbers; products of complex ones are contracted, or not.
    real = all(array.dtype.kind != "c" for array in (*arrays, result))
    exact = real and not reduces and all(node.op.ulp == 0 for node in nodes if isinstance(node, Apply))
    held = [array for array in (*arrays, result) if array.dtype.kind in "fc" and array.size]
    named = zip(kernel.operands, arrays, strict=True)
    shown = ", ".join(f"{name} {array.dtype.name}{list(array.shape)}" for name, array in named)
    workload = Workload(
        f"{arguments.expression}; {shown}",
        "reduction" if reduces else "own",
        function,
        lambda _elements, _rng: arrays,
        result.dtype.name,
        ulp=0.0 if exact else _ULP,
        scale=max((float(np.max(np.abs(array), where=np.isfinite(array), initial=0)) for array in held), default=0.0),
        reference=_reference(function, kernel),
    )
    return workload, max(array.size for array in (*arrays, result))


def _reference(function: FunctionType, kernel: Kernel) -> Any:
    """Return what results are checked against: NumPy's, or the kernel's where NumPy lacks one of its functions."""
    from .peers.own import numpy_function

    try:
        return numpy_function(function)
    except NoForm:
        return kernel


# ---- operands ----------------------------------------------------------------------------------------------------


def operands_of(kernel: Kernel, arguments: argparse.Namespace) -> tuple[Array, ...]:
    """Return the operands that `--shape` and `--in` ask for.

    Raises
    ------
    BcastgenError
        If one is missing or cannot be read.
    """
    if kernel.expression.free_extents:
        raise BcastgenError("the expression has extents that no operand determines; bench one without them")
    shapes, files = _pairs("--shape", arguments.shape), _pairs("--in", arguments.inputs)
    declared = dict(kernel.signature.operands) if kernel.signature is not None else {}
    unknown = sorted({*shapes, *files} - {*kernel.operands})
    if unknown:
        raise BcastgenError(f"{unknown[0]!r} is no operand; the operands are {', '.join(kernel.operands)}")
    rng = np.random.default_rng(arguments.seed)
    return tuple(_operand(name, shapes, files, declared.get(name), arguments.dtype, rng) for name in kernel.operands)


def _operand(
    name: str,
    shapes: Mapping[str, str],
    files: Mapping[str, str],
    declared: TensorType | None,
    default: str,
    rng: np.random.Generator,
) -> Array:
    if name in files:
        return np.asarray(load_array(files[name], name))
    known = None if declared is None or declared.unranked else [dim.extent for dim in declared.dims]
    if name in shapes:
        shape = _shape(name, shapes[name])
    elif known is not None and None not in known:
        shape = tuple(extent for extent in known if extent is not None)
    else:
        raise BcastgenError(f"no shape for {name!r}: give --shape {name}=1000x1000, or --in {name}=FILE.npy")
    kind = dtype(default) if declared is None or declared.dtype is None else declared.dtype
    if kind.np.kind not in "biuf" or kind.np.itemsize > 8 or kind.np.name not in np.sctypeDict:
        raise BcastgenError(f"operand {name!r} is of {kind.name}; random values are made of bool, integers and floats")
    return sample(rng, kind.np.name, shape)


def _pairs(option: str, given: Iterable[str]) -> dict[str, str]:
    """Return the values by name of `NAME=VALUE` texts, which may be joined by commas."""
    found: dict[str, str] = {}
    for text in (part for one in given for part in one.split(",") if part):
        name, equals, value = text.partition("=")
        if not equals or not value or name in found:
            why = "gives a name twice" if name in found else "is not NAME=VALUE"
            example = "a=1000x1,b=1x1000" if option == "--shape" else "a=a.npy"
            raise BcastgenError(f"{option} {text!r} {why}; write {option} {example}")
        found[name] = value
    return found


def _shape(name: str, text: str) -> tuple[int, ...]:
    """Return extents from ``1000x1``; ``scalar`` has none."""
    parts = [] if text == "scalar" else text.split("x")
    if not all(part.isascii() and part.isdigit() and len(part) < 16 for part in parts):
        raise BcastgenError(f"--shape {name}={text} is no shape; write extents joined by x, as in {name}=1000x1")
    shape = tuple(map(int, parts))
    if math.prod(shape) > _MOST_ELEMENTS:
        raise BcastgenError(f"--shape {name}={text} has more elements than an array can have")
    return shape


# ---- the function ------------------------------------------------------------------------------------------------


class _Spelled(ast.NodeTransformer):
    """Writes bare names of functions and dtypes as NumPy's, and floats beside f32 operands as f32 constants."""

    def __init__(self, operands: Sequence[str], narrow: bool) -> None:
        self._operands, self._narrow = operands, narrow
        self.constants: dict[str, Any] = {}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self._operands:
            return node
        name = {"bool": "bool_", "int": "int64", "float": "float64"}.get(node.id, node.id)
        return ast.Attribute(ast.Name("np", ast.Load()), name, ast.Load())

    def visit_Attribute(self, node: ast.Attribute) -> ast.expr:
        if isinstance(node.value, ast.Name) and node.value.id in ("np", "numpy", "bg", "bcastgen", "math"):
            return ast.Attribute(ast.Name("np", ast.Load()), node.attr, ast.Load())
        return ast.Attribute(self.visit(node.value), node.attr, ast.Load())

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not self._narrow or not isinstance(node.value, float):
            return node
        name = f"constant{len(self.constants)}"
        self.constants[name] = np.float32(node.value)
        return ast.Name(name, ast.Load())


def _function(kernel: Kernel, text: str, arrays: Sequence[Array]) -> FunctionType:
    """Return the function of NumPy that an expression stands for; `from_text` has accepted its text."""
    body = text.rpartition("->")[2].strip()
    # Numba takes a Python float for f64, where the others take it for what it meets.
    floats = {array.dtype.name for array in arrays if array.dtype.kind == "f"}
    spelled = _Spelled(kernel.operands, floats == {"float32"})
    tree = spelled.visit(ast.parse(body, mode="eval"))
    arguments = ast.arguments([], [ast.arg(name) for name in kernel.operands], None, [], [], None, [])
    made = ast.fix_missing_locations(ast.Expression(ast.Lambda(arguments, tree.body)))
    function = eval(compile(made, "<expression>", "eval"), {"np": np, **spelled.constants})
    assert isinstance(function, FunctionType)
    return function


# ---- the table ---------------------------------------------------------------------------------------------------


def columns(cells: Sequence[Cell]) -> tuple[list[str], list[list[str]]]:
    """Return the head of a table, and a row for each contestant: its time, GB/s and share of the limit in each cell."""
    names = dict.fromkeys(timing.name for cell in cells for timing in cell.timings if timing.name != AGAIN)
    head = [""]
    for cell in cells:
        how = "fresh result" if cell.variant == "fresh" else "out="
        head += [how, "GB/s", "of the limit"]
    rows = [[name, *(text for cell in cells for text in _texts(cell, name))] for name in names]
    rows.append(["moving the bytes alone", *(text for cell in cells for text in _figures(cell, cell.memory))])
    if any(cell.maths for cell in cells):
        rows.append(["its functions alone", *(text for cell in cells for text in (time_text(cell.maths), "", ""))])
    return head, rows


def notes(cells: Sequence[Cell]) -> list[str]:
    """Return what there is to say of the figures of a table."""
    found = {f"{t.name}: {t.reason}": None for cell in cells for t in cell.timings if t.reason and t.name != AGAIN}
    if any(cell.limit and t.min and cell.limit > _BUSY * t.min for cell in cells for t in cell.timings):
        found["Shares of more than 100%: the machine was busy while the limit was measured. Run it again."] = None
    return list(found)


def table(cells: Sequence[Cell], markdown: bool = False) -> str:
    """Return a line for each contestant: its time, GB/s and share of the limit, for a fresh result and for ``out=``."""
    head, rows = columns(cells)
    widths = [max(len(row[at]) for row in (head, *rows)) for at in range(len(head))]

    def line(row: Sequence[str]) -> str:
        parts = [row[0].ljust(widths[0]), *(text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True))]
        return f"| {' | '.join(parts)} |" if markdown else "  ".join(parts).rstrip()

    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    lines = [line(head), line(rule) if markdown else "-" * len(line(head)), *map(line, rows)]
    said = notes(cells)
    moved = cells[0].read + cells[0].written
    about = f"{cells[0].workload}: a call reads {_mega(cells[0].read)} and writes {_mega(cells[0].written)}"
    return "\n".join([about if moved else cells[0].workload, "", *lines, *([""] if said else []), *said])


def _mega(size: int) -> str:
    return f"{size / 1e6:.3g} MB"


def _texts(cell: Cell, name: str) -> tuple[str, str, str]:
    timing = next((t for t in cell.timings if t.name == name), Timing(name, "none"))
    if timing.min is None:
        return ("-" if timing.status == "none" else timing.status), "", ""
    return _figures(cell, timing.min)


def _figures(cell: Cell, seconds: float | None) -> tuple[str, str, str]:
    """Return a time, the GB/s that it stands for, and the share of the limit that it reaches."""
    if not seconds:
        return "-", "", ""
    limit = cell.limit
    return (
        time_text(seconds),
        f"{(cell.read + cell.written) / seconds / 1e9:.1f}",
        "-" if limit is None else f"{limit / seconds:.0%}",
    )
