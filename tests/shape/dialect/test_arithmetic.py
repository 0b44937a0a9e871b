"""Index arithmetic against NumPy's int64, which wraps as it does."""

from __future__ import annotations

import itertools
from fractions import Fraction
from math import ceil, trunc

import numpy as np

from bcastgen.shape.dialect.arithmetic import COMPARISONS, ceil_divide, divide, floor_divide, remainder, unsigned, wrap
from bcastgen.shape.dialect.row import Failed

NUMBERS = [-(2**63), -(2**63) + 1, -7, -2, -1, 0, 1, 2, 7, 2**62, 2**63 - 1]
PAIRS = list(itertools.product(NUMBERS, repeat=2))


def test_sums_differences_and_products_wrap():
    for a, b in PAIRS:
        with np.errstate(all="ignore"):
            x, y = np.array([a]), np.array([b])
            assert [wrap(a + b), wrap(a - b), wrap(a * b)] == [int((x + y)[0]), int((x - y)[0]), int((x * y)[0])]


def test_divisions_round_as_they_say():
    for a, b in PAIRS:
        if b == 0:
            for function in (divide, floor_divide, ceil_divide, remainder):
                assert isinstance(function(a, b), Failed) and isinstance(unsigned(function)(a, b), Failed)
        elif (a, b) == (-(2**63), -1):
            assert divide(a, b) == floor_divide(a, b) == ceil_divide(a, b) == a
            assert remainder(a, b) == 0
        else:
            assert floor_divide(a, b) == a // b
            assert ceil_divide(a, b) == ceil(Fraction(a, b))
            assert divide(a, b) == trunc(Fraction(a, b))
            assert divide(a, b) * b + remainder(a, b) == a


def test_unsigned_divisions_are_those_of_numpys_uint64():
    for a, b in PAIRS:
        if b != 0:
            x, y = (np.array([value]).view(np.uint64) for value in (a, b))
            assert unsigned(floor_divide)(a, b) == int((x // y).view(np.int64)[0])
            assert unsigned(remainder)(a, b) == int((x % y).view(np.int64)[0])


def test_comparisons_with_u_are_unsigned():
    for a, b in PAIRS:
        for name, (function, is_unsigned) in COMPARISONS.items():
            kind = np.uint64 if is_unsigned else np.int64
            x, y = (np.array([value]).astype(np.int64).view(kind)[0] for value in (a, b))
            chosen = (a % 2**64, b % 2**64) if is_unsigned else (a, b)
            assert function(*chosen) == function(x, y), name
