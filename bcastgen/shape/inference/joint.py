"""Whether any extents satisfy all nests of a kernel together, and all that its results and claims declare.

In: the domain of each nest, with the declared types that have it.  Out: nothing, or the error for a contradiction.

    (f32[n] a, f32[n, n] b) -> f32[3, 4]   ->  "result 'r' dim 1 is declared as 4, which ..."

Inference of one nest sees its own operands only. Here symbols and operands' dims are the same extents in all nests, and
all results restrict each other.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, Literal

from ...core.errors import BroadcastError
from ...core.frozen import dataclass, replace
from ..types.dim import Dim
from ..types.facts import Facts, Range
from ..types.tensor_type import TensorType
from .broadcast import BroadcastInfo
from .entailment import Atom, Clause, Work, possible

if TYPE_CHECKING:
    from .equations import Equation

__all__ = ["Joint"]

Named = Sequence[tuple[str, TensorType]]


class Joint:
    """Collects the constraints of a kernel's nests.

    Examples
    --------
    >>> from bcastgen.shape.inference.broadcast import broadcast
    >>> from bcastgen.shape.types.tensor_type import parse_type
    >>> operands = [("a", parse_type("f32[n]")), ("b", parse_type("f32[n, n]"))]
    >>> joint = Joint(operands)
    >>> joint.add(broadcast(operands), [("r", parse_type("f32[3, 4]"))])
    >>> joint.check()
    Traceback (most recent call last):
      ...
    bcastgen.BroadcastError: result 'r' dim 1 is declared as 4, which no extents of (f32[n] a, f32[n, n] b) allow \
beside 3 in dim 0 of 'r'; declare it as ?, or widen the other types
    """

    __slots__ = ("_asked", "_declared", "_domains", "_equations", "_operands", "_symbols")

    def __init__(self, operands: Named) -> None:
        self._symbols: dict[str, Hashable] = {}
        self._asked: list[Clause] = []
        self._declared: list[_Declared] = []
        self._equations: list[_Declared] = []
        self._domains = 0
        self._operands = operands
        for name, type_ in operands:
            for _, own, dim in type_.aligned:
                clauses, equation = self._said(dim, (name, own))
                self._asked += clauses
                if equation is not None:
                    self._equations.append(_Declared("operand", name, own, dim, (), equation))

    def add(self, info: BroadcastInfo, declared: Sequence[tuple[str, TensorType | None]]) -> None:
        """Add a nest: its constraints, and the results and claims that have its domain's extents."""
        at = self._domains
        self._domains += 1
        self._asked += (_of_domain(clause, at) for clause in info.clauses)
        for name, type_ in declared:
            for position, own, dim in type_.aligned if type_ is not None else ():
                clauses, equation = self._said(dim, (at, position))
                self._declared.append(_Declared("result", name, own, dim, clauses, equation))

    def check(self) -> None:
        """Raise if no extents satisfy everything, for the first declaration that contradicts those before it.

        Raises
        ------
        BroadcastError
            For a certain contradiction; a search that takes too long counts as none.
        """
        rows = [*self._equations, *self._declared]
        if not rows or self._may_hold(rows):
            return
        for count, row in enumerate(rows, 1):
            if self._may_hold(rows[:count]):
                continue
            raise BroadcastError(
                f"{row.kind} '{row.name}' dim {row.own} is declared as {row.dim}, which no extents of "
                f"{self._others(rows[:count])}; declare it as ?, or widen the other types",
                operand=row.name,
                dim=row.own,
                actual=row.dim.extent,
            )

    def _others(self, rows: Sequence[_Declared]) -> str:
        """Return what the last of these declarations contradicts: the operands' types, and what results declare."""
        operands = ", ".join(f"{type_} {name}" for name, type_ in self._operands)
        results = [f"{row.dim} in dim {row.own} of '{row.name}'" for row in rows[:-1] if row.kind == "result"][-2:]
        return f"({operands}) allow{' beside ' * bool(results)}{' and '.join(results)}"

    def _may_hold(self, rows: Sequence[_Declared]) -> bool:
        clauses = [*self._asked, *(clause for row in rows for clause in row.clauses)]
        equations = [row.equation for row in rows if row.equation is not None]
        if not equations:
            return possible(Facts(), clauses, Work())
        from .equations import solvable  # noqa: PLC0415 - few types have computed extents

        return possible(Facts(), clauses, Work(), lambda facts: solvable(facts, equations))

    def _said(self, dim: Dim, node: Hashable) -> tuple[tuple[Clause, ...], Equation | None]:
        """Return what a type says of a dim, whose extent is `node` in facts."""
        if dim.extent is not None:
            return (((Atom("same", node, Range(dim.extent, dim.extent)),),),), None
        within: Clause = ((Atom("within", node, dim.range),),)
        home = node if dim.symbol is None else self._symbols.setdefault(dim.symbol, node)
        if home != node:
            return (within, ((Atom("same", node, home),),)), None
        return (within,), self._equation(dim.symbol, node) if dim.symbol is not None and dim.is_computed else None

    def _equation(self, text: str, node: Hashable) -> Equation:
        from ..types.computed import expression  # noqa: PLC0415 - few types have computed extents
        from ..types.extent_expr import names_of  # noqa: PLC0415 - few types have computed extents
        from .equations import Equation  # noqa: PLC0415 - few types have computed extents

        extent = expression(text)
        # A name that no dim has alone until here is a node of its own.
        return Equation(node, extent, {name: self._symbols.setdefault(name, name) for name in names_of(extent)})


@dataclass(frozen=True, slots=True)
class _Declared:
    """A dim that an operand, a result or a claim declares, and what that says of extents."""

    kind: Literal["operand", "result"]
    name: str
    own: int
    dim: Dim
    clauses: tuple[Clause, ...]
    equation: Equation | None


def _of_domain(clause: Clause, at: int) -> Clause:
    """Return a clause in which the positions of a nest's domain are distinct from those of other nests."""
    return tuple(tuple(_atom_of(atom, at) for atom in statements) for statements in clause)


def _atom_of(atom: Atom, at: int) -> Atom:
    node = (at, atom.node) if isinstance(atom.node, int) else atom.node
    is_node = isinstance(atom.other, int) and atom.kind != "indivisible"
    return replace(atom, node=node, other=(at, atom.other) if is_node else atom.other)
