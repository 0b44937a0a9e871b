"""The views of inner loops that templates print: arrays, variants and bodies, all decided.

In: nothing.  Out: the values that :func:`.view.kernel_view` and :mod:`.inner` make; templates only lay them out.

    ArrayView(name="a", c="float", load="a0", ...)   ->   const float a0 = ...
"""

from __future__ import annotations

from ...core.dtypes import DType
from ...core.frozen import dataclass
from ...loops.schedule.function_loops import AHEAD, BLOCK, GROUP

__all__ = [
    "ArrayView",
    "BlockLoopView",
    "CommonCaseView",
    "DimView",
    "LoopView",
    "RangeTestView",
    "SidesView",
    "VariantView",
    "WidenedView",
    "WordsView",
    "data_check",
]


@dataclass(frozen=True, slots=True)
class DimView:
    """One domain dim as an array sees it: the array's own dim (None if it does not move along it), and names in C.

    `stride` names the effective stride and `row` the address at the loop's index; `selects` says that the extent may
    prove to be 1, in which case the stride in memory means nothing; `reason` is the comment beside the selection.
    """

    domain: int
    own_dim: int | None
    selects: bool
    reason: str
    stride: str
    row: str


@dataclass(frozen=True, slots=True)
class ArrayView:
    """An operand or result as one indexing map of a nest sees it.

    `nest_index` counts the nest's arrays, `number` the kernel's. `name` is its own in the nest, `owner` the kernel's
    name of the descriptor: they differ where an operand is read through two maps. `pointer` is the C expression of the
    descriptor's address, `member` what goes in front of a field of it. `loaded` is the C of the value of an element
    `{}`, of type `c` in memory and of type `value_c` then; `load`, `step` and `map_name` name that value, its
    stride along an inner loop, and the table of its own dims if it is `mapped` otherwise than by aligning on the right.
    `is_widened` says that an inner loop has floats where memory has 16-bit ones; the loop's caller converts them.
    `spelled_number` is the C of `number`; `checked` names the function that checks its data and strides.
    `alignment` is that of its rows, in bytes, as far as callers promise one, else 0.
    """

    name: str
    owner: str
    number: int
    nest_index: int
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
    is_widened: bool = False
    spelled_number: str = ""
    checked: str = ""
    alignment: int = 0

    @property
    def described(self) -> str:
        """The C in front of a field of the descriptor that is checked: for a result, that of it as an operand."""
        return f"{self.pointer[1:]}." if self.pointer.startswith("&") else f"{self.pointer}->"

    @property
    def row_dim(self) -> int | None:
        """The own dim that the inner loop goes along, if there is one."""
        return self.dims[-1].own_dim if self.dims else None

    @property
    def strides(self) -> tuple[str, ...]:
        """The names of its effective strides, in a ranked nest."""
        return tuple(dim.stride for dim in self.dims if dim.own_dim is not None)

    @property
    def own_dims(self) -> tuple[int, ...]:
        """For each dim of the domain the array's own dim, or -1."""
        return tuple(-1 if dim.own_dim is None else dim.own_dim for dim in self.dims)


@dataclass(frozen=True, slots=True)
class VariantView:
    """One inner loop: what each array does along it, and the strides (array's place, bytes) that pick it.

    `hint` is the macro in front of its loops, if any: it says that iterations are independent, or also how many a
    vector holds. `in_words` says that it computes a word of bytes at a time. `widened` says how it reads vectors of
    narrow numbers, if it does. `sides` are its two loops if a condition is one value along it. `aligned` are the places
    of the arrays that it takes to be aligned.
    """

    name: str
    kinds: tuple[str, ...]
    strides: tuple[tuple[int, int], ...]
    hint: str
    in_words: bool = False
    widened: WidenedView | None = None
    sides: SidesView | None = None
    aligned: tuple[int, ...] = ()

    @property
    def stationary(self) -> str:
        """The mask of the arrays that stay at one element along the loop."""
        mask = sum(1 << place for place, stride in self.strides if stride == 0)
        return hex(mask) if mask else "0"


@dataclass(frozen=True, slots=True)
class SidesView:
    """The two loops of a variant, and the `condition` that decides, computed by `body` from the arrays at `places`."""

    places: frozenset[int]
    body: tuple[str, ...]
    condition: str
    holds: LoopView
    fails: LoopView


