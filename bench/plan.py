"""What a run measures: which workloads at which sizes, and against whom.

In: arguments.  Out: pairs of a workload and a number of elements; contestants.

    --kinds narrow --sizes 3,1k -> (narrow2_row_f32, 3), (narrow2_row_f32, 1024), ...

The default run is a selection that takes about two minutes, `--quick` one of a quarter of a minute; `--full` is all.
"""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Iterable
from difflib import get_close_matches

from bcastgen.core.errors import BcastgenError

from .peers import FAST, FAST_PEERS, NUMPY, OWN, PEERS, Peer, installed
from .workloads import KINDS, QUICK, WORKLOADS, Workload

__all__ = ["LARGE_SIZE", "SIZES", "add_arguments", "contestants", "listing", "parse_size", "plan"]

# Of a full run; a row says whether it is also run past every cache.
SIZES, LARGE_SIZE = ("3", "16", "1k", "32k", "1M"), "32M"
# A function of one vector is the same call for each row: its sizes are where vectors begin to pay.
_FUNCTION_SIZES = ("16", "1k", "32k", "1M")
_CORE_SIZES = ("16", "32k", "1M")
# What the default run has past every cache: all `large` rows would take minutes.
_CORE_LARGE = ("add_f32", "bias_f32")
ALL_PEERS = "all"
# So many names an error lists.
_SHOWN = 20


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments that choose."""
    others = [name for name in PEERS if name not in OWN]
    parser.add_argument("--workloads", metavar="A,B", help=f"some of the {len(WORKLOADS)} that --list prints")
    parser.add_argument("--list", action="store_true", help="print the workloads of each class and stop")
    parser.add_argument("--kinds", metavar="A,B", help=f"classes of workloads, of: {', '.join(KINDS)}")
    parser.add_argument("--sizes", metavar="N,N", help="result elements; k is 1024, M 1024k (default: 16 to 32M)")
    parser.add_argument(
        "--peers",
        metavar="A,B",
        help=f"of: {', '.join(others)}; 'all' has those, too, that compile for long (default: the others installed)",
    )
    amount = parser.add_mutually_exclusive_group()
    amount.add_argument("--quick", action="store_true", help="one workload a class, a quarter of a minute")
    amount.add_argument("--full", action="store_true", help="every workload at every size, some quarter of an hour")


def listing() -> str:
    """Return the names of all workloads, a paragraph a class."""
    paragraphs = (
        textwrap.fill(
            f"{kind}: {', '.join(row.name for row in WORKLOADS.values() if row.kind == kind)}",
            width=100,
            subsequent_indent="    ",
        )
        for kind in KINDS
    )
    return "\n".join(paragraphs)


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
        # A slip is told from words that mean something else; the names of all workloads fill a screen.
        close = [near for name in unknown for near in get_close_matches(name, known, 1)]
        cure = f"did you mean {' and '.join(close)}?" if close else f"choose from {', '.join(known[:_SHOWN])}"
        more = ", ...: bcastgen bench --list prints them" if not close and len(known) > _SHOWN else ""
        raise BcastgenError(f"unknown {what} {', '.join(map(repr, unknown))}; {cure}{more}")
    return names.split(",")


def _sizes(row: Workload, arguments: argparse.Namespace) -> list[str]:
    """Return the sizes of a workload where none are asked for."""
    if arguments.quick:
        return list(_CORE_SIZES)
    if arguments.full:
        usual = _FUNCTION_SIZES if row.kind == "function" else SIZES
        return [*usual, *([LARGE_SIZE] if row.large else [])]
    return [*_CORE_SIZES, *([LARGE_SIZE] if row.name in _CORE_LARGE else [])]


def plan(arguments: argparse.Namespace) -> list[tuple[Workload, int]]:
    """Return what is measured, in the order of the tables."""
    asked = arguments.workloads or arguments.kinds
    names = list(WORKLOADS) if arguments.full or asked else [row.name for row in WORKLOADS.values() if row.core]
    if arguments.quick and not asked:
        names = list(QUICK)
    if arguments.workloads:
        names = _chosen(arguments.workloads, WORKLOADS, "workload")
    if arguments.kinds:
        kinds = _chosen(arguments.kinds, KINDS, "kind")
        names = [name for name in names if WORKLOADS[name].kind in kinds]
    given = arguments.sizes.split(",") if arguments.sizes else None
    return [
        (WORKLOADS[name], parse_size(size)) for name in names for size in given or _sizes(WORKLOADS[name], arguments)
    ]


def contestants(names: str | None, threads: int) -> tuple[Peer, ...]:
    """Return who takes part: ours and NumPy always, which results are checked against; others where installed."""
    everyone = [peer for peer in PEERS.values() if peer.least_threads <= threads]
    if names is None or names == ALL_PEERS:
        return installed(peer for peer in everyone if names == ALL_PEERS or not peer.heavy)
    wanted = {*_chosen(names, PEERS, "peer"), NUMPY, *(name for name in OWN if not PEERS[name].heavy)}
    # Who contracts is compared with ours that does.
    wanted |= {FAST} if wanted & FAST_PEERS else set()
    peers = [peer for peer in PEERS.values() if peer.name in wanted]
    there = installed(peers)
    missing = [peer.name for peer in peers if peer not in there]
    if missing:
        raise BcastgenError(f"peer {', '.join(map(repr, missing))} is not installed; install it or leave it out")
    return there
