"""The guards of kernels, held by a solver to what the semantics ask, for all extents and all ranks up to a bound.

What is asked is the list of decisions, proved ones as well as checked ones, each spelled here once more. An operand of
unknown rank has each rank up to the bound, in all combinations; for one of them the steps are run over unknowns.
"""

from __future__ import annotations

import random
import re
from dataclasses import replace

import pytest

import bcastgen as bg
import prove_guards
from bcastgen.loops.guard_program import ir
from long_runs import many, slow_seeds
from shape_kernels import make_kernel
from shape_sides import product
from signatures import PROGRAMS, signature
from symbolic_proofs import hold, is_guarded, ranks_of

SEEDS = range(8)
PER_SEED = 7
# Operands of unknown rank have up to so many dims, and more where their types do.
RANKS = 4


# A read out of bounds each, once.
FOUND = (
    "(f32[*, 3] a, f32[*, k>=2] b) -> a + b",
    "(f32[n, n] a, f32[*, n>=2] b) -> a + b",
    "(f32[*, n>=2, n] a, f32[*, 3, n>=2] b) -> a + b",
    "(f32[n] a, f32[*, n] b, f32[?>=2, m!] c) -> a + b + c",
)

# Extents that types compute from names: that set a dim, that never stretch, in several nests, with unknown ranks.
COMPUTED = (
    "(f32[n] a, f32[m] b, f32[n + m] c) -> c * 2",
    "(f32[n + m] a, f32[m] b, f32[n] c, f32[m + n] d) -> a * d + 1, b - 1",
    "(f32[n] a, f32[2*n] b, f32[?] c) -> a * 3, b + c",
    "(f32[n] a, f32[n - 1!] b, f32[?] c) -> b + c",
    "(f32[n] a, f32[2*n + 2] b, f32[?] c, f32[*] d) -> c + b + d",
    "(f32[*, n + 1] a, f32[*, n] b, f32[?] c) -> a * c",
    "(f32[n, m] a, f32[min(n, m), max(n, m)] b, f32[n//2] c) -> b, c",
    "(f32[n>=2] a, f32[n*n - n] b, f32[n] c) -> b + c",
)


@pytest.mark.parametrize("text", [*PROGRAMS, *FOUND, *COMPUTED])
def test_the_guards_of_the_goldens_are_what_is_asked(text):
    program = bg.from_text(text).compilation.program
    for ranks in ranks_of(program, RANKS) if is_guarded(program) else ():
        hold(program, ranks)


def emitted(chance, is_open):
    """The next random kernel, with operands of unknown rank or without, that can be lowered as it stands."""
    while True:
        kernel = make_kernel(chance)
        if is_open != any(operand.type.open for operand in kernel.operands):
            continue
        try:
            return product(kernel).compilation.program
        except bg.BcastgenError as error:
            assert "internal" not in str(error)


@pytest.mark.parametrize("seed", [*SEEDS, *slow_seeds(8, 40)])
def test_the_guards_of_random_kernels_are_what_is_asked(seed):
    chance = random.Random(seed)
    for _ in range(PER_SEED):
        hold(emitted(chance, False))


@pytest.mark.parametrize("seed", range(4))
def test_the_guards_of_random_kernels_of_unknown_rank_are_what_is_asked(seed):
    chance = random.Random(seed)
    for _ in range(PER_SEED):
        program = emitted(chance, True)
        combinations = list(ranks_of(program, RANKS))
        for ranks in chance.sample(combinations, min(5, len(combinations))):
            hold(program, ranks)


@pytest.mark.parametrize("seed", [*range(4), *slow_seeds(1, 10)])
def test_the_guards_of_random_signatures_are_what_is_asked_for_all_ranks(seed):
    chance = random.Random(seed)
    for _ in range(12 if seed < 100 else 200):
        program = signature(chance)
        for ranks in ranks_of(program, 3):
            hold(program, ranks)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(100, 100 + many(2, 20)))
def test_the_guards_of_many_kernels_are_what_is_asked_for_all_ranks(seed):
    chance = random.Random(seed)
    for _ in range(20):
        program = emitted(chance, True)
        for ranks in ranks_of(program, RANKS):
            hold(program, ranks)


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("(f32[n, m] x, f32[?] b, f32[k>=2, ?] c) -> x + broadcast_to(b, (n,)) * c", 5),
        ("(f32[*, ?] a, f32[*, ?] b, f32[?, 4] c) -> a * b + c", 6),
        ("(f32[*, 3] a, f32[?, k>=2] b) -> a * b", 4),
        ("(f32[n] a, f32[m] b, f32[n - m] c, f32[?] d) -> c + d", 3),
    ],
)
def test_a_step_that_is_missing_is_missed(text, steps):
    """What the tests above see: without any one of its steps, a program is not what is asked."""
    program = bg.from_text(text).compilation.program
    nest = program.guards.nests[0]
    dropped = 0
    for step in nest.steps:
        if isinstance(step, (ir.Meet, ir.Check, ir.MeetFront)):
            left = replace(nest, steps=tuple(other for other in nest.steps if other is not step))
            without = replace(program, guards=replace(program.guards, nests=(left,)))
            with pytest.raises(AssertionError):
                for ranks in ranks_of(program, RANKS):
                    hold(without, ranks)
            dropped += 1
    assert dropped == steps


def test_the_solver_s_run_prints_its_figures(capsys):
    assert prove_guards.main(["--count", "4", "--seed", "3"]) == 0
    assert re.match(r"4 of 4 emissions proved, for \d+ combinations of ranks, in \d+ s; 0 not", capsys.readouterr().out)
