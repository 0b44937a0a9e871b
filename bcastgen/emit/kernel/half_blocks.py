"""16-bit floats of inner loops of ours: converted a block at a time, beside the loop that computes with them.

In: a nest's arrays.  Out: those of its loops, whose f16 arrays are of floats, for a caller that converts them.

    r[i] = bcg_f32_to_f16(t0);   ->   r[i] = t0;

Machines have an instruction for these conversions, but compilers make no vectors of it, and by bits an addition takes
four times as long. ``bcg_half.h`` converts a block, and ``table.c.j2`` calls it.
"""

from __future__ import annotations

from dataclasses import replace

from ...core.dtypes import F16, F32
from ...loops.nest import Nest
from .loop_model import ArrayView

__all__ = ["in_floats"]


def in_floats(nest: Nest, arrays: tuple[ArrayView, ...]) -> tuple[ArrayView, ...]:
    """Return arrays, the nest's operands and then its results, of which those of f16 are of floats."""
    accesses = (*nest.operands, *nest.results)
    return tuple(
        replace(array, c=F32.c, loaded="{}", is_widened=True) if access.dtype is F16 else array
        for array, access in zip(arrays, accesses, strict=True)
    )
