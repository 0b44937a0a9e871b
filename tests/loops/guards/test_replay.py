"""Each proved constraint has a chain of facts that replays; a chain with a fact less, or another one, does not."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

import bcastgen as bg
from bcastgen.loops.guard_program.ir import Check, Const, Own
from bcastgen.loops.guards.chains import chain_of, sentence
from bcastgen.loops.guards.listing import chains, unproved
from bcastgen.loops.guards.premises import GuardFacts, Premise
from bcastgen.loops.guards.replay import Chain, Link, refusal
from bcastgen.shape.inference.entailment import Work, breakable, with_nodes
from bcastgen.shape.types.facts import Facts
from long_runs import slow_seeds
from shape_kernels import make_kernel
from shape_sides import product
from signatures import PROGRAMS, signature


def program_of(text, **options):
    return bg.from_text(text, **options).compilation.program


def unfounded(program):
    return [f"{program.guards}\n{line}" for line in unproved(program)]


@pytest.mark.parametrize("text", PROGRAMS)
def test_chains_of_the_goldens_replay(text):
    assert not unfounded(program_of(text))


def drawn(chance):
    """A random kernel's program, or a sum's of a random signature."""
    while True:
        if chance.random() < 0.5:
            return signature(chance)
        try:
            return product(make_kernel(chance)).compilation.program
        except bg.BcastgenError as error:
            assert "internal" not in str(error)


@pytest.mark.parametrize("seed", [*range(4), *slow_seeds(2, 16)])
def test_chains_of_random_kernels_replay(seed):
    chance = random.Random(seed)
    for _ in range(50 if seed < 100 else 250):
        assert not unfounded(drawn(chance))


# ---- what is refused


def links_of(links):
    """Every link, those of cases included, with a function that gives the links without it, or with another one."""
    for at, link in enumerate(links):
        yield link, lambda new, at=at: (*links[:at], *new, *links[at + 1 :])
        for which, case in enumerate(link.cases):
            for inner, change in links_of(case):

                def changed(new, at=at, link=link, which=which, change=change):
                    cases = (*link.cases[:which], change(new), *link.cases[which + 1 :])
                    return (*links[:at], replace(link, cases=cases), *links[at + 1 :])

                yield inner, changed


def shortened(chain):
    """The chain with a link less, each."""
    for at, links in enumerate(chain.ways):
        for _, change in links_of(links):
            yield replace(chain, ways=(*chain.ways[:at], change(()), *chain.ways[at + 1 :]))


def swapped(facts, chain):
    """The chain with another fact in the place of one that it names, each."""
    others = [premise for premise in facts.premises(chain.nest) if premise not in chain.premises]
    for at, links in enumerate(chain.ways):
        for link, change in links_of(links):
            for other in others:
                for clause in range(len(facts.clauses(other))):
                    new = (replace(link, premise=other, clause=clause),)
                    yield replace(chain, ways=(*chain.ways[:at], change(new), *chain.ways[at + 1 :]))


def implies(facts, chain):
    """Whether the facts that a chain names imply its constraint: by the search of inference, which has no chains."""
    clauses = [clause for premise in chain.premises for clause in facts.clauses(premise)]
    ways = facts.broken(chain.nest, chain.constraint)
    return not any(breakable(Facts(), with_nodes(clauses), (way,), Work()) for way in ways)


def test_a_chain_with_a_fact_less_or_another_one_is_refused():
    chance, refused, other = random.Random(5), 0, 0
    while refused < 4000:
        facts = GuardFacts(drawn(chance))
        for chain in chains(facts.program):
            assert refusal(facts, chain) is None
            assert all(refusal(facts, mutant) for mutant in shortened(chain))
            for mutant in swapped(facts, chain):
                if refusal(facts, mutant) is None:
                    # Another fact may be a reason, too.
                    assert implies(facts, mutant), (str(facts.program.guards), mutant)
                    other += 1
                else:
                    refused += 1
    assert other < refused / 50


def test_a_circle_is_refused():
    """A bound that no step asks is no reason for itself, whatever a sentence would say."""
    program = program_of("(f32[n>=2] a, f32[n] c) -> a + c")
    facts = GuardFacts(program)
    claim = next(step for step in program.guards.nests[0].all_steps if isinstance(step, Check) and step.test == "ge")
    circle = replace(claim, actual=Own(1, 0), subject=1, says="c.0 >= 2")
    constraint = replace(
        next(d.constraint for d in program.nests[0].domain.decisions if str(d.constraint) == "a.0 >= 2"), operand="c"
    )
    assert str(constraint) == "c.0 >= 2"
    alone = Chain(0, constraint, ((Link(Premise(0, circle), 0, ()),),))
    assert "is no fact of the guards" in refusal(facts, alone)
    assert refusal(facts, chain_of(facts, 0, constraint)) is None
    assert sentence(facts, chain_of(facts, 0, constraint)) == "c.0 = a.0 (n) and a.0 >= 2 imply it"


def test_a_constraint_without_its_step_has_no_chain():
    program = program_of("(f32[n>=2] a, f32[n] c) -> a + c")
    (nest,) = program.guards.nests
    steps = tuple(step for step in nest.steps if getattr(step, "says", "") != "c.0 = a.0 (n)")
    assert len(steps) < len(nest.steps)
    broken = replace(program, guards=replace(program.guards, nests=(replace(nest, steps=steps),)))
    assert any("c.0 = d0 is called proved, but no facts" in line for line in unproved(broken))


def test_the_reasons_of_a_nest_do_not_name_the_steps_of_a_later_one():
    program = program_of("(f32[n] a, f32[m>=2] b) -> (a + 1, b + 1)")
    facts = GuardFacts(program)
    late = next(p for p in facts.premises(1) if isinstance(p.what, Check) and p.what.expected == Const(2))
    assert late not in facts.premises(0)


def test_lowering_replays_the_chains_when_debugging(monkeypatch):
    monkeypatch.setenv("BCASTGEN_DEBUG", "1")
    monkeypatch.setattr("bcastgen.loops.guards.listing.unproved", lambda program: ("nest 0: it does not follow",))
    with pytest.raises(bg.BcastgenError, match="internal error: nest 0: it does not follow"):
        program_of("(f32[n] a) -> a + 1")
