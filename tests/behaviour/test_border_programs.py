"""Random programs of NumPy's calls, operators, dtypes as text and scalars: the same as NumPy's, or refused by name."""

import pytest

import bcastgen as bg
from border_programs import check, make
from long_runs import many


def outcomes(seeds, compiled=0):
    """Check programs, and return how many gave a value and how many were refused."""
    values = refused = 0
    for at, seed in enumerate(seeds):
        program = make(seed)
        for ran in (False, True)[: 1 + (at < compiled)]:
            try:
                found = check(program, ran)
            except bg.BcastgenError:
                refused += 1
                continue
            assert found is None, f"seed {seed} {'compiled' if ran else 'interpreted'}: {found}\n{program}"
            values += 1
    return values, refused


def test_some_programs():
    values, refused = outcomes(range(250), compiled=4)
    assert values > 100 and refused > 30


@pytest.mark.slow
def test_many_programs():
    count = many(600, 5000)
    values, refused = outcomes(range(250, 250 + count), compiled=30)
    assert values > 0.45 * count and refused > count // 10


def test_a_difference_is_found():
    """What is found: another dtype, another value, a value where NumPy refuses."""
    program = make(1)
    program.source, program.operands = "def program(a):\n    return a + 1\n", (2.0,)
    for wanted in (4.0, 3, [3.0]):
        program.value, program.error = wanted, None
        assert "gives" in check(program)
    program.error = TypeError("no")
    assert "where NumPy raises" in check(program)
    program.value, program.error = 3.0, None
    assert check(program) is None
