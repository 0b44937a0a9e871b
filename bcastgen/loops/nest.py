"""The loop IR: nests over iteration domains, with an indexing map an operand and a scalar body in SSA form.

In: what `lower` decides.  Out: a :class:`LoopProgram`, which prints; `interpret` runs it, `emit` renders it.

    nest (d0, d1)
      a : tensor<?x?xf32>  (d0, d1) -> (d0|0, d1|0)
      r : tensor<?x?xf32>  (d0, d1) -> (d0, d1)
      checked at run time: a.0 in {1, d0}; a.1 in {1, d1}
      t0 = multiply(a, 2.0:f32) : f32
      r = t0
"""

from __future__ import annotations

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
    from .guard_ir import GuardProgram

__all__ = ["Access", "Apply", "Domain", "Let", "Load", "LoopProgram", "Nest", "Slot", "Value", "made_of", "users_of"]


@dataclass(frozen=True, slots=True)
class Domain:
    """The box a nest iterates over, d0 outermost; `open` if there may be any number of further dims in front.

    Attributes
    ----------
    setters : for each dim, the operand whose type decides its extent, or None where the run time decides.
    stretching : the operands' own dims, with their positions, that stretch if their extent proves to be 1.
    sources : for each dim, the place (operand, its own dim) that is known to set its extent, or None.
    decisions : what has to hold, and whether types prove it or the run time checks it.
    unknown_places : for each dim, the places of unknown extent that meet there; none of dims that types do not
        show.
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
        """What is checked at run time."""
        return tuple(decision.constraint for decision in self.decisions if decision.fate == "checked")

    def __str__(self) -> str:
        names = [f"d{at}" if dim.extent is None else f"d{at}={dim.extent}" for at, dim in enumerate(self.dims)]
        return f"({', '.join((['...'] if self.open else []) + names)})"


@dataclass(frozen=True, slots=True)
class Access:
    """An operand or result of a nest: its place in the program, its type and its indexing map.

    `positions` says where in the domain its own dims lie, from the end; None aligns them on the right.
    """

    position: int
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
    def stands_by(self) -> bool:
        """True if no dim of the domain is its own, though it has dims: it is only compared with."""
        return bool(self.positions) and all(position is None for position in self.positions or ())


@dataclass(frozen=True, slots=True)
class Load:
    """The element of an operand at the current point; `access` counts the nest's operands."""

    access: int


@dataclass(frozen=True, slots=True)
class Let:
    """The value of an earlier statement; `index` counts the body."""

    index: int


Value = Load | Let | Constant


@dataclass(frozen=True, slots=True)
class Apply:
    """One statement of a body: an op on values, of the given dtypes."""

    op: Op
    operands: tuple[Value, ...]
    operand_dtypes: tuple[DType, ...]
    params: Params
    dtype: DType

    @property
    def constant(self) -> bool | int | float | None:
        """The value of the last operand, if that is a constant: some ops have C of its own for it."""
        last = self.operands[-1]
        return last.value if isinstance(last, Constant) else None


