"""Prints one linalg.generic over the domain of a nest: its operands and their maps, its results, and its region.

In: a nest, and the operands it reads.  Out: lines.

    a : f32[?] at (d0), b : f32[?] at (d0|0)  ->  ins(%a) with affine_map<(d0) -> (d0)>, and in the region
                                                  %in_b = tensor.extract %b[%at], at 0 or at the loop's index
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ...loops.nest import Access, Nest
from .shapes import Shapes, Test
from .types import declared_type, signless, tensor_type
from .versions import Version

__all__ = ["Generic", "typed"]


def typed(values: Sequence[str], types: Sequence[str]) -> str:
    """Return values and their types in the syntax of an operation."""
    return f"{', '.join(values)} : {', '.join(types)}"


class Generic:
    """Builds a linalg.generic.

    Parameters
    ----------
    nest : gives the domain to iterate over.
    shapes : the extents known in the function.
    reads : the indices of the nest's operands that it reads.
    version : says which dims stretch, so that all operands are read through their maps; None if that is found at run
        time.

    Attributes
    ----------
    region : the block inside it.
    loads : for each operand that it reads, the element in the region.
    """

    def __init__(self, nest: Nest, shapes: Shapes, reads: Iterable[int], version: Version | None = None) -> None:
        self.nest = nest
        self.shapes = shapes
        self._version = version
        self._maps: list[str] = []
        self._ins: list[tuple[str, str]] = []
        self._outs: list[tuple[str, str]] = []
        self._arguments: list[str] = []
        self._yielded: list[str] = []
        self._covered: set[int] = set()
        chosen = sorted(reads)
        # Whether a dim stretches is the same at every point, so it is tested before the loops.
        extracted = [index for index in chosen if version is None and shapes.may_stretch(nest, nest.operands[index])]
        ones = {index: self._ones(nest.operands[index]) for index in extracted}
        self.region = shapes.block.inside()
        # Name the arguments of the region before the values inside it.
        self.loads = {index: self._mapped(index) for index in chosen if index not in ones}
        self.loads |= {index: self._extracted(index, tests) for index, tests in ones.items()}

    def span(self, value: str, type_: str, element: str) -> None:
        """Add a tensor whose extents alone are used, to set those of the domain; call it before `write_to`."""
        self._ins.append((value, type_))
        self._argument("unread", element, self._affine(self._dims))

    def write_to(
        self, value: str, type_: str, element: str, name: str, dims: Sequence[int | None] | None = None
    ) -> str:
        """Add a tensor to write to; return its former element.

        It has these dims of the domain (None is an extent of 1), all of them by default: without some, an element is
        written again at every point of the others.
        """
        self._outs.append((value, type_))
        self._yielded.append(element)
        if dims is None:
            return self._argument(name, element, self._affine(self._dims))
        return self._argument(name, element, self._affine(_read(dims)))

    @property
    def covers(self) -> bool:
        """Whether the maps of what it reads give the extent of every dim."""
        return set(range(len(self.nest.domain.dims))) <= self._covered

    def finish(self, head: str, iterators: Sequence[str], values: Sequence[str]) -> None:
        """Write the whole operation: `head` names its results, and `values` are their elements."""
        self.region.line(f"linalg.yield {typed(values, self._yielded)}")
        block, types = self.shapes.block, [type_ for _, type_ in self._outs]
        block.line(f"{head} = linalg.generic {{")
        block.line("  indexing_maps = [")
        for at, shown in enumerate(self._maps, 1):
            block.line(f"    {shown}{',' * (at < len(self._maps))}")
        block.line("  ],")
        kinds = ", ".join(f'"{kind}"' for kind in iterators)
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

    def _mapped(self, operand_index: int) -> str:
        """Read an operand through its indexing map; none of its dims stretches at run time."""
        access = self.nest.operands[operand_index]
        stretched = frozenset() if self._version is None else self._version.stretched
        dims = [
            None if (access.name, dim, index.dim) in stretched else index.dim
            for dim, index in enumerate(access.map.indices)
        ]
        self._ins.append(self._known(access, dims))
        self._covered.update(dim for dim in dims if dim is not None)
        return self._argument(
            f"in_{self.nest.labels[operand_index]}", signless(access.dtype), self._affine(_read(dims))
        )

    def _known(self, access: Access, dims: Sequence[int | None]) -> tuple[str, str]:
        """Return an operand and its type; in a version, cast to the extents that this version knows."""
        value, type_ = self.shapes.values[access.name], declared_type(access.type)
        if self._version is None or not _stretches(access):
            return value, type_
        domain = self.nest.domain.dims
        extents = tuple(1 if dim is None else domain[dim].extent for dim in dims)
        known = tensor_type(extents, signless(access.dtype))
        if known == type_:
            return value, type_
        return self.shapes.block.op(f"{value[1:]}_cast", f"tensor.cast {value} : {type_} to {known}"), known

    def _ones(self, access: Access) -> list[Test]:
        """Return for each dim whether it is read at 0, as values that are computed before the loops."""
        return [
            self.shapes.is_one(access.name, dim) if index.stretches else index.dim is None
            for dim, index in enumerate(access.map.indices)
        ]

    def _extracted(self, operand_index: int, ones: list[Test]) -> str:
        """Read an operand in the region: at 0 where a dim stretches, else at the loop's index."""
        access, region, read = self.nest.operands[operand_index], self.region, []
        for index, one in zip(access.map.indices, ones, strict=True):
            if one is True or index.dim is None:
                read.append(region.constant(0, "index"))
                continue
            loop = region.op(f"i{index.dim}", f"linalg.index {index.dim} : index")
            if isinstance(one, str):
                loop = region.op("at", f"arith.select {one}, {region.constant(0, 'index')}, {loop} : index")
            read.append(loop)
        operand = f"{self.shapes.values[access.name]}[{', '.join(read)}] : {declared_type(access.type)}"
        return region.op(f"in_{self.nest.labels[operand_index]}", f"tensor.extract {operand}")


def _read(dims: Sequence[int | None]) -> str:
    return ", ".join("0" if dim is None else f"d{dim}" for dim in dims)


def _stretches(access: Access) -> bool:
    return any(index.stretches for index in access.map.indices)


def _listed(pairs: Sequence[tuple[str, str]]) -> str:
    return typed([value for value, _ in pairs], [type_ for _, type_ in pairs])
