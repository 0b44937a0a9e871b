"""Builds the guard program of a kernel from the decisions of its nests.

In: a kernel's operands, results and claims, and its nests.  Out: a :class:`GuardProgram`.

    a.0 in {1, d0}; a.1 = 4; b.0 in {1, d0}  ->  meet a.0 at d0; a.1 = 4 or EXTENT; meet b.0 at d0

Ranks come first, since dims mean nothing in arrays of other ranks; the other steps go in operand, then dim order, so
that a call with several violations reports the first. Constraints that types decide get no step. Every constraint that
is left to the run time becomes steps here, once, as `checks` says; one that does not is an internal error.

The file is long because the order of all steps is decided here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ...core.errors import BcastgenError
from ...shape.computed_constraints import computed_texts
from ...shape.constraints import (
    OF_RESULTS,
    AtLeast,
    AtMost,
    Computed,
    Constraint,
    Equals,
    EqualsAll,
    EqualsExtent,
    ExtentIs,
    Fits,
    MultipleOf,
    RankAtLeast,
    RankIs,
    ResultSame,
    SameExtent,
    SameRank,
    Stretches,
    StretchesAll,
)
from ...shape.inference.operand_use import OperandDim
from ...shape.types.tensor_type import TensorType
from ..guard_program.ir import (
    Check,
    Const,
    Define,
    DomainDim,
    Front,
    GuardProgram,
    HasDomainRank,
    HasRank,
    Meet,
    MeetFront,
    NestGuards,
    NotNegative,
    Overflow,
    Own,
    ResultHasRank,
    Term,
    Widen,
)
from ..nest import Access, LoopProgram, Nest
from .checks import OWN, Checks, OwnConstraint

__all__ = ["GuardBuilder", "build_guards", "builders_of"]

Named = Sequence[tuple[str, TensorType]]
# Constraints on one extent alone; then those with the extents that types know or name, too.
_BOUNDS = (AtLeast, AtMost, MultipleOf, Computed)
_DECLARED = (ExtentIs, SameExtent, *_BOUNDS)
_OperandStep = HasDomainRank | NotNegative | Meet | Widen | MeetFront | Check


def build_guards(
    operands: Named, results: Named, claims: Named, nests: Sequence[Nest], constants: Collection[int] = ()
) -> GuardProgram:
    """Return the guards of a kernel.

    Parameters
    ----------
    operands, results, claims : their names and types.
    nests : the kernel's nests.
    constants : the numbers of the operands that are the kernel's own arrays.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> print(from_text("(f32[?, 4] a, f32[?, 1] b) -> a + b").compilation.program.guards)
    guards of nest 0, a, b
      %0.rank = 2
      %1.rank = 2
      d1 := 4
      meet %0.0 at d0
      %0.1 = 4 or EXTENT of %0
      meet %1.0 at d0
      %1.1 = 1 or EXTENT of %1
      the bytes of %2 are countable
    """
    arrays = (*operands, *results, *claims)
    names = (*(name for name, _ in arrays), *computed_texts(type_ for _, type_ in arrays))
    own = frozenset(constants)
    builders = _builders(operands, names, nests, own)
    made = tuple(builder.build() for builder in builders)
    ties = tuple(tie for builder in builders for tie in builder.ties())
    for builder in builders:
        builder.check_all_asked()
    stored = {access.number: at for at, nest in enumerate(nests) for access in nest.results}
    return GuardProgram(names, len(operands), tuple(stored[at] for at in range(len(results))), own, made, ties)


def builders_of(program: LoopProgram, nests: Sequence[Nest]) -> Sequence[GuardBuilder]:
    """Return the builders of a program's nests, which say how each constraint is asked."""
    return _builders(program.operands, program.guards.named, nests, program.guards.constants)


