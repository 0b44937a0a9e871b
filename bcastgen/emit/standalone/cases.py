"""Shapes for a self-checking program: some that a kernel takes, with the results' shapes, and some it refuses.

In: a loop program.  Out: :class:`Case` values, always the same ones for a program.

    a + b over f32[?, ?]  ->  (3, 5) (3, 5) -> (3, 5);  (3, 1) (1, 5) -> (3, 5);  (3, 2) (3, 5) -> refused;  ...

The expected extents of results are computed here, by the interpreter of nests, so the C under test cannot affect them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from ...core.errors import BroadcastError
from ...core.frozen import dataclass
from ...loops.interpret import Extents, result_extents
from ...loops.nest import LoopProgram
from ...shape.types.dim import Dim

__all__ = ["Case", "cases"]

_TRIALS, _ACCEPTED, _REFUSED = 600, 14, 3
# The most elements of an array, so that a program is quick; static types may ask for more.
_MOST_ELEMENTS = 20_000
# Some innermost extents exceed any vector or tile, and are no multiple of one.
_EXTENTS, _LONG = (2, 3, 4, 5, 7), (37, 67, 4999)


@dataclass(frozen=True, slots=True)
class Case:
    """Extents of the operands without constants, and of the results; no results if a kernel has to refuse them."""

    operands: tuple[Extents, ...]
    results: tuple[Extents, ...]


class _Numbers:
    """A pseudo-random sequence that is the same in every version of Python (Knuth's MMIX constants)."""

    def __init__(self) -> None:
        self._state = 2024

    def below(self, count: int) -> int:
        """Return a number from 0 up to, not including, `count`."""
        self._state = (self._state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self._state >> 33) % count

    def one_in(self, count: int) -> bool:
        """Return True once in `count` calls, on average."""
        return self.below(count) == 0


def cases(program: LoopProgram, points: int = 0) -> tuple[Case, ...]:
    """Return shapes to call a kernel with: first shapes that it takes, then shapes that it refuses.

    Parameters
    ----------
    program : its nests.
    points : one of the shapes has more elements, if types allow that.
    """
    taken: dict[tuple[Extents, ...], Case] = {}
    refused: dict[tuple[Extents, ...], Case] = {}
    given = len(program.operands) - program.constants
    trusts = any(d.fate == "trusted" for nest in program.nests for d in nest.domain.decisions)
    for shapes in _candidates(program):
        own = shapes[:given]
        try:
            results = result_extents(program, shapes)
        except BroadcastError:
            # Trusted constraints are checked here, but not by the kernel.
            if not trusts and len(refused) < _REFUSED:
                refused.setdefault(own, Case(own, ()))
            continue
        small = all(_count(shape) <= _MOST_ELEMENTS for shape in results)
        if (small or not taken) and len(taken) < _ACCEPTED:
            taken.setdefault(own, Case(own, results))
        if len(taken) == _ACCEPTED and (trusts or len(refused) == _REFUSED):
            break
    return (*taken.values(), *(_large(program, points) if points else ()), *refused.values())


def _large(program: LoopProgram, points: int) -> Iterator[Case]:
    """Return a case of more elements, or None."""
    given = len(program.operands) - program.constants
    ranks = [len(type_.dims) + 2 * type_.unranked for _, type_ in (*program.operands, *program.results)]
    extent = int((points + 1) ** (1 / max(1, *ranks))) + 1
    for shapes in _candidates(program, extent):
        with suppress(BroadcastError):
            results = result_extents(program, shapes)
            if max(map(_count, results)) > points:
                yield Case(shapes[:given], results)
                return


def _count(shape: Extents) -> int:
    count = 1
    for extent in shape:
        count *= extent
    return count


def _candidates(program: LoopProgram, least: int = 0) -> Iterator[tuple[Extents, ...]]:
    """Shapes that types allow, at first the same for all; whether they meet, others find out.

    With `least`, that is the extent of dims that may have it.
    """
    numbers = _Numbers()
    positions = _positions(program)
    for trial in range(_TRIALS):
        by_position: dict[int, int] = {}
        by_symbol: dict[str, int] = {}
        # A dim of extent 0 is tried, but rarely.
        empty = numbers.one_in(12) and not least
        shapes = []
        for (_, type_), places in zip(program.operands, positions, strict=True):
            front = 2 if type_.unranked and least else numbers.below(3) if type_.unranked else 0
            dims = (*(Dim() for _ in range(front)), *type_.dims)
            aligned = range(len(dims), 0, -1) if places is None or type_.unranked else places
            shape = []
            for dim, position in zip(dims, aligned, strict=True):
                at = by_position.setdefault(position, max(_extent(numbers, position, empty), least))
                shape.append(_fitting(numbers, dim, at, by_symbol, trial > 0))
                if shape[-1] != 1:
                    by_position[position] = shape[-1]
            shapes.append(tuple(shape))
        yield tuple(shapes)


def _positions(program: LoopProgram) -> list[tuple[int, ...] | None]:
    """Return each operand's dims as dims of the domain, counted from the end; None aligns them on the right."""
    found: dict[int, tuple[int, ...]] = {}
    for nest in program.nests:
        for access in (*nest.operands, *nest.shapes):
            if access.positions is not None:
                # A dropped dim has no position, so it gets a negative one of its own.
                unique = tuple(position or -own_dim - 1 for own_dim, position in enumerate(access.positions))
                found.setdefault(access.number, unique)
    return [found.get(operand_index) for operand_index in range(len(program.operands))]


def _extent(numbers: _Numbers, position: int, empty: bool) -> int:
    if empty and numbers.one_in(2):
        return 0
    if position == 1 and numbers.one_in(4):
        return _LONG[numbers.below(len(_LONG))]
    return 1 if position < 0 else _EXTENTS[numbers.below(len(_EXTENTS))]


def _fitting(numbers: _Numbers, dim: Dim, wanted: int, by_symbol: dict[str, int], stretching: bool) -> int:
    """Return an extent that a dim's facts allow: usually the wanted one, or 1."""
    if dim.extent is not None:
        return dim.extent
    if dim.symbol in by_symbol:
        return by_symbol[dim.symbol]
    known = dim.range
    if stretching and known.has(1) and numbers.one_in(3):
        extent = 1
    elif stretching and numbers.one_in(24):
        extent = wanted + 1
    else:
        extent = min(max(-(-wanted // known.step) * known.step, known.low), known.high)
    if dim.symbol is not None:
        by_symbol[dim.symbol] = extent
    return extent
