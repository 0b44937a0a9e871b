"""Ufuncs: which rows of our table NumPy's and SciPy's are.

In: a ufunc that a function calls while it is traced.  Out: its full name, and a row for each of its results.

    np.add -> "numpy.add", (OPS["add"],)        np.divmod -> "numpy.divmod", the rows of quotient and remainder
"""

from __future__ import annotations

import sys

import numpy as np

from ..core.errors import TraceError
from ..ops.row import Op
from ..ops.table import OPS, find_op, several

__all__ = ["rows_of"]

# Ufuncs of scipy.special that our table has, and the names of their rows.
_SCIPY = {
    name: name
    for name in "cbrt erf erfc erfinv exp2 expm1 gammaln i0 log1p log_ndtr logit ndtr ndtri xlog1py xlogy".split()
} | {"expit": "sigmoid"}


def rows_of(ufunc: np.ufunc) -> tuple[str, tuple[Op, ...]]:
    """Return a ufunc's full name and the row of each of its results.

    A ufunc of another package may share the name, but not the meaning.
    """
    name = ufunc.__name__
    if getattr(np, name, None) is ufunc:
        full = f"numpy.{name}"
        if rows := several(name):
            return full, rows
        op = find_op(name)
        if op is None:
            from . import refusals  # noqa: PLC0415 - most ufuncs are ops

            why = refusals.function(name) or f"{name} is not an op of bcastgen; `bcastgen ops` lists what there is"
            raise TraceError(f"numpy.{why}")
        return full, (op,)
    # No import: a caller with a ufunc of SciPy has imported it already.
    special = sys.modules.get("scipy.special")
    for theirs, ours in _SCIPY.items():
        if special is not None and getattr(special, theirs, None) is ufunc:
            return f"scipy.special.{theirs}", (OPS[ours],)
    raise TraceError(
        f"the ufunc {name!r} is not NumPy's, and what it computes is not known; call it outside the kernel, or define "
        "it by bcastgen.define_op under a name of its own"
    )
