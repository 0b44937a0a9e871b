"""Draws how long each library takes beside bcastgen: one bar a library, a self-contained SVG.

In: reports.  Out: SVG text.

    figure([report]) -> '<svg xmlns="http://www.w3.org/2000/svg" ...'

A library's time in a cell is that of its fastest form (Numba has four). Its bar is the geometric mean, over the cells
that it has a form for, of its time over ours; the last bar takes the fastest library of each cell.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from bcastgen.core.errors import BcastgenError

from .drawing import Drawing
from .peers import NUMPY, OURS, OWN
from .report import size_text
from .results import Cell, Report
from .runs import geometric_mean, join

__all__ = ["figure", "library_of", "ratios"]

# The forms of one library, by the first word of their names where that is another than the library's.
_LIBRARIES = {
    **{"numpy": "NumPy", "numexpr": "NumExpr", "numba": "Numba", "njit": "Numba", "jax": "JAX (jit)"},
    **{"torch": "PyTorch (eager)", "inductor": "torch.compile", "pytensor": "PyTensor", "pythran": "Pythran"},
    **{"iree": "IREE"},
}
_BEST = "the best of them"
_WIDTH, _LABELS, _BARS, _STEP, _TOP = 720, 150, 500, 30, 64


def library_of(contestant: str) -> str:
    """Return the library that a contestant is a form of, as its users write it.

    Examples
    --------
    >>> library_of("njit fastmath"), library_of("inductor")
    ('Numba', 'torch.compile')
    """
    return _LIBRARIES.get(contestant.split(maxsplit=1)[0], contestant)


def ratios(reports: Sequence[Report]) -> dict[str, tuple[float, int]]:
    """Return for each library the geometric mean of its time over ours, and in how many cells it has a form.

    The fastest library of each cell comes last, as ``"the best of them"``.
    """
    joined = join(reports)
    names = dict.fromkeys(t.name for each in joined for cell in each.cells for t in cell.timings if t.name not in OWN)

    def over_ours(forms: set[str]) -> Callable[[Cell], float | None]:
        def ratio(cell: Cell) -> float | None:
            times = [timing.min for timing in cell.timings if timing.name in forms and timing.min]
            ours = cell.seconds(OURS)
            return min(times) / ours if times and ours else None

        return ratio

    libraries = {library: {name for name in names if library_of(name) == library} for library in map(library_of, names)}
    found: dict[str, tuple[float, int]] = {}
    for library, forms in {**libraries, _BEST: set(names)}.items():
        values = [each.median(over_ours(forms)) for each in joined]
        mean = geometric_mean(values)
        if mean is not None:
            found[library] = mean, sum(value is not None for value in values)
    return found


def _sizes(reports: Sequence[Report]) -> str:
    sizes = sorted({cell.size for report in reports for cell in report.cells})
    return f"{size_text(sizes[0])} to {size_text(sizes[-1])}" if len(sizes) > 1 else size_text(sizes[0])


def figure(reports: Sequence[Report]) -> str:
    """Return the bars as SVG, the slowest library first, for light and dark pages.

    Raises
    ------
    BcastgenError
        If nothing was measured beside bcastgen.
    """
    found = ratios(reports)
    if not found:
        raise BcastgenError("--plot: no cell was measured beside bcastgen; leave out fewer peers")
    best = found.pop(_BEST)
    rows = sorted(found.items(), key=lambda item: -item[1][0])
    bars = [*((name, value, f"{cells} cells", "bar") for name, (value, cells) in rows)]
    if len(rows) > 1:
        bars.append((_BEST, best[0], "the fastest in each cell", "best"))
    bars.append(("bcastgen", 1.0, "", "ours"))
    longest = max(value for _, value, _, _ in bars)
    height = _TOP + _STEP * len(bars) + 40
    threads = reports[0].threads
    title = f"Time beside bcastgen, {threads} thread{'s' if threads > 1 else ''} (shorter is faster)"
    spoken = "; ".join(f"{name} {value:.2f}" for name, value, _, _ in bars)
    words = f"Geometric mean of each library's time over bcastgen's: {spoken}."
    drawing = Drawing(_WIDTH, height, title, words)
    cells = max(count for _, count in (*found.values(), best))
    drawing.text(16, 26, title, "title")
    what = f"{cells} cells (workload, size, fresh result or out=), {_sizes(reports)} elements"
    drawing.text(16, 46, f"Geometric mean over {what}", "note")
    for number, (name, value, note, kind) in enumerate(bars):
        y = _TOP + _STEP * number
        length = max(2.0, (_BARS - 100) * value / longest)
        drawing.text(_LABELS - 10, y + 16, name, anchor="end")
        drawing.bar(_LABELS, y, length, kind)
        number_text = f"{value:.2f}" if name != "bcastgen" else "1"
        drawing.text(_LABELS + length + 8, y + 16, number_text)
        if note:
            # A digit takes at most 9 of the 14 that a letter is high.
            drawing.text(_LABELS + length + 12 + 9 * len(number_text), y + 16, note, "note")
    machine = reports[0].machine
    versions = [f"{library_of(name)} {machine[name]}" for name in (NUMPY, "numexpr", "numba") if name in machine]
    drawing.text(16, height - 14, ", ".join([machine.get("cpu", ""), *versions]).strip(", "), "note")
    return str(drawing)
