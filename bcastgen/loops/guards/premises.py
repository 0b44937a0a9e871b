"""The facts of a kernel's guards that the reason of a proved constraint may name, and what each says.

In: a program with guards.  Out: :class:`Premise` values; the clauses of each.

    meet %1.0 at d0   ->   b.0 = 1, or b.0 = d0
    d0                ->   d0 is an extent that meets there and is not 1, or 1 if there is none

A premise is a step that has passed, what the steps compute (the extents of a domain and its rank), a constraint that
the caller vouches for, the shape of one of the kernel's own arrays, or of what a reduction gives. Constraints that are
called proved are none.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TypeAlias

from ...core.frozen import dataclass
from ...shape.constraints import (
    Constraint,
    EqualsAll,
    RankAtLeast,
    RankIs,
    ResultRank,
    ResultRankAtLeast,
    SameRank,
    StretchesAll,
)
from ...shape.inference.entailment import Alternative, Atom, Clause
from ...shape.types.facts import MAX_EXTENT, MAX_RANK, Range
from ..guard_program.ir import (
    Calc,
    Check,
    Const,
    Define,
    DomainDim,
    HasDomainRank,
    HasRank,
    Meet,
    MeetFront,
    NestGuards,
    NotNegative,
    Overflow,
    Own,
    ReducedShape,
    ResultHasRank,
    Step,
    Term,
    Widen,
)
from ..nest import LoopProgram
from .build import builders_of

__all__ = ["ConstantShape", "GuardFacts", "Identity", "Premise", "Rank", "Vouched", "What"]

ONE = Range(1, 1)


@dataclass(frozen=True, slots=True)
class Rank:
    """The rank of an operand, or of a nest's domain if `operand` is None, as a node of facts."""

    operand: int | None
    nest: int = 0


@dataclass(frozen=True, slots=True)
class Identity:
    """How the steps compute the extent of a dim of a domain, or the domain's rank if `at` is None."""

    at: int | None


@dataclass(frozen=True, slots=True)
class Vouched:
    """A constraint that the caller vouches for."""

    constraint: Constraint


@dataclass(frozen=True, slots=True)
class ConstantShape:
    """The shape of an array of the kernel's own."""

    operand: int


What: TypeAlias = Step | Identity | Vouched | ConstantShape | ReducedShape


@dataclass(frozen=True, slots=True)
class Premise:
    """A fact of the guards of one nest."""

    nest: int
    what: What


