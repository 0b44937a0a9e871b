"""Examples of constraints that are checked, proved, trusted and refuted, and of the domain that follows, in words.

That it is right for every small combination is shown in test_solve.py.
"""

from __future__ import annotations

from typing import Any

import pytest

from bcastgen.core.errors import BroadcastError
from bcastgen.core.operand_names import operand_names
from bcastgen.shape.constraints import RankAtLeast, StretchesAll
from bcastgen.shape.inference.broadcast import broadcast
from bcastgen.shape.inference.operand_use import Use
from bcastgen.shape.inference.stretch_rules import Rules
from bcastgen.shape.types.dim import Dim
from bcastgen.shape.types.tensor_type import TensorType, parse_type


def said(*operands: str, **options: Any) -> list[str]:
    info = broadcast(list(zip(operand_names(len(operands)), operands, strict=True)), **options)
    return [str(constraint) for constraint in info.constraints]


@pytest.mark.parametrize(
    ("operands", "expected"),
    [
        (("f32[n>=2]", "f32[?]"), ["a.rank = 1", "b.rank = 1", "a.0 >= 2", "b.0 in {1, d0}"]),
        (("f32[n>=2]", "f32[m%2]"), ["a.rank = 1", "b.rank = 1", "a.0 >= 2", "b.0 % 2 = 0", "b.0 = d0"]),
        (
            ("f32[n]", "f32[n>=2<=64%8]"),
            ["a.rank = 1", "b.rank = 1", "a.0 >= 8", "a.0 <= 64", "a.0 % 8 = 0", "b.0 = a.0 (n)"],
        ),
        (("f32[n>=4<=4]", "f32[?]"), ["a.rank = 1", "b.rank = 1", "a.0 = 4", "b.0 in {1, d0}"]),
        (("f32[?!]", "f32[4]"), ["a.rank = 1", "b.rank = 1", "a.0 = 4", "b.0 = 4"]),
        (("f32[bcast]", "f32[?]"), ["a.rank = 1", "b.rank = 1", "a.0 = 1"]),
        (("f32[?>=2]", "f32[4]"), ["a.rank = 1", "b.rank = 1", "a.0 = 4", "b.0 = 4"]),
    ],
)
def test_what_is_checked_at_entry(operands: tuple[str, ...], expected: list[str]) -> None:
    assert said(*operands, entry=True) == expected


@pytest.mark.parametrize(
    ("operands", "dims_", "setters", "places"),
    [
        (("f32[n>=2]", "f32[?]"), "[n>=2]", ("a",), (("a", 0),)),
        (("f32[?]", "f32[n!]"), "[n]", ("b",), (("b", 0),)),
        (("f32[n>=2]", "f32[m%8]"), "[n>=8%8]", ("a",), (("a", 0),)),
        (("f32[n>=2]", "f32[4]"), "[4]", ("b",), (None,)),
        (("f32[?<=8]", "f32[m<=4]"), "[?<=8]", (None,), (None,)),
        (("f32[?<=8]",), "[?<=8]", (None,), (("a", 0),)),
        (("f32[n]", "f32[n<=5]"), "[n<=5]", (None,), (("a", 0),)),
        (("f32[*]", "f32[n>=2]"), "[*, n>=2]", ("b",), (("b", 0),)),
        (("f32[bcast]", "f32[1]"), "[1]", ("a",), (None,)),
    ],
)
def test_the_domain_has_the_facts(operands: tuple[str, ...], dims_: str, setters: object, places: object) -> None:
    info = broadcast(list(zip("abc", operands, strict=False)))
    assert str(TensorType(None, info.dims, info.unranked)) == dims_
    assert (info.setters, info.places) == (setters, places)


def test_rank_expansion_off() -> None:
    off = Rules(rank_expansion=False)
    assert said("f32[?, 4]", "f32[1, ?]", "f32[]", rules=off) == said("f32[?, 4]", "f32[1, ?]", "f32[]")
    assert said("f32[*]", "f32[?, 4]", entry=True, rules=off)[:2] == ["b.rank = 2", "a.rank = b.rank"]
    assert said("f32[*]", "f32[*]", rules=off)[0] == "b.rank = a.rank"
    for operands in (("f32[2, 3]", "f32[3]"), ("f32[3]", "f32[*, 2, 3]"), ("f32[1]", "f32[]", "f32[1, 1]")):
        with pytest.raises(BroadcastError, match=r"has rank \d, expected \d"):
            said(*operands, rules=off)


def test_stretch_off_leaves_rank_expansion() -> None:
    off = Rules(stretch=False)
    assert said("f32[?, ?]", "f32[?]", rules=off) == ["b.0 = d1"]
    assert said("f32[*]", "f32[?]", rules=off) == ["a.* = d*"]
    assert said("f32[bcast, ?]", "f32[4, 4]", rules=off) == ["a.1 = 4"]
    with pytest.raises(BroadcastError, match=r"operand 'b' dim 0 has extent 1, expected 4 .*bcast"):
        said("f32[4]", "f32[1]", rules=off)


