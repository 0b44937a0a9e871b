"""Staging: chooses the sub-expressions to compute apart, over fewer points than the nest.

In: a nest.  Out: a :class:`Staging`, or None where no stage is worth it.

    r = exp(a) * sin(b)   ->   stages t0 of (a), t1 of (b); then t0 * t1 over the tiles of both

A stage reads fewer operands than the nest, so with operands that broadcast it may span fewer points: `exp` of a column
costs n calls, not n*m. Each call runs the staged loops if they are less work for its extents, and otherwise the one
loop that computes everything. A sub-expression that types prove to span the whole domain is no stage.
"""

from __future__ import annotations

from ...core.frozen import dataclass
from ..nest import Let, Load, Nest, Value
from .costs import total

__all__ = ["Stage", "Staging", "hoisted", "reads_of", "stage", "statements_of"]

MAX_STAGES = 4
# The least cost of a stage, a point and for each operand it reads, since its tile has to be written and read. It is
# more than that of an addition or of one division in f32 (see Op.cost_tenths_ns).
_WORTH, _WORTH_AN_OPERAND = 2.2, 1.0
# The part of a nest's cost that its stages have to exceed, since the staged loops are compiled besides the others.
_PART = 0.1


@dataclass(frozen=True, slots=True)
class Stage:
    """A sub-expression that is computed into a tile.

    Attributes
    ----------
    value : the statement of the nest's body whose value it is.
    reads : operands, then values of earlier stages.
    statements : the statements of the nest's body that it computes.
    cost_tenths_ns : the cost of a point.
    """

    value: int
    reads: tuple[Load | Let, ...]
    statements: frozenset[int]
    cost_tenths_ns: float


@dataclass(frozen=True, slots=True)
class Staging:
    """The staged form of a nest: its stages in order; then the last loop's reads, statements and cost a point."""

    stages: tuple[Stage, ...]
    reads: tuple[Load | Let, ...]
    statements: frozenset[int]
    cost_tenths_ns: float

    @property
    def values(self) -> frozenset[int]:
        """The statements whose values are in tiles."""
        return frozenset(stage.value for stage in self.stages)


def stage(nest: Nest, costs: tuple[float, ...]) -> Staging | None:
    """Return the staged form of a nest, or None; `costs` are those of its statements."""
    return _staging(nest, costs, _chosen(nest, costs))


def hoisted(nest: Nest, costs: tuple[float, ...]) -> Staging | None:
    """Return the staged form with only the stages that types prove to depend on the nest's last dim alone, or None."""
    if nest.domain.open or all(dim.is_one for dim in nest.domain.dims[:-1]):
        return None
    last = len(nest.domain.dims) - 1
    dims = [{index.dim for index in access.map.indices} - {None} for access in nest.operands]
    sets = _operand_sets(nest)

    def is_along_last(at: int) -> bool:
        return set().union(*(own for access, own in enumerate(dims) if sets[at] >> access & 1)) == {last}

    return _staging(nest, costs, [at for at in _chosen(nest, costs) if is_along_last(at)])


def _staging(nest: Nest, costs: tuple[float, ...], chosen: list[int]) -> Staging | None:
    """Return the staged form with these stages, or None if they are not worth it."""
    stages = []
    for place, at in enumerate(chosen):
        tiles = frozenset(chosen[:place])
        statements = statements_of(nest, (Let(at),), tiles)
        stages.append(Stage(at, reads_of(nest, (), statements, tiles), statements, total(costs, statements)))
    if sum(stage.cost_tenths_ns for stage in stages) <= _PART * sum(costs):
        return None
    tiles = frozenset(chosen)
    statements = statements_of(nest, nest.stores, tiles)
    # Each tile takes the place of its first operand, so that adjacent stationary operands stay adjacent.
    sets = _operand_sets(nest)
    reads = sorted(reads_of(nest, nest.stores, statements, tiles), key=lambda read: _first_operand(read, sets))
    return Staging(tuple(stages), tuple(reads), statements, total(costs, statements))