def _builders(
    operands: Named, names: Sequence[str], nests: Sequence[Nest], constants: frozenset[int]
) -> list[GuardBuilder]:
    numbers = {name: at for at, name in reversed(list(enumerate(names)))}
    homes = {access.name: (at, nest) for at, nest in enumerate(nests) for access in nest.named}
    return [GuardBuilder(at, nest, dict(operands), numbers, constants, homes) for at, nest in enumerate(nests)]


class GuardBuilder:
    """Builds the guards of one nest, operand by operand.

    Attributes
    ----------
    left : the run-time constraints that have no step yet.
    asked : the operands' dims whose own constraints (`OWN`) have their steps.
    placed : the operands' dims, and the symbols, that have met the domain, each with the number of the domain's dim.
    met : the symbols, with that number, that a step compares with the domain's dim, or that define it.
    """

    def __init__(
        self,
        at: int,
        nest: Nest,
        types: dict[str, TensorType],
        numbers: dict[str, int],
        constants: frozenset[int],
        homes: dict[str, tuple[int, Nest]],
    ) -> None:
        self.at = at
        self.nest = nest
        self.types = types
        self.numbers = numbers
        self.constants = constants
        self.constraints = nest.domain.constraints
        self.left: dict[Constraint, None] = dict.fromkeys(self.constraints)
        self.asked: set[OperandDim] = set()
        self.placed: set[tuple[OperandDim | str, int]] = set()
        self.met: set[tuple[str, int]] = set()
        self.accesses = sorted((*nest.operands, *nest.shapes), key=lambda access: access.number)
        self.first = tuple({a.number: a for a in reversed(self.accesses)}.values())[::-1]
        self.defined = {define.at: define for define in self._defines()}
        self.homes = homes
        self.checks = Checks(at, nest, types, numbers, homes, self.defined)

    def build(self) -> NestGuards:
        """Return the guards of the nest."""
        domain = self.nest.domain
        entry = tuple(self._entry())
        steps = (*self._ranks(), *(step for access in self.accesses for step in self._operand(access)))
        steps = (*steps, *self._elsewhere())
        steps = (*steps, *self._still_defined(steps))
        steps = (*steps, *self._not_negative((*entry, *steps)))
        return NestGuards(
            len(domain.dims),
            domain.open,
            tuple(access.number for access in self.first),
            tuple(a.number for a in self.first if not (a.stands_by or a.number in self.constants)),
            self._whole(),
            entry,
            tuple(self.defined.values()),
            steps,
            tuple(self._results()),
        )

    def _whole(self) -> tuple[int, ...]:
        """Return the operands in the nest's order if all of them meet as wholes, aligned on the right; else none."""
        domain = self.nest.domain
        met = [access for access in (*self.nest.operands, *self.nest.shapes) if not access.stands_by]
        if domain.open:
            # A scalar that is only looked at has no dims that could stand by.
            met = [access for access in met if access.positions != ()]
        if any(access.positions is not None for access in met):
            return ()
        if not domain.open and any(source is not None for source in domain.sources):
            return ()
        return tuple(dict.fromkeys(access.number for access in met))

    def check_all_asked(self) -> None:
        """Raise a BcastgenError if a run-time constraint became no step, because then nothing would check it."""
        if self.left:
            asked = "; ".join(map(str, self.left))
            raise BcastgenError(f"internal error: {asked} is checked at run time, but no step of the guards asks it")

    def _is_foreign(self, name: str) -> bool:
        return self.numbers[name] not in self.constants

    # ---- before the operands meet

    def _entry(self) -> Iterator[HasRank | NotNegative | Check]:
        for access in self.first:
            if access.number in self.constants:
                continue
            rank, exact = len(access.type.dims), not access.type.unranked
            yield HasRank(access.number, rank, exact)
            self.left.pop(RankIs(access.name, rank) if exact else RankAtLeast(access.name, rank), None)
        yield from self._sources()

    def _sources(self) -> Iterator[NotNegative | Check]:
        """Yield the checks of the extents that others are compared with before their own operands' turns come."""
        sources = dict.fromkeys(source for source in self.nest.domain.sources if source is not None)
        later = [place for place in sources if place[0] != self.first[0].name and self._is_foreign(place[0])]
        yield from (NotNegative(Own(self.numbers[name], dim)) for name, dim in later)
        bounded = {c.operand for c in self.left if isinstance(c, _BOUNDS) and (c.operand, c.dim) in later}
        last = max((self.numbers[name] for name in bounded), default=-1)
        # All steps go in operand order, so the operands before these are checked first, too.
        for access in self.first:
            for own in [own for _, own, _ in access.type.aligned if access.number <= last]:
                for c in [
                    c for c in self.left if isinstance(c, _DECLARED) and (c.operand, c.dim) == (access.name, own)
                ]:
                    del self.left[c]
                    yield from self.checks.of_operand(c)

    def _defines(self) -> Iterator[Define]:
        domain = self.nest.domain
        present = {access.name for access in self.accesses}
        for at, (dim, setter, source) in enumerate(zip(domain.dims, domain.setters, domain.sources, strict=True)):
            number = self.numbers[setter] if setter in present and setter is not None else -1
            if dim.extent is not None:
                yield Define(self._domain_dim(at), Const(dim.extent), number)
            elif source is not None:
                yield Define(self._domain_dim(at), Own(self.numbers[source[0]], source[1]), number)

    def _domain_dim(self, at: int) -> int:
        return at - len(self.nest.domain.dims) if self.nest.domain.open else at

    def _ranks(self) -> Iterator[HasDomainRank]:
        same = [c for c in self.constraints if isinstance(c, SameRank)]
        for constraint in same:
            self.left.pop(constraint)
        for name in dict.fromkeys(name for c in same for name in (c.other, c.operand)):
            yield HasDomainRank(self.numbers[name])

    # ---- operands

    def _operand(self, access: Access) -> Iterator[_OperandStep]:
        """Yield the steps of an access, dim by dim."""
        if access.type.unranked and not access.stands_by:
            yield self._front(access)
        for at, (_, own, _) in enumerate(access.type.aligned):
            place = (access.name, own)
            yield from self._checks(place)
            if access.positions is not None and access.positions[at] is None:
                self.asked.add(place)  # The dim is only looked at: it lies in no dim of this domain.
                continue
            yield from self._lie(place, self._where(access, at), access.positions is None)
            self.asked.add(place)

    def _where(self, access: Access, at: int) -> int:
        position = len(access.type.dims) - at if access.positions is None else access.positions[at]
        assert position is not None
        return -position if self.nest.domain.open else len(self.nest.domain.dims) - position

    def _front(self, access: Access) -> MeetFront:
        known, whole = len(access.type.dims), StretchesAll(access.name)
        self.left.pop(whole, None)
        for decision in self.nest.domain.decisions:
            if isinstance(decision.constraint, EqualsAll) and decision.constraint.operand == access.name:
                self.left.pop(decision.constraint, None)
                how: Front = "take" if decision.fate == "trusted" else "match"
                return MeetFront(access.number, known, how, str(decision.constraint))
        return MeetFront(access.number, known, "meet", str(whole) if whole in self.constraints else "")

    def _checks(self, place: OperandDim) -> Iterator[_OperandStep]:
        """Yield the checks of the dim itself, once for all maps it is read through."""
        if place in self.asked:
            return
        yield from self._asked(OWN, place)

    def _asked(self, kinds: tuple[type[OwnConstraint], ...], place: OperandDim) -> Iterator[Check]:
        for constraint in [c for c in self.left if isinstance(c, kinds) and (c.operand, c.dim) == place]:
            del self.left[constraint]
            yield from self.checks.of_operand(constraint)

    def _lie(self, place: OperandDim, where: int, aligned: bool) -> Iterator[_OperandStep]:
        """Yield the steps by which an operand's dim meets, widens or only fits the dim of the domain it lies in."""
        if (place, where) in self.placed:
            return
        constraint = self._stretch(place, where, aligned)
        term = Own(self.numbers[place[0]], place[1])
        define = self.defined.get(where)
        if constraint is not None or (define is not None and define.term == term):
            self.met.add((self._symbol(place), where))
        if constraint is not None:
            self.left.pop(constraint, None)
            yield self._meet(term, where, aligned, constraint)
        else:
            bounded = any(isinstance(c, _BOUNDING) and (c.operand, c.dim) == place for c in self.constraints)
            if place not in self.asked and not bounded and self._is_foreign(place[0]):
                yield NotNegative(term)
            if self._may_set(place, where):
                yield Widen(term, where)
        # Only a dim that is checked here, or of unknown extent, may spare the other dims of its symbol their steps.
        self._remember(place, where, constraint is not None or place in self.nest.domain.unknown_places[where])

    def _meet(self, term: Own, where: int, aligned: bool, constraint: Constraint) -> _OperandStep:
        define = self.defined.get(where)
        known = constraint.extent if isinstance(constraint, Stretches) else None
        if known is not None and (define is None or define.term != Const(known)):
            # A view broadcasts to this extent; a dim of the caller's extent, which may be another, lies on it in turn.
            expected = Const(known)
            return Check("one_or_eq", term, expected, "BROADCAST", term.operand, term.dim, -1, str(constraint))
        if define is None or (isinstance(define.term, Const) and define.term.extent != 1):
            return Meet(term, where, aligned, str(constraint))
        # The dim is defined, so an extent of 1 there is final, and the operand's dim cannot widen it.
        dim = DomainDim(self.at, where)
        return Check("one_or_eq", term, dim, "BROADCAST", term.operand, term.dim, dim, str(constraint))

    def _stretch(self, place: OperandDim, where: int, aligned: bool) -> Constraint | None:
        """Return the run-time constraint that a dim is 1 or has the extent of its dim of the domain, or None."""
        whole = StretchesAll(place[0])
        if whole in self.constraints and self._is_loose(place):
            # StretchesAll holds for the dims that the type knows, too.
            symbol = self._symbol(place)
            return None if symbol and (symbol, where) in self.met else whole
        for c in self.constraints:
            if isinstance(c, Stretches) and (c.operand, c.dim) == place and (aligned or c.domain_dim == where):
                return c
        return None

    def _is_loose(self, place: OperandDim) -> bool:
        name, own = place
        type_ = self.types[name]
        if type_.dims[own].is_static:
            return False
        # The proof of an equality may rest on StretchesAll, so a dim whose equality is proved is checked by that, too.
        asked = (decision.constraint for decision in self.nest.domain.decisions if decision.fate != "proved")
        return not any(isinstance(c, Equals) and (c.operand, c.dim) == place for c in asked)

    def _symbol(self, place: OperandDim) -> str:
        """Return the symbol of a dim, or "" if its equality with another dim of that symbol is proved.

        The proof may rest on a check that the symbol would make superfluous.
        """
        proved = (d.constraint for d in self.nest.domain.decisions if d.fate == "proved")
        if any(isinstance(c, SameExtent) and (c.operand, c.dim) == place for c in proved):
            return ""
        return self.types[place[0]].dims[place[1]].symbol or ""

    def _may_set(self, place: OperandDim, where: int) -> bool:
        """Whether this dim may be the one that sets the extent of a dim of the domain."""
        if where in self.defined or place not in self.nest.domain.unknown_places[where]:
            return False
        return (self._symbol(place), where) not in self.placed

    def _remember(self, place: OperandDim, where: int, says: bool) -> None:
        self.placed.add((place, where))
        if says and self._symbol(place):
            self.placed.add((self._symbol(place), where))

    # ---- targets of explicit broadcasts, where no operand is read

    def _elsewhere(self) -> Iterator[_OperandStep]:
        """Yield the steps of explicit broadcasts, whose targets, dims of other operands, take part in the domain."""
        domain = self.nest.domain
        for at, places in enumerate(domain.unknown_places):
            where = self._domain_dim(at)
            for place in places:
                if (place, where) not in self.placed:
                    yield from self._lie(place, where, False)
        for constraint in [c for c in self.left if isinstance(c, Stretches)]:
            if constraint.extent is None:
                continue
            del self.left[constraint]
            term = Own(self.numbers[constraint.operand], constraint.dim)
            expected = Const(constraint.extent)
            yield Check("one_or_eq", term, expected, "BROADCAST", term.operand, term.dim, -1, str(constraint))

    def _still_defined(self, steps: Sequence[_OperandStep]) -> Iterator[_OperandStep]:
        """Yield again the checks of dims that the front of an operand of unknown rank, or a later step, may widen."""
        fronts = [step for step in steps if isinstance(step, MeetFront)]
        for define in self.defined.values() if fronts else ():
            if not any(step.known < -define.at for step in fronts) or _is_never_widened(define):
                continue
            dim = DomainDim(self.at, define.at)
            own = define.term if isinstance(define.term, Own) else self._strict_one(define)
            if own is not None:
                says = f"{self._name(own.operand)}.{own.dim} = d[{define.at}]"
                yield Check("eq", own, dim, "STRICT", own.operand, own.dim, dim, says)
        if any(
            isinstance(step, (Meet, Widen)) or (isinstance(step, MeetFront) and step.how == "meet") for step in steps
        ):
            yield from (step for step in fronts if step.how == "match")

    def _strict_one(self, define: Define) -> Own | None:
        """Return the operand's dim of extent 1 that does not stretch and so sets a dim of the domain, or None."""
        for access in self.accesses:
            if access.number == define.setter:
                found = [at for at, _ in enumerate(access.type.aligned) if self._where(access, at) == define.at]
                return Own(access.number, access.type.aligned[found[0]][1]) if found else None
        return None

    def _name(self, number: int) -> str:
        return next(access.name for access in self.accesses if access.number == number)

    def _not_negative(self, steps: Sequence[object]) -> Iterator[NotNegative]:
        """Yield a check that an extent is not negative for each extent of which no other step proves it."""
        known: set[Term] = set()
        size = -1
        while size != len(known):
            size = len(known)
            for step in steps:
                known |= _nonnegative(step, known, self.defined)
        for access in self.first:
            for _, own, _ in access.type.aligned:
                if Own(access.number, own) not in known and self._is_foreign(access.name):
                    yield NotNegative(Own(access.number, own))

    # ---- results

    def _results(self) -> Iterator[ResultHasRank | Check | Overflow]:
        for constraint in self.constraints:
            if isinstance(constraint, OF_RESULTS) and not self.checks.is_elsewhere(constraint):
                self.left.pop(constraint, None)
                yield from self.checks.of_result(constraint)
        if self.nest.results:
            widest = max(self.nest.results, key=lambda access: access.dtype.bytes)
            yield Overflow(self.numbers[widest.name], widest.dtype.bytes)

    def ties(self) -> Iterator[Check]:
        """Yield the checks that compare the domains of two nests."""
        for c in [c for c in self.left if isinstance(c, ResultSame) and c.other in self.homes]:
            del self.left[c]
            yield self.checks.tie(c)


# Constraints that a negative extent violates.
_BOUNDING = (ExtentIs, SameExtent, Equals, AtLeast, Fits, EqualsExtent)


def _is_never_widened(define: Define) -> bool:
    return isinstance(define.term, Const) and define.term.extent != 1


def _nonnegative(step: object, known: set[Term], defined: dict[int, Define]) -> set[Term]:
    """Return the extents that a step proves not to be negative, given that `known` are not."""
    match step:
        case NotNegative(term=term) | Meet(term=term):
            return {term}
        case Check(test="eq" | "one_or_eq" | "ge", actual=actual, expected=expected):
            while isinstance(expected, DomainDim):
                expected = defined[expected.at].term if expected.at in defined else Const(0)
            if isinstance(expected, Const) or expected in known:
                return {actual}
            return {expected} if actual in known and step.test == "eq" else set()
    return set()
