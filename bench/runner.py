"""Runs workloads x sizes x contestants: checks every result against NumPy's first, then times in interleaved rounds.

In: the arguments of ``bcastgen bench``.  Out: a table on the terminal, JSON if asked for, and an exit code.

    main(["--workloads", "add_f32", "--sizes", "16,1k", "--json", "r.json"]) -> 0

A contestant that is wrong is reported and not timed; one that is absent or has no such form leaves a dash.
"""

from __future__ import annotations

import argparse
import sys
import time
import tracemalloc
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TextIO

import numpy as np

from bcastgen.errors import BcastgenError

from .check import difference
from .machine import describe, threads_limited
from .measure import Call, Clock, Samples, interleave
from .peers import AGAIN, NUMPY, OURS, PEERS, Peer, installed
from .report import header, legend, row, summary
from .results import Cell, Report, Timing
from .workloads import QUICK, WORKLOADS, Array, Operands, Workload, compulsory_bytes

__all__ = ["Options", "footprint", "main", "measure_cell", "parse_size", "run"]

# Peers may contract, and have their own functions: this much further from NumPy than we may be.
PEER_SLACK = 8
SIZES, QUICK_SIZES = ("16", "1k", "32k", "1M"), ("16", "32k", "1M")
# What the default run also shows past every cache; all workloads at this size would take minutes.
LARGE, LARGE_SIZE = ("add_f32", "gelu_tanh_f32", "bias_f32", "less_f32"), "32M"
_PROBE = 1 << 17


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
    memory : bytes that one cell may need.
    """

    rounds: int = 15
    budget: float = 0.4
    total: float = 100.0
    threads: int = 1
    seed: int = 0
    memory: int = 2 << 30


# ---- one cell ----------------------------------------------------------------------------------------------------


@cache
def _bytes_per_element(workload: Workload) -> float:
    """Bytes that checking and timing need for each result element, measured on an instance past NumPy's own buffers."""
    operands = workload.build(_PROBE, np.random.default_rng(0))
    tracemalloc.start()
    try:
        result = workload.function(*operands)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    held = sum(operand.nbytes for operand in operands)
    # NumPy's temporaries and result, the buffer for out=, and one fresh result of another contestant.
    needed: float = (held + peak + 2 * result.nbytes) / result.size
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
    if out.dtype.kind == "f":
        out.fill(np.nan)
    else:
        np.invert(expected, out=out)


def _prepared(peer: Peer, workload: Workload, operands: Operands, out: Array | None, expected: Array) -> Call | Timing:
    """Return the call, compiled and checked, or what stands in its place."""
    if out is not None:
        _poison(out, expected)
    try:
        call = peer.prepare(workload, operands, out)
        if call is None:
            return Timing(peer.name, "none")
        actual = call.value()
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
        return Cell(workload.name, workload.kind, size, 0, variant, 0, skipped=why)
    operands = workload.build(size, np.random.default_rng(options.seed))
    expected = np.asarray(workload.function(*operands))
    out = np.empty_like(expected) if variant == "out" else None
    prepared = {peer.name: _prepared(peer, workload, operands, out, expected) for peer in peers}
    elements, nbytes = expected.size, compulsory_bytes(operands, expected)
    del expected
    calls = {name: call for name, call in prepared.items() if isinstance(call, Call)}
    samples = interleave(calls, options.rounds, options.budget, clock=clock)
    timings = tuple(
        value if isinstance(value, Timing) else _timing(name, samples[name]) for name, value in prepared.items()
    )
    return Cell(workload.name, workload.kind, size, elements, variant, nbytes, timings)


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
    names = [peer.name for peer in peers]
    for peer in peers:
        peer.limit(options.threads)
    print(header(names), file=stream, flush=True)
    todo = [(workload, size, variant) for workload, size in plan for variant in ("fresh", "out")]
    cells: list[Cell] = []
    left = options.total
    try:
        for done, (workload, size, variant) in enumerate(todo):
            budget = min(options.budget, max(0.0, left) / (len(todo) - done))
            began = clock()
            cell = measure_cell(workload, size, variant, peers, replace(options, budget=budget), clock=clock)
            left -= clock() - began
            cells.append(cell)
            print(row(cell, names), file=stream, flush=True)
    except KeyboardInterrupt:
        print("interrupted; what follows is what was measured", file=stream)
    how = {"rounds": str(options.rounds), "seed": str(options.seed)}
    return Report(describe((peer.module for peer in peers), options.threads), how, tuple(cells))


# ---- the command line --------------------------------------------------------------------------------------------


def parse_size(text: str) -> int:
    """Return a number of elements from ``"16"``, ``"32k"`` (1024 each) or ``"1M"``.

    Examples
    --------
    >>> parse_size("32k")
    32768
    """
    shift = {"k": 10, "M": 20}.get(text[-1:], 0)
    digits = text[:-1] if shift else text
    if not digits.isascii() or not digits.isdigit() or int(digits) == 0:
        raise BcastgenError(f"size {text!r} is not a positive number of elements such as 16, 32k or 1M")
    return int(digits) << shift