@pytest.mark.parametrize(
    ("operands", "message", "facts"),
    [
        (
            ("f32[n>=8]", "f32[n<=4]"),
            "operand 'b' dim 0 is n<=4, and 'a' dim 0 is n>=8: no extent is both",
            ("b", 0, "a"),
        ),
        (
            ("f32[n>=8]", "f32[?<=4!]"),
            "operand 'b' dim 0 has an extent <=4, expected an extent >=8 (from 'a')",
            ("b", 0, "a"),
        ),
        (("f32[4]", "f32[?>=8]"), "operand 'b' dim 0 has an extent >=8, expected extent 4 (from 'a')", ("b", 0, "a")),
        (("f32[n!, n!]", "f32[4, 5]"), "operand 'a' dim 1 has extent 4, expected extent 5 (from 'b')", ("a", 1, "b")),
        (("f32[?%8]", "f32[5]"), "operand 'a' dim 0 has an extent %8, expected extent 5 (from 'b')", ("a", 0, "b")),
    ],
)
def test_what_is_refuted(operands: tuple[str, ...], message: str, facts: tuple[object, ...]) -> None:
    with pytest.raises(BroadcastError) as caught:
        said(*operands)
    assert message in str(caught.value)
    assert (caught.value.operand, caught.value.dim, caught.value.against) == facts


@pytest.mark.parametrize(
    ("x", "target", "message"),
    [
        ("3", Dim(4), "operand 'x' dim 0 has extent 3, expected 1 or 4 to be broadcast to 4"),
        ("3", Dim(1), "operand 'x' dim 0 has extent 3, expected 1 to be broadcast to 1"),
        ("?>=2", Dim(1), "operand 'x' dim 0 has an extent >=2, expected extent 1, which it is broadcast to"),
        (
            "?>=2<=3",
            ("y", 0),
            "operand 'x' dim 0 has an extent >=2<=3, expected an extent >=5, which it is broadcast to",
        ),
    ],
)
def test_explicit_broadcasts_that_are_refuted(x: str, target: Any, message: str) -> None:
    shapes = [Use("y", parse_type("f32[?>=5]"), (2,))] if isinstance(target, tuple) else []
    if isinstance(target, Dim):
        shapes = [Use("shape", TensorType(None, (target,)), (1,), is_target_shape=True)]
    with pytest.raises(BroadcastError) as caught:
        broadcast([Use("x", parse_type(f"f32[{x}]"), (1,), (target,)), *shapes])
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("uses", "message"),
    [
        (
            [Use("a", parse_type("[?]")), Use("t", parse_type("[k]"), is_target_shape=True)],
            "an explicit broadcast is to k, which no operand's type names; name a dim of an operand so",
        ),
        (
            [Use("a", parse_type("[?]")), Use("a", parse_type("[4]"))],
            "operand 'a' is used as [4], expected [?] as before",
        ),
    ],
)
def test_refuses(uses: list[Use], message: str) -> None:
    with pytest.raises(BroadcastError) as caught:
        broadcast(uses)
    assert message in str(caught.value)


def test_unused_names_are_no_constraints() -> None:
    assert not any(
        isinstance(one, (RankAtLeast, StretchesAll)) for one in broadcast([("a", "f32[*]")], entry=True).constraints
    )


def test_a_kernel_may_trust_all_its_dims() -> None:
    info = broadcast(
        [("a", "f32[n, ?]"), ("b", "f32[n, 4]"), ("c", "f32[1, m!]")], entry=True, rules=Rules(dynamic="trusted")
    )
    assert [str(one) for one in info.constraints] == [
        "a.rank = 2",
        "b.rank = 2",
        "c.rank = 2",
        "b.1 = 4",
        "c.0 = 1",
        "c.1 = 4",
    ]
    assert [str(d.constraint) for d in info.decisions if d.fate == "trusted"] == [
        "a.1 = 4",
        "b.0 = a.0 (n)",
        "b.0 = d0",
    ]
    debug = broadcast([("a", "f32[n, ?]"), ("b", "f32[n, 4]")], rules=Rules(dynamic="trusted", debug=True))
    assert [str(one) for one in debug.constraints] == ["a.1 = 4", "b.0 = a.0 (n)"]


def test_a_symbol_is_bound_where_it_is_checked() -> None:
    """What is vouched for is compared with nothing, though it comes first."""
    info = broadcast(
        [("a", TensorType(None, (Dim("n", trusted=True),))), ("b", "f32[n]"), ("c", "f32[n>=2]")], entry=True
    )
    assert info.symbols == (("n", "b", 0),)
    assert [str(one) for one in info.constraints[3:]] == ["b.0 >= 2", "c.0 = b.0 (n)"]
    assert [str(one.constraint) for one in info.decisions if one.fate == "trusted"] == ["a.0 = b.0 (n)", "a.0 = d0"]
