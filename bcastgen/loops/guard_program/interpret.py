"""Runs a guard program in Python: extents of operands in, extents of results or a :class:`Failure` out.

    run_guards(program, [(2, 4), (1, 1)])  ->  ((2, 4),), or Failure(status="BROADCAST", subject=1, dim=0, ...)

It runs the same steps as the C, in the same order, so its first failure is the one that the C reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from ...core.frozen import dataclass
from .ir import (
    Calc,
    Check,
    Const,
    DomainDim,
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

__all__ = ["Failure", "domains", "results_of", "run_guards"]

Extents: TypeAlias = tuple[int, ...]
_MOST = (1 << 63) - 1
# The value of a computed extent that 64 bits do not hold; no step of a computation gives it.
UNCOUNTABLE = -(1 << 63)


@dataclass(frozen=True, slots=True)
class Failure:
    """A diagnostic: its status, the operand, result or claim at fault, its dim, and both extents.

    `against` is the operand or result that sets the expected extent. -1 means no operand, or no dim; dims are counted
    from the front. `says` is the constraint that does not hold.
    """

    status: str
    subject: int
    dim: int
    against: int
    expected: int
    actual: int
    says: str


def run_guards(program: GuardProgram, shapes: Sequence[Extents]) -> tuple[Extents, ...] | Failure:
    """Return the extents of the results, or the first failure; `shapes` has the kernel's own constants, too."""
    found = domains(program, shapes)
    return found if isinstance(found, Failure) else results_of(program, found)


def results_of(program: GuardProgram, domains: Sequence[Extents]) -> tuple[Extents, ...]:
    """Return the extents of the results, given those of the nests' domains."""
    return tuple(domains[nest] for nest in program.stored[len(program.reduced) :])


def domains(program: GuardProgram, shapes: Sequence[Extents]) -> tuple[Extents, ...] | Failure:
    """Return the extents of each nest's domain, or the first failure."""
    found: list[list[int]] = []
    # What a nest reduces is an operand of later ones.
    given = [*shapes, *(() for _ in program.reduced)]
    for at, nest in enumerate(program.nests):
        run = _Run(program, nest, given, found)
        failure = run.failure()
        if failure is not None:
            return failure
        found.append(run.extents)
        for one in program.reduced:
            if one.nest == at:
                given[one.operand] = one.of(run.extents)
    for tie in program.ties:
        failure = _Run(program, program.nests[0], given, found).check(tie)
        if failure is not None:
            return failure
    return tuple(map(tuple, found))


