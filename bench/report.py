"""Prints measurements: the table of a run, row by row, and the summary of one saved report or several.

In: cells.  Out: aligned plain text.

    python -m bench.report a.json b.json c.json

    add_f32   1k   fresh   412 ns   180 ns   2.29x   numexpr 2.1 us   1.74x   -   1.01
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from bcastgen.core.errors import BcastgenError

from .peers import FAST, NUMPY, OURS
from .results import Cell, Report, Timing
from .runs import Joined, behind_bound, far, geometric_mean, is_behind, join

__all__ = ["faults", "functions", "header", "legend", "main", "row", "saved", "size_text", "summary", "time_text"]

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))
# A negative width aligns to the left.
_COLUMNS = (
    *(("workload", -21), ("size", 5), ("how", 5), (NUMPY, 8), (OURS, 8), ("x numpy", 8), ("best peer", 22)),
    *(("x best", 7), ("limit", 6), ("A/A", 4)),
)


def time_text(seconds: float | None) -> str:
    """Return a time with three digits and a unit.

    Examples
    --------
    >>> time_text(1.2345e-6), time_text(0.25), time_text(None)
    ('1.23 us', '250 ms', '-')
    """
    if seconds is None:
        return "-"
    scale, unit = next((unit for unit in _UNITS if seconds >= unit[0]), _UNITS[-1])
    value = seconds / scale
    digits = 2 if value < 9.995 else 1 if value < 99.95 else 0
    return f"{value:.{digits}f} {unit}"


def size_text(elements: int) -> str:
    """Return a number of elements as it is written on the command line.

    Examples
    --------
    >>> size_text(16), size_text(32 * 1024), size_text(1 << 20), size_text(1000)
    ('16', '32k', '1M', '1000')
    """
    for shift, letter in ((20, "M"), (10, "k")):
        if elements >= 1 << shift and elements % (1 << shift) == 0:
            return f"{elements >> shift}{letter}"
    return str(elements)


def _ratio(value: float | None, unit: str = "x") -> str:
    return "-" if value is None else f"{value:.2f}{unit}"


def _share(cell: Cell) -> str:
    """The share of the limit, with an ``m`` where that is the limit of maths."""
    return "-" if cell.share is None else f"{cell.share:.0%}{'m' if cell.is_maths_bound else ' '}"


def _cell_text(cell: Cell, name: str) -> str:
    timing = next((t for t in cell.timings if t.name == name), Timing(name, "none"))
    return time_text(timing.min) if timing.status in ("ok", "none") else timing.status


def _line(texts: Iterable[str], columns: Sequence[tuple[str, int]] = _COLUMNS) -> str:
    parts = (t.ljust(-width) if width < 0 else t.rjust(width) for t, (_, width) in zip(texts, columns, strict=True))
    return " ".join(parts).rstrip()


def header() -> str:
    """Return the table's first two lines."""
    line = _line(name for name, _ in _COLUMNS)
    return f"{line}\n{'-' * len(line)}"


def _best(cell: Cell) -> str:
    best = cell.best_peer
    return "-" if best is None else f"{best[0]} {time_text(best[1])}"


def row(cell: Cell) -> str:
    """Return one cell as a line of the table."""
    start = [cell.workload, size_text(cell.size), cell.variant]
    if cell.skipped:
        return f"{_line(start, _COLUMNS[:3])} skipped: {cell.skipped}"
    ours = [_cell_text(cell, NUMPY), _cell_text(cell, OURS), _ratio(cell.speedup)]
    return _line([*start, *ours, _best(cell), _ratio(cell.lead), _share(cell), _ratio(cell.spread, "")])


def legend() -> str:
    """Return what the columns mean."""
    return (
        "Times are the fastest round of each; arrays and tensors are made, and functions compiled, outside of them.\n"
        "JAX is waited for. x numpy: NumPy's time over ours. x best: the best peer's (NumPy too). limit: the share of\n"
        "our time that moving the bytes that must move takes (operands and result once each, the result into warm\n"
        "memory, measured in the same rounds), or with m: that its functions take at the best rate of any library.\n"
        "A/A: ours against itself: noise. how: a fresh result, or out=; NumPy and torch copy into out= where the\n"
        "function is more than one of theirs; JAX has no out=."
    )


# ---- the summary -------------------------------------------------------------------------------------------------


def faults(reports: Sequence[Report]) -> list[str]:
    """Return a line for each kind of contestant and workload that was wrong or raised."""
    lines: dict[tuple[str, str, str], str] = {}
    for cell, timing in (fault for report in reports for fault in report.faults):
        where = f"({size_text(cell.size)}, {cell.variant}): {timing.status}: {timing.reason}"
        lines.setdefault((timing.name, cell.workload, timing.status), where)
    return [f"{name} on {workload} {where}" for (name, workload, _), where in lines.items()]


def _means(joined: Sequence[Joined], reports: Sequence[Report]) -> list[str]:
    columns = [("geometric mean", -18), ("cells", 6), ("x numpy", 8), ("x best", 7), ("limit", 6), ("behind", 7)]
    threads = reports[0].threads

    def line(title: str, cells: Sequence[Joined]) -> str:
        share = geometric_mean(each.share for each in cells)
        behind = sum(each.most(lambda cell: is_behind(cell, threads)) for each in cells)
        means = (
            geometric_mean(c.median(lambda cell: cell.speedup) for c in cells),
            geometric_mean(c.lead for c in cells),
        )
        limit = "-" if share is None else f"{share:.0%}"
        return _line([title, str(len(cells)), _ratio(means[0]), _ratio(means[1]), limit, str(behind)], columns)

    kinds = dict.fromkeys(each.first.kind for each in joined)
    lines = [_line((name for name, _ in columns), columns)]
    lines += [line(kind, [each for each in joined if each.first.kind == kind]) for kind in kinds]
    lines.append(line("all", joined))
    if len(reports) > 1:
        lines += [line(f"all, run {number}", join([report])) for number, report in enumerate(reports, 1)]
    return lines


