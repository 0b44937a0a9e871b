"""Extents that types compute from names: what is read, what it is worth, where it lies, what is refused."""

from __future__ import annotations

import itertools
import random

import pytest

from bcastgen.core.errors import BroadcastError, ParseError
from bcastgen.shape.types.computed import may_overflow, normal_form, range_of, value_of
from bcastgen.shape.types.dim import MAX_EXTENT, Dim
from bcastgen.shape.types.facts import Range
from bcastgen.shape.types.tensor_type import parse_type

LEAVES = ("n", "m", "k", "n", "m", "1", "2", "3")
FORMS = ("({} + {})", "({} - {})", "({} * {})", "min({}, {})", "max({}, {})")


def drawn(chance, depth):
    if depth == 0 or chance.random() < 0.3:
        return chance.choice(LEAVES)
    if chance.random() < 0.15:
        return f"({drawn(chance, depth - 1)} // {chance.choice((1, 2, 3))})"
    return chance.choice(FORMS).format(drawn(chance, depth - 1), drawn(chance, depth - 1))


def test_a_computed_extent_is_what_python_computes():
    chance, seen = random.Random(1), 0
    for _ in range(400):
        text = drawn(chance, 3)
        try:
            dim = Dim(text)
        except BroadcastError:
            continue
        assert parse_type(f"f32[{text}]").dims == (dim,)
        assert parse_type(f"f32[{dim}, {dim}!]").dims[0] == dim
        for extents in itertools.product((0, 1, 2, 5), repeat=3):
            names = dict(zip("nmk", extents, strict=True))
            wanted = eval(text, {"min": min, "max": max}, dict(names))
            if dim.is_computed:
                assert value_of(dim.symbol, names) == wanted
                assert wanted < 0 or dim.range.has(wanted)
            elif dim.is_static:
                assert dim.extent == wanted
            else:
                assert names[dim.symbol] == wanted
        seen += dim.is_computed
    assert seen > 150


@pytest.mark.parametrize(
    ("text", "extents", "wanted"),
    [
        ("n + m", (MAX_EXTENT - 3, 3), MAX_EXTENT),
        ("n + m", (MAX_EXTENT - 3, 4), None),
        ("n*m", (2**31, 2**31), 2**62),
        ("n*m", (2**32, 2**31), None),
        ("n*m", (2**62, 0), 0),
        ("n*m - n", (2**40, 2**40), None),
        ("n - m", (0, MAX_EXTENT), -MAX_EXTENT),
        ("2*n - m", (2**62, 2**62), None),
        ("min(2*n, m)", (2**62, 1), None),
        ("max(n - m, 0)", (1, MAX_EXTENT), 0),
    ],
)
def test_what_64_bits_do_not_hold_is_no_extent(text, extents, wanted):
    dim = Dim(text)
    assert value_of(dim.symbol, dict(zip("nm", extents, strict=True))) == wanted
    assert wanted is not None or may_overflow(dim.symbol)


def test_equal_expressions_are_one_dim():
    assert Dim("n+m") == Dim("m + n") == Dim("(n + m) * 1")
    assert hash(Dim("2*n")) == hash(Dim("n + n"))
    assert Dim("n + 0") == Dim("n")
    assert Dim("2 + 3") == Dim(5)
    assert normal_form("7 n") is None


def test_facts_are_kept_that_the_expression_does_not_say():
    assert str(Dim("2*n", multiple_of=2)) == "2*n"
    assert str(Dim("2*n", multiple_of=4, min=1, broadcast=False)) == "2*n>=4%4!"
    assert str(parse_type("f32[n+m>=2<=64%2~]")) == "f32[m + n>=2<=64%2~]"
    assert range_of("2*n") == Range(0, MAX_EXTENT - 1, 2)
    assert not Dim("n + 2").can_be_one
    assert Dim("n + 1").can_be_one


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("broadcast(n, m)", "says what extents broadcast to, which types do not"),
        ("-n - 1", "is below 0 for all extents"),
        ("min(n - 1, m) + 1", r"may be below 0; write max\(min\(n - 1, m\), 0\)"),
        ("n // m", "divided by what may be 0"),
        ("2 - 3", "expected 0 or more"),
        ("n + ?", "expected an extent"),
        ("9223372036854775807*n + n", "has a number that 64 bits do not hold"),
        ("n + 1<=0", "no extent in its own facts"),
    ],
)
def test_what_types_do_not_say(text, message):
    with pytest.raises(ParseError, match=message):
        parse_type(f"f32[{text}]")
