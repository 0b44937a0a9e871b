"""Flattens a guard program to numbers that csrc/runtime/guards.c runs.

A kernel's shared object holds the numbers of its guards; other such numbers size results before it is compiled.

In: a :class:`GuardProgram`, and the extents from which a caller's missing ones are inferred.  Out: integers.

    %0.rank = 2; meet %0.0 at d0   ->   ..., HAS_RANK, 0, 2, 1, ..., MEET, 0, 0, 0, ...

csrc/abi/guard_steps.def defines the steps' numbers and arguments.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING

from ...core.errors import BroadcastError, status_values
from ...core.frozen import dataclass
from ...core.resources import csrc_file
from .ir import (
    Calc,
    Check,
    Const,
    Define,
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
    Step,
    Term,
    Widen,
)

if TYPE_CHECKING:
    from ...shape.types.computed import Calculation

__all__ = ["guard_code", "guard_numbers", "guard_registers", "guard_steps"]


@cache
def _rows(macro: str) -> tuple[str, ...]:
    """Return what is in the rows of a macro of guard_steps.def, in order."""
    text = csrc_file("guard_steps.def").read_text(encoding="utf-8")
    return tuple(re.findall(rf"^{macro}\((\w+)\)", text, re.MULTILINE))


@cache
def _numbers(macro: str) -> dict[str, int]:
    """Return the number of each name in the rows of a macro."""
    return {name: at for at, name in enumerate(_rows(macro))}


@cache
def guard_registers() -> int:
    """Return how many registers there are for computed extents."""
    return int(*_rows("GUARD_REGISTERS"))


def guard_steps() -> dict[str, int]:
    """Return the number of each kind of step."""
    return _numbers("GUARD_STEP")


def guard_code(
    program: GuardProgram, slots: Mapping[int, Sequence[Term]] | None = None, sizes: Sequence[int] = ()
) -> bytes:
    """Return the numbers of a guard program as int64s; see :func:`guard_numbers`.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> array("q", guard_code(from_text("(f32[4] a) -> -a").compilation.program.guards))[0]  # one nest
    1
    """
    return array("q", guard_numbers(program, slots, sizes)).tobytes()


def guard_numbers(
    program: GuardProgram,
    slots: Mapping[int, Sequence[Term]] | None = None,
    sizes: Sequence[int] = (),
    are_arrays: bool = False,
) -> list[int]:
    """Return the numbers of a guard program.

    Parameters
    ----------
    program : a kernel's guards.
    slots : the extents that meet each extent which the caller leaves out, by the latter's number.
    sizes : the numbers of a shape program that computes all those extents instead.
    are_arrays : whether operands are arrays, whose extents are not negative; numbers that a caller gives may be.
    """
    # `stored` has the nests of reduced values first, then those of results.
    count = len(program.reduced)
    numbers = [len(program.nests), count, len(program.stored) - count, *program.stored, program.operands - count]
    for slot, terms in (slots or {}).items():
        numbers += _step("SLOT", slot, len(terms), *(number for term in terms for number in _term(term)))
    if sizes:
        numbers += _step("PROGRAM", len(sizes), *sizes)
    for at, nest in enumerate(program.nests):
        numbers += [number for step in _nest(at, nest, are_arrays) for number in step]
        for number, one in enumerate(program.reduced):
            if one.nest == at:
                numbers += _step("REDUCED", number, one.keepdims, len(one.axes), *one.axes)
    for tie in program.ties:
        numbers += _check(tie)
    return [*numbers, *_step("END")]


def _step(name: str, *arguments: int) -> list[int]:
    return [guard_steps()[name], *map(int, arguments)]


def _term(term: Term) -> tuple[int, int, int]:
    match term:
        case Const(extent=extent):
            return _numbers("GUARD_TERM")["CONST"], extent, 0
        case Own(operand=operand, dim=dim):
            return _numbers("GUARD_TERM")["OWN"], operand, dim
        case DomainDim(nest=nest, at=at):
            return _numbers("GUARD_TERM")["DOMAIN"], nest, at
    raise AssertionError(term)


@dataclass(frozen=True, slots=True)
class _Computed:
    """The steps that compute an extent, where it then is, and how many registers the steps need from the first on."""

    steps: tuple[int, ...]
    term: tuple[int, int, int]
    depth: int


def _computed(calc: Calc) -> _Computed:
    """Return the steps of a computed extent; a step's second operand is computed in the registers after the first's."""

    def apply(what: Calculation, x: _Computed, y: _Computed) -> _Computed:
        moved = y if not x.depth else _moved(y, 1)
        made = _step("CALC", 0, _numbers("GUARD_CALC")[what.upper()], *x.term, *moved.term)
        return _Computed((*x.steps, *moved.steps, *made), _in_register(0), max(x.depth, moved.depth, 1))

    found = calc.compute(
        lambda own: _Computed((), _term(own), 0), lambda number: _Computed((), _term(Const(number)), 0), apply
    )
    if found.depth > guard_registers():
        most = guard_registers()
        raise BroadcastError(f"dim {calc.text} needs more than {most} intermediate results; write ? for it")
    return found


def _in_register(at: int) -> tuple[int, int, int]:
    return _numbers("GUARD_TERM")["REGISTER"], at, 0


def _moved(found: _Computed, by: int) -> _Computed:
    """Return the same steps in later registers."""
    if not found.depth:
        return found
    steps, size = list(found.steps), len(_step("CALC", 0, 0, 0, 0, 0, 0, 0, 0))
    for at in range(0, len(steps), size):
        steps[at + 1] += by
        for term in (at + 3, at + 6):
            steps[term + 1] += by * (steps[term] == _numbers("GUARD_TERM")["REGISTER"])
    return _Computed(tuple(steps), _in_register(found.term[1] + by), found.depth + by)


def _nest(at: int, nest: NestGuards, are_arrays: bool) -> Iterator[list[int]]:
    def flat(steps: Iterable[Step]) -> Iterator[list[int]]:
        return (_flat(step) for step in steps if not (are_arrays and isinstance(step, NotNegative)))

    yield from flat(nest.entry)
    yield _step("NEST", at, nest.open, nest.least_rank, len(nest.spanning), *nest.spanning)
    yield from flat((*nest.defines, *nest.steps, *nest.results))


def _flat(step: Step) -> list[int]:  # noqa: PLR0911
    match step:
        case HasRank(operand=operand, rank=rank, exact=exact):
            # Every array has a rank of 0 at least.
            return [] if not exact and rank == 0 else _step("HAS_RANK", operand, rank, exact)
        case HasDomainRank(operand=operand):
            return _step("DOMAIN_RANK", operand)
        case NotNegative(term=term):
            return _step("NOT_NEGATIVE", term.operand, term.dim)
        case Define(at=at, term=extent, setter=setter):
            return _step("DEFINE", at, *_term(extent), setter)
        case Meet(term=term, at=at):
            return _step("MEET", term.operand, term.dim, at)
        case Widen(term=term, at=at):
            return _step("WIDEN", term.operand, term.dim, at)
        case MeetFront(operand=operand, known=known, how=how):
            return _step(f"FRONT_{how.upper()}", operand, known)
        case ResultHasRank(subject=subject, rank=rank, exact=exact):
            return _step("RESULT_RANK", subject, rank, exact)
        case Overflow(subject=subject, size=size):
            return _step("OVERFLOW", subject, size)
        case Check():
            return _check(step)


def _check(step: Check) -> list[int]:
    test, status = _numbers("GUARD_TEST")[step.test.upper()], status_values()[step.status]
    is_dim = isinstance(step.against, DomainDim)
    against = step.against.at if isinstance(step.against, DomainDim) else step.against
    before: tuple[int, ...] = ()
    if isinstance(step.expected, Calc):
        computed = _computed(step.expected)
        before, expected = computed.steps, computed.term
    else:
        expected = _term(step.expected)
    extents = (*_term(step.actual), *expected)
    return [*before, *_step("CHECK", test, *extents, status, step.subject, step.dim, against, is_dim, step.swaps)]
