"""Random expressions, computed in four ways that must agree: by the compiled kernel, by the interpreter of its nests,
by the rows' references over the typed expression, and by plain NumPy.

A program is a Python function of arrays: a list of steps, each an operator or a NumPy function of operands, earlier
steps and scalars. Where all its ops are exact, so is the agreement. Where some are not, every step is a result, and
each is compared with NumPy's function of the values that the steps before it came to.
"""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bcastgen.core.errors import DomainError
from bcastgen.expr.infer import infer
from bcastgen.loops.interpret import interpret
from bcastgen.ops.table import OPS
from expression_programs import EITHER_ZERO, Value, by_numpy, by_references, make_operands, make_program
from long_runs import many


@pytest.fixture(scope="module")
def check_exact(samples, layouts, differences):
    """Call ``check_exact(chance, steps)`` to make a program of exact ops and compare the four ways to compute it."""

    def agree(results, wanted, way, program):
        for at, got, expected in zip(program.results, results, wanted, strict=True):
            got, expected = np.asarray(got), np.asarray(expected)
            same = got.dtype == expected.dtype and got.shape == expected.shape and not differences(got, expected).any()
            assert same, f"v{at} is {got!r} by {way}, not {expected!r}\n{program}"

    def check(chance, steps):
        program = make_program(chance, True, steps)
        if not program.steps:
            return
        kernel, typed = program.kernel, infer(program.expression, program.call_types)
        for shape in (tuple(chance.randint(1, 3) for _ in range(chance.randint(0, 3))), (3, 43)):
            operands = make_operands(chance, program.call_types, shape, samples, layouts)
            try:
                wanted = by_references(typed, operands)
            except ValueError:
                for call in (kernel, lambda *operands: interpret(kernel.compilation.program, operands)):
                    with pytest.raises(DomainError):
                        call(*operands)
                continue
            results = kernel(*operands)
            agree(results if isinstance(results, tuple) else (results,), wanted, "the kernel", program)
            agree(program.run(operands, by_numpy), wanted, "NumPy", program)
            if shape != (3, 43):
                agree(interpret(kernel.compilation.program, operands), wanted, "the interpreter", program)

    return check


@pytest.fixture(scope="module")
def check_steps(samples, layouts, differences):
    """Call ``check_steps(chance, steps)`` to make a program of any ops and check each step of it on its own."""

    def follow(results, operands, way, program):
        values = [*operands, *map(np.asarray, results)]
        for at, step in enumerate(program.steps, len(operands)):
            expected = by_numpy(step, [values[x.at] if isinstance(x, Value) else x for x in step.operands])
            expected = np.asarray(expected, step.result.np)
            # NumPy's own functions are up to 4 ULP off.
            wrong = differences(values[at], expected, step.ulp and step.ulp + 4, step.op.name in EITHER_ZERO)
            same = values[at].shape == expected.shape and not wrong.any()
            assert same, f"v{at} is {values[at]!r} by {way}, not {expected!r}\n{program}"

    def check(chance, steps):
        program = make_program(chance, False, steps)
        if not program.steps:
            return
        kernel = program.kernel
        for shape in (tuple(chance.randint(1, 3) for _ in range(chance.randint(0, 3))), (3, 43)):
            operands = make_operands(chance, program.call_types, shape, samples, layouts)
            try:
                results = kernel(*operands)
            except DomainError:
                with pytest.raises(ValueError, match="negative integer powers"):
                    program.run(operands, by_numpy)
                continue
            follow(results if isinstance(results, tuple) else (results,), operands, "the kernel", program)
            if shape != (3, 43):
                follow(interpret(kernel.compilation.program, operands), operands, "the interpreter", program)

    return check


def test_programs_have_steps_of_every_op():
    """What a step may not be is left out, so that a fault of the generator leaves nothing, and no test fails."""
    programs = [make_program(random.Random(seed), seed % 2 == 0, 12) for seed in range(600)]
    assert sum(len(program.steps) > 2 for program in programs) > 500
    assert len({step.op.name for program in programs for step in program.steps}) > 0.95 * len(OPS)


fixed = settings(
    max_examples=40, deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow]
)


@fixed
@given(chance=st.randoms(use_true_random=False))
def test_programs_of_exact_ops(chance, check_exact):
    check_exact(chance, 7)


@fixed
@given(chance=st.randoms(use_true_random=False))
def test_programs_of_any_ops(chance, check_steps):
    check_steps(chance, 5)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(many(5, 60)))
def test_larger_programs(seed, check_exact, check_steps):
    check_exact(random.Random(seed), 40)
    check_steps(random.Random(seed), 20)
