"""Lists what a kernel asks of shapes: each constraint with its fate, as its guards have it.

In: a program with guards.  Out: text, a constraint a line.

    a.0 >= 2: checked, its type declares it
    a.0 in {1, d0}: proved, n>=2 sets d0

A constraint is checked if a step of the guards asks it, and proved if a chain of facts leads from the steps to it; the
reason is that chain.
"""

from __future__ import annotations

from collections.abc import Iterator

from ...core.frozen import dataclass
from ...shape.constraints import OF_RESULTS, Constraint, SameRank
from ...shape.inference.entailment import Work
from ..guard_program.ir import Check, HasRank
from ..nest import LoopProgram
from .chains import chain_of, sentence
from .premises import GuardFacts
from .replay import Chain, refusal

__all__ = ["Listed", "chains", "listed", "listing", "unproved"]

_MADE = "as of any operand; a reduction of this kernel gives it"
# How many facts are looked at for all reasons of one listing: a second of them.
_MOST_LOOKS = 200_000
_STRETCHED = "an extent of 1 that does not stretch may be widened by others"


@dataclass(frozen=True, slots=True)
class Listed:
    """A constraint as text, what became of it (proved, checked or trusted), and why, unless nothing is to be said."""

    constraint: str
    fate: str
    reason: str

    def __str__(self) -> str:
        return f"{self.constraint}: {self.fate}{', ' if self.reason else ''}{self.reason}"


def listed(program: LoopProgram) -> tuple[Listed, ...]:
    """Return all constraints on the shapes with their fates, each once."""
    return tuple(dict.fromkeys(_listed(GuardFacts(program))))


def listing(program: LoopProgram) -> str:
    """Return all constraints on the shapes, one a line with its fate: proved by types and facts, checked or trusted.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> print(listing(from_text("(f32[4] a, f32[?] b) -> a + b").compilation.program))
    a.rank = 1: checked, a caller may pass an array of any rank
    b.rank = 1: checked, a caller may pass an array of any rank
    a.0 = 4: checked, its type declares it
    a.0 in {1, 4}: proved, it is that extent
    b.0 in {1, 4}: checked, types leave it open
    """
    return "\n".join(map(str, listed(program))) or "nothing is asked"


def _listed(facts: GuardFacts) -> Iterator[Listed]:
    kept, guards = len(facts.program.nests), facts.program.guards
    work = Work(_MOST_LOOKS)
    reduced_operands = {guards.named[one.operand] for one in guards.reduced}
    for at, nest in enumerate(facts.nests):
        checked = guards.checked(at) if at < kept else ()
        why = {
            str(one.constraint): _MADE if getattr(one.constraint, "operand", None) in reduced_operands else one.reason
            for one in nest.domain.decisions
            if one.fate == "checked"
        }
        seen: set[str] = set()
        for decision in nest.domain.decisions:
            text = str(decision.constraint)
            if text in seen:
                continue
            seen.add(text)
            if _is_asked(decision.constraint, checked):
                seen |= {f"{name}.rank = d.rank" for name in _ranks(decision.constraint)}
                yield Listed(text, "checked", why.get(text, _STRETCHED))
            elif decision.fate == "trusted":
                yield Listed(text, "trusted", decision.reason)
            elif at < kept or isinstance(decision.constraint, OF_RESULTS):
                yield Listed(text, "proved", _reason(facts, at, decision.constraint, work))
        yield from _others(facts, at, [text for text in checked if text not in seen])


def _others(facts: GuardFacts, at: int, texts: list[str]) -> Iterator[Listed]:
    """Yield the checks that no constraint of a nest asks for: the steps themselves need them."""
    guards = facts.program.guards
    ranks = {guards.says(step) for step in facts.guards[at].entry if isinstance(step, HasRank)}
    before = {text for nest in range(at) for text in guards.checked(nest)} if at < len(guards.nests) else set()
    empty = {step.says for step in facts.guards[at].results if isinstance(step, Check) and step.status == "EMPTY"}
    for text in texts:
        if text not in before:
            why = "its extents are compared with others" if text in ranks else _STRETCHED
            yield Listed(text, "checked", "without elements the reduction has no value" if text in empty else why)


def _ranks(constraint: Constraint) -> tuple[str, ...]:
    return (constraint.operand, constraint.other) if isinstance(constraint, SameRank) else ()


def _is_asked(constraint: Constraint, checked: tuple[str, ...]) -> bool:
    """Whether steps of a nest's guards ask a constraint; that two ranks are equal, each with the domain's rank."""
    names = _ranks(constraint)
    return all(f"{name}.rank = d.rank" in checked for name in names) if names else str(constraint) in checked


def _reason(facts: GuardFacts, at: int, constraint: Constraint, work: Work) -> str:
    chain = chain_of(facts, at, constraint, work=work)
    # A search for facts is bounded; that there are some is held by `unproved`.
    return "what else is checked implies it" if chain is None else sentence(facts, chain)


def chains(program: LoopProgram) -> tuple[Chain | Constraint, ...]:
    """Return the chain of each constraint that is called proved; the constraint itself if there is none."""
    facts = GuardFacts(program)
    return tuple(chain_of(facts, at, one) or one for at, one in _proved(facts))


def _proved(facts: GuardFacts) -> Iterator[tuple[int, Constraint]]:
    for at, nest in enumerate(facts.nests):
        kept = at < len(facts.program.nests)
        checked = facts.program.guards.checked(at) if kept else ()
        for decision in nest.domain.decisions:
            one = decision.constraint
            asked = decision.fate == "trusted" or _is_asked(one, checked)
            if not asked and (kept or isinstance(one, OF_RESULTS)):
                yield at, one


def unproved(program: LoopProgram) -> tuple[str, ...]:
    """Return a line for each constraint that is called proved and whose chain of facts, if it has one, is refused."""
    facts = GuardFacts(program)
    found = []
    for at, constraint in _proved(facts):
        chain = chain_of(facts, at, constraint)
        why = "no facts of the guards lead to it" if chain is None else refusal(facts, chain)
        if why is not None:
            found.append(f"nest {at}: {constraint} is called proved, but {why}")
    return tuple(found)