def _first_operand(read: Load | Let, sets: list[int]) -> int:
    return read.access if isinstance(read, Load) else (sets[read.index] & -sets[read.index]).bit_length() - 1


def _chosen(nest: Nest, costs: tuple[float, ...]) -> list[int]:
    """Return the statements that become stages, in the body's order, so that a later stage may read an earlier one."""
    sets = _operand_sets(nest)
    tiles: frozenset[int] = frozenset()
    worth: dict[int, float] = {}
    for at in _candidates(nest, sets):
        cost = total(costs, statements_of(nest, (Let(at),), tiles))
        if cost >= _WORTH and cost >= _WORTH_AN_OPERAND * sets[at].bit_count():
            worth[at] = cost / sets[at].bit_count()
            tiles |= {at}
    return sorted(sorted(worth, key=lambda at: -worth[at])[:MAX_STAGES])


def _operand_sets(nest: Nest) -> list[int]:
    """Return, for each statement, the operands it reads directly or through other statements, as a mask."""
    sets: list[int] = []
    for statement in nest.body:
        found = 0
        for value in statement.operands:
            match value:
                case Load(access=access):
                    found |= 1 << access
                case Let(index=index):
                    found |= sets[index]
        sets.append(found)
    return sets


def _candidates(nest: Nest, sets: list[int]) -> list[int]:
    """Return the statements that may become stages: those of fewest operands first, then in the body's order.

    A candidate is stored, or has a user that reads more operands; it does not span the whole domain.
    """
    is_last = [False] * len(nest.body)
    for at, statement in enumerate(nest.body):
        for value in statement.operands:
            if isinstance(value, Let) and sets[value.index] != sets[at]:
                is_last[value.index] = True
    for value in nest.stores:
        if isinstance(value, Let):
            is_last[value.index] = True
    every = (1 << len(nest.operands)) - 1
    spans = [_spanned(nest, access) for access in range(len(nest.operands))]
    found = [
        at
        for at, reads in enumerate(sets)
        # A statement that reads all operands spans the nest's points, unless it is broadcast to further shapes.
        if is_last[at] and reads and (reads != every or nest.shapes) and not _spans_all(nest, reads, spans)
    ]
    return sorted(found, key=lambda at: (sets[at].bit_count(), at))


def _spanned(nest: Nest, access: int) -> int:
    """Return the dims of the domain that an operand's type proves it to span, as a mask."""
    return sum(1 << i.dim for i in nest.operands[access].map.indices if i.dim is not None and not i.stretches)


def _spans_all(nest: Nest, reads: int, spans: list[int]) -> bool:
    """Whether types prove that a statement which reads these operands spans all points of the domain."""
    if nest.domain.open:
        return False
    covered = 0
    for access, dims in enumerate(spans):
        covered |= dims if reads >> access & 1 else 0
    return all(covered >> at & 1 or dim.is_one for at, dim in enumerate(nest.domain.dims))


def statements_of(nest: Nest, values: tuple[Value, ...], tiles: frozenset[int]) -> frozenset[int]:
    """Return the statements that values are computed from, up to those whose values are in tiles."""
    found: set[int] = set()
    pending = [value.index for value in values if isinstance(value, Let) and value.index not in tiles]
    while pending:
        at = pending.pop()
        if at not in found:
            found.add(at)
            operands = nest.body[at].operands
            pending += [value.index for value in operands if isinstance(value, Let) and value.index not in tiles]
    return frozenset(found)


def reads_of(
    nest: Nest, values: tuple[Value, ...], statements: frozenset[int], tiles: frozenset[int]
) -> tuple[Load | Let, ...]:
    """Return the operands, then the tiles, that statements read or that are among the stored values, each in order."""
    seen = {*values, *(value for at in statements for value in nest.body[at].operands)}
    loads = sorted(value.access for value in seen if isinstance(value, Load))
    lets = sorted(value.index for value in seen if isinstance(value, Let) and value.index in tiles)
    return (*map(Load, loads), *map(Let, lets))
