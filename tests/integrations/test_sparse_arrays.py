"""Sparse arrays of SciPy are refused with the reason, in each of its formats."""

from __future__ import annotations

import numpy as np
import pytest

import bcastgen as bg

sparse = pytest.importorskip("scipy.sparse", reason="scipy is not installed (pip install -e .[arrays])")


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"])
@pytest.mark.parametrize("kind", ["array", "matrix"])
def test_sparse_arrays_are_refused(form, kind):
    value = getattr(sparse, f"{form}_{kind}")(np.eye(3))
    for kernel in (bg.exp, bg.jit(lambda a: a + 1, name="plus")):
        with pytest.raises(bg.DTypeError, match=r"operand 'a' of \w+\(\) is a sparse .*x\.toarray\(\), or x\.data"):
            kernel(value)
