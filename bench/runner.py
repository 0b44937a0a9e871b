"""Runs workloads x sizes x contestants: checks every result against NumPy's first, then times in interleaved rounds.

In: the arguments of ``bcastgen bench``.  Out: a table on the terminal, JSON if asked for, and an exit code.

    main(["--workloads", "add_f32", "--sizes", "16,1k", "--json", "r.json"]) -> 0

A contestant that is wrong is reported and not timed; one that is absent or has no such form leaves a dash.
"""

from __future__ import annotations

import argparse
import io
import sys
import time
import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TextIO

import numpy as np

from bcastgen.cli.parser import Parser
from bcastgen.core.errors import BcastgenError
from bcastgen.core.progress import Progress
from bcastgen.kernel.uncompiled import why_uncompiled

from . import expression
from .bandwidth import Mover
from .check import difference
from .compare import comparison
from .curves import page
from .figure import figure
from .machine import describe, threads_limited
from .measure import Call, Clock, Samples, interleave
from .peers import AGAIN, OURS, OWN, Case, Peer
from .plan import add_arguments, contestants, listing, plan
from .report import header, legend, row, saved, size_text, summary
from .results import Cell, Report, Timing
from .spelling import NoForm
from .throughput import Throughput
from .workloads import Array, Workload, traffic

__all__ = ["Limits", "Options", "footprint", "main", "measure_cell", "parser_of", "run"]

# Peers may contract, and have their own functions: this much further from the reference than we may be.
PEER_SLACK = 8
_PROBE = 1 << 17
_MEMORY = "limit of memory"
_STDOUT = Path("-")
# Longer than an OpenMP library's threads spin before they sleep.
_SETTLE = 3e-3


@dataclass(frozen=True, slots=True)
class Options:
    """How to measure.

    Attributes
    ----------
    rounds : samples of each contestant in a cell, at most.
    budget : seconds for the rounds of one cell.
    total : seconds for the rounds of the whole run: what is left is shared among the cells left.
    threads : threads that each contestant may use.
    seed : of the operands.
    limits : whether each cell's limits are measured, too.
    memory : bytes that one cell may need.
    """

    rounds: int = 15
    budget: float = 0.4
    total: float = 60.0
    threads: int = 1
    seed: int = 0
    limits: bool = True
    memory: int = 3 << 30


@dataclass(frozen=True, slots=True)
class Limits:
    """What measures the limits of a cell; without them it has none."""

    mover: Mover
    throughput: Throughput


# ---- one cell ----------------------------------------------------------------------------------------------------


@cache
def _bytes_per_element(workload: Workload) -> float:
    """Bytes that checking and timing need for each element asked for, measured past NumPy's own buffers."""
    operands = workload.operands(_PROBE, np.random.default_rng(0))
    tracemalloc.start()
    try:
        result = workload.expected(operands)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    held = sum(operand.nbytes for operand in operands)
    # NumPy's temporaries and result, the buffer for out=, and one fresh result of another contestant.
    needed: float = (held + peak + 2 * result.nbytes) / _PROBE
    return needed


def footprint(workload: Workload, size: int) -> int:
    """Return about how many bytes a cell of this size needs at once.

    Examples
    --------
    >>> footprint(WORKLOADS["add_f32"], 1 << 20) >> 20
    20
    """
    return round(_bytes_per_element(workload) * size)


def _poison(out: Array, expected: Array) -> None:
    """Fill the buffer with what is wrong everywhere: an element left unwritten must not pass for a result."""
    if out.dtype.kind in "fc":
        out.fill(np.nan)
    else:
        np.invert(expected, out=out)


def _prepared(peer: Peer, case: Case, expected: Array) -> Call | Timing:
    """Return the call, compiled and checked, or what stands in its place."""
    workload = case.workload
    if case.out is not None:
        _poison(case.out, expected)
    try:
        call = peer.prepare(case)
        if call is None:
            return Timing(peer.name, "none")
        actual = call.value()
    except NoForm as answer:
        return Timing(peer.name, "none", str(answer))
    except Exception as error:  # a peer may raise anything: it is reported, and the run goes on
        return Timing(peer.name, "failed", " ".join(f"{type(error).__name__}: {error}".split())[:200])
    slack = 0 if peer.name in (OURS, AGAIN) else PEER_SLACK
    wrong = difference(expected, actual, workload.ulp + slack, workload.scale)
    return call if wrong is None else Timing(peer.name, "wrong", wrong)


