"""Finds the chain of facts that is the reason of a proved constraint, and says it as a sentence.

In: the facts of a program's guards, and a constraint.  Out: a :class:`Chain`; its sentence.

    c.0 >= 2 with the steps c.0 = a.0 (n), a.0 >= 2   ->   "c.0 = a.0 (n) and a.0 >= 2 imply it"

The chain names as few facts as it can: it would fail without any of them. `replay` holds it to the guards.
"""

from __future__ import annotations

import sys
from collections.abc import Hashable, Sequence
from typing import TypeAlias

from ...shape.constraints import (
    Constraint,
    Equals,
    ExtentIs,
    RankIs,
    ResultSame,
    SameRank,
    Stretches,
    shown_domain_dim,
)
from ...shape.inference.entailment import Alternative, Clause, Work, added
from ...shape.inference.operand_use import OperandDim
from ...shape.types.facts import Facts, Range
from ..guard_program.ir import (
    Check,
    Const,
    Define,
    HasDomainRank,
    HasRank,
    Meet,
    MeetFront,
    Own,
    ReducedShape,
    ResultHasRank,
)
from .premises import ConstantShape, GuardFacts, Identity, Premise, Vouched
from .replay import Chain, Link

__all__ = ["chain_of", "sentence"]

_ALONE = "nothing else has an extent there"
# How many alternatives are looked at for one chain.
_LIMIT = 2000

_Said: TypeAlias = tuple[Premise, int, Clause]


def chain_of(
    facts: GuardFacts, nest: int, constraint: Constraint, is_short: bool = True, work: Work | None = None
) -> Chain | None:
    """Return the chain of facts from which a constraint of a nest follows, or None if none is found.

    One that is not to be short, which takes several times as long to find, may name facts that it can do without.
    `work` bounds how many facts are looked at, for several chains together if they share it.
    """
    work = Work(sys.maxsize) if work is None else work
    if work.is_over():
        return None
    said = [(p, at, clause) for p in facts.premises(nest) for at, clause in enumerate(facts.clauses(p))]
    ways = []
    for broken in facts.broken(nest, constraint):
        supposed = added(Facts(), broken)
        links = () if supposed is None else _chained(supposed, _near(said, broken, work), is_short, work)
        if links is None:
            return None
        ways.append(links)
    return Chain(nest, constraint, tuple(ways))


def _near(said: Sequence[_Said], broken: Alternative, work: Work) -> list[_Said]:
    """Return the clauses that have anything to do with a statement, the nearest first."""
    nodes, near, left = _nodes(broken), [], [(one, frozenset().union(*map(_nodes, one[2]))) for one in said]
    while found := [pair for pair in left if not nodes.isdisjoint(pair[1])]:
        work.left -= len(left)
        near += [one for one, _ in found]
        left = [pair for pair in left if nodes.isdisjoint(pair[1])]
        nodes = nodes.union(*(own for _, own in found))
    return near


def _nodes(statements: Alternative) -> frozenset[Hashable]:
    others = (atom.other for atom in statements if atom.kind != "indivisible" and not isinstance(atom.other, Range))
    return frozenset((*(atom.node for atom in statements if not isinstance(atom.node, Range)), *others))


def _chained(supposed: Facts, said: list[_Said], is_short: bool, work: Work) -> tuple[Link, ...] | None:
    """Return a chain; a short one fails without any of the facts it names."""
    links = _refute(supposed, said, [_LIMIT], work)
    if links is None or not is_short:
        return links
    # Premises by identity: to compare two of them takes longer than all else.
    named = _named(links)
    used = [row for row in said if id(row[0]) in named]
    for one in list(reversed(named)):
        fewer = [row for row in used if id(row[0]) != one]
        shorter = None if len(fewer) == len(used) else _refute(supposed, fewer, [_LIMIT], work)
        if shorter is not None:
            links, named = shorter, _named(shorter)
            used = [row for row in fewer if id(row[0]) in named]
    return links


def _named(links: Sequence[Link]) -> dict[int, Premise]:
    return {id(premise): premise for link in links for premise in link.premises()}


def _refute(known: Facts, said: Sequence[_Said], budget: list[int], work: Work) -> tuple[Link, ...] | None:
    """Return the links that lead from what is known to a contradiction, or None."""
    links: list[Link] = []
    changed = True
    while changed:
        changed = False
        budget[0] -= 1
        work.left -= len(said)
        open_: list[tuple[_Said, dict[Alternative, Facts]]] = []
        for one in said:
            premise, at, clause = one
            left = {way: more for way in clause if (more := added(known, way)) is not None}
            if any(more is known for more in left.values()):
                continue
            if len(left) > 1:
                open_.append((one, left))
                continue
            links.append(Link(premise, at, tuple(left)))
            if not left:
                return tuple(links)
            (known,) = left.values()
            changed = True
        said = [one for one, _ in open_]
    if not open_ or budget[0] < 0 or work.is_over():
        return None
    # What was open in the last pass, in which nothing changed, is still open.
    (premise, at, clause), left = min(open_, key=lambda pair: len(pair[1]))
    rest = [one for one in said if one != (premise, at, clause)]
    cases = []
    for more in left.values():
        case = _refute(more, rest, budget, work)
        if case is None:
            return None
        cases.append(case)
    return (*links, Link(premise, at, tuple(left), tuple(cases)))


