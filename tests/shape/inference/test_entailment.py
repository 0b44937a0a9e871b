"""Proofs: what clauses imply, and what they leave open."""

from __future__ import annotations

from bcastgen.shape.inference.entailment import Atom, Clause, Work, breakable, known, possible, with_nodes
from bcastgen.shape.types.facts import Facts, Range

ONE = Range(1, 1)


def one_or(node: str, other: str) -> Clause:
    return ((Atom("same", node, ONE),), (Atom("same", node, other),))


def always(*atoms: Atom) -> Clause:
    return (atoms,)


def test_what_leaves_no_choice_is_known() -> None:
    reached = known(Facts(), [one_or("a", "d"), one_or("b", "d"), always(Atom("within", "a", Range(2)))], Work())
    assert reached is not None
    facts, left = reached
    assert facts.same("a", "d") and facts.range("d") == Range(2)
    assert left == [one_or("b", "d")]


def test_contradictions() -> None:
    facts = Facts().within("d", Range(5, 5))
    assert facts is not None
    clauses = [one_or("a", "d"), always(Atom("within", "a", Range(2, 3)))]
    assert known(facts, clauses, Work()) is None
    assert not possible(facts, clauses, Work())


def test_what_takes_a_search() -> None:
    """`a` and `b` are 1 or d, but neither may be 1, and they differ: no choice works, though each does on its own."""
    clauses = [
        one_or("a", "d"),
        one_or("b", "d"),
        (
            (Atom("differ", "a", ONE), Atom("differ", "b", ONE)),
            (Atom("same", "d", Range(7, 7)), Atom("differ", "a", ONE)),
        ),
        always(Atom("differ", "a", "b")),
    ]
    assert possible(Facts(), clauses, Work())
    assert not possible(Facts(), [*clauses, always(Atom("differ", "b", ONE))], Work())


def test_breakable_looks_at_what_is_connected_only() -> None:
    impossible = [always(Atom("same", "x", ONE)), always(Atom("differ", "x", ONE))]
    assert breakable(Facts(), with_nodes(impossible), always(Atom("differ", "a", ONE)), Work())
    assert not breakable(Facts(), with_nodes(impossible), always(Atom("differ", "a", "x")), Work())


def test_what_is_implied_cannot_be_broken() -> None:
    given = [one_or("a", "t"), one_or("t", "d")]
    assert not breakable(Facts(), with_nodes(given), always(Atom("differ", "a", ONE), Atom("differ", "a", "d")), Work())
    assert breakable(Facts(), with_nodes(given[:1]), always(Atom("differ", "a", ONE), Atom("differ", "a", "d")), Work())


def test_nothing_is_claimed_past_the_limit() -> None:
    """Thirteen extents among the twelve from 1 to 12, all different: no search of that length finds out."""
    nodes = [f"n{at}" for at in range(13)]
    clauses: list[Clause] = [
        tuple((Atom("same", node, Range(extent, extent)),) for extent in range(1, 13)) for node in nodes
    ]
    clauses += [always(Atom("differ", a, b)) for at, a in enumerate(nodes) for b in nodes[:at]]
    assert possible(Facts(), clauses, Work())
