"""The guards of kernels, held by a solver to what the semantics ask, for all extents and all ranks up to a bound.

What is asked is the list of decisions, proved ones as well as checked ones, each spelled here once more. An operand of
unknown rank has each rank up to the bound, in all combinations; for one of them the steps are run over unknowns.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import replace

import pytest
import z3

import bcastgen as bg
from bcastgen.loops import guard_ir as ir
from bcastgen.shape import constraints as asked
from shape_kernels import make_kernel
from shape_sides import product
from signatures import PROGRAMS, signature

SEEDS = range(8)
PER_SEED = 7
TIMEOUT_MS = 5000
# Operands of unknown rank have up to so many dims, and more where their types do.
RANKS = 4


class _Domain(list):
    """The extents of a domain; where a rank is refused for a dim that is not there, it is none."""

    def __getitem__(self, at):
        return super().__getitem__(at) if -len(self) <= at < len(self) else z3.IntVal(-1)


class Symbolic:
    """A guard program over unknowns: whether it passes, and the extents of each domain, for operands of some ranks."""

    def __init__(self, program, ranks=None):
        self.program, self.guards = program, program.guards
        self.ranks = ranks or tuple(len(type_.dims) for _, type_ in program.operands)
        self.own = {
            (at, dim): z3.Int(f"{name}.{dim}")
            for at, (name, _) in enumerate(program.operands)
            for dim in range(self.ranks[at])
        }
        self.passes = []
        self.domains: list[_Domain] = []
        for nest in self.guards.nests:
            self.nest(nest)
        self.passes += [self.check(tie) for tie in self.guards.ties]
        self.given = [extent >= 0 for extent in self.own.values()]
        for at in self.guards.constants:
            dims = program.operands[at][1].dims
            self.given += [self.own[at, dim] == known.extent for dim, known in enumerate(dims)]

    def nest(self, nest):
        rank = max([nest.least_rank, *(self.ranks[at] for at in nest.spanning)]) if nest.open else nest.least_rank
        extents, is_set = _Domain([z3.IntVal(1)] * rank), [z3.BoolVal(False)] * rank
        self.domains.append(extents)
        for define in nest.defines:
            extents[define.at], is_set[define.at] = self.term(define.term), z3.BoolVal(define.setter >= 0)
        for step in (*nest.entry, *nest.steps, *nest.results):
            match step:
                case ir.Meet(term=term, at=at):
                    self.meet(self.term(term), at, extents, is_set)
                case ir.Widen(term=term, at=at):
                    is_set[at] = z3.Or(is_set[at], extents[at] == 1)
                    extents[at] = z3.If(extents[at] == 1, self.term(term), extents[at])
                case ir.MeetFront():
                    self.front(step, extents, is_set)
                case ir.Check():
                    self.passes.append(self.check(step))
                case ir.NotNegative() | ir.HasRank() | ir.Overflow():
                    pass  # Ranks are those of the types, extents 0 or more, and numbers as large as need be.
                case ir.HasDomainRank(operand=operand):
                    self.passes.append(z3.BoolVal(self.ranks[operand] in (0, rank)))
                case ir.ResultHasRank(rank=wanted, exact=exact):
                    self.passes.append(z3.BoolVal(rank == wanted if exact else rank >= wanted))
                case _:
                    raise AssertionError(step)

    def meet(self, own, at, extents, is_set):
        met = extents[at]
        self.passes.append(z3.Or(own == 1, own == met, met == 1))
        is_set[at] = z3.Or(is_set[at], z3.And(met == 1, own != 1))
        extents[at] = z3.If(met == 1, own, met)

    def front(self, step, extents, is_set):
        rank = self.ranks[step.operand]
        for dim in range(rank - step.known):
            own, at = self.own[step.operand, dim], dim - rank
            if step.how == "meet":
                self.meet(own, at, extents, is_set)
                continue
            if step.how == "match":
                self.passes.append(z3.Implies(is_set[at], own == extents[at]))
            extents[at], is_set[at] = z3.If(is_set[at], extents[at], own), z3.BoolVal(True)

    def term(self, term):
        match term:
            case ir.Const(extent=extent):
                return z3.IntVal(extent)
            case ir.Own(operand=operand, dim=dim):
                return self.own[operand, dim % self.ranks[operand]]
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

    def number(self, name):
        return next(at for at, (operand, _) in enumerate(self.program.operands) if operand == name)

    def operand(self, name, dim):
        at = self.number(name)
        return self.own[at, dim % self.ranks[at]]

    def aligned(self, at, name, known=0):
        """The dims of an operand before its `known` last ones, each with the domain's at its place."""
        number, domain = self.number(name), self.domains[at]
        rank = self.ranks[number]
        return [(self.own[number, dim], domain[dim - rank]) for dim in range(rank - known)]

    def named(self, at, name, dim):
        """The extent of a dim of an operand, or of a result or claim of any nest, this one's first."""
        if any(operand == name for operand, _ in self.program.operands):
            return self.operand(name, dim)
        order = [at, *range(len(self.program.nests))]
        home = next(nest for nest in order if any(a.name == name for a in self.program.nests[nest].named))
        return self.domains[home][dim]

    def holds(self, at, c):
        """What a constraint says, or None of an operand's rank alone: that is its type's."""
        domain = self.domains[at]
        match c:
            case asked.RankIs() | asked.RankAtLeast():
                return None
            case asked.SameRank(operand=a, other=b):
                return z3.BoolVal({self.ranks[self.number(name)] for name in (a, b)} <= {0, len(domain)})
            case asked.ResultRank(rank=rank):
                return z3.BoolVal(len(domain) == rank)
            case asked.ResultRankAtLeast(rank=rank):
                return z3.BoolVal(len(domain) >= rank)
            case asked.StretchesAll(operand=a):
                return z3.And([z3.Or(own == 1, own == to) for own, to in self.aligned(at, a)])
            case asked.EqualsAll(operand=a, known=known):
                return z3.And([own == to for own, to in self.aligned(at, a, known)])
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
    domain, known = symbolic.domains[at], len(access.map.indices)
    for own, index in enumerate(access.map.indices):
        extent = symbolic.operand(access.name, own - known)
        if index.dim is None:
            yield extent == 1
            continue
        to = domain[index.dim - access.map.domain_rank]
        yield z3.Or(extent == 1, extent == to) if index.stretches else extent == to
    for extent, to in symbolic.aligned(at, access.name, known) if access.map.open else ():
        yield z3.Or(extent == 1, extent == to) if access.map.front_stretches else extent == to