def _worst_first(
    title: str, joined: Iterable[Joined], figure: Callable[[Cell], float | None], note: Callable[[Cell], str]
) -> list[str]:
    """Return a line for each cell, the smallest figure first; the title says how many there are."""
    ranked = sorted(((each.median(figure) or 0.0, each) for each in joined), key=lambda pair: pair[0])
    lines = [title.format(len(ranked))]
    for value, each in ranked:
        cell = each.first
        name = f"{cell.workload:<21} {size_text(cell.size):>5} {cell.variant:>5} {time_text(cell.seconds(OURS)):>8}"
        runs = [figure(one) for one in each.cells]
        each_run = f" ({' '.join(_ratio(run, '') for run in runs)})" if len(runs) > 1 else ""
        lines.append(f"{name}  {value:.2f}{each_run} {note(cell)}".rstrip())
    return lines


def _behind(joined: Sequence[Joined], reports: Sequence[Report]) -> list[str]:
    threads = reports[0].threads
    bound = behind_bound(threads)
    slow = [each for each in joined if each.most(lambda cell: cell.lead is not None and cell.lead < bound)]
    if not slow:
        return [f"no cell is below {bound} of the best peer"]
    often = " in most of the runs" if len(reports) > 1 else ""
    title = f"{{}} cells below {bound} of the best peer{often}, worst first (~: within its own A/A spread)"

    def note(cell: Cell) -> str:
        return f"of {_best(cell)}{'' if is_behind(cell, threads) else ' ~'}"

    return _worst_first(title, slow, lambda cell: cell.lead, note)


def _far(joined: Sequence[Joined], reports: Sequence[Report]) -> list[str]:
    slow = [each for each in joined if each.most(lambda cell: far(cell, reports[0]))]
    if not slow:
        return []
    title = "{} cells far from their limit (memory past the second cache, maths from 16k on), worst first"

    def note(cell: Cell) -> str:
        return f"of {time_text(cell.limit)} ({'maths' if cell.is_maths_bound else 'memory'})"

    return _worst_first(title, slow, lambda cell: cell.share, note)


def functions(joined: Sequence[Joined]) -> list[str]:
    """Return where each function stands: ns an element at the largest size that lies in a cache."""
    columns = [("function", -14), ("size", 5), (OURS, 9), ("fast", 7), ("best peer", 20)]
    chosen: dict[str, Cell] = {}
    for each in joined:
        cell = each.first
        if cell.kind == "function" and cell.elements <= 1 << 15:
            best = chosen.get(cell.workload)
            if best is None or (cell.elements, cell.variant) >= (best.elements, best.variant):
                chosen[cell.workload] = cell

    def rate(cell: Cell, seconds: float | None) -> str:
        return "-" if seconds is None else f"{seconds / cell.elements * 1e9:.3f}"

    lines = [_line((name for name, _ in columns), columns)] if chosen else []
    for name, cell in chosen.items():
        fastest = cell.best_peer
        peer = "-" if fastest is None else f"{fastest[0]} {rate(cell, fastest[1])}"
        ours = rate(cell, cell.seconds(OURS)), rate(cell, cell.seconds(FAST))
        lines.append(_line([name, size_text(cell.size), *ours, peer], columns))
    return lines


def _where(reports: Sequence[Report]) -> list[str]:
    """The facts that all runs share, once; those that differ, one beside the other."""
    lines = []
    for name in {**reports[0].machine, **reports[0].options}:
        values = dict.fromkeys({**report.machine, **report.options}.get(name, "-") for report in reports)
        lines.append(f"{name}: {' | '.join(values)}")
    return lines


def summary(reports: Sequence[Report]) -> str:
    """Return machine, geometric means, cells behind the best peer or far from the limit, and what went wrong.

    Raises
    ------
    BcastgenError
        If the reports are of runs with different numbers of threads.
    """
    if len({report.threads for report in reports}) > 1:
        raise BcastgenError("these runs had different numbers of threads; summarise those of one number together")
    joined, wrong = join(reports), faults(reports)
    parts = [_where(reports), functions(joined), _behind(joined, reports), _far(joined, reports)]
    parts += [_means(joined, reports), ["wrong or failed:", *wrong] if wrong else []]
    return "\n\n".join("\n".join(part) for part in parts if part)


def saved(file: Path) -> Report:
    """Return the report in a file.

    Raises
    ------
    BcastgenError
        If it cannot be read or is none.
    """
    try:
        return Report.from_json(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise BcastgenError(f"{file}: {error.strerror or error}; it is to be a file that --json wrote") from error
    except UnicodeDecodeError as error:
        raise BcastgenError(f"{file}: {error}") from error
    except RecursionError as error:
        raise BcastgenError(f"{file} is nested too deeply; it is to be a file that --json wrote") from error


def main(argv: Sequence[str] | None = None) -> int:
    """Run ``python -m bench.report``; return 0, or 2 for files that do not serve."""
    parser = argparse.ArgumentParser(prog="bench.report", description="Summarise the reports of one run or several.")
    parser.add_argument("files", metavar="FILE", type=Path, nargs="+", help="written by bcastgen bench --json")
    try:
        print(summary([saved(file) for file in parser.parse_args(argv).files]))
    except BcastgenError as error:
        print(f"bench.report: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
