"""Ours, and NumPy, which results are checked against.

In: a case.  Out: the call of our kernel, or of NumPy's functions.

    add_f32 -> kernel(a0, a1, out=out)      silu_f32 -> copyto(out, f(a0))
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from ..measure import Call, call
from ..spelling import COMPOSED, Namespace, names, rebound
from .peer import Case, Peer

__all__ = ["AGAIN", "FAST", "NUMPY", "OURS", "ROWS", "numpy_function"]

OURS, AGAIN, FAST, NUMPY = "bcastgen", "bcastgen again", "bcastgen fast", "numpy"


def _plain(function: Callable[..., Any], namespace: Namespace) -> Callable[..., Any]:
    """Return the function as it stands if NumPy alone can run it, else with a namespace that has the rest."""
    lacking = [name for name in names(function) if not hasattr(np, name)]
    return rebound(function, namespace) if lacking else function


# ---- ours --------------------------------------------------------------------------------------------------------


@cache
def _kernel(function: Callable[..., Any], math: str) -> Callable[..., Any]:
    import bcastgen as bg
    from bcastgen.ops.table import OPS

    beyond = {name: getattr(bg, name) for name in OPS if not hasattr(np, name) and hasattr(bg, name)}
    kernel: Callable[..., Any] = bg.jit(_plain(function, Namespace(np, **beyond)), math=math)
    return kernel


def _same_when_fast(case: Case) -> bool:
    """Whether ``math="fast"`` has nothing to change: no bound to widen, and no product to contract with a sum."""
    floats = any(np.dtype(name).kind == "f" for name in (case.workload.result, *case.dtypes))
    return not floats or (not case.workload.ulp and case.workload.ufunc is not None)


def _ours(case: Case, math: str = "accurate") -> Call | None:
    if math != "accurate" and _same_when_fast(case):
        return None
    return call(_kernel(case.workload.function, math), case.operands, case.out)


# ---- NumPy -------------------------------------------------------------------------------------------------------


@cache
def _numpy_namespace() -> Namespace:
    """NumPy, with SciPy's functions where it and what it composes have none."""
    if find_spec("scipy") is None:
        return COMPOSED
    special = import_module("scipy.special")
    return Namespace(COMPOSED, erf=special.erf, erfc=special.erfc)


@cache
def numpy_function(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the function as NumPy runs it, with SciPy's functions where it has none.

    Raises
    ------
    NoForm
        If neither has one of its functions.
    """
    return _plain(function, _numpy_namespace())


def _numpy(case: Case) -> Call:
    workload, out = case.workload, case.out
    if out is None:
        return call(numpy_function(workload.function), case.operands)
    if workload.ufunc is not None:
        return call(getattr(np, workload.ufunc), case.operands, out)
    # A chain of ufuncs has no out=: its user copies the result.
    copied = call(numpy_function(workload.function), case.operands)
    return Call(f"copyto(out, {copied.statement})", {**copied.names, "copyto": np.copyto, "out": out})


ROWS = (
    Peer(NUMPY, "numpy", _numpy, vector_maths=True),
    Peer(OURS, "bcastgen", _ours),
    Peer(FAST, "bcastgen", partial(_ours, math="fast"), heavy=True, fast=True),
    # Measured last, from the same kernel: how far it is from its first column is the noise of the run.
    Peer(AGAIN, "bcastgen", _ours),
)
