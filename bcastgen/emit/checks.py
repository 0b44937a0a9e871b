"""What a nest's domain function checks and sets, step by step.

In: a nest's constraints and operand types.  Out: :class:`Step` values in the order in which they run.

    a.rank = 2; a.1 = 4; a.0 in {1, d0}   ->   if (a->rank != 2) ...; bcg_meet(dim 0 of a); if (a->extents[1] != 4) ...

Ranks come first, since dims mean nothing in arrays of other ranks; the rest goes in operand, then dim order, so that of
several violations the first is told. What types decide is not asked again: an extent that its type states is compared
with it once, and takes no part in the meeting of the operands.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from ..dtypes import I64
from ..loops.nest import Access, Nest
from ..shape.constraints import (
    Constraint,
    ExtentIs,
    RankAtLeast,
    RankIs,
    ResultExtent,
    ResultRank,
    ResultRankAtLeast,
    ResultSame,
    SameExtent,
    Stretches,
    StretchesAll,
)

__all__ = ["Members", "Step", "guards", "starts", "steps"]


@dataclass(frozen=True, slots=True)
class Step:
    """One check (`condition` holds if it fails, `facts` are the diagnostic's), or the `meet` arguments of bcg_meet."""

    condition: str = ""
    facts: str = ""
    comment: str = ""
    meet: str = ""


@dataclass(frozen=True, slots=True)
class Members:
    """How generated C reaches a descriptor: `a->rank` if they are `separate` parameters, or `operands[0].rank`.

    Arrays that come separately come from a stranger: nothing about their descriptors is taken for granted.
    """

    operands: tuple[str, ...]
    results: tuple[str, ...]
    separate: bool

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
    for access in nest.operands:
        rank, least = f"{members.member(access.position)}rank", len(access.type.dims)
        facts = f"BCG_RANK, {access.position}, -1, -1"
        if not access.type.unranked:
            found.append(Step(f"{rank} != {least}", f"{facts}, {least}, {rank}"))
        elif members.separate:
            wanted = f"{rank} < {least} ? {least} : BCG_MAX_RANK"
            found.append(Step(f"{rank} < {least} || {rank} > BCG_MAX_RANK", f"{facts}, {wanted}, {rank}"))
        elif least:
            found.append(Step(f"{rank} < {least}", f"{facts}, {least}, {rank}"))
        if members.separate and (least or access.type.unranked):
            extents = f"{members.member(access.position)}extents == NULL"
            condition = extents if not access.type.unranked or least else f"{rank} > 0 && {extents}"
            found.append(Step(condition, f"BCG_NULL_DATA, {access.position}, -1, -1, 0, 0"))
    return tuple(found)


def starts(nest: Nest) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the statements that start `extents` with what types know, and `from` with the operands that told.

    In a domain of any rank all of both have been set to 1 and -1 before.
    """
    dims, open_domain = nest.domain.dims, nest.domain.open
    positions = {access.name: access.position for access in nest.operands}
    extents: dict[int, list[str]] = {}
    setters: dict[int, list[str]] = {}
    for at, (dim, setter) in enumerate(zip(dims, nest.domain.setters, strict=True)):
        if open_domain and dim.extent in (None, 1):
            continue
        place = f"rank - {len(dims) - at}" if open_domain else str(at)
        extents.setdefault(1 if dim.extent is None else dim.extent, []).append(f"extents[{place}]")
        setters.setdefault(positions.get(setter or "", -1), []).append(f"from[{place}]")
    return tuple(map(_assign, extents, extents.values())), tuple(map(_assign, setters, setters.values()))


def _assign(value: int, places: list[str]) -> str:
    return f"{' = '.join(places)} = {value};"


def steps(nest: Nest, members: Members) -> tuple[Step, ...]:
    """Return the checks after :func:`guards`, the meetings of operands among them."""
    found: list[Step] = []
    for access in nest.operands:
        found += _operand_steps(nest, access, members)
    found += (step for constraint in nest.domain.constraints for step in _result_steps(nest, constraint, members))
    overflow = _overflow(nest) if members.separate else ""
    if overflow:
        first = len(members.operands) + nest.results[0].position
        found.append(Step(overflow, f"BCG_OVERFLOW, {first}, -1, -1, INT64_MAX, 0"))
    return tuple(found)


def _operand_steps(nest: Nest, access: Access, members: Members) -> list[Step]:
    """Go through the dims of an operand; runs of them that have to meet the others' are one step."""
    found: list[Step] = []
    constraints = [c for c in nest.domain.constraints if isinstance(c, (ExtentIs, SameExtent))]
    count, at = len(access.type.dims), access.position
    run = "0" if access.type.unranked else ""
    for _, own, _ in access.type.aligned:
        checks = [c for c in constraints if (c.operand, c.dim) == (access.name, own)]
        decided = any(isinstance(c, ExtentIs) or _is_met(nest, access, c) for c in checks)
        place = members.dim(at, own)
        if run and (checks or decided):
            found.append(_meet(nest, access, run, place, members))
            run = ""
        found += (_extent_step(nest, c, members) for c in checks)
        run = run or ("" if decided else place)
    if run:
        end = f"{members.member(at)}rank" if access.type.unranked else str(count)
        found.append(_meet(nest, access, run, end, members))
    return found


def _is_met(nest: Nest, access: Access, constraint: SameExtent) -> bool:
    """Whether the other dim of that symbol, which has met, lies in the same dim of the domain."""
    other = next(a for a in nest.operands if a.name == constraint.other)
    return _from_end(access, constraint.dim) == _from_end(other, constraint.other_dim)


def _from_end(access: Access, dim: int) -> int:
    return -dim if dim < 0 else len(access.type.dims) - dim


def _meet(nest: Nest, access: Access, first: str, end: str, members: Members) -> Step:
    rank = "rank" if nest.domain.open else str(len(nest.domain.dims))
    return Step(meet=f"{members.pointer(access.position)}, {access.position}, {first}, {end}, {rank}")


def _extent_step(nest: Nest, constraint: ExtentIs | SameExtent, members: Members) -> Step:
    at = next(a.position for a in nest.operands if a.name == constraint.operand)
    actual, dim = members.extent(at, constraint.dim), members.dim(at, constraint.dim)
    if isinstance(constraint, ExtentIs):
        return Step(f"{actual} != {constraint.extent}", f"BCG_EXTENT, {at}, {dim}, -1, {constraint.extent}, {actual}")
    against = next(a.position for a in nest.operands if a.name == constraint.other)
    expected = members.extent(against, constraint.other_dim)
    facts = f"BCG_EXTENT, {at}, {dim}, {against}, {expected}, {actual}"
    return Step(f"{actual} != {expected}", facts, f"both are {constraint.symbol}")


def _result_steps(nest: Nest, constraint: Constraint, members: Members) -> list[Step]:
    """Return what a declared result type asks of the inferred extents."""
    match constraint:
        case ResultRank(result=name, rank=rank) | ResultRankAtLeast(result=name, rank=rank):
            comparison = "!=" if isinstance(constraint, ResultRank) else "<"
            facts = f"BCG_RESULT_RANK, {_position(nest, name, members)}, -1, -1, {rank}, rank"
            return [Step(f"rank {comparison} {rank}", facts, f"{name} is declared so")]
        case ResultExtent(result=name, dim=dim, domain_dim=domain_dim, extent=int(extent)):
            met = f"extents[{_domain_dim(domain_dim)}]"
            facts = f"BCG_RESULT, {_position(nest, name, members)}, {_domain_dim(dim)}, -1, {met}, {extent}"
            return [Step(f"{met} != {extent}", facts, f"{name} is declared so")]
        case ResultSame(result=name, dim=dim, domain_dim=domain_dim, other=other, other_dim=other_dim, symbol=symbol):
            met = f"extents[{_domain_dim(domain_dim)}]"
            against = next((a.position for a in nest.operands if a.name == other), -1)
            same = members.extent(against, other_dim) if against >= 0 else f"extents[{_domain_dim(other_dim)}]"
            facts = f"BCG_RESULT, {_position(nest, name, members)}, {_domain_dim(dim)}, {against}, {same}, {met}"
            return [Step(f"{met} != {same}", facts, f"both are {symbol}")]
        case RankIs() | RankAtLeast() | ExtentIs() | SameExtent() | Stretches() | StretchesAll():
            # Of operands: guards, and what their own steps check.
            return []
        case _:
            raise AssertionError(f"no check is rendered for {constraint!r}")


def _position(nest: Nest, result: str, members: Members) -> int:
    return len(members.operands) + next(a.position for a in nest.results if a.name == result)


def _domain_dim(dim: int) -> str:
    return str(dim) if dim >= 0 else f"rank - {-dim}"


def _overflow(nest: Nest) -> str:
    """Return the condition under which the number of points does not fit 63 bits; empty where types exclude it."""
    dims = nest.domain.dims
    if nest.domain.open:
        return "bcg_points(rank, extents) < 0"
    known = prod(dim.extent for dim in dims if dim.extent is not None)
    unknown = [at for at, dim in enumerate(dims) if dim.extent is None]
    if known == 0 or (known <= I64.max and not unknown) or (known == 1 and len(unknown) == 1):
        return ""
    match unknown:
        case [only] if known <= I64.max:
            return f"extents[{only}] > INT64_MAX / {known}"
        case [first, second] if known == 1:
            return f"extents[{second}] != 0 && extents[{first}] > INT64_MAX / extents[{second}]"
        case _:
            return f"bcg_points({len(dims)}, extents) < 0"
