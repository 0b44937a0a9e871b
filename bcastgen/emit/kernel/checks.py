"""What a nest's domain function checks and sets, step by step.

In: a nest's constraints and operand types.  Out: :class:`Step` values in the order in which they run.

    a.rank = 2; a.1 = 4; a.0 in {1, d0}   ->   if (a->rank != 2) ...; bcg_meet(dim 0 of a); if (a->extents[1] != 4) ...

Ranks come first, since dims mean nothing in arrays of other ranks; the rest goes in operand, then dim order, so that of
several violations the first is told. What types decide is not asked again: an extent that its type states is compared
with it once, and takes no part in the meeting of the operands.
"""

from __future__ import annotations

from collections.abc import Iterator
from math import prod

from ...core.frozen import dataclass
from ...loops.nest import Access, Nest
from ...shape.constraints import (
    AtLeast,
    AtMost,
    Constraint,
    Equals,
    EqualsAll,
    ExtentIs,
    Fits,
    MultipleOf,
    RankAtLeast,
    RankIs,
    ResultAtLeast,
    ResultAtMost,
    ResultExtent,
    ResultMultipleOf,
    ResultRank,
    ResultRankAtLeast,
    ResultSame,
    SameExtent,
    SameRank,
    Stretches,
    StretchesAll,
)

__all__ = [
    "Members",
    "Step",
    "domain_dim_text",
    "guards",
    "operand_place",
    "operands_of",
    "result_steps",
    "starts",
]


# Of an object where addresses have 32 bits: PTRDIFF_MAX there.
_MOST_BYTES = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a domain function: a check, a meeting, or a dim that sets an extent.

    `condition` holds if a check fails, and `facts` are the diagnostic's. `meet` and `widen` are calls but for their
    last arguments; a dim that nothing has to be asked about may still set an extent (`widen`).
    """

    condition: str = ""
    facts: str = ""
    comment: str = ""
    meet: str = ""
    widen: str = ""


@dataclass(frozen=True, slots=True)
class Members:
    """How generated C reaches a descriptor: `a->rank` if they are `separate` parameters, or `operands[0].rank`.

    Arrays that come separately come from a stranger: nothing about their descriptors is taken for granted.
    """

    operands: tuple[str, ...]
    results: tuple[str, ...]
    separate: bool
    constants: int = 0

    def is_constant(self, position: int) -> bool:
        """Whether an operand is an array of the kernel's own: nothing of it is checked."""
        return position >= len(self.operands) - self.constants

    def result(self, position: int) -> int:
        """Return the number of a result in a diagnostic."""
        return len(self.operands) + position

    def claim(self, position: int) -> int:
        """Return the number of a claim in a diagnostic."""
        return len(self.operands) + len(self.results) + position

    def pointer(self, position: int, is_result: bool = False) -> str:
        """Return the address of an operand's or result's descriptor."""
        names, table = (self.results, "results") if is_result else (self.operands, "operands")
        return names[position] if self.separate else f"&{table}[{position}]"

    def member(self, position: int, is_result: bool = False) -> str:
        """Return what goes in front of a field."""
        names, table = (self.results, "results") if is_result else (self.operands, "operands")
        return f"{names[position]}->" if self.separate else f"{table}[{position}]."

    def dim(self, position: int, dim: int) -> str:
        """Return the number of an operand's dim, counted from the end where it is negative."""
        return str(dim) if dim >= 0 else f"{self.member(position)}rank - {-dim}"

    def extent(self, position: int, dim: int) -> str:
        """Return an operand's extent."""
        return f"{self.member(position)}extents[{self.dim(position, dim)}]"