class _Run:
    """One run over a nest: the `extents` of its domain so far, and in `setters` the operand that set each."""

    def __init__(
        self, program: GuardProgram, nest: NestGuards, shapes: Sequence[Extents], before: Sequence[Sequence[int]]
    ) -> None:
        self.program = program
        self.nest = nest
        self.shapes = shapes
        self.before = before
        self.extents: list[int] = []
        self.setters: list[int] = []

    def failure(self) -> Failure | None:
        """Run the steps; return the first failure, or None."""
        for entry in self.nest.entry:
            failure = self._step(entry)
            if failure is not None:
                return failure
        rank = self.nest.least_rank
        if self.nest.open:
            rank = max([rank, *(len(self.shapes[operand]) for operand in self.nest.spanning)])
        self.extents, self.setters = [1] * rank, [-1] * rank
        for define in self.nest.defines:
            self.extents[define.at], self.setters[define.at] = self._value(define.term), define.setter
        for step in (*self.nest.steps, *self.nest.results):
            failure = self._step(step)
            if failure is not None:
                return failure
        return None

    def _step(self, step: object) -> Failure | None:  # noqa: PLR0911
        match step:
            case HasRank():
                return self._rank(step)
            case HasDomainRank(operand=operand):
                rank, wanted = len(self.shapes[operand]), len(self.extents)
                says = self.program.says(step)
                return None if rank in (0, wanted) else Failure("RANK", operand, -1, -1, wanted, rank, says)
            case NotNegative():
                return self._sign(step)
            case Meet(term=term, at=at, says=says):
                return self._meet(term.operand, term.dim, at, says)
            case Widen(term=term, at=at):
                if self.extents[at] == 1 != self._value(term):
                    self.extents[at], self.setters[at] = self._value(term), term.operand
                return None
            case MeetFront():
                return self._front(step)
            case Check():
                return self.check(step)
            case ResultHasRank(subject=subject, rank=rank, exact=exact):
                actual = len(self.extents)
                says = f"{self.program.named[subject]}.rank {'=' if exact else '>='} {rank}"
                fits = actual == rank if exact else actual >= rank
                status = "RESULT_RANK" if exact else "RESULT_RANK_AT_LEAST"
                return None if fits else Failure(status, subject, -1, -1, rank, actual, says)
            case Overflow():
                return self._overflow(step)
        raise AssertionError(step)

    def _rank(self, step: HasRank) -> Failure | None:
        rank = len(self.shapes[step.operand])
        if rank == step.rank if step.exact else rank >= step.rank:
            return None
        says = f"{self.program.named[step.operand]}.rank {'=' if step.exact else '>='} {step.rank}"
        status = "RANK" if step.exact else "RANK_AT_LEAST"
        return Failure(status, step.operand, -1, -1, step.rank, rank, says)

    def _sign(self, step: NotNegative) -> Failure | None:
        extent = self._value(step.term)
        says = f"{self.program.named[step.term.operand]}.{step.term.dim} >= 0"
        dim = self._own(step.term.operand, step.term.dim)
        return Failure("NEGATIVE", step.term.operand, dim, -1, 0, extent, says) if extent < 0 else None

    def _own(self, operand: int, dim: int) -> int:
        """Return the number of an operand's dim, counted from the front."""
        return dim if dim >= 0 else len(self.shapes[operand]) + dim

    def _meet(self, operand: int, dim: int, at: int, says: str) -> Failure | None:
        dim = self._own(operand, dim)
        extent = self.shapes[operand][dim]
        if extent < 0:
            return Failure("NEGATIVE", operand, dim, -1, 0, extent, says)
        if extent in (1, self.extents[at]):
            return None
        if self.extents[at] != 1:
            return Failure("BROADCAST", operand, dim, self.setters[at], self.extents[at], extent, says)
        self.extents[at], self.setters[at] = extent, operand
        return None

    def _front(self, step: MeetFront) -> Failure | None:
        shape = self.shapes[step.operand]
        for dim in range(len(shape) - step.known):
            at = len(self.extents) - len(shape) + dim
            if step.how == "meet":
                failure = self._meet(step.operand, dim, at, step.says)
                if failure is not None:
                    return failure
                continue
            is_set = self.setters[at] >= 0
            if step.how == "match" and shape[dim] < 0:
                return Failure("NEGATIVE", step.operand, dim, -1, 0, shape[dim], step.says)
            if is_set and step.how == "match" and shape[dim] != self.extents[at]:
                against, expected = self.setters[at], self.extents[at]
                return Failure("STRICT", step.operand, dim, against, expected, shape[dim], step.says)
            if not is_set:
                self.extents[at], self.setters[at] = shape[dim], step.operand
        return None

    def check(self, step: Check) -> Failure | None:
        """Return the failure of a check, or None if it holds."""
        actual, expected = self._value(step.actual), self._value(step.expected)
        match step.test:
            case "countable":
                holds = expected != UNCOUNTABLE
            case "eq":
                holds = actual == expected
            case "one_or_eq":
                holds = actual in (1, expected)
            case "ge":
                holds = actual >= expected
            case "le":
                holds = actual <= expected
            case "multiple":
                holds = actual % expected == 0
        if holds:
            return None
        against = self.setters[step.against.at] if isinstance(step.against, DomainDim) else step.against
        if step.swaps:
            actual, expected = expected, actual
        if step.test == "countable":
            expected = _MOST
        return Failure(step.status, step.subject, self._dim(step), against, expected, actual, step.says)

    def _dim(self, step: Check) -> int:
        """Return the number of the dim that a check names, counted from the front."""
        if isinstance(step.actual, Own):
            return self._own(step.actual.operand, step.dim)
        assert isinstance(step.actual, DomainDim)
        return step.dim if step.dim >= 0 else len(self._domain(step.actual.nest)) + step.dim

    def _domain(self, nest: int) -> Sequence[int]:
        return self.before[nest] if nest < len(self.before) else self.extents

    def _overflow(self, step: Overflow) -> Failure | None:
        counted = step.size
        for extent in self.extents:
            counted *= extent
        return Failure("OVERFLOW", step.subject, -1, -1, _MOST, step.size, str(step)) if counted > _MOST else None

    def _value(self, term: Term) -> int:
        match term:
            case Const(extent=extent):
                return extent
            case Own(operand=operand, dim=dim):
                return self.shapes[operand][dim]
            case DomainDim(nest=nest, at=at):
                return self._domain(nest)[at]
            case Calc(text=text, places=places):
                from ...shape.types.computed import value_of  # noqa: PLC0415 - few types have computed extents

                found = value_of(text, {name: self._value(own) for name, own in places})
                return UNCOUNTABLE if found is None else found
