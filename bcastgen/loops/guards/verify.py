"""Verifies that the guards of a kernel let no nest read out of bounds, and make no domain too small.

In: a program with guards.  Out: a line for each dim that may be read out of bounds; none for a sound program.

    a at (d0|0), b at (d0); meet %0.0 at d0                  ->  "nest 0: b.0 = d0 does not follow"

If all steps pass, every dim that an operand is read along must have the extent of its dim of the domain, or 1 if its
map then reads it at 0; and every dim that takes part in a dim of the domain, be it read there or named by the target of
an explicit broadcast, must have its extent or 1. The proof uses the steps alone; a nest with trusted constraints is not
verified.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...shape.inference.entailment import Atom, Clause, Work, breakable, with_nodes
from ...shape.types.facts import MAX_EXTENT, Facts, Range
from ..guard_program.ir import Calc, Check, Const, DomainDim, Meet, MeetFront, NestGuards, Own, Widen
from ..nest import Access, LoopProgram, Nest
from .premises import node

__all__ = ["unguarded"]

_ONE = Range(1, 1)


def unguarded(program: LoopProgram) -> tuple[str, ...]:
    """Return a line for each operand's dim that may not fit the domain although the guards pass.

    Examples
    --------
    >>> from bcastgen import from_text
    >>> unguarded(from_text("(f32[?, n] a, f32[n] b) -> a * broadcast_to(b, (n, n))").compilation.program)
    ()
    """
    found: list[str] = []
    before: list[Clause] = []
    depth = max((guards.least_rank for guards in program.guards.nests), default=0)
    for at, nest in enumerate(program.nests):
        guards = program.guards.nests[at]
        before += _clauses(at, guards, depth)
        if all(decision.fate != "trusted" for decision in nest.domain.decisions):
            found += _of_nest(at, nest, before)
            found += _of_domain(at, nest, before, [name for name, _ in program.operands])
    return tuple(found)


def _of_nest(at: int, nest: Nest, clauses: list[Clause]) -> Iterator[str]:
    for access in nest.operands:
        for own, index in enumerate(access.map.indices):
            dim = own - len(access.map.indices) if access.type.unranked else own
            term = node(Own(access.number, dim))
            if index.dim is None:
                expected = None
            elif nest.domain.open:
                expected = node(DomainDim(at, index.dim - len(nest.domain.dims)))
            else:
                expected = node(DomainDim(at, index.dim))
            broken = [Atom("differ", term, _ONE)] if expected is None or index.stretches else []
            broken += [] if expected is None else [Atom("differ", term, expected)]
            if breakable(Facts(), with_nodes(clauses), (tuple(broken),), Work()):
                yield f"nest {at}: {access.name}.{dim} {_shown(access, own)} does not follow from its guards"


def _of_domain(at: int, nest: Nest, clauses: list[Clause], names: Sequence[str]) -> Iterator[str]:
    for dim, places in enumerate(nest.domain.unknown_places):
        here = dim - len(nest.domain.dims) if nest.domain.open else dim
        for name, own in places:
            term = node(Own(names.index(name), own))
            broken = Atom("differ", term, _ONE), Atom("differ", term, node(DomainDim(at, here)))
            if breakable(Facts(), with_nodes(clauses), (broken,), Work()):
                yield f"nest {at}: {name}.{own} in {{1, d{here}}} does not follow from its guards"


def _shown(access: Access, own: int) -> str:
    index = access.map.indices[own]
    if index.dim is None:
        return "= 1"
    return f"in {{1, d{index.dim}}}" if index.stretches else f"= d{index.dim}"


def _clauses(at: int, guards: NestGuards, depth: int) -> Iterator[Clause]:
    """Yield the clauses that hold if the steps of a nest pass; of fronts, those of their last `depth` dims.

    A dim in front that an operand does not have counts as 1.
    """
    defined = {define.at for define in guards.defines}
    met: dict[int, dict[Own, None]] = {}
    fronts: dict[int, list[Own]] = {}
    for step in (*guards.entry, *guards.steps, *guards.results):
        if isinstance(step, (Meet, Widen)):
            met.setdefault(step.at, {})[step.term] = None
        if isinstance(step, Meet):
            yield ((Atom("same", step.term, _ONE),), (Atom("same", step.term, DomainDim(at, step.at)),))
        elif isinstance(step, MeetFront):
            for dim in range(-depth, -step.known):
                own = Own(step.operand, dim)
                fronts.setdefault(dim, []).append(own)
                met.setdefault(dim, {})[own] = None
                if step.how != "take":
                    yield ((Atom("same", own, _ONE),), (Atom("same", own, DomainDim(at, dim)),))
        elif isinstance(step, Check):
            yield from _checked(step)
    for define in guards.defines:
        here, term = DomainDim(at, define.at), node(define.term)
        # A front may widen the dims before this one, even defined ones.
        is_final = isinstance(define.term, Const) and define.term.extent != 1
        wider = () if is_final else dict.fromkeys(fronts.get(define.at, ()))
        yield (
            (Atom("same", here, term),),
            *((Atom("same", term, _ONE), Atom("same", here, front), Atom("differ", front, _ONE)) for front in wider),
        )
    for dim, terms in met.items():
        if dim not in defined:
            here = DomainDim(at, dim)
            some = [(Atom("same", here, term), Atom("differ", term, _ONE)) for term in terms]
            yield (*some, tuple(Atom("same", node, _ONE) for node in (here, *terms)))


def _checked(step: Check) -> Iterator[Clause]:
    actual, expected = node(step.actual), node(step.expected)
    match step.test:
        case "eq":
            yield ((Atom("same", actual, expected),),)
        case "one_or_eq":
            yield ((Atom("same", actual, _ONE),), (Atom("same", actual, expected),))
    if isinstance(step.expected, Calc) and step.test == "eq":
        from ...shape.types.computed import range_of  # noqa: PLC0415 - few types have computed extents

        yield ((Atom("within", actual, range_of(step.expected.text)),),)
    if isinstance(step.expected, Const):
        bound = step.expected.extent
        match step.test:
            case "ge":
                yield ((Atom("within", actual, Range(bound)),),)
            case "le":
                yield ((Atom("within", actual, Range(0, bound)),),)
            case "multiple":
                yield ((Atom("within", actual, Range(0, MAX_EXTENT // bound * bound, bound)),),)
