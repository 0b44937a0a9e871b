"""The loop IR: nests over iteration domains, with an indexing map for each operand and a scalar body in SSA form.

In: the decisions of `lower`.  Out: a :class:`LoopProgram`, which prints; `interpret` runs it, `emit` renders it.

    nest (d0, d1)
      a : tensor<?x?xf32>  (d0, d1) -> (d0|0, d1|0)
      r : tensor<?x?xf32>  (d0, d1) -> (d0, d1)
      checked at run time: a.0 in {1, d0}; a.1 in {1, d1}
      t0 = multiply(a, 2.0:f32) : f32
      r = t0
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..core.dtypes import DType
from ..core.frozen import dataclass
from ..expr.nodes import Constant, Params, literal
from ..ops.row import Op
from ..shape.constraints import Constraint
from ..shape.decision import Decision
from ..shape.types.dim import Dim
from ..shape.types.tensor_type import TensorType
from .affine import AffineMap
from .unit_dims import fold_unit_dims

if TYPE_CHECKING:
    from ..ops.rows.reductions import Reduction
    from .guard_program.ir import GuardProgram

__all__ = [
    "Access",
    "Domain",
    "Let",
    "Load",
    "LoopProgram",
    "Nest",
    "Reducing",
    "Slot",
    "Statement",
    "Value",
    "checked_line",
    "made_of",
    "users_of",
]


@dataclass(frozen=True, slots=True)
class Domain:
    """The box a nest iterates over, d0 outermost; `open` is True if it may have any number of further dims in front.

    Attributes
    ----------
    setters : for each dim, the operand whose type decides its extent, or None where the run time decides.
    stretching : (operand, own dim, position) of each dim that stretches if its extent proves to be 1.
    sources : for each dim, the place (operand, its own dim) that is known to set its extent, or None.
    decisions : the constraints, each with its fate: proved by types, checked at run time, or trusted.
    unknown_places : for each dim, the places of unknown extent that meet there; dims that types do not show are left
        out.
    """

    dims: tuple[Dim, ...]
    open: bool
    setters: tuple[str | None, ...]
    sources: tuple[tuple[str, int] | None, ...]
    stretching: frozenset[tuple[str, int, int]]
    decisions: tuple[Decision, ...]
    unknown_places: tuple[tuple[tuple[str, int], ...], ...]

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The constraints that are checked at run time."""
        return tuple(decision.constraint for decision in self.decisions if decision.fate == "checked")

    @property
    def is_empty(self) -> bool:
        """Whether types show that it has no points."""
        return any(dim.extent == 0 for dim in self.dims)

    def __str__(self) -> str:
        names = [f"d{at}" if dim.extent is None else f"d{at}={dim.extent}" for at, dim in enumerate(self.dims)]
        return f"({', '.join((['...'] if self.open else []) + names)})"


@dataclass(frozen=True, slots=True)
class Access:
    """An operand or result of a nest: its number in the program, its name, its type and its indexing map.

    `positions` has for each of its dims the position in the domain, counted from the end, from 1; None aligns them all
    on the right.
    """

    number: int
    name: str
    type: TensorType
    map: AffineMap
    positions: tuple[int | None, ...] | None = None

    @property
    def dtype(self) -> DType:
        """The element type; lowering gives every access one."""
        assert self.type.dtype is not None
        return self.type.dtype

    @property
    def is_aligned(self) -> bool:
        """True if its dims align with the domain's on the right."""
        return self.positions is None or self.positions == tuple(range(len(self.positions), 0, -1))

    @property
    def stands_by(self) -> bool:
        """True if it has dims, but none lies in the domain: its extents are only compared with others."""
        return bool(self.positions) and all(position is None for position in self.positions or ())


@dataclass(frozen=True, slots=True)
class Load:
    """The element of an operand at the current point; `access` is an index into the nest's operands."""

    access: int


@dataclass(frozen=True, slots=True)
class Let:
    """The value of an earlier statement; `index` is its index in the body."""

    index: int


