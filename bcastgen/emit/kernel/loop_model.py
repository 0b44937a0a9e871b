"""What a template shows of inner loops: arrays, variants and bodies, all decided.

In: nothing.  Out: the values that :func:`.view.kernel_view` and :mod:`.inner` make; templates only lay them out.

    ArrayView(name="a", c="float", load="a0", ...)   ->   const float a0 = ...
"""

from __future__ import annotations

from ...core.frozen import dataclass
from ...loops.schedule.function_loops import BLOCK, GROUP
from ...ops.row import Excess

__all__ = ["ArrayView", "DimView", "LoopView", "PartView", "RareView", "VariantView", "WordsView"]


@dataclass(frozen=True, slots=True)
class DimView:
    """One domain dim as an array sees it: its own dim (None: it does not move along it), and the names it has in C.

    `stride` names the effective stride and `row` the address at the loop's index; `selects` if the extent may prove to
    be 1, where the stride in memory means nothing; `reason` is said beside the selection.
    """

    domain: int
    own: int | None
    selects: bool
    reason: str
    stride: str
    row: str


@dataclass(frozen=True, slots=True)
class ArrayView:
    """An operand or result as one indexing map of a nest sees it.

    `place` counts the nest's arrays, `position` the kernel's. `name` is its own in the nest, `owner` the kernel's name
    of the descriptor: they differ where an operand is read through two maps. `pointer` is the C expression of the
    descriptor's address, `member` what goes in front of a field of it. `loaded` is the C of the value of an element
    `{}`, of type `c` in memory and of type `value_c` then; `load`, `step` and `map_name` name that value, its
    stride along an inner loop, and the table of its own dims if it is `mapped` otherwise than by aligning on the right.
    """

    name: str
    owner: str
    position: int
    place: int
    pointer: str
    member: str
    rank: int | None
    c: str
    value_c: str
    loaded: str
    bytes: int
    is_result: bool
    load: str
    step: str
    map_name: str
    dims: tuple[DimView, ...]
    mapped: bool
    is_constant: bool = False

    @property
    def strides(self) -> tuple[str, ...]:
        """The names of its effective strides, in a ranked nest."""
        return tuple(dim.stride for dim in self.dims if dim.own is not None)

    @property
    def is_widened(self) -> bool:
        """Whether an inner loop has floats where memory has 16-bit ones, which its caller converts."""
        return self.c == "float" and self.bytes == 2

    @property
    def own_dims(self) -> tuple[int, ...]:
        """For each dim of the domain its own, or -1."""
        return tuple(-1 if dim.own is None else dim.own for dim in self.dims)


@dataclass(frozen=True, slots=True)
class VariantView:
    """One inner loop: what each array does along it, and the strides (array's place, bytes) that pick it."""

    name: str
    kinds: tuple[str, ...]
    strides: tuple[tuple[int, int], ...]

    @property
    def still(self) -> str:
        """The arrays that are one element along it, as a mask."""
        mask = sum(1 << place for place, stride in self.strides if stride == 0)
        return hex(mask) if mask else "0"


@dataclass(frozen=True, slots=True)
class RareView:
    """What a loop does for a block of points first: look whether an element is rare.

    It is where one of the `excesses`, which have numbers of their own in the loop, is more than it may be, as `body`,
    the elements of the arrays at `places` and the values `known` from tiles tell; `near` is the loop's body where no
    element is.
    """

    body: tuple[str, ...]
    excesses: tuple[tuple[int, Excess], ...]
    places: frozenset[int]
    known: tuple[tuple[str, str], ...]
    near: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PartView:
    """A loop over a block of points: all that is done to them, or where one function waits for another, a part of it.

    It reads the elements of the arrays at `places`, and the values `known` from the tiles of earlier parts; it leaves
    the values `given` in tiles of their C types. The last part gives none, and writes the results. `rare`, where it is
    there, says when a faster body does. With `pairs` the halves of each group of a block are computed side by side.
    """

    places: frozenset[int]
    known: tuple[tuple[str, str], ...]
    body: tuple[str, ...]
    given: tuple[tuple[str, str], ...]
    rare: RareView | None = None
    pairs: bool = False


@dataclass(frozen=True, slots=True)
class WordsView:
    """What a loop computes of each byte of a word of so many bits: its body, and the values whose low bytes it stores.

    If it is `turned` the bytes of a word stand apart, and results are these values.
    `loads` are, for each operand, the C type that a byte's value has then, and of a word `{}` the C of each byte.
    """

    bits: int
    body: tuple[str, ...]
    stores: tuple[str, ...]
    loads: tuple[tuple[str, tuple[str, ...]], ...]
    turned: bool

    @property
    def count(self) -> int:
        """How many bytes a word has."""
        return self.bits // 8

    def serves(self, arrays: tuple[ArrayView, ...], variant: VariantView) -> bool:
        """Whether it is how a variant goes: that in which all bytes move, and all else stands still.

        Or, unless it is turned, one of the operands. It takes the compiler twice as long, and others are rare.
        """
        operands = [(array, variant.kinds[array.place]) for array in arrays if not array.is_result]
        if any(kind == "any" or (kind != "zero" and array.bytes > 1) for array, kind in operands):
            return False
        still = sum(kind == "zero" and array.bytes == 1 for array, kind in operands)
        return still <= (0 if self.turned else min(1, len(operands) - 1))


@dataclass(frozen=True, slots=True)
class LoopView:
    """An inner loop: what it is called, its arrays (those it reads, then those it writes), its body and its variants.

    `parts`, where there are any, compute what the body does, `block` points at a time, or `group` in pairs. `reads` are
    the numbers of what it reads: those of the nest's arrays and, after these, of stages. `cost` is that of a point, in
    tenths of a nanosecond; its largest values have `widest` bytes. `words`, where they are there, are how it goes where
    no array has gaps: a word's bytes at a time.
    """

    name: str
    arrays: tuple[ArrayView, ...]
    operand_count: int
    variants: tuple[VariantView, ...]
    body: tuple[str, ...]
    stores: tuple[str, ...]
    reads: tuple[int, ...] = ()
    cost: int = 1
    widest: int = 8
    parts: tuple[PartView, ...] = ()
    words: WordsView | None = None
    block: int = BLOCK
    group: int = GROUP

    @property
    def operands(self) -> tuple[ArrayView, ...]:
        """What it reads."""
        return self.arrays[: self.operand_count]

    @property
    def results(self) -> tuple[ArrayView, ...]:
        """What it writes."""
        return self.arrays[self.operand_count :]
