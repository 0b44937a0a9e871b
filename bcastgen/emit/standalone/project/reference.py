"""The reference loop of a self-checking program: how to compute and to find one element of each result.

In: a kernel's loop program, before its integers are narrowed.  Out: :class:`ReferenceView` values, one a nest.

    nest (d0, d1): a, b -> r   ->   reads a and b, aligned on the right; const float t0 = b0 * 2.0f; ...; writes r

Only the statements of a point come from the kernel. The program finds points in its own way: broadcasting's
rule, applied to extents, element by element.
"""

from __future__ import annotations

from ....core.frozen import dataclass
from ....loops.nest import Access, LoopProgram
from ....loops.schedule.program_schedule import standalone_schedule
from ...kernel.model import NestView
from ...kernel.view import kernel_view

__all__ = ["AccessView", "ReferenceView", "references"]


@dataclass(frozen=True, slots=True)
class AccessView:
    """An array that a point reads or writes.

    `array` counts operands, constants and results; `dims` says where in the domain its dims lie, from the end (0:
    nowhere), or is None where they align on the right. A value called `load`, of type `c`, is read from or written to
    memory by `value`.
    """

    array: int
    dims: tuple[int, ...] | None
    c: str
    load: str
    value: str


@dataclass(frozen=True, slots=True)
class ReferenceView:
    """The points of a nest; `demand`, if any, holds at every point that the kernel accepts."""

    at: int
    name: str
    reads: tuple[AccessView, ...]
    writes: tuple[AccessView, ...]
    body: tuple[str, ...]
    demand_body: tuple[str, ...]
    demand: str
    results: str

    @property
    def tables(self) -> tuple[tuple[int, ...], ...]:
        """The tables of dims for accesses that do not align on the right."""
        return tuple(access.dims for access in (*self.reads, *self.writes) if access.dims)

    @property
    def accesses(self) -> str:
        """The initialisers of the accesses."""
        shown, count = [], 0
        for access in (*self.reads, *self.writes):
            shown.append(f"{{{access.array}, {f'dims{self.at}_{count}' if access.dims else 'NULL'}}}")
            count += bool(access.dims)
        return ", ".join(shown)


def references(stem: str, program: LoopProgram, fast: bool) -> tuple[ReferenceView, ...]:
    """Return the points of every nest that has results.

    Parameters
    ----------
    stem : what the kernel's functions are called after.
    program : its nests.
    fast : whether functions take their fast forms.
    """
    view = kernel_view(stem, program, standalone_schedule(program, 0, fast=fast), "", separate=True)
    pairs = enumerate(zip(program.nests, view.nests, strict=True))
    return tuple(
        _reference(at, stem, nest_view, nest.operands, nest.results, len(program.operands))
        for at, (nest, nest_view) in pairs
        if nest.results
    )


def _reference(
    at: int, stem: str, view: NestView, operands: tuple[Access, ...], results: tuple[Access, ...], first: int
) -> ReferenceView:
    """Return the view of the function that computes one point of a nest; `first` is the number of the first result."""
    reads = tuple(
        AccessView(
            access.number,
            _dims(access),
            array.value_c,
            array.load,
            array.loaded.format(f"*(const {array.c} *)bcg_main_read[{number}]"),
        )
        for number, (access, array) in enumerate(zip(operands, view.operands, strict=True))
    )
    writes = tuple(
        AccessView(first + access.number, None, array.c, array.load, store)
        for access, array, store in zip(results, view.results, view.stores, strict=True)
    )
    return ReferenceView(
        at,
        f"bcg_main_{stem}_point{at}",
        reads,
        writes,
        view.body,
        view.demand_body,
        view.demand,
        " and ".join(array.name for array in view.results),
    )


def _dims(access: Access) -> tuple[int, ...] | None:
    if access.positions is None or access.is_aligned:
        return None
    return tuple(position or 0 for position in access.positions)
