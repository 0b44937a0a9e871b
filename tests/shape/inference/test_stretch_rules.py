"""Rules: how a dim takes part under each."""

from __future__ import annotations

from typing import Any

import pytest

from bcastgen.core.errors import BcastgenError
from bcastgen.shape.inference.broadcast import broadcast
from bcastgen.shape.inference.stretch_rules import Rules
from bcastgen.shape.types.dim import Dim

KINDS = {
    "?": Dim(),
    "4": Dim(4),
    "1": Dim(1),
    "?!": Dim(broadcast=False),
    "bcast": Dim(broadcast=True),
    "trusted": Dim(trusted=True),
}


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        (Rules(), "numpy numpy numpy strict numpy trusted"),
        (Rules(debug=True), "numpy numpy numpy strict numpy strict"),
        (Rules(stretch=False), "strict strict strict strict numpy trusted"),
        (Rules(dynamic="strict"), "strict numpy numpy strict numpy trusted"),
        (Rules(dynamic="trusted"), "trusted numpy numpy strict numpy trusted"),
        (Rules(dynamic="trusted", debug=True), "strict numpy numpy strict numpy strict"),
        (Rules(stretch=False, dynamic="trusted"), "trusted strict strict strict numpy trusted"),
    ],
)
def test_way(rules: Rules, expected: str) -> None:
    assert " ".join(rules.stretch_mode(dim) for dim in KINDS.values()) == expected


def test_what_is_broadcast_explicitly_follows_its_dims_only() -> None:
    for rules in (Rules(), Rules(stretch=False), Rules(dynamic="strict"), Rules(dynamic="trusted")):
        ways = " ".join(rules.stretch_mode(dim, explicit=True) for dim in KINDS.values())
        assert ways == "numpy numpy numpy strict numpy trusted"


def test_refuses() -> None:
    unknown: Any = "loose"
    with pytest.raises(BcastgenError, match="dynamic='loose' is not available; use 'numpy', 'strict' or 'trusted'"):
        Rules(dynamic=unknown)


@pytest.mark.parametrize("rules", [Rules(dynamic="strict"), Rules(dynamic="trusted"), Rules(stretch=False)])
def test_a_dim_s_own_mode_goes_before_the_kernel_s(rules):
    assert rules.stretch_mode(Dim("n")) != "numpy"
    assert rules.stretch_mode(Dim("n", stretches=True)) == "numpy"
    info = broadcast([("a", "f32[n~]"), ("b", "f32[m]")], rules=rules)
    assert "a.0 in {1, d0}" in [str(decision.constraint) for decision in info.decisions]
