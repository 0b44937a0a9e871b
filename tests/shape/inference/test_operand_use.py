"""Uses: where an operand's dims lie, and which uses make no sense."""

from __future__ import annotations

from typing import Any

import pytest

from bcastgen.core.errors import BroadcastError
from bcastgen.shape.inference.operand_use import Use
from bcastgen.shape.types.dim import Dim
from bcastgen.shape.types.tensor_type import parse_type


def aligned(use: Use) -> list[tuple[int, int, str]]:
    return [(position, own, str(dim)) for position, own, dim in use.aligned]


def test_right_aligned_unless_said_otherwise() -> None:
    type_ = parse_type("f32[n, 4]")
    assert Use("a", type_).aligned == type_.aligned
    assert aligned(Use("a", type_, (1, 2))) == [(1, 0, "n"), (2, 1, "4")]
    assert aligned(Use("a", parse_type("f32[*, n]"))) == [(1, -1, "n")]


def test_span_is_the_least_rank_of_a_domain() -> None:
    assert Use("a", parse_type("f32[n, 4]")).span == 2
    assert Use("a", parse_type("f32[n, 4]"), (3, 1)).span == 3
    assert Use("a", parse_type("f32[]"), ()).span == 0


def test_targets() -> None:
    use = Use("a", parse_type("f32[n, 4]"), (3, 1), (Dim(8), ("y", 2)))
    assert (use.target(0), use.target(1)) == (Dim(8), ("y", 2))
    assert Use("a", parse_type("f32[n]")).target(0) is None


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"positions": (1,)}, "has 1 positions, expected 2; give one a dim"),
        ({"targets": (None,)}, "has 1 targets, expected 2"),
        ({"positions": (1, 1)}, "expected different ones of 1 or more"),
        ({"positions": (0, 1)}, "expected different ones of 1 or more"),
        ({"type": parse_type("f32[*]"), "positions": ()}, "has no known rank, so its dims cannot be permuted"),
        ({"is_target_shape": True}, "is a shape without an array"),
        ({"type": parse_type("f32[*]"), "is_target_shape": True}, "is a shape without an array"),
    ],
)
def test_refuses(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(BroadcastError) as caught:
        Use(**({"name": "a", "type": parse_type("f32[?, 4]")} | fields))
    assert message in str(caught.value) and caught.value.operand == "a"
