"""How the operands of a nest meet: what its domain function asks of each dim, and what it sets.

In: a nest's decisions, accesses and maps.  Out: :class:`Step` values, in operand, then dim order.

    a.0 in {1, d0}; a.1 = 4; b.0 in {1, d0}  ->  bcg_meet(dim 0 of a); if (a->extents[1] != 4) ...; bcg_meet(dim 0 of b)

Every checked constraint is asked once, and nothing else is: an extent that types or facts decide takes no part in the
meeting. A dim that is known to fit may still be where the domain has its extent from (`bcg_widen`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...loops.nest import Access, Nest
from ...shape.constraints import (
    AtLeast,
    AtMost,
    Equals,
    EqualsAll,
    ExtentIs,
    Fits,
    MultipleOf,
    SameExtent,
    SameRank,
    Stretches,
    StretchesAll,
)
from ...shape.inference.operand_use import Place
from ...shape.types.dim import Dim
from .checks import Members, Step, domain_dim_text, operand_place, operands_of

__all__ = ["meeting_steps"]

# What is asked of one dim of an operand, whatever map it is read through.
_Own = ExtentIs | SameExtent | AtLeast | AtMost | MultipleOf | Fits | Equals


def meeting_steps(nest: Nest, members: Members) -> Iterator[Step]:
    """Return the checks and meetings of a nest's operands, after their ranks."""
    same_ranks = [c for c in nest.domain.constraints if isinstance(c, SameRank)]
    for name in dict.fromkeys(name for c in same_ranks for name in (c.other, c.operand)):
        at = operand_place(nest, name)
        rank = f"{members.member(at)}rank"
        # A scalar goes with every rank.
        yield Step(f"{rank} != 0 && {rank} != rank", f"BCG_RANK, {at}, -1, -1, rank, {rank}")
    walk = _Walk(nest, members)
    for access in operands_of(nest, every_map=True):
        yield from walk.operand(access)


