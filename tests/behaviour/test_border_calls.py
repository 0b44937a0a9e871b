"""Random calls of kernels as ufuncs, with operands, outs and keywords of every kind: NumPy's results, or refused."""

import numpy as np
import pytest

import bcastgen as bg
import border_calls
from border_calls import Script, check
from long_runs import many

pytestmark = pytest.mark.filterwarnings("ignore:the matrix subclass is not:PendingDeprecationWarning")


def lines_of(seeds):
    """Check scripts, and return how many lines gave NumPy's results."""
    total = 0
    for seed in seeds:
        script = Script(seed)
        found, agreed, _ = check(script)
        assert found is None, f"seed {seed}: {found}\n{script}"
        total += agreed
    return total


def test_some_calls():
    assert lines_of((30_004, 30_006, 30_010, 30_011)) == 8


@pytest.mark.slow
def test_many_calls():
    count = many(150, 1500)
    assert lines_of(range(31_000, 31_000 + count)) > count // 4


def script(line):
    made = Script(0)
    made.operands = {"a": np.arange(3.0), "o": np.zeros(3)}
    made.lines = [line]
    return made


@pytest.mark.parametrize(
    ("wrong", "line"),
    [
        (lambda a, b: np.add(a, b).astype("f4"), "t0 = m.add(a, 1)"),
        (lambda a, b: np.add(a, b) + 1, "t0 = m.add(a, 1)"),
        (lambda a, b: np.add(a, b)[:, None], "t0 = m.add(a, 1)"),
        (lambda a, b, out: np.add(a, b), "t0 = m.add(a, 1, out=o)"),
        (lambda a, b: np.zeros(3), "t0 = m.add(a, 'x')"),
        (lambda a, b: 1 / 0, "t0 = m.add(a, 1)"),
        (lambda a, b, out: out.fill(7) or np.add(a, "x"), "t0 = m.add(a, 1, out=o)"),
    ],
    ids="dtype values shape out where-numpy-raises an-error-of-its-own written-and-refused".split(),
)
def test_a_difference_is_found(wrong, line, monkeypatch):
    assert check(script(line))[0] is None
    monkeypatch.setitem(border_calls.OURS, "m", type("Module", (), {"add": staticmethod(wrong)}))
    assert check(script(line))[0] is not None


def test_a_refusal_is_counted():
    found, agreed, refused = check(script("t0 = m.add(a, np.longdouble(1))"))
    assert found is None and agreed == 0 and isinstance(refused[0], bg.DTypeError)
