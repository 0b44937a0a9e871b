"""Compares two saved runs: each contestant's time then over its time now, cell by cell.

In: two reports.  Out: a table; above 1 is faster now.

    bcastgen bench "a*b" --shape a=1000000,b=1000000 --compare old.json
"""

from __future__ import annotations

from .peers import NUMPY, OURS
from .report import size_text, time_text
from .results import Report
from .runs import geometric_mean

__all__ = ["comparison"]


def comparison(old: Report, new: Report) -> str:
    """Return our time in both, the ratio, and that of NumPy: what differs there is the machine's."""
    then = {(cell.workload, cell.size, cell.variant): cell for cell in old.cells}
    lines, ratios = [], []
    for cell in new.cells:
        before = then.get((cell.workload, cell.size, cell.variant))
        ours = None if before is None else _ratio(before.seconds(OURS), cell.seconds(OURS))
        if before is None or ours is None:
            continue
        numpy = _ratio(before.seconds(NUMPY), cell.seconds(NUMPY))
        ratios.append(ours)
        times = f"{time_text(before.seconds(OURS))} -> {time_text(cell.seconds(OURS))}"
        beside = "" if numpy is None else f" (NumPy {numpy:.2f})"
        lines.append(f"{cell.workload}  {size_text(cell.size)}  {cell.variant}: {times}, {ours:.2f}{beside}")
    if not lines:
        return "compared: the runs have no cell in common"
    mean = geometric_mean(ratios)
    title = f"compared with the run of {old.machine.get('date', 'an unknown date')}: time then over time now"
    return "\n".join([title, *lines, f"geometric mean of {len(ratios)}: {mean:.2f}"])


def _ratio(then: float | None, now: float | None) -> float | None:
    return then / now if then and now else None
