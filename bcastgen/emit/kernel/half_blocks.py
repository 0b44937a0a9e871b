"""Inner loops over f16 arrays as loops over floats: the runtime converts the elements a block at a time.

In: a nest's arrays.  Out: the arrays of its inner loops, with floats in place of f16; the loops' caller converts them.

    r[i] = bcg_f32_to_f16(t0);   ->   r[i] = t0;

Machines have an instruction for these conversions, but compilers do not vectorise it, and converting by bit operations
makes an addition take four times as long. ``bcg_half.h`` converts a block, and ``table.c.j2`` calls it.
"""

from __future__ import annotations

from ...core.dtypes import F16, F32
from ...core.frozen import replace
from ...loops.nest import Nest
from .loop_model import ArrayView

__all__ = ["in_floats"]


def in_floats(nest: Nest, arrays: tuple[ArrayView, ...]) -> tuple[ArrayView, ...]:
    """Return the nest's arrays, operands and then results, with floats in place of f16."""
    accesses = (*nest.operands, *nest.results)
    return tuple(
        replace(array, c=F32.c, loaded="{}", is_widened=True) if access.dtype is F16 else array
        for array, access in zip(arrays, accesses, strict=True)
    )
