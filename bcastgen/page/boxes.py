"""Boxes: how the elements of an array lie in a nest's domain, in words and as a picture.

In: a nest.  Out: a :class:`Box` for each array.

    b : tensor<4xf32>  (d0, d1) -> (d1)   ->   d0: the same element again; d1: element by element, and an SVG

Filled cells are elements in memory. Other cells read one of these again: dashed where types say so, dotted where the
run time does, because the extent may be 1.
"""

from __future__ import annotations

from itertools import product
from xml.etree import ElementTree as xml

from ..core.frozen import dataclass
from ..loops.nest import Access, Nest

__all__ = ["Along", "Box", "boxes_of"]

_CELL, _LEFT, _TOP, _SHIFT = 24, 44, 26, 9
# How many cells show an extent that is unknown or large: across, down, behind.
_SHOWN = (5, 3, 2)

_WORDS = {
    "follows": "element by element",
    "again": "the same element again (a stride of 0)",
    "either": "element by element; the same again if its extent is 1 at run time",
    "combined": "combined into one",
}


@dataclass(frozen=True, slots=True)
class Along:
    """How an array goes along one dim of the domain: `way` is a key of `_WORDS`; `extent` is the domain's, if known."""

    dim: str
    way: str
    extent: int | None

    @property
    def words(self) -> str:
        """What happens along the dim."""
        return _WORDS[self.way]


@dataclass(frozen=True, slots=True)
class Box:
    """An array of a nest: its name, what it is, its type and map as text, each dim of the domain, and the picture."""

    name: str
    role: str
    type: str
    map: str
    along: tuple[Along, ...]
    svg: str


def boxes_of(nest: Nest, number: int) -> tuple[Box, ...]:
    """Return a box for each operand and result of a nest; `number` tells its pictures from those of other nests.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> nest = from_text("(f32[?, 4] a, f32[?] b) -> a * b").compilation.program.nests[0]
    >>> [(box.name, *(f"{one.dim} {one.way}" for one in box.along)) for box in boxes_of(nest, 0)]
    [('a', 'd0 follows', 'd1 follows'), ('b', 'd0 again', 'd1 either'), ('r', 'd0 follows', 'd1 follows')]
    """
    labels = (*nest.labels, *(access.name for access in nest.results))
    boxes = []
    for at, (label, access) in enumerate(zip(labels, (*nest.operands, *nest.results), strict=True)):
        result = at - len(nest.operands)
        reduced = nest.reduced[result].axes if result >= 0 and nest.reduced else ()
        role = "operand" if result < 0 else "result, reduced" if reduced else "result"
        along = _along(nest, access, reduced)
        picture = _svg(label, along, f"box-{number}-{at}")
        boxes.append(Box(label, role, access.type.mlir, str(access.map), along, picture))
    return tuple(boxes)


def _along(nest: Nest, access: Access, reduced: tuple[int, ...]) -> tuple[Along, ...]:
    """Return how an array goes along each dim of the domain; dims of an open domain in front come first, as one."""
    ways = {index.dim: "either" if index.stretches else "follows" for index in access.map.indices}
    dims = [
        Along(f"d{dim}", "combined" if dim in reduced else ways.get(dim, "again"), known.extent)
        for dim, known in enumerate(nest.domain.dims)
    ]
    if nest.domain.open:
        front = ("either" if access.map.front_stretches else "follows") if access.map.open else "again"
        dims.insert(0, Along("further dims", front, None))
    return tuple(dims)


def _svg(name: str, along: tuple[Along, ...], id_: str) -> str:
    """Return the picture: the last two dims of the domain as a face, the one before them behind it."""
    drawn = along[-3:]
    counts = [min(one.extent or most, most) for one, most in zip(reversed(drawn), _SHOWN, strict=False)]
    across, down, behind = (*counts, 1, 1, 1)[:3]
    back = (behind - 1) * _SHIFT
    width, height = _LEFT + across * _CELL + back + 58, _TOP + back + down * _CELL + 26
    svg = xml.Element("svg", viewBox=f"0 0 {width} {height}", width=str(width), height=str(height), role="img")
    svg.set("aria-labelledby", id_)
    spoken = "; ".join(f"{one.dim}: {one.words}" for one in along) or "one element"
    xml.SubElement(svg, "title", id=id_).text = f"{name} in the domain: {spoken}"
    for layer, row, column in product(reversed(range(behind)), range(down), range(across)):
        kind = _kind(drawn, (column, row, layer))
        left, top = _LEFT + column * _CELL + layer * _SHIFT, _TOP + back + row * _CELL - layer * _SHIFT
        place = {"x": str(left), "y": str(top), "width": str(_CELL), "height": str(_CELL)}
        xml.SubElement(svg, "rect", {"class": kind, **place})
    middle = _TOP + back + down * _CELL / 2 + 4
    places = (
        (_LEFT + across * _CELL / 2, _TOP + back + down * _CELL + 17, "middle"),
        (_LEFT - 8, middle, "end"),
        (_LEFT + across * _CELL + back + 6, _TOP + 8, "start"),
    )
    for one, (x, y, anchor) in zip(reversed(drawn), places, strict=False):
        shown = "..." if one.dim == "further dims" else one.dim
        text = shown if one.extent is None else f"{shown} = {one.extent}"
        xml.SubElement(svg, "text", {"x": f"{x:g}", "y": f"{y:g}", "text-anchor": anchor}).text = text
    return xml.tostring(svg, encoding="unicode")


def _kind(drawn: tuple[Along, ...], cell: tuple[int, ...]) -> str:
    """Return what a cell is: of the dims along which it is not the first, the one that says most about it."""
    ways = {one.way for one, at in zip(reversed(drawn), cell, strict=False) if at}
    return next((way for way in ("combined", "again", "either") if way in ways), "there")
