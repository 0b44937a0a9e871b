"""What follows from facts and clauses: whether they can hold together, and what they leave known.

In: :class:`Facts` and clauses, each a choice of alternatives, each some statements.  Out: a verdict, or more facts.

    n in {1, d0}, m in {1, d0}, d0 = n or d0 = m, n >= 2  ->  n = d0
    the same, and m not in {1, n}                         ->  cannot hold together: m in {1, n} is proved

A search through the alternatives, with a bound on its length: past it nothing is claimed to be impossible, so that
what a caller concludes (a check is not needed, a call is refused) is always true.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Literal, TypeAlias

from ...core.frozen import dataclass
from ..types.facts import Facts, Range

__all__ = ["Alternative", "Atom", "Clause", "breakable", "known", "possible"]

# How many choices are tried before the answer is "possible".
_LIMIT = 200


@dataclass(frozen=True, slots=True)
class Atom:
    """A statement on a node and another one (a range of one extent stands for that extent), a range or a divisor."""

    kind: Literal["same", "differ", "within", "indivisible"]
    node: Hashable
    other: Hashable

    def told(self, facts: Facts) -> Facts | None:
        """Return the facts with this statement, the same ones if they had it, or None if it contradicts them."""
        other = self.other
        match self.kind:
            case "same" if not isinstance(other, Range):
                return facts.meet(self.node, other)
            case "differ":
                return facts.differ(self.node, other)
            case "indivisible" if isinstance(other, int):
                return facts.indivisible(self.node, other)
            case _:
                assert isinstance(other, Range)
                return facts.within(self.node, other)


Alternative: TypeAlias = tuple[Atom, ...]
Clause: TypeAlias = tuple[Alternative, ...]


def _told(facts: Facts, statements: Alternative) -> Facts | None:
    more: Facts | None = facts
    for atom in statements:
        if more is None:
            return None
        more = atom.told(more)
    return more


def known(facts: Facts, clauses: Iterable[Clause]) -> tuple[Facts, list[Clause]] | None:
    """Return what clauses leave no choice about, and the clauses that do; None if they contradict each other."""
    left, changed = list(clauses), True
    while changed:
        changed = False
        pending: list[Clause] = []
        for clause in left:
            told = [(statements, more) for statements in clause if (more := _told(facts, statements)) is not None]
            if any(more is facts for _, more in told):
                continue
            match told:
                case []:
                    return None
                case [(_, more)]:
                    facts, changed = more, True
                case _:
                    pending.append(tuple(statements for statements, _ in told))
        left = pending
    return facts, left


def possible(facts: Facts, clauses: Sequence[Clause]) -> bool:
    """Tell whether clauses may hold together: False only if they certainly cannot."""
    return _search(facts, clauses, [_LIMIT])


def breakable(facts: Facts, clauses: Sequence[Clause], broken: Clause) -> bool:
    """Tell whether something may be broken while clauses, which may hold together, do: if not, they imply it."""
    nodes, relevant, left = _nodes(broken), [broken], [(clause, _nodes(clause)) for clause in clauses]
    while near := [clause for clause, own in left if not nodes.isdisjoint(own)]:
        relevant += near
        nodes = nodes.union(*map(_nodes, near))
        left = [(clause, own) for clause, own in left if clause not in near]
    return _search(facts, relevant, [_LIMIT])


def _nodes(clause: Clause) -> frozenset[Hashable]:
    """Return what a clause speaks of: extents, and divisors, are nothing of the kind."""
    atoms = [atom for statements in clause for atom in statements]
    others = (atom.other for atom in atoms if atom.kind != "indivisible" and not isinstance(atom.other, Range))
    return frozenset((*(atom.node for atom in atoms), *others))


def _search(facts: Facts, clauses: Sequence[Clause], budget: list[int]) -> bool:
    budget[0] -= 1
    if budget[0] < 0:
        return True
    reached = known(facts, clauses)
    if reached is None:
        return False
    facts, left = reached
    if not left:
        return True
    chosen = min(left, key=len)
    rest = [clause for clause in left if clause is not chosen]
    return any(_search(more, rest, budget) for statements in chosen if (more := _told(facts, statements)) is not None)
