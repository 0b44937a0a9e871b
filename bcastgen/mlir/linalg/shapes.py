"""Prints the extents of nests' domains, and the checks that types leave open, in the dialects index, arith and cf.

In: a nest.  Out: lines of a block, and the extents of the domain, which are numbers or names of values.

    a.0 in {1, d0}  ->  cf.assert %ok, "a.0 in {1, d0} does not hold"

Operands broadcast to the first extent that is not 1, never to the largest: 0 with 1 is 0. Facts in the operands' MLIR
types are not checked again.
"""

from __future__ import annotations

from typing import TypeAlias

from ...core.errors import BcastgenError
from ...loops.nest import LoopProgram, Nest
from ...shape.constraints import (
    AtLeast,
    AtMost,
    Constraint,
    Equals,
    ExtentIs,
    Fits,
    MultipleOf,
    RankAtLeast,
    RankIs,
    ResultAtLeast,
    ResultAtMost,
    ResultExtent,
    ResultMultipleOf,
    ResultRank,
    ResultRankAtLeast,
    ResultSame,
    SameExtent,
    SameRank,
    Stretches,
)
from .block import TextBlock, quoted
from .types import declared_type

__all__ = ["Extent", "Shapes", "Test"]

Extent: TypeAlias = int | str
Test: TypeAlias = bool | str


