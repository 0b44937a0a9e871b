"""The guards of kernels of known ranks, held by a solver to what the semantics ask, for all extents.

What is asked is the list of decisions, proved ones as well as checked ones, each spelled here once more.
"""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import pytest
import z3

import bcastgen as bg
from bcastgen.loops import guard_ir as ir
from bcastgen.shape import constraints as asked
from shape_kernels import make_kernel
from shape_sides import product

CASES = sorted((Path(__file__).parents[2] / "cases").glob("*.case"))
PROGRAMS = [path.read_text().splitlines()[0][8:] for path in CASES if path.read_text().startswith("program ")]
SEEDS = range(8)
PER_SEED = 7
TIMEOUT_MS = 5000


class Symbolic:
    """A guard program over unknowns: whether it passes, and the extents of each domain."""

    def __init__(self, program):
        self.program, self.guards = program, program.guards
        self.own = {
            (at, dim): z3.Int(f"{name}.{dim}")
            for at, (name, type_) in enumerate(program.operands)
            for dim in range(len(type_.dims))
        }
        self.passes = []
        self.domains = []
        for nest in self.guards.nests:
            self.nest(nest)
        self.passes += [self.check(tie) for tie in self.guards.ties]
        self.given = [extent >= 0 for extent in self.own.values()]

    def nest(self, nest):
        extents = [z3.IntVal(1)] * nest.least_rank
        self.domains.append(extents)
        for define in nest.defines:
            extents[define.at] = self.term(define.term)
        for step in (*nest.entry, *nest.steps, *nest.results):
            match step:
                case ir.Meet(term=term, at=at):
                    own, met = self.term(term), extents[at]
                    self.passes.append(z3.Or(own == 1, own == met, met == 1))
                    extents[at] = z3.If(met == 1, own, met)
                case ir.Widen(term=term, at=at):
                    extents[at] = z3.If(extents[at] == 1, self.term(term), extents[at])
                case ir.Check():
                    self.passes.append(self.check(step))
                case ir.NotNegative() | ir.HasRank() | ir.Overflow():
                    pass  # Ranks are those of the types, extents 0 or more, and numbers as large as need be.
                case ir.HasDomainRank(operand=operand):
                    rank = len(self.program.operands[operand][1].dims)
                    self.passes.append(z3.BoolVal(rank in (0, nest.least_rank)))
                case ir.ResultHasRank(rank=rank, exact=exact):
                    self.passes.append(z3.BoolVal(nest.least_rank == rank if exact else nest.least_rank >= rank))
                case _:
                    raise AssertionError(step)

    def term(self, term):
        match term:
            case ir.Const(extent=extent):
                return z3.IntVal(extent)
            case ir.Own(operand=operand, dim=dim):
                return self.own[operand, dim]
        return self.domains[term.nest][term.at]

    def check(self, step):
        actual, expected = self.term(step.actual), self.term(step.expected)
        return {
            "eq": lambda: actual == expected,
            "one_or_eq": lambda: z3.Or(actual == 1, actual == expected),
            "ge": lambda: actual >= expected,
            "le": lambda: actual <= expected,
            "multiple": lambda: actual % expected == 0,
        }[step.test]()

    def operand(self, name, dim):
        at = next(at for at, (operand, _) in enumerate(self.program.operands) if operand == name)
        return self.own[at, dim]

    def named(self, at, name, dim):
        """The extent of a dim of an operand, or of a result or claim of any nest, this one's first."""
        if any(operand == name for operand, _ in self.program.operands):
            return self.operand(name, dim)
        order = [at, *range(len(self.program.nests))]
        home = next(nest for nest in order if any(a.name == name for a in self.program.nests[nest].named))
        return self.domains[home][dim]

    def holds(self, at, c):
        """What a constraint says, or None of a rank: those are the types'."""
        domain = self.domains[at]
        match c:
            case (
                asked.RankIs() | asked.RankAtLeast() | asked.SameRank() | asked.ResultRank() | asked.ResultRankAtLeast()
            ):
                return None
            case asked.ExtentIs(operand=a, dim=dim, extent=extent):
                return self.operand(a, dim) == extent
            case asked.AtLeast(operand=a, dim=dim, bound=bound):
                return self.operand(a, dim) >= bound
            case asked.AtMost(operand=a, dim=dim, bound=bound):
                return self.operand(a, dim) <= bound
            case asked.MultipleOf(operand=a, dim=dim, bound=bound):
                return self.operand(a, dim) % bound == 0
            case asked.Stretches(operand=a, dim=dim, domain_dim=to, extent=extent):
                own = self.operand(a, dim)
                return z3.Or(own == 1, own == (domain[to] if extent is None else extent))
            case asked.Equals(operand=a, dim=dim, domain_dim=to, extent=extent):
                return self.operand(a, dim) == (domain[to] if extent is None else extent)
            case asked.Fits(operand=a, dim=dim, other=b, other_dim=other):
                return z3.Or(self.operand(a, dim) == 1, self.operand(a, dim) == self.operand(b, other))
            case asked.EqualsExtent(operand=a, dim=dim, other=b, other_dim=other):
                return self.operand(a, dim) == self.operand(b, other)
            case asked.SameExtent(operand=a, dim=dim, other=b, other_dim=other):
                return self.operand(a, dim) == self.operand(b, other)
            case asked.ResultExtent(domain_dim=to, extent=extent):
                return domain[to] == extent
            case asked.ResultSame(domain_dim=to, other=b, other_dim=other):
                return domain[to] == self.named(at, b, other)
            case asked.ResultAtLeast(domain_dim=to, bound=bound):
                return domain[to] >= bound
            case asked.ResultAtMost(domain_dim=to, bound=bound):
                return domain[to] <= bound
            case asked.ResultMultipleOf(domain_dim=to, bound=bound):
                return domain[to] % bound == 0
        raise AssertionError(c)


