"""Prints measurements: the table of a run, row by row, and the summary of a saved report.

In: cells.  Out: aligned plain text.

    add_f32   1k   fresh   412 ns   180 ns   2.29x   68.2   1.01   numexpr 2.1 us   1.74x
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import exp, log

from .peers import AGAIN, NUMPY, OURS
from .results import Cell, Report, Timing

__all__ = ["faults", "geometric_mean", "header", "legend", "row", "size_text", "summary", "time_text"]

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns"))


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


def _cell_text(cell: Cell, name: str) -> str:
    timing = next((t for t in cell.timings if t.name == name), Timing(name, "none"))
    return time_text(timing.min) if timing.status in ("ok", "none") else timing.status


def _columns(peers: Sequence[str]) -> list[tuple[str, int]]:
    rest = [name for name in peers if name not in (NUMPY, OURS, AGAIN)]
    fixed = [("workload", -18), ("size", 5), ("how", 6), (NUMPY, 9), (OURS, 9), ("x numpy", 8), ("GB/s", 6), ("A/A", 4)]
    return [*fixed, *((name, max(9, len(name))) for name in rest), ("x best", 7)]


def _line(texts: Iterable[str], columns: Sequence[tuple[str, int]]) -> str:
    # A negative width aligns to the left.
    parts = (t.ljust(-width) if width < 0 else t.rjust(width) for t, (_, width) in zip(texts, columns, strict=True))
    return " ".join(parts).rstrip()


def header(peers: Sequence[str]) -> str:
    """Return the table's first two lines for these contestants."""
    columns = _columns(peers)
    line = _line((name for name, _ in columns), columns)
    return f"{line}\n{'-' * len(line)}"


def row(cell: Cell, peers: Sequence[str]) -> str:
    """Return one cell as a line of the table."""
    columns = _columns(peers)
    start = [cell.workload, size_text(cell.size), cell.variant]
    if cell.skipped:
        return f"{_line(start, columns[:3])} skipped: {cell.skipped}"
    bandwidth = "-" if cell.bandwidth is None else f"{cell.bandwidth / 1e9:.1f}"
    ours = [_cell_text(cell, NUMPY), _cell_text(cell, OURS), _ratio(cell.speedup), bandwidth, _ratio(cell.spread, "")]
    rest = [_cell_text(cell, name) for name, _ in columns[8:-1]]
    return _line([*start, *ours, *rest, _ratio(cell.lead)], columns)


def legend() -> str:
    """Return what the columns mean."""
    return (
        "Times are the fastest round of each. x numpy: NumPy's time over ours. x best: the best peer's (NumPy too).\n"
        "GB/s: bytes that must move (operands once, result once) over our time. A/A: ours against itself: noise.\n"
        "how: a fresh result, or out=; NumPy and torch copy into out= where the function is more than one ufunc."
    )


def faults(report: Report) -> list[str]:
    """Return a line for each kind of contestant and workload that was wrong or raised."""
    lines: dict[tuple[str, str, str, str], str] = {}
    for cell, timing in report.faults:
        where = f"{size_text(cell.size)}, {cell.variant}"
        lines.setdefault((cell.workload, timing.name, timing.status, timing.reason), where)
    return [f"{name} on {load} ({where}): {status}: {why}" for (load, name, status, why), where in lines.items()]


def geometric_mean(values: Iterable[float | None]) -> float | None:
    """Return the geometric mean of the values that are there, or None.

    Examples
    --------
    >>> geometric_mean([2.0, None, 8.0])
    4.0
    """
    there = [value for value in values if value is not None]
    return exp(sum(map(log, there)) / len(there)) if there else None


def _means(report: Report) -> list[str]:
    kinds = list(dict.fromkeys(cell.kind for cell in report.cells))
    lines = [f"{'geometric mean':<18} {'cells':>6} {'x numpy':>8} {'x best':>7}"]
    for kind in (*kinds, "all"):
        cells = [cell for cell in report.cells if cell.speedup is not None and kind in (cell.kind, "all")]
        means = (geometric_mean(c.speedup for c in cells), geometric_mean(c.lead for c in cells))
        lines.append(f"{kind:<18} {len(cells):>6} {_ratio(means[0]):>8} {_ratio(means[1]):>7}")
    return lines


def _behind(report: Report) -> list[str]:
    slow = [(cell.lead, cell) for cell in report.cells if cell.lead is not None and cell.lead < 1]
    slow.sort(key=lambda pair: pair[0])
    if not slow:
        return ["no cell is slower than the best peer"]
    lines = [f"{len(slow)} cells slower than the best peer, worst first"]
    for lead, cell in slow:
        best = cell.best_peer
        assert best is not None
        noise = "  within the A/A spread" if cell.spread is not None and 1 / lead <= cell.spread else ""
        lines.append(
            f"{cell.workload:<18} {size_text(cell.size):>5} {cell.variant:>6} {time_text(cell.seconds(OURS)):>9}"
            f"  {lead:.2f}x of {best[0]} {time_text(best[1])}{noise}"
        )
    return lines


def summary(report: Report) -> str:
    """Return machine, geometric means, cells behind the best peer (worst first) and what went wrong."""
    where = [f"{name}: {value}" for name, value in (*report.machine.items(), *report.options.items())]
    wrong = faults(report)
    parts = [where, _means(report), _behind(report), ["wrong or failed:", *wrong] if wrong else []]
    return "\n\n".join("\n".join(part) for part in parts if part)
