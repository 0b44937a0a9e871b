"""What one run or several say together: each cell's ratios in every run, and which of them are too slow in most.

In: reports.  Out: :class:`Joined` cells, and verdicts on them.

    three runs, a cell ahead in one and behind in two -> it is behind: joined.most(lambda cell: cell.lead < 0.97)
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from math import exp, log
from statistics import median

from .results import Cell, Report

__all__ = ["MATHS_SHARE", "MEMORY_SHARE", "Joined", "behind_bound", "far", "geometric_mean", "is_behind", "join"]

# What is aimed at: a cell's lead over the best peer, with one thread and with more, and its share of each limit.
LEAD, LEAD_THREADS = 0.97, 0.9
MEMORY_SHARE, MATHS_SHARE = 0.85, 0.7
# The share of maths is asked for where the call is no part of it.
LEAST_MATHS_ELEMENTS = 16 << 10
_DEFAULT_L2 = 1 << 20


def geometric_mean(values: Iterable[float | None]) -> float | None:
    """Return the geometric mean of the values that are there, or None.

    Examples
    --------
    >>> geometric_mean([2.0, None, 8.0])
    4.0
    """
    there = [value for value in values if value is not None]
    return exp(sum(map(log, there)) / len(there)) if there else None


@dataclass(frozen=True, slots=True)
class Joined:
    """One cell in each of the runs that have it measured."""

    cells: tuple[Cell, ...]

    @property
    def first(self) -> Cell:
        """The cell of the first run: its names."""
        return self.cells[0]

    def median(self, of: Callable[[Cell], float | None]) -> float | None:
        """Return the median of a figure over the runs that have it."""
        there = [value for value in map(of, self.cells) if value is not None]
        return median(there) if there else None

    def most(self, holds: Callable[[Cell], bool]) -> bool:
        """Whether something holds in more than half of the runs."""
        return 2 * sum(map(holds, self.cells)) > len(self.cells)

    @property
    def lead(self) -> float | None:
        """The median lead."""
        return self.median(lambda cell: cell.lead)

    @property
    def share(self) -> float | None:
        """The median share of the limit."""
        return self.median(lambda cell: cell.share)


def join(reports: Sequence[Report]) -> tuple[Joined, ...]:
    """Return the cells of these reports, each with those of its workload, size and variant."""
    found: dict[tuple[str, int, str], list[Cell]] = {}
    for report in reports:
        for cell in report.cells:
            found.setdefault((cell.workload, cell.size, cell.variant), []).append(cell)
    measured = (tuple(cell for cell in cells if cell.speedup is not None) for cells in found.values())
    return tuple(Joined(cells) for cells in measured if cells)


def behind_bound(threads: int) -> float:
    """Return the lead below which a cell counts as behind the best peer."""
    return LEAD if threads == 1 else LEAD_THREADS


def is_behind(cell: Cell, threads: int) -> bool:
    """Whether a cell is behind the best peer by more than the bound and by more than its own noise."""
    return cell.lead is not None and cell.lead < min(behind_bound(threads), 1 / (cell.spread or 1.0))


def far(cell: Cell, report: Report) -> bool:
    """Whether a cell is far from its limit: of memory past the second cache, of maths where the call hardly counts."""
    if cell.share is None:
        return False
    if cell.is_maths_bound:
        return cell.elements >= LEAST_MATHS_ELEMENTS and cell.share < MATHS_SHARE
    l2 = report.machine.get("l2", "")
    private = (int(l2) if l2.isdigit() else _DEFAULT_L2) * report.threads
    return cell.read + cell.written > private and cell.share < MEMORY_SHARE
