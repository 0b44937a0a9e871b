"""The workloads: one row each, a plain NumPy function and a builder of its operands, in a table for each class.

In: a number of result elements and a seeded generator.  Out: operands of the row's dtypes, shapes and layouts.

    WORKLOADS["bias_f32"].operands(32768, rng) -> (f32[128, 256], f32[256]),  function: a + b
"""

from __future__ import annotations

from . import broadcasts, contiguous, functions, integers, layouts, reductions
from .row import Array, Operands, Workload, traffic

__all__ = ["KINDS", "QUICK", "WORKLOADS", "Array", "Operands", "Workload", "traffic"]

_ROWS = (*contiguous.ROWS, *functions.ROWS, *broadcasts.ROWS, *layouts.ROWS, *integers.ROWS, *reductions.ROWS)

WORKLOADS: dict[str, Workload] = {row.name: row for row in _ROWS}
assert len(WORKLOADS) == len(_ROWS), "two workloads have one name"

KINDS: tuple[str, ...] = tuple(dict.fromkeys(row.kind for row in _ROWS))

# One of each class: what a quick run shows.
QUICK = (
    *("add_f32", "poly8_f32", "gelu_tanh_f32", "sin_f64", "bias_f32", "narrow3_row_f32", "softmax_f32"),
    *("transposed_f32", "blend_u8", "where_f32", "u8_and_f32", "softmax_inner_f32"),
)
