"""Declared results with facts, against the semantics in conftest.py; symbols over several results."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from bcastgen.core.errors import BroadcastError
from bcastgen.shape.inference.broadcast import BroadcastInfo, broadcast
from bcastgen.shape.inference.operand_use import Use
from bcastgen.shape.inference.verify import Bound, decide_result, verify_result
from bcastgen.shape.types.dim import Dim
from bcastgen.shape.types.tensor_type import TensorType, parse_type

SMALL = (0, 1, 2, 3, 4)


def dims(*texts: str) -> list[Dim]:
    return [parse_type(f"[{text}]").dims[0] for text in texts]


OPERANDS = dims("?", "1", "3", "n", "n>=2", "m%2", "?<=2", "n!", "n>=2<=2", "bcast")
RESULTS = dims("?", "1", "3", "n", "n>=2", "m", "k%2", "?<=2", "?>=2", "k<=3", "n!", "bcast", "?%4")


def compare(semantics: Any, uses: list[Use], info: BroadcastInfo, result: Dim) -> None:
    declared = TensorType(None, (result,))
    try:
        decisions = decide_result(info, "r", declared)
    except BroadcastError:
        decisions = None
    checked = [one.constraint for one in decisions or () if one.fate == "checked"]
    proved = [one.constraint for one in decisions or () if one.fate == "proved"]
    reached = False
    needed = set()
    for call in semantics.calls(uses, SMALL):
        domain = semantics.accepts(uses, call)
        if domain is None:
            continue
        bound = semantics.bind(uses, call)
        same = result.symbol not in bound or bound[result.symbol] == domain[0]
        legal = semantics.fits_facts(result, domain[0]) and same
        reached |= legal
        if decisions is None:
            assert not legal, (uses, result, call)
            continue
        broken = [one for one in checked if not one.holds(call, domain)]
        assert (not broken) == legal, (uses, result, call, list(map(str, decisions)))
        assert broken or all(one.holds(call, domain) for one in proved), (uses, result, call)
        needed |= set(broken) if len(broken) == 1 else set()
    assert decisions is None or reached, (uses, result)
    # A bound, too, where a symbol is one and both are checked.
    assert needed == set(checked), (uses, result, list(map(str, checked)))


def test_every_pair_of_dims_and_result(semantics: Any) -> None:
    for row in itertools.combinations_with_replacement(OPERANDS, 2):
        uses = [Use(name, TensorType(None, (dim,))) for name, dim in zip("ab", row, strict=True)]
        try:
            info = broadcast(uses, entry=True)
        except BroadcastError:
            continue
        for result in RESULTS:
            compare(semantics, uses, info, result)


@pytest.mark.parametrize(
    ("operands", "result", "expected"),
    [
        (("f32[n>=2]", "f32[?]"), "f32[n>=2]", []),
        (("f32[?]", "f32[?]"), "f32[?>=2<=64%8]", ["r.0 >= 8", "r.0 <= 64", "r.0 % 8 = 0"]),
        (("f32[n%8]",), "f32[?%4]", []),
        (("f32[n%4]",), "f32[?%8]", ["r.0 % 8 = 0"]),
        (("f32[n!]", "f32[m!]"), "f32[m]", []),
        (("f32[n>=2, 1]", "f32[?, ?]"), "f32[n, n>=2]", ["r.1 = a.0 (n)"]),
        (("f32[*]",), "f32[*, ?>=2]", ["r.rank = d.rank >= 1", "r.-1 >= 2"]),
    ],
)
def test_what_remains(operands: tuple[str, ...], result: str, expected: list[str]) -> None:
    info = broadcast(list(zip("ab", operands, strict=False)))
    assert [str(one) for one in verify_result(info, "r", parse_type(result))] == expected


@pytest.mark.parametrize(
    ("operands", "result", "message"),
    [
        (
            ("f32[n<=4]",),
            "f32[8]",
            "result 'r' dim 0 is declared as extent 8, expected n<=4 (inferred from the operands)",
        ),
        (("f32[n>=8]",), "f32[?<=4]", "result 'r' dim 0 is declared as ?<=4, expected n>=8"),
        (
            ("f32[n>=8, m<=4]",),
            "f32[n, n]",
            "result 'r' dim 1 is declared as the extent of 'a' dim 0, n>=8, expected m<=4",
        ),
        (("f32[4]",), "f32[?<=2]", "result 'r' dim 0 is declared as ?<=2, expected 4"),
    ],
)
def test_what_is_refuted(operands: tuple[str, ...], result: str, message: str) -> None:
    info = broadcast(list(zip("ab", operands, strict=False)))
    with pytest.raises(BroadcastError) as caught:
        verify_result(info, "r", parse_type(result))
    assert message in str(caught.value)


def test_a_symbol_is_one_extent_in_all_results() -> None:
    first, second = broadcast([("a", "f32[?]")]), broadcast([("b", "f32[?]")])
    bound: Bound = {}
    assert verify_result(first, "r", parse_type("f32[k]"), bound) == ()
    assert [str(one) for one in verify_result(second, "s", parse_type("f32[k]"), bound)] == ["s.0 = r.0 (k)"]
    assert verify_result(second, "s", parse_type("f32[k]")) == ()


def test_known_extents_of_several_results_are_compared_at_once() -> None:
    bound: Bound = {}
    assert verify_result(broadcast([("a", "f32[3]")]), "r", parse_type("f32[k]"), bound) == ()
    assert verify_result(broadcast([("b", "f32[3]")]), "s", parse_type("f32[k]"), bound) == ()
    with pytest.raises(BroadcastError, match=r"result 't' dim 0 has extent 4, expected 3 .*'r'"):
        verify_result(broadcast([("c", "f32[4]")]), "t", parse_type("f32[k]"), bound)


def test_a_symbol_of_an_operand_binds_results_that_do_not_read_it() -> None:
    bound: Bound = {}
    verify_result(broadcast([("a", "f32[n]")]), "r", parse_type("f32[n]"), bound)
    remaining = verify_result(broadcast([("b", "f32[?]")]), "s", parse_type("f32[n]"), bound)
    assert [str(one) for one in remaining] == ["s.0 = a.0 (n)"]


def test_what_is_known_of_a_domain_is_proved_of_a_result() -> None:
    info = broadcast([("a", "f32[n>=2]"), ("b", "f32[?]")])
    decisions = decide_result(info, "r", parse_type("f32[n>=2]"))
    assert [str(one) for one in decisions] == [
        "r.rank = 1 = d.rank: proved",
        "r.0 = a.0 (n): proved",
        "r.0 >= 2: proved",
    ]