@dataclass(frozen=True, slots=True)
class Nest:
    """One loop nest: `stores[i]` is the value of `results[i]` at every point of the domain.

    An operand that is read through two maps is in `operands` twice; `shapes` are those whose extents count, but not
    their data. `claims` are types of values that have this domain and are not stored; a nest without results is there
    for what it checks.
    """

    domain: Domain
    operands: tuple[Access, ...]
    results: tuple[Access, ...]
    body: tuple[Apply, ...]
    stores: tuple[Value, ...]
    shapes: tuple[Access, ...] = ()
    claims: tuple[Access, ...] = ()

    @property
    def named(self) -> tuple[Access, ...]:
        """What has its domain's extents and a name: results, then claims."""
        return (*self.results, *self.claims)

    @property
    def labels(self) -> tuple[str, ...]:
        """What the dump calls its operands: an operand read through a second map is ``a'``."""
        labels: list[str] = []
        for access in self.operands:
            before = sum(other.position == access.position for other in self.operands[: len(labels)])
            labels.append(access.name + "'" * before)
        return tuple(labels)

    def show(self, value: Value) -> str:
        """Spell a value as the dump does."""
        match value:
            case Load():
                return self.labels[value.access]
            case Let():
                return f"t{value.index}"
            case Constant():
                return literal(value)

    def spell(self, statement: Apply) -> str:
        """Spell a statement as the dump does."""
        shown = [*map(self.show, statement.operands), *(f"{key}={value}" for key, value in statement.params)]
        return f"{statement.op.name}({', '.join(shown)})"

    @property
    def head(self) -> str:
        """The line a nest starts with."""
        return f"nest {self.domain}" if self.results else f"checks over {self.domain}"

    def describe(self) -> list[str]:
        """Return the lines that say what is accessed how, and what is left to check."""
        labels = (*self.labels, *(access.name for access in self.results))
        shown = (fold_unit_dims(access.type, access.map) for access in (*self.operands, *self.results))
        rows = [(label, type_.mlir, str(map_)) for label, (type_, map_) in zip(labels, shown, strict=True)]
        rows += [(access.name, access.type.mlir, f"shape only{_shown(access)}") for access in self.shapes]
        rows += [(access.name, access.type.mlir, f"claimed {access.map}") for access in self.claims]
        width = max(len(name) for name, _, _ in rows)
        kinds = max(len(kind) for _, kind, _ in rows)
        lines = [f"{name:<{width}} : {kind:<{kinds}}  {map_}" for name, kind, map_ in rows]
        if self.domain.constraints:
            lines.append("checked at run time: " + "; ".join(map(str, self.domain.constraints)))
        return lines

    def __str__(self) -> str:
        lines = [self.head, *(f"  {line}" for line in self.describe())]
        lines += [f"  t{at} = {self.spell(statement)} : {statement.dtype}" for at, statement in enumerate(self.body)]
        lines += [
            f"  {access.name} = {self.show(value)}" for access, value in zip(self.results, self.stores, strict=True)
        ]
        return "\n".join(lines)


def users_of(nest: Nest) -> dict[Value, set[int]]:
    """Return which statements use each value of a nest; a result that stores it is ``~result``.

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


def made_of(nest: Nest, values: set[Value], statements: frozenset[int]) -> tuple[frozenset[int], set[Value]]:
    """Return which of these statements values are made of, and all values that these read."""
    found = set(values)
    for at in range(len(nest.body) - 1, -1, -1):
        if at in statements and Let(at) in found:
            found.update(nest.body[at].operands)
    return frozenset(value.index for value in found if isinstance(value, Let)) & statements, found


def _shown(access: Access) -> str:
    """Return the map of an operand whose shape counts; none if it takes no part in the domain."""
    return "" if access.stands_by else f" {access.map}"


@dataclass(frozen=True, slots=True)
class Slot:
    """A dim of a result whose extent the caller may give.

    `number` counts the extents that are the caller's; `open` if no operand determines this one.
    """

    number: int
    result: int
    dim: int
    open: bool


@dataclass(frozen=True, slots=True)
class LoopProgram:
    """All nests of a kernel; operands and results by position, with their declared types.

    `guards` are what the nests' decisions ask, as the program that everything which asks it is printed from.
    `claims` are what is said of values that are not stored, `proved` what types prove of it and no nest says. The last
    `constants` operands are arrays of the kernel's own, of static types. `columns` are extents, known or operands'
    dims, that stand beside each other: a name that the caller leaves out has the one that is not 1.
    """

    operands: tuple[tuple[str, TensorType], ...]
    results: tuple[tuple[str, TensorType], ...]
    nests: tuple[Nest, ...]
    guards: GuardProgram
    slots: tuple[Slot, ...] = ()
    claims: tuple[tuple[str, TensorType], ...] = ()
    proved: tuple[Decision, ...] = ()
    constants: int = 0
    columns: tuple[tuple[int | tuple[str, int], ...], ...] = ()

    @property
    def constraints(self) -> str:
        """Everything that is asked of the shapes, a line each: proved by types and facts, checked, or trusted."""
        decisions = (*(d for nest in self.nests for d in nest.domain.decisions), *self.proved)
        lines = [f"{decision}" for decision in decisions]
        return "\n".join(dict.fromkeys(lines)) or "nothing is asked"

    def __str__(self) -> str:
        return "\n".join(map(str, self.nests))
