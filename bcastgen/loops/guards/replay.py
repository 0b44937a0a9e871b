"""Replays the chain of facts that a proved constraint has as its reason.

In: the facts of a program's guards, and a :class:`Chain`.  Out: nothing, or why the chain is refused.

    c.0 < 2 supposed; c.0 = a.0 (n); a.0 >= 2   ->   nothing: both facts are steps, and they contradict c.0 < 2
    c.0 < 2 supposed; c.0 >= 2                  ->   "c.0 >= 2 is no fact of the guards": a circle

A chain supposes that its constraint is broken, and names facts until they contradict this. A fact that leaves several
alternatives has a chain for each. Nothing counts but what the steps of the guards, their own definitions and what the
caller vouches for say, so that a constraint whose proof rests on itself, or on another proved one, is refused.
"""

from __future__ import annotations

from collections.abc import Container

from ...core.frozen import dataclass
from ...shape.constraints import Constraint
from ...shape.inference.entailment import Alternative, added
from ...shape.types.facts import Facts
from .premises import GuardFacts, Premise

__all__ = ["Chain", "Link", "refusal"]


@dataclass(frozen=True, slots=True)
class Link:
    """One step of a chain.

    Attributes
    ----------
    premise, clause : the fact, and the number of the clause of it that counts.
    leaves : the alternatives of the clause that what is known before does not contradict: none at the end of a chain.
    cases : if there are several, the rest of the chain for each; else the chain goes on with the next link.
    """

    premise: Premise
    clause: int
    leaves: tuple[Alternative, ...]
    cases: tuple[tuple[Link, ...], ...] = ()

    def premises(self) -> tuple[Premise, ...]:
        """Return the facts that this link and those of its cases name."""
        return (self.premise, *(premise for case in self.cases for link in case for premise in link.premises()))


@dataclass(frozen=True, slots=True)
class Chain:
    """Why a constraint of a nest holds: for each way to break it, the facts that contradict it."""

    nest: int
    constraint: Constraint
    ways: tuple[tuple[Link, ...], ...]

    @property
    def premises(self) -> tuple[Premise, ...]:
        """The facts that it names, each once."""
        return tuple(dict.fromkeys(premise for way in self.ways for link in way for premise in link.premises()))


def refusal(facts: GuardFacts, chain: Chain) -> str | None:
    """Return why a chain is no reason for its constraint, or None if it is one."""
    allowed = frozenset(facts.premises(chain.nest))
    broken = facts.broken(chain.nest, chain.constraint)
    if len(broken) != len(chain.ways):
        return f"{len(broken)} ways break it, and {len(chain.ways)} are looked at"
    for way, links in zip(broken, chain.ways, strict=True):
        supposed = added(Facts(), way)
        why = None if supposed is None else _follow(supposed, links, facts, allowed)
        if why is not None:
            return why
    return None


def _follow(known: Facts, links: tuple[Link, ...], facts: GuardFacts, allowed: Container[Premise]) -> str | None:
    """Follow the links to a contradiction; return why that fails, or None."""
    for link in links:
        if link.premise not in allowed:
            return f"{link.premise.what} is no fact of the guards"
        clause = facts.clauses(link.premise)[link.clause]
        left = {way: more for way in clause if (more := added(known, way)) is not None}
        if set(left) != set(link.leaves):
            return f"{link.premise.what} leaves {len(left)} alternatives, the chain says {len(link.leaves)}"
        if not left:
            return None
        if link.cases:
            pairs = zip(link.leaves, link.cases, strict=True)
            return next((why for way, case in pairs if (why := _follow(left[way], case, facts, allowed))), None)
        if len(left) > 1:
            return f"{link.premise.what} leaves {len(left)} alternatives, and the chain looks at none"
        (known,) = left.values()
    return "the facts do not contradict that it is broken"
