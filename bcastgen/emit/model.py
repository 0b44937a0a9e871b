"""What a template shows of a view: names, types and lines, all decided.

In: nothing.  Out: the values that :func:`.view.kernel_view` makes; templates only lay them out.

    ArrayView(name="a", c="float", load="a0", ...)   ->   const float a0 = ...
"""

from __future__ import annotations

from dataclasses import dataclass

from .checks import Step

__all__ = [
    "ArrayView",
    "ConstantView",
    "DimView",
    "KernelView",
    "LoopView",
    "NestView",
    "OverlapView",
    "PlaceView",
    "RareView",
    "ResultView",
    "TieView",
    "VariantView",
]


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
    `{}`, of type `c` in memory and of type `value_c` then; `load`, `step`, `bits` and `map_name` name that value, its
    stride along an inner loop, the bits that show its alignment, and the table of its own dims if it is `mapped`
    otherwise than by aligning on the right.
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
    bits: str
    map_name: str
    dims: tuple[DimView, ...]
    mapped: bool
    is_constant: bool = False

    @property
    def strides(self) -> tuple[str, ...]:
        """The names of its effective strides, in a ranked nest."""
        return tuple(dim.stride for dim in self.dims if dim.own is not None)

    @property
    def own_dims(self) -> tuple[int, ...]:
        """For each dim of the domain its own, or -1."""
        return tuple(-1 if dim.own is None else dim.own for dim in self.dims)


@dataclass(frozen=True, slots=True)
class OverlapView:
    """A result and another array whose bytes it must not share, unless `same` (a C condition, if any) holds."""

    result: ArrayView
    other: ArrayView
    flag: str
    same: str


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

    `condition` is that of one, which `body` and the elements of the arrays at `places` tell; `near` is the loop's body
    where no element is.
    """

    body: tuple[str, ...]
    condition: str
    places: frozenset[int]
    near: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class LoopView:
    """An inner loop: what it is called, its arrays (those it reads, then those it writes), its body and its variants.

    `rare`, where it is there, says when a faster body does. `reads` are the numbers of what it reads: those of the
    nest's arrays and, after these, of stages. `cost` is that of a point, in tenths of a nanosecond.
    """

    name: str
    arrays: tuple[ArrayView, ...]
    operand_count: int
    variants: tuple[VariantView, ...]
    body: tuple[str, ...]
    stores: tuple[str, ...]
    rare: RareView | None = None
    reads: tuple[int, ...] = ()
    cost: int = 1

    @property
    def operands(self) -> tuple[ArrayView, ...]:
        """What it reads."""
        return self.arrays[: self.operand_count]

    @property
    def results(self) -> tuple[ArrayView, ...]:
        """What it writes."""
        return self.arrays[self.operand_count :]


@dataclass(frozen=True, slots=True)
class NestView:
    """One nest: its domain, and its loops.

    Attributes
    ----------
    rank : of the domain, None if any; `least_rank` is the number of its dims that are known.
    extents : of the domain, None where the run time decides.
    inline : the loop that computes all, with the nest's arrays.
    shapes : the descriptors its extents come from: of the operands it reads, and of those whose shape alone counts.
    ranks : what goes in front of the rank of those that its domain's rank comes from.
    guards, starts, steps : what its domain function does, see :mod:`.checks`.
    distinct : for each result, the C condition under which elements of it share memory, in a ranked nest.
    stages, staged : the loops that compute stages, and the one behind them, where there are any.
    claims : the names of what is claimed of its domain. A nest without results is its domain function.
    """

    name: str
    rank: int | None
    least_rank: int
    extents: tuple[int | None, ...]
    inline: LoopView
    shapes: tuple[tuple[str, str], ...]
    ranks: tuple[str, ...]
    guards: tuple[Step, ...]
    starts: tuple[tuple[str, ...], tuple[str, ...]]
    steps: tuple[Step, ...]
    overlaps: tuple[OverlapView, ...]
    distinct: tuple[str, ...]
    demand_body: tuple[str, ...]
    demand: str
    demand_arrays: tuple[ArrayView, ...]
    stages: tuple[LoopView, ...] = ()
    staged: LoopView | None = None
    claims: tuple[str, ...] = ()

    @property
    def loops(self) -> tuple[LoopView, ...]:
        """All its loops."""
        return (self.inline, *self.stages, *((self.staged,) if self.staged else ()))

    @property
    def arrays(self) -> tuple[ArrayView, ...]:
        """What it reads, then what it writes."""
        return self.inline.arrays

    @property
    def operand_count(self) -> int:
        """How many of its arrays it reads."""
        return self.inline.operand_count

    @property
    def operands(self) -> tuple[ArrayView, ...]:
        """What it reads."""
        return self.inline.operands

    @property
    def results(self) -> tuple[ArrayView, ...]:
        """What it writes."""
        return self.inline.results

    @property
    def variants(self) -> tuple[VariantView, ...]:
        """Those of the loop that computes all."""
        return self.inline.variants

    @property
    def body(self) -> tuple[str, ...]:
        """That of the loop that computes all."""
        return self.inline.body

    @property
    def stores(self) -> tuple[str, ...]:
        """What it stores, for each result."""
        return self.inline.stores

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of all descriptors it has to do with, in the kernel's order."""
        constants = dict.fromkeys(array.owner for array in self.operands if array.is_constant)
        return (*(name for name, _ in self.shapes), *constants, *(result.owner for result in self.results))

    @property
    def whole_arrays(self) -> tuple[ArrayView, ...]:
        """Its arrays, each once, however many maps it is read through."""
        return tuple({array.position: array for array in reversed(self.arrays)}.values())[::-1]