# ---- sentences


def sentence(facts: GuardFacts, chain: Chain) -> str:
    """Return a chain as the reason that `explain` gives.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> facts = GuardFacts(from_text("(f32[n>=2] a, f32[n] b) -> a + b").compilation.program)
    >>> for decision in facts.nests[0].domain.decisions:
    ...     if decision.fate == "proved":
    ...         chain = chain_of(facts, 0, decision.constraint)
    ...         print(decision.constraint, "since", sentence(facts, chain))
    a.0 in {1, d0} since n>=2 sets d0
    b.0 = d0 since n is the extent of a.0, which sets it
    """
    named = chain.premises
    if isinstance(chain.constraint, SameRank):
        return "their types have one rank"
    texts = list(dict.fromkeys(_said(facts, premise) for premise in named))
    if not named:
        return "every extent fulfils it"
    if len(named) == 1:
        return _only(facts, chain, named[0], texts[0])
    return _of_definition(facts, named) or (
        f"{', '.join(texts[:-1])} and {texts[-1]} imply it" if len(texts) > 1 else texts[0]
    )


def _only(facts: GuardFacts, chain: Chain, premise: Premise, text: str) -> str:  # noqa: PLR0911
    """Return the sentence for a chain of one fact."""
    match premise.what, chain.constraint:
        case _, asked if text == str(asked):
            return "an earlier nest checks it"
        case ConstantShape(), RankIs() | ExtentIs():
            return text
        case ConstantShape(operand=operand), Stretches(dim=dim):
            own = facts.program.operands[operand][1].dims[dim]
            return "it is 1" if own.is_one else "it is that extent"
        case Check(test="eq", expected=Const(extent=extent)), Stretches() | Equals():
            return "it is 1" if extent == 1 else "it is that extent"
        case Define(at=at, term=Own()), ResultSame(symbol=symbol):
            return f"{shown_domain_dim(at)} is {symbol}"
        case ((Define() | Identity() | ConstantShape() | ReducedShape() | MeetFront(says="")), _):
            return text
    return f"{text} implies it"


def _of_definition(facts: GuardFacts, named: Sequence[Premise]) -> str | None:
    """Return the sentence for an extent that is checked to be the one that defines a dim of the domain, or None."""
    if len(named) != len(("check", "definition")):
        return None
    checks = [premise.what for premise in named if isinstance(premise.what, Check) and premise.what.test == "eq"]
    terms = [premise.what.term for premise in named if isinstance(premise.what, Define)]
    if len(checks) != 1 or len(terms) != 1 or checks[0].expected != terms[0]:
        return None
    if isinstance(terms[0], Const):
        return "it is that extent"
    assert isinstance(checks[0].actual, Own)
    own, setter = checks[0].actual, terms[0]
    return f"{_dim(facts, own)} is the extent of {_name(facts, setter)}, which sets it"


def _said(facts: GuardFacts, premise: Premise) -> str:  # noqa: PLR0911
    """Return a fact as text."""
    named, guards = facts.program.guards.named, facts.guards[premise.nest]
    match premise.what:
        case Define(at=at, term=Const(extent=extent)):
            return f"{shown_domain_dim(at)} is {extent}"
        case Define(at=at, term=Own() as own):
            met = facts.nests[premise.nest].domain.unknown_places[at]
            if set(met) <= {_place(facts, own)} and facts.program.operands[own.operand][1].dims[own.dim].is_plain:
                return _ALONE
            return f"{_dim(facts, own)} sets {shown_domain_dim(at)}"
        case Identity(at=None) if guards.open:
            return f"the domain has {guards.least_rank} dims or more"
        case Identity(at=None):
            return f"the domain has rank {guards.least_rank}"
        case Identity(at=int(at)):
            ((*some, _),) = facts.clauses(premise)
            if len(some) == 1:
                return _ALONE
            return f"{shown_domain_dim(at)} is 1 or an extent that meets there"
        case MeetFront(operand=operand, says=says):
            return says or f"the domain has the dims of {named[operand]} in front"
        case Vouched(constraint=constraint):
            return f"{constraint} (vouched for)"
        case ConstantShape(operand=operand):
            return "it is a constant's own"
        case ReducedShape(operand=operand):
            return f"a reduction of this kernel gives {named[operand]} its shape"
        case HasRank() | HasDomainRank() | ResultHasRank() | Check() | Meet():
            return facts.program.guards.says(premise.what)
    raise AssertionError(premise.what)


def _dim(facts: GuardFacts, own: Own) -> str:
    """Return a dim as its type has it, or by the operand's name if the type says nothing of it."""
    dim = facts.program.operands[own.operand][1].dims[own.dim]
    return _name(facts, own) if str(dim) == "?" else str(dim)


def _name(facts: GuardFacts, own: Own) -> str:
    return f"{facts.program.operands[own.operand][0]}.{own.dim}"


def _place(facts: GuardFacts, own: Own) -> OperandDim:
    return facts.program.operands[own.operand][0], own.dim
