"""The shape function of a kernel: a program of the shape dialect that sizes its results.

In: a loop program.  Out: a :class:`Program`, from the extents of the operands to those of the results.

    nest (d0, d1), a.0 in {1, d0}, a.1 = 4   ->   %w = ... cstr_require ...; assuming %w { broadcast ... }

It says what the decisions of the nests' domains say, no more: what facts have proved is not asked. The same decisions
become the C that runs before the loops (`emit/kernel/operand_checks.py`); a test runs both over the same shapes.
"""

from __future__ import annotations

from typing import Any

from ..shape.constraints import (
    AtLeast,
    AtMost,
    Constraint,
    Equals,
    EqualsAll,
    ExtentIs,
    Fits,
    MultipleOf,
    RankAtLeast,
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
    StretchesAll,
)
from ..shape.dialect.program import Program
from ..shape.dialect.trace import op, program
from ..shape.inference.operand_use import Place
from .nest import LoopProgram, Nest

__all__ = ["shape_function"]


def shape_function(loops: LoopProgram, name: str) -> Program:
    """Return the program that gives the results' extents.

    Parameters
    ----------
    loops : the kernel's nests.
    name : of the program.

    Returns
    -------
    Program
        Its operands are extent tensors, one for each operand that a call gives, and so are its results.
    """
    given = loops.operands[: len(loops.operands) - loops.constants]
    types = {
        operand: "tensor<?xindex>" if type_.rank is None else f"tensor<{type_.rank}xindex>" for operand, type_ in given
    }
    read = {access.name for nest in loops.nests for access in (*nest.operands, *nest.shapes)}

    def body(**values: Any) -> Any:
        for operand, type_ in loops.operands[len(given) :]:
            extents = tuple(dim.extent for dim in type_.dims)
            if operand in read:
                values[operand] = op("const_shape")(extents, type=f"tensor<{len(extents)}xindex>")
        shapes: dict[int, Any] = {}
        named: dict[str, Any] = {}
        claimed: list[Any] = []
        for nest in loops.nests:
            author = _Author(nest, values, named)
            if nest.results:
                shape = author.shape(claimed)
                shapes.update((access.position, shape) for access in nest.results)
            else:
                shape, asked = author.spanned()
                claimed += asked
            named.update((access.name, shape) for access in nest.named)
        made = tuple(shapes[at] for at in range(len(loops.results)))
        return made if len(made) > 1 else made[0]

    return program(name, body, **types)


