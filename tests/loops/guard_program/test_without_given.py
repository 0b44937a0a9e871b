"""Guards without what a kernel makes itself: what is left, and which operands it reads, whatever form a step has."""

from __future__ import annotations

from bcastgen.loops.guard_program.ir import Calc, Check, Const, DomainDim, HasRank, Meet, MeetFront, NestGuards, Own
from bcastgen.loops.guard_program.without_given import without_given


def guards(*steps, entry=(), operands=(0, 1, 2)):
    return NestGuards(2, False, operands, (), (), tuple(entry), (), tuple(steps), ())


def equal(actual, expected):
    return Check("eq", actual, expected, "EXTENT", 0, 0, -1, "")


def test_what_holds_of_given_operands_is_not_asked():
    rank, one = HasRank(2, 2, True), equal(Own(2, 0), Const(1))
    kept = HasRank(1, 2, True), equal(Own(1, 0), Const(1))
    left = without_given(guards(one, kept[1], entry=(rank, kept[0])), {2})
    assert left.entry == (kept[0],) and left.steps == (kept[1],) and left.operands == (0, 1)


def test_given_operands_that_a_step_reads_are_listed():
    calc = Calc("m + n", (("m", Own(0, 0)), ("n", Own(2, 1))))
    for step in (
        Meet(Own(2, 0), 1, True, ""),
        MeetFront(2, 1, "meet", ""),
        equal(Own(2, 0), DomainDim(0, 0)),
        equal(Own(0, 0), Own(2, 0)),
        equal(Own(1, 0), calc),
    ):
        assert without_given(guards(step), {2}).operands == (0, 1, 2)
    assert without_given(guards(Meet(Own(1, 0), 1, True, "")), {2}).operands == (0, 1)
