"""The views that templates print: names, types and lines, all decided.

In: nothing.  Out: the values that :func:`.view.kernel_view` makes; templates only lay them out.

    NestView(name="kernel", inline=LoopView(...), ...)   ->   static bcg_status kernel_domain(...), and its loops
"""

from __future__ import annotations

from ...core.frozen import dataclass
from ...loops.schedule.outer_loops import PLANNED, OuterLoops
from ...loops.schedule.shared_rows import SharedPass
from ...loops.schedule.threads import Threads
from ..c_text.names import constant_prefix
from .alike import in_a_row
from .loop_model import ArrayView, LoopView, VariantView
from .print_guards import StepView
from .sizes import SizesView, ValuesView

__all__ = [
    "ConstantView",
    "KernelView",
    "NestView",
    "OverlapView",
    "ReductionView",
    "ResultView",
    "TieView",
    "TiedDimView",
]


@dataclass(frozen=True, slots=True)
class OverlapView:
    """A result and another array whose bytes it must not share, unless `same` (a C condition, if any) holds."""

    result: ArrayView
    other: ArrayView
    flag: str
    same: str


@dataclass(frozen=True, slots=True)
class ReductionView:
    """How a result of a nest is reduced, as a row of the table that the run time reads.

    Attributes
    ----------
    step, kind : macros of bcg_abi.h.
    keeps, ddof, temporary, direct, dims : the other fields there.
    shown : what the row is, for its comment.
    """

    step: str
    kind: str
    keeps: int
    ddof: int
    temporary: int
    direct: int
    dims: str
    shown: str


@dataclass(frozen=True, slots=True)
class NestView:
    """One nest: its domain, and its loops.

    Attributes
    ----------
    rank : rank of the domain, None if it may be any; `least_rank` is the number of its dims that are known.
    extents : extents of the domain, None where the run time decides.
    inline : the loop that computes all, with the nest's arrays.
    shapes : of standalone C, the descriptors that its extents come from: of operands that it reads, and of those whose
        shape alone counts.
    ranks : the C in front of `rank`, for each descriptor that the domain's rank comes from.
    guards, starts, steps : of standalone C, the parts of its domain function, see :mod:`.print_guards`.
    stages, staged : the loops that compute stages, and the loop after them, if there are any.
    alike : whether loops over its arrays make all checks of their extents.
    demand, demand_body, demand_status, demand_arrays : the condition that all elements have to satisfy before any is
        written, the statements that compute it, the status if it does not hold, and the arrays that these read.
    claims : the names of the type assertions on its domain. A nest without results is only its domain function.
    reductions : how each result is reduced, where results are not stored.
    asks_late, shared_pass, walk, block_points, threads, outer, copies : as its schedule has them.
    """

    name: str
    rank: int | None
    least_rank: int
    extents: tuple[int | None, ...]
    inline: LoopView
    overlaps: tuple[OverlapView, ...]
    demand_body: tuple[str, ...]
    demand: str
    demand_status: str
    demand_arrays: tuple[ArrayView, ...]
    asks_late: bool
    shapes: tuple[tuple[str, str], ...] = ()
    ranks: tuple[str, ...] = ()
    guards: tuple[StepView, ...] = ()
    starts: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
    steps: tuple[StepView, ...] = ()
    stages: tuple[LoopView, ...] = ()
    staged: LoopView | None = None
    claims: tuple[str, ...] = ()
    alike: bool = False
    reductions: tuple[ReductionView, ...] = ()
    shared_pass: SharedPass | None = None
    walk: str = PLANNED
    block_points: int = 0
    threads: Threads | None = None
    outer: OuterLoops = OuterLoops()
    copies: bool = False

    @property
    def in_a_row(self) -> bool:
        """Whether a loop over its arrays looks at their memory."""
        return self.rank is not None and in_a_row(self.whole_arrays)

    def may_be(self, result: int, operand: int) -> bool:
        """Whether a result and an operand, by their numbers, may be the same array."""
        return any(o.same and (o.result.number, o.other.number) == (result, operand) for o in self.overlaps)

    @property
    def points(self) -> str:
        """The C of the number of its points."""
        return " * ".join(f"d{at}" for at, extent in enumerate(self.extents) if extent != 1)

    @property
    def loops(self) -> tuple[LoopView, ...]:
        """All its loops."""
        return (self.inline, *self.stages, *((self.staged,) if self.staged else ()))

    @property
    def arrays(self) -> tuple[ArrayView, ...]:
        """Its operands, then its results."""
        return self.inline.arrays

    @property
    def operand_count(self) -> int:
        """How many of its arrays it reads."""
        return self.inline.operand_count

    @property
    def operands(self) -> tuple[ArrayView, ...]:
        """The arrays it reads."""
        return self.inline.operands

    @property
    def results(self) -> tuple[ArrayView, ...]:
        """The arrays it writes."""
        return self.inline.results

    @property
    def variants(self) -> tuple[VariantView, ...]:
        """The variants of the loop that computes all."""
        return self.inline.variants

    @property
    def body(self) -> tuple[str, ...]:
        """The body of the loop that computes all."""
        return self.inline.body

    @property
    def stores(self) -> tuple[str, ...]:
        """The C of the value it stores to each result."""
        return self.inline.stores

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of all descriptors that the nest uses, in the kernel's order."""
        constants = dict.fromkeys(array.owner for array in self.operands if array.is_constant)
        return (*(name for name, _ in self.shapes), *constants, *(result.owner for result in self.results))

    @property
    def whole_arrays(self) -> tuple[ArrayView, ...]:
        """Its arrays, each once even if it is read through several maps."""
        return tuple({array.number: array for array in reversed(self.arrays)}.values())[::-1]


