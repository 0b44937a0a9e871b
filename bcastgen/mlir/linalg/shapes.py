"""Prints the guards of a kernel as assertions, and its domains' extents, in MLIR of index, arith and cf.

In: a nest of a program with guards.  Out: lines of a block, and the extents of its domain: numbers, or names of values.

    meet %0.0 at d0  ->  cf.assert %ok, "a.0 in {1, d0} does not hold"

The extent at which operands meet is the first one that is not 1, never the largest: 0 with 1 is 0. Extents that the
operands' MLIR types know are not checked again.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import reduce
from typing import TypeAlias

from ...core.errors import BcastgenError
from ...loops.guard_program.arithmetic import conditions_of, value_of
from ...loops.guard_program.ir import (
    Calc,
    Check,
    Const,
    DomainDim,
    HasDomainRank,
    Meet,
    MeetFront,
    Own,
    Term,
    Widen,
)
from ...loops.guard_program.ir import Test as Predicate
from ...loops.nest import Access, LoopProgram, Nest
from .block import TextBlock, quoted
from .types import declared_type

__all__ = ["Extent", "Shapes", "Test"]

Extent: TypeAlias = int | str
Test: TypeAlias = bool | str
_FOLDED: dict[str, Callable[[int, int], int]] = {
    "addi": operator.add,
    "subi": operator.sub,
    "muli": operator.mul,
    "divsi": operator.floordiv,
    "minsi": min,
    "maxsi": max,
}


class Shapes:
    """Writes extents and checks into a block.

    Parameters
    ----------
    block : the block of the function.
    program : the program with the nests.
    values : the name of each operand in the function.
    """

    def __init__(self, block: TextBlock, program: LoopProgram, values: tuple[str, ...]) -> None:
        self.block = block
        self.program = program
        self.values = dict(zip((name for name, _ in program.operands), values, strict=True))
        self.types = dict(program.operands)
        # The extents of operands that stand for no tensor: those that a shape function gives.
        self.given: dict[str, Extent] = {}
        self.reduced = {program.operands[one.operand][0]: one for one in program.guards.reduced}

    def extent(self, operand: str, dim: int) -> Extent:
        """Return the extent of an operand's dim."""
        type_ = self.types[operand]
        if operand in self.given:
            return self.given[operand]
        static = type_.dims[dim].extent
        if static is not None:
            return static
        if operand in self.reduced:
            # What a reduction gives has the extents of its nest's domain, and may not be there yet.
            one = self.reduced[operand]
            rank = self.program.guards.nests[one.nest].least_rank
            dims = [at for at in range(rank) if one.keepdims or at not in one.axes]
            return self._domain_extent(one.nest, dims[dim])
        shown = f"{self.values[operand]}, {self.index(dim % len(type_.dims))} : {declared_type(type_)}"
        return self.block.op(f"{operand}_{dim}", f"tensor.dim {shown}")

    def index(self, extent: Extent) -> str:
        """Return an extent as a value."""
        return extent if isinstance(extent, str) else self.block.constant(extent, "index")

    def is_one(self, operand: str, dim: int) -> Test:
        """Return whether an operand's dim has the extent 1."""
        return self._compare("eq", self.extent(operand, dim), 1)

    def is_domain(self, nest: Nest, operand: str, dim: int, at: int) -> Test:
        """Return whether an operand's dim has the extent of a dim of a nest's domain."""
        return self._compare("eq", self.extent(operand, dim), self.domain(nest)[at])

    def may_stretch(self, nest: Nest, access: Access) -> bool:
        """Return whether a dim of an operand may be 1 where the domain's is not."""
        stretching = [(own, index.dim) for own, index in enumerate(access.map.indices) if index.stretches]
        if not self.reduced or None in (dim for _, dim in stretching):
            return bool(stretching)
        return any(self.is_domain(nest, access.name, own, dim or 0) is not True for own, dim in stretching)

    def meeting(self, nest: Nest, at: int) -> frozenset[tuple[str, int]]:
        """Return the operands' dims that meet in a dim of a nest's domain, which has the extent of one of them.

        The result is empty if types say whose extent the domain has.
        """
        guards = self.program.guards.nests[self.program.nests.index(nest)]
        if any(define.at == at for define in guards.defines):
            return frozenset()
        terms = (step.term for step in guards.steps if isinstance(step, (Meet, Widen)) and step.at == at)
        return frozenset((self.program.operands[term.operand][0], term.dim) for term in terms)

    def within(self, block: TextBlock) -> Shapes:
        """Return shapes that write into a block inside this one's."""
        made = Shapes(block, self.program, tuple(self.values.values()))
        made.given = self.given
        return made

    def domain(self, nest: Nest) -> tuple[Extent, ...]:
        """Return the extents of a nest's domain."""
        return self._domain(self.program.nests.index(nest))

    def check(self, nest: Nest) -> None:
        """Write an assertion for each step of a nest's guards that types do not prove."""
        at = self.program.nests.index(nest)
        guards = self.program.guards
        # Ties compare extents of several nests, so they come last, as in C.
        ties = guards.ties if at == len(guards.nests) - 1 else ()
        for step in (*guards.nests[at].entry, *guards.nests[at].steps, *guards.nests[at].results, *ties):
            test, says = self._test(at, step)
            if test is True:
                continue
            holds = test if isinstance(test, str) else self.block.constant(False, "i1")
            self.block.once(f"cf.assert {holds}, {quoted(f'{says} does not hold')}")

    def _domain(self, nest: int) -> tuple[Extent, ...]:
        return tuple(self._domain_extent(nest, at) for at in range(self.program.guards.nests[nest].least_rank))

    def _domain_extent(self, nest: int, at: int) -> Extent:
        guards = self.program.guards.nests[nest]
        known = next((define.term for define in guards.defines if define.at == at), None)
        if known is not None:
            return self._value(known)
        met: Extent = 1
        # The extents that meet there, in order: the first that is not 1 wins.
        terms = [step.term for step in guards.steps if isinstance(step, (Meet, Widen)) and step.at == at]
        for term in dict.fromkeys(terms):
            extent = self._value(term)
            if met == 1:
                met = extent
                continue
            if met == extent:
                continue
            one = self._compare("eq", met, 1)
            met = self.block.op(f"d{at}", f"arith.select {one}, {self.index(extent)}, {self.index(met)} : index")
        return met

    def _value(self, term: Term) -> Extent:
        if isinstance(term, Const):
            return term.extent
        if isinstance(term, DomainDim):
            return self._domain_extent(term.nest, term.at)
        if isinstance(term, Calc):
            made = value_of(term, self)
            assert not isinstance(made, bool)
            return made
        return self.extent(self.program.operands[term.operand][0], term.dim)

    def _test(self, nest: int, step: object) -> tuple[Test, str]:
        match step:
            case Check(test="countable", expected=Calc() as calc, says=says):
                return self._all(conditions_of(calc, self)), f"the computation of {says}"
            case Check(test=test, actual=actual, expected=expected, says=says):
                return self._holds(test, self._value(actual), self._value(expected)), says
            case Meet(term=term, at=at, says=says):
                return self._fits(self._value(term), self._domain_extent(nest, at)), says
            case HasDomainRank(operand=operand):
                name, type_ = self.program.operands[operand]
                rank = self.program.guards.nests[nest].least_rank
                return len(type_.dims) in (0, rank), f"{name}.rank = {rank}"
            case MeetFront(says=says):
                raise BcastgenError(f"linalg cannot check '{says}', which is about ranks; declare them")
        # Types prove the other steps: every rank is known, and no extent of a tensor is below 0.
        return True, ""

    def _holds(self, test: Predicate, actual: Extent, expected: Extent) -> Test:
        match test:
            case "eq":
                return self._compare("eq", actual, expected)
            case "one_or_eq":
                return self._fits(actual, expected)
            case "ge":
                return self._compare("sge", actual, expected)
            case "le":
                return self._compare("sle", actual, expected)
        if isinstance(actual, int) and isinstance(expected, int):
            return actual % expected == 0
        rest = self.block.op("rest", f"arith.remui {self.index(actual)}, {self.index(expected)} : index")
        return self._compare("eq", rest, 0)

    # ---- the arithmetic of computed extents (loops/guard_program/arithmetic.py)

    def own(self, own: Own) -> Extent:
        """Return the extent of an operand's dim."""
        return self._value(own)

    def number(self, number: int) -> Extent:
        """Return a constant."""
        return number

    def binary(self, name: str, x: Extent, y: Extent) -> Extent:
        """Return what an operation gives."""
        if isinstance(x, int) and isinstance(y, int):
            return _FOLDED[name](x, y)
        return self.block.op("extent", f"arith.{name} {self.index(x)}, {self.index(y)} : index")

    def compare(self, predicate: str, x: Extent, y: Extent) -> Test:
        """Return a comparison's outcome."""
        return self._compare(predicate, x, y)

    # ---- pieces

    def _all(self, tests: list[Test | Extent]) -> Test:
        if False in tests:
            return False
        asked = [test for test in tests if isinstance(test, str)]
        return reduce(lambda x, y: self.block.op("fits", f"arith.andi {x}, {y} : i1"), asked) if asked else True

    def _compare(self, predicate: str, x: Extent, y: Extent) -> Test:
        if isinstance(x, int) and isinstance(y, int):
            return {"eq": x == y, "sge": x >= y, "sle": x <= y}[predicate]
        if x == y:
            return True
        wanted = f"{x}_is_{y}" if predicate == "eq" and isinstance(y, int) else "holds"
        return self.block.op(wanted.strip("%"), f"arith.cmpi {predicate}, {self.index(x)}, {self.index(y)} : index")

    def _fits(self, extent: Extent, expected: Extent) -> Test:
        """Return whether an extent is 1 or the one expected."""
        one, same = self._compare("eq", extent, 1), self._compare("eq", extent, expected)
        if one is True or same is True:
            return True
        if isinstance(one, str) and isinstance(same, str):
            return self.block.op("fits", f"arith.ori {one}, {same} : i1") if one != same else one
        return one if isinstance(one, str) else same
