"""One linalg.generic over the domain of a nest: what it reads and how, what it writes, and its region.

In: a nest, and the accesses it reads.  Out: lines.

    a : f32[?] at (d0), b : f32[?] at (d0|0)  ->  ins(%a) with affine_map<(d0) -> (d0)>, and in the region
                                                  %in_b = tensor.extract %b[%at], at 0 or at the loop's index
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...loops.nest import Access, Nest
from .shapes import Shapes, Test
from .types import declared_type, signless

__all__ = ["Generic", "typed"]


def typed(values: Sequence[str], types: Sequence[str]) -> str:
    """Return values and their types as an operation lists them."""
    return f"{', '.join(values)} : {', '.join(types)}"


class Generic:
    """A linalg.generic on its way.

    Parameters
    ----------
    nest : whose domain it goes over.
    shapes : the extents there are in the function.
    reads : the numbers of the nest's operands that it reads.

    Attributes
    ----------
    region : the block inside it.
    loads : for each operand that is read, its element in the region.
    """

    def __init__(self, nest: Nest, shapes: Shapes, reads: Iterable[int]) -> None:
        self.nest = nest
        self.shapes = shapes
        self._maps: list[str] = []
        self._ins: list[tuple[str, str]] = []
        self._outs: list[tuple[str, str]] = []
        self._arguments: list[str] = []
        self._yielded: list[str] = []
        chosen = sorted(reads)
        # Whether a dim stretches does not depend on the point: it is asked before the loops.
        ones = {at: self._ones(nest.operands[at]) for at in chosen if _stretches(nest.operands[at])}
        self.region = shapes.block.inside()
        # Arguments of a region are named before what stands in it.
        self.loads = {at: self._mapped(at) for at in chosen if at not in ones}
        self.loads |= {at: self._extracted(at, tests) for at, tests in ones.items()}

    def span(self, value: str, type_: str, element: str) -> None:
        """Read a tensor of the domain's extents for these alone; stands before what is written to."""
        self._ins.append((value, type_))
        self._argument("unread", element, self._affine(self._dims))

    def write_to(self, value: str, type_: str, element: str, name: str, *, every: bool = False) -> str:
        """Write to a tensor of the domain's extents, or to one element at every point; return what is there before."""
        self._outs.append((value, type_))
        self._yielded.append(element)
        return self._argument(name, element, self._affine("" if every else self._dims))

    def finish(self, head: str, iterators: str, values: Sequence[str]) -> None:
        """Write it all: `head` names its results, whose elements `values` are."""
        self.region.line(f"linalg.yield {typed(values, self._yielded)}")
        block, types = self.shapes.block, [type_ for _, type_ in self._outs]
        block.line(f"{head} = linalg.generic {{")
        block.line("  indexing_maps = [")
        for at, shown in enumerate(self._maps, 1):
            block.line(f"    {shown}{',' * (at < len(self._maps))}")
        block.line("  ],")
        kinds = ", ".join([f'"{iterators}"'] * len(self.nest.domain.dims))
        block.line(f"  iterator_types = [{kinds}]")
        ins = f"ins({_listed(self._ins)}) " if self._ins else ""
        block.line(f"}} {ins}outs({_listed(self._outs)}) {{")
        block.line(f"^bb0({', '.join(self._arguments)}):")
        block.extend(self.region.lines)
        block.line(f"}} -> {types[0]}" if len(types) == 1 else f"}} -> ({', '.join(types)})")

    @property
    def _dims(self) -> str:
        return ", ".join(f"d{at}" for at in range(len(self.nest.domain.dims)))

    def _affine(self, read: str) -> str:
        return f"affine_map<({self._dims}) -> ({read})>"

    def _argument(self, name: str, element: str, map_: str) -> str:
        value = self.region.name(name)
        self._arguments.append(f"{value}: {element}")
        self._maps.append(map_)
        return value

    def _mapped(self, at: int) -> str:
        """Read an operand none of whose dims stretches at run time through its indexing map."""
        access = self.nest.operands[at]
        self._ins.append((self.shapes.values[access.name], declared_type(access.type)))
        read = ", ".join("0" if index.dim is None else f"d{index.dim}" for index in access.map.indices)
        return self._argument(f"in_{self.nest.labels[at]}", signless(access.dtype), self._affine(read))

    def _ones(self, access: Access) -> list[Test]:
        """Return for each dim whether it is read at 0, as values that stand before the loops."""
        return [
            self.shapes.is_one(access.name, dim) if index.stretches else index.dim is None
            for dim, index in enumerate(access.map.indices)
        ]

    def _extracted(self, at: int, ones: list[Test]) -> str:
        """Read an operand in the region: at 0 where a dim stretches, else at the loop's index."""
        access, region, read = self.nest.operands[at], self.region, []
        for index, one in zip(access.map.indices, ones, strict=True):
            if one is True or index.dim is None:
                read.append(region.constant(0, "index"))
                continue
            loop = region.op(f"i{index.dim}", f"linalg.index {index.dim} : index")
            if isinstance(one, str):
                loop = region.op("at", f"arith.select {one}, {region.constant(0, 'index')}, {loop} : index")
            read.append(loop)
        operand = f"{self.shapes.values[access.name]}[{', '.join(read)}] : {declared_type(access.type)}"
        return region.op(f"in_{self.nest.labels[at]}", f"tensor.extract {operand}")


def _stretches(access: Access) -> bool:
    return any(index.stretches for index in access.map.indices)


def _listed(pairs: Sequence[tuple[str, str]]) -> str:
    return typed([value for value, _ in pairs], [type_ for _, type_ in pairs])