def proves(given, claim):
    solver = z3.Solver()
    solver.set("timeout", TIMEOUT_MS)
    solver.add(*given, z3.Not(claim))
    answer = solver.check()
    assert answer != z3.unknown, "the solver gave up"
    return answer == z3.unsat, solver


def hold(program, ranks=None):
    """Everything that is asked follows from the steps, and the steps from it; and nothing is read out of bounds."""
    symbolic = Symbolic(program, ranks)
    passed = [*symbolic.given, *symbolic.passes]
    said, bounds = {}, {}
    for at, nest in enumerate(program.nests):
        for decision in nest.domain.decisions:
            formula = symbolic.holds(at, decision.constraint)
            if formula is not None:
                said[at, str(decision)] = formula
        # What types tell of the domain holds, too: a 1 that does not stretch makes it 1.
        for dim, known in zip(range(-len(nest.domain.dims), 0), nest.domain.dims, strict=True):
            if known.extent is not None:
                said[at, f"d[{dim}] is {known}"] = symbolic.domains[at][dim] == known.extent
        for access in nest.operands:
            for formula in in_bounds(symbolic, at, access):
                bounds[at, f"{access.name} is read in bounds: {formula}"] = formula
    follows, solver = proves(passed, z3.And(*said.values(), *bounds.values()))
    if not follows:
        broken = [key for key, formula in (said | bounds).items() if not proves(passed, formula)[0]]
        raise AssertionError(f"{broken} for ranks {symbolic.ranks}\n{solver.model()}\n{program.guards}")
    follows, solver = proves([*symbolic.given, *said.values()], z3.And(*symbolic.passes))
    assert follows, f"more is checked than asked\n{symbolic.ranks} {solver.model()}\n{program.guards}"


