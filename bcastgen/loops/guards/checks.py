"""Says how the constraints of a nest are asked: each as the check of a guard program that asks it.

In: a constraint on extents of a nest.  Out: its :class:`~..guard_program.ir.Check`.

    a.1 = 4          ->   %0.1 = 4 or EXTENT
    a.1 in {1, d1}   ->   %0.1 in {1, d1} or BROADCAST

`build` decides which constraints are asked, and in which order; `premises` reads what a check says.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from typing import get_args

from ...core.errors import BcastgenError
from ...shape.constraints import (
    OF_RESULTS,
    AtLeast,
    AtMost,
    Computed,
    Constraint,
    Equals,
    EqualsExtent,
    ExtentIs,
    Fits,
    MultipleOf,
    ResultAtLeast,
    ResultAtMost,
    ResultComputed,
    ResultExtent,
    ResultMultipleOf,
    ResultRank,
    ResultRankAtLeast,
    ResultSame,
    SameExtent,
    Stretches,
)
from ..guard_program.ir import Calc, Check, Const, Define, DomainDim, Own, ResultHasRank
from ..nest import Nest

__all__ = ["OWN", "Checks", "OwnConstraint"]

# Constraints on one dim of an operand that do not depend on the map it is read through.
OwnConstraint = ExtentIs | SameExtent | AtLeast | AtMost | MultipleOf | Computed | Fits | Equals | EqualsExtent
OWN = get_args(OwnConstraint)


class Checks:
    """The checks of a nest's constraints.

    Parameters
    ----------
    at, nest : the nest, and its number.
    operands : the names of the kernel's operands.
    numbers : the number of each array and computed text.
    homes : the nest, with its number, that each result and claim is of.
    defined : the dims of the domain that are defined before operands meet.
    """

    def __init__(
        self,
        at: int,
        nest: Nest,
        operands: Container[str],
        numbers: Mapping[str, int],
        homes: Mapping[str, tuple[int, Nest]],
        defined: Mapping[int, Define],
    ) -> None:
        self.at = at
        self.nest = nest
        self.operands = operands
        self.numbers = numbers
        self.homes = homes
        self.defined = defined

    def of_operand(self, c: OwnConstraint) -> Iterator[Check]:
        """Yield the checks that ask a constraint on one dim of an operand."""
        if isinstance(c, Computed):
            yield from self._computed(Own(self.numbers[c.operand], c.dim), c.dim, c)
        else:
            yield self._of_extent(c)

    def of_result(self, c: Constraint) -> Iterator[ResultHasRank | Check]:
        """Yield the steps that ask a constraint on a result or claim of the nest."""
        if isinstance(c, ResultComputed):
            yield from self._computed(DomainDim(self.at, c.domain_dim), self._own_dim(c.dim), c)
        else:
            yield self._of_result(c)

    def one(self, constraint: Constraint) -> Check:
        """Return a constraint on extents as the check that asks it.

        Raises
        ------
        BcastgenError
            If the constraint is on a rank, or on all dims of an operand.
        """
        match constraint:
            case Stretches(operand=operand, dim=dim, domain_dim=where, extent=extent):
                own = Own(self.numbers[operand], dim)
                expected = DomainDim(self.at, where) if extent is None else Const(extent)
                return Check("one_or_eq", own, expected, "BROADCAST", own.operand, dim, -1, str(constraint))
            case ResultSame() if self.is_elsewhere(constraint):
                return self.tie(constraint)
        if isinstance(constraint, OWN):
            return list(self.of_operand(constraint))[-1]
        asked = list(self.of_result(constraint))[-1] if isinstance(constraint, OF_RESULTS) else None
        if not isinstance(asked, Check):
            raise BcastgenError(f"internal error: {constraint} is not about one extent")
        return asked

    def _computed(self, actual: Own | DomainDim, dim: int, c: Computed | ResultComputed) -> Iterator[Check]:
        """Yield the checks that 64 bits hold a computed extent, and that a dim has it."""
        expected = Calc(c.text, tuple((name, Own(self.numbers[operand], dim)) for name, operand, dim in c.places))
        subject = self.numbers[c.result if isinstance(c, ResultComputed) else c.operand]
        from ...shape.types.computed import may_overflow  # noqa: PLC0415 - few types have computed extents

        text, says = self.numbers[c.text], str(c)
        if may_overflow(c.text):
            yield Check("countable", actual, expected, "UNCOUNTABLE", subject, dim, text, says)
        status = "RESULT_COMPUTED" if isinstance(c, ResultComputed) else "COMPUTED"
        yield Check("eq", actual, expected, status, subject, dim, text, says)

    def _of_extent(self, c: OwnConstraint) -> Check:  # noqa: PLR0911
        """Return the check of a constraint that compares an operand's dim with one extent."""
        number = self.numbers[c.operand]
        actual, says = Own(number, c.dim), str(c)
        match c:
            case ExtentIs(extent=extent):
                return Check("eq", actual, Const(extent), "EXTENT", number, c.dim, -1, says)
            case SameExtent(other=other, other_dim=dim, symbol=symbol):
                against = self.numbers[other]
                return Check("eq", actual, Own(against, dim), "EXTENT", number, c.dim, against, says, symbol)
            case AtLeast(bound=bound):
                return Check("ge", actual, Const(bound), "AT_LEAST", number, c.dim, -1, says)
            case AtMost(bound=bound):
                return Check("le", actual, Const(bound), "AT_MOST", number, c.dim, -1, says)
            case MultipleOf(bound=bound):
                return Check("multiple", actual, Const(bound), "MULTIPLE", number, c.dim, -1, says)
            case Fits(other=other, other_dim=dim):
                against = self.numbers[other]
                return Check("one_or_eq", actual, Own(against, dim), "BROADCAST", number, c.dim, against, says)
            case EqualsExtent(other=other, other_dim=dim):
                against = self.numbers[other]
                return Check("eq", actual, Own(against, dim), "STRICT", number, c.dim, against, says)
            case Equals(domain_dim=where, extent=None):
                met = DomainDim(self.at, where)
                return Check("eq", actual, met, "STRICT", number, c.dim, met, says)
            case Equals(domain_dim=where, extent=int(extent)):
                defined = self.defined.get(where)
                is_there = defined is not None and defined.term == Const(extent)
                setter = DomainDim(self.at, where) if is_there else -1
                return Check("eq", actual, Const(extent), "STRICT", number, c.dim, setter, says)
        raise BcastgenError(f"internal error: no step asks {c}")

    def is_elsewhere(self, constraint: Constraint) -> bool:
        """Whether a constraint ties a dim to a result or claim of another nest, which is which `tie` compares."""
        if not isinstance(constraint, ResultSame):
            return False
        accesses = (*self.nest.operands, *self.nest.shapes, *self.nest.named)
        return constraint.other not in {access.name for access in accesses}

    def _of_result(self, c: Constraint) -> ResultHasRank | Check:  # noqa: PLR0911
        """Return the step of a constraint on a result's rank, or on one of its dims."""
        assert isinstance(c, OF_RESULTS)
        subject, says = self.numbers[c.result], str(c)
        if isinstance(c, (ResultRank, ResultRankAtLeast)):
            return ResultHasRank(subject, c.rank, isinstance(c, ResultRank))
        met, own = DomainDim(self.at, c.domain_dim), self._own_dim(c.dim)
        match c:
            case ResultExtent(extent=int(extent)):
                return Check("eq", met, Const(extent), "RESULT", subject, own, -1, says)
            case ResultSame(other=other, other_dim=dim, symbol=symbol):
                if other in self.operands:
                    against = self.numbers[other]
                    return Check("eq", met, Own(against, dim), "RESULT", subject, own, against, says, symbol)
                same = DomainDim(self.at, self._own_dim(dim))
                return Check("eq", met, same, "RESULT", subject, own, -1, says, symbol)
            case ResultAtLeast(bound=bound):
                return Check("ge", met, Const(bound), "AT_LEAST", subject, own, -1, says)
            case ResultAtMost(bound=bound):
                return Check("le", met, Const(bound), "AT_MOST", subject, own, -1, says)
            case ResultMultipleOf(bound=bound):
                return Check("multiple", met, Const(bound), "MULTIPLE", subject, own, -1, says)
        raise BcastgenError(f"internal error: no step asks {c}")

    def _own_dim(self, dim: int) -> int:
        """Return the number of a result's dim in the domain; it is negative, from the end, only in an open domain."""
        return dim if dim >= 0 or self.nest.domain.open else len(self.nest.domain.dims) + dim

    def tie(self, c: ResultSame) -> Check:
        """Return the check that compares a dim of this nest's domain with one of another's."""
        at, nest = self.homes[c.other]
        other = c.other_dim
        other = other if other >= 0 or nest.domain.open else len(nest.domain.dims) + other
        own = self._own_dim(c.dim)
        actual, expected = DomainDim(self.at, own), DomainDim(at, other)
        subject, against = self.numbers[c.result], self.numbers[c.other]
        return Check("eq", actual, expected, "RESULT", subject, own, against, str(c), c.symbol)