def _timing(name: str, samples: Samples) -> Timing:
    return Timing(name, "ok", "", samples.min, samples.median, len(samples.seconds), samples.inner)


def measure_cell(
    workload: Workload,
    size: int,
    variant: str,
    peers: Sequence[Peer],
    options: Options,
    limits: Limits | None = None,
    *,
    clock: Clock = time.perf_counter,
) -> Cell:
    """Check and time the contestants on one workload at one size.

    Parameters
    ----------
    variant : ``"fresh"`` for a new result, ``"out"`` for one that exists.
    """
    needs = footprint(workload, size)
    if needs > options.memory:
        why = f"needs about {needs / (1 << 30):.1f} GiB, allowed {options.memory / (1 << 30):.1f}"
        return Cell(workload.name, workload.kind, size, 0, variant, 0, 0, skipped=why)
    arrays = workload.build(size, np.random.default_rng(options.seed))
    operands = workload.view(*arrays)
    expected = workload.expected(operands)
    out = (workload.out or np.empty_like)(expected) if variant == "out" else None
    case = Case(workload, arrays, operands, out)
    prepared = {peer.name: _prepared(peer, case, expected) for peer in peers}
    # A reduction has few results of many elements.
    elements, read = max(expected.size, *(each.size for each in operands)), sum(map(traffic, operands))
    written = traffic(expected if out is None else out)
    del expected
    calls = {name: call for name, call in prepared.items() if isinstance(call, Call)}
    moving = () if limits is None else limits.mover.calls(read, written)
    calls |= {f"{_MEMORY} {number}": each for number, each in enumerate(moving)}
    settle = _SETTLE if options.threads > 1 else 0.0
    samples = interleave(calls, options.rounds, options.budget, clock=clock, settle=settle)
    timings = tuple(
        value if isinstance(value, Timing) else _timing(name, samples[name]) for name, value in prepared.items()
    )
    memory = min((each.min for name, each in samples.items() if name.startswith(_MEMORY)), default=None)
    maths = None if limits is None else limits.throughput.seconds(case)
    return Cell(workload.name, workload.kind, size, elements, variant, read, written, timings, memory, maths)


def _rates(limits: Limits | None) -> str:
    """Return the best rates of the functions that were needed, in ns an element."""
    rates = {} if limits is None else limits.throughput.rates
    return ", ".join(f"{name} {rate * 1e9:.3f}" for name, rate in rates.items())


# ---- the whole run -----------------------------------------------------------------------------------------------


def run(
    plan: Sequence[tuple[Workload, int]],
    peers: Sequence[Peer],
    options: Options,
    stream: TextIO,
    *,
    clock: Clock = time.perf_counter,
) -> Report:
    """Measure each workload and size of the plan, fresh and into ``out=``; write the table row by row.

    Interrupted by the user, it returns what it has.
    """
    for peer in peers:
        peer.limit(options.threads)
    limits = Limits(Mover(options.threads), Throughput(peers, options.threads, clock)) if options.limits else None
    print(header(), file=stream, flush=True)
    todo = [(workload, size, variant) for workload, size in plan for variant in ("fresh", "out")]
    cells: list[Cell] = []
    left = options.total
    try:
        with Progress("bench", len(todo)) as progress:
            for done, (workload, size, variant) in enumerate(todo):
                progress.step(f"{workload.name} {size_text(size)} {variant}")
                budget = min(options.budget, max(0.0, left) / (len(todo) - done))
                began = clock()
                chosen = replace(options, budget=budget)
                cell = measure_cell(workload, size, variant, peers, chosen, limits, clock=clock)
                left -= clock() - began
                cells.append(cell)
                progress.clear()
                print(row(cell), file=stream, flush=True)
    except KeyboardInterrupt:
        print("interrupted; what follows is what was measured", file=stream)
    how = {"rounds": str(options.rounds), "seed": str(options.seed), "rates": _rates(limits)}
    return Report(describe((peer.module for peer in peers), options.threads), how, tuple(cells))


# ---- the command line --------------------------------------------------------------------------------------------


