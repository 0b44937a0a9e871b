"""bcastgen/kernel/function_kernel.py: `clip`, `round` and others take what NumPy's functions take beside operands."""

import pickle

import numpy as np
import pytest

import bcastgen as bg

X = np.linspace(-3, 5, 7).reshape(7, 1)
Z = X.astype(complex)
Z.imag = [[0.25], [np.inf], [-0.0], [1e-9], [np.nan], [2.675], [-1e30]]
CALLS = [
    ("clip", (X, None, 1.0), {}),
    ("clip", (X, 0, None), {}),
    ("clip", (X,), {"min": 1}),
    ("clip", (X,), {"max": np.arange(3.0)}),
    ("clip", (X,), {"min": 0, "max": [1, 2]}),
    ("clip", (X,), {"a_min": 0, "a_max": 2}),
    ("clip", ([1, 2, 3], 2, None), {}),
    ("clip", (X,), {"min": 1, "where": X > 3, "out": np.zeros((7, 1))}),
    ("round", (X / 3,), {"decimals": 1}),
    ("round", (X / 3, 1), {}),
    ("around", (X / 3, 2), {}),
    ("round", (np.int64([123456]), -2), {}),
    *(("round", (Z.astype(dtype), decimals), {}) for dtype in ("c8", "c16") for decimals in (0, 2, -1, 25, -300)),
    ("round", (2.5,), {}),
    ("nan_to_num", (np.array([np.nan, np.inf, 1]),), {"nan": 1.0}),
    ("isclose", (1.0, X), {"rtol": 0.5}),
    ("isclose", (X, X + 0.1), {"atol": np.array([0.01, 0.2])}),
    ("angle", (Z,), {"deg": True}),
    ("angle", (Z, True), {}),
    ("isreal", (Z,), {}),
    ("iscomplex", (Z,), {}),
    ("isreal", (X,), {}),
    ("iscomplex", (3,), {}),
]


@pytest.mark.parametrize("case", range(len(CALLS)))
@np.errstate(all="ignore")
def test_calls_are_numpys(case):
    name, args, keywords = CALLS[case]
    made = {key: value.copy() if key == "out" else value for key, value in keywords.items()}
    expected, got = getattr(np, name)(*args, **made), getattr(bg, name)(*args, **keywords)
    assert got.dtype == expected.dtype
    if name == "angle":
        np.testing.assert_allclose(got, expected, rtol=1e-15)
    else:
        np.testing.assert_array_equal(got, expected)
    if expected.dtype.kind in "fc" and name != "angle":
        assert (np.signbit(got.real) == np.signbit(expected.real)).all()


def test_each_such_kernel_is_made_once():
    first = bg.round(X, decimals=3)
    count = sum(kernel.compilations for kernel in bg.round._held.values())
    assert (bg.round(X, 3) == first).all()
    assert sum(kernel.compilations for kernel in bg.round._held.values()) == count


def test_inside_a_kernel_and_in_a_pickle():
    kernel = bg.jit(lambda x: bg.clip(x, None, 2) + bg.round(x, decimals=1))
    assert (kernel(X) == np.clip(X, None, 2) + np.round(X, 1)).all()
    assert pickle.loads(pickle.dumps(bg.clip)) is bg.clip


def test_what_numpy_refuses_is_refused():
    with pytest.raises(bg.TraceError, match="each bound once"):
        bg.clip(X, 1, 2, min=3)
    with pytest.raises(TypeError, match="unexpected keyword argument 'most'"):
        bg.clip(X, most=3)
