"""The view of a kernel with reductions that templates print.

In: nothing.  Out: the values that :func:`.reductions.reduced_view` makes; templates only lay them out.

    ReducedView(lines=("    for (int64_t i0 = 0; ...", ...), extents=(("d0", "k_0_extents[0]"), ...), ...)
"""

from __future__ import annotations

from ...core.frozen import dataclass
from ..kernel.loop_model import ArrayView
from ..kernel.model import ConstantView, NestView

__all__ = ["Given", "Kept", "Overlap", "ReducedView"]


@dataclass(frozen=True, slots=True)
class Given:
    """What a reduction gives, as later domain functions see it: a descriptor without data.

    `extents` are the C of its extents, `extents_name` the array that holds them.
    """

    name: str
    extents: tuple[str, ...]
    extents_name: str


@dataclass(frozen=True, slots=True)
class Kept:
    """What a reduction gives, in the caller's memory: a dense array, called `array` in C.

    `byte_strides` are the C of its strides; `c` is the type of its elements, `static_extents` are its extents if all
    are known. `local` names its descriptor as an operand, and `checked` the function that checks its data.
    """

    name: str
    array: str
    local: str
    number: int
    extents: tuple[str, ...]
    extents_name: str
    strides_name: str
    byte_strides: tuple[str, ...]
    bytes: int
    c: str
    static_extents: tuple[int, ...]
    checked: str


@dataclass(frozen=True, slots=True)
class Overlap:
    """A result and another array, which must not share memory; `may_be` says that they may be one array."""

    result: ArrayView
    other: ArrayView
    may_be: bool


@dataclass(frozen=True, slots=True)
class ReducedView:
    """A kernel with reductions, decided.

    Attributes
    ----------
    nests : the nests, with the descriptors that each adds for later domain functions; those without results only check.
    arrays : the arrays that callers pass and that nests access, each once: operands, then results.
    overlaps : the pairs of arrays that must not share memory.
    kept : what is in the caller's memory.
    workspace : the name of the parameter for it.
    extents, bounds, strides : C names with their values; bounds are those of loops around ones that may be empty.
    lines : the loops.
    demand_lines : the loops that look at elements before anything is written.
    constants : the constant arrays that the loops read.
    """

    nests: tuple[tuple[NestView, tuple[Given, ...]], ...]
    arrays: tuple[ArrayView, ...]
    overlaps: tuple[Overlap, ...]
    kept: tuple[Kept, ...]
    workspace: str
    extents: tuple[tuple[str, str], ...]
    bounds: tuple[tuple[str, str], ...]
    strides: tuple[tuple[str, str], ...]
    lines: tuple[str, ...]
    demand_lines: tuple[str, ...]
    constants: tuple[ConstantView, ...]

    @property
    def stored(self) -> tuple[NestView, ...]:
        """The nests whose results are the kernel's."""
        return tuple(nest for nest, _ in self.nests if nest.results and not nest.reductions)

    @property
    def given_names(self) -> frozenset[str]:
        """The names of what reductions give."""
        return frozenset(one.name for _, given in self.nests for one in given)

    @property
    def needed(self) -> frozenset[str]:
        """Those whose extents a domain function reads."""
        return self.given_names.intersection(name for nest, _ in self.nests for name, _ in nest.shapes)