def parser_of() -> argparse.ArgumentParser:
    """Return the parser of ``bcastgen bench``."""
    parser = Parser(prog="bcastgen bench", description=(__doc__ or "").partition("\n")[0])
    expression.add_arguments(parser)
    add_arguments(parser)
    parser.add_argument(
        "--json", metavar="FILE", type=Path, help="write the measurements to FILE; - is stdout, and tables go to stderr"
    )
    parser.add_argument(
        "--report", metavar="FILE", type=Path, nargs="+", help="summarise the measurements in these files and stop"
    )
    parser.add_argument(
        "--plot",
        metavar="FILE",
        type=Path,
        help="draw each library's time over ours to FILE, an SVG; in an .html also the roofline and a curve a workload",
    )
    parser.add_argument("--compare", metavar="FILE", type=Path, help="compare with the measurements in FILE, of --json")
    parser.add_argument("--rounds", metavar="N", type=int, help="samples of each contestant in a cell")
    parser.add_argument("--threads", metavar="N", type=int, default=1, help="threads of each contestant (default: 1)")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="of the operands (default: 0)")
    return parser


def _options(arguments: argparse.Namespace) -> Options:
    chosen = Options(threads=arguments.threads, seed=arguments.seed)
    if arguments.quick:
        chosen = replace(chosen, rounds=7, budget=0.15, total=10.0)
    if arguments.full:
        chosen = replace(chosen, rounds=10, total=600.0)
    if arguments.rounds is not None:
        # Rounds that were asked for are run, however long they take.
        chosen = replace(chosen, rounds=arguments.rounds, budget=float("inf"), total=float("inf"))
    if chosen.rounds < 1 or chosen.threads < 1:
        raise BcastgenError("--rounds and --threads must be at least 1")
    return chosen


def _measure(arguments: argparse.Namespace, stream: TextIO) -> int:
    why = why_uncompiled()
    if why is not None:
        raise BcastgenError(f"NumPy computes the kernels, and would be measured under the name bcastgen: {why}")
    if arguments.expression is None and (arguments.shape or arguments.inputs):
        raise BcastgenError("--shape and --in are operands of an expression; write one in front of them")
    options, peers = _options(arguments), contestants(arguments.peers, arguments.threads)
    old = None if arguments.compare is None else saved(arguments.compare)
    for flag, file in (("--json", arguments.json), ("--plot", arguments.plot)):
        if file is not None and not file.absolute().parent.is_dir():
            raise BcastgenError(f"{flag} {file}: there is no such folder; make it first")
    with threads_limited(options.threads):
        if arguments.expression is None:
            report = run(plan(arguments), peers, options, stream)
            print(f"\n{legend()}\n\n{summary([report])}", file=stream)
        else:
            # It is measured whatever memory it needs: its operands are there already. The table is its own.
            report = run(
                [expression.workload_of(arguments)], peers, replace(options, memory=sys.maxsize), io.StringIO()
            )
            print(expression.table(report.cells, arguments.markdown), file=stream)
    if arguments.json == _STDOUT:
        print(report.to_json())
    elif arguments.json is not None:
        arguments.json.write_text(report.to_json() + "\n", encoding="utf-8")
    if old is not None:
        print(f"\n{comparison(old, report)}", file=stream)
    _plot([report], arguments.plot)
    return 1 if any(timing.name in OWN for _, timing in report.faults) else 0


def _plot(reports: Sequence[Report], file: Path | None) -> None:
    if file is not None:
        draw = page if file.suffix in (".html", ".htm") else figure
        file.write_text(draw(reports), encoding="utf-8")


def main(argv: Sequence[str] | None = None, stream: TextIO | None = None) -> int:
    """Run ``bcastgen bench``.

    Returns
    -------
    int
        0; 1 if one of our own results was wrong or failed, or for an expression or a file that does not serve; a
        command line that cannot be read leaves with 2.
    """
    arguments = parser_of().parse_args(argv)
    stream = stream or (sys.stderr if arguments.json == _STDOUT else sys.stdout)
    if arguments.list:
        print(listing(), file=stream)
        return 0
    try:
        if arguments.report is None:
            return _measure(arguments, stream)
        reports = [saved(file) for file in arguments.report]
        print(summary(reports), file=stream)
        _plot(reports, arguments.plot)
    except BcastgenError as error:
        print(f"bcastgen bench: {error}", file=sys.stderr)
        return 1
    return 0