class _Author:
    """Writes what one nest asks of its operands' extents, and the extents of its domain.

    Attributes
    ----------
    claims : for each dim of the domain, by number, the operands' dims that lie in it and are not static.
    named : the extents of what other nests have, results and claims, by name.
    """

    def __init__(self, nest: Nest, values: dict[str, Any], named: dict[str, Any]) -> None:
        self.nest = nest
        self.values = values
        self.named = named
        self.accesses = [a for a in (*nest.operands, *nest.shapes) if not a.stands_by]
        self.claims: dict[int, list[Place]] = {}
        self.made: dict[Any, Any] = {}
        for access in self.accesses:
            for at, (position, own, dim) in enumerate(access.type.aligned):
                place = position if access.positions is None else access.positions[at]
                if place is None:
                    continue
                known = self.claims.setdefault(len(nest.domain.dims) - place, [])
                if not dim.is_static and (access.name, own) not in known:
                    known.append((access.name, own))

    def shape(self, claimed: list[Any]) -> Any:
        """Return the domain's extents, which exist only where all that is asked, and what is claimed, holds."""
        shape, declared = self.spanned()
        return self._assuming([*claimed, *declared], lambda: shape)

    def spanned(self) -> tuple[Any, list[Any]]:
        """Return the extents that the operands span, and the witnesses that these are as declared and claimed."""
        constraints = self.nest.domain.constraints
        asked = [w for c in constraints for w in self._of_operands(c)] + self._meetings() + self._sources()
        shape = self._assuming(asked, self._domain)
        return shape, [self._require(c, test) for c in constraints for test in self._of_results(c, shape)]

    def _assuming(self, witnesses: list[Any], body: Any) -> Any:
        if not witnesses:
            return body()
        witness = witnesses[0] if len(witnesses) == 1 else op("assuming_all")(*witnesses)
        return op("assuming")(witness, lambda: self._inside(body))

    def _inside(self, body: Any) -> Any:
        """Write a region: it sees what stands before it, and nothing sees what stands in it."""
        before, self.made = self.made, dict(self.made)
        try:
            return body()
        finally:
            self.made = before

    def _op(self, name: str, *operands: Any, **attributes: Any) -> Any:
        """Write an operation, or return the value of one that is there already."""
        if name not in ("constant", "const_shape"):
            operands = tuple(self._op("constant", given) if isinstance(given, int) else given for given in operands)
        key = (name, operands, tuple(attributes.items()))
        if key not in self.made:
            self.made[key] = op(name)(*operands, **attributes)
        return self.made[key]

    # ---- what is asked

    def _of_operands(self, c: Constraint) -> list[Any]:
        """Return the witness of a constraint on an operand alone."""
        test: Any = None
        match c:
            case ExtentIs(operand=a, dim=dim, extent=extent):
                test = self._compare("eq", self._extent(a, dim), extent)
            case AtLeast(operand=a, dim=dim, bound=bound):
                test = self._compare("sge", self._extent(a, dim), bound)
            case AtMost(operand=a, dim=dim, bound=bound):
                test = self._compare("sle", self._extent(a, dim), bound)
            case MultipleOf(operand=a, dim=dim, bound=bound):
                test = self._is_multiple(self._extent(a, dim), bound)
            case SameExtent(operand=a, dim=dim, other=b, other_dim=other):
                test = self._compare("eq", self._extent(a, dim), self._extent(b, other))
            case Fits(operand=a, dim=dim, other=b, other_dim=other):
                test = self._fits(self._extent(a, dim), self._extent(b, other))
            case RankAtLeast(operand=a, rank=rank):
                test = self._compare("sge", self._op("rank", self.values[a]), rank)
            case Stretches(operand=a, dim=dim, domain_dim=at) if not self._is_open(at):
                test = self._fits(self._extent(a, dim), self._met(at))
            case Equals(operand=a, dim=dim, domain_dim=at):
                test = self._compare("eq", self._extent(a, dim), self._met(at))
            case SameRank(operand=a, other=b):
                return [self._require(c, self._has_rank_or_none(name)) for name in (b, a)]
            case EqualsAll(operand=a):
                domain = self._domain()
                lead = self._op("subi", self._op("rank", domain), self._op("rank", self.values[a]))
                return [self._op("cstr_eq", self.values[a], self._op("split_at", domain, lead)[1])]
        return [] if test is None else [self._require(c, test)]

    def _meetings(self) -> list[Any]:
        """Return the witnesses that what meets in a dim nobody sets alone is equal or 1."""
        asked = [c for c in self.nest.domain.constraints if isinstance(c, (Stretches, StretchesAll))]
        if self._is_whole():
            return [self._op("cstr_broadcastable", *self._shapes())] if asked and len(self._shapes()) > 1 else []
        dims = sorted({c.domain_dim for c in asked if isinstance(c, Stretches) and self._is_open(c.domain_dim)})
        return [self._op("cstr_broadcastable", *map(self._vector, self.claims[at])) for at in dims]

    def _sources(self) -> list[Any]:
        """Return the witnesses that operands which meet as wholes span the extents that are known to be somebody's."""
        domain = self.nest.domain
        # Where nothing but broadcasting meets, the other constraints see to that.
        if not self._is_whole() or not any(isinstance(c, EqualsAll) for c in domain.constraints):
            return []
        known = [(at - len(domain.dims), source) for at, source in enumerate(domain.sources) if source is not None]
        tests = [
            (f"d[{at}] = {a}.{dim}", self._compare("eq", self._of(self._domain(), at), self._extent(a, dim)))
            for at, (a, dim) in known
        ]
        fixed = [(at - len(domain.dims), dim.extent) for at, dim in enumerate(domain.dims) if dim.extent is not None]
        tests += [
            (f"d[{at}] = {extent}", self._compare("eq", self._of(self._domain(), at), extent)) for at, extent in fixed
        ]
        return [self._op("cstr_require", test, msg=f"{said} does not hold") for said, test in tests]

    def _of_results(self, c: Constraint, shape: Any) -> list[Any]:
        """Return the test of a declared result type, or of a claim."""
        test: Any = None
        match c:
            case ResultRank(rank=rank):
                test = self._compare("eq", self._op("rank", shape), rank)
            case ResultRankAtLeast(rank=rank):
                test = self._compare("sge", self._op("rank", shape), rank)
            case ResultExtent(domain_dim=at, extent=int(extent)):
                test = self._compare("eq", self._of(shape, at), extent)
            case ResultSame(domain_dim=at, other=other, other_dim=dim):
                own = any(access.name == other for access in self.nest.named)
                home = self.values[other] if other in self.values else shape if own else self.named[other]
                test = self._compare("eq", self._of(shape, at), self._of(home, dim))
            case ResultAtLeast(domain_dim=at, bound=bound):
                test = self._compare("sge", self._of(shape, at), bound)
            case ResultAtMost(domain_dim=at, bound=bound):
                test = self._compare("sle", self._of(shape, at), bound)
            case ResultMultipleOf(domain_dim=at, bound=bound):
                test = self._is_multiple(self._of(shape, at), bound)
        return [] if test is None else [test]

    # ---- the domain

    def _is_whole(self) -> bool:
        """Whether operands meet as wholes: they align on the right, and no dim is known to be somebody's."""
        domain = self.nest.domain
        aligned = all(access.positions is None for access in self.accesses)
        return aligned and bool(self.accesses) and (domain.open or all(source is None for source in domain.sources))

    def _is_open(self, at: int) -> bool:
        """Whether only the run time tells what a dim of the domain is."""
        if self._is_whole():
            return True
        return self.nest.domain.dims[at].extent is None and self.nest.domain.sources[at] is None

    def _domain(self) -> Any:
        if self._is_whole():
            shapes = self._shapes()
            return self._op("broadcast", *shapes) if len(shapes) > 1 else shapes[0]
        rank = len(self.nest.domain.dims)
        if rank == 0:
            return self._op("const_shape", (), type="tensor<0xindex>")
        extents = [self._met(at) for at in range(rank)]
        made = self._op("from_extents", *extents)
        return self._op("to_extent_tensor", made, type=f"tensor<{rank}xindex>")

    def _met(self, at: int) -> Any:
        """Return the extent of one dim of the domain."""
        dim = self.nest.domain.dims[at]
        if dim.extent is not None:
            return self._op("constant", dim.extent)
        source = self.nest.domain.sources[at]
        if source is not None:
            return self._extent(*source)
        if self._is_whole():
            return self._of(self._domain(), at)
        vectors = [self._vector(place) for place in self.claims.get(at, [])]
        return self._of(self._op("broadcast", *vectors) if len(vectors) > 1 else vectors[0], 0)

    def _has_rank_or_none(self, operand: str) -> Any:
        """Return whether an operand has the domain's rank, or none: a scalar goes with every rank."""
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
        return [self.values[name] for name in dict.fromkeys(access.name for access in self.accesses)]

    def _vector(self, place: Place) -> Any:
        made = self._op("from_extents", self._extent(*place))
        return self._op("to_extent_tensor", made, type="tensor<1xindex>")

    def _extent(self, operand: str, dim: int) -> Any:
        return self._of(self.values[operand], dim)

    def _of(self, shape: Any, dim: int) -> Any:
        at = dim if dim >= 0 else self._op("subi", self._op("rank", shape), -dim)
        return self._op("get_extent", shape, at)

    def _compare(self, predicate: str, x: Any, y: Any) -> Any:
        return self._op("cmpi", x, y, predicate=predicate)

    def _is_multiple(self, extent: Any, bound: int) -> Any:
        return self._compare("eq", self._op("muli", self._op("divsi", extent, bound), bound), extent)

    def _fits(self, extent: Any, expected: Any) -> Any:
        is_one = self._compare("eq", extent, 1)
        return self._op("select", is_one, is_one, self._compare("eq", extent, expected))

    def _require(self, c: Constraint, test: Any) -> Any:
        return self._op("cstr_require", test, msg=f"{c} does not hold")