def in_bounds(symbolic, at, access):
    """Each own dim is that of the domain, or 1 where the map then stands still."""
    for own, index in enumerate(access.map.indices):
        extent = symbolic.own[access.position, own]
        if index.dim is None:
            yield extent == 1
        elif index.stretches:
            yield z3.Or(extent == 1, extent == symbolic.domains[at][index.dim])
        else:
            yield extent == symbolic.domains[at][index.dim]


def proves(given, claim):
    solver = z3.Solver()
    solver.set("timeout", TIMEOUT_MS)
    solver.add(*given, z3.Not(claim))
    answer = solver.check()
    assert answer != z3.unknown, "the solver gave up"
    return answer == z3.unsat, solver


def hold(program):
    """Everything that is asked follows from the steps, and the steps from it; and nothing is read out of bounds."""
    symbolic = Symbolic(program)
    passed = [*symbolic.given, *symbolic.passes]
    said = []
    for at, nest in enumerate(program.nests):
        for decision in nest.domain.decisions:
            formula = symbolic.holds(at, decision.constraint)
            if formula is None:
                continue
            said.append(formula)
            follows, solver = proves(passed, formula)
            assert follows, f"{decision}\n{solver.model()}\n{program.guards}"
        for access in nest.operands:
            for formula in in_bounds(symbolic, at, access):
                follows, solver = proves(passed, formula)
                assert follows, f"{access.name} is read out of bounds: {formula}\n{solver.model()}\n{program.guards}"
    follows, solver = proves([*symbolic.given, *said], z3.And(*symbolic.passes))
    assert follows, f"more is checked than asked\n{solver.model()}\n{program.constraints}\n{program.guards}"


def is_ranked(program):
    return not any(type_.unranked for _, type_ in program.operands)


@pytest.mark.parametrize("text", PROGRAMS)
def test_the_guards_of_the_goldens_are_what_is_asked(text):
    program = bg.from_text(text).compilation.program
    if is_ranked(program):
        hold(program)


@pytest.mark.parametrize("seed", [*SEEDS, *(pytest.param(s, marks=pytest.mark.slow) for s in range(100, 140))])
def test_the_guards_of_random_kernels_are_what_is_asked(seed):
    chance, held = random.Random(seed), 0
    while held < PER_SEED:
        kernel = make_kernel(chance)
        if any(operand.type.open for operand in kernel.operands):
            continue
        try:
            program = product(kernel).compilation.program
        except bg.BcastgenError as error:
            assert "internal" not in str(error)
            continue
        hold(program)
        held += 1


def test_a_step_that_is_missing_is_missed():
    """What the tests above see: without any one of its steps, a program is not what is asked."""
    program = bg.from_text(
        "(f32[n, m] x, f32[?] b, f32[k>=2, ?] c) -> x + broadcast_to(b, (n,)) * c"
    ).compilation.program
    nest = program.guards.nests[0]
    dropped = 0
    for step in nest.steps:
        if isinstance(step, (ir.Meet, ir.Check)):
            left = replace(nest, steps=tuple(other for other in nest.steps if other is not step))
            with pytest.raises(AssertionError):
                hold(replace(program, guards=replace(program.guards, nests=(left,))))
            dropped += 1
    assert dropped >= 4
