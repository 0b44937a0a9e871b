"""Draws the pictures of docs/pictures.md: operands as boxes of cells, and how they stretch over the result.

In: nothing.  Out: an SVG file a picture, beside this file: ``python docs/pictures/draw.py``.

A cell that is in memory is filled; one that is read again, because its extent is 1, is an outline.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree as xml

CELL, GAP, TOP = 34, 46, 44
STYLE = """
text { font: 14px system-ui, sans-serif; fill: #1f2328; text-anchor: middle }
.name { font-weight: 600 } .sign { font-size: 20px }
.there { fill: #ddf4ff; stroke: #0969da } .again { fill: none; stroke: #0969da; stroke-dasharray: 4 3 }
.result { fill: #dafbe1; stroke: #1a7f37 } .wrong { fill: #ffebe9; stroke: #cf222e }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc }
  .there { fill: #0c2d6b; stroke: #58a6ff } .again { stroke: #58a6ff }
  .result { fill: #033a16; stroke: #3fb950 } .wrong { fill: #67060c; stroke: #ff7b72 }
}
"""


@dataclass(frozen=True)
class Box:
    """Rows of cells: their texts, how many rows and columns are in memory, and what all are, if that is one thing."""

    name: str
    cells: tuple[tuple[str, ...], ...]
    there: tuple[int, int] = (0, 0)
    kind: str = ""

    def kind_at(self, row: int, column: int) -> str:
        """Return whether a cell is in memory, read again, or what the whole box is."""
        return self.kind or ("there" if row < self.there[0] and column < self.there[1] else "again")


def box(name: str, values: list[list[object]], there: tuple[int, int] | None = None, kind: str = "") -> Box:
    """Return a box of rows; `there` is how many of its rows and columns are in memory (default: all)."""
    cells = tuple(tuple(map(str, row)) for row in values)
    return Box(name, cells, there or (len(cells), len(cells[0])), kind)


PICTURES: dict[str, tuple[str, list[Box | str]]] = {
    "scalar": (
        "A number beside a vector",
        [
            box("a: [3]", [[1, 2, 3]]),
            "+",
            box("b: []", [[10, 10, 10]], (1, 1)),
            "=",
            box("[3]", [[11, 12, 13]], kind="result"),
        ],
    ),
    "row": (
        "A row beside a matrix",
        [
            box("a: [2, 3]", [[1, 2, 3], [4, 5, 6]]),
            "+",
            box("b: [3]", [[10, 20, 30], [10, 20, 30]], (1, 3)),
            "=",
            box("[2, 3]", [[11, 22, 33], [14, 25, 36]], kind="result"),
        ],
    ),
    "outer": (
        "A column beside a row",
        [
            box("a: [2, 1]", [[1, 1, 1], [2, 2, 2]], (2, 1)),
            "+",
            box("b: [3]", [[10, 20, 30], [10, 20, 30]], (1, 3)),
            "=",
            box("[2, 3]", [[11, 21, 31], [12, 22, 32]], kind="result"),
        ],
    ),
    "runtime": (
        "An extent that is 1 at run time: f32[?, ?]",
        [
            box("a: [2, 3]", [[1, 2, 3], [4, 5, 6]]),
            "*",
            box("b: [2, 1]", [[10, 10, 10], [20, 20, 20]], (2, 1)),
            "=",
            box("[2, 3]", [[10, 20, 30], [80, 100, 120]], kind="result"),
        ],
    ),
    "error": (
        "Extents that do not fit",
        [
            box("a: [2, 3]", [[1, 2, 3], [4, 5, 6]]),
            "+",
            box("b: [2]", [[10, 20]]),
            "=",
            box("error", [["3", "2"]], kind="wrong"),
        ],
    ),
}


def draw(title: str, parts: list[Box | str]) -> str:
    """Return a row of boxes and signs as SVG."""
    height = TOP + CELL * max(len(part.cells) for part in parts if isinstance(part, Box)) + 34
    width = GAP // 2 + sum(GAP if isinstance(part, str) else CELL * len(part.cells[0]) for part in parts) + GAP // 2
    svg = xml.Element(
        "svg", xmlns="http://www.w3.org/2000/svg", viewBox=f"0 0 {width} {height}", width=str(width), role="img"
    )
    xml.SubElement(svg, "title").text = title
    xml.SubElement(svg, "style").text = STYLE

    def text(x: float, y: float, words: str, kind: str = "") -> None:
        xml.SubElement(svg, "text", {"x": f"{x:g}", "y": f"{y:g}", "class": kind}).text = words

    at, middle = GAP // 2, TOP + (height - TOP - 34) / 2
    for part in parts:
        if isinstance(part, str):
            text(at + GAP / 2, middle + 6, part, "sign")
            at += GAP
            continue
        columns = len(part.cells[0])
        top = middle - CELL * len(part.cells) / 2
        for row, values in enumerate(part.cells):
            for column, value in enumerate(values):
                corner = {"x": f"{at + CELL * column + 2:g}", "y": f"{top + CELL * row + 2:g}", "rx": "4"}
                size = {"width": str(CELL - 4), "height": str(CELL - 4), "class": part.kind_at(row, column)}
                xml.SubElement(svg, "rect", {**corner, **size})
                text(at + CELL * (column + 0.5), top + CELL * (row + 0.5) + 5, value)
        text(at + CELL * columns / 2, height - 12, part.name, "name")
        at += CELL * columns
    xml.indent(svg)
    return xml.tostring(svg, encoding="unicode") + "\n"


if __name__ == "__main__":
    for file, (title, parts) in PICTURES.items():
        Path(__file__).with_name(f"{file}.svg").write_text(draw(title, parts), encoding="utf-8")
