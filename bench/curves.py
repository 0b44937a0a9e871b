"""Draws how near to this machine's limits the cells of a run are, and the time of each library from size to size.

In: reports.  Out: a page of HTML that contains its pictures, or one picture as SVG.

    page([report]) -> '<!doctype html> ...'         roofline([report]) -> '<svg ...'

The roofline has no counted operations: its units are the two limits that the run measures for each cell. To the right
is the time that the cell's functions take at the best rate, over the time that its bytes take at the best bandwidth;
upwards is how much of that bandwidth is reached. So 1 is the roof where memory decides, and 1/x where functions do.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Sequence
from math import ceil, floor, log2

from .drawing import Drawing
from .figure import figure, library_of
from .peers import OURS, OWN
from .report import size_text
from .results import Cell, Report
from .runs import geometric_mean

__all__ = ["curves", "page", "roofline"]

_WIDTH, _LEFT, _RIGHT, _TOP, _PLOT = 720, 60, 130, 64, 220
_OURS = library_of(OURS)
# Labels at the ends of lines are this far apart.
_APART = 15
_STYLE = """:root { color-scheme: light dark }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 46rem; margin: 2rem auto; padding: 0 1rem }
/* On a phone a picture is wider than the page, and scrolls, so that its words can be read. */
figure { margin: 2rem 0; overflow-x: auto } svg { width: 100%; min-width: 40rem; height: auto } h1 { font-size: 1.4rem }
:focus-visible { outline: 3px solid #4493f8 } p { overflow-wrap: anywhere }
@media print { svg { min-width: 0 } figure { break-inside: avoid; overflow: visible } }"""


class _Axes:
    """Two logarithmic axes, to base 2, with their lines and labels."""

    def __init__(self, drawing: Drawing, xs: Iterable[float], ys: Iterable[float]) -> None:
        self.drawing = drawing
        xs, ys = tuple(xs), tuple(ys)
        self.low_x, self.high_x = floor(log2(min(xs))), max(ceil(log2(max(xs))), floor(log2(min(xs))) + 1)
        self.low_y, self.high_y = floor(log2(min(ys))), max(ceil(log2(max(ys))), floor(log2(min(ys))) + 1)

    def x(self, value: float) -> float:
        """Return where a value is from left to right."""
        return _LEFT + (log2(value) - self.low_x) / (self.high_x - self.low_x) * (_WIDTH - _LEFT - _RIGHT)

    def y(self, value: float) -> float:
        """Return where a value is from top to bottom."""
        return _TOP + (self.high_y - log2(value)) / (self.high_y - self.low_y) * _PLOT

    def draw(self, name_x: Callable[[float], str], name_y: Callable[[float], str]) -> None:
        """Draw at most eight lines in each direction, with their values."""
        bottom, right = _TOP + _PLOT, _WIDTH - _RIGHT
        for power in range(self.low_x, self.high_x + 1, ceil((self.high_x - self.low_x) / 8)):
            x = self.x(2.0**power)
            self.drawing.line([(x, _TOP), (x, bottom)], "axis")
            self.drawing.text(x, bottom + 18, name_x(2.0**power), "note", "middle")
        for power in range(self.low_y, self.high_y + 1, ceil((self.high_y - self.low_y) / 8)):
            y = self.y(2.0**power)
            self.drawing.line([(_LEFT, y), (right, y)], "axis")
            self.drawing.text(_LEFT - 8, y + 4, name_y(2.0**power), "note", "end")


def _gigabytes(cell: Cell, seconds: float) -> float:
    return (cell.read + cell.written) / seconds / 1e9


def roofline(reports: Sequence[Report]) -> str:
    """Return the cells that have a limit of memory under the roof of this machine; an empty text if there are none."""
    cells = [cell for report in reports for cell in report.cells if cell.memory and cell.seconds(OURS)]
    if not cells:
        return ""
    points = []
    for cell in cells:
        assert cell.memory is not None
        ours = cell.seconds(OURS)
        assert ours is not None
        points.append((max((cell.maths or 0.0) / cell.memory, 2.0**-4), cell.memory / ours, cell, ours))
    widths = [_gigabytes(cell, cell.memory) for cell in cells if cell.memory]
    reached = geometric_mean([cell.share for cell in cells]) or 0.0
    title = "How near to this machine's limits bcastgen is"
    wide = f"{min(widths):.0f} to {max(widths):.0f} GB/s"
    words = (
        f"{len(cells)} cells; moving their bytes alone reaches {wide}. "
        f"Geometric mean of the limit over bcastgen's time: {reached:.2f}."
    )
    drawing = Drawing(_WIDTH, _TOP + _PLOT + 64, title, words)
    drawing.text(16, 26, title, "title")
    drawing.text(
        16,
        46,
        f"share of the measured bandwidth ({wide}, by size); the line is the limit",
        "note",
    )
    axes = _Axes(drawing, [0.5, 2.0, *(x for x, *_ in points)], [0.5, 1.0, *(y for _, y, *_ in points)])
    axes.draw(lambda x: f"{x:g}", lambda y: f"{y:g}")
    corners = [2.0**axes.low_x, 1.0, 2.0**axes.high_x]
    lowest = 2.0**axes.low_y
    roof = [(axes.x(x), axes.y(max(min(1.0, 1.0 / x), lowest))) for x in (*corners[:2], min(corners[2], 1 / lowest))]
    drawing.line(roof, "roof", "the limit: bandwidth on the left, functions on the right")
    for x, y, cell, ours in points:
        what = f"{cell.workload}, {size_text(cell.size)}, {cell.variant}"
        drawing.dot(
            axes.x(x),
            axes.y(y),
            "ours",
            f"{what}: {_gigabytes(cell, ours):.1f} GB/s, {cell.share or 0:.0%} of its limit",
        )
    drawing.text(_LEFT, _TOP + _PLOT + 38, "time of functions at their best rate / time of moving the bytes", "note")
    return str(drawing)


def _times(cells: Sequence[Cell]) -> dict[str, list[tuple[int, float]]]:
    """Return for each library the nanoseconds an element of its fastest form, at each size."""
    lines: dict[str, list[tuple[int, float]]] = {}
    for cell in sorted(cells, key=lambda each: each.elements):
        best: dict[str, float] = {}
        for timing in cell.timings:
            if timing.min and (timing.name == OURS or timing.name not in OWN):
                library = library_of(timing.name)
                best[library] = min(timing.min, best.get(library, timing.min))
        for library, seconds in best.items():
            lines.setdefault(library, []).append((cell.elements, seconds / cell.elements * 1e9))
    return lines


def curves(workload: str, cells: Sequence[Cell]) -> str:
    """Return the time an element from size to size: a line for each library."""
    lines = _times(cells)
    values = [value for points in lines.values() for _, value in points]
    largest = {library: points[-1][1] for library, points in lines.items()}
    spoken = "; ".join(f"{library} {value:.3g}" for library, value in sorted(largest.items(), key=lambda item: item[1]))
    title = f"{workload}: nanoseconds an element"
    drawing = Drawing(_WIDTH, _TOP + _PLOT + 52, title, f"At the largest size of each: {spoken}.")
    drawing.text(16, 26, title, "title")
    drawing.text(16, 46, "by the number of elements, a new result; lower is faster", "note")
    axes = _Axes(drawing, [size for points in lines.values() for size, _ in points], values)
    axes.draw(lambda x: size_text(round(x)), lambda y: f"{y:g}")
    above = -float("inf")
    for library in sorted(lines, key=lambda each: axes.y(largest[each])):
        points = [(axes.x(size), axes.y(value)) for size, value in lines[library]]
        ours = library == _OURS
        drawing.line(
            points, "our-line" if ours else "line", f"{library}: {largest[library]:.3g} ns at the largest size"
        )
        above = max(points[-1][1] + 4, above + _APART)
        drawing.text(points[-1][0] + 8, above, library, "" if ours else "note")
    return str(drawing)


def page(reports: Sequence[Report]) -> str:
    """Return a page with the bars, the roofline, and the curves of each workload that has several sizes.

    Raises
    ------
    BcastgenError
        If nothing was measured beside bcastgen.
    """
    by_workload: dict[str, list[Cell]] = {}
    for cell in reports[0].cells:
        if cell.variant == "fresh" and cell.seconds(OURS):
            by_workload.setdefault(cell.workload, []).append(cell)
    pictures = [figure(reports), roofline(reports)]
    pictures += [
        curves(name, cells) for name, cells in by_workload.items() if len({cell.elements for cell in cells}) > 1
    ]
    body = "".join(f'<figure tabindex="0">\n{picture}</figure>\n' for picture in pictures if picture)
    machine = "; ".join(f"{name} {value}" for name, value in reports[0].machine.items())
    rates = reports[0].options.get("rates", "")
    best = f"<p>Best rates of functions, in ns an element: {html.escape(rates)}.</p>\n" if rates else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n<title>bcastgen bench</title>\n'
        f"<style>\n{_STYLE}\n</style>\n</head>\n<body>\n<main>\n<h1>bcastgen bench</h1>\n"
        f"<p>{html.escape(machine)}</p>\n{best}{body}</main>\n</body>\n</html>\n"
    )
