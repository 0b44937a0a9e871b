"""Proofs by a solver that the guards of a program are what its constraints ask, and that its loops read in bounds."""

from __future__ import annotations

import itertools

import z3

from symbolic_guards import Symbolic

TIMEOUT_MS = 5000


def in_bounds(symbolic, at, access):
    """Each own dim is that of the domain, or 1 where the map then stands still."""
    domain, known = symbolic.domains[at], len(access.map.indices)
    for own, index in enumerate(access.map.indices):
        extent = symbolic.operand(access.name, own - known)
        if index.dim is None:
            yield extent == 1
            continue
        to = domain[index.dim - access.map.domain_rank]
        yield z3.Or(extent == 1, extent == to) if index.stretches else extent == to
    for extent, to in symbolic.aligned(at, access.name, known) if access.map.open else ():
        yield z3.Or(extent == 1, extent == to) if access.map.front_stretches else extent == to


def proves(given, claim):
    solver = z3.Solver()
    solver.set("timeout", TIMEOUT_MS)
    solver.add(*given, z3.Not(claim))
    answer = solver.check()
    assert answer != z3.unknown, "the solver gave up"
    return answer == z3.unsat, solver


def hold(program, ranks=None):
    """Everything that is asked follows from the steps, and the steps from it; and nothing is read out of bounds."""
    symbolic = Symbolic(program, ranks)
    passed = [*symbolic.given, *symbolic.passes]
    said, bounds = {}, {}
    for at, nest in enumerate(program.nests):
        for decision in nest.domain.decisions:
            formula = symbolic.holds(at, decision.constraint)
            if formula is not None:
                said[at, str(decision)] = formula
        # What types tell of the domain holds, too: a 1 that does not stretch makes it 1.
        for dim, known in zip(range(-len(nest.domain.dims), 0), nest.domain.dims, strict=True):
            if known.extent is not None:
                said[at, f"d[{dim}] is {known}"] = symbolic.domains[at][dim] == known.extent
        for access in nest.operands:
            for formula in in_bounds(symbolic, at, access):
                bounds[at, f"{access.name} is read in bounds: {formula}"] = formula
    follows, solver = proves(passed, z3.And(*said.values(), *bounds.values()))
    if not follows:
        broken = [key for key, formula in (said | bounds).items() if not proves(passed, formula)[0]]
        raise AssertionError(f"{broken} for ranks {symbolic.ranks}\n{solver.model()}\n{program.guards}")
    follows, solver = proves([*symbolic.given, *said.values()], z3.And(*symbolic.passes))
    assert follows, f"more is checked than asked\n{symbolic.ranks} {solver.model()}\n{program.guards}"


def ranks_of(program, bound):
    """Every rank that operands may have, up to a bound, or to what types ask for."""
    return itertools.product(
        *(
            range(len(type_.dims), max(bound, len(type_.dims)) + 1) if type_.unranked else (len(type_.dims),)
            for _, type_ in program.operands
        )
    )


def is_guarded(program):
    """Whether nothing is left to the caller: of what is trusted nothing is asked."""
    return all(decision.fate != "trusted" for nest in program.nests for decision in nest.domain.decisions)
