"""Extents computed from names, against the numbers that brute force gives."""

from __future__ import annotations

import random
from itertools import product

import numpy as np
import pytest

from bcastgen.shape.types import extent_expr, extent_ops
from bcastgen.shape.types.extent_expr import add, evaluate, multiply, named, names_of, subtract
from bcastgen.shape.types.extent_ops import broadcast, floor_divide, maximum, minimum, substitute
from bcastgen.shape.types.extent_span import is_at_most, is_less, is_same, span
from bcastgen.shape.types.facts import Range
from long_runs import many

RANGES = [Range(), Range(0, 4), Range(1, 5), Range(2, 6), Range(2, 6, 2), Range(0, 12, 4), Range(3, 9, 3), Range(-2, 2)]
# What each function is of numbers; None where it says nothing.
FUNCTIONS = {
    add: lambda a, b: a + b,
    subtract: lambda a, b: a - b,
    multiply: lambda a, b: a * b,
    minimum: min,
    maximum: max,
    floor_divide: lambda a, b: a // b if b else None,
}


def in_range(chance, range_):
    numbers = [number for number in range(range_.low, min(range_.high, 9) + 1) if range_.has(number)]
    return chance.choice(numbers)


def drawn(chance, names, depth=3):
    """An extent, and what computes the same of numbers."""
    if depth == 0 or chance.random() < 0.2:
        if chance.random() < 0.3:
            number = chance.randint(-3, 6)
            return number, lambda extents: number
        text = chance.choice(list(names))
        return named(text, names[text]), lambda extents: extents[text]
    (a, left), (b, right) = drawn(chance, names, depth - 1), drawn(chance, names, depth - 1)
    function = chance.choice(list(FUNCTIONS))

    def computed(extents):
        x, y = left(extents), right(extents)
        return None if x is None or y is None else FUNCTIONS[function](x, y)

    return function(a, b), computed


def some_extents(chance, names, count=12):
    return [{text: in_range(chance, range_) for text, range_ in names.items()} for _ in range(count)]


def verify_one(seed):
    chance = random.Random(seed)
    names = {text: chance.choice(RANGES) for text in ("n", "m", "k")}
    (a, left), (b, right) = drawn(chance, names), drawn(chance, names)
    if a is None or b is None:
        return 0
    equal, less, at_most = is_same(a, b), is_less(a, b), is_at_most(a, b)
    for extents in some_extents(chance, names):
        x, y = left(extents), right(extents)
        if x is None or y is None:
            continue
        assert (evaluate(a, extents), evaluate(b, extents)) == (x, y), (seed, str(a), str(b), extents)
        assert span(a).has(x), (seed, str(a), extents)
        assert equal in (None, x == y), (seed, str(a), str(b), extents)
        assert less in (None, x < y), (seed, str(a), str(b), extents)
        assert at_most in (None, x <= y), (seed, str(a), str(b), extents)
        for text, value in extents.items():
            rest = {other: known for other, known in extents.items() if other != text}
            put = substitute(a, {text: value})
            assert put is None or evaluate(put, rest) == x, (seed, str(a), text, extents)
    return (equal, less, at_most).count(None) < 3


def test_what_is_computed_of_names_is_what_is_computed_of_numbers():
    decided = sum(map(verify_one, range(150)))
    assert 30 < decided < 150


@pytest.mark.slow
def test_what_is_computed_of_names_is_what_is_computed_of_numbers_in_many_cases():
    for seed in range(1_000, 1_000 + many(3_000, 40_000)):
        verify_one(seed)


def test_sums_of_products_of_names_have_one_form():
    """Two polynomials are one value exactly if they are the same at enough points."""
    names = {text: Range(0, 4) for text in ("n", "m")}
    points = [dict(zip(names, point, strict=True)) for point in product(range(5), repeat=2)]
    chance = random.Random(7)
    made = []
    for _ in range(60):
        extent = drawn_sum(chance, names)
        made.append((extent, tuple(evaluate(extent, point) for point in points)))
    for (a, x), (b, y) in product(made, repeat=2):
        assert (a == b) == (x == y), (str(a), str(b))
        assert is_same(a, b) is (True if x == y else is_same(a, b))


def drawn_sum(chance, names):
    total = chance.randint(-1, 1)
    for _ in range(chance.randint(1, 2)):
        term = chance.randint(-1, 2)
        for _ in range(chance.randint(1, 2)):
            term = multiply(term, named(*chance.choice(list(names.items()))))
        total = add(total, term)
    return total


