"""One workload for each function in the table of ops and each float: derived, so that a new row is measured.

In: the table.  Out: ``ROWS``.

    OPS["arctan2"] -> arctan2_f32, arctan2_f64: np.arctan2(a, b) over the row's domain

Results are checked against the function in a wider precision, rounded.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bcastgen.ops.row import Op
from bcastgen.ops.rows.special import SPECIAL
from bcastgen.ops.table import OPS

from .operands import NUMPY_DTYPES, flat
from .row import Array, Function, Workload

__all__ = ["FUNCTIONS", "ROWS"]

# Peers lack most of these.
_MADE_OF_OTHERS = {op.name for op in SPECIAL}
# The rows that have a bound in ULP, but not of 16-bit integers or of TOSA: those with one dtype rule for floats.
FUNCTIONS: tuple[Op, ...] = tuple(
    op
    for op in OPS.values()
    if op.ulp and not op.params and not op.name.startswith("tosa") and op.name not in _MADE_OF_OTHERS
)

_CORE = {"exp_f32", "exp_f64", "log_f32", "sin_f32", "sin_f64", "tanh_f32", "tanh_f64", "erf_f32", "power_f64"}


def _calling(op: Op) -> Function:
    """Return ``lambda a: np.exp(a)``: a function that a peer can compile, with its own namespace for ``np``."""
    names = ", ".join("abc"[: op.arity])
    function: Function = eval(f"lambda {names}: np.{op.name}({names})", {"np": np})
    return function


def _precise(op: Op) -> Function:
    """Return the function that computes wider and rounds; where NumPy lacks it, the row's own reference."""

    def of_wider(*operands: Array) -> Any:
        narrow = operands[0].dtype
        wide = np.float64 if narrow == np.float32 else np.longdouble
        return getattr(np, op.name)(*(operand.astype(wide) for operand in operands)).astype(narrow)

    return of_wider if op.reference is None else op.reference


def _rows(op: Op) -> tuple[Workload, ...]:
    low, high = op.domain
    return tuple(
        Workload(
            f"{op.name}_{name}",
            "function",
            _calling(op),
            flat(*[dtype] * op.arity, low=low, high=high),
            dtype,
            # The reference is rounded, too; one of the row's own may be the C library's, which is off by more.
            ulp=op.ulp + (0.5 if op.reference is None else 2),
            ufunc=op.name if isinstance(getattr(np, op.name, None), np.ufunc) else None,
            op=op.name,
            reference=_precise(op),
            core=f"{op.name}_{name}" in _CORE,
            large=f"{op.name}_{name}" == "exp_f32",
        )
        for name, dtype in NUMPY_DTYPES.items()
    )


ROWS: tuple[Workload, ...] = tuple(row for op in FUNCTIONS for row in _rows(op))