Value = Load | Let | Constant


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a body: an op on values of the given dtypes."""

    op: Op
    operands: tuple[Value, ...]
    operand_dtypes: tuple[DType, ...]
    params: Params
    dtype: DType

    @property
    def constant(self) -> bool | int | float | None:
        """The value of the last operand if it is a constant, else None: some ops have a C form for constants."""
        last = self.operands[-1]
        return last.value if isinstance(last, Constant) else None


@dataclass(frozen=True, slots=True)
class Reducing:
    """How a nest reduces one of its results.

    Attributes
    ----------
    op : the row.
    name, operand : what it gives, an operand of later nests.
    value : the number of the result that is reduced.
    axes, keepdims : the dims of the domain that are combined, and whether an extent of 1 stays in their places.
    ddof : the result is divided by the number of elements less this; None if it is not divided.
    needs_elements : whether the dims may not be empty.
    """

    op: Reduction
    name: str
    value: int
    operand: int
    axes: tuple[int, ...]
    keepdims: bool
    ddof: int | None
    needs_elements: bool

    def sources(self, rank: int) -> tuple[int, ...]:
        """Return the dim of the domain, which has this rank, that each dim of the reduced value comes from."""
        return tuple(dim for dim in range(rank) if self.keepdims or dim not in self.axes)


@dataclass(frozen=True, slots=True)
class Nest:
    """One loop nest: `stores[i]` is the value of `results[i]` at every point of the domain.

    An operand that is read through two maps is in `operands` twice; `shapes` are the operands of which only the extents
    are read. `claims` are types of values that have this domain and are not stored. A nest without results only checks.
    `reduced` says of each result how it is reduced; it is empty where results are stored.
    """

    domain: Domain
    operands: tuple[Access, ...]
    results: tuple[Access, ...]
    body: tuple[Statement, ...]
    stores: tuple[Value, ...]
    shapes: tuple[Access, ...] = ()
    claims: tuple[Access, ...] = ()
    reduced: tuple[Reducing, ...] = ()

    @property
    def iterators(self) -> tuple[str, ...]:
        """The kind of each dim of the domain, as linalg names it."""
        axes = self.reduced[0].axes if self.reduced else ()
        return tuple("reduction" if dim in axes else "parallel" for dim in range(len(self.domain.dims)))

    @property
    def named(self) -> tuple[Access, ...]:
        """The accesses that have a name and the domain's extents: results, then claims."""
        return (*self.results, *self.claims)

    @property
    def labels(self) -> tuple[str, ...]:
        """The operands' names in the dump: an operand that is read through a second map is ``a'`` there."""
        labels: list[str] = []
        for access in self.operands:
            before = sum(other.number == access.number for other in self.operands[: len(labels)])
            labels.append(access.name + "'" * before)
        return tuple(labels)

    @property
    def rounded(self) -> frozenset[int]:
        """The statements whose values are rounded as they are made; one that is only stored is rounded by the store."""
        read = {value for statement in self.body for value in statement.operands}
        rows = enumerate(self.body)
        return frozenset(at for at, s in rows if Let(at) in read and s.op.rounds(s.operand_dtypes, s.dtype))

    def show(self, value: Value) -> str:
        """Spell a value as the dump does."""
        match value:
            case Load():
                return self.labels[value.access]
            case Let():
                return f"t{value.index}"
            case Constant():
                return literal(value)

    def spell(self, statement: Statement) -> str:
        """Spell a statement as the dump does."""
        shown = [*map(self.show, statement.operands), *(f"{key}={value}" for key, value in statement.params)]
        return f"{statement.op.name}({', '.join(shown)})"

    @property
    def head(self) -> str:
        """The first line of the dump."""
        shown = f", {' '.join(self.iterators)}" if self.reduced else ""
        return f"nest {self.domain}{shown}" if self.results else f"checks over {self.domain}"

    def describe(self) -> list[str]:
        """Return the lines for the accesses, each with its type and map."""
        labels = (*self.labels, *(access.name for access in self.results))
        shown = (fold_unit_dims(access.type, access.map) for access in (*self.operands, *self.results))
        rows = [(label, type_.mlir, str(map_)) for label, (type_, map_) in zip(labels, shown, strict=True)]
        rows += [(access.name, access.type.mlir, f"shape only{_shown(access)}") for access in self.shapes]
        rows += [(access.name, access.type.mlir, f"claimed {access.map}") for access in self.claims]
        width = max(len(name) for name, _, _ in rows)
        kinds = max(len(kind) for _, kind, _ in rows)
        return [f"{name:<{width}} : {kind:<{kinds}}  {map_}" for name, kind, map_ in rows]

    def __str__(self) -> str:
        return self.shown(())

    def shown(self, checked: Sequence[str]) -> str:
        """Return the dump, with the constraints that its guards check at run time."""
        lines = [self.head, *(f"  {line}" for line in (*self.describe(), *checked_line(checked)))]
        lines += [f"  t{at} = {self.spell(statement)} : {statement.dtype}" for at, statement in enumerate(self.body)]
        lines += [
            f"  {access.name} = {self.show(value)}" for access, value in zip(self.results, self.stores, strict=True)
        ]
        lines += [
            f"  {one.name} = {one.op.name} of {access.name}{f', ddof={one.ddof}' if one.ddof else ''}"
            for access, one in zip(self.results, self.reduced, strict=False)
        ]
        return "\n".join(lines)


