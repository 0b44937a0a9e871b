"""Kernels that no call is legal for are refused when types are looked at, and no others: against all small extents."""

from __future__ import annotations

import random
import re

import pytest

import bcastgen as bg
from long_runs import slow_seeds

DIMS = ("?", "n", "n", "m", "k", "1", "3", "2", "n>=2", "?>=2", "?<=1", "m!", "n%2", "bcast", "n + 1", "2*m", "m + n")
DECLARED = ("?", "n", "m", "k", "1", "3", "2", "n>=2", "?>=2", "t", "t", "n + 1", "2*n", "m + 2")
SMALL = range(7)


def is_computed(dim):
    return "+" in dim or "*" in dim


def parsed(dim):
    """A dim's extent, name, bounds, multiple and whether it never stretches; of a computed one its expression."""
    if dim == "bcast":
        return 1, None, 0, None, 1, False
    if is_computed(dim):
        return None, dim, 0, None, 1, False
    value, low, high, step, stiff = re.fullmatch(r"([a-z?]|\d)(?:>=(\d))?(?:<=(\d))?(?:%(\d))?(!)?", dim).groups()
    extent, name = (int(value) if value.isdigit() else None), (value if value.isalpha() else None)
    return extent, name, int(low or 0), int(high) if high else None, int(step or 1), bool(stiff)


def admits(dim, extent, names):
    known, name, low, high, step, _ = dim
    within = known in (None, extent) and low <= extent and (high is None or extent <= high) and extent % step == 0
    return within and (name is None or names.setdefault(name, extent) == extent)


def agree(names):
    """Whether computed extents are what their names make them; a name that is not there may be any extent."""
    return all(value == eval(text, {}, names) for text, value in names.items() if is_computed(text))


def is_legal(operands, results, extents, names):
    """Whether operands of these extents, which are what their types declare, broadcast to what results declare."""
    for read, declared in results:
        for position in range(1, len(declared) + 1):
            met = [(extents[at][-position], operands[at][-position]) for at in read if len(operands[at]) >= position]
            others = {extent for extent, _ in met if extent != 1}
            domain = next(iter(others), 1)
            if len(others) > 1 or any(dim[5] and extent != domain for extent, dim in met):
                return False
            if not admits(declared[-position], domain, names):
                return False
    return agree(names)


def has_legal_call(operands, results):
    def tried(at, extents, names):
        if at == sum(map(len, operands)):
            return is_legal(operands, results, extents, dict(names))
        row = next(row for row in range(len(operands)) if at < sum(map(len, operands[: row + 1])))
        dim = operands[row][len(extents[row])]
        for extent in SMALL:
            more = dict(names)
            longer = [[*one, extent] if number == row else one for number, one in enumerate(extents)]
            if admits(dim, extent, more) and tried(at + 1, longer, more):
                return True
        return False

    return tried(0, [[] for _ in operands], {})


def drawn(chance):
    count = chance.choice((1, 2, 2, 3))
    operands = [[chance.choice(DIMS) for _ in range(chance.choice((0, 1, 1, 2, 2)))] for _ in range(count)]
    results = []
    for _ in range(chance.choice((1, 1, 2, 3))):
        read = sorted(chance.sample(range(count), chance.randint(1, count)))
        rank = max(len(operands[at]) for at in read)
        results.append((read, [chance.choice(DECLARED) for _ in range(rank)]))
    alone = {parsed(dim)[1] for dims in operands for dim in dims}
    for dims in (*operands, *(declared for _, declared in results)):
        # A name that is computed with is the extent of an operand's dim.
        dims[:] = ["?" if is_computed(dim) and not alone.issuperset(re.findall("[a-z]", dim)) else dim for dim in dims]
    return operands, results


def spelled(operands, results):
    """A signature, and the function of it."""
    types = ", ".join(f"f32[{', '.join(dims)}] {name}" for dims, name in zip(operands, "abc", strict=False))
    made = ", ".join(f"f32[{', '.join(dims)}]" for _, dims in results)
    body = ", ".join(" + ".join(["0.5", *("abc"[at] for at in read)]) for read, _ in results)
    names = ", ".join("abc"[: len(operands)])
    return (
        f"({types}) -> {made if len(results) == 1 else f'({made})'}",
        f"lambda {names}: ({body})",
    )


@pytest.mark.parametrize("seed", [*range(4), *slow_seeds(4, 20)])
def test_exactly_what_no_call_is_legal_for_is_refused(seed):
    chance, verdicts = random.Random(seed), set()
    for _ in range(40 if seed < 100 else 200):
        operands, results = drawn(chance)
        signature, body = spelled(operands, results)
        legal = has_legal_call(
            [list(map(parsed, dims)) for dims in operands], [(read, list(map(parsed, dims))) for read, dims in results]
        )
        try:
            assert bg.jit(eval(body), signature=signature).compilation.program
            taken = True
        except bg.BroadcastError:
            taken = False
        assert taken == legal, f"{signature}: {body}"
        verdicts.add(legal)
    assert verdicts == {True, False}


@pytest.mark.parametrize(
    ("signature", "function", "dim"),
    [
        ("(f32[n] a, f32[n, n] b) -> f32[3, 4]", lambda a, b: a + b, "result 'r' dim 1 is declared as 4"),
        ("(f32[n] a, f32[n] b) -> (f32[3], f32[4])", lambda a, b: (a + 1, b + 1), "result 'r1' dim 0 is declared as 4"),
        ("(f32[n] a) -> f32[n + 1]", lambda a: a + 1, r"result 'r' dim 0 is declared as n \+ 1"),
        ("(f32[n>=2] a, f32[n + 2] b)", lambda a, b: a + b, r"operand 'b' dim 0 is declared as n \+ 2"),
        ("(f32[n, m, n + m] a) -> f32[3, 3, 7]", lambda a: a + 1, "result 'r' dim 2 is declared as 7"),
    ],
)
def test_the_error_names_the_first_declaration_that_does_not_hold(signature, function, dim):
    with pytest.raises(bg.BroadcastError, match=dim):
        assert bg.jit(function, signature=signature).compilation.program