class _Walk:
    """Goes through the operands.

    Attributes
    ----------
    asked : the dims of operands that have been checked for themselves.
    placed : the dims, and the symbols, that have met the domain, each with its position there.
    """

    def __init__(self, nest: Nest, members: Members) -> None:
        self.nest = nest
        self.members = members
        self.asked: set[tuple[str, int]] = set()
        self.placed: set[tuple[Place | str, int]] = set()

    def operand(self, access: Access) -> Iterator[Step]:
        """Go through the dims of an access; neighbours that have to meet the others' are one step."""
        front = self._front(access)
        run = "0" if access.type.unranked and not access.stands_by else ""
        for at, (_, own, _) in enumerate(access.type.aligned):
            checks = self._checks(access, own)
            if access.positions is not None and access.positions[at] is None:
                # Looked at only: no dim of this domain is its own.
                yield from (self._check(constraint) for constraint in checks)
                self.asked.add((access.name, own))
                continue
            stretches = self._stretches(access, at, own)
            # Where it is known who sets the extent, nothing is left to meet: a 1 there is not "nobody yet".
            meets = stretches and not self._is_set(access, at)
            place = self.members.dim(access.position, own)
            if run and (checks or not meets or front != "bcg_meet"):
                yield self._meet(access, run, place, front)
                run, front = "", "bcg_meet"
            yield from (self._check(constraint) for constraint in checks)
            if meets and access.positions is None:
                run = run or place
            elif meets:
                yield Step(meet=f"bcg_meet_dim({self._one(access, at)}")
            elif stretches:
                yield self._fits(access, at, own)
            else:
                yield from self._unmet(access, at, own, checks)
            self._remember(access, at, own)
        if run:
            last = f"{self.members.member(access.position)}rank" if access.type.unranked else len(access.type.dims)
            yield self._meet(access, run, str(last), front)

    def _front(self, access: Access) -> str:
        """Return the helper for the dims that an operand of unknown rank has in front."""
        for decision in self.nest.domain.decisions:
            if isinstance(decision.constraint, EqualsAll) and decision.constraint.operand == access.name:
                return "bcg_take" if decision.fate == "trusted" else "bcg_match"
        return "bcg_meet"

    def _checks(self, access: Access, own: int) -> list[_Own]:
        if (access.name, own) in self.asked:
            return []
        return [
            c for c in self.nest.domain.constraints if isinstance(c, _Own) and (c.operand, c.dim) == (access.name, own)
        ]

    def _stretches(self, access: Access, at: int, own: int) -> bool:
        """Whether a dim has to be 1 or the extent of its dim of the domain, and nobody has asked."""
        if ((access.name, own), _position(access, at)) in self.placed:
            return False
        if StretchesAll(access.name) in self.nest.domain.constraints and _is_loose(access.type.dims[at]):
            # What is said of all its dims is said of those that the type knows, too.
            return (access.type.dims[at].symbol or "", _position(access, at)) not in self.placed
        return any(
            isinstance(c, Stretches) and (c.operand, c.dim) == (access.name, own) and self._lies_at(access, at, c)
            for c in self.nest.domain.constraints
        )

    def _is_set(self, access: Access, at: int) -> bool:
        where = len(self.nest.domain.dims) - _position(access, at)
        return self.nest.domain.sources[where] is not None or self.nest.domain.dims[where].is_one

    def _fits(self, access: Access, at: int, own: int) -> Step:
        """Return the check that a dim is 1 or the extent that its dim of the domain has already."""
        position = _position(access, at)
        where = f"rank - {position}" if self.nest.domain.open else str(len(self.nest.domain.dims) - position)
        extent, dim = self.members.extent(access.position, own), self.members.dim(access.position, own)
        facts = f"BCG_BROADCAST, {access.position}, {dim}, from[{where}], extents[{where}], {extent}"
        return Step(f"{extent} != 1 && {extent} != extents[{where}]", facts)

    def _lies_at(self, access: Access, at: int, constraint: Stretches) -> bool:
        """Whether a constraint speaks of the dim of the domain at which an access has its dim number `at`."""
        if access.positions is None:
            return True
        return constraint.domain_dim == len(self.nest.domain.dims) - _position(access, at)

    def _unmet(self, access: Access, at: int, own: int, checks: Sequence[_Own]) -> Iterator[Step]:
        """What remains to be done with a dim that is known to fit."""
        bounded = any(isinstance(c, (ExtentIs, SameExtent, Equals, AtLeast, Fits)) for c in checks)
        foreign = self.members.separate and not self.members.is_constant(access.position)
        if foreign and (access.name, own) not in self.asked and not bounded:
            extent, dim = self.members.extent(access.position, own), self.members.dim(access.position, own)
            yield Step(f"{extent} < 0", f"BCG_NEGATIVE, {access.position}, {dim}, -1, 0, {extent}")
        if self._may_set(access, at, own):
            yield Step(widen=f"bcg_widen({self._one(access, at)}")

    def _may_set(self, access: Access, at: int, own: int) -> bool:
        """Whether it may be this dim that a dim of the domain has its extent from."""
        dim, position = access.type.dims[at], _position(access, at)
        where = len(self.nest.domain.dims) - position
        if dim.is_static or self.nest.domain.sources[where] is not None or self.nest.domain.dims[where].is_static:
            return False
        return ((access.name, own), position) not in self.placed and (dim.symbol or "", position) not in self.placed

    def _remember(self, access: Access, at: int, own: int) -> None:
        position = _position(access, at)
        self.asked.add((access.name, own))
        self.placed.add(((access.name, own), position))
        symbol = access.type.dims[at].symbol
        if symbol is not None:
            self.placed.add((symbol, position))

    def _meet(self, access: Access, first: str, end: str, helper: str) -> Step:
        rank = "rank" if self.nest.domain.open else str(len(self.nest.domain.dims))
        pointer = self.members.pointer(access.position)
        return Step(meet=f"{helper}({pointer}, {access.position}, {first}, {end}, {rank}")

    def _one(self, access: Access, at: int) -> str:
        """Return the arguments that name one dim of an operand and where it lies."""
        _, own, _ = access.type.aligned[at]
        position = _position(access, at)
        where = f"rank - {position}" if self.nest.domain.open else str(len(self.nest.domain.dims) - position)
        place = self.members.dim(access.position, own)
        return f"{self.members.pointer(access.position)}, {access.position}, {place}, {where}"

    def _check(self, constraint: _Own) -> Step:  # noqa: PLR0911
        at = operand_place(self.nest, constraint.operand)
        actual, dim = self.members.extent(at, constraint.dim), self.members.dim(at, constraint.dim)
        match constraint:
            case ExtentIs(extent=extent):
                return Step(f"{actual} != {extent}", f"BCG_EXTENT, {at}, {dim}, -1, {extent}, {actual}")
            case SameExtent(other=other, other_dim=other_dim, symbol=symbol):
                against = operand_place(self.nest, other)
                expected = self.members.extent(against, other_dim)
                facts = f"BCG_EXTENT, {at}, {dim}, {against}, {expected}, {actual}"
                return Step(f"{actual} != {expected}", facts, f"both are {symbol}")
            case AtLeast(bound=least):
                return Step(f"{actual} < {least}", f"BCG_AT_LEAST, {at}, {dim}, -1, {least}, {actual}")
            case AtMost(bound=most):
                return Step(f"{actual} > {most}", f"BCG_AT_MOST, {at}, {dim}, -1, {most}, {actual}")
            case MultipleOf(bound=factor):
                return Step(f"{actual} % {factor} != 0", f"BCG_MULTIPLE, {at}, {dim}, -1, {factor}, {actual}")
            case Fits(other=other, other_dim=other_dim):
                against = operand_place(self.nest, other)
                expected = self.members.extent(against, other_dim)
                facts = f"BCG_BROADCAST, {at}, {dim}, {against}, {expected}, {actual}"
                return Step(f"{actual} != 1 && {actual} != {expected}", facts)
            case Equals(domain_dim=domain_dim, extent=extent):
                met = f"extents[{domain_dim_text(domain_dim)}]" if extent is None else str(extent)
                facts = f"BCG_STRICT, {at}, {dim}, from[{domain_dim_text(domain_dim)}], {met}, {actual}"
                return Step(f"{actual} != {met}", facts)


def _is_loose(dim: Dim) -> bool:
    return not (dim.is_static or dim.trusted) and dim.broadcast is None


def _position(access: Access, at: int) -> int:
    """Return where in the domain a dim lies, from the end."""
    position = len(access.type.dims) - at if access.positions is None else access.positions[at]
    assert position is not None
    return position
