"""A picture as SVG that contains all it needs: for light and dark pages, with its content in words for screen readers.

In: shapes and texts.  Out: SVG text.

    drawing = Drawing(720, 200, "Title", "What is seen, in words."); drawing.text(16, 26, "..."); str(drawing)
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree as xml

__all__ = ["Drawing"]

_STYLE = """
text { font: 14px system-ui, sans-serif; fill: #1f2328 }
.title { font-weight: 600; font-size: 16px }
.note { font-size: 12px; fill: #59636e }
.bar { fill: #8c959f } .ours { fill: #0969da } .best { fill: #57606a }
.axis { stroke: #d1d9e0 } .roof { stroke: #57606a; stroke-width: 2; fill: none }
.line { stroke: #8c959f; stroke-width: 1.5; fill: none } .our-line { stroke: #0969da; stroke-width: 2.5; fill: none }
@media (prefers-color-scheme: dark) {
  text { fill: #f0f6fc } .note { fill: #9198a1 }
  .bar { fill: #656c76 } .ours { fill: #4493f8 } .best { fill: #9198a1 }
  .axis { stroke: #3d444d } .roof { stroke: #9198a1 } .line { stroke: #656c76 } .our-line { stroke: #4493f8 }
}
"""


class Drawing:
    """A picture of this size, with a title and a description for those who do not see it."""

    def __init__(self, width: int, height: int, title: str, words: str) -> None:
        box = {"viewBox": f"0 0 {width} {height}", "role": "img", "width": str(width)}
        self._svg = xml.Element("svg", {"xmlns": "http://www.w3.org/2000/svg", **box})
        xml.SubElement(self._svg, "title").text = title
        xml.SubElement(self._svg, "desc").text = words
        xml.SubElement(self._svg, "style").text = _STYLE

    def text(self, x: float, y: float, words: str, kind: str = "", anchor: str = "start") -> None:
        """Write words at a place."""
        element = xml.SubElement(self._svg, "text", {"x": f"{x:g}", "y": f"{y:g}", "text-anchor": anchor})
        element.text = words
        if kind:
            element.set("class", kind)

    def bar(self, x: float, y: float, length: float, kind: str) -> None:
        """Draw a bar from left to right."""
        box = {"x": f"{x:g}", "y": f"{y:g}", "width": f"{length:.1f}", "height": "22", "rx": "3"}
        xml.SubElement(self._svg, "rect", {"class": kind, **box})

    def line(self, points: Sequence[tuple[float, float]], kind: str, words: str = "") -> None:
        """Draw a line through points; `words` are shown under the pointer."""
        places = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self._named(xml.SubElement(self._svg, "polyline", {"class": kind, "points": places}), words)

    def dot(self, x: float, y: float, kind: str, words: str = "") -> None:
        """Draw a dot; `words` are shown under the pointer."""
        place = {"class": kind, "cx": f"{x:.1f}", "cy": f"{y:.1f}", "r": "3.5"}
        self._named(xml.SubElement(self._svg, "circle", place), words)

    def _named(self, element: xml.Element, words: str) -> None:
        if words:
            xml.SubElement(element, "title").text = words

    def __str__(self) -> str:
        xml.indent(self._svg)
        return xml.tostring(self._svg, encoding="unicode") + "\n"
