"""Ties across nests in C: dims of results and claims that carry one symbol, and are known in different functions.

In: a program and the views of its nests.  Out: :class:`TieView` values.

    nest 0: %0 is f32[k]; nest 1: r is f32[k]   ->   r's dim 0 against the extents that nest 0 has written
"""

from __future__ import annotations

from ...loops.nest import LoopProgram
from ...shape.constraints import ResultSame
from .checks import Members
from .model import NestView, PlaceView, TieView

__all__ = ["ties_of"]


def ties_of(program: LoopProgram, nests: tuple[NestView, ...], members: Members) -> tuple[TieView, ...]:
    """Return the symbols that results, or claims, of different nests share and only the run time can compare."""
    homes: dict[str, tuple[int, int, NestView]] = {}
    for nest, view in zip(program.nests, nests, strict=True):
        homes.update((a.name, (members.claim(a.position), -1, view)) for a in nest.claims)
        homes.update((a.name, (members.result(a.position), a.position, view)) for a in nest.results)
    found = []
    for nest in program.nests:
        own = {access.name for access in nest.named}
        for c in nest.domain.constraints:
            if isinstance(c, ResultSame) and c.other in homes and c.other not in own:
                places = _place_view(*homes[c.result], c.dim), _place_view(*homes[c.other], c.other_dim)
                found.append(TieView(*places, c.symbol))
    return tuple(found)


def _place_view(number: int, result: int, nest: NestView, dim: int) -> PlaceView:
    # A type of unknown rank counts its dims from the end.
    return PlaceView(number, result, dim if dim >= 0 or nest.rank is None else nest.rank + dim, nest.name)