def checked_line(checked: Sequence[str]) -> list[str]:
    """Return the line of a dump that lists constraints; none without constraints."""
    return [f"checked at run time: {'; '.join(checked)}"] if checked else []


def users_of(nest: Nest) -> dict[Value, set[int]]:
    """Return the statements that use each value of a nest; the number ``~result`` means the store to that result.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> users_of(from_text("(f32[?] a) -> a * a + a").compilation.program.nests[0])[Let(0)]
    {1}
    """
    users: dict[Value, set[int]] = {}
    for at, statement in enumerate(nest.body):
        for value in statement.operands:
            users.setdefault(value, set()).add(at)
    for result, value in enumerate(nest.stores):
        users.setdefault(value, set()).add(~result)
    return users


def read_operands(nest: Nest) -> set[int]:
    """Return the places of the operands whose elements a nest reads.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> read_operands(from_text("(f32[?] a, f32[?] b) -> a * b").compilation.program.nests[0])
    {0, 1}
    """
    read = (*(value for statement in nest.body for value in statement.operands), *nest.stores)
    return {value.access for value in read if isinstance(value, Load)}


def made_of(nest: Nest, values: set[Value], statements: frozenset[int]) -> tuple[frozenset[int], set[Value]]:
    """Return which of these statements the values are computed from, and the values with all that these read."""
    found = set(values)
    for at in range(len(nest.body) - 1, -1, -1):
        if at in statements and Let(at) in found:
            found.update(nest.body[at].operands)
    return frozenset(value.index for value in found if isinstance(value, Let)) & statements, found


def _shown(access: Access) -> str:
    """Return the map of a shape-only operand as text; empty if the operand takes no part in the domain."""
    return "" if access.stands_by else f" {access.map}"


@dataclass(frozen=True, slots=True)
class Slot:
    """A dim of a result whose extent the caller may give.

    `number` is the number of the caller's extent; `open` is True if no operand determines the dim. `result` is None for
    a value that is reduced, which a call does not get.
    """

    number: int
    result: int | None
    dim: int
    open: bool


@dataclass(frozen=True, slots=True)
class LoopProgram:
    """All nests of a kernel; operands and results by number, with their declared types.

    `guards` is the program of all run-time checks; the C and every other form of the checks are printed from it.
    `claims` are the declared types of values that are not stored. `dropped` are nests of claims that types prove: they
    have neither loops nor checks. The last `constants` operands that no reduction gives are the kernel's own arrays, of
    static types. `columns` are groups of extents, known ones or operands' dims, that meet in one dim: an extent that
    the caller leaves out is the one among them that is not 1. `extents` are the numbers of the operands that stand for
    extents which the caller gives. `reduced` are the reductions: the first results are what they reduce, the last
    operands what they give, and a call neither passes nor gets any of these.
    """

    operands: tuple[tuple[str, TensorType], ...]
    results: tuple[tuple[str, TensorType], ...]
    nests: tuple[Nest, ...]
    guards: GuardProgram
    slots: tuple[Slot, ...] = ()
    claims: tuple[tuple[str, TensorType], ...] = ()
    dropped: tuple[Nest, ...] = ()
    constants: int = 0
    columns: tuple[tuple[int | tuple[str, int], ...], ...] = ()
    extents: tuple[int, ...] = ()
    reduced: tuple[Reducing, ...] = ()

    def __str__(self) -> str:
        texts = [nest.shown(self.guards.checked(at)) for at, nest in enumerate(self.nests)]
        if len(texts) > 1:
            texts = [text.replace("nest ", f"nest {at} ", 1) for at, text in enumerate(texts)]
        return "\n".join(texts)
