"""Computed extents in arithmetic that wraps: the tests beside a value hold exactly where it is one."""

from __future__ import annotations

import random

from bcastgen.loops.guard_program.arithmetic import conditions_of, value_of
from bcastgen.loops.guard_program.ir import Calc, Own
from bcastgen.shape.types import computed
from bcastgen.shape.types.dim import Dim

HUGE = (0, 1, 2, 3, 2**31 - 1, 2**31, 2**32, 3037000500, 2**62 - 1, 2**62, 2**63 - 2, 2**63 - 1)
TEXTS = (
    "n + m",
    "n*m",
    "2*n - m",
    "n*m + m*k - 1",
    "min(2*n, m)",
    "max(n - m, 0)*k",
    "(n*m + 1) // 2",
    "n*n*n",
    "n//2",
    "n // (m + 1)",
    "(n + k) // max(m, 1)",
)


def wrapped(number):
    return (number + 2**63) % 2**64 - 2**63


class Numbers:
    """Indices of 64 bits."""

    def __init__(self, extents):
        self.extents = extents

    def own(self, own):
        return self.extents[own.operand]

    def number(self, number):
        return number

    def binary(self, name, x, y):
        made = {
            "addi": lambda: x + y,
            "subi": lambda: x - y,
            "muli": lambda: x * y,
            "divsi": lambda: abs(x) // abs(y) * (1 if (x < 0) == (y < 0) else -1),
            "minsi": lambda: min(x, y),
            "maxsi": lambda: max(x, y),
        }[name]
        return wrapped(made())

    def compare(self, predicate, x, y):
        return {"sge": x >= y, "sle": x <= y}[predicate]


def test_the_tests_hold_where_there_is_a_value():
    chance, seen = random.Random(2), {True: 0, False: 0}
    for text in TEXTS:
        symbol = Dim(text).symbol
        calc = Calc(symbol, tuple((name, Own(at, 0)) for at, name in enumerate("nmk")))
        for _ in range(300):
            extents = [chance.choice(HUGE) for _ in range(3)]
            wanted = computed.value_of(symbol, dict(zip("nmk", extents, strict=True)))
            numbers = Numbers(extents)
            assert all(conditions_of(calc, numbers)) == (wanted is not None)
            if wanted is not None:
                assert value_of(calc, numbers) == wanted
            seen[wanted is not None] += 1
    assert min(seen.values()) > 300
