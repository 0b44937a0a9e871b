"""bcastgen/expr/text_calls.py: what text gives beside operands means what NumPy's functions and methods mean by it."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg
from bcastgen.core.dtypes import dtype
from bcastgen.core.errors import ParseError
from bcastgen.expr.evaluate import evaluate
from bcastgen.expr.infer import infer
from bcastgen.expr.text import parse
from bcastgen.shape.types.tensor_type import parse_type

A = np.linspace(-2, 2, 6).reshape(2, 3)
SPACE = {"a": A, "b": A[::-1] + 0.25, "i": np.arange(6).reshape(2, 3), "np": np}

TEXTS = """
np.clip(a, None, 1)
np.clip(a, min=0)
np.clip(a, min=b, max=1)
np.clip(i, a_min=b, a_max=None)
np.clip(a=i, a_min=2, a_max=3)
a.clip(-1, 1)
(a + b).clip(max=b * 2)
a.clip()
np.round(a, decimals=1)
np.round(b, -1)
a.round(1)
i.round(decimals=-1)
a.round()
a.real
i.imag + a.imag
a.conj() + a.conjugate()
np.swapaxes(a, 0, 1)
a.swapaxes(0, -1) * 2
np.moveaxis(a, 0, 1)
np.permute_dims(a, (1, 0))
np.matrix_transpose(a)
a.mT
a.transpose(1, 0)
a.transpose((1, 0))
np.expand_dims(a, (0, 2))
np.squeeze(a[None], 0)
a[None].squeeze(axis=0)
np.isclose(a, b, atol=1)
np.isclose(a, b, rtol=0.1, equal_nan=True)
np.nan_to_num(a / a, nan=1.5)
np.zeros_like(i, dtype=np.float32)
np.ones_like(a, dtype=bool)
np.full_like(i, a, dtype='f4')
np.select([a > 1, a < 0], [a, b], 0)
np.select([a > 1, a < 0], [a, 2.5], default=i)
np.piecewise(a, [a > 0], [1, 2])
np.angle(a, deg=True)
np.add(a, i, dtype='f4')
np.sqrt(i, dtype=np.float32, casting='same_kind')
np.where(a > 0, a, b).clip(0, 1)
a.sum(axis=0).clip(0, 1)
a.copy()
a.clip(0, 1).round(1).T
a.astype(i.dtype)
np.add(2, 3) * a.astype('f4')
""".strip().splitlines()


@pytest.mark.parametrize("text", TEXTS)
def test_it_is_numpys(text):
    types = None
    if ".dtype" in text:
        types = parse_type("f64[?, ?]"), parse_type("i64[?, ?]")
    expression = parse(text, None if types is None else ("a", "i"), types)
    operands = [SPACE[operand.name] for operand in expression.operands]
    with np.errstate(all="ignore"):
        (got,) = evaluate(infer(expression, tuple(dtype(x.dtype) for x in operands)), operands)
        np.testing.assert_array_equal(got, eval(text, dict(SPACE)), strict=True)


def test_a_signature_says_what_text_may_ask_for():
    kernel = bg.from_text("(f32[2, 3] x, f64[?] y) -> x.shape[-1] * x.size + x.ndim + y.astype(x.dtype)")
    assert "(20, y)" in str(kernel.expression).replace("t0", "y")
    assert kernel(np.ones((2, 3), "f4"), np.ones(3)).tolist() == [21, 21, 21]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a.clip(out=b)", r"column 1: clip: out= has no meaning.*pass out=x at the call.*\(in 'a.clip"),
        ("b + np.exp(a, where=a > 0)", r"column 5: numpy.exp: where= has no meaning.*numpy.where\(mask"),
        ("np.clip(a, bogus=1)", "column 1: numpy.clip: bogus= has no meaning"),
        ("np.clip(a, 1, 2, 3, 4, 5, 6, 7, 8, min=1)", "column 1: clip: .*positional arguments"),
        ("astype(1, (3, b))", "column 1: astype: "),
        ("power(1, (2, b, (2, b)))", "column 1: an operand cannot become a NumPy array"),
        ("np.clip(*a)", "Starred is not allowed"),
        ("np.clip(**a)", "write the arguments out"),
        ("a.round(b)", "column 1: the values of an operand are not known"),
        ("a.round('x')", "column 1: round: .*str"),
        ("np.foo(a, b=1)", "column 1: unknown function 'foo'"),
        ("minimum(a, b=1)", "column 1: "),
        ("hypot(x=a)", "column 1: hypot takes operands by position"),
        ("silu(x=a)", "column 1: silu takes operands by position, and nothing by name"),
        ("np.squeeze(a)", "depends on extents"),
        ("a.nosuch(1)", "only functions can be called"),
        ("np.where(a > 0, None, b)", "give it three operands"),
        ("a.ndim * a", "the rank of an operand is not known"),
        ("a.shape[0] * a", "the shape of an operand is not known"),
        ("np.divmod(a, b, dtype='f4') + 1", "dtype="),
        ("np.modf(a, order='C')", "no element-wise function of an operand here"),
        ("clip(1, None, 2)", "clip"),
    ],
)
def test_what_means_nothing_is_refused_with_its_column(text, message):
    with pytest.raises(ParseError, match=message):
        parse(text)


def test_a_dim_that_there_is_not():
    with pytest.raises(ParseError, match=r"there is no dim 2 in the shape \(2, 3\)"):
        bg.from_text("(f32[2, 3] x) -> x.shape[2] * x")