@dataclass(frozen=True, slots=True)
class ResultView:
    """A result that the shape function sizes: `extents` and `rank_name` are that function's parameters.

    `local` names a function's own descriptor of it as an operand, and `pointer` is the address of that.
    """

    name: str
    rank: int | None
    extents: str
    rank_name: str
    local: str
    pointer: str


@dataclass(frozen=True, slots=True)
class ConstantView:
    """A constant array in standalone C: the operand that it is, and the static arrays that hold it.

    `number` and `name` are the operand's, `shown` is the user's name; `data`, `extents_name` and `strides_name` name
    static arrays; `lines` hold the data, of type `c`; `local` names a function's own descriptor.
    """

    number: int
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
class TiedDimView:
    """A dim of a result, or of a type assertion: its number in a diagnostic, as C, and the nest whose extents it has.

    `result` counts the results, -1 for a type assertion's; a negative `dim` counts from the end.
    """

    number: str
    result: int
    dim: int
    nest: str


@dataclass(frozen=True, slots=True)
class TieView:
    """Two dims of results, or of type assertions, of different nests that must have the same extent."""

    checked: TiedDimView
    against: TiedDimView
    symbol: str


@dataclass(frozen=True, slots=True)
class KernelView:
    """The whole kernel: parameters are the operands, then the results.

    Attributes
    ----------
    name : the prefix of its own functions; `function` is the function that computes the results.
    module : the prefix of types, constants and helpers.
    banner : the comment that the file starts with.
    operands, results : their C names.
    renamed : (name, C name) of the operands and results whose names C cannot take.
    nests : in the program's order; one without results only checks, or finds its domain.
    overlaps : the checks between a result and an array of another nest.
    statuses : name, value and sentence of each status.
    ties : dims of two nests' results, or type assertions, that have the same symbol.
    users : the parts of C that the ops of its nests bring, each once.
    claims : number in a diagnostic and name of each type assertion on a value that is not stored.
    constants : the constant arrays that a nest reads; `given` are the operands that are parameters of the C: no
        constants, nothing that reductions give.
    constant_count : in standalone C, the number of all constants; 0 in a kernel of the JIT, where they are parameters.
    shown : the users' names of operands, results and type assertions, and the texts of computed extents.
    extents : the numbers of operands that stand for extents which the caller gives; they follow each other.
    extent_arrays : where these are parameters, their names, and those of a function's own descriptors of them.
    aligned : whether every operand aligns with the results on the right, so that a result may be an operand itself.
    sized : the shape functions that compute extents of ops' results; no caller passes their slots.
    reduced : the reductions, of the first results; what they give are the last operands.
    in_place : in standalone C, each result, and the operands whose memory it may take.
    workspace : the name of the parameter for memory that the kernel needs; empty if it needs none.
    numbers : the constants of the header for the numbers of a diagnostic, in their order, if it has any.
    guards, guards_text : in a kernel of the JIT, the guards that csrc/runtime/guards.c runs, as numbers and as text.
    """

    name: str
    module: str
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
    shown: tuple[str, ...] = ()
    extents: tuple[int, ...] = ()
    extent_arrays: tuple[tuple[str, str], ...] = ()
    sized: SizesView | None = None
    reduced: tuple[ReductionView, ...] = ()
    in_place: tuple[tuple[str, tuple[str, ...]], ...] = ()
    workspace: str = ""
    numbers: tuple[str, ...] = ()
    guards: tuple[int, ...] = ()
    guards_text: str = ""

    @property
    def operand_count(self) -> int:
        """The number of its operands, constants among them, without those that reductions give."""
        return len(self.operands) - len(self.reduced)

    @property
    def macros(self) -> str:
        """The prefix of constants."""
        return constant_prefix(self.module)

    @property
    def extent_range(self) -> tuple[int, int]:
        """The first of `extents`, and the number after the last one; (0, 0) if there are none."""
        return (self.extents[0], self.extents[-1] + 1) if self.extents else (0, 0)

    @property
    def extent_names(self) -> frozenset[str]:
        """The parameters that are extents."""
        return frozenset(name for name, _ in self.extent_arrays)

    @property
    def placed(self) -> tuple[str, ...]:
        """The C of the operands inside, where shape functions have computed the extents of some."""
        slots = {at: f"extents[{result}].extents[{dim}]" for at, result, dim in self.sized.slots} if self.sized else {}
        return tuple(slots.get(at, name) for at, name in enumerate(self.given))

    @property
    def given(self) -> tuple[str, ...]:
        """The operands that are parameters: no constants, and nothing that reductions give."""
        return self.operands[: self.operand_count - self.constant_count]

    @property
    def outputs(self) -> tuple[ResultView, ...]:
        """The results that a caller gets: not those that are reduced."""
        return self.results[len(self.reduced) :]

    @property
    def passed(self) -> tuple[str, ...]:
        """The operands that a caller passes: those in `given` except slots that are computed."""
        slots = {at for at, _, _ in self.sized.slots} if self.sized is not None else ()
        return tuple(name for at, name in enumerate(self.given) if at not in slots)

    @property
    def sizing_arguments(self) -> tuple[str, ...]:
        """What the shape functions take: the operands that a caller passes, or their values."""
        values = {} if self.sized is None else {self.operands[one.operand]: one for one in self.sized.values}
        return tuple(_taken(name, values.get(name)) for name in self.passed)

    @property
    def computed(self) -> tuple[NestView, ...]:
        """The nests that have results."""
        return tuple(nest for nest in self.nests if nest.results)

    @property
    def demands(self) -> tuple[NestView, ...]:
        """The nests that check elements."""
        return tuple(nest for nest in self.nests if nest.demand)

    @property
    def arrays(self) -> tuple[str, ...]:
        """Every array's name: operands, constants among them, then results."""
        return (*self.operands, *(result.name for result in self.results))

    @property
    def pointers(self) -> tuple[str, ...]:
        """The addresses of their descriptors, results as operands."""
        return (*self.operands, *(result.pointer for result in self.results))

    @property
    def element_bytes(self) -> tuple[int, ...]:
        """By number, the bytes of an element of each array that a caller passes and a nest accesses; 0 for others."""
        found = {array.number: array.bytes for nest in self.nests for array in nest.arrays if not array.is_constant}
        return tuple(found.get(at, 0) for at in range(len(self.arrays)))


def _taken(name: str, values: ValuesView | None) -> str:
    if values is None:
        return name
    return f"&given{values.at}" if values.is_list else f"given{values.at}.extents[0]"