class GuardFacts:
    """The facts of a program's guards.

    Attributes
    ----------
    program : the program.
    nests : its nests, and then those that lowering dropped: their loops and checks are nobody's, but claims that types
        prove are about the extents of their domains.
    guards : the guards of each.
    depth : how many of the last dims of an operand of unknown rank are looked at: one more than any type or domain
        knows. Nothing else is known of the foremost of these, so it stands for all dims in front of it, too.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> facts = GuardFacts(from_text("(f32[4] a) -> a + 1").compilation.program)
    >>> [str(premise.what) for premise in facts.premises(0)][:2]
    ['%0.rank = 1', 'd0 := 4']
    """

    __slots__ = ("_builders", "depth", "guards", "nests", "program")

    def __init__(self, program: LoopProgram) -> None:
        self.program = program
        self.nests = (*program.nests, *program.dropped)
        self._builders = builders_of(program, self.nests)
        kept = len(program.nests)
        self.guards = (*program.guards.nests, *(builder.build() for builder in self._builders[kept:]))
        types = (type_ for _, type_ in (*program.operands, *program.results, *program.claims))
        dims = (*(len(type_.dims) for type_ in types), *(guards.least_rank for guards in self.guards))
        self.depth = max(dims) + 1

    def premises(self, nest: int) -> tuple[Premise, ...]:
        """Return what holds when the loops of a nest begin: facts of its guards and of those before it, and ties.

        A nest that was dropped has no steps of its own: all nests that are left come before it.
        """
        program, kept = self.program, len(self.program.nests)
        found: list[Premise] = []
        for at in range(min(nest + 1, kept)):
            found += (Premise(at, step) for step in dict.fromkeys(self.guards[at].all_steps) if is_fact(step))
            found += self._identities(at)
            decisions = program.nests[at].domain.decisions
            found += (Premise(at, Vouched(d.constraint)) for d in decisions if d.fate == "trusted")
        if nest >= kept:
            found += (Premise(nest, define) for define in self.guards[nest].defines)
            found += self._identities(nest)
        at = min(nest, kept - 1)
        found += (Premise(at, tie) for tie in program.guards.ties)
        found += (Premise(at, ConstantShape(operand)) for operand in sorted(program.guards.constants))
        found += (Premise(one.nest, one) for one in program.guards.reduced if one.nest < nest)
        return tuple(found)

    def _identities(self, nest: int) -> Iterator[Premise]:
        yield from (Premise(nest, Identity(dim)) for dim in _spanned(self.guards[nest], self.depth))
        yield Premise(nest, Identity(None))

    def clauses(self, premise: Premise) -> tuple[Clause, ...]:  # noqa: PLR0911
        """Return what a premise says."""
        guards, at = self.guards[premise.nest], premise.nest
        match premise.what:
            case HasRank() | ResultHasRank() | HasDomainRank():
                return _of_rank(premise.what, at)
            case Define():
                return (_defined(premise.what, at, guards),)
            case Meet(term=term, at=dim):
                return (((Atom("same", term, ONE),), (Atom("same", term, DomainDim(at, dim)),)),)
            case MeetFront():
                return tuple(_front(premise.what, at, self.depth))
            case Check():
                return _holds(premise.what)
            case Identity(at=None):
                rank = Range(guards.least_rank, MAX_RANK if guards.open else guards.least_rank)
                return (((Atom("within", Rank(None, at), rank),),),)
            case Identity(at=int(dim)):
                return (_span(dim, at, guards),)
            case Vouched(constraint=constraint):
                return self._vouched(at, constraint)
            case ConstantShape(operand=operand):
                dims = self.program.operands[operand][1].dims
                rank = Range(len(dims), len(dims))
                said = (Atom("same", Own(operand, dim), node(Const(own.extent or 0))) for dim, own in enumerate(dims))
                return (((Atom("within", Rank(operand), rank),),), *(((atom,),) for atom in said))
            case ReducedShape():
                return _reduced(premise.what, guards.least_rank)
        return ()

    def check(self, nest: int, constraint: Constraint) -> Check:
        """Return a constraint of a nest on extents as the check that asks it."""
        return self._builders[nest].checks.one(constraint)

    def broken(self, nest: int, constraint: Constraint) -> tuple[Alternative, ...]:  # noqa: PLR0911
        """Return the ways to break a constraint of a nest."""
        numbers = self._builders[nest].numbers
        domain = Rank(None, nest)
        match constraint:
            case RankIs(operand=name, rank=rank):
                return ((Atom("differ", Rank(numbers[name]), Range(rank, rank)),),)
            case RankAtLeast(operand=name, rank=rank):
                return _below(Rank(numbers[name]), rank)
            case SameRank(operand=one, other=other):
                ranks = (Rank(numbers[name]) for name in (one, other))
                return tuple((Atom("differ", own, Range(0, 0)), Atom("differ", own, domain)) for own in ranks)
            case ResultRank(rank=rank):
                return ((Atom("differ", domain, Range(rank, rank)),),)
            case ResultRankAtLeast(rank=rank):
                return _below(domain, rank)
            case StretchesAll(operand=name):
                rows = self._fronts(nest, numbers[name], 0)
                return tuple((Atom("differ", own, ONE), Atom("differ", own, here)) for _, own, here in rows)
            case EqualsAll(operand=name, known=known):
                rows = self._fronts(nest, numbers[name], known)
                return tuple((present, Atom("differ", own, here)) for present, own, here in rows)
        return (_fails(self.check(nest, constraint)),)

    def _fronts(self, nest: int, operand: int, known: int) -> Iterator[tuple[Atom, Own, DomainDim]]:
        """Yield the dims of an operand of unknown rank before its `known` last ones; the foremost stands for more.

        Each has the atom that it is there, the operand's dim, and the dim of the domain that it lies in.
        """
        for number in range(known + 1, self.depth + 1):
            present = Atom("within", Rank(operand), Range(number, MAX_RANK))
            yield present, Own(operand, -number), DomainDim(nest, -number)

    def _vouched(self, nest: int, constraint: Constraint) -> tuple[Clause, ...]:
        if not isinstance(constraint, EqualsAll):
            return _holds(self.check(nest, constraint))
        number = self._builders[nest].numbers[constraint.operand]
        rows = self._fronts(nest, number, constraint.known)
        return tuple((_absent(number, own), (present, Atom("same", own, here))) for present, own, here in rows)


def is_fact(step: Step) -> bool:
    """Tell whether a step says something that no other premise says."""
    return not isinstance(step, (Widen, NotNegative, Overflow))


def _below(rank: Rank, least: int) -> tuple[Alternative, ...]:
    return ((Atom("within", rank, Range(0, least - 1)),),) if least else ()


def _absent(operand: int, own: Own) -> Alternative:
    """Return that an operand has no such dim: where it is left out it counts as 1."""
    return (Atom("within", Rank(operand), Range(0, -own.dim - 1)), Atom("same", own, ONE))


def _spanned(guards: NestGuards, depth: int) -> tuple[int, ...]:
    """Return the dims of a domain whose extents operands decide when they meet."""
    fixed = {define.at for define in guards.defines}
    has_fronts = any(isinstance(step, MeetFront) for step in guards.steps)
    least = depth if has_fronts else guards.least_rank
    every = range(-least, 0) if guards.open else range(least)
    return tuple(at for at in every if at not in fixed)


def node(term: Term) -> Hashable:
    """Return a term as a node of facts."""
    return Range(term.extent, term.extent) if isinstance(term, Const) else term