def ranks_of(program, bound=RANKS):
    """Every rank that operands may have, up to a bound, or to what types ask for."""
    return itertools.product(
        *(
            range(len(type_.dims), max(bound, len(type_.dims)) + 1) if type_.unranked else (len(type_.dims),)
            for _, type_ in program.operands
        )
    )


def is_guarded(program):
    """Whether nothing is left to the caller: of what is trusted nothing is asked."""
    return all(decision.fate != "trusted" for nest in program.nests for decision in nest.domain.decisions)


# A read out of bounds each, once.
FOUND = (
    "(f32[*, 3] a, f32[*, k>=2] b) -> a + b",
    "(f32[n, n] a, f32[*, n>=2] b) -> a + b",
    "(f32[*, n>=2, n] a, f32[*, 3, n>=2] b) -> a + b",
    "(f32[n] a, f32[*, n] b, f32[?>=2, m!] c) -> a + b + c",
)


@pytest.mark.parametrize("text", [*PROGRAMS, *FOUND])
def test_the_guards_of_the_goldens_are_what_is_asked(text):
    program = bg.from_text(text).compilation.program
    for ranks in ranks_of(program) if is_guarded(program) else ():
        hold(program, ranks)


def emitted(chance, is_open):
    """The next random kernel, with operands of unknown rank or without, that can be lowered as it stands."""
    while True:
        kernel = make_kernel(chance)
        if is_open != any(operand.type.open for operand in kernel.operands):
            continue
        try:
            return product(kernel).compilation.program
        except bg.BcastgenError as error:
            assert "internal" not in str(error)


@pytest.mark.parametrize("seed", [*SEEDS, *(pytest.param(s, marks=pytest.mark.slow) for s in range(100, 140))])
def test_the_guards_of_random_kernels_are_what_is_asked(seed):
    chance = random.Random(seed)
    for _ in range(PER_SEED):
        hold(emitted(chance, False))


@pytest.mark.parametrize("seed", range(4))
def test_the_guards_of_random_kernels_of_unknown_rank_are_what_is_asked(seed):
    chance = random.Random(seed)
    for _ in range(PER_SEED):
        program = emitted(chance, True)
        combinations = list(ranks_of(program))
        for ranks in chance.sample(combinations, min(5, len(combinations))):
            hold(program, ranks)


@pytest.mark.parametrize("seed", [*range(4), *(pytest.param(s, marks=pytest.mark.slow) for s in range(100, 110))])
def test_the_guards_of_random_signatures_are_what_is_asked_for_all_ranks(seed):
    chance = random.Random(seed)
    for _ in range(12 if seed < 100 else 200):
        program = signature(chance)
        for ranks in ranks_of(program, 3):
            hold(program, ranks)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 120))
def test_the_guards_of_many_kernels_are_what_is_asked_for_all_ranks(seed):
    chance = random.Random(seed)
    for _ in range(20):
        program = emitted(chance, True)
        for ranks in ranks_of(program):
            hold(program, ranks)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("(f32[n, m] x, f32[?] b, f32[k>=2, ?] c) -> x + broadcast_to(b, (n,)) * c", 5),
        ("(f32[*, ?] a, f32[*, ?] b, f32[?, 4] c) -> a * b + c", 6),
        ("(f32[*, 3] a, f32[?, k>=2] b) -> a * b", 4),
    ],
)
def test_a_step_that_is_missing_is_missed(text, steps):
    """What the tests above see: without any one of its steps, a program is not what is asked."""
    program = bg.from_text(text).compilation.program
    nest = program.guards.nests[0]
    dropped = 0
    for step in nest.steps:
        if isinstance(step, (ir.Meet, ir.Check, ir.MeetFront)):
            left = replace(nest, steps=tuple(other for other in nest.steps if other is not step))
            without = replace(program, guards=replace(program.guards, nests=(left,)))
            with pytest.raises(AssertionError):
                for ranks in ranks_of(program):
                    hold(without, ranks)
            dropped += 1
    assert dropped == steps
