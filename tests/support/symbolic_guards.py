"""Guard programs over a solver's unknowns: what the steps make of extents, and what each constraint says of them.

symbolic = Symbolic(program, ranks)      # symbolic.passes, symbolic.domains; symbolic.holds(nest, constraint)
"""

from __future__ import annotations

import z3

from bcastgen.loops.guard_program import ir
from bcastgen.shape import constraints as asked


def value(text, names):
    """What a computed extent is, over the solver's numbers; division rounds down there, too, by a number above 0."""
    functions = {
        "min": lambda x, y: z3.If(x < y, x, y),
        "max": lambda x, y: z3.If(x > y, x, y),
    }
    return eval(text.replace("//", "/"), functions, names)


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
            case ir.Calc():
                return term.compute(self.term, z3.IntVal, self.calculated)
        return self.domains[term.nest][term.at]

    def calculated(self, what, x, y):
        return {
            "plus": lambda: x + y,
            "times": lambda: x * y,
            "minus": lambda: x - y,
            "div": lambda: x / y,
            "min": lambda: z3.If(x < y, x, y),
            "max": lambda: z3.If(x > y, x, y),
        }[what]()

    def check(self, step):
        actual, expected = self.term(step.actual), self.term(step.expected)
        return {
            "eq": lambda: actual == expected,
            "one_or_eq": lambda: z3.Or(actual == 1, actual == expected),
            "ge": lambda: actual >= expected,
            "le": lambda: actual <= expected,
            "multiple": lambda: actual % expected == 0,
            "countable": lambda: z3.BoolVal(True),  # Numbers are as large as need be.
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

    def computed(self, text, places):
        """What a text says of the extents of its names."""
        return value(text, {name: self.operand(operand, dim) for name, operand, dim in places})

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
            case asked.Computed(operand=a, dim=dim, text=text, places=places):
                return self.operand(a, dim) == self.computed(text, places)
            case asked.ResultComputed(domain_dim=to, text=text, places=places):
                return domain[to] == self.computed(text, places)
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
