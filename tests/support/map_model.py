"""Random ops with shape functions: maps, extents that fit them and some that do not, and NumPy's values of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

import bcastgen as bg

EXTENTS = (1, 1, 2, 3, 4)


@dataclass
class Case:
    """An op `a - 2*b` of two operands; `maps` has (dim of the result or None, does it stretch) for each own dim."""

    name: str
    result: tuple[int, ...]
    maps: list[list[tuple[int | None, bool]]]

    def define(self):
        """The op: its result has the same extents whatever the operands are, so that maps decide what fits."""
        return bg.define_op(
            self.name,
            "a, b",
            c="a - 2 * b",
            dtypes="same number",
            shape=lambda a, b: bg.shape.const_shape(self.result),
            maps=[self.map_text(own) for own in self.maps],
            replace=True,
        )

    def map_text(self, own):
        dims = ["0" if at is None else f"d{at}|0" if stretches else f"d{at}" for at, stretches in own]
        return f"({', '.join(f'd{at}' for at in range(len(self.result)))}) -> ({', '.join(dims)})"

    def shapes(self, chance, wrong):
        """Shapes of both operands, one extent of which does not fit if it is to be wrong and can be."""
        made = [
            [1 if at is None or (stretches and chance.random() < 0.4) else self.result[at] for at, stretches in own]
            for own in self.maps
        ]
        places = [(operand, dim) for operand, own in enumerate(self.maps) for dim in range(len(own))]
        if wrong and places:
            operand, dim = chance.choice(places)
            made[operand][dim] = chance.choice([e for e in (0, 1, 2, 3, 4, 5) if e != made[operand][dim]])
        return [tuple(shape) for shape in made]

    def fits(self, shapes):
        """Whether every extent is as its map says."""
        return all(
            extent == (1 if at is None else self.result[at]) or (stretches and extent == 1)
            for shape, own in zip(shapes, self.maps, strict=True)
            for extent, (at, stretches) in zip(shape, own, strict=True)
        )

    def placed(self, array, operand):
        """An operand as the result sees it."""
        own = self.maps[operand]
        array = array.reshape([e for e, (at, _) in zip(array.shape, own, strict=True) if at is not None])
        places = [at for at, _ in own if at is not None]
        array = array.transpose(np.argsort(places))
        extents = dict(zip(sorted(places), array.shape, strict=True))
        return np.broadcast_to(array.reshape([extents.get(at, 1) for at in range(len(self.result))]), self.result)

    def value(self, a, b):
        """What the op computes."""
        return self.placed(a, 0) - 2 * self.placed(b, 1)


def make_case(chance, name):
    """A random op."""
    rank = chance.randint(1, 3)
    maps = []
    for _ in range(2):
        own = [(at, chance.random() < 0.4) for at in chance.sample(range(rank), chance.randint(0, rank))]
        if chance.random() < 0.3:
            own.insert(chance.randint(0, len(own)), (None, False))
        maps.append(own)
    return Case(name, tuple(chance.choice(EXTENTS) for _ in range(rank)), maps)
