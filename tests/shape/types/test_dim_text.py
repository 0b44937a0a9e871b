"""The text of dims: every spelling, what each prints, and texts that are none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bcastgen.core.errors import BroadcastError, ParseError
from bcastgen.shape.types.dim import MAX_EXTENT, Dim
from bcastgen.shape.types.tensor_type import TensorType, parse_type


@pytest.mark.parametrize(
    ("text", "dim", "printed"),
    [
        ("n>=2", Dim("n", min=2), "n>=2"),
        ("n >= 2", Dim("n", min=2), "n>=2"),
        ("? <= 64 % 8 !", Dim(max=64, multiple_of=8, broadcast=False), "?<=64%8!"),
        ("n>=2%8", Dim("n", min=8, multiple_of=8), "n>=8%8"),
        ("n>=0%1", Dim("n"), "n"),
        ("m!", Dim("m", broadcast=False), "m!"),
        ("bcast", Dim(broadcast=True), "bcast"),
        ("1!", Dim(1, broadcast=False), "1!"),
        ("4!", Dim(4), "4"),
        ("4>=2", Dim(4), "4"),
        ("?>=4<=4", Dim(4), "4"),
        ("n>=4<=4", Dim("n", min=4, max=4), "n>=4<=4"),
        (f"n<={MAX_EXTENT}", Dim("n"), "n"),
        ("bcasts", Dim("bcasts"), "bcasts"),
        ("trusted", Dim("trusted"), "trusted"),
    ],
)
def test_spellings(text: str, dim: Dim, printed: str) -> None:
    assert parse_type(f"f32[{text}, 4]").dims == (dim, Dim(4))
    assert str(dim) == printed
    assert parse_type(f"f32[{printed}]").dims == (dim,)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[n trusted]", "column 4: expected ',' or ']', found 'trusted]'"),
        ("[n! trusted]", "a dim is trusted through Dim(..., trusted=True) only, never by text"),
        ("[n>=]", "column 5: expected an integer after '>='"),
        ("[n>=m]", "write n>=2, n<=64 or n%8, in this order"),
        ("[n<=4>=2]", "column 6: expected ',' or ']', found '>=2]'"),
        ("[4, n>=4<=2]", "column 5: dim n has no extent from min 4 to max 2; widen one of them"),
        ("[n>=9<=15%8]", "from min 9 to max 15 that are multiples of 8"),
        ("[n%0]", "column 2: dim n has multiple_of 0, expected 1 or more"),
        ("[bcast!]", "dim bcast stretches, which '!' says it does not"),
        ("[bcast>=2]", "dim has extent 1, which its own facts (>=2) exclude"),
        ("[4<=2]", "dim has extent 4, which its own facts (<=2) exclude"),
        (f"[n<={MAX_EXTENT + 1}]", "an extent is too large"),
        ("tensor<?>=2xf32>", "column 9: expected 'x'"),
        ("[-1]", "expected a dim"),
    ],
)
def test_refuses(text: str, message: str) -> None:
    with pytest.raises(ParseError) as caught:
        parse_type(text)
    assert message in str(caught.value)


extents = st.none() | st.integers(0, 20) | st.just(MAX_EXTENT)


@given(
    st.sampled_from(["n", "m_2", None, 4, 0, 1]),
    extents,
    extents,
    st.none() | st.integers(1, 9),
    st.sampled_from([None, False]),
)
def test_prints_what_it_reads(
    value: str | int | None, low: int | None, high: int | None, step: int | None, flag: bool | None
) -> None:
    try:
        dim = Dim(value, min=low, max=high, multiple_of=step, broadcast=flag)
    except BroadcastError:
        return
    type_ = TensorType(None, (dim, dim))
    assert parse_type(str(type_)) == type_


def test_mlir_knows_nothing_of_facts() -> None:
    assert parse_type("f32[n>=2, bcast, 4, ?!]").mlir == "tensor<?x1x4x?xf32>"