@dataclass(frozen=True, slots=True)
class RangeTestView:
    """A test of a block: whether the largest `number` of type `c` is at most all `limits`; `at` counts the tests."""

    at: int
    c: str
    number: str
    limits: tuple[str, ...]

    @property
    def is_wide(self) -> bool:
        """Whether the numbers have 64 bits, of which not all vectors have a maximum."""
        return self.c == "uint64_t"

    @property
    def fails(self) -> str:
        """The condition that a block fails the test."""
        form = "bcg_is_above_u64(most{}, {})" if self.is_wide else "most{} > {}"
        return " || ".join(form.format(self.at, limit) for limit in self.limits)


@dataclass(frozen=True, slots=True)
class CommonCaseView:
    """The test that a loop makes first for a block of points: whether its `short` body is right for all of them.

    The `tests` need the statements `body`, the elements of the arrays at `places` and the values `known` from tiles.
    """

    body: tuple[str, ...]
    tests: tuple[RangeTestView, ...]
    places: frozenset[int]
    known: tuple[tuple[str, str], ...]
    short: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class BlockLoopView:
    """A loop over a block of points: it computes all of a body, or a part of it if one function waits for another.

    It reads the elements of the arrays at `places`, and the values `known` from the tiles of earlier loops; it leaves
    the values `given` in tiles of their C types. The last loop gives none, and writes the results. In the variants
    whose names are in `pairs`, the halves of each group of a block are computed side by side. Before each so many
    points as it `prefetches`, as many points of the arrays at the places `prefetched` are prefetched; 0: none.
    """

    places: frozenset[int]
    known: tuple[tuple[str, str], ...]
    body: tuple[str, ...]
    given: tuple[tuple[str, str], ...]
    common_case: CommonCaseView | None = None
    pairs: frozenset[str] = frozenset()
    prefetches: int = 0
    prefetched: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class WordsView:
    """The computation of each byte of a word of so many bits: its body, and the values whose low bytes are stored.

    `loads` are, for each operand, the C type of a byte's value, and the C of each byte of a word `{}`.
    """

    bits: int
    body: tuple[str, ...]
    stores: tuple[str, ...]
    loads: tuple[tuple[str, tuple[str, ...]], ...]

    @property
    def count(self) -> int:
        """How many bytes a word has."""
        return self.bits // 8


@dataclass(frozen=True, slots=True)
class WidenedView:
    """The computation of a vector of lanes of so many bits.

    `functions` read the arrays at these places into lanes of the C type `c`; the values `known` are those of lanes.
    `still` are places and names of narrow numbers that stand still, which `repeat` puts into all lanes. `body` is what
    is computed from these and the elements of the other arrays.
    """

    bits: int
    c: str
    repeat: str
    functions: tuple[tuple[int, str], ...]
    known: tuple[tuple[str, int], ...]
    still: tuple[tuple[int, str], ...]
    body: tuple[str, ...]

    @property
    def places(self) -> tuple[int, ...]:
        """The places of the arrays that are widened."""
        return tuple(place for place, _ in self.functions)


@dataclass(frozen=True, slots=True)
class LoopView:
    """An inner loop: its name, its arrays (those it reads, then those it writes), its body and its variants.

    `block_loops`, if there are any, compute the same as the body, `block` points at a time, or `group` in pairs; what
    is prefetched is `ahead` points later.
    `reads` are the numbers of the values it reads: those of the nest's arrays and, after these, of stages.
    `cost_tenths_ns` is the cost of a point, in whole tenths of a nanosecond. `words` is the body of the variants that
    are `in_words`.
    """

    name: str
    arrays: tuple[ArrayView, ...]
    operand_count: int
    variants: tuple[VariantView, ...]
    body: tuple[str, ...]
    stores: tuple[str, ...]
    reads: tuple[int, ...] = ()
    cost_tenths_ns: int = 1
    block_loops: tuple[BlockLoopView, ...] = ()
    words: WordsView | None = None
    block: int = BLOCK
    group: int = GROUP
    ahead: int = AHEAD

    @property
    def operands(self) -> tuple[ArrayView, ...]:
        """The arrays it reads."""
        return self.arrays[: self.operand_count]

    @property
    def results(self) -> tuple[ArrayView, ...]:
        """The arrays it writes."""
        return self.arrays[self.operand_count :]


def data_check(dtype: DType) -> str:
    """Return the name of the function that checks data and strides of elements of a dtype."""
    return "bcg_check_complex" if dtype.is_complex else "bcg_check_data"
