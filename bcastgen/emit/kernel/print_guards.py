"""Prints the guards of a nest as standalone C, step by step; the guard program has decided all checks.

In: a kernel's guard program.  Out: :class:`StepView` values in the order in which they run.

    %0.rank = 2; %0.1 = 4; meet %0.0 at d0  ->  if (a->rank != 2) ...; if (a->extents[1] != 4) ...; bcg_meet(dim 0 of a)

Neighbouring dims that meet one after the other are one call. Nothing about a caller's descriptors is taken for granted.
(Kernels of the JIT have no such C: csrc/runtime/guards.c runs their guard programs, see `loops.guard_program.code`.)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from math import prod

from ...core.frozen import dataclass, field
from ...loops.guard_program.ir import (
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
    Term,
    Widen,
)

__all__ = ["Members", "StepView", "entry_steps", "meeting_steps", "refusal", "result_steps", "starts"]


@dataclass(frozen=True, slots=True)
class StepView:
    """One step of a domain function: a check, a meeting, or a dim that sets an extent.

    `condition` holds if a check fails, and `refusal` is the status then. `meet` and `widen` are calls without their
    last arguments; a dim that needs no check may still set an extent (`widen`).
    """

    condition: str = ""
    refusal: str = ""
    comment: str = ""
    meet: str = ""
    widen: str = ""


@dataclass(frozen=True, slots=True)
class Members:
    """How generated C reaches a descriptor: `a->rank` if they are `separate` parameters, or `operands[0].rank`.

    Separate arrays come from a foreign caller: nothing about their descriptors is taken for granted. Results then have
    another type; `result_pointers` are the addresses of their descriptors as operands. `extents` are the operands that
    are numbers, each with the name of a descriptor of it. `numbers` are the constants that stand for the numbers of a
    diagnostic.
    """

    operands: tuple[str, ...]
    results: tuple[str, ...]
    separate: bool
    constants: frozenset[int] = frozenset()
    numbers: tuple[str, ...] = ()
    result_pointers: tuple[str, ...] = ()
    extents: Mapping[int, str] = field(default_factory=dict)

    def number(self, number: int) -> str:
        """Return the C of a number in a diagnostic: its constant, if it has one."""
        return self.numbers[number] if 0 <= number < len(self.numbers) else str(number)

    def is_constant(self, number: int) -> bool:
        """Whether an operand is a constant array of the kernel, which needs no checks."""
        return number in self.constants

    def pointer(self, number: int, is_result: bool = False) -> str:
        """Return the address of an operand's descriptor, or of a result's as an operand."""
        names, table = (self.result_pointers, "results") if is_result else (self.operands, "operands")
        if not is_result and number in self.extents:
            return f"&{self.extents[number]}"
        return names[number] if self.separate else f"&{table}[{number}]"

    def member(self, number: int, is_result: bool = False) -> str:
        """Return the C in front of a descriptor's field."""
        names, table = (self.results, "results") if is_result else (self.operands, "operands")
        if not is_result and number in self.extents:
            return f"{self.extents[number]}."
        return f"{names[number]}->" if self.separate else f"{table}[{number}]."

    def dim(self, number: int, dim: int) -> str:
        """Return the number of an operand's dim, counted from the end where it is negative."""
        if number in self.extents:
            return "0"
        return str(dim) if dim >= 0 else f"{self.member(number)}rank - {-dim}"

    def extent(self, number: int, dim: int) -> str:
        """Return an operand's extent."""
        if number in self.extents:
            return self.operands[number]
        return f"{self.member(number)}extents[{self.dim(number, dim)}]"

    def term(self, term: Term) -> str:
        """Return an extent."""
        match term:
            case Const(extent=extent):
                return str(extent)
            case Own(operand=operand, dim=dim):
                return self.extent(operand, dim)
            case DomainDim(at=at):
                return f"extents[{_domain_dim(at)}]"
            case Calc():
                return term.compute(self.term, _number, lambda what, x, y: f"bcg_extent_{what}({x}, {y})")


def refusal(status: str, array: str, dim: str, against: str, expected: str, actual: str) -> str:
    """Return the C that fills in a diagnostic and gives its status; what is "-1" is left out.

    Examples
    --------
    >>> refusal("RANK", "AXPB_A", "-1", "-1", "2", "a->rank")
    'bcg_fail_array(why, BCG_RANK, AXPB_A, 2, a->rank)'
    """
    if against != "-1":
        return f"bcg_fail(why, BCG_{status}, {array}, {dim}, {against}, {expected}, {actual})"
    if dim != "-1":
        return f"bcg_fail_dim(why, BCG_{status}, {array}, {dim}, {expected}, {actual})"
    return f"bcg_fail_array(why, BCG_{status}, {array}, {expected}, {actual})"