def _chosen(names: str, rows: Iterable[str], what: str) -> list[str]:
    known = tuple(rows)
    unknown = [name for name in names.split(",") if name not in known]
    if unknown:
        raise BcastgenError(f"unknown {what} {', '.join(map(repr, unknown))}; choose from {', '.join(known)}")
    return names.split(",")


def _parser() -> argparse.ArgumentParser:
    others = [name for name in PEERS if name not in (OURS, AGAIN)]
    parser = argparse.ArgumentParser(prog="bcastgen bench", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--workloads", metavar="A,B", help=f"of: {', '.join(WORKLOADS)}")
    parser.add_argument("--sizes", metavar="N,N", help="result elements; k is 1024, M 1024k (default: 16 to 32M)")
    parser.add_argument("--peers", metavar="A,B", help=f"of: {', '.join(others)} (default: all that are installed)")
    parser.add_argument("--json", metavar="FILE", type=Path, help="write the measurements to FILE")
    parser.add_argument("--report", metavar="FILE", type=Path, help="summarise the measurements in FILE and stop")
    parser.add_argument("--rounds", metavar="N", type=int, help="samples of each contestant in a cell")
    parser.add_argument("--threads", metavar="N", type=int, default=1, help="threads of each contestant (default: 1)")
    parser.add_argument("--seed", metavar="N", type=int, default=0, help="of the operands (default: 0)")
    parser.add_argument("--quick", action="store_true", help="one workload a class, a quarter of a minute")
    return parser


def _plan(arguments: argparse.Namespace) -> list[tuple[Workload, int]]:
    names = list(QUICK) if arguments.quick else list(WORKLOADS)
    if arguments.workloads:
        names = _chosen(arguments.workloads, WORKLOADS, "workload")
    if arguments.sizes:
        sizes = [parse_size(size) for size in arguments.sizes.split(",")]
        return [(WORKLOADS[name], size) for name in names for size in sizes]
    sizes = [parse_size(size) for size in (QUICK_SIZES if arguments.quick else SIZES)]
    large = [] if arguments.quick else [parse_size(LARGE_SIZE)]
    return [(WORKLOADS[name], size) for name in names for size in (*sizes, *(large if name in LARGE else []))]


def _contestants(names: str | None) -> tuple[Peer, ...]:
    """Ours and NumPy are always there: one is what this is about, the other is what results are checked against."""
    wanted = set(_chosen(names, PEERS, "peer")) if names else set(PEERS)
    peers = [peer for name, peer in PEERS.items() if name in wanted | {NUMPY, OURS, AGAIN}]
    there = installed(peers)
    missing = [peer.name for peer in peers if peer not in there]
    if names and missing:
        raise BcastgenError(f"peer {', '.join(map(repr, missing))} is not installed; install it or leave it out")
    return there


def _options(arguments: argparse.Namespace) -> Options:
    chosen = Options(threads=arguments.threads, seed=arguments.seed)
    if arguments.quick:
        chosen = replace(chosen, rounds=7, budget=0.15, total=10.0)
    if arguments.rounds is not None:
        # Rounds that were asked for are run, however long they take.
        chosen = replace(chosen, rounds=arguments.rounds, budget=float("inf"), total=float("inf"))
    if chosen.rounds < 1 or chosen.threads < 1:
        raise BcastgenError("--rounds and --threads must be at least 1")
    return chosen


def _measure(arguments: argparse.Namespace, stream: TextIO) -> int:
    options, plan, peers = _options(arguments), _plan(arguments), _contestants(arguments.peers)
    if arguments.json is not None and not arguments.json.absolute().parent.is_dir():
        raise BcastgenError(f"--json {arguments.json}: there is no such folder; make it first")
    with threads_limited(options.threads):
        report = run(plan, peers, options, stream)
    if arguments.json is not None:
        arguments.json.write_text(report.to_json() + "\n", encoding="utf-8")
    print(f"\n{legend()}\n\n{summary(report)}", file=stream)
    return 1 if any(timing.name in (OURS, AGAIN) for _, timing in report.faults) else 0


def _saved(file: Path) -> Report:
    try:
        return Report.from_json(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BcastgenError(f"--report {file}: {error}") from error


def main(argv: Sequence[str] | None = None, stream: TextIO | None = None) -> int:
    """Run ``bcastgen bench``.

    Returns
    -------
    int
        0; 1 if one of our own results was wrong or failed; 2 for arguments or files that do not serve.
    """
    arguments = _parser().parse_args(argv)
    stream = stream or sys.stdout
    try:
        if arguments.report is None:
            return _measure(arguments, stream)
        print(summary(_saved(arguments.report)), file=stream)
    except BcastgenError as error:
        print(f"bcastgen bench: {error}", file=sys.stderr)
        return 2
    return 0