def test_what_names_broadcast_to_is_numpys():
    for ranges in product(RANGES[1:5], repeat=3):
        names = dict(zip("nmk", ranges, strict=True))
        made = broadcast([named(text, range_) for text, range_ in names.items()])
        again = broadcast([named("k", ranges[2]), broadcast([named("m", ranges[1]), named("n", ranges[0])]), 1])
        chance = random.Random(1)
        for extents in some_extents(chance, names, 40):
            try:
                wanted = np.broadcast_shapes(*((extent,) for extent in extents.values()))[0]
            except ValueError:
                continue
            assert evaluate(made, extents) == evaluate(again, extents) == wanted, (str(made), extents)
            assert span(made).has(wanted)


N, M = named("n"), named("m", Range(2))
EVEN, SMALL = named("e", Range(0, 64, 2)), named("s", Range(1, 7))


@pytest.mark.parametrize(
    ("extent", "wanted"),
    [
        (add(N, 0), N),
        (multiply(N, 1), N),
        (multiply(N, 0), 0),
        (subtract(add(N, M), N), M),
        (minimum(N, N), N),
        (minimum(N, add(N, 1)), N),
        (maximum(N, add(N, 1)), add(N, 1)),
        (maximum(minimum(N, M), minimum(M, N)), minimum(N, M)),
        (minimum(SMALL, 7), SMALL),
        (maximum(SMALL, 1), SMALL),
        (broadcast([N, 1]), N),
        (broadcast([N, M]), M),
        (broadcast([N, M, 4]), 4),
        (floor_divide(multiply(N, 2), 2), N),
        (floor_divide(add(multiply(N, 4), 3), 4), N),
        (floor_divide(SMALL, 8), 0),
        # A multiple of 2, halved and doubled, is what it was; any other is what the rest leaves.
        (multiply(floor_divide(EVEN, 2), 2), EVEN),
        (multiply(multiply(floor_divide(EVEN, 2), N), 6), multiply(multiply(EVEN, N), 3)),
        (add(floor_divide(EVEN, 2), floor_divide(EVEN, 2)), EVEN),
        (floor_divide(multiply(floor_divide(N, 2), 2), 2), floor_divide(N, 2)),
        (floor_divide(multiply(N, M), M), N),
        (floor_divide(add(M, 1), add(M, 1)), 1),
        (floor_divide(N, N), None),
        (floor_divide(M, 0), None),
        (named("k", Range(3, 3)), 3),
    ],
)
def test_what_folds(extent, wanted):
    assert extent == wanted


@pytest.mark.parametrize(
    ("a", "b", "verdict"),
    [
        (M, 1, False),
        (N, 1, None),
        (add(EVEN, 1), 4, False),
        (add(EVEN, 1), 5, None),
        (EVEN, 66, False),
        (multiply(N, M), multiply(M, N), True),
        (add(N, M), add(N, 1), False),
        (minimum(M, 5), 1, False),
    ],
)
def test_what_is_decided_of_equality(a, b, verdict):
    assert is_same(a, b) is verdict


def test_extents_print_as_one_would_write_them():
    extents = [add(multiply(N, 2), 1), subtract(M, N), multiply(N, -3), SMALL, minimum(N, add(SMALL, 1))]
    assert list(map(str, extents)) == ["2*n + 1", "m - n", "-3*n", "s>=1<=7", "min(s + 1, n)"]
    assert str(add(named("a.0", is_shown=False), N)) == "?"
    assert str(multiply(floor_divide(add(N, 1), 2), 3)) == "3*((n + 1) // 2)"


def test_nothing_grows_without_end():
    """However they are combined, extents stay small, or nothing is known of them."""
    chance = random.Random(3)
    extents = [named(f"x{at}") for at in range(20)]
    for _ in range(500):
        made = chance.choice(list(FUNCTIONS))(chance.choice(extents), chance.choice(extents))
        if isinstance(made, extent_expr.ExtentExpr):
            extents[chance.randrange(len(extents))] = made
            assert len(made.terms) <= 12
            assert len(str(made)) < 4_000
            assert len(names_of(made)) <= 24
    wide = 0
    for at in range(40):
        wide = add(wide, named(f"x{at}"))
    assert wide is None
    assert multiply(multiply(N, 2**64), 2) is None
    assert extent_ops.floor_divide(None, 3) is None
