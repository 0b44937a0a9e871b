"""Consequences of facts and clauses: whether they can hold together, and which facts they imply.

In: :class:`Facts` and clauses; a clause is a choice of alternatives, an alternative several statements that hold
together.  Out: a verdict, or more facts.

    n in {1, d0}, m in {1, d0}, d0 = n or d0 = m, n >= 2  ->  n = d0
    the same, and m not in {1, n}                         ->  cannot hold together: m in {1, n} is proved

The search through the alternatives has a bound on its length, and all searches for one broadcast share a bound on their
work. Past these bounds nothing is claimed to be impossible, so a caller's conclusion (a check is not needed, a call is
refused) is always true.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Literal, TypeAlias

from ...core.frozen import dataclass
from ..types.facts import Facts, Range

__all__ = ["Alternative", "Atom", "Clause", "Solvable", "Work", "added", "breakable", "known", "possible", "with_nodes"]

# How many choices are tried before the answer is "possible".
_LIMIT = 200
# How many statements are examined for one broadcast: symbols that occur in many dims would take hours.
_STATEMENTS = 50_000


@dataclass(frozen=True, slots=True)
class Atom:
    """A statement on a node and another node, a range or a divisor; a range of one extent stands for that extent."""

    kind: Literal["same", "differ", "within", "indivisible"]
    node: Hashable
    other: Hashable

    def added_to(self, facts: Facts) -> Facts | None:
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
Solvable: TypeAlias = Callable[[Facts], bool]


def _anything(_: Facts) -> bool:
    return True


class Work:
    """The budget of statements to examine: a count and not a time, so that what is proved depends on types alone.

    Attributes
    ----------
    left : how many statements may still be examined.
    gave_up : whether an answer since the last :meth:`begin` was cut short, and is only the safe one.
    """

    __slots__ = ("gave_up", "left")

    def __init__(self, statements: int | None = None) -> None:
        self.left, self.gave_up = _STATEMENTS if statements is None else statements, False

    def begin(self) -> None:
        """Clear `gave_up` before another question."""
        self.gave_up = False

    def is_over(self) -> bool:
        """Tell whether the budget is used up; if it is, set `gave_up`."""
        self.gave_up |= self.left <= 0
        return self.left <= 0


def added(facts: Facts, statements: Alternative, work: Work | None = None) -> Facts | None:
    """Return the facts with these statements, or None if they contradict them; `work` counts what that takes."""
    more: Facts | None = facts
    for atom in statements:
        if more is None:
            return None
        before, more = more, atom.added_to(more)
        if work is not None:
            # A new fact costs a copy of the facts.
            work.left -= 1 if more is before else 1 + before.size // 16
    return more


def known(facts: Facts, clauses: Iterable[Clause], work: Work) -> tuple[Facts, list[Clause]] | None:
    """Return the facts that clauses force, and the clauses that leave a choice; None if they contradict each other.

    Once the budget is used up, clauses that were not examined are among the latter.
    """
    left, changed = list(clauses), True
    while changed:
        changed = False
        pending: list[Clause] = []
        for clause in left:
            if work.is_over():
                pending.append(clause)
                continue
            left_open = [(one, more) for one in clause if (more := added(facts, one, work)) is not None]
            if any(more is facts for _, more in left_open):
                continue
            match left_open:
                case []:
                    return None
                case [(_, more)]:
                    facts, changed = more, True
                case _:
                    pending.append(tuple(statements for statements, _ in left_open))
        left = pending
    return facts, left


def possible(facts: Facts, clauses: Sequence[Clause], work: Work, solvable: Solvable = _anything) -> bool:
    """Tell whether clauses may hold together: False only if they certainly cannot.

    Parameters
    ----------
    facts, clauses : what has to hold.
    work : what is left of the budget.
    solvable : whether what else has to hold may, once every choice is made: False only if it certainly cannot.
    """
    return _search(facts, clauses, [_LIMIT], work, solvable)


def with_nodes(clauses: Iterable[Clause]) -> list[tuple[Clause, frozenset[Hashable]]]:
    """Return clauses with the nodes in each."""
    return [(clause, _nodes(clause)) for clause in clauses]


def breakable(facts: Facts, clauses: Iterable[tuple[Clause, frozenset[Hashable]]], broken: Clause, work: Work) -> bool:
    """Tell whether `broken` may hold with clauses that can hold together; if not, they imply what it would break."""
    if work.is_over():
        return True
    nodes, relevant, left = _nodes(broken), [broken], list(clauses)
    while near := [pair for pair in left if not nodes.isdisjoint(pair[1])]:
        # To look at a clause takes a fraction of what it takes to examine a statement.
        work.left -= len(left) // 64
        relevant += (clause for clause, _ in near)
        left = [pair for pair in left if nodes.isdisjoint(pair[1])]
        nodes = nodes.union(*(own for _, own in near))
    return _search(facts, relevant, [_LIMIT], work)


def _nodes(clause: Clause) -> frozenset[Hashable]:
    """Return the nodes in a clause; extents and divisors are no nodes."""
    atoms = [atom for statements in clause for atom in statements]
    others = (atom.other for atom in atoms if atom.kind != "indivisible" and not isinstance(atom.other, Range))
    return frozenset((*(atom.node for atom in atoms), *others))


def _search(
    facts: Facts, clauses: Sequence[Clause], budget: list[int], work: Work, solvable: Solvable = _anything
) -> bool:
    budget[0] -= 1
    if budget[0] < 0 or work.is_over():
        work.gave_up = True
        return True
    reached = known(facts, clauses, work)
    if reached is None:
        return False
    facts, left = reached
    if not left:
        return solvable(facts)
    chosen = min(left, key=len)
    rest = [clause for clause in left if clause is not chosen]
    ways = (more for statements in chosen if (more := added(facts, statements, work)) is not None)
    return any(_search(more, rest, budget, work, solvable) for more in ways)
