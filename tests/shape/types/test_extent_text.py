"""Texts of extents that are computed from names: what is read, what prints reads back, what is refused."""

from __future__ import annotations

import random

import pytest

from bcastgen.core.errors import BcastgenError, ParseError
from bcastgen.shape.types.dim import Dim
from bcastgen.shape.types.extent_expr import ExtentExpr, add, multiply, named
from bcastgen.shape.types.extent_ops import floor_divide, maximum, minimum
from bcastgen.shape.types.extent_text import parse_extents

N, M = named("n"), named("m")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("[]", ()),
        ("[ n , 4 , ? ]", (Dim("n"), Dim(4), Dim())),
        ("[n<=64%8, ?>=2]", (Dim("n", max=64, multiple_of=8), Dim(min=2))),
        ("[n + m]", (add(N, M),)),
        ("[n+0]", (N,)),
        ("[2*n, n*2]", (multiply(N, 2),) * 2),
        ("[(n + 1) * (m + 1)]", (multiply(add(N, 1), add(M, 1)),)),
        ("[-n + 2*n]", (N,)),
        ("[n // 2 * 2]", (multiply(floor_divide(N, 2), 2),)),
        ("[min(n, m, 4), max(n, 4)]", (minimum(minimum(N, M), 4), maximum(N, 4))),
        ("[broadcast(n, 1)]", (N,)),
        ("[2 + 3]", (5,)),
        ("[min, max]", (Dim("min"), Dim("max"))),
    ],
)
def test_what_is_read(text, wanted):
    assert parse_extents(text) == wanted


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[n +]", r"column 5: expected an extent, found '\]'"),
        ("[n + m", r"column 7: expected ',', found the end"),
        ("[n % m]", r"expected an integer after '%'"),
        ("[n + m<=4]", r"expected ',', found '<=4\]'"),
        ("[gcd(n, m)]", r"column 2: 'gcd' is no function of extents .*use one of min, max, broadcast"),
        ("[n // 0]", r"divided by what may be 0"),
        ("[n // m]", r"divided by what may be 0"),
        ("[n] + 1", r"expected the end, found '\+ 1'"),
        ("[n, , m]", r"expected"),
        ("[+n]", r"expected"),
        (f"[{'n*' * 30}n]", r"too large"),
        (f"[{'(' * 1_000}n{')' * 1_000}]", r"expected at most 16 parentheses in parentheses"),
        (f"[n + {'9' * 5_000}]", r"an extent is too large"),
    ],
)
def test_what_is_refused(text, message):
    with pytest.raises(ParseError, match=message):
        parse_extents(text)


def test_long_texts_take_no_long_time():
    assert len(parse_extents(f"[{' + '.join(['n'] * 5_000)}]")) == 1
    with pytest.raises(ParseError, match="too large"):
        parse_extents(f"[{' + '.join(f'x{at}' for at in range(5_000))}]")
    with pytest.raises(ParseError, match="too large"):
        parse_extents(f"[min({', '.join(f'x{at}' for at in range(5_000))})]")
    for between, message in ((" + ", "at most 5000 terms"), (", ", "at most 1000 extents")):
        with pytest.raises(ParseError, match=f"expected {message}"):
            parse_extents(f"[{between.join(['n'] * 1_000_000)}]")
    with pytest.raises(ParseError, match="at most 5000 operands"):
        parse_extents(f"[min({', '.join(['n'] * 1_000_000)})]")


def test_what_prints_reads_back():
    chance = random.Random(5)
    extents = [named(text) for text in "nmk"]
    functions = [add, multiply, minimum, maximum, floor_divide]
    seen = 0
    for _ in range(400):
        made = chance.choice(functions)(chance.choice(extents), chance.choice([*extents, 2, 3, add(N, 1)]))
        if isinstance(made, ExtentExpr) and made.name is None and len(str(made)) < 80:
            extents[chance.randrange(3)] = made if chance.random() < 0.8 else N
            assert parse_extents(f"[{made}]") == (made,), str(made)
            seen += 1
    assert seen > 100


def test_random_texts_raise_nothing_else():
    chance = random.Random(11)
    pieces = [
        "n",
        "m",
        "min(",
        "max(",
        "broadcast(",
        "(",
        ")",
        "+",
        "-",
        "*",
        "//",
        ",",
        "[",
        "]",
        "?",
        "4",
        ">=",
        "%",
        " ",
        "ü",
    ]
    for _ in range(2_000):
        text = "[" + "".join(chance.choice(pieces) for _ in range(chance.randint(0, 12))) + chance.choice(["]", ""])
        try:
            parse_extents(text)
        except BcastgenError:
            continue
