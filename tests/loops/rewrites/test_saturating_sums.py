"""Sums that are clipped to their summands' range saturate, and give the same bits."""

from __future__ import annotations

import numpy as np
import pytest

from bcastgen import from_text
from bcastgen.core.dtypes import dtype
from bcastgen.loops.interpret import interpret
from bcastgen.loops.rewrites.saturating_sums import saturating_sums
from nests import nest_of


@pytest.mark.parametrize(
    ("kind", "wide"), [("i8", "i16"), ("i8", "i64"), ("i16", "i32"), ("i16", "i64"), ("i32", "i64")]
)
@pytest.mark.parametrize("sign", "+-")
def test_sums_that_saturate(kind, wide, sign):
    names = {"i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64}
    info = np.iinfo(names[kind])
    text = f"({kind}[*] x, {kind}[*] y) -> clip(x.astype({dtype(wide).numpy}) {sign} y, {info.min}, {info.max})"
    assert [s.op.name for s in saturating_sums(nest_of(text))[0].body] == [
        "saturating_add" if sign == "+" else "saturating_subtract",
        "cast",
    ]
    whole, narrow = from_text(text), from_text(f"{text}.astype({dtype(kind).numpy})")
    assert "cast" not in [s.op.name for s in narrow.compilation.rewritten.program.nests[0].body]
    values = np.arange(info.min, info.max + 1) if kind == "i8" else np.arange(-300, 300) * (info.max // 299)
    values = np.concatenate([values, [info.min, info.min + 1, -1, 0, 1, info.max - 1, info.max]]).astype(names[kind])
    x, y = values[:, None].astype(np.int64), values.astype(np.int64)
    expected = np.clip(x + y if sign == "+" else x - y, info.min, info.max)
    np.testing.assert_array_equal(whole(values[:, None], values), expected.astype(names[wide]), strict=True)
    np.testing.assert_array_equal(narrow(values[:, None], values), expected.astype(names[kind]), strict=True)
    small = values[::97]
    program = narrow.compilation.rewritten.program
    at = np.ix_(range(0, len(values), 97), range(0, len(values), 97))
    np.testing.assert_array_equal(interpret(program, (small[:, None], small))[0], expected[at].astype(names[kind]))


@pytest.mark.parametrize(
    "text",
    [
        "(i16[?] x, i16[?] y) -> clip(x + y, -32768, 32767)",
        "(i16[?] x, i16[?] y) -> clip(x.astype(i32) + y, -32768, 32766)",
        "(i16[?] x, i8[?] y) -> clip(x.astype(i32) + y, -32768, 32767)",
        "(i16[?] x, i16[?] y) -> clip(x.astype(i32) * y, -32768, 32767)",
        "(u8[?] x, u8[?] y) -> clip(x.astype(i16) + y, -128, 127)",
        "(i16[?] x, i32[?] y) -> clip(y, -32768, 32767)",
        "(i16[?] x, i16[?] y) -> clip(x.astype(f32) + y, -32768, 32767)",
    ],
)
def test_what_does_not_saturate(text):
    nest = nest_of(text)
    assert saturating_sums(nest) == (nest, ())
