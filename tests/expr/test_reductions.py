"""Reductions that skip NaN: what NumPy's functions of these names give."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg
from exact_programs import ExactProgram
from long_runs import many

SKIP_NAN = ["nansum", "nanprod", "nanmin", "nanmax", "nanmean", "nanvar", "nanstd"]
OTHER_DTYPES = ["nansum i4", "nansum ?", "nansum c16", "nanmin ?", "nanmax i4", "nanmean f2", "nanvar i4", "nanstd c16"]


@pytest.mark.parametrize("case", [*(f"{name} f8" for name in SKIP_NAN), *OTHER_DTYPES])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_those_that_skip_nan_give_what_numpy_gives(case):
    name, dtype = case.split()
    function, random = getattr(np, name), np.random.default_rng(8)
    x = random.integers(-4, 4, (6, 9)).astype(dtype)
    if x.dtype.kind in "fc":
        x[random.random(x.shape) < 0.3] = np.nan
        x[0], x[1, 1:], x[2, 0] = np.nan, np.nan, np.inf
    mask = random.random(x.shape) < 0.6
    extremes, none = name in ("nanmin", "nanmax"), x[:0]
    options = {"initial": 1} if extremes else {"ddof": 2} if name in ("nanvar", "nanstd") else {}
    plain = bg.jit(lambda x: (function(x, axis=1), function(x, keepdims=True)), name=name)
    for given, found in ((x, plain(x)), (x.T, plain(x.T)), (none, () if extremes else plain(none))):
        wanted = (function(given, axis=1), function(given, keepdims=True)) if len(found) else ()
        for one, right in zip(found, wanted, strict=True):
            assert one.dtype == right.dtype
            np.testing.assert_allclose(one, right, 2e-3 if dtype == "f2" else 1e-13)
    masked = bg.jit(lambda x, mask: function(x, axis=0, where=mask, **options))(x, mask)
    np.testing.assert_allclose(masked, function(x, axis=0, where=mask, **options), 2e-3 if dtype == "f2" else 1e-13)


@pytest.mark.parametrize("dtype", "? i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8".split())
def test_logsumexp_has_no_integers_that_wrap(dtype):
    kind = np.dtype(dtype)
    bounds = np.finfo(kind) if kind.kind == "f" else np.iinfo(kind) if kind.kind in "iu" else None
    x = np.array([[0, 1, 1], [1, 0, 0]], kind)
    if bounds is not None:
        ends = [[bounds.min, bounds.max, 3], [bounds.max, bounds.max - 1, bounds.min]]
        x = np.concatenate([x, np.array(ends, kind)])
    found = bg.jit(lambda x: bg.logsumexp(x, axis=1))(x)
    # scipy.special.logsumexp has these dtypes.
    assert found.dtype == (kind if kind.kind == "f" else np.float64)
    wide = x.astype(np.longdouble)
    most = wide.max(axis=1, keepdims=True)
    exact = np.log(np.exp(wide - most).sum(axis=1)) + most[:, 0]
    np.testing.assert_allclose(found, exact, 2e-3 if dtype == "f2" else 1e-6 if dtype == "f4" else 1e-13)
    np.testing.assert_array_equal(bg.logsumexp(x, axis=1), found)


def test_random_programs_of_exact_values_are_numpys():
    """Chains of reductions, views, masks and powers: each value is a small integer, and so the same."""
    random = np.random.default_rng(71)
    for _ in range(many(20, 400)):
        program = ExactProgram(random)
        assert not program.difference(), str(program)


@pytest.mark.filterwarnings("ignore::bcastgen.CompilerWarning", "ignore::RuntimeWarning")
def test_random_programs_that_numpy_answers_are_numpys(monkeypatch):
    monkeypatch.setenv("BCASTGEN_DISABLE", "1")
    random = np.random.default_rng(72)
    for _ in range(many(150, 4000)):
        program = ExactProgram(random)
        assert not program.difference(), str(program)