class Shapes:
    """Writes extents and checks into a block.

    Parameters
    ----------
    block : the function's block.
    program : has the nests.
    values : the name of each operand in the function.
    """

    def __init__(self, block: TextBlock, program: LoopProgram, values: tuple[str, ...]) -> None:
        self.block = block
        self.program = program
        self.values = dict(zip((name for name, _ in program.operands), values, strict=True))
        self.types = dict(program.operands)

    def extent(self, operand: str, dim: int) -> Extent:
        """Return the extent of an operand's dim."""
        type_ = self.types[operand]
        static = type_.dims[dim].extent
        if static is not None:
            return static
        shown = f"{self.values[operand]}, {self.index(dim % len(type_.dims))} : {declared_type(type_)}"
        return self.block.op(f"{operand}_{dim}", f"tensor.dim {shown}")

    def index(self, extent: Extent) -> str:
        """Return an extent as a value."""
        return extent if isinstance(extent, str) else self.block.constant(extent, "index")

    def is_one(self, operand: str, dim: int) -> Test:
        """Return whether an operand's dim has the extent 1."""
        return self._compare("eq", self.extent(operand, dim), 1)

    def domain(self, nest: Nest) -> tuple[Extent, ...]:
        """Return the extents of a nest's domain."""
        return tuple(self._domain_extent(nest, domain_dim) for domain_dim in range(len(nest.domain.dims)))

    def check(self, nest: Nest) -> None:
        """Write an assertion for each constraint that is left to run time, in the order of the dump."""
        for constraint in nest.domain.constraints:
            test = self._test(nest, constraint)
            if test is True:
                continue
            holds = test if isinstance(test, str) else self.block.constant(False, "i1")
            self.block.once(f"cf.assert {holds}, {quoted(f'{constraint} does not hold')}")

    # ---- the domain

    def _domain_extent(self, nest: Nest, domain_dim: int) -> Extent:
        """Return the extent of a domain's dim: known, that of one operand's dim, or the first that is not 1."""
        known = nest.domain.dims[domain_dim].extent
        if known is not None:
            return known
        source = nest.domain.sources[domain_dim]
        if source is not None:
            return self.extent(*source)
        met: Extent = 1
        for operand, dim in _deciding_dims(nest, domain_dim):
            extent = self.extent(operand, dim)
            if met == 1:
                met = extent
                continue
            one = self._compare("eq", met, 1)
            met = self.block.op(
                f"d{domain_dim}", f"arith.select {one}, {self.index(extent)}, {self.index(met)} : index"
            )
        return met

    # ---- the tests of constraints

    def _test(self, nest: Nest, constraint: Constraint) -> Test:
        match constraint:
            case RankIs() | RankAtLeast() | ResultRank() | ResultRankAtLeast():
                # Every rank is known, so the types prove these.
                return True
            case SameRank(operand=a, other=b):
                ranks = (len(self.types[name].dims) for name in (a, b))
                return all(rank in (0, len(nest.domain.dims)) for rank in ranks)
            case ResultExtent() | ResultSame() | ResultAtLeast() | ResultAtMost() | ResultMultipleOf():
                return self._test_result(nest, constraint)
        return self._test_operand(nest, constraint)

    def _test_operand(self, nest: Nest, constraint: Constraint) -> Test:
        match constraint:
            case ExtentIs(operand=a, dim=dim, extent=extent):
                return self._compare("eq", self.extent(a, dim), extent)
            case SameExtent(operand=a, dim=dim, other=b, other_dim=other):
                return self._compare("eq", self.extent(a, dim), self.extent(b, other))
            case Fits(operand=a, dim=dim, other=b, other_dim=other):
                return self._fits(self.extent(a, dim), self.extent(b, other))
            case Stretches(operand=a, dim=dim, domain_dim=domain_dim, extent=extent):
                return self._fits(self.extent(a, dim), self._expected(nest, domain_dim, extent))
            case Equals(operand=a, dim=dim, domain_dim=domain_dim, extent=extent):
                return self._compare("eq", self.extent(a, dim), self._expected(nest, domain_dim, extent))
            case AtLeast() | AtMost() | MultipleOf():
                return self._test_range(constraint, self.extent(constraint.operand, constraint.dim))
        raise BcastgenError(f"linalg cannot check '{constraint}', which is about ranks; declare them")

    def _test_result(
        self, nest: Nest, constraint: ResultExtent | ResultSame | ResultAtLeast | ResultAtMost | ResultMultipleOf
    ) -> Test:
        actual = self._domain_extent(nest, constraint.domain_dim)
        match constraint:
            case ResultExtent(dim=dim, extent=extent):
                return self._compare("eq", actual, self._expected(nest, dim, extent))
            case ResultSame(other=other, other_dim=dim):
                return self._compare("eq", actual, self._result_extent(nest, other, dim))
        return self._test_range(constraint, actual)

    def _test_range(self, constraint: Constraint, actual: Extent) -> Test:
        match constraint:
            case AtLeast(bound=bound) | ResultAtLeast(bound=bound):
                return self._compare("sge", actual, bound)
            case AtMost(bound=bound) | ResultAtMost(bound=bound):
                return self._compare("sle", actual, bound)
            case MultipleOf(bound=bound) | ResultMultipleOf(bound=bound):
                if isinstance(actual, int):
                    return actual % bound == 0
                rest = self.block.op("rest", f"arith.remui {actual}, {self.index(bound)} : index")
                return self._compare("eq", rest, 0)
        raise AssertionError(constraint)

    def _expected(self, nest: Nest, domain_dim: int, extent: int | None) -> Extent:
        return extent if extent is not None else self._domain_extent(nest, domain_dim)

    def _result_extent(self, nest: Nest, other: str, dim: int) -> Extent:
        """Return an extent of an operand, or of a result or claim, whose extents are those of a nest's domain."""
        if other in self.types:
            return self.extent(other, dim)
        nests = (nest, *self.program.nests)
        home = next(one for one in nests if any(access.name == other for access in one.named))
        return self._domain_extent(home, dim)

    # ---- pieces

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


def _deciding_dims(nest: Nest, domain_dim: int) -> tuple[tuple[str, int], ...]:
    """Return the dims of operands that are a dim of the domain and may decide its extent, in order."""
    from_right = len(nest.domain.dims) - domain_dim
    found: dict[tuple[str, int], None] = {}
    for access in (*nest.operands, *nest.shapes):
        for number, (own_from_right, own_dim, dim) in enumerate(access.type.aligned):
            position = own_from_right if access.positions is None else access.positions[number]
            if position == from_right and dim.extent != 1:
                found[access.name, own_dim] = None
    return tuple(found)
