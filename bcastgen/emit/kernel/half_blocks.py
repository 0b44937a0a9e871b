"""16-bit floats of inner loops of ours: converted a block at a time, beside the loop that computes with them.

In: an inner loop.  Out: one whose f16 arrays are of floats, for a caller that converts them.

    r[i] = bcg_f32_to_f16(t0);   ->   r[i] = t0;

Machines have an instruction for these conversions, but compilers make no vectors of it, and by bits an addition takes
four times as long. What converts a block is ``bcg_half.h``'s, and what calls it ``table.c.j2``'s.
"""

from __future__ import annotations

from dataclasses import replace

from ...core.dtypes import F16, F32
from ..c_text.body import loaded, stored
from .loop_model import ArrayView, LoopView

__all__ = ["in_floats"]


def in_floats(loop: LoopView) -> LoopView:
    """Return a loop whose f16 arrays are of floats: only their bytes tell (see :attr:`.ArrayView.is_widened`)."""
    arrays = tuple(_in_floats(array) for array in loop.arrays)
    before, after = stored("|", F16).split("|")
    results = arrays[loop.operand_count :]
    stores = tuple(
        text.removeprefix(before).removesuffix(after) if array.is_widened else text
        for array, text in zip(results, loop.stores, strict=True)
    )
    return replace(loop, arrays=arrays, stores=stores)


def _in_floats(array: ArrayView) -> ArrayView:
    return replace(array, c=F32.c, loaded="{}") if array.loaded == loaded("{}", F16) else array