def guards(nest: Nest, members: Members) -> tuple[Step, ...]:
    """Return what must hold before an extent can be looked at: ranks and, of a stranger's arrays, that it is there."""
    found: list[Step] = []
    for access in operands_of(nest):
        if members.is_constant(access.position):
            continue
        rank, least = f"{members.member(access.position)}rank", len(access.type.dims)
        where = f"{access.position}, -1, -1"
        if not access.type.unranked:
            found.append(Step(f"{rank} != {least}", f"BCG_RANK, {where}, {least}, {rank}"))
        elif members.separate or least:
            found.append(Step(f"{rank} < {least}", f"BCG_RANK_AT_LEAST, {where}, {least}, {rank}"))
        if access.type.unranked and members.separate:
            found.append(Step(f"{rank} > BCG_MAX_RANK", f"BCG_RANK_AT_MOST, {where}, BCG_MAX_RANK, {rank}"))
        if members.separate and (least or access.type.unranked):
            extents = f"{members.member(access.position)}extents == NULL"
            condition = extents if not access.type.unranked or least else f"{rank} > 0 && {extents}"
            found.append(Step(condition, f"BCG_NULL_EXTENTS, {access.position}, -1, -1, 0, {rank}"))
    return (*found, *(_negative(nest, members) if members.separate else ()))


def _negative(nest: Nest, members: Members) -> Iterator[Step]:
    """Return the checks of extents that others are compared with before their own operand's turn comes."""
    order = [access.name for access in operands_of(nest)]
    for name, dim in dict.fromkeys(source for source in nest.domain.sources if source is not None):
        position = operand_place(nest, name)
        if name != order[0] and not members.is_constant(position):
            extent, own = members.extent(position, dim), members.dim(position, dim)
            yield Step(f"{extent} < 0", f"BCG_NEGATIVE, {position}, {own}, -1, 0, {extent}")


def operands_of(nest: Nest, every_map: bool = False) -> tuple[Access, ...]:
    """Return the operands that extents come from, in order; each once, or once for every map it is read through."""
    accesses = sorted((*nest.operands, *nest.shapes), key=lambda access: access.position)
    if every_map:
        return tuple(accesses)
    return tuple({access.position: access for access in reversed(accesses)}.values())[::-1]


def operand_place(nest: Nest, operand: str) -> int:
    """Return the number of an operand."""
    return next(access.position for access in (*nest.operands, *nest.shapes) if access.name == operand)


def starts(nest: Nest, members: Members) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the statements that start `extents` with what is known of them, and `from` with the operands that told.

    In a domain of any rank all of both have been set to 1 and -1 before.
    """
    dims, open_domain = nest.domain.dims, nest.domain.open
    positions = {access.name: access.position for access in operands_of(nest)}
    extents: dict[str, list[str]] = {}
    setters: dict[int, list[str]] = {}
    known = zip(dims, nest.domain.setters, nest.domain.sources, strict=True)
    for at, (dim, setter, source) in enumerate(known):
        if open_domain and dim.extent is None and source is None:
            continue
        place = f"rank - {len(dims) - at}" if open_domain else str(at)
        start = str(1 if dim.extent is None else dim.extent)
        if source is not None:
            start = members.extent(positions[source[0]], source[1])
        extents.setdefault(start, []).append(f"extents[{place}]")
        setters.setdefault(positions.get(setter or "", -1), []).append(f"from[{place}]")
    return tuple(map(_assign, extents, extents.values())), tuple(map(_assign, map(str, setters), setters.values()))


def _assign(value: str, places: list[str]) -> str:
    return f"{' = '.join(places)} = {value};"


def result_steps(nest: Nest, members: Members) -> Iterator[Step]:
    """Return what declared result types ask of the extents that the operands' meeting gave, and what a stranger may."""
    for constraint in nest.domain.constraints:
        yield from _result_steps(nest, constraint, members)
    if nest.results:
        widest = max(nest.results, key=lambda access: access.dtype.bytes)
        overflow = _overflow(nest, widest.dtype.bytes)
        facts = f"BCG_OVERFLOW, {members.result(widest.position)}, -1, -1, PTRDIFF_MAX, {widest.dtype.bytes}"
        if overflow:
            yield Step(overflow, facts)


