"""The shape function of a kernel: its guards, printed as a program of the shape dialect that sizes its results.

In: a loop program.  Out: a :class:`Program`, from the extents of the operands to those of the results.

    %0.1 = 4; meet %0.0 at d0; meet %1.0 at d0  ->  cstr_require, cstr_broadcastable; assuming { broadcast }

It does not decide what is checked: the guards do (`guards/build.py`), from which the C is printed, too.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from ..shape.dialect.program import Program
from ..shape.dialect.trace import op, program
from .guard_program.arithmetic import conditions_of, value_of
from .guard_program.ir import (
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
    Own,
    ReducedShape,
    ResultHasRank,
    Term,
    Widen,
)
from .nest import LoopProgram

__all__ = ["shape_function"]


def shape_function(loops: LoopProgram, name: str) -> Program:
    """Return the program that gives the results' extents.

    Parameters
    ----------
    loops : the kernel's nests.
    name : the program's name.

    Returns
    -------
    Program
        Its operands and results are extent tensors; it has one operand for each operand that a call gives.
    """
    guards = loops.guards
    own = len(loops.operands) - len(loops.reduced)
    given = loops.operands[: own - loops.constants]
    types = {
        operand: "tensor<?xindex>" if type_.rank is None else f"tensor<{type_.rank}xindex>" for operand, type_ in given
    }
    seen = {operand for nest in guards.nests for operand in nest.operands}

    def body(**given_values: Any) -> Any:
        values = list(given_values.values())
        for at, (_, type_) in enumerate(loops.operands[len(given) : own], len(given)):
            extents = tuple(dim.extent for dim in type_.dims)
            made = op("const_shape")(extents, type=f"tensor<{len(extents)}xindex>") if at in seen else None
            values.append(made)
        # What reductions give is made of the domains of their nests.
        values += [None] * len(loops.reduced)
        domains: list[Any] = []
        claimed: list[Any] = []
        for at in range(len(guards.nests)):
            printer = _Printer(guards, at, values, domains)
            reduced = [one for one in guards.reduced if one.nest == at]
            if reduced:
                # A result's extents need not come from those of reduced values, but need the checks of these to hold.
                shape, asked = printer.spanned()
                domains.append(shape)
                claimed += [*printer.asked, *asked]
                for one in reduced:
                    values[one.operand] = printer.reduced(one, shape)
            elif at in guards.stored:
                domains.append(printer.shape(claimed))
            else:
                shape, asked = printer.spanned()
                domains.append(shape)
                claimed += asked
        made = tuple(domains[nest] for nest in guards.stored[len(guards.reduced) :])
        return made if len(made) > 1 else made[0]

    return program(name, body, **types)


class _Printer:
    """Writes the guards of one nest, and the extents of its domain.

    Attributes
    ----------
    values : the extents of the operands, by number; `domains` has those of the domains of the nests before.
    met : for each dim of the domain that no step defines, the operands' dims that may set its extent.
    asked : the witnesses that operands fit, once `spanned` has written them.
    """

    def __init__(self, guards: GuardProgram, at: int, values: list[Any], domains: list[Any]) -> None:
        self.guards = guards
        self.at = at
        self.nest: NestGuards = guards.nests[at]
        self.values = values
        self.domains = domains
        self.defined: dict[int, Define] = {define.at: define for define in self.nest.defines}
        self.met: dict[int, list[Own]] = {}
        for step in self.nest.steps:
            if isinstance(step, (Meet, Widen)) and step.at not in self.defined:
                self.met.setdefault(step.at, []).append(step.term)
        self.made: dict[Any, Any] = {}
        self.asked: list[Any] = []

    def shape(self, claimed: list[Any]) -> Any:
        """Return the domain's extents, under the witnesses of all checks, those in `claimed` included."""
        shape, declared = self.spanned()
        return self._assuming([*claimed, *declared], lambda: shape)

    def spanned(self) -> tuple[Any, list[Any]]:
        """Return the extents that the operands span, and the witnesses that they fit declared results and claims."""
        steps = (*self.nest.entry, *self.nest.steps)
        asked = [witness for step in steps for witness in self._of_operands(step)] + self._meetings() + self._spans()
        self.asked = asked
        shape = self._assuming(asked, self._domain)
        ties = [tie for tie in self.guards.ties if isinstance(tie.actual, DomainDim) and tie.actual.nest == self.at]
        return shape, [self._of_result(step, shape) for step in (*self.nest.results, *ties) if _is_asked(step)]

    def reduced(self, one: ReducedShape, domain: Any) -> Any:
        """Return the extents of what a reduction gives, given those of its nest's domain."""
        dims = [at for at in range(self.nest.least_rank) if one.keepdims or at not in one.axes]
        if not dims:
            return self._op("const_shape", (), type="tensor<0xindex>")
        extents = [self._op("constant", 1) if at in one.axes else self._of(domain, at) for at in dims]
        return self._op("to_extent_tensor", self._op("from_extents", *extents), type=f"tensor<{len(dims)}xindex>")

    def _assuming(self, witnesses: list[Any], body: Any) -> Any:
        if not witnesses:
            return body()
        witness = witnesses[0] if len(witnesses) == 1 else op("assuming_all")(*witnesses)
        return op("assuming")(witness, lambda: self._inside(body))

    def _inside(self, body: Any) -> Any:
        """Write a region: it may use earlier values, and no value defined in it may be used after it."""
        before, self.made = self.made, dict(self.made)
        try:
            return body()
        finally:
            self.made = before

    def _op(self, name: str, *operands: Any, **attributes: Any) -> Any:
        """Write an operation and return its value, or return the value of an equal one that is visible here."""
        if name not in ("constant", "const_shape"):
            operands = tuple(self._op("constant", given) if isinstance(given, int) else given for given in operands)
        key = (name, operands, tuple(attributes.items()))
        if key not in self.made:
            self.made[key] = op(name)(*operands, **attributes)
        return self.made[key]

    # ---- checks

    def _of_operands(self, step: object) -> list[Any]:
        """Return the witnesses of a step that involves operands alone, or a defined dim of the domain."""
        match step:
            case HasRank(operand=at, rank=rank, exact=False) if rank:
                test = self._compare("sge", self._op("rank", self.values[at]), rank)
                return [self._require(self.guards.says(step), test)]
            case HasDomainRank(operand=at):
                return [self._require(self.guards.says(step), self._has_rank_or_none(at))]
            case Check() if not self._is_of_span(step):
                return [self._require(step.says, self._test(step))]
            case Meet(term=term, at=at, says=says) if at in self.defined and not self.nest.whole:
                return [self._require(says, self._fits(self._value(term), self._met(at)))]
        return []

    def _is_of_span(self, step: Check) -> bool:
        """Whether a check compares with a dim of an open domain, which all operands span together."""
        return self.nest.open and isinstance(step.expected, DomainDim)

    def _meetings(self) -> list[Any]:
        """Return the witnesses that extents which meet in a dim without a define are equal or 1."""
        if self.nest.whole:
            asked = any(isinstance(step, (Meet, MeetFront)) and step.says for step in self.nest.steps)
            asked = asked or (
                self.nest.open and any(isinstance(s, Check) and self._is_of_span(s) for s in self.nest.steps)
            )
            return [self._op("cstr_broadcastable", *self._shapes())] if asked and len(self._shapes()) > 1 else []
        dims = dict.fromkeys(step.at for step in self.nest.steps if isinstance(step, Meet) and step.at in self.met)
        found = [list(dict.fromkeys(self.met[at])) for at in sorted(dims)]
        return [self._op("cstr_broadcastable", *map(self._vector, terms)) for terms in found if len(terms) > 1]

    def _spans(self) -> list[Any]:
        """Return the witnesses of the checks of the extents that operands of unknown rank span."""
        if not self.nest.open:
            return []
        found = []
        for define in self.nest.defines if len(self.nest.whole) > 1 else ():
            # Operands that meet a constant extent span it, unless it is 1; only other defines need a test.
            if isinstance(define.term, Own) or define.term.extent == 1:
                test = self._compare("eq", self._met(define.at), self._value(define.term))
                found.append(self._require(f"d[{define.at}] = {self._shown(define.term)}", test))
        for step in dict.fromkeys(self.nest.steps):
            if isinstance(step, Check) and self._is_of_span(step):
                found.append(self._require(step.says, self._test(step)))
            elif isinstance(step, MeetFront) and step.how == "match":
                found.append(self._op("cstr_eq", *self._fronts(step)))
        return found

    def _fronts(self, step: MeetFront) -> tuple[Any, Any]:
        """Return the front of an operand, and the part of the domain that it lies in."""
        own, domain = self.values[step.operand], self._domain()
        lead = self._op("subi", self._op("rank", domain), self._op("rank", own))
        there = self._op("split_at", domain, lead)[1]
        if step.known:
            return tuple(self._op("split_at", shape, -step.known)[0] for shape in (own, there))
        return own, there

    def _of_result(self, step: object, shape: Any) -> Any:
        """Return the witness of a declared result type, or of a claim."""
        match step:
            case ResultHasRank(subject=subject, rank=rank, exact=exact):
                says = f"{self.guards.named[subject]}.rank {'=' if exact else '>='} {rank}"
                return self._require(says, self._compare("eq" if exact else "sge", self._op("rank", shape), rank))
            case Check(says=says):
                return self._require(says, self._test(step, shape))
        raise AssertionError(step)

    # ---- the domain

    def _domain(self) -> Any:
        if self.nest.whole:
            shapes = self._shapes()
            return self._op("broadcast", *shapes) if len(shapes) > 1 else shapes[0]
        rank = self.nest.least_rank
        if rank == 0:
            return self._op("const_shape", (), type="tensor<0xindex>")
        extents = [self._met(at) for at in range(rank)]
        made = self._op("from_extents", *extents)
        return self._op("to_extent_tensor", made, type=f"tensor<{rank}xindex>")

    def _met(self, at: int) -> Any:
        """Return the extent of one dim of the domain."""
        if self.nest.open:
            return self._of(self._domain(), at)
        if at in self.defined:
            return self._value(self.defined[at].term)
        if self.nest.whole:
            return self._of(self._domain(), at)
        vectors = [self._vector(term) for term in dict.fromkeys(self.met.get(at, []))]
        if not vectors:
            return self._op("constant", 1)
        return self._of(self._op("broadcast", *vectors) if len(vectors) > 1 else vectors[0], 0)

    def _has_rank_or_none(self, operand: int) -> Any:
        """Return whether an operand has the domain's rank or rank 0: a scalar fits every rank."""
        rank = self._op("rank", self.values[operand])
        is_scalar = self._compare("eq", rank, 0)
        return self._op("select", is_scalar, is_scalar, self._compare("eq", rank, self._rank()))

    def _rank(self) -> Any:
        ranks = [self._op("rank", shape) for shape in self._shapes()]
        largest = ranks[0]
        for rank in ranks[1:]:
            largest = self._op("maxsi", largest, rank)
        return largest

    # ---- pieces

    def _shapes(self) -> list[Any]:
        return [self.values[operand] for operand in self.nest.whole]

    def _vector(self, term: Own) -> Any:
        made = self._op("from_extents", self._value(term))
        return self._op("to_extent_tensor", made, type="tensor<1xindex>")

    def _shown(self, term: Const | Own) -> str:
        return str(term.extent) if isinstance(term, Const) else f"{self.guards.named[term.operand]}.{term.dim}"

    def _value(self, term: Term, shape: Any = None) -> Any:
        match term:
            case Const(extent=extent):
                return self._op("constant", extent)
            case Own(operand=operand, dim=dim):
                return self._of(self.values[operand], dim)
            case DomainDim(nest=nest, at=at) if nest != self.at:
                return self._of(self.domains[nest], at)
            case Calc():
                return value_of(term, self)
        return self._met(term.at) if shape is None else self._of(shape, term.at)

    def _of(self, shape: Any, dim: int) -> Any:
        at = dim if dim >= 0 else self._op("subi", self._op("rank", shape), -dim)
        return self._op("get_extent", shape, at)

    def _test(self, step: Check, shape: Any = None) -> Any:
        if step.test == "countable":
            assert isinstance(step.expected, Calc)
            first, *rest = conditions_of(step.expected, self)
            return reduce(lambda x, y: self._op("andi", x, y), rest, first)
        actual, expected = self._value(step.actual, shape), self._value(step.expected, shape)
        match step.test:
            case "one_or_eq":
                return self._fits(actual, expected)
            case "multiple":
                return self._compare("eq", self._op("muli", self._op("divsi", actual, expected), expected), actual)
        return self._compare({"eq": "eq", "ge": "sge", "le": "sle"}[step.test], actual, expected)

    # ---- the arithmetic of computed extents (guard_program/arithmetic.py)

    def own(self, own: Own) -> Any:
        """Return the extent of an operand's dim."""
        return self._value(own)

    def number(self, number: int) -> Any:
        """Return a constant."""
        return self._op("constant", number)

    def binary(self, name: str, x: Any, y: Any) -> Any:
        """Return what an operation gives."""
        return self._op(name, x, y)

    def compare(self, predicate: str, x: Any, y: Any) -> Any:
        """Return a comparison's outcome."""
        return self._compare(predicate, x, y)

    def _compare(self, predicate: str, x: Any, y: Any) -> Any:
        return self._op("cmpi", x, y, predicate=predicate)

    def _fits(self, extent: Any, expected: Any) -> Any:
        is_one = self._compare("eq", extent, 1)
        return self._op("select", is_one, is_one, self._compare("eq", extent, expected))

    def _require(self, says: str, test: Any) -> Any:
        return self._op("cstr_require", test, msg=f"{says} does not hold")


def _is_asked(step: object) -> bool:
    return isinstance(step, (ResultHasRank, Check))
