"""Whether any extents satisfy all nests of a kernel together, and all that its results and claims declare.

In: the domain of each nest, with the declared types that have it.  Out: nothing, or the error for a contradiction.

    (f32[n] a, f32[n, n] b) -> f32[3, 4]   ->  "result 'r' dim 1 is declared as 4, which ..."

Inference of one nest sees its own operands only. Here symbols and operands' dims are the same extents in all nests, and
all results restrict each other.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace

from ...core.errors import BroadcastError
from ..types.dim import Dim
from ..types.facts import Facts, Range
from ..types.tensor_type import TensorType
from .broadcast import BroadcastInfo
from .entailment import Atom, Clause, Work, possible

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
    bcastgen.BroadcastError: result 'r' dim 1 is declared as 4, which what else is declared forbids; declare it as ?, \
or widen what else is declared
    """

    __slots__ = ("_asked", "_declared", "_domains", "_symbols")

    def __init__(self, operands: Named) -> None:
        self._symbols: dict[str, Hashable] = {}
        self._asked: list[Clause] = []
        self._declared: list[tuple[str, int, Dim, Clause]] = []
        self._domains = 0
        for name, type_ in operands:
            for _, own, dim in type_.aligned:
                self._asked += (((atom,),) for atom in self._said(dim, (name, own)))

    def add(self, info: BroadcastInfo, declared: Sequence[tuple[str, TensorType | None]]) -> None:
        """Add a nest: its constraints, and the results and claims that have its domain's extents."""
        at = self._domains
        self._domains += 1
        self._asked += (_of_domain(clause, at) for clause in info.clauses)
        for name, type_ in declared:
            for position, own, dim in type_.aligned if type_ is not None else ():
                for atom in self._said(dim, (at, position)):
                    self._declared.append((name, own, dim, ((atom,),)))

    def check(self) -> None:
        """Raise if no extents satisfy everything, for the first result or claim that contradicts those before it.

        Raises
        ------
        BroadcastError
            For a certain contradiction; a search that takes too long counts as none.
        """
        clauses = [clause for *_, clause in self._declared]
        if not clauses or possible(Facts(), [*self._asked, *clauses], Work()):
            return
        for count, (name, own, dim, _) in enumerate(self._declared, 1):
            if possible(Facts(), [*self._asked, *clauses[:count]], Work()):
                continue
            raise BroadcastError(
                f"result '{name}' dim {own} is declared as {dim}, which what else is declared forbids; "
                "declare it as ?, or widen what else is declared",
                operand=name,
                dim=own,
                actual=dim.extent,
            )

    def _said(self, dim: Dim, node: Hashable) -> Iterator[Atom]:
        """Yield what a type says of a dim, whose extent is `node` in facts."""
        if dim.extent is not None:
            yield Atom("same", node, Range(dim.extent, dim.extent))
            return
        yield Atom("within", node, dim.range)
        if dim.symbol is not None:
            home = self._symbols.setdefault(dim.symbol, node)
            if home != node:
                yield Atom("same", node, home)


def _of_domain(clause: Clause, at: int) -> Clause:
    """Return a clause in which the positions of a nest's domain are distinct from those of other nests."""
    return tuple(tuple(_atom_of(atom, at) for atom in statements) for statements in clause)


def _atom_of(atom: Atom, at: int) -> Atom:
    node = (at, atom.node) if isinstance(atom.node, int) else atom.node
    is_node = isinstance(atom.other, int) and atom.kind != "indivisible"
    return replace(atom, node=node, other=(at, atom.other) if is_node else atom.other)