def _of_rank(step: HasRank | ResultHasRank | HasDomainRank, nest: int) -> tuple[Clause, ...]:
    domain = Rank(None, nest)
    if isinstance(step, HasDomainRank):
        own = Rank(step.operand)
        return (((Atom("within", own, Range(0, 0)),), (Atom("same", own, domain),)),)
    rank = Range(step.rank, step.rank if step.exact else MAX_RANK)
    if isinstance(step, HasRank):
        return (((Atom("within", Rank(step.operand), rank),),),)
    # Where the rank is known, a dim has two numbers: from the front, and from the end.
    dims = range(step.rank if step.exact else 0)
    both = (Atom("same", DomainDim(nest, at), DomainDim(nest, at - step.rank)) for at in dims)
    return (((Atom("within", domain, rank),),), *(((atom,),) for atom in both))


def _fronts(guards: NestGuards, dim: int) -> Iterator[tuple[MeetFront, Own]]:
    """Yield the operands of unknown rank that may have a dim in front at a dim of the domain, with that dim."""
    for step in dict.fromkeys(guards.steps) if dim < 0 else ():
        if isinstance(step, MeetFront) and step.known < -dim:
            yield step, Own(step.operand, dim)


def _defined(step: Define, nest: int, guards: NestGuards) -> Clause:
    """Return what defines a dim of the domain; an extent of 1 may be widened by dims in front of known ones."""
    here, own = DomainDim(nest, step.at), node(step.term)
    widened = () if own != ONE and isinstance(own, Range) else tuple(_fronts(guards, step.at))
    return (
        (Atom("same", here, own),),
        *((Atom("same", own, ONE), Atom("same", here, front), Atom("differ", front, ONE)) for _, front in widened),
    )


def _span(dim: int, nest: int, guards: NestGuards) -> Clause:
    here = DomainDim(nest, dim)
    terms = [step.term for step in guards.steps if isinstance(step, (Meet, Widen)) and step.at == dim]
    terms = list(dict.fromkeys((*terms, *(front for _, front in _fronts(guards, dim)))))
    some = [(Atom("same", here, term), Atom("differ", term, ONE)) for term in terms]
    return (*some, tuple(Atom("same", one, ONE) for one in (here, *terms)))


def _reduced(one: ReducedShape, rank: int) -> tuple[Clause, ...]:
    """Return what is known of the shape that a reduction gives, whose nest's domain has this rank."""
    left = [at for at in range(rank) if one.keepdims or at not in one.axes]
    extents = (ONE if at in one.axes else DomainDim(one.nest, at) for at in left)
    said = (((Atom("same", Own(one.operand, own), extent),),) for own, extent in enumerate(extents))
    return (((Atom("within", Rank(one.operand), Range(len(left), len(left))),),), *said)


def _front(step: MeetFront, nest: int, depth: int) -> Iterator[Clause]:
    """Yield what is known of the dims in front: each is absent, is 1, or has the extent of its dim of the domain.

    A dim is absent if the rank is too low for it; it then counts as 1. A front that asks nothing is one whose
    `StretchesAll` is called proved, so it says nothing of extents.
    """
    for number in range(step.known + 1, depth + 1):
        own, here = Own(step.operand, -number), DomainDim(nest, -number)
        present = Atom("within", Rank(step.operand), Range(number, MAX_RANK))
        is_one: list[Alternative] = [(present, Atom("same", own, ONE))] if step.how == "meet" else []
        is_asked = step.how == "match" or (step.how == "meet" and step.says)
        met: Alternative = (present, Atom("same", own, here)) if is_asked else (present,)
        yield (_absent(step.operand, own), *is_one, met)


def _holds(step: Check) -> tuple[Clause, ...]:
    actual, expected = node(step.actual), node(step.expected)
    match step.test:
        case "eq":
            same = ((Atom("same", actual, expected),),)
            if not isinstance(step.expected, Calc):
                return (same,)
            from ...shape.types.computed import range_of  # noqa: PLC0415 - few types have computed extents

            return same, ((Atom("within", actual, range_of(step.expected.text)),),)
        case "one_or_eq":
            return (((Atom("same", actual, ONE),), (Atom("same", actual, expected),)),)
    within = _within(step)
    return () if within is None else (((Atom("within", actual, within),),),)


def _within(step: Check) -> Range | None:
    if not isinstance(step.expected, Const):
        return None
    bound = step.expected.extent
    match step.test:
        case "ge":
            return Range(bound)
        case "le":
            return Range(0, bound)
    return Range(0, MAX_EXTENT // bound * bound, bound)


def _fails(step: Check) -> Alternative:
    """Return how a check fails."""
    actual, expected = node(step.actual), node(step.expected)
    match step.test, step.expected:
        case "eq", _:
            return (Atom("differ", actual, expected),)
        case "one_or_eq", _:
            return (Atom("differ", actual, ONE), Atom("differ", actual, expected))
        case "ge", Const(extent=bound):
            return (Atom("within", actual, Range(0, bound - 1)),) if bound else (Atom("differ", actual, actual),)
        case "le", Const(extent=bound):
            return (Atom("within", actual, Range(bound + 1)),)
        case "multiple", Const(extent=bound):
            return (Atom("indivisible", actual, bound),)
    return ()