def _number(number: int) -> str:
    """Return a number as C; what does not fit 32 bits gets a suffix."""
    return str(number) if number < 2**31 else f"INT64_C({number})"


def entry_steps(nest: NestGuards, members: Members) -> tuple[StepView, ...]:
    """Return the checks that come before any extent is read: of ranks, and of a foreign caller's pointers."""
    found: list[StepView] = []
    for step in nest.entry:
        if isinstance(step, HasRank):
            found += _rank(step, members) if step.operand not in members.extents else ()
        elif isinstance(step, Check):
            found.append(_check(step, members))
        else:
            found.append(_not_negative(step, members))
    return tuple(found)


def _rank(step: HasRank, members: Members) -> Iterator[StepView]:
    rank, number = f"{members.member(step.operand)}rank", members.number(step.operand)

    def refused(status: str, expected: object) -> str:
        return refusal(status, number, "-1", "-1", str(expected), rank)

    if step.exact:
        yield StepView(f"{rank} != {step.rank}", refused("RANK", step.rank))
    else:
        yield StepView(f"{rank} < {step.rank}", refused("RANK_AT_LEAST", step.rank))
        yield StepView(f"{rank} > BCG_MAX_RANK", refused("RANK_AT_MOST", "BCG_MAX_RANK"))
    absent = f"{members.member(step.operand)}extents == NULL"
    if step.rank or not step.exact:
        condition = absent if step.rank else f"{rank} > 0 && {absent}"
        yield StepView(condition, refused("NULL_EXTENTS", 0))


def _not_negative(step: NotNegative, members: Members) -> StepView:
    term = step.term
    extent, dim = members.term(term), members.dim(term.operand, term.dim)
    return StepView(f"{extent} < 0", refusal("NEGATIVE", members.number(term.operand), dim, "-1", "0", extent))


def starts(nest: NestGuards, members: Members) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the statements that set `extents` to the known ones, and `from` to the operands that they come from.

    In a domain of any rank, all of `extents` are 1 and all of `from` are -1 before.
    """
    extents: dict[str, list[str]] = {}
    setters: dict[str, list[str]] = {}
    defined = {define.at: define for define in nest.defines}
    everywhere = [define.at for define in nest.defines] if nest.open else range(nest.least_rank)
    for at in everywhere:
        define = defined.get(at, Define(at, Const(1), -1))
        extents.setdefault(members.term(define.term), []).append(f"extents[{_domain_dim(at)}]")
        setters.setdefault(members.number(define.setter), []).append(f"from[{_domain_dim(at)}]")
    return tuple(map(_assign, extents, extents.values())), tuple(map(_assign, setters, setters.values()))


def _assign(value: str, places: list[str]) -> str:
    return f"{' = '.join(places)} = {value};"


def meeting_steps(nest: NestGuards, members: Members) -> Iterator[StepView]:
    """Return the checks and meetings of a nest's operands, after their ranks."""
    for is_run, steps in groupby(nest.steps, lambda step: isinstance(step, (Meet, MeetFront))):
        if is_run:
            yield from _meetings([step for step in steps if isinstance(step, (Meet, MeetFront))], nest, members)
            continue
        for step in steps:
            match step:
                case HasDomainRank(operand=at):
                    rank = f"{members.member(at)}rank"
                    # A scalar fits every rank.
                    refused = refusal("RANK", members.number(at), "-1", "-1", "rank", rank)
                    yield StepView(f"{rank} != 0 && {rank} != rank", refused)
                case NotNegative():
                    yield _not_negative(step, members)
                case Widen():
                    yield StepView(widen=f"bcg_widen({_one(step, members)}")
                case Check():
                    yield _check(step, members)


def _meetings(steps: Sequence[Meet | MeetFront], nest: NestGuards, members: Members) -> Iterator[StepView]:
    """Yield one call for each run of neighbouring dims that meet; a run begins with a front or with its first dim."""
    runs: list[list[Meet | MeetFront]] = []
    for step in steps:
        if runs and _follows(runs[-1][-1], step):
            runs[-1].append(step)
        else:
            runs.append([step])
    for first, *rest in runs:
        if isinstance(first, Meet) and not first.aligned:
            yield StepView(meet=f"bcg_meet_dim({_one(first, members)}")
            continue
        operand = first.operand if isinstance(first, MeetFront) else first.term.operand
        helper = f"bcg_{first.how}" if isinstance(first, MeetFront) else "bcg_meet"
        start = "0" if isinstance(first, MeetFront) else members.dim(operand, first.term.dim)
        end = _end([first, *rest][-1], members)
        rank = "rank" if nest.open else str(nest.least_rank)
        yield StepView(meet=f"{helper}({members.pointer(operand)}, {members.number(operand)}, {start}, {end}, {rank}")


