"""A kernel's call on given arrays, beside what this machine can reach.

In: a kernel and operands.  Out: a table of times, GB/s and shares of the limit, for a fresh result and `out=`.

    measured(kernel, (x, y)).rows  ->  (("bcastgen", "229 us", "35.0", "98%", ...), ("moving the bytes alone", ...))

The limit is the longer of two times: that of moving as many bytes, and that of the functions at the best rate that
NumPy or bcastgen has for each alone. Of functions beside reductions or moved dims the second is not known.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bcastgen.core.errors import BcastgenError
from bcastgen.expr.nodes import Apply, Constant, Node, Operand, topological
from bcastgen.kernel.kernel import Kernel
from bcastgen.runtime.settings import get_num_threads
from bcastgen.shape.types.cursor import excerpt

from .bandwidth import Mover
from .expression import columns, notes
from .measure import Call, Clock, interleave
from .peers import NUMPY, OURS, PEERS
from .results import Cell, Timing
from .throughput import Throughput
from .workloads import Array, traffic

__all__ = ["Measured", "cells_of", "functions_of_kernel", "measured"]

_MEMORY = "limit of memory"


@dataclass(frozen=True, slots=True)
class Measured:
    """What was measured: a sentence about it, the table's head and rows, and what there is to say of them."""

    about: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        table = (self.head, *self.rows)
        widths = [max(len(row[at]) for row in table) for at in range(len(self.head))]
        lines = ["  ".join(map(str.rjust, row[1:], widths[1:])) for row in table]
        named = [f"{row[0].ljust(widths[0])}  {line}".rstrip() for row, line in zip(table, lines, strict=True)]
        return "\n".join([self.about, *named, *self.notes])


def functions_of_kernel(kernel: Kernel, shapes: Sequence[tuple[int, ...]]) -> list[tuple[str, int]] | None:
    """Return the functions of a kernel's expression, each with its points; None where shapes are not those of operands.

    Examples
    --------
    >>> import bcastgen as bg
    >>> functions_of_kernel(bg.from_text("(f32[?,?] a, f32[?] b) -> a * exp(b)"), [(5, 3), (3,)])
    [('exp_f32', 3)]
    """
    expression = kernel.compilation.typed.expression
    if len(expression.operands) != len(shapes):
        return None  # arrays that are part of the kernel
    known: dict[Node, tuple[int, ...]] = dict(zip(expression.operands, shapes, strict=True))
    found = []
    for node in topological(expression.results):
        if isinstance(node, Apply):
            known[node] = np.broadcast_shapes(*(known[each] for each in node.operands))
            found.append((f"{node.op.name}_{node.dtype}", int(np.prod(known[node], dtype=np.int64))))
        elif isinstance(node, Constant):
            known[node] = ()
        elif not isinstance(node, Operand):
            return None
    return found


def cells_of(kernel: Kernel, operands: Sequence[Any], *, clock: Clock = time.perf_counter) -> tuple[Cell, ...]:
    """Return what calls take that make their results, and that have `out=`.

    Raises
    ------
    BcastgenError
        If the kernel has extents that no operand determines, or these are not its operands.
    """
    if not isinstance(operands, (tuple, list)) or len(operands) != len(kernel.operands):
        wanted, got = ", ".join(kernel.operands), excerpt(repr(operands))
        raise BcastgenError(f"{kernel.__name__}() is measured with a tuple of {wanted}, got {got}")
    if kernel.expression.free_extents:
        raise BcastgenError(f"{kernel.__name__}() has extents that no operand determines; measure one without them")
    given = tuple(operands)
    result = kernel(*given)
    results: tuple[Array, ...] = tuple(map(np.asarray, result if isinstance(result, tuple) else (result,)))
    arrays, threads = tuple(map(np.asarray, given)), get_num_threads()
    read, written = sum(map(traffic, arrays)), sum(map(traffic, results))
    outs = tuple(map(np.empty_like, results))
    names = {"kernel": kernel, "given": given, "out": outs if len(outs) > 1 else outs[0]}
    limits = {f"{_MEMORY} {at}": each for at, each in enumerate(Mover(threads).calls(read, written))}
    needed = functions_of_kernel(kernel, [array.shape for array in arrays])
    maths = None if needed is None else Throughput((PEERS[NUMPY], PEERS[OURS]), threads, clock).taken(needed)
    cells = []
    for variant, text in (("fresh", "kernel(*given)"), ("out", "kernel(*given, out=out)")):
        samples = interleave({OURS: Call(text, names), **limits}, rounds=15, budget=0.4, clock=clock)
        ours = samples[OURS]
        memory = min((each.min for name, each in samples.items() if name != OURS), default=None)
        timing = Timing(OURS, "ok", "", ours.min, ours.median, len(ours.seconds), ours.inner)
        size = max(array.size for array in (*arrays, *results))
        cells.append(Cell(kernel.__name__, "own", size, size, variant, read, written, (timing,), memory, maths))
    return tuple(cells)


def measured(kernel: Kernel, operands: Sequence[Any], *, clock: Clock = time.perf_counter) -> Measured:
    """Return the table of a kernel's calls on these operands."""
    cells, threads = cells_of(kernel, operands, clock=clock), get_num_threads()
    shown = ", ".join(
        f"{name} {array.dtype.name}{list(array.shape)}"
        for name, array in zip(kernel.operands, map(np.asarray, operands), strict=True)
    )
    moved = f"reads {cells[0].read / 1e6:.3g} MB and writes {cells[0].written / 1e6:.3g} MB"
    about = f"{shown}: a call {moved}, by {threads} thread{'s' * (threads > 1)} at most."
    head, rows = columns(cells)
    small = (
        () if any(cell.limit for cell in cells) else ("So few bytes have no limit: the call itself takes the time.",)
    )
    return Measured(about, tuple(head), tuple(map(tuple, rows)), (*small, *notes(cells)))