@dataclass(frozen=True, slots=True)
class ResultView:
    """A result as the shape function gives it: `extents` and `rank_name` are that function's parameters."""

    name: str
    rank: int | None
    extents: str
    rank_name: str


@dataclass(frozen=True, slots=True)
class ConstantView:
    """A constant array in standalone C: the operand it is, and what stands for it.

    `position` and `name` are the operand's, `shown` what the user calls it; `data`, `extents_name` and `strides_name`
    name static arrays, of elements of type `c`, in `lines`; `local` names a function's own descriptor.
    """

    position: int
    name: str
    shown: str
    c: str
    data: str
    extents_name: str
    strides_name: str
    local: str
    extents: tuple[int, ...]
    byte_strides: tuple[int, ...]
    count: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PlaceView:
    """A dim of a result, or of a claim: its number in a diagnostic, and the nest whose extents it has.

    `result` counts the results, -1 for a claim's; `dim` is a number, counted from the end of a rank where negative.
    """

    number: int
    result: int
    dim: int
    nest: str


@dataclass(frozen=True, slots=True)
class TieView:
    """Two dims of results, or claims, of different nests that have one extent."""

    place: PlaceView
    other: PlaceView
    symbol: str


@dataclass(frozen=True, slots=True)
class KernelView:
    """The whole kernel: parameters are the operands, then the results.

    Attributes
    ----------
    name : what its types, constants and files begin with; `function` is the function that computes the results.
    banner : the comment the file starts with.
    operands, results : their C names.
    renamed : (name, C name) of those that C cannot call what the user calls them.
    overlaps : those between a result and an array of another nest.
    statuses : name, value and sentence of each status.
    ties : dims of two nests' results, or claims, that carry one symbol.
    claims : number in a diagnostic and name of what is claimed of values that are not stored.
    constants : the constant arrays that a nest reads; `given` are the operands that a caller passes.
    aligned : whether every operand aligns with the results on the right, so that a result may be an operand itself.
    """

    name: str
    function: str
    banner: str
    operands: tuple[str, ...]
    results: tuple[ResultView, ...]
    renamed: tuple[tuple[str, str], ...]
    nests: tuple[NestView, ...]
    overlaps: tuple[OverlapView, ...]
    statuses: tuple[tuple[str, int, str], ...]
    ties: tuple[TieView, ...]
    aligned: bool
    users: tuple[tuple[str, str], ...] = ()
    claims: tuple[tuple[int, str], ...] = ()
    constants: tuple[ConstantView, ...] = ()
    constant_count: int = 0

    @property
    def given(self) -> tuple[str, ...]:
        """The operands that are parameters: no constants."""
        return self.operands[: len(self.operands) - self.constant_count]

    @property
    def computed(self) -> tuple[NestView, ...]:
        """The nests that have results."""
        return tuple(nest for nest in self.nests if nest.results)

    @property
    def demands(self) -> tuple[NestView, ...]:
        """The nests that ask something of the elements."""
        return tuple(nest for nest in self.nests if nest.demand)

    @property
    def arrays(self) -> tuple[str, ...]:
        """Every array's name: operands, constants among them, then results."""
        return (*self.operands, *(result.name for result in self.results))

    @property
    def in_place(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """The operands whose memory each result may take."""
        pairs = [(o.result.name, o.other.name) for nest in self.nests for o in nest.overlaps if o.same]
        return tuple((r.name, tuple(other for result, other in pairs if result == r.name)) for r in self.results)