def _result_steps(nest: Nest, constraint: Constraint, members: Members) -> list[Step]:
    """Return what a declared result type asks of the inferred extents."""
    match constraint:
        case ResultRank(result=name, rank=rank) | ResultRankAtLeast(result=name, rank=rank):
            comparison = "!=" if isinstance(constraint, ResultRank) else "<"
            status = "BCG_RESULT_RANK" if isinstance(constraint, ResultRank) else "BCG_RESULT_RANK_AT_LEAST"
            facts = f"{status}, {_result_position(nest, name, members)}, -1, -1, {rank}, rank"
            return [Step(f"rank {comparison} {rank}", facts, f"{name} is declared so")]
        case ResultExtent(result=name, dim=dim, domain_dim=domain_dim, extent=int(extent)):
            met = f"extents[{domain_dim_text(domain_dim)}]"
            facts = f"BCG_RESULT, {_result_position(nest, name, members)}, {_own_dim(nest, dim)}, -1, {met}, {extent}"
            return [Step(f"{met} != {extent}", facts, f"{name} is declared so")]
        case ResultSame(result=name, dim=dim, domain_dim=domain_dim, other=other, other_dim=other_dim, symbol=symbol):
            met = f"extents[{domain_dim_text(domain_dim)}]"
            against = next((a.position for a in (*nest.operands, *nest.shapes) if a.name == other), -1)
            if against < 0 and all(a.name != other for a in nest.named):
                return []  # Tied to a result, or claim, of another nest: compared where both are known.
            same = members.extent(against, other_dim) if against >= 0 else f"extents[{_own_dim(nest, other_dim)}]"
            facts = (
                f"BCG_RESULT, {_result_position(nest, name, members)}, {_own_dim(nest, dim)}, {against}, {same}, {met}"
            )
            return [Step(f"{met} != {same}", facts, f"both are {symbol}")]
        case ResultAtLeast() | ResultAtMost() | ResultMultipleOf():
            return [_range_step(nest, constraint, members)]
        case (RankIs() | RankAtLeast() | SameRank() | Stretches() | StretchesAll() | EqualsAll()) | (
            ExtentIs() | SameExtent() | AtLeast() | AtMost() | MultipleOf() | Fits() | Equals()
        ):
            # Of operands: guards, and what their own steps check.
            return []
        case _:
            raise AssertionError(f"no check is rendered for {constraint!r}")


def _range_step(nest: Nest, constraint: ResultAtLeast | ResultAtMost | ResultMultipleOf, members: Members) -> Step:
    """Return what a declared range asks of an inferred extent."""
    met, bound = f"extents[{domain_dim_text(constraint.domain_dim)}]", constraint.bound
    match constraint:
        case ResultAtLeast():
            status, fails = "BCG_AT_LEAST", f"{met} < {bound}"
        case ResultAtMost():
            status, fails = "BCG_AT_MOST", f"{met} > {bound}"
        case ResultMultipleOf():
            status, fails = "BCG_MULTIPLE", f"{met} % {bound} != 0"
    place = _result_position(nest, constraint.result, members)
    facts = f"{status}, {place}, {_own_dim(nest, constraint.dim)}, -1, {bound}, {met}"
    return Step(fails, facts, f"{constraint.result} is declared so")


def _result_position(nest: Nest, result: str, members: Members) -> int:
    """Return the number in a diagnostic: operands, then results, then claims."""
    for access in nest.results:
        if access.name == result:
            return members.result(access.position)
    return members.claim(next(access.position for access in nest.claims if access.name == result))


def domain_dim_text(dim: int) -> str:
    """Return the number of a dim of the domain, counted from the end where it is negative."""
    return str(dim) if dim >= 0 else f"rank - {-dim}"


def _own_dim(nest: Nest, dim: int) -> str:
    """Return the number of a dim of a result or claim: one of unknown rank counts its dims from the domain's end."""
    return domain_dim_text(dim if dim >= 0 or nest.domain.open else len(nest.domain.dims) + dim)


def _overflow(nest: Nest, size: int) -> str:
    """Return the condition under which a result with elements of a size has more bytes than an object can have.

    It is empty where types exclude it, on a machine with addresses of 32 bits, too.
    """
    extents = [dim.extent for dim in nest.domain.dims]
    if nest.domain.open:
        return f"bcg_bytes(rank, extents, {size}) < 0"
    known = prod(extent for extent in extents if extent is not None) * size
    unknown = [at for at, extent in enumerate(extents) if extent is None]
    if known == 0 or (known <= _MOST_BYTES and not unknown):
        return ""
    if len(unknown) == 1:
        return f"(uint64_t)extents[{unknown[0]}] > {_most(known)}"
    return f"bcg_bytes({len(extents)}, extents, {size}) < 0"


def _most(known: int) -> str:
    return "PTRDIFF_MAX" if known == 1 else f"PTRDIFF_MAX / {known}"