def _follows(before: Meet | MeetFront, step: Meet | MeetFront) -> bool:
    """Whether a dim is the next one of the same operand, and meets in the same way."""
    if not isinstance(step, Meet) or not step.aligned:
        return False
    if isinstance(before, MeetFront):
        return before.how == "meet" and (before.operand, -before.known) == (step.term.operand, step.term.dim)
    return before.aligned and (before.term.operand, before.term.dim + 1) == (step.term.operand, step.term.dim)


def _end(last: Meet | MeetFront, members: Members) -> str:
    if isinstance(last, MeetFront):
        rank = f"{members.member(last.operand)}rank"
        return f"{rank} - {last.known}" if last.known else rank
    end = last.term.dim + 1
    return f"{members.member(last.term.operand)}rank" if end == 0 else members.dim(last.term.operand, end)


def _one(step: Meet | Widen, members: Members) -> str:
    """Return the arguments that name one dim of an operand and where it lies."""
    operand, dim = step.term.operand, step.term.dim
    where = f"{members.dim(operand, dim)}, {_domain_dim(step.at)}"
    return f"{members.pointer(operand)}, {members.number(operand)}, {where}"


def _check(step: Check, members: Members) -> StepView:
    """Return a check as C: the condition under which it fails, and the status then."""
    actual, expected = members.term(step.actual), members.term(step.expected)
    match step.test:
        case "eq":
            fails = f"{actual} != {expected}"
        case "one_or_eq":
            fails = f"{actual} != 1 && {actual} != {expected}"
        case "ge":
            fails = f"{actual} < {expected}"
        case "le":
            fails = f"{actual} > {expected}"
        case "multiple":
            fails = f"{actual} % {expected} != 0"
        case "countable":
            fails, expected = f"{expected} == BCG_UNCOUNTABLE_EXTENT", "INT64_MAX"
    is_own = isinstance(step.actual, Own)
    dim = members.dim(step.subject, step.dim) if is_own else _domain_dim(step.dim)
    against = (
        f"from[{_domain_dim(step.against.at)}]" if isinstance(step.against, DomainDim) else members.number(step.against)
    )
    # A result's type was declared first; the diagnostic reports the operands' extent as the actual one.
    shown = (actual, expected) if step.swaps else (expected, actual)
    comment = f"both are {step.symbol}" if step.symbol else ""
    if isinstance(step.expected, Calc):
        comment = step.expected.text
    return StepView(fails, refusal(step.status, members.number(step.subject), dim, against, *shown), comment)


def result_steps(nest: NestGuards, guards: GuardProgram, members: Members) -> Iterator[StepView]:
    """Yield the checks of declared result types against the operands' extents, and of a foreign caller's results."""
    for step in nest.results:
        match step:
            case ResultHasRank(subject=subject, rank=rank, exact=exact):
                comment = f"{guards.named[subject]} is declared so"
                status = "RESULT_RANK" if exact else "RESULT_RANK_AT_LEAST"
                refused = refusal(status, members.number(subject), "-1", "-1", str(rank), "rank")
                yield StepView(f"rank {'!=' if exact else '<'} {rank}", refused, comment)
            case Check():
                made = _check(step, members)
                yield StepView(
                    made.condition, made.refusal, made.comment or f"{guards.named[step.subject]} is declared so"
                )
            case Overflow(subject=subject, size=size):
                if nest.may_overflow(size):
                    number = members.number(subject)
                    yield StepView(
                        _overflow(nest, size), refusal("OVERFLOW", number, "-1", "-1", "PTRDIFF_MAX", str(size))
                    )


def _domain_dim(dim: int) -> str:
    """Return the number of a dim of the domain, counted from the end where it is negative."""
    return str(dim) if dim >= 0 else f"rank - {-dim}"


def _overflow(nest: NestGuards, size: int) -> str:
    """Return the condition under which a result with elements of a size has more bytes than an object can have."""
    if nest.open:
        return f"bcg_bytes(rank, extents, {size}) < 0"
    known = prod(nest.known.values()) * size
    unknown = [at for at in range(nest.least_rank) if at not in nest.known]
    if len(unknown) == 1:
        return f"(uint64_t)extents[{unknown[0]}] > PTRDIFF_MAX{f' / {known}' if known != 1 else ''}"
    return f"bcg_bytes({nest.least_rank}, extents, {size}) < 0"
